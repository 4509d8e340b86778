"""Numbers in sentences: fractions and days that look alike, ranges, and what is below zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.fields.extraction.dates import find_days
from app.fields.extraction.sentence import Sentence
from app.skills.forms.services.starters import read_starters
from tests.fields.extraction.reader import values
from tests.growth import check_growth


def found(form: str, text: str, *names: str) -> dict[str, Any]:
    said = values(read_starters()[form].fields, text)
    return {name: said[name] for name in names if name in said}


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("threw away 2 1/2 lb of chicken, spoiled", "2.5"),
        ("about 2 1/2 lb of rice", "2.5"),
        ("2-1/2 lb of rice", "2.5"),
        ("2½ lb of rice", "2.5"),
        ("se tiraron 2 y 1/2 libras de arroz", "2.5"),
        ("1/2 lb of butter", "0.5"),
        ("1/3 lb of butter", "0.33"),
        ("3/4 of a pound", "0.75"),
        ("3/4 de libra de queso", "0.75"),
        ("weight 1/2", "0.5"),
        ("weight: 2 1/2", "2.5"),
        ("peso: 3/4", "0.75"),
        ("cambia el peso a 1 1/2", "1.5"),
    ],
)
def test_a_fraction_is_a_number_and_no_day(text: str, weight: str) -> None:
    assert found("waste-log", text, "day", "weight") == {"weight": weight}


@pytest.mark.parametrize(
    "text",
    ["1/2 case of beer expired", "3/4 de taza de queso", "2 1/2 portions", "1/2 hour ago", "1 1/2"],
)
def test_a_fraction_that_no_field_takes_is_no_day_and_no_time(text: str) -> None:
    assert found("waste-log", text, "day", "weight", "portions") == {}
    assert found("employee-injury-report", text, "injury_date", "injury_time") == {}


@pytest.mark.parametrize(
    ("text", "values_"),
    [
        ("on 1/2 we threw away 3 lb", {"day": "2026-01-02", "weight": "3"}),
        ("on 1/2 chicken spoiled", {"day": "2026-01-02"}),
        ("1/2 at 3pm 4 lb spoiled", {"day": "2026-01-02", "weight": "4"}),
        ("2 1/2 lb on 11/12", {"day": "2026-11-12", "weight": "2.5"}),
        ("11/12 case of wine dropped", {"day": "2026-11-12"}),
        ("el 2/2 se tiraron 3 libras", {"day": "2026-02-02", "weight": "3"}),
        ("el 1/2 se tiraron 3 libras", {"weight": "3"}),
    ],
)
def test_a_day_in_figures_stays_one(text: str, values_: dict[str, str]) -> None:
    assert found("waste-log", text, "day", "weight") == values_


def test_the_number_before_a_day_in_figures_keeps_its_field() -> None:
    told = found("guest-complaint", "table 12 11/12 at 7pm", "table", "visit_date")
    assert told == {"table": "12", "visit_date": "2026-11-12"}


@pytest.mark.parametrize(
    "text",
    [
        "between 2 and 3 lb",
        "entre 2 y 3 libras",
        "de 2 a 3 libras",
        "2 to 3 lb of rice",
        "two or three lb",
        "about 10-12 lb of rice",
        "weight 10–12",
        "weight: 2-3 lb",
    ],
)
def test_a_range_leaves_its_field_open(text: str) -> None:
    assert found("waste-log", text, "weight") == {}


@pytest.mark.parametrize(
    ("text", "temperature"),
    [
        ("freezer reads 5 below", "-5"),
        ("freezer reads 5 below this morning", "-5"),
        ("the freezer is 5 below zero", "-5"),
        ("temperature: 5 below", "-5"),
        ("congelador marca 5 bajo cero", "-5"),
        ("congelador a 5 grados bajo cero", "-5"),
        ("freezer at 38 1/2 degrees", "38.5"),
        ("freezer reads 5 below freezing", None),
        ("freezer is 5 degrees below the limit", None),
        ("it was 38 to 41 degrees", None),
        ("cámara 2 a 45 grados", "45"),
    ],
)
def test_what_is_below_zero_is_told_from_what_is_below_a_limit(
    text: str, temperature: str | None
) -> None:
    assert found("temperature-log", text, "temperature").get("temperature") == temperature


@pytest.mark.fault(60)
@pytest.mark.parametrize("unit", ["1/2 ", "11/12 ", "2 1/2 ", "yesterday ", "at 3pm "])
def test_days_and_fractions_that_are_said_again_cost_what_their_letters_cost(unit: str) -> None:
    fields = read_starters()["waste-log"].fields

    def work(size: int) -> Callable[[], object]:
        text = (unit * size)[:size]
        return lambda: (find_days(Sentence.of(text), is_spanish=False), values(fields, text))

    check_growth(work, 8000)
