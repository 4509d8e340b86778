"""Boxes to tick, and questions of yes or no, where it was plainly said that it is so."""

from __future__ import annotations

import re
from typing import Any

from app.fields.extraction.extract import Reading, content_stems
from app.fields.extraction.lexicon import phrases_of
from app.fields.extraction.options import NO, YES, is_yes_or_no
from app.fields.extraction.sentence import Span

_CLAUSE = re.compile(r"(?:(?! (?:and|y|but|pero) )[^.;,!\n])+")
_DENIED = re.compile(r"\b(?:no|not|never|nobody|no one|without|nadie|nunca|sin|ni|\w+n't)\b")
# What was asked for, planned or wondered about has not been done.
_OPEN = re.compile(
    r"\?|\b(?:if|whether|should|must|need|needs|have to|has to|will|going to|please|can you|could"
    r"|may|might|maybe|almost|si|debe|deben|hay que|tiene que|tienen que|falta|va a|van a|favor"
    r"|quizas?|tal vez|casi)\b"
)


def fill_boxes(reading: Reading) -> None:
    """Tick what was said to be so, and answer what was said to be or not to be."""
    for field in reading.fields:
        if field.type == "checkbox":
            _tick(reading, field)
    for field in reading.open("radio", "select"):
        said = _is_said(reading, field) if is_yes_or_no(field) else None
        if said:
            reading.add(field.name, _answer(field, said[0]), 0.8, said[1], takes=False)


def _tick(reading: Reading, field: Any) -> None:
    """Tick a box; who says all of its label and denies it takes the tick away."""
    said = None if field.name in reading.found else _is_said(reading, field)
    if said and said[0] != bool(reading.known.get(field.name)):
        reading.add(field.name, said[0], 0.8, said[1], takes=False)


def _is_said(reading: Reading, field: Any) -> tuple[bool, Span] | None:
    """Whether a clause says all that the label says, and where; False where it denies it."""
    for match in _CLAUSE.finditer(reading.said.folded):
        if not any(_says(match[0], text) for text in (field.label.en, field.label.es)):
            continue
        label = f"{field.label.en} {field.label.es}".lower()
        if _OPEN.search(match[0]) and not _OPEN.search(label.replace("?", "")):
            continue
        return not _DENIED.search(match[0]), Span(*match.span())
    return None


def _says(clause: str, label: str) -> bool:
    """Whether all the words of a label stand in a clause, in whichever form."""
    asked = set(content_stems(label))
    is_telling = len(asked) > 1 or any(len(each) > 5 for each in asked)
    return is_telling and asked <= set(content_stems(clause))


def _answer(field: Any, is_so: bool) -> str:
    wanted = YES if is_so else NO
    return next(str(o.value) for o in field.options if wanted & set(phrases_of(o.label)))
