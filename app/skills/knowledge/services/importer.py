"""Bringing documents and products into the library, searchable in the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from app.db import ScopedSession
from app.skills.knowledge.services.import_changes import Staging, stage_documents, stage_products
from app.skills.knowledge.services.markdown_import import ImportReport, ParsedDocument
from app.skills.knowledge.services.reindex import Progress, index_entities, silent


def import_documents(
    session: ScopedSession,
    documents: Iterable[ParsedDocument],
    *,
    group_id: UUID,
    language: str,
    on_progress: Progress = silent,
) -> ImportReport:
    """Store and index documents in one language; importing the same again changes nothing.

    What a document had at its last import and has no more is taken out of that language.
    Documents are the same when their files have the same name.
    """
    staging = stage_documents(session, [*documents], group_id=group_id, language=language)
    store(staging, group_id=group_id, on_progress=on_progress)
    return staging.report


def import_products(
    session: ScopedSession,
    items: Sequence[Mapping[str, Any]],
    *,
    group_id: UUID,
    kind: str,
    on_progress: Progress = silent,
) -> ImportReport:
    """Store and index products of one kind, by slug; the same again changes nothing."""
    staging = stage_products(session, items, group_id=group_id, kind=kind)
    store(staging, group_id=group_id, on_progress=on_progress)
    return staging.report


def store(
    staging: Staging,
    *,
    group_id: UUID,
    import_id: UUID | None = None,
    on_progress: Progress = silent,
) -> None:
    """Write what was staged and put it into the index; `on_progress` may raise to stop it."""
    staging.write(import_id)
    index_entities(staging.session, staging.entities(), group_id=group_id, on_progress=on_progress)
