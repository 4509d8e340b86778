"""What is searched for: the words of a message that matter."""

from __future__ import annotations

from app.nlu.lexicon import FRAME_WORDS
from app.text.normalize import words
from app.text.stems import content_words
from app.text.synonyms import words_of_phrases

LONGEST_QUERY = 200


def make_query(question: str) -> str:
    """The words that matter, short enough for a search."""
    content, phrases = set(content_words(question)), words_of_phrases(question)
    said = [word for word in words(question) if word in content or word in phrases]
    subject = [word for word in said if word not in FRAME_WORDS or word in phrases] or said
    query = " ".join(dict.fromkeys(subject)) or question.strip()
    if len(query) <= LONGEST_QUERY:
        return query
    return query[:LONGEST_QUERY].rsplit(" ", 1)[0]
