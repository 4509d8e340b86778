"""A message read together with what was said before it.

"And the filet?" means nothing alone. Read after "How much is the ribeye?" it becomes
"How much is the filet?", and everything after this module only sees that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.assistant.providers.base import ChatMessage
from app.assistant.providers.builtin.lexicon import (
    ACCENTED,
    JOINS,
    MORE,
    OPENINGS,
    PATTERNS,
    POINTING_WORDS,
    PREPOSITIONS,
    WRITTEN_OTHERWISE,
)
from app.nlu.attributes import ASKED_FOR, ASKING
from app.nlu.courtesies import read_courtesy
from app.nlu.emergency import read_emergency
from app.nlu.lexicon import ASKING_WORDS
from app.nlu.named_allergens import named_allergens, without_allergens
from app.nlu.questions import wants_list
from app.retrieval.embedder import Embedder
from app.text.normalize import fold, words
from app.text.stems import content_words, stems

# A new sentence, or "and" before a word that asks, begins a question of its own.
_CLAUSE_END = re.compile(
    rf"(?<=[?!;])\s*|(?<=\.)\s+|[,\s]+(?:{'|'.join(JOINS)})\s+"
    rf"(?=(?:{'|'.join(sorted(ASKING_WORDS | ACCENTED))})\b)",
    re.IGNORECASE,
)
# How the built-in assistant names a product in its answers.
_NAMED = re.compile(r"^(?:[-*]\s+)?\*\*([^*\n]{2,80})\*\*:", re.MULTILINE)
_LOOK_BACK = 4
_OTHERWISE = re.compile(
    r"\b(?:"
    + "|".join(
        r"\W+".join(map(re.escape, phrase))
        for phrase in sorted(WRITTEN_OTHERWISE, key=len, reverse=True)
    )
    + r")\b"
)


@dataclass(frozen=True)
class Reading:
    """What a message asks, made whole.

    `text` can be understood alone. `earlier` is the question it leans on, empty when it
    leans on none; `more` says that it only wants more of the same. `emergency` is what
    was reported that cannot wait: then `text` is what to look up for it.
    """

    text: str
    earlier: str = ""
    more: bool = False
    emergency: str = ""


def read_message(
    messages: Sequence[ChatMessage], embedder: Embedder, language: str = "en"
) -> Reading:
    """Read the last of `messages`, which is the user's and in `language`."""
    emergency = read_emergency(messages[-1].text, language)
    if emergency and not emergency.is_over:
        return Reading(emergency.asked, emergency=messages[-1].text)
    text = _asked(messages[-1])
    earlier = [m for m in messages[:-1] if m.role in ("user", "assistant") and m.text][-12:]
    return _read(text, earlier, embedder, _LOOK_BACK)


def _asked(message: ChatMessage) -> str:
    """What a message asks, without its courtesies and in the words that papers are written in."""
    asked = read_courtesy(message.text).rest
    return _OTHERWISE.sub(_written, fold(asked)) if _OTHERWISE.search(fold(asked)) else asked


def _written(said: re.Match[str]) -> str:
    return WRITTEN_OTHERWISE[tuple(words(said.group()))]


def _read(text: str, earlier: Sequence[ChatMessage], embedder: Embedder, depth: int) -> Reading:
    last = next((i for i in reversed(range(len(earlier))) if earlier[i].role == "user"), None)
    if last is None or not depth:
        return Reading(text)
    previous = _asked(earlier[last])
    if not previous:
        return _read(text, earlier[:last], embedder, depth - 1)
    asked, opened = _without_opening(text)
    if tuple(words(text)) in MORE:
        before = _read(previous, earlier[:last], embedder, depth - 1)
        return Reading(before.text, before.text, more=True)
    if opened and _names_only(asked):
        before = _read(previous, earlier[:last], embedder, depth - 1)
        subjects = _answered_with(earlier[last + 1 :])
        return Reading(_put_in_place(asked, before.text, subjects, embedder), before.text)
    if _points_back(asked):
        before = _read(previous, earlier[:last], embedder, depth - 1)
        return Reading(f"{asked} {_topic(before.text, earlier[last + 1 :])}".strip(), before.text)
    return Reading(asked if opened else text)


