"""How much a restaurant's menus hold: asked before a product is saved, and of a whole import.

What is larger already stays as it is and may be made smaller: only what grows is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select

from app.db import JsonObject, ScopedSession
from app.errors import InvalidInput
from app.skills.knowledge.models import Product

# Of a restaurant, those that are off the menu too.
MOST_PRODUCTS = 5_000
# Of all texts of one product in both languages: some thirty pages.
MOST_LETTERS = 50_000
# Of one product, and different ones on all menus.
MOST_TAGS, MOST_TAGS_IN_ALL = 40, 1_000
# Different ones of one kind of product.
MOST_CATEGORIES = 200
_LONG = ("description_en", "description_es", "pairing_notes_en", "pairing_notes_es",
         "ingredients", "steps")  # fmt: skip
_WRITTEN = ("name_en", "name_es", "category", *_LONG, "tags", "facts")

# What is too much, as a problem of a file is called, and its detail.
Excess = tuple[str, str]


def count_letters(values: Mapping[str, Any]) -> int:
    """How much is written of a product in all, by its values."""
    return sum(_letters(values.get(name)) for name in _WRITTEN)


def _letters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_letters, value.values()))
    return sum(map(_letters, value)) if isinstance(value, list) else 0


def find_excess(product: Product | None, wanted: Mapping[str, Any]) -> Excess | None:
    """What a product would have too much of with these values; `product` is it until now."""
    written = {name: getattr(product, name) for name in _WRITTEN} if product else {}
    if len(wanted.get("tags", ())) > max(MOST_TAGS, len(written.get("tags", ()))):
        return "too_many_items", "tags"
    if count_letters({**written, **wanted}) > max(MOST_LETTERS, count_letters(written)):
        return "product_too_long", ""
    return None


def check_product(product: Product | None, wanted: Mapping[str, Any]) -> None:
    """Refuse what a product would have too much of, beside the field that has most of it."""
    excess = find_excess(product, wanted)
    if excess is None:
        return
    if excess == ("too_many_items", "tags"):
        raise InvalidInput("That is too many: at most %(most)s.", field="tags", most=MOST_TAGS)
    raise InvalidInput(
        "The texts of a product, in both languages, can have at most %(longest)s "
        "characters in total. Shorten the longest ones.",
        field=max(_LONG, key=lambda name: _letters(wanted.get(name))),
        longest=f"{MOST_LETTERS:,}",
    )


def check_room(session: ScopedSession) -> None:
    """See that the restaurant may have one more product."""
    if _count(session, session.scope.group_id) >= MOST_PRODUCTS:
        raise InvalidInput(
            "The menus have %(limit)s products, counting those that are off the "
            "menu, and there is no room for more. Turn one that is off the menu into "
            "this one.",
            limit=f"{MOST_PRODUCTS:,}",
        )


def _count(session: ScopedSession, group_id: UUID | None) -> int:
    return session.scalar(select(func.count()).where(Product.group_id == group_id)) or 0


def check_new_tags(session: ScopedSession, tags: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a tag too many for all menus: the pages and the search read all of them."""
    new = set(tags) - set(known)
    if not new:
        return
    tag = _each_tag(session.scope.group_id).subquery().c.tag
    new -= set(session.scalars(select(tag).where(tag.in_(new)).distinct()))
    different = session.scalar(select(func.count(tag.distinct()))) or 0
    if new and different + len(new) > MOST_TAGS_IN_ALL:
        raise InvalidInput(
            "The menu already has %(most)s different tags, and there is no room for "
            "more. Use an existing one, or merge some on the tags page.",
            field="tags",
            most=MOST_TAGS_IN_ALL,
        )


def check_new_category(session: ScopedSession, kind: str, category: str, known: str) -> None:
    """Refuse a category too many for the products of a kind: the pages list all of them."""
    if category in ("", known):
        return
    query = select(
        func.count(Product.category.distinct()),
        func.count().filter(Product.category == category),
    ).where(Product.group_id == session.scope.group_id, Product.kind == kind, _HAS_CATEGORY)
    different, same = session.execute(query).one()
    if not same and different >= MOST_CATEGORIES:
        raise InvalidInput(
            "This menu has %(most)s different categories, and there is no room for "
            "more. Use one of those.",
            field="category",
            most=MOST_CATEGORIES,
        )


_HAS_CATEGORY = Product.category != ""


def _each_tag(group_id: UUID | None) -> Select[str]:
    tag: Any = func.unnest(Product.tags).label("tag")
    query: Select[str] = select(tag).where(Product.group_id == group_id)
    return query


@dataclass(frozen=True)
class MenuCounts:
    """How many products a restaurant has; how many have each tag, and each category of a kind."""

    products: int
    tags: Mapping[str, int]
    categories: Mapping[str, int]


def load_counts(session: ScopedSession, group_id: UUID, kind: str) -> MenuCounts:
    """What there is of the menus before an import of products of `kind`."""
    tag = _each_tag(group_id).subquery().c.tag
    tags = session.execute(select(tag, func.count()).group_by(tag))
    categories = session.execute(
        select(Product.category, func.count())
        .where(Product.group_id == group_id, Product.kind == kind, _HAS_CATEGORY)
        .group_by(Product.category)
    )
    return MenuCounts(_count(session, group_id), dict(tags.all()), dict(categories.all()))


def find_overflow(
    counts: MenuCounts, changed: Iterable[tuple[JsonObject | None, Product]]
) -> Excess | None:
    """What the menus would have too much of after these changes.

    `changed` are products as they would be, each with what it was (None: there was nothing).
    """
    tags, categories, added = Counter(counts.tags), Counter(counts.categories), 0
    for before, product in changed:
        if before is None:
            added += 1
        else:
            tags.subtract(before["tags"])
            categories[before["category"]] -= 1
        tags.update(product.tags)
        categories[product.category] += 1
    # Where nothing is written there is no category.
    categories.pop("", None)
    limits = {
        "menu_full": (counts.products + added, counts.products, MOST_PRODUCTS),
        "too_many_tags": (len(+tags), len(counts.tags), MOST_TAGS_IN_ALL),
        "too_many_categories": (len(+categories), len(counts.categories), MOST_CATEGORIES),
    }
    return next(
        (
            (code, str(after))
            for code, (after, before, most) in limits.items()
            if after > max(most, before)
        ),
        None,
    )
