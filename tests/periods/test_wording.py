"""Periods put into words, as they end a sentence."""

from __future__ import annotations

from datetime import date

import pytest

from app.periods import Period, parse_period, period_words

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "english", "spanish"),
    [
        ("today", "today", "hoy"),
        ("yesterday", "yesterday", "ayer"),
        ("tomorrow", "tomorrow", "mañana"),
        ("on Friday", "on Friday, 20 November 2026", "el viernes, 20 de noviembre de 2026"),
        ("last week", "last week (9–15 Nov 2026)", "la semana pasada (9–15 nov 2026)"),
        ("last month", "last month (1–31 Oct 2026)", "el mes pasado (1–31 oct 2026)"),
        ("this weekend", "this weekend (21–22 Nov 2026)", "este fin de semana (21–22 nov 2026)"),
        (
            "last quarter",
            "last quarter (1 Jul – 30 Sept 2026)",
            "el trimestre pasado (1 jul – 30 sept 2026)",
        ),
        ("2025", "last year (1 Jan – 31 Dec 2025)", "el año pasado (1 ene – 31 dic 2025)"),
        (
            "last 7 days",
            "in the last 7 days (15–21 Nov 2026)",
            "en los últimos 7 días (15–21 nov 2026)",
        ),
        (
            "last 2 months",
            "in the last 2 months (22 Sept – 21 Nov 2026)",
            "en los últimos 2 meses (22 sept – 21 nov 2026)",
        ),
        ("since 1 June", "since 1 June 2026", "desde el 1 de junio de 2026"),
        ("until 5 March", "until 5 March 2026", "hasta el 5 de marzo de 2026"),
        ("to date", "until today", "hasta hoy"),
        ("after tomorrow", "from 24 November 2026 on", "a partir del 24 de noviembre de 2026"),
        ("in March", "in March 2026", "en marzo de 2026"),
        ("Q1", "in the 1st quarter of 2026", "en el 1.er trimestre de 2026"),
        ("2024", "in 2024", "en 2024"),
        (
            "from 6 to 19 May",
            "from 6 May to 19 May 2026",
            "del 6 de mayo al 19 de mayo de 2026",
        ),
        (
            "20 December to 5 January",
            "from 20 December 2025 to 5 January 2026",
            "del 20 de diciembre de 2025 al 5 de enero de 2026",
        ),
    ],
)
def test_a_period_is_said_in_both_languages(text: str, english: str, spanish: str) -> None:
    period = parse_period(text, "en", TODAY)
    assert period is not None
    words = [plain(period_words(period, language, TODAY)) for language in ("en", "es")]
    assert words == [english, spanish]


def plain(words: str) -> str:
    """With the usual space where the locale's data has a thin or a fixed one."""
    return " ".join(words.split())


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    "text", ["on Friday", "in March", "since 1 June", "until 5 March", "from 6 to 19 May"]
)
def test_what_is_said_is_read_again_as_the_same(text: str, language: str) -> None:
    period = parse_period(text, "en", TODAY)
    assert period is not None
    assert parse_period(period_words(period, language, TODAY), language, TODAY) == period


def test_all_of_time_has_words_too() -> None:
    assert period_words(Period(date.min, date.max), "en", TODAY) == "at any time"
    assert period_words(Period(date.min, date.max), "es", TODAY) == "en cualquier momento"
