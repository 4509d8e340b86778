"""People into the fields that ask for them: contacts by name, each in the part they played."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from app.fields.extraction.extract import Reading
from app.fields.extraction.lexicon import WORDS, either, lexicon
from app.fields.extraction.sentence import Span
from app.fields.values import Person, people_called
from app.text.normalize import fold, words

MOST_ASKED = 40
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_SUBJECT = ""
_SMALL = frozenset(WORDS["people"]["small"].split())
# What a person does or is done to: it tells a name at the start of a sentence from a thing.
_DOES = re.compile(rf"^(?:{either('people', 'does')})\b")
_ABOUT = re.compile(rf"\b(?:{either('people', 'about')})$")
_SAYS = re.compile(rf"^(?:{either('people', 'says')})\b")
_TO = re.compile(rf"\b(?:{either('people', 'to')})$")
_AND = re.compile(r"^(?:and|y|&|,)\s+(?=[A-ZÁÉÍÓÚÑ])")
_BELONGS = re.compile(r"^'s\b")
_OF = re.compile(rf"\b(?:{either('people', 'of')})$")
_BETWEEN = re.compile(rf"\s*(?:\b(?:{either('people', 'between')})\b|[:,])?\s*$")


class Mention(NamedTuple):
    """Somebody who was named: the contacts that it may be, none for a name nobody knows."""

    span: Span
    name: str
    people: tuple[Person, ...]


def fill_people(reading: Reading) -> None:
    """Those whose part is told into its field, and then the one whom all is about."""
    named = _mentions(reading)
    _fill(reading, [each for each in named if not reading.said.is_denied(each.span)])
    # Whoever was named in full says nothing else: María Salas is not in the dining room.
    for mention in named:
        if mention.people and len(words(mention.name)) > 1:
            reading.said.take(mention.span)


def _fill(reading: Reading, mentions: list[Mention]) -> None:
    fields = list(reading.open("person"))
    parts = {mention: _part(reading, mention) for mention in mentions}
    for mention, part in parts.items():
        field = next((each for each in fields if part and _part_of(each) == part), None)
        if field is not None:
            _give(reading, field, mention)
    subjects = [mention for mention, part in parts.items() if part == _SUBJECT]
    if len(subjects) > 1:
        subjects = [m for m in subjects if not _TO.search(reading.said.before(m.span, 2))]
    subject = next((each for each in reading.fields if each.type == "person"), None)
    if subject is not None and _part_of(subject) == _SUBJECT and len(subjects) == 1:
        _give(reading, subject, subjects[0])


def _give(reading: Reading, field: Any, mention: Mention) -> None:
    if not reading.may_fill(field.name) or not (mention.people or field.anybody):
        return
    raw = {"name": mention.name}
    if len(mention.people) == 1:
        raw = {"name": mention.people[0].name, "contact_id": mention.people[0].id}
    confidence = {0: 0.6, 1: 0.95}.get(len(mention.people), 0.5)
    reading.add(field.name, raw, confidence, mention.span)


def _part_of(field: Any) -> str:
    """The part that a field's label asks for; that of whom the form is about has no name."""
    label = {*words(field.label.en), *words(field.label.es)}
    roles = lexicon().roles.items()
    return next((name for name, role in roles if role.label & label), _SUBJECT)


def _part(reading: Reading, mention: Mention) -> str:
    """The part that somebody played by the words around the name; "none" for one without."""
    said = reading.said
    before, after = said.before(mention.span, 4), said.after(mention.span, 4)
    if re.search(r"\band\s*$|\by\s*$", before) or _AND.match(_raw_after(reading, mention)):
        return "none"
    # "A write-up for Kevin" is about him, where "for" says little else.
    is_about = bool(_ABOUT.search(before))
    for name, role in lexicon().roles.items():
        if role.after.match(after) or (not is_about and _ends_with(role.before, before)):
            return "none" if name == "teller" else name
    if _BELONGS.match(after):
        return _SUBJECT if _body().search(after) else "none"
    return "none" if _SAYS.match(after) or _OF.search(before) else _SUBJECT


