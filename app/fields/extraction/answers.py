"""What names its field itself: "change the time to 4", "location: bar"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from app.fields.definitions import FILE_TYPES
from app.fields.extraction.clock import read_hour
from app.fields.extraction.extract import Reading, content_stems, cue_words, squeeze, stem
from app.fields.extraction.lexicon import WORDS, either
from app.fields.extraction.numbers import first_number
from app.fields.extraction.options import find_options
from app.fields.extraction.people import find_people
from app.fields.extraction.sentence import Sentence, Span

_CHANGE = re.compile(
    rf"\b(?:{either('answers', 'change')})\s+(?:(?:{either('answers', 'before_labels')})\s+)?"
    r"(?P<label>[^\s:;,.][^:;,.]{0,48}?[^\s:;,.])"
    rf"\s+(?:{either('answers', 'to')})\s+"
    r"(?P<value>[^;\n]+)"
)
_COLON = re.compile(
    r"(?:^|[;\n.,])[^\S\n]*(?P<label>[^\s:;,.][^:;\n,.]{0,48}?[^\s:;,.])[^\S\n]*[:=]\s*"
    r"(?P<value>[^;\n]+)"
)
# What goes on with another field: "… to bar and the time to 4pm".
_AND_CHANGE = re.compile(
    rf"(?:,\s*)?\b(?:{either('answers', 'and')})\s+(?:(?:{either('answers', 'before_labels')})\s+)?"
    r"(?P<label>[^\s:;,.][^:;,.]{0,48}?[^\s:;,.])"
    rf"\s+(?:{either('answers', 'to')})\s+"
)
_ARTICLE = re.compile(rf"^(?:{either('answers', 'articles')})\s+")
# What a field may be called by its kind.
_KINDS = {kind: tuple(line.split()) for kind, line in WORDS["answers"]["kinds"].items()}


def fill_answers(reading: Reading) -> None:
    """Give values to the fields that they are said for, word by word."""
    named: list[Any] = []
    for pattern in (_CHANGE, _COLON):
        for match in reading.said.find(pattern):
            label, value = Span(*match.span("label")), Span(*match.span("value"))
            parts = [(label, value)] if pattern is _COLON else _in_turn(reading, label, value)
            named += [_answer(reading, *part) for part in parts]
    if reading.is_correction and named and None not in named:
        reading.only.update(named)


def _in_turn(reading: Reading, label: Span, value: Span) -> Iterator[tuple[Span, Span]]:
    """Each label with the words of its value, where several are changed in one sentence."""
    folded = reading.said.folded
    for match in _AND_CHANGE.finditer(folded, value.start, value.end):
        if named_field(reading, match["label"]) is not None:
            yield label, Span(value.start, match.start())
            label, value = Span(*match.span("label")), Span(match.end(), value.end)
    yield label, value


def _answer(reading: Reading, label: Span, value: Span) -> str | None:
    """Fill the field of a label; its name, None where the label names none."""
    field = named_field(reading, reading.said.folded[label.start : label.end])
    if field is None:
        return None
    if field.type not in ("textarea", "multi_select"):
        value = _until_comma(reading, value)
    if field.type != "textarea" or not reading.known.get(field.name):
        _fill(reading, field, value, Span(label.start, value.end))
    return str(field.name)


def _until_comma(reading: Reading, value: Span) -> Span:
    """One value, without what is said after it."""
    end = re.search(r",(?!\d)|\.(?:\s|$)", reading.said.folded[value.start : value.end])
    return Span(value.start, value.start + end.start()) if end else value


def named_field(reading: Reading, label: str) -> Any:
    """The one field that all words of a label name, the one with the shortest label of several."""
    asked = set(content_stems(label))
    named = (each for each in reading.fields if each.type not in FILE_TYPES)
    fitting = [each for each in named if asked and asked <= _names(each)]
    filled = [each for each in fitting if reading.known.get(each.name)]
    choice = filled if len(filled) == 1 else fitting
    lengths = sorted((len(cue_words(each.label)), i) for i, each in enumerate(choice))
    if len(lengths) > 1 and lengths[0][0] == lengths[1][0]:
        return None
    return choice[lengths[0][1]] if lengths else None


def _names(field: Any) -> frozenset[str]:
    kind = frozenset(stem(word) for word in _KINDS.get(field.type, ()))
    return cue_words(field.label) | kind | frozenset(content_stems(field.name.replace("_", " ")))


def _fill(reading: Reading, field: Any, value: Span, whole: Span) -> None:
    raw = _raw(reading, field, value)
    if raw is not None and field.name not in reading.found:
        reading.add(field.name, raw, 0.95, whole)


def _raw(reading: Reading, field: Any, value: Span) -> Any:
    """What the words of an answer are for its field; None where they are nothing of its kind."""
    text = squeeze(reading.said.words(value))
    if field.type in ("select", "radio", "multi_select"):
        return _options(reading, field, text)
    if field.type == "number":
        return first_number(text, field.decimals)
    if field.type == "time":
        return _hour(reading, field, text)
    if field.type == "person":
        return _person(reading, text)
    if field.type == "textarea":
        return text
    if field.type == "text":
        return _ARTICLE.sub("", text) or None
    return None


def _options(reading: Reading, field: Any, text: str) -> Any:
    alone = Reading([field], Sentence.of(text), reading.around, {}, reading.is_correction)
    values = list(dict.fromkeys(each.value for each in find_options(alone, field, is_answer=True)))
    values = values or _begun(field, text)
    if field.type == "multi_select":
        return values or None
    return values[0] if len(values) == 1 else None


def _begun(field: Any, text: str) -> list[str]:
    """The options of whose label an answer is a part: "sick" of "sick leave"."""
    said = set(content_stems(text))
    labels = {option.value: (option.label.en, option.label.es) for option in field.options if said}
    return [
        value
        for value, names in labels.items()
        if any(said <= set(content_stems(name or "")) for name in names)
    ]


def _person(reading: Reading, text: str) -> dict[str, str] | None:
    """A contact, or the name of several; who is none of them is left to the other ways."""
    people = find_people(reading, text)
    if len(people) == 1:
        return {"name": people[0].name, "contact_id": people[0].id}
    return {"name": text} if people else None


def _hour(reading: Reading, field: Any, text: str) -> str | None:
    """A time; where before or after noon is open, as it was before."""
    times = read_hour(Sentence.of(text).folded)
    before = str(reading.known.get(field.name) or "")
    if len(times) > 1 and before[:2].isdecimal():
        times = tuple(each for each in times if (each.hour < 12) == (int(before[:2]) < 12))
    return f"{times[0]:%H:%M}" if len(times) == 1 else None
