"""What the words of a language mean to the grammar: the same signs whichever the language.

A vocabulary is a table from a sign to the words that stand for it, each with its value; they are
read from words.yaml. Words are written folded, without accents; a space stands between the words
of a phrase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_letters
from typing import Any

from app.text.calendar_words import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS
from app.text.numbers import NUMBER_WORDS, in_order
from app.text.yaml_file import read_yaml

_WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))

# The grammar writes a sentence as one letter for each word, so that its rules can be patterns.
SIGNS = (
    # numbers
    "number", "ordinal", "few", "a", "year",
    # names
    "month", "weekday", "unit", "today", "shift", "quarter",
    # which one
    "last", "next", "this", "ago", "hace", "early", "middle", "late", "rest", "earlier",
    # from when until when
    "from", "to", "until", "between", "and", "since", "before", "after", "onward", "so_far",
    "starting", "within",
    # small words and marks
    "the", "of", "in", "on", "comma", "dot", "dash", "slash", "stop",
    # the rest: words after which a bare "Friday" may end, those about papers, and all others
    "clear", "record", "deed", "bar", "word",
    # what the rules make
    "point", "period", "void",
)  # fmt: skip
LETTERS = dict(zip(SIGNS, ascii_letters, strict=False))


@dataclass(frozen=True)
class Back:
    """A word for what is past: how far it goes back, and how it is meant.

    `rolls`: one week of it is the seven days before today, not the one before this.
    `by_year`: with a month it is that of last year ("last September"), not the latest.
    """

    steps: int = 1
    rolls: bool = False
    by_year: bool = False


@dataclass(frozen=True)
class Ahead:
    """A word for what is to come; `by_week`: its Sunday is that of next week."""

    steps: int = 1
    by_week: bool = False


@dataclass(frozen=True)
class Meaning:
    """What a word or a phrase stands for; a weak one often means something else ("may")."""

    sign: str
    value: Any = None
    is_weak: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language.

    `day_first`: 4/5 is the fourth of May. `leads`: the signs that make sure of a bare day after
    them ("on Friday", "el viernes"). `endings`: what makes a third of a 3. `contractions`:
    words that are read as two. `verbs`: months that are other words where a number stands
    before them ("table 2 may"). `qualifies_after`: "semana pasada", where English has "last week".
    """

    language: str
    day_first: bool
    leads: frozenset[str]
    endings: frozenset[str]
    tables: Mapping[str, Mapping[str, Any]]
    weak: frozenset[str]
    verbs: frozenset[int]
    qualifies_after: bool
    contractions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phrases: dict[str, list[tuple[tuple[str, ...], Meaning]]] = field(init=False)

    def __post_init__(self) -> None:
        phrases: dict[str, list[tuple[tuple[str, ...], Meaning]]] = {}
        for sign, table in self.tables.items():
            for text, value in table.items():
                first, *others = text.split()
                meaning = Meaning(sign, value, text in self.weak)
                phrases.setdefault(first, []).append((tuple(others), meaning))
        for each in phrases.values():
            each.sort(key=lambda phrase: -len(phrase[0]))
        object.__setattr__(self, "phrases", phrases)

    def meaning(self, words: list[str], at: int) -> tuple[Meaning, int]:
        """What the longest phrase that begins there means, and how many words it has."""
        for others, meaning in self.phrases.get(words[at], ()):
            if tuple(words[at + 1 : at + 1 + len(others)]) == others:
                return meaning, 1 + len(others)
        return Meaning("word"), 1


def each_of(words: str | list[str], value: Any = None) -> dict[str, Any]:
    """The words, parted by bars, that all mean the same."""
    lines = [words] if isinstance(words, str) else words
    return {word: value for line in lines for word in line.split("|")}


def _table(sign: str, listed: Any) -> dict[str, Any]:
    """The words of a sign, each with its value."""
    if sign in ("last", "next"):
        make = Back if sign == "last" else Ahead
        tables = [
            each_of(each["words"], make(**{k: v for k, v in each.items() if k != "words"}))
            for each in listed
        ]
    elif isinstance(listed, dict):
        tables = [each_of(words, value) for value, words in listed.items()]
    else:
        tables = [each_of(listed)]
    return {word: value for table in tables for word, value in table.items()}


def _tables(language: str) -> dict[str, dict[str, Any]]:
    listed = _WORDS[language]
    tables = {sign: _table(sign, each) for sign, each in listed["signs"].items()}
    # No day or year is the zeroth.
    numbers = {word: value for word, value in NUMBER_WORDS[language].items() if value}
    return {
        **tables,
        "number": {**numbers, **tables["number"]},
        "ordinal": in_order(listed["ordinals"], 1),
        "month": {**SHORT_MONTHS[language], **MONTHS[language]},
        "weekday": {**SHORT_WEEKDAYS[language], **WEEKDAYS[language]},
    }


def _vocabulary(language: str, **grammar: Any) -> Vocabulary:
    listed = _WORDS[language]
    return Vocabulary(
        language=language,
        endings=frozenset(listed["endings"].split()),
        tables=_tables(language),
        weak=frozenset(each_of(listed["weak"])),
        contractions={
            word: tuple(read.split()) for word, read in listed.get("contractions", {}).items()
        },
        **grammar,
    )


ENGLISH = _vocabulary(
    "en",
    day_first=False,
    leads=frozenset({"on"}),
    verbs=frozenset({3, 5}),
    qualifies_after=False,
)
SPANISH = _vocabulary(
    "es",
    day_first=True,
    leads=frozenset({"the"}),
    verbs=frozenset({3, 9}),
    qualifies_after=True,
)
