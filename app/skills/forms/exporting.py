"""Submissions as a table for spreadsheets: a column a field, written while it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from flask_babel import gettext as _

from app.db import ScopedSession
from app.fields.checking import shown_fields
from app.fields.definitions import FormField, read_fields
from app.fields.display import plain
from app.fields.values import has_value
from app.skills.forms.models import FormSubmission
from app.skills.forms.sheets import title_of
from app.skills.forms.submissions import Wanted, each_form_version, next_submissions
from app.spreadsheets import BYTE_ORDER_MARK, WRITING, csv_lines

Transaction = Callable[[], AbstractContextManager[ScopedSession]]
Key = tuple[str, str]


@dataclass(frozen=True)
class Column:
    """A field of a form, by the form's address and the field's name, and its heading."""

    key: Key
    heading: str


def write_csv(
    transaction: Transaction, wanted: Wanted, zone: ZoneInfo, language: str
) -> Iterator[str]:
    """The submissions that fit, as lines of CSV.

    A few at a time and each time in a transaction of its own, so that neither memory nor a
    connection is held for as long as somebody downloads. They are put into words in a thread of
    the system, since others' pages would wait for it.
    """
    with transaction() as session:
        forms = each_form_version(session, wanted, zone)
    columns = WRITING.run(partial(columns_of, forms, language))
    yield BYTE_ORDER_MARK + csv_lines([_headings(columns)])
    lines = _Lines(columns, zone, language)
    last: FormSubmission | None = None
    while True:
        with transaction() as session:
            found = next_submissions(session, wanted, zone, last)
        if not found:
            return
        yield WRITING.run(partial(lines.write, found))
        last = found[-1]


def columns_of(forms: Sequence[Mapping[str, Any]], language: str) -> list[Column]:
    """The columns of forms in all their versions, each field once, headed as the latest says.

    Fields of several forms are headed by their form too.
    """
    titles = {form["slug"]: title_of(form, language) for form in forms}
    headings: dict[Key, str] = {}
    for form in forms:
        for field in read_fields(form["fields"]):
            if has_value(field):
                headings[form["slug"], field.name] = field.label.text(language)
    return [
        Column(key, f"{titles[key[0]]}: {heading}" if len(titles) > 1 else heading)
        for key, heading in headings.items()
    ]


def _headings(columns: Sequence[Column]) -> list[str]:
    facts = [_("Number"), _("Form"), _("Sent by"), _("Sent on"), _("Version of the form")]
    return [*facts, *(column.heading for column in columns)]


class _Lines:
    """Writes submissions as lines; the fields of a form are read once for many of them."""

    def __init__(self, columns: Sequence[Column], zone: ZoneInfo, language: str) -> None:
        self._columns = columns
        self._zone = zone
        self._language = language
        self._last: tuple[Mapping[str, Any], Sequence[FormField]] = ({}, ())

    def write(self, submissions: Sequence[FormSubmission]) -> str:
        """The lines of CSV of some submissions."""
        return csv_lines([self._line(each) for each in submissions])

    def _line(self, submission: FormSubmission) -> list[str]:
        slug = submission.form["slug"]
        cells = {
            (slug, field.name): plain(field, submission.values.get(field.name), self._language)
            for field in shown_fields(self._fields(submission.form), submission.values)
        }
        return [
            submission.reference,
            title_of(submission.form, self._language),
            submission.submitter,
            f"{submission.submitted_at.astimezone(self._zone):%Y-%m-%d %H:%M}",
            str(submission.template_version),
            *(cells.get(column.key, "") for column in self._columns),
        ]

    def _fields(self, form: Mapping[str, Any]) -> Sequence[FormField]:
        if form != self._last[0]:
            self._last = (form, read_fields(form["fields"]))
        return self._last[1]
