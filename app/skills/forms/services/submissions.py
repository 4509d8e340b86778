"""Forms that were handed in: one's own, and for managers all of the group's, narrowed down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select, func, select, tuple_
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import defer

from app.db import ScopedSession, read_id
from app.errors import NotFound
from app.skills.forms.models import FormSubmission
from app.text.free_text import has_words, limit_search
from app.text.normalize import fold
from app.text.plain_text import clean_line

PAGE = 50
# Which form, in which version: its address, the version, whose it is (None: it is gone), and its
# titles, which may be changed while somebody fills in the version before.
FormKey = tuple[str, int, UUID | None, str, str]
# Of a table, between two readings of the database: each may hold some hundred KB of answers.
AT_ONCE = 50
EDITORS = ("manager", "admin")
LONGEST_SEARCH = 100
# A form's fields, like a submission's answers, may be some MB of JSON, which a list of many neither
# shows nor waits for: `head` is the form without them.
_FORM_KEY = (
    FormSubmission.head["slug"].astext,
    FormSubmission.template_version,
    FormSubmission.template_id,
    FormSubmission.head["title_en"].astext,
    FormSubmission.head["title_es"].astext,
)
Listed = tuple[FormSubmission, dict[str, Any]]


@dataclass(frozen=True)
class Wanted:
    """What a list is narrowed to; `form` is the address of one. Both days are included."""

    form: str = ""
    person: UUID | None = None
    since: date | None = None
    until: date | None = None
    text: str = ""
    page: int = 1

    @property
    def is_narrow(self) -> bool:
        return bool(self.form or self.person or self.since or self.until or self.text)


def read_wanted(arguments: Mapping[str, str]) -> Wanted:
    """What an address asks for; what cannot be understood narrows nothing."""
    page = arguments.get("page", "")
    return Wanted(
        form=clean_line(arguments.get("form", "")),
        person=read_id(arguments.get("person", "")),
        since=_as_day(arguments.get("since", "")),
        until=_as_day(arguments.get("until", "")),
        text=clean_line(arguments.get("q", ""))[:LONGEST_SEARCH],
        page=max(1, int(page)) if page.isdecimal() and len(page) < len("100000") else 1,
    )


def load_submission(session: ScopedSession, submission_id: UUID) -> FormSubmission:
    """One's own submission; for managers and admins any of the group. Else NotFound."""
    query = _visible(session).where(FormSubmission.id == submission_id)
    found = session.scalar(query)
    if found is None:
        raise NotFound("This form does not exist, or you don't have access to it.")
    return found


def list_submissions(
    session: ScopedSession, wanted: Wanted, zone: ZoneInfo
) -> tuple[list[Listed], int]:
    """A page of the submissions that fit, the newest first, and how many there are.

    Each with its form's address and titles, and neither with the fields nor with the answers.

    Raises:
        TooMany: that takes too long.
    """
    conditions = _conditions(wanted, zone)
    query = _visible(session).where(*conditions)
    page = query.order_by(*NEWEST).limit(PAGE).offset(PAGE * (wanted.page - 1))
    with limit_search(session):
        count = session.scalar(query.with_only_columns(func.count(FormSubmission.id))) or 0
        return _list(session, page), count


def list_own_submissions(session: ScopedSession, most: int) -> list[Listed]:
    """The last that one has handed in, as in a page of all."""
    mine = FormSubmission.user_id == session.scope.user_id
    return _list(session, _visible(session).where(mine).order_by(*NEWEST).limit(most))


def _list(session: ScopedSession, query: Select[FormSubmission]) -> list[Listed]:
    unread = [
        defer(column, raiseload=True) for column in (FormSubmission.form, FormSubmission.values)
    ]
    rows = session.execute(query.add_columns(FormSubmission.head).options(*unread))
    return [(found, head or {}) for found, head in rows]


NEWEST = (FormSubmission.submitted_at.desc(), FormSubmission.id.desc())


