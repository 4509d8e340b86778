"""The arithmetic of judging a ranking."""

from __future__ import annotations

import pytest

from app.retrieval.evaluate import ndcg, percentile, recall, reciprocal_rank


def test_the_right_document_first_is_perfect() -> None:
    grades = {"a": 1}
    assert ndcg(["a", "b"], grades, 10) == 1
    assert reciprocal_rank(["a", "b"], grades, 10) == 1
    assert recall(["a", "b"], grades, 3) == 1


def test_second_place_is_worth_less() -> None:
    assert ndcg(["b", "a"], {"a": 1}, 10) == pytest.approx(0.6309, abs=1e-4)
    assert reciprocal_rank(["b", "a"], {"a": 1}, 10) == 0.5


def test_grades_weigh_and_the_ideal_order_is_the_measure() -> None:
    # Gains 1/1 + 2/log2(3) against 2/1 + 1/log2(3).
    assert ndcg(["a", "b"], {"a": 1, "b": 2}, 10) == pytest.approx(2.2619 / 2.6309, abs=1e-4)


def test_what_lies_deeper_does_not_count() -> None:
    ranking = ["x"] * 10 + ["a"]
    assert (ndcg(ranking, {"a": 1}, 10), recall(ranking, {"a": 1}, 10)) == (0, 0)
    assert reciprocal_rank(ranking, {"a": 1}, 10) == 0


def test_half_of_the_relevant_is_a_recall_of_a_half() -> None:
    assert recall(["a", "x", "y"], {"a": 1, "b": 1, "c": 0}, 3) == 0.5


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [float(n) for n in range(1, 101)]
    assert (percentile(values, 0.5), percentile(values, 0.95)) == (50, 95)
    assert (percentile([7.0], 0.95), percentile([], 0.5)) == (7, 0)