@cache
def _body() -> re.Pattern[str]:
    """A part of the body right behind a name: "Tom's foot"."""
    parts = f"{lexicon().groups['body']}|{either('people', 'body')}"
    return re.compile(rf"^'s (?:left |right )?(?:{parts})\b")


def _raw_after(reading: Reading, mention: Mention) -> str:
    return reading.said.text[mention.span.end :].lstrip()


def _ends_with(pattern: re.Pattern[str], before: str) -> bool:
    """Whether a cue stands right before a name, with at most an article or "a" between."""
    bare = _BETWEEN.sub("", before)
    return any(match.end() in (len(before), len(bare)) for match in pattern.finditer(before))


def _mentions(reading: Reading) -> list[Mention]:
    """The names of a sentence, as many of their words as one contact has."""
    said = reading.said
    tokens = [Span(*m.span()) for m in _WORD.finditer(said.text)]
    tokens = [_without_s(said.text, span) for span in tokens]
    found: list[Mention] = []
    asked = 0
    for number, span in enumerate(tokens):
        is_done = bool(found) and span.start < found[-1].span.end
        if is_done or not said.is_free(span) or not _may_be_a_name(reading, tokens[number:]):
            continue
        asked += 1
        mention = _longest(reading, tokens[number : number + 4]) if asked < MOST_ASKED else None
        if mention:
            found.append(mention)
    return found


def _without_s(text: str, span: Span) -> Span:
    return Span(span.start, span.end - 2) if text[span.start : span.end].endswith("'s") else span


def _may_be_a_name(reading: Reading, tokens: list[Span]) -> bool:
    """A capital says so; who writes without any may mean a first name that everybody knows."""
    word = reading.said.words(tokens[0])
    folded = fold(word)
    is_first = folded in lexicon().first_names
    if folded in _SMALL or len(folded) < 2:
        # "Will was late" is somebody; "will" and "May" alone are not.
        return word[0].isupper() and is_first and _goes_on(reading, tokens)
    return word[0].isupper() or (is_first and not reading.said.has_capitals)


def _goes_on(reading: Reading, tokens: list[Span]) -> bool:
    """Whether a name is followed by another one."""
    return len(tokens) > 1 and reading.said.words(tokens[1])[0].isupper()


def _longest(reading: Reading, tokens: list[Span]) -> Mention | None:
    """The longest run of names that is one contact's, else the name as it was said."""
    said = reading.said
    run = [tokens[0]]
    for before, span in pairwise(tokens):
        is_next = said.text[before.end : span.start].isspace()
        if not is_next or not said.words(span)[0].isupper():
            break
        run.append(span)
    for length in range(len(run), 0, -1):
        whole = Span(run[0].start, run[length - 1].end)
        people = find_people(reading, said.words(whole))
        if people:
            return Mention(whole, said.words(whole), people)
    whole = Span(run[0].start, run[-1].end)
    return Mention(whole, said.words(whole), ()) if _is_believed(reading, run) else None


def find_people(reading: Reading, name: str) -> tuple[Person, ...]:
    """The contacts who are called so; the beginning of a name is not enough."""
    return tuple(people_called(name, reading.around.find_people(name)))


def _is_believed(reading: Reading, run: list[Span]) -> bool:
    """Whether a capitalised word that is no contact's is a name all the same."""
    said = reading.said
    whole = Span(run[0].start, run[-1].end)
    if not said.words(whole)[0].isupper() or lexicon().equipment.search(fold(said.words(whole))):
        return False
    if _ABOUT.search(said.before(whole, 3)):
        return True
    is_known = fold(said.words(run[0])) in lexicon().first_names
    return is_known and bool(_DOES.match(said.after(whole, 2)))
