"""Other words for what is asked: a manual says "payday" where its reader asks for "la lana".

`synonyms.yaml` has the words; a search and a quotation take them for the word itself, at part of
its worth.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path

from app.text.normalize import WORD, fold, words
from app.text.stems import FILLER_WORDS, stem
from app.text.yaml_file import read_yaml

# What another word is worth beside the very word that was asked.
WORTH = 0.75
MOST_PER_WORD = 12
# Of the phrases of a text: who says more of them wants nothing in particular.
MOST_RESTATED = 20
MOST_WORDS = 60
LANGUAGES, BOTH = ("en", "es"), "mul"

Synonyms = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class _Meaning:
    """One line: each way to say it as stems, and the single words that may stand in a text."""

    ways: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]


@lru_cache(maxsize=256)
def synonyms_of(text: str, language: str | None = None) -> Synonyms:
    """Each folded word of `text` that has other words, with those.

    `language` is the one that the question is in, "mul" for either; without one there are none.

    A phrase of words that say nothing by themselves ("to go") has its first word in
    `with_meant(text)`.
    """
    said = words(text)
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for start, end, meaning in _meanings(said, language):
        part = _telling(said[start:end]) or meaning.words[:1]
        own = {stem(word) for word in part}
        others = [word for word in meaning.words if stem(word) not in own]
        for word in part:
            found[word].update(dict.fromkeys(others))
    if language in ("es", BOTH):
        for word in said:
            if (spelled := _with_qu(word)) != word:
                found[word][spelled] = None
    few = list(found.items())[:MOST_WORDS]
    return {word: tuple(others)[:MOST_PER_WORD] for word, others in few if others}


def with_meant(text: str, language: str | None = None) -> str:
    """`text` with the word of a manual behind it for each phrase that has none to search for."""
    said = words(text)
    meant = [
        meaning.words[0]
        for start, end, meaning in _meanings(said, language)
        if not _telling(said[start:end])
    ]
    return " ".join([text, *dict.fromkeys(meant)])


def meanings_in(text: str, meanings: Mapping[str, str]) -> dict[str, str]:
    """Those of `meanings`, what is meant by what is said, that `restate` finds in `text`."""
    return {said: meanings[said] for _start, _end, said in _said_in(text, meanings)}


def restate(text: str, meanings: Mapping[str, str]) -> str:
    """`text` with what is meant in place of each phrase of `meanings` that is said in it.

    Phrases are recognised in any case, with or without accents, and with an s more or less at
    the end of a word; of those that begin at the same word the longest counts.
    """
    done, pieces = 0, []
    for start, end, said in islice(_said_in(text, meanings), MOST_RESTATED):
        pieces += [text[done:start], meanings[said]]
        done = end
    return "".join([*pieces, text[done:]])


def _said_in(text: str, meanings: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Where each phrase stands in `text`, from sign to sign, in order and apart."""
    ways: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for said in sorted(meanings, key=len, reverse=True):
        if way := tuple(map(_singular, words(said))):
            ways[way[0]].append((way, said))
    if not ways:
        return
    found = [(match.span(), _singular(fold(match[0]))) for match in WORD.finditer(text)]
    forms = tuple(each for _span, each in found)
    place = 0
    while place < len(found):
        here = ways.get(forms[place], ())
        match = next((one for one in here if forms[place : place + len(one[0])] == one[0]), None)
        if match is None:
            place += 1
            continue
        last = place + len(match[0])
        yield found[place][0][0], found[last - 1][0][1], match[1]
        place = last


def _singular(word: str) -> str:
    """Without the s of a plural alone: stems would take "butters" for "but"."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _telling(said: Sequence[str]) -> Sequence[str]:
    return [word for word in said if word not in FILLER_WORDS]


def _with_qu(word: str) -> str:
    """ "kedo" as "quedo", "akel" as "aquel": how Spanish is typed in a hurry."""
    return re.sub("k(?=[aou])", "c", re.sub("(?<!c)k(?=[ei])", "qu", word))


def words_of_phrases(text: str) -> frozenset[str]:
    """The folded words of `text` that together say one thing: "written" and "up"."""
    said = words(text)
    return frozenset(
        word
        for start, end, _meaning in _meanings(said, BOTH)
        if end - start > 1
        for word in said[start:end]
    )


Index = Mapping[str, tuple[tuple[tuple[str, ...], _Meaning], ...]]


def _meanings(said: Sequence[str], language: str | None) -> Iterator[tuple[int, int, _Meaning]]:
    """Where a way to say something stands, from word to word, and what it means."""
    stemmed = tuple(map(stem, said))
    for index in _indexes(language):
        for start, word in enumerate(stemmed):
            for way, meaning in index.get(word, ()):
                end = start + len(way)
                # "can" is no "canned": alone, a word that says nothing is none of these.
                is_filler = end - start == 1 and said[start] in FILLER_WORDS
                if stemmed[start:end] == way and not is_filler:
                    yield start, end, meaning


def _indexes(language: str | None) -> list[Index]:
    return [index for of, index in _read_indexes().items() if language in (of, BOTH)]


@cache
def _read_indexes() -> Mapping[str, Index]:
    lines = read_yaml(Path(__file__).with_name("synonyms.yaml"))
    return {language: _index(lines[language]) for language in LANGUAGES}


def _index(lines: Sequence[str]) -> Index:
    """By the stem of the first word of each way to say something."""
    ways: dict[str, list[tuple[tuple[str, ...], _Meaning]]] = defaultdict(list)
    for meaning in map(_read, lines):
        for way in meaning.ways:
            ways[way[0]].append((way, meaning))
    return {first: tuple(each) for first, each in ways.items()}


def _way(said: str) -> tuple[str, ...]:
    return tuple(words(said))


def _read(line: str) -> _Meaning:
    """A line such as "payday, pay day, lana": the first stands for all that it says."""
    ways = [way for way in map(_way, line.split(",")) if len(way) > 1 or way[0] not in FILLER_WORDS]
    single = [way[0] for way in ways if len(way) == 1]
    said = [word for word in ways[0] if word not in FILLER_WORDS]
    return _Meaning(
        tuple(tuple(map(stem, way)) for way in ways), tuple(dict.fromkeys([*said, *single]))
    )
