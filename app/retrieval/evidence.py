"""Whether what was found says enough of what was asked: to answer from, or only to point at.

A search always finds something. Four things tell whether it is to the point: the share of
the question that the best hit has, its nearness in meaning, how much of its title the
question names, and how many of the question's words no document has in any form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from app.retrieval.calibration import Calibration, calibration_of
from app.retrieval.search import Hit, SearchOutcome
from app.text.normalize import words
from app.text.stop_words import STOP_WORDS
from app.text.synonyms import WORTH, synonyms_of

# "good" answers, "thin" may be shown as the closest there is, "none" is about something else.
Strength = Literal["good", "thin", "none"]

# As logarithms of odds: more likely than not an answer, and a third as likely.
GOOD, THIN = 0.0, -1.1
# Where the question names the very page: four of five of those are answered by it.
NAMED = 1.4


def judge(outcome: SearchOutcome, query: str, model: str, unknown: Sequence[str] = ()) -> Strength:
    """How good the best of the hits is as evidence for `query`.

    `model` is the embedding model whose cosines the hits have, `unknown` the words of the
    query that no document of the group has (see `unknown_words`).
    """
    odds = max((odds_of(hit, query, model, unknown) for hit in outcome.hits), default=THIN - 1)
    return strength_of(odds)


def odds_of(hit: Hit, query: str, model: str, unknown: Sequence[str] = ()) -> float:
    """The logarithm of the odds that this hit answers `query`; arguments as for `judge`.

    Where only words or only meaning is known of it, it is good or nothing.
    """
    asked = _said(query)
    share = min(1.0, len(unknown) / len(asked)) if asked else 0.0
    return _odds(hit, query, share, calibration_of(model))


def strength_of(odds: float) -> Strength:
    return "good" if odds >= GOOD else "thin" if odds >= THIN else "none"


def _odds(hit: Hit, query: str, unknown: float, limits: Calibration) -> float:
    if hit.semantic is None:
        return GOOD if (hit.coverage or 0) >= limits.enough_coverage else THIN - 1
    if hit.coverage is None:
        return GOOD if hit.semantic >= limits.enough_cosine else THIN - 1
    weigh = limits.evidence
    return (
        weigh.bias
        + weigh.coverage * hit.coverage
        + weigh.cosine * hit.semantic
        + weigh.title * _named(hit.title, query, hit.language)
        + weigh.unknown * unknown
    )


def _named(title: str, query: str, language: str) -> float:
    """How much the question and the title, in either of its languages, share of both, 0..1.

    (Dice's coefficient: one word of two is little where the question has six.)
    """
    asked = _said(query)
    others = {
        _singular(word): {_singular(other) for other in each}
        for word, each in synonyms_of(query, language).items()
    }
    titles = [_said(one) for one in title.split(" / ")]
    return max(
        2 * sum(_worth(word, one, others) for word in asked) / max(len(one) + len(asked), 1)
        for one in titles
    )


def _worth(word: str, title: Collection[str], others: Mapping[str, Collection[str]]) -> float:
    """1 where the title has the word, less where it has another word for it."""
    if word in title:
        return 1.0
    return WORTH * any(other in title for other in others.get(word, ()))


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


def _said(text: str) -> set[str]:
    """The words that say what a text is about, plain plurals as singulars; no numbers."""
    return {
        _singular(word) for word in words(text) if word not in STOP_WORDS and not word.isdecimal()
    }
