"""Whatever is written, reading it ends well, soon, and within its bounds."""

from __future__ import annotations

import ast
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.periods import find_period, period_words
from app.periods.vocabulary import ENGLISH, SPANISH, Vocabulary
from tests.growth import counted

SOURCES = Path(__file__).resolve().parents[2] / "app" / "periods"
TODAY = date(2026, 11, 22)
DAYS = st.dates(date(1950, 1, 1), date(2090, 12, 31))
MARKS = ", . - / ' ( % € 1st 4/5 31/12/2025 2026-02-30 24/7 9999 2024 31 12 0 1ro Q3 x2".split()


def written(vocabulary: Vocabulary) -> st.SearchStrategy[str]:
    """Sentences of a language's words of time in any order, which hit many rules at once."""
    words = [word for table in vocabulary.tables.values() for word in table]
    return st.lists(st.sampled_from([*words, *MARKS]), max_size=12).map(" ".join)


@given(text=st.text(max_size=300), today=st.dates(), language=st.sampled_from(["en", "es"]))
@settings(max_examples=300, deadline=None)
def test_no_text_on_no_day_raises(text: str, today: date, language: str) -> None:
    find_period(text, language, today)


@pytest.mark.parametrize("vocabulary", [ENGLISH, SPANISH], ids=lambda each: each.language)
def test_no_words_of_time_raise_and_what_is_found_has_days_and_words(
    vocabulary: Vocabulary,
) -> None:
    @given(text=written(vocabulary), today=DAYS)
    @settings(max_examples=500, deadline=None)
    def holds(text: str, today: date) -> None:
        found = find_period(text, vocabulary.language, today)
        if found:
            assert found.period.start < found.period.end
            assert 0 <= found.start < found.end <= len(text)
            assert period_words(found.period, vocabulary.language, today)

    holds()


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("How much did the kitchen spend on fish and greens from 4 to 22 last month?", "en"),
        ("¿Cuánto ha gastado la cocina en pescado desde el 1 de junio hasta ayer?", "es"),
        ("The wine for table twelve is on its way, and so is the second bottle of water", "en"),
    ],
)
def test_a_sentence_takes_less_than_a_millisecond(sentence: str, language: str) -> None:
    took = []
    for _ in range(30):
        start = time.perf_counter()
        find_period(sentence, language, TODAY)
        took.append(time.perf_counter() - start)
    assert min(took) < 0.001


@pytest.mark.parametrize("piece", ["1 ", "1-", "and the ", "1 day and ", "twenty ", "a", "1.2"])
def test_a_very_long_text_takes_no_longer_than_a_blink(piece: str) -> None:
    with counted() as cost:
        find_period(piece * 20_000, "en", TODAY)
    assert cost.seconds < 1


def test_it_is_pure_and_knows_nothing_of_the_rest_of_the_product() -> None:
    words = {
        "app.text.calendar_words",
        "app.text.normalize",
        "app.text.numbers",
        "app.text.yaml_file",
    }
    known = {"app.periods", "babel", *words}
    for file in SOURCES.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                top = node.module.split(".")[0]
                is_own = node.module.startswith(tuple(known))
                assert is_own or top not in ("app", "flask", "sqlalchemy"), (file.name, node.module)
