"""Which forms or types of request a message may be about, by all they say of themselves. Pure.

Each is found by its title, by the words that people use for it, by its description, and by what it
asks for with the answers that it offers; in both languages, whichever the message is in.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.nlu.features import sound_of
from app.nlu.normalization import normalize
from app.text.stems import content_words, stem

# What a word says that is part of the title, of what people call it, of the description, and of
# the fields and their options.
TITLE, WORDS, DESCRIPTION, FIELDS = 3.0, 3.0, 1.5, 1.0
# A form is found, and not only near, with so much; and where the next has less than this of it.
FOUND, NEXT = 9.0, 0.75
# Between what the best form's score is for messages of all kinds, and what it says for a form.
USUAL, ODDS_A_POINT, LEAST_ODDS, MOST_ODDS = 7.0, 0.2, -1.0, 1.5
# Which kind of paper it is says little of what it is about.
_PAPERS = frozenset(
    "form report log request record sheet reporte solicitud hoja formato formulario bitacora"
    " registro lista".split()
)
_PAPER = 0.3
_HYPHENATED = re.compile(r"\b([^\W\d_]+)-([^\W\d_]+)\b")


@dataclass(frozen=True)
class Described:
    """What a form or a type of request says of itself, each part in both languages."""

    key: str
    title: str
    words: str
    description: str
    fields: str


@dataclass(frozen=True)
class Relevant:
    """One of them, by its key, and how much of it was said."""

    key: str
    score: float


def rank_described(message: str, texts: Sequence[Described]) -> list[Relevant]:
    """Those that have anything of the message, the likeliest first."""
    index = _index(tuple(texts))
    said = set(_stems(message))
    found = [
        Relevant(key, sum(parts[word] * index.rarity[word] for word in said & parts.keys()))
        for key, parts in index.parts.items()
    ]
    return sorted((each for each in found if each.score > 0), key=lambda each: -each.score)


def is_clear(ranked: Sequence[Relevant]) -> bool:
    """Whether the first is meant, as far as words can say."""
    if not ranked or ranked[0].score < FOUND:
        return False
    return len(ranked) < 2 or ranked[1].score < NEXT * ranked[0].score


def odds_of(score: float) -> float:
    """How much the best form's score speaks for a message being about a form, as log odds.

    Measured on the sentences that people wrote: forms have as much of what is for a form or for
    something else up to `USUAL`, and three times as much from twelve on.
    """
    return max(LEAST_ODDS, min(MOST_ODDS, (score - USUAL) * ODDS_A_POINT))


@dataclass(frozen=True)
class _Index:
    # What each word says for each of them, by its key.
    parts: Mapping[str, Mapping[str, float]]
    rarity: Mapping[str, float]


# So many letters of each part of a text are weighed, of a form with more fields than anybody reads
# those of the first ones. Of many forms it is less of each, so that a list has an end.
MOST_WEIGHED, MOST_OF_A_LIST = 4_000, 200_000
# Of how many texts that is kept: of all that one group may have, and of some groups beside it.
MOST_KEPT, MOST_LISTS = 600, 12
# What is not known yet is weighed text by text, and other turns go on in between.
REST_SECONDS = 0.0002


# What is kept goes by the texts themselves, so that no change of one can be missed. Of a group
# one of whose forms has changed, the words of all others are known.
@lru_cache(maxsize=MOST_LISTS)
def _index(texts: tuple[Described, ...]) -> _Index:
    letters = min(MOST_WEIGHED, MOST_OF_A_LIST // max(1, len(texts)))
    parts = {each.key: _weigh(each, letters) for each in texts}
    counts = Counter(word for weighed in parts.values() for word in weighed)
    rarity = {word: math.log(1 + len(texts) / count) for word, count in counts.items()}
    return _Index(parts, {**rarity, **{w: _PAPER * r for w, r in rarity.items() if w in _KINDS}})


@lru_cache(maxsize=MOST_KEPT)
def _weigh(described: Described, letters: int) -> dict[str, float]:
    time.sleep(REST_SECONDS)
    weighed: dict[str, float] = {}
    texts = (
        (FIELDS, described.fields),
        (DESCRIPTION, described.description),
        (WORDS, described.words),
        (TITLE, described.title),
    )
    for weight, text in texts:
        said = _stems(text[:letters])
        weighed |= {word: max(weight, weighed.get(word, 0.0)) for word in said}
    return weighed


def _stems(text: str) -> Iterable[str]:
    """The content words as they sound, without their endings; "walk-in" is "walkin" too."""
    joined = " ".join("".join(parts) for parts in _HYPHENATED.findall(text))
    return (sound_of(stem(word)) for word in content_words(normalize(f"{text} {joined}")))


_KINDS = frozenset(_stems(" ".join(_PAPERS)))
