"""Loading the group's sections, products and passages, as far as they are for everybody to see."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.sql.base import ExecutableOption

from app.db import ScopedSession
from app.errors import NotFound
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import PRODUCT_KINDS, LibraryRevision, ManualSection, Product


def load_section(session: ScopedSession, slug: str) -> ManualSection:
    """A published section of the group, or NotFound."""
    section = session.scalar(_sections(session).where(ManualSection.slug == slug))
    if section is None:
        raise NotFound("The manual no longer has that section.")
    return section


def load_product(session: ScopedSession, kind: str, slug: str) -> Product:
    """An active product of the group, or NotFound."""
    product = session.scalar(_products(session).where(Product.kind == kind, Product.slug == slug))
    if product is None:
        raise NotFound("This is no longer on the menu.")
    return product


def load_products(
    session: ScopedSession, ids: Sequence[UUID], *options: ExecutableOption
) -> list[Product]:
    """The active products with these ids, in the order of the ids."""
    query = _products(session).where(Product.id.in_(ids)).options(*options)
    found = {product.id: product for product in session.scalars(query)}
    return [found[id_] for id_ in ids if id_ in found]


def load_sections(session: ScopedSession, ids: Sequence[UUID]) -> list[ManualSection]:
    """The published sections with these ids, in no particular order."""
    return list(session.scalars(_sections(session).where(ManualSection.id.in_(ids))))


def count_products(session: ScopedSession) -> dict[str, int]:
    """How many active products there are of each kind that has any, in the menus' order."""
    rows = session.execute(
        select(Product.kind, func.count())
        .where(Product.group_id == session.scope.group_id, Product.is_active)
        .group_by(Product.kind)
    )
    counts = dict(rows.all())
    return {kind: counts[kind] for kind in PRODUCT_KINDS if kind in counts}


def find_renamed(session: ScopedSession, slug: str) -> ManualSection:
    """The published section that had this address before, the last one that did, or NotFound."""
    section = session.scalar(
        _sections(session)
        .join(LibraryRevision, LibraryRevision.entity_id == ManualSection.id)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity == "section",
            LibraryRevision.slug == slug,
        )
        .order_by(LibraryRevision.id.desc())
        .limit(1)
    )
    if section is None:
        raise NotFound("The manual no longer has that section.")
    return section


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
        raise NotFound(
            "This passage has changed since it was cited, or you don't have access to it."
        )
    return document


def _sections(session: ScopedSession) -> Select[ManualSection]:
    return select(ManualSection).where(
        ManualSection.group_id == session.scope.group_id, ManualSection.is_published
    )


def _products(session: ScopedSession) -> Select[Product]:
    return select(Product).where(Product.group_id == session.scope.group_id, Product.is_active)
