"""The words of `words.yaml`, read once: phrases with what they may be said as, and patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from app.fields.definitions import Words
from app.text.normalize import fold
from app.text.numbers import SMALL_NUMBERS
from app.text.stop_words import STOP_WORDS
from app.text.yaml_file import read_yaml

WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))
# Of how many labels it is kept what they may be said as: those of some dozen forms.
MOST_LABELS = 4096


def either(*path: str) -> str:
    """The alternatives of a pattern; what stands around them is its reader's."""
    found: Any = WORDS
    for name in path:
        found = found[name]
    return found if isinstance(found, str) else "|".join(found)


_APART = re.compile(rf"\s+(?:{either('labels', 'or')})\s+|\s*/\s*|\s*,\s*")
_ARTICLES = re.compile(rf"^(?:{either('labels', 'articles')})\s+")
# Between two things that were said.
AND = re.compile(rf" (?:{either('and')}) ")


@dataclass(frozen=True)
class Role:
    """How a field and a sentence name one of several people."""

    label: frozenset[str]
    before: re.Pattern[str]
    after: re.Pattern[str]


@dataclass(frozen=True)
class Lexicon:
    """`same` are sets of phrases that mean one thing; the rest is as in the file."""

    groups: dict[str, str]
    same: tuple[tuple[str, ...], ...]
    narrow: dict[str, tuple[str, ...]]
    weak: frozenset[str]
    equipment: re.Pattern[str]
    units: tuple[frozenset[str], ...]
    measures: re.Pattern[str]
    below: re.Pattern[str]
    undone: dict[str, re.Pattern[str]]
    ranges: dict[str, frozenset[str]]
    verbs: tuple[frozenset[str], ...]
    roles: dict[str, Role]
    first_names: frozenset[str]

    @cached_property
    def lines_of(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The sets of `same` by each phrase in them."""
        found: dict[str, tuple[tuple[str, ...], ...]] = {}
        for line in self.same:
            for phrase in dict.fromkeys(line):
                found[phrase] = (*found.get(phrase, ()), line)
        return found


@cache
def lexicon() -> Lexicon:
    """The phrases, made into patterns once."""
    groups = {name: "|".join(map(re.escape, each)) for name, each in WORDS["groups"].items()}
    return Lexicon(
        groups,
        tuple(_folded(line) for line in WORDS["same"]),
        {fold(phrase): _folded(means) for phrase, means in WORDS["narrow"].items()},
        frozenset(_folded(WORDS["weak"])),
        _any_of(_folded(WORDS["equipment"]), groups),
        tuple(frozenset(_folded(line)) for line in WORDS["units"]),
        _any_of(_folded(WORDS["measures"]), groups),
        _any_of(_folded(WORDS["below"]), groups),
        {name: _any_of(_folded(each), groups) for name, each in WORDS["undone"].items()},
        {name: frozenset(_folded(each)) for name, each in WORDS["ranges"].items()},
        tuple(frozenset(_folded(line)) for line in WORDS["verbs"]),
        {name: _role(each, groups) for name, each in WORDS["roles"].items()},
        frozenset(_folded(WORDS["first_names"])),
    )


def _folded(phrases: list[str]) -> tuple[str, ...]:
    return tuple(fold(phrase) for phrase in phrases)


def _role(written: dict[str, list[str]], groups: dict[str, str]) -> Role:
    before, after = (_any_of(_folded(written[side]), groups) for side in ("before", "after"))
    return Role(frozenset(_folded(written["label"])), before, after)


def any_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds each of these folded phrases, the longest first."""
    return _any_of(phrases, lexicon().groups)


def _any_of(phrases: tuple[str, ...], groups: dict[str, str]) -> re.Pattern[str]:
    ordered = sorted(set(phrases), key=len, reverse=True)
    said = "|".join(_as_pattern(phrase, groups) for phrase in ordered)
    return re.compile(rf"(?<![\w'])(?:{said or '(?!)'})(?![\w'])")


def _as_pattern(phrase: str, groups: dict[str, str]) -> str:
    words = [word for word in re.split(r"[\s-]+", phrase) if word]
    said = [_word(word, groups) for word in words]
    if words and len(words[-1]) > 3 and words[-1].isalpha():
        said[-1] += "(?:s|es)?"
    return r"[\s-]+".join(said)


def _word(word: str, groups: dict[str, str]) -> str:
    if word.startswith("{"):
        return f"(?:{groups[word.strip('{}')]})"
    if word.isdecimal():
        spelled = [name for name, number in SMALL_NUMBERS.items() if number == int(word)]
        return rf"(?:(?:#|no\.?|number|numero)\s*)?(?:{'|'.join([word, *spelled])})"
    if word.endswith("*"):
        return re.escape(word[:-1]) + r"\w*"
    return re.escape(word)


@lru_cache(MOST_LABELS)
def phrases_of(label: Words) -> tuple[str, ...]:
    """All that a label may be said as: its alternatives in both languages and what means them."""
    known = {phrase for text in (label.en, label.es) for phrase in _alternatives(text)}
    said = set(known)
    for phrase in known:
        said.update(*_lines_of(phrase), _put_otherwise(phrase))
    said |= {turned for phrase in known for turned in _turned(phrase)}
    narrow = lexicon().narrow
    return tuple(sorted({means for each in said for means in narrow.get(each, (each,))}))


def _alternatives(text: str) -> set[str]:
    """ "Bruise or blow" as it is, and "bruise", and "blow"; without articles."""
    folded = fold(re.sub(r"\(.*?\)", "", text)).strip(" .?¿!¡")
    parts = {folded, *_APART.split(folded)}
    return {_ARTICLES.sub("", part.strip()) for part in parts} - {""}


def _turned(phrase: str) -> set[str]:
    """Two words that say it in the other order: "horas que faltan" is "faltan horas"."""
    words = [word for word in phrase.split() if word not in STOP_WORDS]
    return {" ".join(reversed(words))} if len(words) == 2 else set()


def _put_otherwise(phrase: str) -> set[str]:
    """A phrase with its beginning or its end said otherwise: "walk-in cooler 2" is "walk-in 2"."""
    head, _, tail = phrase.rpartition(" ")
    said = {f"{other} {tail}" for line in _lines_of(head) for other in _short(line)}
    ends = (other for line in _lines_of(tail) for other in _short(line)) if head else ()
    return said | {f"{head} {other}" for other in ends}


def _short(line: tuple[str, ...]) -> list[str]:
    return [phrase for phrase in line if len(phrase.split()) < 3]


def _lines_of(phrase: str) -> tuple[tuple[str, ...], ...]:
    """The sets of phrases that it is one of."""
    return lexicon().lines_of.get(phrase, ())


def unit_words(unit: Words) -> frozenset[str]:
    """All that a field's unit is called."""
    told = {fold(text).strip() for text in (unit.en, unit.es) if text}
    lines = [line for line in lexicon().units if told & line]
    return frozenset(told).union(*lines)


def is_weak(phrase: str) -> bool:
    """Whether words mean an option only where its field is named: "other", "low", "S"."""
    return len(phrase) <= 2 or phrase in lexicon().weak
