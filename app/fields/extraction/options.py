"""Choices by what they mean: their labels in either language, and the words that say the same.

Boxes to tick, and questions of yes or no, are filled where it was plainly said that it is so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import Any, NamedTuple

from app.fields.definitions import Words
from app.fields.extraction.extract import Reading, content_stems
from app.fields.extraction.lexicon import (
    AND,
    MOST_LABELS,
    WORDS,
    any_of,
    either,
    is_weak,
    lexicon,
    phrases_of,
)
from app.fields.extraction.sentence import Sentence, Span
from app.text.numbers import SMALL_NUMBERS

# How often an option is looked for: whoever says it again says the same.
MOST_SAID = 8
ENOUGH_VALUES = 2
YES, NO = (frozenset(WORDS["options"][name].split()) for name in ("yes", "no"))
# "The reach-in freezer" says what it is, not where something was.
_AT = re.compile(
    rf"(?<![\w-])(?:{either('options', 'at')})(?: (?:{either('options', 'articles')}))?$"
)
_CLAUSE = re.compile(rf"(?:(?! (?:{either('options', 'parts_clauses')}) )[^.;,!\n])+")
_DENIED = re.compile(rf"\b(?:{either('options', 'denied')})\b")
# "Almost an hour late" says how late, where "almost cut his finger" says that he did not.
_HOW_MUCH = re.compile(
    rf"\s+(?:\d|(?:{either('options', 'how_much')}|{'|'.join(SMALL_NUMBERS)})\b)"
)
_END = re.compile(r"[.;!?\n]")
# Letters of as much as may follow an offer.
_FAR = 60


class Match(NamedTuple):
    """An option that was said somewhere."""

    span: Span
    value: str
    is_weak: bool


def is_yes_or_no(field: Any) -> bool:
    """Whether the choice is between yes and no."""
    if field.type == "multi_select" or not 2 <= len(field.options) <= 3:
        return False
    labels = {label for option in field.options for label in phrases_of(option.label)}
    return bool(labels & YES) and bool(labels & NO)


def fill_options(reading: Reading) -> None:
    """Give each choice the option that was said; two of them for one leave it open."""
    fields = [each for each in _choices(reading) if not is_yes_or_no(each)]
    matches = {each.name: find_options(reading, each) for each in fields}
    for field in fields:
        meant = [
            match for match in matches[field.name] if _is_meant(reading, field, match, matches)
        ]
        if field.type == "multi_select":
            _choose_several(reading, field, meant)
        else:
            _choose_one(reading, field, meant)


def _choices(reading: Reading) -> list[Any]:
    """The choices that are open; of several more may always be chosen."""
    several = [each for each in reading.fields if each.type == "multi_select"]
    known = [each for each in several if each.name not in reading.found]
    return [*reading.open("select", "radio"), *known]


def find_options(reading: Reading, field: Any, *, is_answer: bool = False) -> list[Match]:
    """The options of a field that were said and not denied, the longer of two that overlap.

    Of an answer to this very field, words count that would say nothing alone.
    """
    found: list[Match] = []
    for option in field.options:
        if not _may_be_said(option.label, reading.said.folded):
            continue
        for pattern, weak in _patterns(option.label):
            found += [
                Match(Span(*match.span()), option.value, weak)
                for match in islice(reading.said.find(pattern), MOST_SAID)
            ]
    found = [
        each
        for each in found
        if is_answer or not each.is_weak or reading.is_near(field, each.span, 3)
    ]
    return [each for each in _longest(found) if _is_so(reading, each.span)]


def _longest(found: Sequence[Match]) -> list[Match]:
    """Those that no longer match of another option overlaps; linear in all their letters."""
    # At each place the values of longer ones: of two, one is another than any.
    covered: defaultdict[int, set[str]] = defaultdict(set)
    kept = set()
    for _length, same in groupby(sorted(found, key=_length_of, reverse=True), key=_length_of):
        of_length = [*same]
        kept |= {
            each
            for each in of_length
            if not any(covered[place] - {each.value} for place in range(*each.span))
        }
        for each in of_length:
            for place in range(*each.span):
                if len(covered[place]) < ENOUGH_VALUES:
                    covered[place].add(each.value)
    return [each for each in found if each in kept]


def _length_of(match: Match) -> int:
    return match.span.end - match.span.start


def _is_so(reading: Reading, span: Span) -> bool:
    """Whether something was said to be: not denied, planned, wished for, declined or nearly so."""
    if reading.said.is_negated(span):
        return False
    return reading.is_correction or not _is_undone(reading.said, span)


def _is_undone(said: Sentence, span: Span) -> bool:
    undone, before = lexicon().undone, said.before(span, 5)
    if undone["planned"].search(before) or undone["wished"].search(before):
        return True
    if _is_nearly(AND.split(f"{before} ")[-1]) or undone["refused"].search(said.before(span, 2)):
        return True
    if undone["refusal"].match(said.after(span, 4)):
        return True
    # "We offered a discount and they declined" goes on behind a comma or a "but".
    rest = said.folded[span.end : span.end + _FAR]
    is_offered = undone["offered"].search(before)
    return bool(is_offered and undone["declined"].search(_END.split(rest)[0]))


def _is_nearly(text: str) -> bool:
    """Whether a "nearly" there is about what was done, and not about how much of it."""
    matches = lexicon().undone["nearly"].finditer(text)
    return any(not _HOW_MUCH.match(text, match.end()) for match in matches)


def _may_be_said(label: Words, folded: str) -> bool:
    """Whether all letters of one of its phrases are there: a pattern takes far longer to make."""
    return any(
        all(word in folded for word in re.split(r"[\s-]+", phrase) if word.isalpha())
        for phrase in phrases_of(label)
    )


@lru_cache(MOST_LABELS)
def _patterns(label: Words) -> tuple[tuple[re.Pattern[str], bool], ...]:
    """What finds an option, apart for the words that mean it only where the field is named."""
    phrases = phrases_of(label)
    strong = tuple(each for each in phrases if not is_weak(each))
    weak = tuple(each for each in phrases if is_weak(each))
    return tuple((any_of(said), said is weak) for said in (strong, weak) if said)


def _is_meant(reading: Reading, field: Any, match: Match, matches: dict[str, list[Match]]) -> bool:
    """Words that are an option of two fields go to the one that is named, else to neither."""
    rivals = [
        each
        for each in reading.fields
        if each.name in matches and any(match.span == other.span for other in matches[each.name])
    ]
    if len(rivals) == 1:
        return True
    named = [each for each in rivals if reading.is_near(each, match.span)]
    return named == [field]


def _choose_one(reading: Reading, field: Any, meant: list[Match]) -> None:
    values = {match.value for match in meant}
    if len(values) > 1:
        meant = [m for m in meant if _AT.search(reading.said.before(m.span, 3))]
        values = {match.value for match in meant}
    if len(values) == 1:
        first = meant[0]
        reading.add(field.name, first.value, 0.7 if first.is_weak else 0.85, first.span)


def _choose_several(reading: Reading, field: Any, meant: list[Match]) -> None:
    values = {match.value for match in meant}
    if values and not reading.is_correction:
        values |= _known_values(reading, field)
    chosen = [option.value for option in field.options if option.value in values][: field.most]
    if not chosen:
        return
    first = min(meant)
    reading.add(field.name, chosen, 0.8, first.span)
    for match in meant:
        reading.said.take(match.span)


def _known_values(reading: Reading, field: Any) -> set[str]:
    """What has been chosen already."""
    known = reading.known.get(field.name) or ()
    return {str(each) for each in ((known,) if isinstance(known, str) else known)}


def fill_boxes(reading: Reading) -> None:
    """Tick what was said to be so, and answer what was said to be or not to be."""
    for field in reading.fields:
        if field.type == "checkbox":
            _tick(reading, field)
    for field in reading.open("radio", "select"):
        said = _is_said(reading, field) if is_yes_or_no(field) else None
        if said:
            reading.add(field.name, _option_for(field, said[0]), 0.8, said[1], takes=False)


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
        if _is_open(match[0]) and not _is_open(label.replace("?", "")):
            continue
        return not _DENIED.search(match[0]), Span(*match.span())
    return None


def _is_open(clause: str) -> bool:
    """Whether what a clause says was only asked for, planned, wished for or nearly done."""
    undone = lexicon().undone
    kinds = ("planned", "asked", "wished", "nearly", "refused", "declined", "refusal")
    return "?" in clause or any(undone[kind].search(clause) for kind in kinds)


def _says(clause: str, label: str) -> bool:
    """Whether all the words of a label stand in a clause, in whichever form."""
    asked = set(content_stems(label))
    is_telling = len(asked) > 1 or any(len(each) > 5 for each in asked)
    return is_telling and asked <= set(content_stems(clause))


def _option_for(field: Any, is_so: bool) -> str:
    wanted = YES if is_so else NO
    return next(str(o.value) for o in field.options if wanted & set(phrases_of(o.label)))
