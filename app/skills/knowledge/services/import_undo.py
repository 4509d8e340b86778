"""Taking back what an import changed, as far as nobody has changed it again since."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import aliased

from app.db import JsonObject, ScopedSession
from app.retrieval.index import SourceInput, index_sources
from app.skills.knowledge.models import LibraryRevision, ManualSection, Product
from app.skills.knowledge.services.import_changes import load_all_sections
from app.skills.knowledge.services.reindex import INDEX_BATCH, index_entities
from app.skills.knowledge.services.revisions import (
    Entity,
    keep,
    restore,
    revisions_of_import,
    snapshot,
    without_withdrawal,
)
from app.skills.knowledge.services.search_sources import SECTION_CONTEXTS

MOST_NAMED = 50


def undo_changes(
    session: ScopedSession, import_id: UUID, *, on_progress: Callable[[int, int], None]
) -> JsonObject:
    """Restore and remove what the import changed and added; says how much, and what it left.

    Nothing is committed. What was changed again since is named and left as it is; what was
    changed and put back, such as by undoing a later import, is not changed.
    """
    revisions = list(revisions_of_import(session, import_id))
    entities, sections = _load(session, revisions)
    results = _results(session, import_id)
    left: list[Entity] = []
    restored: list[Entity] = []
    added: list[Entity] = []
    for revision in revisions:
        entity = entities.get(revision.entity_id)
        if entity is None:
            continue
        is_latest = entity.version == revision.version + 1
        if not is_latest and snapshot(entity) != results.get(entity.id):
            left.append(entity)
        elif revision.snapshot is None:
            added.append(entity)
        elif _restore(session, entity, revision.snapshot, sections):
            restored.append(entity)
        else:
            left.append(entity)
    session.flush()
    gone, kept = _remove(session, added, sections)
    left += kept
    staying = {id_: row for id_, row in sections.items() if id_ not in gone}
    touched = _with_all_below(restored, staying)
    index_entities(session, touched, group_id=_group(session), on_progress=on_progress)
    return {
        "restored": len(restored),
        "removed": len(gone),
        "left": [_title(entity) for entity in left[:MOST_NAMED]],
        "left_count": len(left),
    }


def _group(session: ScopedSession) -> UUID:
    assert session.scope.group_id
    return session.scope.group_id


def _load(
    session: ScopedSession, revisions: Sequence[LibraryRevision]
) -> tuple[dict[UUID, Entity], dict[UUID, ManualSection]]:
    """What the revisions are of, as far as it is still there, and all sections; locked."""
    sections = load_all_sections(session, _group(session), lock=True)
    ids = [revision.entity_id for revision in revisions if revision.entity == "product"]
    query = select(Product).where(Product.group_id == _group(session), Product.id.in_(ids))
    products = session.scalars(query.order_by(Product.id).with_for_update())
    return {**sections, **{row.id: row for row in products}}, sections


def _results(session: ScopedSession, import_id: UUID) -> dict[UUID, JsonObject | None]:
    """What the import made of each entity that was changed again since."""
    following = aliased(LibraryRevision)
    query = (
        select(following.entity_id, following.snapshot)
        .join(LibraryRevision, LibraryRevision.entity_id == following.entity_id)
        .where(
            LibraryRevision.group_id == _group(session),
            LibraryRevision.import_id == import_id,
            following.group_id == _group(session),
            following.version == LibraryRevision.version + 1,
        )
    )
    return {row.entity_id: without_withdrawal(row.snapshot) for row in session.execute(query)}


def _restore(
    session: ScopedSession,
    entity: Entity,
    values: JsonObject,
    sections: Mapping[UUID, ManualSection],
) -> bool:
    """Make it what it was; False when that has no place in the library any more."""
    parent = values.get("parent_id")
    if parent and not _can_hold(UUID(parent), entity, sections):
        return False
    before = snapshot(entity)
    restore(entity, values)
    keep(session, entity, before)
    return True


def _can_hold(parent_id: UUID, entity: Entity, sections: Mapping[UUID, ManualSection]) -> bool:
    """Whether that section is still there, and does not stand below this one by now."""
    above: UUID | None = parent_id
    while above is not None:
        if above == entity.id or above not in sections:
            return False
        above = sections[above].parent_id
    return True


def _remove(
    session: ScopedSession, added: Sequence[Entity], sections: Mapping[UUID, ManualSection]
) -> tuple[set[UUID], list[Entity]]:
    """Delete what the import added, unless something else hangs below it by now."""
    removable = {entity.id for entity in added}
    for id_, section in sections.items():
        # Whatever stays needs all that stands above it.
        above = section.parent_id if id_ not in removable else None
        while above is not None:
            removable.discard(above)
            above = sections[above].parent_id
    gone = [entity for entity in added if entity.id in removable]
    _unindex(session, gone)
    for model in (ManualSection, Product):
        ids = [entity.id for entity in gone if isinstance(entity, model)]
        session.execute(delete(model).where(model.group_id == _group(session), model.id.in_(ids)))
    return removable, [entity for entity in added if entity.id not in removable]


def _unindex(session: ScopedSession, entities: Sequence[Entity]) -> None:
    sources = [
        SourceInput(source_type, entity.id, ())
        for entity in entities
        for source_type in _source_types(entity)
    ]
    for batch in range(0, len(sources), INDEX_BATCH):
        chosen = sources[batch : batch + INDEX_BATCH]
        index_sources(session, group_id=_group(session), sources=chosen)


def _source_types(entity: Entity) -> Sequence[str]:
    return (entity.kind,) if isinstance(entity, Product) else SECTION_CONTEXTS


def _with_all_below(
    entities: Sequence[Entity], sections: Mapping[UUID, ManualSection]
) -> list[Entity]:
    """These and all sections below them: their passages name what stands above."""
    below: dict[UUID | None, list[ManualSection]] = {}
    for row in sections.values():
        below.setdefault(row.parent_id, []).append(row)
    found: dict[UUID, Entity] = {}
    waiting = list(entities)
    while waiting:
        entity = waiting.pop()
        if entity.id not in found:
            found[entity.id] = entity
            waiting += below.get(entity.id, [])
    return list(found.values())


def _title(entity: Entity) -> str:
    if isinstance(entity, Product):
        return entity.name_en or entity.name_es
    return entity.title_en or entity.title_es or entity.slug
