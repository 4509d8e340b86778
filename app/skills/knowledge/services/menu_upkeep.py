"""Looking after the whole menu: allergens that nobody has declared, and its tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, func, select

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import N_, Conflict, InvalidInput, NotFound
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.categories import Codes, tags_in_use
from app.skills.knowledge.services.library_lock import share_library
from app.skills.knowledge.services.products import LONGEST_WORD, WITHOUT_TEXTS
from app.skills.knowledge.services.reindex import (
    Progress,
    index_entities,
    queue_embedding,
    silent,
)
from app.skills.knowledge.services.revisions import keep, snapshot
from app.text.edits import sign

PAGE = 25
# Of a tag's products so many are in memory at a time.
RENAMED_AT_ONCE = 50
CHANGED_MEANWHILE = N_(
    "The menu's tags are no longer the ones this page showed, so nothing was "
    "renamed. Look at them, then rename again."
)


@dataclass(frozen=True)
class AllergenPage:
    """Some products of the menu; `missing` counts those without a declaration in all of it."""

    products: list[Product]
    missing: int
    total: int
    page: int

    @property
    def has_more(self) -> bool:
        return self.page * PAGE < self.total


def list_declarations(
    session: ScopedSession, *, missing_only: bool, kind: str = "", page: int = 1
) -> AllergenPage:
    """The menu's products with what is declared of them; those where nothing is, first."""
    own = Product.group_id == session.scope.group_id
    chosen = [own, Product.is_active]
    if kind:
        chosen.append(Product.kind == kind)
    if missing_only:
        chosen.append(Product.allergens.is_(None))
    products = session.scalars(
        select(Product)
        .where(*chosen)
        .order_by(Product.allergens.isnot(None), Product.kind, Product.name_en, Product.id)
        .limit(PAGE)
        .offset((page - 1) * PAGE)
        .options(*WITHOUT_TEXTS)
    )
    total = session.scalar(select(func.count()).select_from(Product).where(*chosen)) or 0
    return AllergenPage(list(products), count_undeclared(session), total, page)


def count_undeclared(session: ScopedSession) -> int:
    """How many active products nobody has declared the allergens of."""
    query = (
        select(func.count())
        .select_from(Product)
        .where(
            Product.group_id == session.scope.group_id,
            Product.is_active,
            Product.allergens.is_(None),
        )
    )
    return session.scalar(query) or 0


def sign_tags(tags: Iterable[str]) -> str:
    """What tells these tags from those that may be there later."""
    return sign(*sorted(tags))


def rename_tag(
    session: ScopedSession, tag: str, wanted: str, signature: str, on_progress: Progress = silent
) -> tuple[str, int]:
    """Give a tag another name on everything that has it; returns its code and how many.

    The name of a tag that is there already makes one of both, which cannot be told apart again:
    `signature` is that of the tags that the person was shown (`sign_tags`). `on_progress` is told
    how many of how many are done, some at a time; it may wait.

    Raises:
        NotFound: nothing has this tag.
        InvalidInput: the new name is empty or too long.
        Conflict: the tags are not those that were shown.
    """
    share_library(session)
    tags = tags_in_use(session)
    others = [code for code in tags if code != tag]
    code = Codes(others).code_for(wanted)
    if not code:
        raise InvalidInput("Enter the new name.", field="name")
    if len(code) > LONGEST_WORD:
        raise InvalidInput(
            "That is too long: at most %(longest)s characters.", field="name", longest=LONGEST_WORD
        )
    ids = session.scalars(_tagged(session, tag).with_only_columns(Product.id)).all()
    if not ids:
        raise NotFound("Nothing on the menu has this tag anymore.")
    if sign_tags(tags) != signature:
        raise Conflict(CHANGED_MEANWHILE)
    if code != tag:
        for start in range(0, len(ids), RENAMED_AT_ONCE):
            _rename(session, ids[start : start + RENAMED_AT_ONCE], tag, code)
            on_progress(start, len(ids))
        if code not in tags and _others_with(session, code, ids):
            raise Conflict(CHANGED_MEANWHILE)
        record(session, "tag_renamed", f"{tag} to {code} on {len(ids)}")
        queue_embedding(session)
    session.commit()
    return code, len(ids)


def _others_with(session: ScopedSession, code: str, ids: Sequence[UUID]) -> bool:
    """Whether somebody has begun to use the new name elsewhere while it was given."""
    others = _tagged(session, code).where(Product.id.not_in(ids)).with_only_columns(Product.id)
    return session.scalar(others.limit(1)) is not None


def _tagged(session: ScopedSession, tag: str) -> Select[Product]:
    """The products with this tag, in one order for everybody."""
    own = Product.group_id == session.scope.group_id
    return select(Product).where(own, Product.tags.contains([tag])).order_by(Product.id)


def _rename(session: ScopedSession, ids: Sequence[UUID], tag: str, code: str) -> None:
    """Give the tag its new name on these products, which nobody else changes until the end."""
    group_id = session.scope.group_id
    assert group_id
    query = _tagged(session, tag).where(Product.id.in_(ids)).with_for_update()
    products = session.scalars(query.execution_options(populate_existing=True)).all()
    for product in products:
        before = snapshot(product)
        product.tags = list(dict.fromkeys(code if each == tag else each for each in product.tags))
        keep(session, product, before)
    index_entities(session, products, group_id=group_id)
    # All is sent by now; nothing of it is read again.
    for product in products:
        session.expunge(product)
