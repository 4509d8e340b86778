"""Loading the group's sections and products, and where each stands among its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import load_only

from app.db import ScopedSession
from app.errors import NotFound
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import PRODUCT_KINDS, ManualSection, Product


@dataclass(frozen=True)
class OutlineEntry:
    """A section in the manual's tree, with what stands under it."""

    section: ManualSection
    children: list[OutlineEntry]


def load_section(session: ScopedSession, slug: str) -> ManualSection:
    """A published section of the group, or NotFound."""
    section = session.scalar(_sections(session).where(ManualSection.slug == slug))
    if section is None:
        raise NotFound("The manual has no such section any more.")
    return section


def load_product(session: ScopedSession, kind: str, slug: str) -> Product:
    """An active product of the group, or NotFound."""
    product = session.scalar(_products(session).where(Product.kind == kind, Product.slug == slug))
    if product is None:
        raise NotFound("This is not on the menu any more.")
    return product


def load_products(session: ScopedSession, ids: Sequence[UUID]) -> list[Product]:
    """The active products with these ids, in the order of the ids."""
    found = {p.id: p for p in session.scalars(_products(session).where(Product.id.in_(ids)))}
    return [found[id_] for id_ in ids if id_ in found]


def load_sections(session: ScopedSession, ids: Sequence[UUID]) -> list[ManualSection]:
    """The published sections with these ids, in no particular order."""
    return list(session.scalars(_sections(session).where(ManualSection.id.in_(ids))))


def list_products(session: ScopedSession) -> dict[str, list[Product]]:
    """All active products by kind, in the order people read a menu."""
    rows = session.scalars(
        _products(session).order_by(Product.kind, Product.category, Product.name_en)
    ).all()
    return {kind: [row for row in rows if row.kind == kind] for kind in PRODUCT_KINDS}


def load_passage(session: ScopedSession, document_id: UUID) -> SearchDocument:
    """A search document that the person may see, or NotFound.

    What it is a passage of must still be published: an old citation is no way around that.
    """
    section = _sections(session).where(ManualSection.id == SearchDocument.source_id)
    product = _products(session).where(Product.id == SearchDocument.source_id)
    document = session.scalar(
        select(SearchDocument).where(
            SearchDocument.id == document_id,
            SearchDocument.group_id == session.scope.group_id,
            SearchDocument.is_published,
            SearchDocument.owner_id.is_(None) | (SearchDocument.owner_id == session.scope.user_id),
            section.exists() | product.exists(),
        )
    )
    if document is None:
        raise NotFound("This passage has changed since it was cited, or it is not yours to see.")
    return document


@dataclass(frozen=True)
class Contents:
    """The manual's tree: the published sections by the one they stand under, in order."""

    below: Mapping[UUID | None, Sequence[ManualSection]]

    def outline(self, parent: UUID | None = None) -> list[OutlineEntry]:
        """The top sections (or those under `parent`), with all that stands under them."""
        return [OutlineEntry(row, self.outline(row.id)) for row in self.below.get(parent, ())]

    def children(self, section: ManualSection) -> Sequence[ManualSection]:
        return self.below.get(section.id, ())

    def ancestors(self, section: ManualSection) -> list[ManualSection]:
        """The sections above this one, the topmost first, as far up as they are published."""
        by_id = {row.id: row for rows in self.below.values() for row in rows}
        above: list[ManualSection] = []
        parent = by_id.get(section.parent_id) if section.parent_id else None
        while parent is not None:
            above.insert(0, parent)
            parent = by_id.get(parent.parent_id) if parent.parent_id else None
        return above

    def neighbours(
        self, section: ManualSection
    ) -> tuple[ManualSection | None, ManualSection | None]:
        """What is read before and after this section; neither below an unpublished chapter."""
        order = self.reading_order()
        ids = [row.id for row in order]
        if section.id not in ids:
            return None, None
        place = ids.index(section.id)
        before = order[place - 1] if place else None
        return before, order[place + 1] if place + 1 < len(order) else None

    def reading_order(self, parent: UUID | None = None) -> list[ManualSection]:
        """The tree flattened, as one would read it from the first page to the last."""
        flat: list[ManualSection] = []
        for row in self.below.get(parent, ()):
            flat += [row, *self.reading_order(row.id)]
        return flat


def load_contents(session: ScopedSession) -> Contents:
    """The manual's tree, with one query that reads no section's text."""
    names = (
        ManualSection.slug,
        ManualSection.parent_id,
        ManualSection.title_en,
        ManualSection.title_es,
    )
    rows = session.scalars(
        _sections(session)
        .options(load_only(*names))
        .order_by(ManualSection.position, ManualSection.slug)
    )
    below: dict[UUID | None, list[ManualSection]] = {}
    for row in rows:
        below.setdefault(row.parent_id, []).append(row)
    return Contents(below)


def _sections(session: ScopedSession) -> Select[ManualSection]:
    return select(ManualSection).where(
        ManualSection.group_id == session.scope.group_id, ManualSection.is_published
    )


def _products(session: ScopedSession) -> Select[Product]:
    return select(Product).where(Product.group_id == session.scope.group_id, Product.is_active)
