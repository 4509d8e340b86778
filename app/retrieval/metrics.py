"""How good a ranking is: nDCG, reciprocal rank and recall. Pure arithmetic.

A ranking is a list of document ids, best first; judgments give some of them a grade above
zero. Definitions as in trec_eval and BEIR: linear gain, logarithm to the base 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """Normalised discounted cumulative gain of the first `depth`, between 0 and 1."""
    ideal = _gain(sorted(grades.values(), reverse=True)[:depth])
    return _gain([grades.get(name, 0) for name in ranking[:depth]]) / ideal if ideal else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """1 / the rank of the first relevant document, 0 when none is among the first `depth`."""
    for rank, name in enumerate(ranking[:depth], start=1):
        if grades.get(name, 0) > 0:
            return 1 / rank
    return 0.0


def recall(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """The share of the relevant documents that is among the first `depth`."""
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant & set(ranking[:depth])) / len(relevant) if relevant else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
