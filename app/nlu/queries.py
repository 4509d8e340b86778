"""What is searched for: the words of a message that matter."""

from __future__ import annotations

from app.nlu.lexicon import FRAME_WORDS
from app.text.stems import content_words

LONGEST_QUERY = 200


def make_query(question: str) -> str:
    """The words that matter, short enough for a search."""
    content = content_words(question)
    subject = [word for word in content if word not in FRAME_WORDS] or content
    query = " ".join(dict.fromkeys(subject)) or question.strip()
    if len(query) <= LONGEST_QUERY:
        return query
    return query[:LONGEST_QUERY].rsplit(" ", 1)[0]
