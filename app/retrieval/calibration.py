"""What each embedding model's numbers mean: the weights of the legs, and when to doubt.

A cosine of 0.5 is a lot for one model and nothing for another. `flask eval retrieval`
shows what another weight would do on one's own content.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Evidence:
    """Weights of what a hit has; their sum is the logarithm of the odds that it answers.

    `coverage` is the share of the query that the document contains, its words weighed by
    rarity; `cosine` their nearness; `title` how much title and query share;
    `unknown` the share of the query's words that no document has.
    """

    bias: float
    coverage: float
    cosine: float
    title: float
    unknown: float


@dataclass(frozen=True)
class Calibration:
    """Weights of the final score, and how much a hit must have to be evidence.

    `enough_coverage` and `enough_cosine` hold where only one of the two is known.
    """

    semantic_weight: float
    lexical_weight: float
    evidence: Evidence
    enough_coverage: float
    enough_cosine: float


# Fitted to 450 questions that the demo's library answers, in both languages and as
# people type them, and 125 that it does not; nine in ten of either are told apart.
_FITTED = Evidence(bias=-3.4, coverage=3.2, cosine=5.5, title=2.9, unknown=-3.1)

# The contract's weights, for text-embedding-3-large and models not calibrated yet. Their
# cosines of texts that have nothing to do with one another are higher than the bundled
# model's.
DEFAULT = Calibration(
    semantic_weight=0.67,
    lexical_weight=0.33,
    evidence=replace(_FITTED, bias=-3.9),
    enough_coverage=0.45,
    enough_cosine=0.42,
)

BY_MODEL = {
    # A mean of word vectors: good at synonyms, less so across languages. The weights are
    # the best on short questions about a group's manual that cost nothing on XQuAD.
    "wordllama-256": Calibration(
        semantic_weight=0.5,
        lexical_weight=0.5,
        evidence=_FITTED,
        enough_coverage=0.45,
        enough_cosine=0.5,
    ),
}


def calibration_of(model: str) -> Calibration:
    """The model's own calibration, or the default one."""
    return BY_MODEL.get(model, DEFAULT)
