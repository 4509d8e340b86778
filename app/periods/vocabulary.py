"""What the words of a language mean to the grammar: the same signs whichever the language.

A vocabulary is a table from a sign to the words that stand for it, each with its value. Words
are written folded, without accents; a space stands between the words of a phrase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_letters
from typing import Any

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
    contractions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
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


def each_of(words: str, value: Any = None) -> dict[str, Any]:
    """The words, parted by bars, that all mean the same."""
    return {word.strip(): value for word in words.split("|")}
