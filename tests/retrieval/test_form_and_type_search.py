"""Which form is meant by what happened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.retrieval.form_and_type_search import Described, is_clear, rank_described
from app.skills.forms.services.starters import read_starters


def texts() -> list[Described]:
    return [
        Described(
            starter.slug,
            f"{starter.title.en} {starter.title.es}",
            f"{starter.words.en} {starter.words.es}",
            f"{starter.description.en} {starter.description.es}",
            " ".join(f"{field.label.en} {field.label.es}" for field in starter.fields),
        )
        for starter in read_starters().values()
    ]


@pytest.mark.parametrize(
    ("said", "slug"),
    [
        ("swap my shift with Rosa, she takes saturday", "shift-swap"),
        ("Toño se cortó la mano y ya le pusimos gasa", "employee-injury-report"),
        ("the beans in hot holding were 128, reheated, thermometer says 165", "temperature-log"),
        ("tiramos dos charolas, se echaron a perder", "waste-log"),
        ("my tips, cash and card, to declare", "tip-declaration"),
        ("table 9 complained about a hair, we gave a refund", "guest-complaint"),
        ("vacaciones del 3 al 8, voy a una boda", "time-off-request"),
    ],
)
def test_a_form_is_found_by_what_is_told(said: str, slug: str) -> None:
    ranked = rank_described(said, texts())
    assert ranked[0].key == slug
    assert is_clear(ranked)


@pytest.mark.parametrize("said", ["borrow the van", "pedir una patineta", "something", ""])
def test_what_no_form_is_about_is_clear_of_none(said: str) -> None:
    assert not is_clear(rank_described(said, texts()))


def test_which_kind_of_paper_says_little() -> None:
    assert not is_clear(rank_described("a report, a log or a request form", texts()))


@pytest.mark.fault(67)
def test_of_many_long_texts_less_is_looked_at_of_each() -> None:
    long = " ".join(f"word{number}" for number in range(1_000))
    few = [
        Described(f"few{n}", f"Title {n}", "", "", f"{long[:3_900]} thermometer") for n in range(20)
    ]
    many = [replace(few[0], key=f"many{n}") for n in range(300)]
    assert len(rank_described("thermometer", few)) == 20
    assert rank_described("thermometer", many) == []
    assert len(rank_described("title", many)) == 300
