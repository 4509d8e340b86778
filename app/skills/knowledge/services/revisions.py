"""What sections and products were before each change, so that a change can be looked up and undone.

Whoever changes one takes a `snapshot` first and hands it to `keep` afterwards, in the same
transaction; a change that changed nothing leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.db import JsonObject, ScopedSession, new_id
from app.skills.knowledge.models import LibraryRevision, ManualSection, Product

Entity = ManualSection | Product

SECTION_FIELDS = (
    "parent_id", "slug", "kind", "position", "source",
    "title_en", "title_es", "body_en", "body_es", "is_published",
)  # fmt: skip
PRODUCT_FIELDS = (
    "kind", "slug", "name_en", "name_es", "description_en", "description_es", "category", "price",
    "allergens", "ingredients", "steps", "tags", "pairing_notes_en", "pairing_notes_es", "facts",
    "is_active",
)  # fmt: skip
# Stands in the snapshot of a section that was shown until then: an id of what took it out of sight.
# Sections that were withdrawn together have the same one.
WITHDRAWAL = "withdrawal"


def snapshot(entity: Entity) -> JsonObject:
    """Everything of it that people can change, as JSON values."""
    return {name: _plain(getattr(entity, name)) for name in _fields(entity)}


def keep(
    session: ScopedSession,
    entity: Entity,
    before: JsonObject | None,
    *,
    import_id: UUID | None = None,
    withdrawal: UUID | None = None,
) -> bool:
    """Note what it was `before` (None: there was nothing); True when it has changed since.

    The entity has its id already; what has changed gets the next version. Sections that are hidden
    with the same `withdrawal` are shown again together; without one, each by itself.
    """
    now = snapshot(entity)
    if before == now:
        return False
    kept = before
    if before and before.get("is_published") and not now["is_published"]:
        kept = {**before, WITHDRAWAL: str(withdrawal or new_id())}
    session.add(
        LibraryRevision(
            group_id=entity.group_id,
            entity=_name(entity),
            entity_id=entity.id,
            version=entity.version if before is not None else 0,
            snapshot=kept,
            author_id=session.scope.user_id,
            import_id=import_id,
        )
    )
    if before is not None:
        entity.version += 1
    return True


def without_withdrawal(kept: JsonObject | None) -> JsonObject | None:
    """A snapshot as `snapshot` gives it, from a revision that may say what hid the section."""
    return kept and {name: value for name, value in kept.items() if name != WITHDRAWAL}


def restore(entity: Entity, values: JsonObject) -> None:
    """Make it what it was in a snapshot; the caller keeps what it was until now."""
    for name in _fields(entity):
        if name in values:
            setattr(entity, name, _typed(name, values[name]))


def find_snapshot(session: ScopedSession, entity_id: UUID, version: int) -> JsonObject | None:
    """What it was in that version, or None: each of them holds all that it said."""
    return session.scalar(
        select(LibraryRevision.snapshot).where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == entity_id,
            LibraryRevision.version == version,
        )
    )


def revisions_of_import(session: ScopedSession, import_id: UUID) -> Iterable[LibraryRevision]:
    """What an import has changed, in the order in which it did."""
    return session.scalars(
        select(LibraryRevision)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.import_id == import_id,
        )
        .order_by(LibraryRevision.id)
    )


def _fields(entity: Entity) -> tuple[str, ...]:
    return SECTION_FIELDS if isinstance(entity, ManualSection) else PRODUCT_FIELDS


def _name(entity: Entity) -> str:
    return "section" if isinstance(entity, ManualSection) else "product"


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    if isinstance(value, UUID):
        return str(value)
    # A copy: what is changed in place later must not change what it was before.
    return deepcopy(value)


def _typed(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "parent_id":
        return UUID(value)
    return Decimal(value) if name == "price" else value
