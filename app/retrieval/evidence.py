"""Whether what was found says enough of what was asked: to answer from, or only to point at.

A search always finds something. Four things tell whether it is to the point: the share of
the question that the best hit has, its nearness in meaning, how much of its title the
question names, and how many of the question's words no document has in any form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from app.retrieval.calibration import Calibration, calibration_of
from app.retrieval.search import Hit, SearchOutcome
from app.text.normalize import words
from app.text.stop_words import STOP_WORDS

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
    return _odds(hit, asked, share, calibration_of(model))


def strength_of(odds: float) -> Strength:
    return "good" if odds >= GOOD else "thin" if odds >= THIN else "none"


def _odds(hit: Hit, asked: set[str], unknown: float, limits: Calibration) -> float:
    if hit.semantic is None:
        return GOOD if (hit.coverage or 0) >= limits.enough_coverage else THIN - 1
    if hit.coverage is None:
        return GOOD if hit.semantic >= limits.enough_cosine else THIN - 1
    weigh = limits.evidence
    return (
        weigh.bias
        + weigh.coverage * hit.coverage
        + weigh.cosine * hit.semantic
        + weigh.title * _named(hit.title, asked)
        + weigh.unknown * unknown
    )


def _named(title: str, asked: set[str]) -> float:
    """How much the question and the title, in either of its languages, share of both, 0..1.

    (Dice's coefficient: one word of two is little where the question has six.)
    """
    titles = [_said(one) for one in title.split(" / ")]
    return max(2 * len(one & asked) / max(len(one) + len(asked), 1) for one in titles)


def _said(text: str) -> set[str]:
    """The words that say what a text is about, plain plurals as singulars; no numbers."""
    return {
        word.removesuffix("s") if len(word) > 3 else word
        for word in words(text)
        if word not in STOP_WORDS and not word.isdecimal()
    }
