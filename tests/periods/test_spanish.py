"""Spanish expressions of time, asked on a Sunday: 22 November 2026."""

from __future__ import annotations

from datetime import date

import pytest

from app.periods import find_period, parse_period
from app.periods.period import BEGINNING, Period

TODAY = date(2026, 11, 22)
TOMORROW = date(2026, 11, 23)


def days(first: str, last: str) -> tuple[date, date]:
    """From the first to the last day, as month and day of 2026, or as whole dates."""
    start, end = (each if len(each) > 5 else f"2026-{each}" for each in (first, last))
    return date.fromisoformat(start), date.fromisoformat(end)


def read(text: str) -> tuple[date, date] | None:
    period = parse_period(text, "es", TODAY)
    return (period.start, period.whole.last) if period else None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("hoy", "11-22"),
        ("esta mañana", "11-22"),
        ("ayer por la tarde", "11-21"),
        ("anoche", "11-21"),
        ("anteayer", "11-20"),
        ("antier", "11-20"),
        ("antes de ayer", "11-20"),
        ("mañana", "11-23"),
        ("pasado mañana", "11-24"),
        ("el lunes", "11-16"),
        ("el lunes pasado", "11-16"),
        ("el pasado domingo", "11-15"),
        ("mié pasado", "11-18"),
        ("el viernes que viene", "11-27"),
        ("el viernes de la semana pasada", "11-13"),
        ("martes 3", "11-03"),
        ("el primer lunes de mayo", "05-04"),
        ("el último viernes de marzo", "03-27"),
        ("hace dos semanas", "11-08"),
        ("hace un año y dos meses", "2025-09-22"),
        ("dos semanas atrás", "11-08"),
        ("2026-03-04", "03-04"),
        ("4/3/2026", "03-04"),
        ("25/3", "03-25"),
        ("3/25", "03-25"),
        ("el 7 del 4", "04-07"),
        ("1ro de junio", "06-01"),
        ("1° de junio", "06-01"),
        ("el primero de marzo", "03-01"),
        ("veintiuno de marzo", "03-21"),
        ("treinta y uno de octubre", "10-31"),
        ("12 de Sept", "09-12"),
        ("12 de Set", "09-12"),
        ("el miércoles, 4 de marzo de 2026", "03-04"),
        ("el día 15", "11-15"),
        ("el 15", "11-15"),
        ("el 15 del mes pasado", "10-15"),
    ],
)
def test_days_are_read(text: str, day: str) -> None:
    assert read(text) == days(day, day)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("esta semana", "11-16", "11-22"),
        ("la semana pasada", "11-09", "11-15"),
        ("LA SEMANA PASADA", "11-09", "11-15"),
        ("la semana antepasada", "11-02", "11-08"),
        ("la próxima semana", "11-23", "11-29"),
        ("la semana del 7 de noviembre", "11-02", "11-08"),
        ("la primera semana de marzo", "03-02", "03-08"),
        ("el fin de semana pasado", "11-14", "11-15"),
        ("este finde", "11-21", "11-22"),
        ("la quincena pasada", "11-01", "11-15"),
        ("segunda quincena de octubre", "10-16", "10-31"),
        ("el mes pasado", "10-01", "10-31"),
        ("mes en curso", "11-01", "11-30"),
        ("el mes que viene", "12-01", "12-31"),
        ("en marzo", "03-01", "03-31"),
        ("marzo pasado", "03-01", "03-31"),
        ("en marzo del año pasado", "2025-03-01", "2025-03-31"),
        ("marzo de 2025", "2025-03-01", "2025-03-31"),
        ("marzo de dos mil veinticinco", "2025-03-01", "2025-03-31"),
        ("fin de mes", "11-16", "11-30"),
        ("a mediados de marzo", "03-10", "03-20"),
        ("el tercer trimestre", "07-01", "09-30"),
        ("T3 de 2025", "2025-07-01", "2025-09-30"),
        ("el primer semestre de 2025", "2025-01-01", "2025-06-30"),
        ("el primer cuatrimestre de 2025", "2025-01-01", "2025-04-30"),
        ("el año pasado", "2025-01-01", "2025-12-31"),
        ("en el 2024", "2024-01-01", "2024-12-31"),
        ("últimos 7 días", "11-15", "11-21"),
        ("ultimos 7 dias", "11-15", "11-21"),
        ("las últimas tres semanas", "11-01", "11-21"),
        ("los dos últimos meses", "09-22", "11-21"),
        ("la última semana", "11-15", "11-21"),
        ("los próximos 3 días", "11-23", "11-25"),
    ],
)
def test_longer_times_are_read(text: str, first: str, last: str) -> None:
    assert read(text) == days(first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("en lo que va del mes", "11-01", "11-22"),
        ("el año hasta la fecha", "01-01", "11-22"),
        ("desde el 1 de junio", "06-01", "11-22"),
        ("a partir del 1 de junio", "06-01", "11-22"),
        ("desde hace dos semanas", "11-08", "11-22"),
        ("desde el 15", "11-15", "11-22"),
        ("después del 5 de marzo", "03-06", "11-22"),
        ("desde el 20 de octubre hasta la fecha", "10-20", "11-22"),
        ("lo que queda de mes", "11-22", "11-30"),
        ("del 5 al 18 de este mes", "11-05", "11-18"),
        ("del 1 al 15", "11-01", "11-15"),
        ("entre el 6 y el 19 de mayo de 2021", "2021-05-06", "2021-05-19"),
        ("6-19 de mayo", "05-06", "05-19"),
        ("del 28 de diciembre al 3 de enero", "2025-12-28", "2026-01-03"),
        ("del lunes al miércoles", "11-16", "11-18"),
        ("entre martes y jueves de la semana pasada", "11-10", "11-12"),
        ("de enero a marzo", "01-01", "03-31"),
        ("entre junio y agosto del año pasado", "2025-06-01", "2025-08-31"),
        ("abril y mayo", "04-01", "05-31"),
        ("desde ayer hasta hoy", "11-21", "11-22"),
    ],
)
def test_ranges_are_read(text: str, first: str, last: str) -> None:
    assert read(text) == days(first, last)