def list_forms_used(session: ScopedSession) -> list[dict[str, Any]]:
    """The addresses and titles of forms of which there are submissions, as the latest has them."""
    slug = FormSubmission.head["slug"].astext
    query = _visible(session).with_only_columns(FormSubmission.head).ext(distinct_on(slug))
    found = session.scalars(query.order_by(slug, FormSubmission.submitted_at.desc()))
    return [head for head in found if head]


def list_submitters(session: ScopedSession) -> list[tuple[UUID, str]]:
    """Who has handed something in, by the name that they had last."""
    query = (
        _visible(session)
        .with_only_columns(FormSubmission.user_id, FormSubmission.submitter)
        .where(FormSubmission.user_id.is_not(None))
        .ext(distinct_on(FormSubmission.user_id))
        .order_by(FormSubmission.user_id, FormSubmission.submitted_at.desc())
    )
    found = [(user_id, name) for user_id, name in session.execute(query) if user_id]
    return sorted(found, key=lambda person: person[1])


def list_form_versions(
    session: ScopedSession, wanted: Wanted, zone: ZoneInfo
) -> dict[FormKey, UUID]:
    """The forms of the submissions that fit, the oldest version first, each with a submission."""
    query = _visible(session).where(*_conditions(wanted, zone))
    rows = (
        query.with_only_columns(*_FORM_KEY, FormSubmission.id)
        .ext(distinct_on(*_FORM_KEY))
        .order_by(*_FORM_KEY, FormSubmission.submitted_at)
    )
    with limit_search(session, alone=False):
        return {_form_key(key): found for *key, found in session.execute(rows)}


def load_form(session: ScopedSession, submission_id: UUID) -> dict[str, Any]:
    """The form of a submission, as it was when it was handed in. Else NotFound."""
    query = _visible(session).where(FormSubmission.id == submission_id)
    form: dict[str, Any] | None = session.scalar(query.with_only_columns(FormSubmission.form))
    if form is None:
        raise NotFound("This form does not exist, or you don't have access to it.")
    return form


def next_submissions(
    session: ScopedSession, wanted: Wanted, zone: ZoneInfo, after: FormSubmission | None
) -> list[tuple[FormKey, FormSubmission]]:
    """Some of the submissions that fit, the oldest first, after one of them; [] at the end.

    Without their forms, which may be large and are mostly the same: `load_form` has those.
    """
    query = _visible(session).where(*_conditions(wanted, zone))
    place = tuple_(FormSubmission.submitted_at, FormSubmission.id)
    if after is not None:
        query = query.where(place > (after.submitted_at, after.id))
    ordered = query.order_by(FormSubmission.submitted_at, FormSubmission.id).limit(AT_ONCE)
    rows = ordered.add_columns(*_FORM_KEY).options(defer(FormSubmission.form, raiseload=True))
    with limit_search(session, alone=False):
        return [(_form_key(key), found) for found, *key in session.execute(rows)]


def _form_key(columns: Sequence[Any]) -> FormKey:
    slug, version, template, english, spanish = columns
    return slug, version, template, english or "", spanish or ""


def _visible(session: ScopedSession) -> Select[FormSubmission]:
    query = select(FormSubmission).where(FormSubmission.group_id == session.scope.group_id)
    if session.scope.role not in EDITORS:
        query = query.where(FormSubmission.user_id == session.scope.user_id)
    return query


def _conditions(wanted: Wanted, zone: ZoneInfo) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.form:
        conditions.append(FormSubmission.head["slug"].astext == wanted.form)
    if wanted.person:
        conditions.append(FormSubmission.user_id == wanted.person)
    if wanted.since:
        conditions.append(FormSubmission.submitted_at >= _midnight(wanted.since, zone))
    if wanted.until:
        after = wanted.until + timedelta(days=1)
        conditions.append(FormSubmission.submitted_at < _midnight(after, zone))
    if wanted.text:
        # The words, or beginnings or ends of some, stand anywhere in it; accents are optional.
        conditions.append(has_words(FormSubmission.folded, fold(wanted.text).split()))
    return conditions


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone)


def _as_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # What no calendar of ours can count a day on from.
    return day if 1900 <= day.year <= 2200 else None
