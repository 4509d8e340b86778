"""What a page shows of the plan of an import and its problems, taken from it by the database.

A plan may have tens of thousands of entries: a web process that loaded it whole would answer
nobody else meanwhile. What a plan holds is said in import_plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, TableValuedAlias, cast, column, func, or_, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import InstrumentedAttribute

from app.db import JsonList, JsonObject, ScopedSession
from app.skills.knowledge.models import LibraryImport

# Of so many documents it can be said at once what they are another language of.
MOST_DOCUMENTS = 30


def load_counts(session: ScopedSession, import_id: UUID) -> dict[str, int]:
    """How many entries there are of each kind; empty without a plan."""
    counts = session.scalar(_of(session, import_id, LibraryImport.plan["counts"]))
    return dict(counts or {})


def load_signature(session: ScopedSession, import_id: UUID) -> str:
    """What tells a plan from another one; empty without a plan."""
    signature = LibraryImport.plan["signature"].astext
    return session.scalar(_of(session, import_id, signature)) or ""


def load_entries(
    session: ScopedSession, import_id: UUID, kinds: Iterable[str], *, first: int, most: int
) -> Sequence[JsonObject]:
    """The entries of these kinds, in the order of the plan, from the `first` of them on."""
    entries = _elements("entries")
    return session.scalars(
        _of(session, import_id, entries.c.value)
        .where(entries.c.value["what"].astext.in_(list(kinds)))
        .order_by(entries.c.number)
        .offset(first)
        .limit(most)
    ).all()


def find_planned_slug(
    session: ScopedSession, import_id: UUID, document: int, place: int
) -> str | None:
    """The slug that one section of the file has in the plan, if the plan has it."""
    entries = _elements("entries")
    slug: str | None = session.scalar(
        _of(session, import_id, entries.c.value["slug"].astext)
        .where(entries.c.value["at"] == cast([document, place], JSONB))
        .order_by(entries.c.number)
        .limit(1)
    )
    return slug


def load_documents(session: ScopedSession, import_id: UUID) -> Sequence[JsonObject]:
    """The documents that have a chapter in the other language, or the only one there is."""
    documents = _elements("documents")
    is_alone = func.jsonb_array_length(LibraryImport.plan["documents"]) == 1
    return session.scalars(
        _of(session, import_id, documents.c.value)
        .where(or_(documents.c.value["chapter"].astext != "", is_alone))
        .order_by(documents.c.number)
        .limit(MOST_DOCUMENTS)
    ).all()


def load_sources(session: ScopedSession, import_id: UUID) -> set[str]:
    """What the documents are called by which people say of them what they are."""
    documents = _elements("documents")
    found = session.scalars(_of(session, import_id, documents.c.value["source"].astext))
    return set(found)


def load_problems(session: ScopedSession, import_id: UUID) -> JsonList:
    """What is wrong with the file, as `problems_of` kept it: by itself, without the plan."""
    return session.scalar(_of(session, import_id, LibraryImport.problems)) or []


def _of(
    session: ScopedSession, import_id: UUID, what: ColumnElement[Any] | InstrumentedAttribute[Any]
) -> Select[Any]:
    return (
        select(what)
        # First: what the arrays are taken from has to stand before them.
        .select_from(LibraryImport)
        .where(LibraryImport.group_id == session.scope.group_id, LibraryImport.id == import_id)
    )


def _elements(name: str) -> TableValuedAlias:
    """One of the arrays of a plan as rows: `value`, and its `number` in the array."""
    rows = func.jsonb_array_elements(LibraryImport.plan[name]).table_valued(
        column("value", JSONB), with_ordinality="number", joins_implicitly=True
    )
    return rows.render_derived(name=name)
