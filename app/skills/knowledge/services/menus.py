"""Menus by kind, narrowed by what one looks for; what nobody has declared stays apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sqlalchemy import Select, Text, cast, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from app.db import ScopedSession
from app.errors import InvalidInput
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.menu_limits import MOST_CATEGORIES, MOST_TAGS_IN_ALL
from app.skills.knowledge.services.prices import parse_price
from app.skills.knowledge.services.products import WITHOUT_TEXTS
from app.text.allergens import ALLERGENS, FAMILIES, expand_families
from app.text.free_text import has_words, limit_search
from app.text.normalize import words

PAGE = 60
LONGEST_TEXT = 100
SORTS = ("category", "name", "price", "price-desc")


@dataclass(frozen=True)
class MenuFilter:
    """What is looked for in a menu. Codes in `without` are allergens or families of them."""

    kind: str
    text: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    up_to: Decimal | None = None
    sort: str = SORTS[0]
    page: int = 1

    @property
    def avoided(self) -> tuple[str, ...]:
        """The codes of all allergens that nothing shown may have."""
        return expand_families(self.without)

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves anything out."""
        return replace(self, sort=SORTS[0], page=1) != MenuFilter(self.kind)


def read_filter(kind: str, fields: Mapping[str, Sequence[str]]) -> MenuFilter:
    """The filter that an address names; what makes no sense in it counts as not given."""

    def first(name: str) -> str:
        return (fields.get(name) or [""])[0].strip()

    return MenuFilter(
        kind=kind,
        text=first("q")[:LONGEST_TEXT],
        category=first("category"),
        tags=tuple(dict.fromkeys(tag for tag in fields.get("tag", ()) if tag)),
        without=tuple(
            code for code in (*FAMILIES, *ALLERGENS) if code in fields.get("without", ())
        ),
        up_to=_price(first("up_to")),
        sort=first("sort") if first("sort") in SORTS else SORTS[0],
    )


def _price(typed: str) -> Decimal | None:
    try:
        return parse_price(typed)
    except InvalidInput:
        return None


@dataclass(frozen=True)
class Menu:
    """A page of the products that fit.

    Where something is to be avoided, `undeclared` are those that would fit but whose
    allergens nobody has declared: nothing is known to be lacking in them. There are
    `undeclared_count` of these in all.
    """

    products: Sequence[Product]
    count: int
    undeclared: Sequence[Product]
    undeclared_count: int
    more: bool


@dataclass(frozen=True)
class Choices:
    """What there is to choose from in a menu."""

    categories: Sequence[str]
    tags: Sequence[str]
    has_prices: bool


def list_menu(session: ScopedSession, wanted: MenuFilter) -> Menu:
    """The active products that fit, sorted, a page of them at a time.

    Raises:
        TooMany: that takes too long.
    """
    with limit_search(session):
        return _list_menu(session, wanted)


def _list_menu(session: ScopedSession, wanted: MenuFilter) -> Menu:
    fitting = _fitting(session, wanted)
    listed = fitting.where(*_declared_free(wanted))
    count = session.scalar(select(func.count()).select_from(listed.subquery())) or 0
    ordered = _ordered(listed, wanted.sort).offset((wanted.page - 1) * PAGE)
    rows = session.scalars(ordered).all()
    undeclared: Sequence[Product] = ()
    undeclared_count = 0
    if wanted.avoided and wanted.page == 1:
        apart = fitting.where(Product.allergens.is_(None))
        undeclared = session.scalars(_ordered(apart, wanted.sort)).all()
        undeclared_count = session.scalar(select(func.count()).select_from(apart.subquery())) or 0
    return Menu(rows, count, undeclared, undeclared_count, count > wanted.page * PAGE)


def list_choices(session: ScopedSession, kind: str) -> Choices:
    """The categories and tags of a menu, and whether anything in it has a price."""
    own = (Product.group_id == session.scope.group_id, Product.kind == kind, Product.is_active)
    category, tag = Product.category, func.unnest(Product.tags).label("tag")
    categories = session.scalars(
        select(category)
        .where(*own, category != "")
        .distinct()
        .order_by(category)
        .limit(MOST_CATEGORIES)
    )
    tags = session.scalars(select(tag).where(*own).distinct().order_by(tag).limit(MOST_TAGS_IN_ALL))
    priced = session.scalar(select(func.count(Product.price)).where(*own))
    return Choices(sorted(categories), sorted(tags), bool(priced))


def _fitting(session: ScopedSession, wanted: MenuFilter) -> Select[Product]:
    query = select(Product).where(
        Product.group_id == session.scope.group_id,
        Product.kind == wanted.kind,
        Product.is_active,
    )
    if wanted.category:
        query = query.where(Product.category == wanted.category)
    if wanted.tags:
        query = query.where(Product.tags.contains(list(wanted.tags)))
    if wanted.up_to is not None:
        query = query.where(Product.price <= wanted.up_to)
    if wanted.text:
        query = query.where(has_words(Product.folded, words(wanted.text)))
    return query


def _declared_free(wanted: MenuFilter) -> list[Any]:
    """Only what is declared, and declared without these; any product where none is avoided."""
    if not wanted.avoided:
        return []
    codes = cast(list(wanted.avoided), ARRAY(Text))
    return [Product.allergens.is_not(None), ~Product.allergens.overlap(codes)]


def _ordered(query: Select[Product], sort: str) -> Select[Product]:
    """A page of products, in order, as a list shows them."""
    return query.order_by(*_order(sort)).limit(PAGE).options(*WITHOUT_TEXTS)


def _order(sort: str) -> tuple[Any, ...]:
    name = (func.fold_text(Product.name_en), Product.slug)
    return {
        "category": (Product.category, *name),
        "name": name,
        "price": (Product.price.asc().nulls_last(), *name),
        "price-desc": (Product.price.desc().nulls_last(), *name),
    }[sort]
