"""What is searched for: the words of a message that matter."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice

from app.nlu.lexicon import FRAME_WORDS
from app.nlu.model import OTHER_INTENTS, read_intents
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


# A sentence is for a tool of its own with this share of its likelihood, and so many words that
# tell something; what is less sure goes with the sentence before.
SURE_OF_ITS_OWN, FEWEST_WORDS = 0.9, 2
SURE_AS_A_WHOLE = 0.8
# Who says more tells a story; each of them is weighed, which others would wait for.
MOST_SENTENCES = 12
_SENTENCE_END = re.compile(r"(?<=[.?!;])\s+|\s*\n\s*")
_LOOKS_UP = "looks up"


def first_want(text: str, acting: Collection[str]) -> tuple[str, str]:
    """What a message wants first, and what it wants besides of another tool; "" for nothing more.

    "The toilet is clogged. Add taxi $5" wants two things, and so does a report with a question.
    Several questions are one, and so are sentences about the same; `acting` are the tools that
    do something. What is a question as a whole is asked of all that it tells.
    """
    sentences = [*islice(_sentences(text), MOST_SENTENCES + 1)]
    if not 1 < len(sentences) <= MOST_SENTENCES:
        return text, ""
    whole, share = _likeliest(text)
    if whole not in acting and share >= SURE_AS_A_WHOLE:
        return text, ""
    parts: list[tuple[str, int]] = []
    for start, sentence in sentences:
        own = _tool_of(sentence, acting)
        if own and parts and not parts[-1][0]:
            parts[-1] = own, parts[-1][1]
        elif not parts or (own and own != parts[-1][0]):
            parts.append((own, start))
    if len(parts) < 2 or {own for own, _start in parts} <= {_LOOKS_UP, ""}:
        return text, ""
    cut = parts[1][1]
    return text[:cut].strip(), text[cut:].strip()


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a text, each with where it begins."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield start, text[start : end.start()]
        start = end.end()
    yield start, text[start:]


def _tool_of(sentence: str, acting: Collection[str]) -> str:
    """What a sentence is for by itself, all that looks something up as one; "" if not sure."""
    if len(content_words(sentence)) < FEWEST_WORDS:
        return ""
    likely, share = _likeliest(sentence)
    if likely in OTHER_INTENTS or share < SURE_OF_ITS_OWN:
        return ""
    return likely if likely in acting else _LOOKS_UP


def _likeliest(text: str) -> tuple[str, float]:
    intents = read_intents(text)
    likely = max(intents, key=lambda name: intents[name], default="")
    return likely, intents.get(likely, 0.0)
