"""Putting things into the search index and taking them out again.

A source (a section, a product, a recipe) hands in its chunks as they are now; what has
changed since the last time is found here by hash. Words are searchable at once, because
triggers keep the postings; vectors follow with `embed_missing`.
"""

# What is put into the SQL here are names and numbers of this code, never a request's text.
# ruff: noqa: S608

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from app.db import JsonObject, new_id, utc_now
from app.retrieval.vectors import BackfillReport, embed_missing
from app.text.plain_text import storable

__all__ = [
    "BackfillReport",
    "ChunkInput",
    "IndexReport",
    "SourceInput",
    "content_hash",
    "embed_missing",
    "index_source",
    "index_sources",
    "remove_source",
]

TEXT_LANGUAGES = ("en", "es", "mul")

# What identifies a chunk within its group.
Place = tuple[str, UUID, str, int]


@dataclass(frozen=True)
class ChunkInput:
    """A chunk as its source hands it in.

    `language` is en, es or mul; `serves` are the languages whose readers find it;
    `details` is what filters see and results carry, as JSON.
    """

    language: str
    serves: tuple[str, ...]
    title: str
    text: str
    headings: tuple[str, ...] = ()
    details: JsonObject = field(default_factory=dict)
    chunk_no: int = 0


@dataclass(frozen=True)
class SourceInput:
    """All chunks of one source, and who may see them."""

    source_type: str
    source_id: UUID
    chunks: Sequence[ChunkInput]
    owner_id: UUID | None = None
    is_published: bool = True


