"""The numbers of the requests as their page shows them: in words, and as bars."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from babel.dates import format_date
from flask_babel import format_decimal
from flask_babel import gettext as _

from app.skills.service_requests.services.analytics import Measured, Report
from app.skills.service_requests.services.sla import span
from app.text.bilingual import reader_language
from app.web.charts import Bar, Columns, columns, stretch

NOT_KNOWN = "—"


@dataclass(frozen=True)
class Row:
    """A month or a type with its numbers in words, and its bar beside the largest."""

    name: str
    submitted: str
    is_open: str
    resolved: str
    response: str
    resolution: str
    met: str
    attempted: str
    accepted: str
    rate: str
    bar: Bar


@dataclass(frozen=True)
class Drawn:
    """The whole in words, and what is drawn of it."""

    total: Row
    months: tuple[Row, ...]
    types: tuple[Row, ...]
    columns: Columns
    most: str


def draw_report(report: Report) -> Drawn:
    """A report for its page, in the reader's language."""
    language = reader_language()
    most = max((each.submitted for each in report.by_month.values()), default=0)
    most_of_type = max((each.submitted for _type, each in report.by_type), default=0)
    return Drawn(
        _row("", report.total, 0),
        tuple(_row(_month(month, language), each, most) for month, each in report.by_month.items()),
        tuple(
            _row(type_.name(language) if type_ else _("Types that are gone"), each, most_of_type)
            for type_, each in report.by_type
        ),
        columns([(each.submitted, each.accepted) for each in report.by_month.values()]),
        _number(most),
    )


def _row(name: str, found: Measured, most: int) -> Row:
    return Row(
        name,
        _number(found.submitted),
        _number(found.is_open),
        _number(found.resolved),
        _time(found.response),
        _time(found.resolution),
        _share(found.met, found.judged),
        _number(found.attempted),
        _number(found.accepted),
        _share(found.accepted, found.attempted),
        stretch(0, found.submitted, most),
    )


def _month(month: dt.date, language: str) -> str:
    return str(format_date(month, "MMM y", locale=language))


def _number(value: int) -> str:
    return str(format_decimal(value))


def _time(seconds: float | None) -> str:
    return NOT_KNOWN if seconds is None else span(int(seconds))


def _share(part: int, whole: int) -> str:
    if not whole:
        return NOT_KNOWN
    return _("%(number)s%%", number=format_decimal(round(part / whole * 100)))
