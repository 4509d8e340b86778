"""Writing the menu: products of all five kinds made and changed, one transaction each."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import defer

from app.accounts.audit import record
from app.db import JsonList, ScopedSession
from app.errors import InvalidInput, NotFound
from app.skills.knowledge.models import PRODUCT_KINDS, Product
from app.skills.knowledge.services.library_lock import share_library
from app.skills.knowledge.services.markdown_import import SLUG_LENGTH, slugify
from app.skills.knowledge.services.menu_limits import (
    check_new_category,
    check_new_tags,
    check_product,
    check_room,
)
from app.skills.knowledge.services.reindex import reindex_products
from app.skills.knowledge.services.revisions import keep, snapshot
from app.skills.knowledge.services.sections import StaleEdit, find_editor, made_already
from app.text.allergens import ALLERGENS

LONGEST_NAME = 120
LONGEST_WORD = 60
LONGEST_TEXT = 10_000
MOST_ROWS = 100
PAGE = 25
_DESCRIPTIONS = ("description_en", "description_es")
_TEXTS = (*_DESCRIPTIONS, "pairing_notes_en", "pairing_notes_es")
# For lists, which show none of it: of all products of a page it may be megabytes.
WITHOUT_RECIPES = tuple(
    defer(column, raiseload=True)
    for column in (
        Product.ingredients,
        Product.steps,
        Product.pairing_notes_en,
        Product.pairing_notes_es,
        Product.facts,
        Product.name_words,
    )
)
WITHOUT_TEXTS = (
    *WITHOUT_RECIPES,
    *(defer(getattr(Product, name), raiseload=True) for name in _DESCRIPTIONS),
)


@dataclass(frozen=True)
class ProductDraft:
    """What a person wants a product to be. `allergens` is None where nobody declares any."""

    name_en: str = ""
    name_es: str = ""
    description_en: str = ""
    description_es: str = ""
    category: str = ""
    price: Decimal | None = None
    allergens: list[str] | None = None
    ingredients: JsonList = field(default_factory=list)
    steps: JsonList = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    pairing_notes_en: str = ""
    pairing_notes_es: str = ""
    is_active: bool = True


def load_product_to_edit(
    session: ScopedSession, product_id: UUID, *, lock: bool = False
) -> Product:
    """A product of the group, active or not, or NotFound; with `lock`, nobody else's."""
    query = select(Product).where(
        Product.group_id == session.scope.group_id, Product.id == product_id
    )
    if lock:
        share_library(session)
        query = query.with_for_update().execution_options(populate_existing=True)
    product = session.scalar(query)
    if product is None:
        raise NotFound("This is no longer on the menu.")
    return product


def find_product_id(session: ScopedSession, kind: str, slug: str) -> UUID:
    """The id of the group's product of that name, active or not, or NotFound."""
    product_id = session.scalar(
        select(Product.id).where(
            Product.group_id == session.scope.group_id, Product.kind == kind, Product.slug == slug
        )
    )
    if product_id is None:
        raise NotFound("This is no longer on the menu.")
    return product_id


def create_product(
    session: ScopedSession, product_id: UUID, kind: str, draft: ProductDraft
) -> Product:
    """Put a new product on the menu.

    `product_id` comes with the form: a form that is sent twice makes one product.

    Raises:
        InvalidInput: the draft will not do, or there is no such kind.
        Conflict: the form made a product before, and said something else then.
    """
    if kind not in PRODUCT_KINDS:
        raise InvalidInput("Choose from the list.", field="kind")
    values = _checked(draft, None)
    existing = session.scalar(
        select(Product).where(Product.group_id == session.scope.group_id, Product.id == product_id)
    )
    if existing is not None:
        if not _is(existing, {"kind": kind, **values}):
            raise made_already()
        return existing
    check_room(session)
    check_new_tags(session, values["tags"], ())
    check_new_category(session, kind, values["category"], "")
    product = Product(
        id=product_id,
        group_id=session.scope.group_id,
        kind=kind,
        slug=_free_slug(session, kind, values["name_en"]),
        facts=_facts_with({}, kind, values["category"]),
        **values,
    )
    session.add(product)
    try:
        session.flush()
    except IntegrityError:
        raise InvalidInput("Somebody just added one with that name.", field="name_en") from None
    keep(session, product, None)
    record(session, "product_created", f"{kind}/{product.slug}")
    reindex_products(session, [product])
    session.commit()
    return product


def save_product(
    session: ScopedSession, product_id: UUID, version: int, draft: ProductDraft
) -> Product:
    """Make a product what the draft says, if nobody changed it since `version`.

    Raises:
        NotFound, InvalidInput
        StaleEdit: somebody did, and not to this.
    """
    product = load_product_to_edit(session, product_id, lock=True)
    values = _checked(draft, product)
    check_new_tags(session, values["tags"], product.tags)
    check_new_category(session, product.kind, values["category"], product.category)
    if not _is(product, values) and version != product.version:
        raise StaleEdit(product, find_editor(session, product_id))
    values["facts"] = _facts_with(product.facts, product.kind, values["category"])
    _change(session, product, values, "product_changed")
    session.commit()
    return product


