"""The categories of a ledger: which one an item is likely of, and which one was named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from app.skills.expenses.nlu.lexicon import listed
from app.text.normalize import words
from app.text.yaml_file import read_yaml

DEFAULTS = Path(__file__).parents[1] / "services" / "categories.yaml"
_ENDS_HEAD = listed("ends_head")
_LONGEST_PHRASE = 5
_SHORTEST_PLURAL = 4
# One letter makes too many others of a shorter word, and no word of what is longer.
_SHORTEST_SLIP, _LONGEST_SLIP = 5, 24
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Category:
    """A category: its names by language, and the folded words that make one guess it."""

    slug: str
    # Not hashed, being a mapping: the slug tells categories apart.
    names: Mapping[str, str] = field(hash=False)
    words: tuple[str, ...] = ()


class _Index(NamedTuple):
    """The category of each phrase that speaks for one, and of each that names one."""

    words: dict[Phrase, str]
    names: dict[Phrase, str]
    # The single words that are long enough to be known by all but one letter, by their first.
    long_words: dict[str, list[str]]


class _Match(NamedTuple):
    slug: str
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def default_categories() -> tuple[Category, ...]:
    """Those that a group starts with, in their order; `other` is the last."""
    return tuple(_category(entry) for entry in read_yaml(DEFAULTS))


def make_category(slug: str, names: Mapping[str, str], said: str) -> Category:
    """A category with the words that make one guess it, as people write them: with commas."""
    return Category(slug, names, _folded(said))


@lru_cache(1024)
def _folded(said: str) -> tuple[str, ...]:
    """What stands between the commas, folded; kept, because each message asks for all of them."""
    folded = (" ".join(words(each)) for each in said.split(",") if each.strip())
    return tuple(dict.fromkeys(folded))


def _category(entry: Mapping[str, str]) -> Category:
    names = {"en": entry["name_en"], "es": entry["name_es"]}
    return make_category(entry["slug"], names, f"{entry['words_en']},{entry['words_es']}")


def guess_category(item: str, categories: Sequence[Category], language: str) -> str:
    """The slug of the category that an item's words speak for, or ""."""
    index = _index(tuple(categories))
    said = tuple(map(singular, words(item)))
    matches = list(_matches(said, index.words)) or list(
        _matches(_put_right(said, index), index.words)
    )
    if not matches:
        return ""
    head = _head_end(said)
    # The head counts, which English puts last ("coffee cups") and Spanish first ("vasos de
    # café"); of two phrases that hold it the longer one says more.
    if language == "es":
        return max(matches, key=lambda each: (each.start < head, -each.start, each.length)).slug
    return max(matches, key=lambda each: (each.start < head, each.end, each.length)).slug


def named_category(said: str, categories: Sequence[Category]) -> str:
    """The slug of the category with this name, or with this word in its name, or ""."""
    asked = tuple(map(singular, words(said)))
    return _index(tuple(categories)).names.get(asked, "")


def singular(word: str) -> str:
    """A folded word without the ending of its plural, in either language, roughly."""
    if len(word) < _SHORTEST_PLURAL or word.endswith("ss") or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("oes", "ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=256)
def _index(categories: tuple[Category, ...]) -> _Index:
    by_word: dict[Phrase, str] = {}
    by_name: dict[Phrase, str] = {}
    for category in categories:
        for phrase in _phrases([*category.names.values(), *category.words]):
            by_word.setdefault(phrase, category.slug)
        for phrase in _phrases([category.slug, *category.names.values()]):
            by_name.setdefault(phrase, category.slug)
    for category in categories:
        for name in category.names.values():
            for word in map(singular, words(name)):
                if len(word) >= _SHORTEST_PLURAL:
                    by_name.setdefault((word,), category.slug)
    return _Index(by_word, by_name, _by_first_letter(by_word))


def _by_first_letter(phrases: Iterable[Phrase]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for phrase in phrases:
        if len(phrase) == 1 and len(phrase[0]) >= _SHORTEST_SLIP:
            found.setdefault(phrase[0][0], []).append(phrase[0])
    return found


def _phrases(said: Iterable[str]) -> list[Phrase]:
    return [phrase for each in said if (phrase := tuple(map(singular, words(each))))]


def _matches(said: Phrase, known: Mapping[Phrase, str]) -> Iterable[_Match]:
    for start in range(len(said)):
        for length in range(1, min(_LONGEST_PHRASE, len(said) - start) + 1):
            slug = known.get(said[start : start + length])
            if slug:
                yield _Match(slug, start, start + length)


def _head_end(said: Phrase) -> int:
    """How many words come before what only says what for: all, where nothing does."""
    ends = [place for place, word in enumerate(said) if word in _ENDS_HEAD and place]
    return ends[0] if ends else len(said)


def _put_right(said: Phrase, index: _Index) -> Phrase:
    """With each word that differs from a known one by a slip of the finger put right."""
    return tuple(_nearest(word, index) for word in said)


def _nearest(word: str, index: _Index) -> str:
    """The known word that is one letter away; the first letter is hardly ever mistyped."""
    if (word,) in index.words or not _SHORTEST_SLIP <= len(word) <= _LONGEST_SLIP:
        return word
    alike = index.long_words.get(word[0], [])
    found = process.extractOne(word, alike, scorer=OSA.distance, score_cutoff=1)
    return str(found[0]) if found else word
