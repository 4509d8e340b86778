"""What kind of answer a question asks for, told from its wording in either language."""

from __future__ import annotations

import re

from app.nlu.lexicon import AMOUNTS, ASKING_WORDS, PATTERNS, PLAIN_QUESTIONS, QUESTION_WORDS
from app.text.normalize import fold, words


def wants_steps(text: str) -> bool:
    """True for how-to questions."""
    return bool(PATTERNS["how_to"].search(fold(text)))


def asks_what_to_do(text: str) -> bool:
    """True for "what do I do?" after a case was named: "I saw a roach, what now"."""
    return bool(PATTERNS["what_to_do"].search(fold(text)))


def tells_of_trouble(text: str) -> bool:
    """True for a report of what has happened, which asks what to do about it."""
    spoken = words(text)
    asks = "?" in text or bool(ASKING_WORDS & set(spoken[:1])) or bool(QUESTION_WORDS & set(spoken))
    asks = asks or bool(PATTERNS["asks_within"].search(fold(text)))
    return len(spoken) >= 3 and not asks and bool(PATTERNS["trouble"].search(fold(text)))


def expected_amount(text: str) -> re.Pattern[str] | None:
    """How the time, temperature or sum looks that would answer; matched on folded text.

    "Burned by hot oil" asks for no temperature.
    """
    if tells_of_trouble(text):
        return None
    folded = fold(text)
    found = [(match.start(), given) for asked, given in AMOUNTS if (match := asked.search(folded))]
    # "Who do I call when it stops" asks who.
    return min(found, key=lambda entry: entry[0])[1] if found else None


def asks_the_same(question: str, lead: str) -> bool:
    """True where `lead` opens with the question's own "who", "where", "when" or "why"."""
    asks = next((PLAIN_QUESTIONS.get(word) for word in words(lead)), None)
    # A question may be long, and is compared with the leads of a hundred pieces.
    return asks is not None and any(PLAIN_QUESTIONS.get(word) == asks for word in words(question))


def wants_list(text: str) -> bool:
    """True when several things may answer: "which beers do we have"."""
    return bool(PATTERNS["list"].search(fold(text)))