def test_what_has_no_beginning_is_open() -> None:
    assert parse_period("hasta ayer", "es", TODAY) == Period(BEGINNING, TODAY)
    assert parse_period("antes del 5 de marzo", "es", TODAY) == Period(BEGINNING, date(2026, 3, 5))
    assert parse_period("hasta la fecha", "es", TODAY) == Period(BEGINNING, TOMORROW)


@pytest.mark.parametrize(
    "text",
    [
        "31 de febrero", "29 de febrero de 2025", "30/02/2026", "31 de noviembre",
        "el 31 de este mes", "del 22 al 4 de este mes",
        "del 5 de mayo de 2020 al 3 de abril de 2020",
        "enero y mayo", "los años 70", "los 1960", "el siglo XX", "hace 5000 años", "el año 12",
        "todos los lunes", "los viernes", "cada mes", "Viernes Santo", "hace dos viernes",
        "las últimas 24 horas", "12", "la 12", "",
    ],
)  # fmt: skip
def test_what_contradicts_itself_or_is_unknown_is_no_period(text: str) -> None:
    assert parse_period(text, "es", TODAY) is None


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("¿Cuánto gastamos en pescado la semana pasada?", "la semana pasada"),
        ("¿Cuánto gasté el 15?", "el 15"),
        ("Muéstrame los gastos del 1 al 15 de octubre", "del 1 al 15 de octubre"),
        ("Gastos de julio, por favor", "de julio"),
        ("añade 45,50 de vino el 3 de marzo", "el 3 de marzo"),
        ("¿Qué cociné el martes pasado?", "el martes pasado"),
        ("apunta 12 euros de pan ayer", "ayer"),
        ("ventas del 20", "del 20"),
    ],
)
def test_a_sentence_says_where_its_period_stands(sentence: str, words: str) -> None:
    found = find_period(sentence, "es", TODAY)
    assert found is not None and sentence[found.start : found.end] == words


def test_accents_may_be_marks_of_their_own() -> None:
    written = "los u\u0301ltimos 7 di\u0301as"
    found = find_period(f"{written}, mesa 4", "es", TODAY)
    assert found is not None and (found.start, found.end) == (0, len(written))
