"""One sentence on its way into one form: what is open to be filled, and what has been found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from app.fields.definitions import FormField, Words
from app.fields.extraction.lexicon import MOST_LABELS, WORDS, lexicon
from app.fields.extraction.sentence import Sentence, Span
from app.fields.values import FieldContext
from app.text.normalize import words

_SMALL = frozenset(WORDS["labels"]["small"].split())


class Found(NamedTuple):
    """What a sentence says about a field: what `read_value` takes, how surely, in which words."""

    name: str
    raw: Any
    confidence: float
    words: str


@dataclass
class Reading:
    """`known` is what the form holds already.

    A correction may change all of it, or `only` the fields that it gives values by their names;
    whatever else is said only the fields `named` by it.
    """

    fields: Sequence[FormField]
    said: Sentence
    around: FieldContext
    known: Mapping[str, Any]
    is_correction: bool
    named: Collection[str] = ()
    found: dict[str, Found] = field(default_factory=dict)
    only: set[str] = field(default_factory=set)

    def open(self, *types: str) -> Iterator[Any]:
        """The fields of these types that may be filled."""
        for each in self.fields:
            if each.type in types and self.may_fill(each.name):
                yield each

    def may_fill(self, name: str) -> bool:
        return name not in self.found and (self.changes(name) or not self.known.get(name))

    def changes(self, name: str) -> bool:
        """Whether what is said may change what this field holds."""
        is_corrected = self.is_correction and (not self.only or name in self.only)
        return is_corrected or name in self.named

    def add(
        self, name: str, raw: Any, confidence: float, span: Span, *, takes: bool = True
    ) -> None:
        """A value of a field, said there; what it takes there says nothing else."""
        self.found[name] = Found(name, raw, confidence, self.said.words(span).strip())
        if takes:
            self.said.take(span)

    def is_near(self, field_: FormField, span: Span, most: int = 4) -> bool:
        """Whether a word of the field's label stands beside a place."""
        beside = f"{self.said.before(span, most)} {self.said.after(span, most - 2)}"
        return bool(cue_words(field_.label) & {stem(word) for word in words(beside)})


@lru_cache(4096)
def stem(word: str) -> str:
    """A word without its end, so that its forms are one: "refunded" and "refund"."""
    for line in lexicon().verbs:
        if word in line:
            return min(line)
    return word[: max(4, len(word) - 3)]


def stems(text: str) -> frozenset[str]:
    """The stems of all words of a text."""
    return frozenset(map(stem, words(text)))


@lru_cache(MOST_LABELS)
def cue_words(label: Words) -> frozenset[str]:
    """The stems of the words that a label has, in both languages."""
    said = [*words(label.en), *words(label.es)]
    return frozenset(stem(word) for word in said if word not in _SMALL)


def content_stems(text: str) -> list[str]:
    """The stems of the words of a text that say something, in their order."""
    return [stem(word) for word in words(text) if word not in _SMALL]


def label_words(text: str) -> list[str]:
    """The words of a label that say something, in their order."""
    return [word for word in words(text) if word not in _SMALL]


def squeeze(text: str) -> str:
    """On one line, without signs at the ends."""
    return re.sub(r"\s+", " ", text).strip(" .,;:!?\"'")