def declare_allergens(
    session: ScopedSession, product_id: UUID, version: int, allergens: list[str] | None
) -> Product:
    """Say which allergens a product has: a list, none (an empty one), or not known (None).

    Raises:
        NotFound, InvalidInput
        StaleEdit: somebody has changed the product since `version`.
    """
    product = load_product_to_edit(session, product_id, lock=True)
    checked = _check_allergens(allergens, set(product.allergens or ()))
    if product.allergens != checked and version != product.version:
        raise StaleEdit(product, find_editor(session, product_id))
    _change(session, product, {"allergens": checked}, "allergens_declared")
    session.commit()
    return product


def _is(product: Product, values: dict[str, Any]) -> bool:
    return all(getattr(product, name) == value for name, value in values.items())


def _change(session: ScopedSession, product: Product, values: dict[str, Any], what: str) -> None:
    before = snapshot(product)
    for name, value in values.items():
        setattr(product, name, value)
    session.flush()
    if keep(session, product, before):
        record(session, what, f"{product.kind}/{product.slug}: version {product.version}")
        reindex_products(session, [product])


def _facts_with(facts: dict[str, Any], kind: str, category: str) -> dict[str, Any]:
    """The facts of a product in a category: that of a recipe is its cuisine too."""
    if kind != "recipes":
        return facts
    without = {name: value for name, value in facts.items() if name != "cuisine"}
    return {**without, "cuisine": category} if category else without


def _checked(draft: ProductDraft, product: Product | None) -> dict[str, Any]:
    """The draft's values as they are stored; what the product has until now it may keep.

    A name that is the same in both languages need only be written once.
    """
    if not draft.name_en and not draft.name_es:
        raise InvalidInput("Give it a name in at least one language.", field="name_en")
    values = {name: getattr(draft, name) for name in asdict(draft)}
    values["name_en"] = draft.name_en or draft.name_es
    values["name_es"] = draft.name_es or draft.name_en
    for name in ("name_en", "name_es"):
        _check_length(values[name], name, LONGEST_NAME)
    for name in _TEXTS:
        _check_length(values[name], name, LONGEST_TEXT)
    for word in (draft.category, *draft.tags):
        _check_length(word, "category" if word == draft.category else "tags", LONGEST_WORD)
    for name in ("ingredients", "steps"):
        _check_rows(getattr(draft, name), name)
    known = set((product.allergens if product else None) or ())
    values["allergens"] = _check_allergens(draft.allergens, known)
    values["tags"] = list(dict.fromkeys(draft.tags))
    check_product(product, values)
    return values


def _check_rows(rows: JsonList, name: str) -> None:
    if len(rows) > MOST_ROWS:
        raise InvalidInput("That is too many: at most %(most)s.", field=name, most=MOST_ROWS)
    for row in rows:
        for language in ("en", "es"):
            _check_length(row[language], name, LONGEST_TEXT)
            _check_length(row.get(f"note_{language}", ""), name, LONGEST_NAME)


def _check_allergens(codes: list[str] | None, known: set[str]) -> list[str] | None:
    """The codes in the order in which they are listed everywhere, or None."""
    if codes is None:
        return None
    if set(codes) - set(ALLERGENS) - known:
        raise InvalidInput("There is no such allergen. Choose from the list.", field="allergens")
    order = [*ALLERGENS, *sorted(known - set(ALLERGENS))]
    return sorted(set(codes), key=order.index)


def _check_length(value: str, field: str, longest: int) -> None:
    if len(value) > longest:
        raise InvalidInput(
            "That is too long: at most %(longest)s characters.", field=field, longest=f"{longest:,}"
        )


def _free_slug(session: ScopedSession, kind: str, name: str) -> str:
    base = slugify(name)[: SLUG_LENGTH - 5]
    taken = set(
        session.scalars(
            select(Product.slug).where(
                Product.group_id == session.scope.group_id,
                Product.kind == kind,
                Product.slug.startswith(base, autoescape=True),
            )
        )
    )
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (base, *numbered) if slug not in taken)


def list_hidden_products(session: ScopedSession, page: int = 1) -> tuple[list[Product], bool]:
    """Products that are not on the menu now, the last changed first; True when there are more."""
    query = (
        select(Product)
        .where(Product.group_id == session.scope.group_id, ~Product.is_active)
        .order_by(Product.updated_at.desc(), Product.id)
        .options(*WITHOUT_TEXTS)
    )
    rows = list(session.scalars(query.offset((page - 1) * PAGE).limit(PAGE + 1)))
    return rows[:PAGE], len(rows) > PAGE
