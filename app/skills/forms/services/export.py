"""Submissions as a table for spreadsheets: a column a field, written while it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from uuid import UUID
from zoneinfo import ZoneInfo

from flask_babel import gettext as _

from app.db import ScopedSession
from app.fields.definitions import FormField, read_fields
from app.fields.display import plain
from app.fields.validation import shown_fields
from app.fields.values import has_value
from app.files.spreadsheets import BYTE_ORDER_MARK, WRITING, csv_lines
from app.skills.forms.models import FormSubmission
from app.skills.forms.services.submission_sheet import title_of
from app.skills.forms.services.submissions import (
    FormKey,
    Wanted,
    list_form_versions,
    load_form,
    next_submissions,
)

Transaction = Callable[[], AbstractContextManager[ScopedSession]]
Key = tuple[str, str]
# A form may be a few MB as it is read; a group has some handfuls that are sent again and again.
FORMS_KEPT = 8


@dataclass(frozen=True)
class Form:
    """What a table needs of one version of a form."""

    slug: str
    title: str
    fields: Sequence[FormField]


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
        forms = _Forms(transaction, language, list_form_versions(session, wanted, zone))
    columns = columns_of(forms.each(), language)
    yield BYTE_ORDER_MARK + WRITING.run(lambda: csv_lines([_headings(columns)]))
    last: FormSubmission | None = None
    while True:
        with transaction() as session:
            found = next_submissions(session, wanted, zone, last)
        if not found:
            return
        for key, rows in groupby(found, key=itemgetter(0)):
            same = [submission for _key, submission in rows]
            lines = _Lines(forms.get(key, same[0].id), columns, zone, language)
            yield WRITING.run(partial(lines.write, same))
        last = found[-1][1]


def columns_of(forms: Iterable[Form], language: str) -> list[Column]:
    """The columns of forms in all their versions, each field once, headed as the latest says.

    Fields of several forms are headed by their form too.
    """
    titles: dict[str, str] = {}
    headings: dict[Key, str] = {}
    for form in forms:
        titles[form.slug] = form.title
        headings |= {
            (form.slug, field.name): field.label.text(language)
            for field in form.fields
            if has_value(field)
        }
    return [
        Column(key, f"{titles[key[0]]}: {heading}" if len(titles) > 1 else heading)
        for key, heading in headings.items()
    ]


def _headings(columns: Sequence[Column]) -> list[str]:
    facts = [_("Number"), _("Form"), _("Sent by"), _("Sent on"), _("Version of the form")]
    return [*facts, *(column.heading for column in columns)]


class _Forms:
    """The forms of a table, read once for many submissions; the last few are kept."""

    def __init__(
        self, transaction: Transaction, language: str, versions: dict[FormKey, UUID]
    ) -> None:
        self._transaction = transaction
        self._language = language
        self._versions = versions
        self._kept = lru_cache(FORMS_KEPT)(self._read)

    def each(self) -> Iterator[Form]:
        """All versions that were there at the beginning, the oldest first."""
        return map(self._kept, list(self._versions))

    def get(self, key: FormKey, submission_id: UUID) -> Form:
        """The form of a submission, which may have come since the beginning."""
        self._versions[key] = submission_id
        return self._kept(key)

    def _read(self, key: FormKey) -> Form:
        with self._transaction() as session:
            content = load_form(session, self._versions[key])
        title = title_of(content, self._language)
        return WRITING.run(lambda: Form(content["slug"], title, read_fields(content["fields"])))


class _Lines:
    """Writes submissions of one version of a form as lines."""

    def __init__(
        self, form: Form, columns: Sequence[Column], zone: ZoneInfo, language: str
    ) -> None:
        self._form = form
        self._columns = columns
        self._zone = zone
        self._language = language

    def write(self, submissions: Sequence[FormSubmission]) -> str:
        """The lines of CSV of some submissions."""
        return csv_lines([self._line(each) for each in submissions])

    def _line(self, submission: FormSubmission) -> list[str]:
        cells = {
            (self._form.slug, field.name): plain(
                field, submission.values.get(field.name), self._language
            )
            for field in shown_fields(self._form.fields, submission.values)
        }
        return [
            submission.reference,
            self._form.title,
            submission.submitter,
            f"{submission.submitted_at.astimezone(self._zone):%Y-%m-%d %H:%M}",
            str(submission.template_version),
            *(cells.get(column.key, "") for column in self._columns),
        ]
