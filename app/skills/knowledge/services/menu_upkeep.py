"""Looking after the whole menu: allergens that nobody has declared, and its tags."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import InvalidInput, NotFound
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.categories import Codes, tags_in_use
from app.skills.knowledge.services.library_lock import share_library
from app.skills.knowledge.services.products import LONGEST_WORD
from app.skills.knowledge.services.reindex import reindex_products
from app.skills.knowledge.services.revisions import keep, snapshot

PAGE = 25


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


def rename_tag(session: ScopedSession, tag: str, wanted: str) -> tuple[str, int]:
    """Give a tag another name on everything that has it; returns its code and how many.

    The name of a tag that is there already makes one of both.

    Raises:
        NotFound: nothing has this tag.
        InvalidInput: the new name is empty or too long.
    """
    others = [code for code in tags_in_use(session) if code != tag]
    code = Codes(others).code_for(wanted)
    if not code:
        raise InvalidInput("Write the name that it should have.", field="name")
    if len(code) > LONGEST_WORD:
        raise InvalidInput(
            "That is too long: at most %(longest)s characters.", field="name", longest=LONGEST_WORD
        )
    products = _tagged(session, tag)
    for product in products:
        before = snapshot(product)
        product.tags = list(dict.fromkeys(code if each == tag else each for each in product.tags))
        keep(session, product, before)
    if code != tag:
        record(session, "tag_renamed", f"{tag} to {code} on {len(products)}")
        reindex_products(session, products)
    session.commit()
    return code, len(products)


def _tagged(session: ScopedSession, tag: str) -> list[Product]:
    """The products with this tag, nobody else's until the end; in one order for everybody."""
    share_library(session)
    query = (
        select(Product)
        .where(Product.group_id == session.scope.group_id, Product.tags.contains([tag]))
        .order_by(Product.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    products = list(session.scalars(query))
    if not products:
        raise NotFound("Nothing on the menu has this tag any more.")
    return products