@dataclass(frozen=True)
class IndexReport:
    """How many chunks were added, changed, removed, and found as they were."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0


def index_source(
    session: Session,
    *,
    group_id: UUID,
    source_type: str,
    source_id: UUID,
    chunks: Sequence[ChunkInput],
    owner_id: UUID | None = None,
    is_published: bool = True,
) -> IndexReport:
    """Make the index hold exactly these chunks of the source; others' rows stay as they are.

    Raises:
        ValueError: a chunk's language is unknown, or two chunks have the same place.
    """
    source = SourceInput(source_type, source_id, chunks, owner_id, is_published)
    return index_sources(session, group_id=group_id, sources=[source])


def index_sources(
    session: Session, *, group_id: UUID, sources: Sequence[SourceInput]
) -> IndexReport:
    """`index_source` for many sources of a group at once, in three statements at most.

    Raises:
        ValueError: as for `index_source`.
    """
    wanted = _rows(group_id, sources)
    # Two writers of the same source take turns, so that each sees what the other left.
    session.execute(text("SELECT lock_search_groups(ARRAY[CAST(:id AS uuid)])"), {"id": group_id})
    present = _present(session, group_id, sources)
    # A document does not change hands: with another owner it is a new one.
    gone = [
        row["id"]
        for place, row in present.items()
        if place not in wanted or wanted[place]["owner_id"] != row["owner_id"]
    ]
    kept = {place: row for place, row in present.items() if row["id"] not in set(gone)}
    added = [row for place, row in wanted.items() if place not in kept]
    changed = [
        {**row, "id": kept[place]["id"]}
        for place, row in wanted.items()
        if place in kept and _differs(row, kept[place])
    ]
    _delete(session, gone)
    _update(session, changed)
    _insert(session, added)
    return IndexReport(len(added), len(changed), len(gone), len(kept) - len(changed))


def remove_source(session: Session, *, group_id: UUID, source_type: str, source_id: UUID) -> int:
    """Take everything of a source out of the index; returns how many chunks that were."""
    report = index_source(
        session, group_id=group_id, source_type=source_type, source_id=source_id, chunks=()
    )
    return report.removed


def content_hash(chunk: ChunkInput) -> str:
    """SHA-256 of what is embedded and searched: when it changes, the vector is stale."""
    content = [chunk.language, chunk.title, list(chunk.headings), chunk.text]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def _rows(group_id: UUID, sources: Iterable[SourceInput]) -> dict[Place, dict[str, Any]]:
    rows: dict[Place, dict[str, Any]] = {}
    for source in sources:
        for chunk in map(_storable, source.chunks):
            if chunk.language not in TEXT_LANGUAGES:
                raise ValueError(f"language must be one of {TEXT_LANGUAGES}")
            place = (source.source_type, source.source_id, chunk.language, chunk.chunk_no)
            if place in rows:
                raise ValueError(f"two chunks have the same place: {place}")
            rows[place] = _row(group_id, source, chunk)
    return rows


def _storable(chunk: ChunkInput) -> ChunkInput:
    """The chunk without what Postgres refuses: NUL characters and halves of surrogates."""
    return replace(
        chunk,
        title=_clean(chunk.title),
        text=_clean(chunk.text),
        headings=tuple(_clean(chunk.headings)),
        details=_clean(chunk.details),
    )


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(part) for part in value]
    return value


def _row(group_id: UUID, source: SourceInput, chunk: ChunkInput) -> dict[str, Any]:
    return {
        "id": new_id(),
        "group_id": group_id,
        "source_type": source.source_type,
        "source_id": source.source_id,
        "chunk_no": chunk.chunk_no,
        "language": chunk.language,
        "serves": list(chunk.serves),
        "title": chunk.title,
        "headings": list(chunk.headings),
        "text": chunk.text,
        "metadata": chunk.details,
        "owner_id": source.owner_id,
        "is_published": source.is_published,
        "content_hash": content_hash(chunk),
        "updated_at": utc_now(),
    }


def _present(
    session: Session, group_id: UUID, sources: Sequence[SourceInput]
) -> dict[Place, dict[str, Any]]:
    """What the index holds of these sources now, by place."""
    rows = session.execute(
        text(
            "SELECT id, source_type, source_id, language, chunk_no, serves, metadata,"
            " owner_id, is_published, content_hash FROM search_documents AS d"
            " JOIN unnest(CAST(:types AS text[]), CAST(:ids AS uuid[]))"
            " AS wanted (source_type, source_id) USING (source_type, source_id)"
            " WHERE d.group_id = :group_id"
        ),
        {
            "group_id": group_id,
            "types": [source.source_type for source in sources],
            "ids": [source.source_id for source in sources],
        },
    ).mappings()
    return {
        (row["source_type"], row["source_id"], row["language"], row["chunk_no"]): dict(row)
        for row in rows
    }


def _differs(row: dict[str, Any], present: dict[str, Any]) -> bool:
    fields = ("content_hash", "serves", "metadata", "is_published")
    return any(row[name] != present[name] for name in fields)


def _delete(session: Session, ids: Sequence[UUID]) -> None:
    if ids:
        session.execute(
            text("DELETE FROM search_documents WHERE id = ANY(:ids)"), {"ids": list(ids)}
        )


# One statement for any number of rows: the triggers work on sets, once a statement.
_RECORDS = (
    "jsonb_to_recordset(CAST(:rows AS jsonb)) AS r (id uuid, group_id uuid, source_type text,"
    " source_id uuid, chunk_no integer, language text, serves text[], title text,"
    " headings text[], text text, metadata jsonb, owner_id uuid, is_published boolean,"
    " content_hash text, updated_at timestamptz)"
)
_CHANGEABLE = (
    "serves, title, headings, text, metadata, is_published, content_hash, updated_at".split(", ")
)
_COLUMNS = [
    *("id", "group_id", "source_type", "source_id", "chunk_no", "language", "owner_id"),
    *_CHANGEABLE,
]


def _update(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        assignments = ", ".join(f"{name} = r.{name}" for name in _CHANGEABLE)
        session.execute(
            text(
                f"UPDATE search_documents AS d SET {assignments} FROM {_RECORDS} WHERE d.id = r.id"
            ),
            {"rows": json.dumps(rows, default=str)},
        )


def _insert(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        chosen = ", ".join(f"r.{name}" for name in _COLUMNS)
        session.execute(
            text(
                f"INSERT INTO search_documents ({', '.join(_COLUMNS)})"
                f" SELECT {chosen} FROM {_RECORDS}"
            ),
            {"rows": json.dumps(rows, default=str)},
        )