def _without_opening(text: str) -> tuple[str, bool]:
    """Take "and", "what about" or "¿y" off the front."""
    spoken = words(text)
    for opening in OPENINGS:
        if tuple(spoken[: len(opening)]) == opening and len(spoken) > len(opening):
            pattern = r"\W*" + r"\W+".join(r"[^\W_]+" for _ in opening) + r"\W*"
            return re.sub(f"^{pattern}", "", text), True
    return text, False


def _names_only(text: str) -> bool:
    """True for "the filet" or "for fish": something to put in the place of something."""
    return 0 < len(content_words(text)) <= 4 and not any(
        word in ASKING_WORDS for word in words(text)
    )


def _points_back(text: str) -> bool:
    """True for "does it have nuts?" and "¿cuánto cuesta?": the thing itself is not named."""
    content = content_words(text)
    if all(word in ASKING for word in content):
        return True
    spoken = words(text)
    points = any(word in POINTING_WORDS for word in spoken)
    is_of_one = points or PATTERNS["without_a_name"].search(fold(text))
    if named_allergens(text) and is_of_one and not PATTERNS["of_others"].search(fold(text)):
        # Whose allergy it is says nothing of what is eaten.
        content = content_words(without_allergens(text))
    return len(content) <= 2 and (points or not content)


def _topic(question: str, answers: Sequence[ChatMessage]) -> str:
    """What was talked about: the product that was answered with, else the question's words."""
    if named := _answered_with(answers):
        return named[0]
    content = content_words(question)
    return " ".join([word for word in content if word not in ASKING] or content)


def _answered_with(answers: Sequence[ChatMessage]) -> list[str]:
    """The products that were answered with, in order."""
    return [found.group(1) for answer in answers for found in _NAMED.finditer(answer.text)]


def _put_in_place(new: str, question: str, subjects: Sequence[str], embedder: Embedder) -> str:
    """`question` with `new` in the place of the words in it that are most like it.

    The name of one of the `subjects` that it was answered with is replaced as a whole.
    """
    names = " ".join(content_words(new))
    span = _place_of_name(question, subjects)
    asked = [
        each
        for each in named_allergens(question)
        if not span or each.end <= span[0] or each.start >= span[1]
    ]
    if _is_of_allergens(new) and asked:
        span = asked[0].start, asked[-1].end
    elif not span and asked and wants_list(question):
        # Of all of them one is asked about now.
        return f"{new} {question[asked[0].start :]}"
    if span:
        return f"{question[: span[0]]}{names}{question[span[1] :]}"
    places = _places(question, ASKED_FOR)
    if not places:
        return f"{question} {names}"
    if words(new)[0] in PREPOSITIONS:
        place = places[-1]  # "for the snapper" takes the place of "with the ribeye"
    else:
        places = _places(question, ASKING) or places
        vectors = embedder.embed([names, *(match.group() for match in places)])
        likeness = vectors[1:] @ vectors[0]
        # What a question is about tends to stand at its end.
        nearest = max(range(len(places)), key=lambda i: float(likeness[i]) + 0.03 * i)
        place = places[nearest]
    return f"{question[: place.start()]}{names}{question[place.end() :]}"


def _is_of_allergens(text: str) -> bool:
    """True for "nuts" and "shellfish"; "the pecan pie" is a dish."""
    named = {word for each in named_allergens(text) for word in each.phrase}
    return bool(named) and named.issuperset(content_words(text))


def _place_of_name(question: str, subjects: Sequence[str]) -> tuple[int, int] | None:
    """From where to where the question names one of the subjects, as far as it names it."""
    for subject in subjects:
        own = set(stems(subject))
        runs: list[list[re.Match[str]]] = [[]]
        for each in _places(question, ()):
            if own & set(stems(each.group())):
                runs[-1].append(each)
            else:
                runs.append([])
        named = max(runs, key=len)
        if named:
            return named[0].start(), named[-1].end()
    return None


def _places(question: str, fixed: Collection[str]) -> list[re.Match[str]]:
    """The content words of `question` that are not `fixed`, where they stand."""
    return [
        match
        for match in re.finditer(r"[^\W_]+", question)
        if content_words(match.group()) and words(match.group())[0] not in fixed
    ]


def split_clauses(text: str) -> list[str]:
    """The questions in a message, each by itself; a message that asks one thing is one."""
    clauses: list[str] = []
    for piece in _CLAUSE_END.split(text):
        if content_words(piece) or not clauses:
            clauses.append(piece.strip())
        else:
            clauses[-1] = f"{clauses[-1]} {piece}".strip()
    return [clause for clause in clauses if clause]
