"""The values that a message says, by field: all of them, and what was asked for first of all."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from app.fields.definitions import Words
from app.fields.extraction import Found, extract
from app.fields.extraction.extract import Reading, squeeze
from app.fields.extraction.options import find_options
from app.fields.extraction.sentence import Sentence
from app.fields.values import FieldContext
from app.nlu.control import read_answer
from app.skills.service_requests.nlu.lexicon import compiled, either, priority_words
from app.skills.service_requests.services.definitions import (
    LONGEST_TITLE,
    PRIORITY,
    TITLE,
    RequestField,
)
from app.skills.service_requests.workflow.next_step import asks_for_several
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
    RequestState,
)
from app.text.normalize import fold, plain_words, spell_out

_ONLY_SAYS = rf"(?:\b(?:and |y )?{either('only_says')}\s+)?"
_PRIORITIES = (*priority_words("exact"), *priority_words("vague"))
# Each with the pattern that finds its words; those alone count where they were asked for.
_SAID = [(level, re.compile(rf"\b(?:{words})\b")) for level, words in _PRIORITIES]
_ALONE = [(level, re.compile(rf"\b(?:{words})\b")) for level, words in priority_words("alone")]
_BESIDE = [re.compile(rf"{_ONLY_SAYS}\b(?:{words})\b") for _level, words in _PRIORITIES]
_NOT_URGENT = compiled("not_urgent")
_CORRECTING = re.compile(rf"^\W*{either('corrects')}\b")
_REWRITING = re.compile(rf"^\W*(?:{either('before_rewriting')}\W+)*{either('rewrites')}\b")
_GREETING = re.compile(rf"^\W*(?:{either('greetings')}\b\W+)*")
_OPENING = re.compile(rf"^{either('openings')}\s+(?:{either('behind_openings')}\s+)?")
_NAMELESS = compiled("nameless")
_TRAILING = re.compile(rf"(?:[\s,;:-]+{either('trailing')})+[\s,;:.-]*$", re.IGNORECASE)
_YES, _NO = (re.compile(rf"\b{either(name)}\b") for name in ("says_yes", "says_no"))
# In characters, some eight sentences. Values are looked for in no more of a message: what looks
# for them goes over it for each field.
LONGEST_READ = 1_000
_ADDRESS = re.compile(
    r"(?P<line1>\d{1,6}\s+[^,\n]{2,60}),\s*(?P<city>[^,\d\n]{2,40}),?\s+"
    r"(?P<state>[A-Za-z]{2}|[A-Z][a-z]+(?: [A-Z][a-z]+)?)\.?,?\s+(?P<postal>\d{5}(?:-\d{4})?)"
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


@dataclass(frozen=True)
class Said:
    """A value that was said: raw, as `read_value` takes it, and the words that say it.

    `is_inferred` says that it was not said for this field, and should be looked at.
    """

    field: RequestField
    raw: Any
    words: str
    is_inferred: bool = False


def read_said(state: RequestState, text: str, around: FieldContext) -> list[Said]:
    """The values of a message, in the order of the fields.

    What was asked for is read from it in any wording that fits; everything else is what it says
    outright, in its first `LONGEST_READ` characters. A field that has a value keeps it, unless
    the message corrects it.
    """
    if isinstance(state, NoRequest):
        return []
    state = as_waiting(state)
    awaited = state.form.by_name(state.awaited) if state.awaited else None
    spelled = spell_out(text)
    found = {each.name: each for each in _extracted(state, first_words(spelled), around)}
    corrects = is_correction(text)
    priority = _read_priority(text, state.awaited == PRIORITY or corrects)
    held = state.told.get(PRIORITY)
    is_open = held is None or held.by == "usual" or corrects or "priorit" in fold(text)
    found.pop(PRIORITY, None)
    is_new = state.values.get(PRIORITY) != priority[0] if priority else False
    if priority and is_open and (is_new or (held and held.by == "usual")):
        found[PRIORITY] = Found(PRIORITY, priority[0], 0.95, priority[1])
    said = {}
    for name, each in found.items():
        field = state.form.by_name(name)
        if field is not None:
            doubtful = _has_no_scale(field, each.words, around.language)
            said[name] = Said(field, each.raw, each.words, doubtful)
    if awaited is not None and awaited.field.name not in said:
        direct = _read_awaited(awaited, spelled, around)
        # Beside what the message says outright, it is the answer only where it can be all of it.
        is_free = not said or not (asks_for_several(state) or (direct and _is_too_long(direct)))
        if direct is not None and is_free:
            said[awaited.field.name] = direct
    _name_it(state, text, said)
    fields = state.form.fields
    return [said[each.field.name] for each in fields if each.field.name in said]


def first_words(text: str) -> str:
    """The whole words among the first `LONGEST_READ` characters; a part of a number is another."""
    if len(text) <= LONGEST_READ:
        return text
    return re.sub(r"(?<!\S)\S+\Z", "", text[: LONGEST_READ + 1]).rstrip()


def as_waiting(state: OpenRequest) -> OpenRequest:
    """The state as words are read in it: a field whose widget was put away is still asked for."""
    return replace(state, awaited=state.awaited or state.declined)


def _is_too_long(said: Said) -> bool:
    """Whether a whole message is more than the field that was asked for can hold."""
    most = getattr(said.field.field, "max_length", None)
    return most is not None and isinstance(said.raw, str) and len(said.raw) > most


def is_correction(text: str) -> bool:
    """Whether a message says that something should be different from what was said before."""
    return bool(_CORRECTING.search(plain_words(text)))


def is_rewriting(text: str) -> bool:
    """Whether a message can be nothing but a correction, whatever was asked."""
    return bool(_REWRITING.search(plain_words(text)))


def _has_no_scale(field: RequestField, words: str, language: str) -> bool:
    """Degrees that may have been meant in Celsius where the field counts in Fahrenheit."""
    is_fahrenheit = getattr(field.field, "unit", Words()).en.endswith("F")
    return language == "es" and is_fahrenheit and not re.search(r"f\b|fahrenheit", fold(words))


def _extracted(state: OpenRequest, text: str, around: FieldContext) -> list[Found]:
    known = {name: raw for name, raw in state.values.items() if not state.told[name].is_inferred}
    fields = [each.field for each in state.form.fields if each.field.type != "file"]
    return [
        each for each in extract(fields, text, around, known) if each.name not in (TITLE, PRIORITY)
    ]


def _read_priority(text: str, is_asked: bool) -> tuple[str, str] | None:
    """The priority that is said, and the words for it; of the vague words none that is denied."""
    folded = fold(text)
    for level, pattern in (*_SAID, *(_ALONE if is_asked else ())):
        match = pattern.search(folded)
        if match and not (level == "urgent" and _NOT_URGENT.search(folded)):
            return level, text[match.start() : match.end()] if len(folded) == len(text) else match[
                0
            ]
    return None


def _read_awaited(awaited: RequestField, text: str, around: FieldContext) -> Said | None:
    """What was asked for, read from an answer to just that; None where it is none."""
    field, words = awaited.field, squeeze(text)
    if field.type == "checkbox":
        answer = _yes_or_no(text)
        return None if answer is None else Said(awaited, answer, words)
    if field.type == "number":
        number = re.search(r"-?\d[\d.,]*", text)
        return Said(awaited, number[0].rstrip(".,"), words) if number else None
    if field.type == "email":
        address = _EMAIL.search(text)
        # What is no address is told so, by the field itself.
        return Said(awaited, address[0] if address else words, words)
    if field.type in ("select", "radio"):
        return _choice(awaited, first_words(text), around)
    if field.type == "address":
        return _address(awaited, text)
    if read_answer(text) is not None:
        return None
    if field.type == "textarea":
        return Said(awaited, text.strip(), "")
    if field.type == "text" and field.name != TITLE:
        return Said(awaited, words, "")
    if field.type == "phone" and len(re.findall(r"\d", text)) >= 7:
        return Said(awaited, words, words)
    return None


def _yes_or_no(text: str) -> bool | None:
    plain = read_answer(text)
    if plain is not None:
        return plain == "yes"
    folded = fold(text)
    yes, no = bool(_YES.search(folded)), bool(_NO.search(folded))
    return yes if yes != no else None


def _choice(awaited: RequestField, text: str, around: FieldContext) -> Said | None:
    """The one option that the answer means."""
    alone = Reading([awaited.field], Sentence.of(text), around, {}, is_correction=False)
    values = {each.value for each in find_options(alone, awaited.field, is_answer=True)}
    if not values:
        values = {
            option.value
            for option in getattr(awaited.field, "options", ())
            if fold(text).strip(" .!") in (fold(option.label.en), fold(option.label.es))
        }
    return Said(awaited, values.pop(), squeeze(text)) if len(values) == 1 else None


def _address(awaited: RequestField, text: str) -> Said | None:
    match = _ADDRESS.search(text)
    if match is None:
        return None
    parts = {name: squeeze(part) for name, part in match.groupdict().items()}
    return Said(awaited, parts, squeeze(match[0]))


def _name_it(state: OpenRequest, text: str, said: dict[str, Said]) -> None:
    """What the request is called: asked for, in its words; else by what was said first.

    The priority and a polite opening are no part of it.
    """
    title = state.form.by_name(TITLE)
    known = state.told.get(TITLE)
    if title is None or TITLE in said or (known is not None and not known.is_inferred):
        return
    is_asked = state.awaited == TITLE
    if is_asked and read_answer(text) is not None:
        return
    is_new = PRIORITY in said and state.awaited in ("", PRIORITY) and not is_correction(text)
    if known is not None and not is_new:
        return
    named = name_of_request(text, said)
    if named and (is_asked or len(named.split()) > 1 or known is None):
        said[TITLE] = Said(title, named, squeeze(text), is_inferred=not is_asked)


def _without_priority(line: str) -> str:
    """A line without the words that only say how soon; as it is where folding moves letters."""
    folded = fold(line)
    if len(folded) != len(line):
        return line
    for pattern in _BESIDE:
        match = pattern.search(folded)
        if match:
            line = line[: match.start()] + line[match.end() :]
            folded = folded[: match.start()] + folded[match.end() :]
    return squeeze(line)


def name_of_request(text: str, said: dict[str, Said]) -> str:
    """A message as the name of what it is about; empty where it names nothing."""
    line = squeeze(re.split(r"(?<=[.!?])\s|\n", text.strip())[0])
    for opening in (_GREETING, _OPENING):
        folded = fold(line)
        match = opening.match(folded) if len(folded) == len(line) else None
        line = line[match.end() :] if match else line
    priority = said.get(PRIORITY)
    if priority and priority.words:
        line = re.sub(_ONLY_SAYS + re.escape(priority.words), "", line, flags=re.IGNORECASE)
        line = _without_priority(squeeze(line))
    # What is far behind the end of a title need not be read.
    line = re.sub(r"\s*,(?:\s*,)*", ",", line[: 4 * LONGEST_TITLE]).strip(" ,;:-.!")
    line = _TRAILING.sub("", line)
    if _NAMELESS.match(fold(line)):
        return ""
    if len(line) > LONGEST_TITLE:
        line = line[: LONGEST_TITLE - 1].rsplit(" ", 1)[0] + "…"
    return line[:1].upper() + line[1:]
