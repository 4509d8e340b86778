"""Submissions as a table for spreadsheets, written while it is sent.

A field has a column, and another one for each label and unit that it has had: no value stands under
what it was not filled in as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, groupby
from operator import itemgetter
from uuid import UUID
from zoneinfo import ZoneInfo

from flask_babel import gettext as _

from app.db import ScopedSession
from app.fields.definitions import FormField, NumberField, read_fields
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
# The address of a form, the name of a field of it, and what the field is headed with.
Key = tuple[str, str, str]
# A form may be a few MB as it is read; a group has some handfuls that are sent again and again.
FORMS_KEPT = 8
# So much of what was filled in is put into words at once, or a submission more.
LETTERS_AT_ONCE = 200_000


@dataclass(frozen=True)
class Form:
    """What a table needs of one version of a form."""

    slug: str
    title: str
    fields: Sequence[FormField]


@dataclass(frozen=True)
class Column:
    """A field of a form as it was called and measured in some versions, and its whole heading."""

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
            # What is of a version that has come since the beginning may have no column.
            if key in forms:
                lines = _Lines(forms.get(key), columns, zone, language)
                for few in split_into_lots([each for _key, each in rows]):
                    yield WRITING.run(partial(lines.write, few))
        last = found[-1][1]


def split_into_lots(submissions: Sequence[FormSubmission]) -> Iterator[list[FormSubmission]]:
    """The submissions in lots that take some hundredths of a second; others' are done between."""
    lot, size = list[FormSubmission](), 0
    for each in submissions:
        lot.append(each)
        size += sum(len(str(value)) for value in each.values.values())
        if size >= LETTERS_AT_ONCE:
            yield lot
            lot, size = [], 0
    if lot:
        yield lot


def columns_of(forms: Iterable[Form], language: str) -> list[Column]:
    """The columns of forms in all their versions, those of one field beside each other.

    Fields of several forms are headed by their form too, as the latest version calls it.
    """
    titles: dict[str, str] = {}
    found: dict[tuple[str, str], dict[Key, None]] = {}
    for form in forms:
        titles[form.slug] = form.title
        for field in filter(has_value, form.fields):
            key = _key_of(form, field, language)
            found.setdefault((form.slug, field.name), {})[key] = None
    return [
        Column(key, f"{titles[key[0]]}: {key[2]}" if len(titles) > 1 else key[2])
        for key in chain.from_iterable(found.values())
    ]


def _key_of(form: Form, field: FormField, language: str) -> Key:
    label = field.label.text(language)
    unit = field.unit.text(language) if isinstance(field, NumberField) else ""
    return form.slug, field.name, f"{label} ({unit})" if unit else label


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
        return map(self._kept, self._versions)

    def __contains__(self, key: FormKey) -> bool:
        return key in self._versions

    def get(self, key: FormKey) -> Form:
        """A form that was there at the beginning."""
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
            _key_of(self._form, field, self._language): plain(
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
