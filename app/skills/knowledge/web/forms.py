"""What the forms of sections and products hold, and how it becomes what is saved.

A form keeps what was typed as it was typed, so that it can be shown again beside what is
wrong with it; only then is it made into a draft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from flask_babel import lazy_gettext as _
from werkzeug.datastructures import MultiDict

from app.config import LANGUAGES
from app.db import JsonList
from app.errors import InvalidInput
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.categories import code_for
from app.skills.knowledge.services.prices import parse_price
from app.skills.knowledge.services.products import MOST_ROWS, ProductDraft
from app.skills.knowledge.services.sections import SectionDraft
from app.skills.knowledge.services.vocabulary import category_name
from app.text.plain_text import clean_line, clean_lines

Form = MultiDict[str, str]

SECTION_KIND_NAMES = {
    "sop": _("Procedure"),
    "policy": _("Policy"),
    "training": _("Training"),
    "recipe": _("Recipe"),
}
# How the three states of a declaration are said in a form.
DECLARATIONS = {
    "list": _("It has these"),
    "none": _("It has none of them"),
    "unknown": _("Not declared"),
}
_TEXTS = (
    "name_en", "name_es", "description_en", "description_es",
    "pairing_notes_en", "pairing_notes_es", "category", "price",
)  # fmt: skip
# These are counted or weighed, so that their ingredients have amounts.
_MEASURED = ("recipes", "cocktails")
SPARE_ROWS = 3
# More of anything is not even drawn; one more than there may be is told as too many.
MOST_TYPED = MOST_ROWS + SPARE_ROWS + 1


def read_section(form: Form) -> SectionDraft:
    """The section that a form describes."""
    bodies = {name: clean_lines(form.get(name, "")).strip() for name in ("body_en", "body_es")}
    lines = ("title_en", "title_es", "kind", "slug")
    texts = bodies | {name: clean_line(form.get(name, "")) for name in lines}
    return SectionDraft(**texts, is_published="is_published" in form)


def section_lines(draft: SectionDraft) -> dict[str, str]:
    """What a draft says, by what it is called, for setting two of them side by side."""
    kinds: Mapping[str, Any] = SECTION_KIND_NAMES
    return {
        str(_("Title in English")): draft.title_en,
        str(_("Title in Spanish")): draft.title_es,
        str(_("Text in English")): draft.body_en,
        str(_("Text in Spanish")): draft.body_es,
        str(_("Kind")): str(kinds.get(draft.kind, draft.kind)),
        str(_("Readers see it")): str(_("Yes") if draft.is_published else _("No")),
        str(_("Address")): draft.slug,
    }


@dataclass(frozen=True)
class Row:
    """An ingredient or step as it is typed; no `quantity` and `unit` where none is asked for."""

    en: str = ""
    es: str = ""
    quantity: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class ProductForm:
    """A product's form: words instead of codes, text instead of numbers."""

    kind: str
    texts: dict[str, str]
    declaration: str = ""
    allergens: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    ingredients: list[Row] = field(default_factory=list)
    steps: list[Row] = field(default_factory=list)
    is_active: bool = True
    has_amounts: bool = False

    def with_spare_rows(self, more: int = SPARE_ROWS) -> ProductForm:
        """The form with empty rows at the end of each list."""
        blank = Row(quantity="", unit="") if self.has_amounts else Row()
        return replace(
            self,
            tags=[*self.tags, *[""] * more],
            ingredients=[*self.ingredients, *[blank] * more],
            steps=[*self.steps, *[Row()] * more],
        )


def empty_form(kind: str) -> ProductForm:
    """Nothing is declared of what is new: somebody has to say so."""
    return ProductForm(kind, dict.fromkeys(_TEXTS, ""), has_amounts=kind in _MEASURED)


def form_of(product: Product, language: str) -> ProductForm:
    """The form of a product as it is, its category and tags in the editor's language."""
    texts = {name: getattr(product, name) for name in _TEXTS if name not in ("category", "price")}
    texts["category"] = category_name(product.category, language)
    texts["price"] = "" if product.price is None else f"{product.price:.2f}"
    has_amounts = product.kind in _MEASURED or any("unit" in row for row in product.ingredients)
    state = "unknown" if product.allergens is None else "list" if product.allergens else "none"
    return ProductForm(
        product.kind,
        texts,
        state,
        list(product.allergens or ()),
        [category_name(tag, language) for tag in product.tags],
        [_row_of(item, has_amounts) for item in product.ingredients],
        [_row_of(item, False) for item in product.steps],
        product.is_active,
        has_amounts,
    )


def _row_of(item: dict[str, Any], has_amounts: bool) -> Row:
    english, spanish = ("" if item.get("borrowed") == each else item[each] for each in LANGUAGES)
    if not has_amounts:
        return Row(english, spanish)
    return Row(english, spanish, _amount(item.get("quantity")), item.get("unit") or "")


def _amount(quantity: float | None) -> str:
    return f"{quantity:g}" if quantity else ""


def read_product(form: Form, kind: str) -> ProductForm:
    """The form as it was sent."""
    quantities = form.getlist("ingredient_quantity")
    return ProductForm(
        kind,
        {name: _read_text(name, form.get(name, "")) for name in _TEXTS},
        form.get("declaration", ""),
        list(dict.fromkeys(form.getlist("allergens")))[:MOST_TYPED],
        [tag for each in form.getlist("tag")[:MOST_TYPED] if (tag := clean_line(each))],
        _rows(form, "ingredient", quantities, form.getlist("ingredient_unit")),
        _rows(form, "step", (), ()),
        "is_active" in form,
        bool(quantities),
    )


def _read_text(name: str, typed: str) -> str:
    """A name, a category and a price stand on one line; what is written of a product need not."""
    is_line = name.startswith("name_") or name in ("category", "price")
    return clean_line(typed) if is_line else clean_lines(typed).strip()


def _rows(form: Form, name: str, quantities: Sequence[str], units: Sequence[str]) -> list[Row]:
    columns = (form.getlist(f"{name}_en"), form.getlist(f"{name}_es"), quantities, units)
    rows = []
    for en, es, quantity, unit in zip_longest(*(column[:MOST_TYPED] for column in columns)):
        row = Row(clean_lines(en or "").strip(), clean_lines(es or "").strip(), quantity, unit)
        if row.en or row.es:
            rows.append(row)
    return rows


def draft_of_product(
    form: ProductForm, product: Product | None, tags: Sequence[str], categories: Sequence[str]
) -> ProductDraft:
    """The product that a form describes; `tags` and `categories` are the codes in use.

    Raises:
        InvalidInput: a price, an amount or the declaration cannot be understood.
    """
    own_tags = product.tags if product else []
    own_category = [product.category] if product and product.category else []
    texts = {name: form.texts[name] for name in _TEXTS if name not in ("category", "price")}
    return ProductDraft(
        **texts,
        category=code_for(form.texts["category"], [*own_category, *categories]),
        price=parse_price(form.texts["price"]),
        allergens=read_declaration(form.declaration, form.allergens),
        ingredients=_items(form.ingredients, product.ingredients if product else []),
        steps=_items(form.steps, product.steps if product else []),
        tags=[code_for(tag, [*own_tags, *tags]) for tag in form.tags],
        is_active=form.is_active,
    )


def read_declaration(declaration: str, codes: Sequence[str]) -> list[str] | None:
    """The allergens that a form declares: some, none (an empty list), or not known (None).

    Raises:
        InvalidInput: it does not say which of the three, or it says two things at once.
    """
    if declaration not in DECLARATIONS:
        raise InvalidInput("Say which of the three it is.", field="allergens")
    if declaration == "list" and not codes:
        raise InvalidInput("Tick what it has, or say that it has none.", field="allergens")
    if declaration != "list" and codes:
        raise InvalidInput(
            "Something is ticked: say that it has these, or take the ticks away.", field="allergens"
        )
    return None if declaration == "unknown" else list(codes)


def _items(rows: Sequence[Row], former: JsonList) -> JsonList:
    """Ingredients or steps as they are stored, with what the form does not show of them."""
    items = []
    for place, row in enumerate(rows):
        item = dict(_former(row, place, len(rows), former))
        # A word that is written once serves in both languages, until somebody writes the other.
        item |= {"en": row.en or row.es, "es": row.es or row.en}
        _set(item, "borrowed", None if row.en and row.es else "es" if row.en else "en")
        if row.quantity is not None:
            _set(item, "quantity", _read_amount(row.quantity, item.get("quantity")))
            _set(item, "unit", clean_line(row.unit or "") or None)
        items.append(item)
    return items


def _former(row: Row, place: int, count: int, former: JsonList) -> dict[str, Any]:
    """What this row was before: what has its name, else what stood in its place."""
    for item in former:
        if item["en"] == row.en or item["es"] == row.es:
            return dict(item)
    return dict(former[place]) if count == len(former) else {}


def _set(item: dict[str, Any], name: str, value: Any) -> None:
    if value is not None:
        item[name] = value
    elif item.get(name):
        del item[name]


def _read_amount(written: str, former: float | None) -> float | None:
    """An amount with a point or a comma; one that nobody touched stays exactly as it was."""
    bare = written.strip().replace(",", ".")
    if not bare:
        return None
    if bare == _amount(former):
        return former
    try:
        amount = float(bare)
    except ValueError:
        amount = -1
    if not 0 < amount <= 100_000:
        raise InvalidInput("Write an amount like 250 or 2.5.", field="ingredients")
    return int(amount) if amount == int(amount) else amount


def product_lines(form: ProductForm) -> dict[str, str]:
    """What a form says, by what it is called, for setting two of them side by side."""
    texts = form.texts
    declared: Mapping[str, Any] = DECLARATIONS
    return {
        str(_("Name in English")): texts["name_en"] or texts["name_es"],
        str(_("Name in Spanish")): texts["name_es"] or texts["name_en"],
        str(_("Description in English")): texts["description_en"],
        str(_("Description in Spanish")): texts["description_es"],
        str(_("Category")): texts["category"],
        str(_("Price")): texts["price"],
        str(_("Allergens")): f"{declared.get(form.declaration, '')}: {', '.join(form.allergens)}",
        str(_("Ingredients")): "\n".join(_line(row) for row in form.ingredients),
        str(_("Steps")): "\n".join(_line(row) for row in form.steps),
        str(_("Tags")): ", ".join(form.tags),
        str(_("Goes with, in English")): texts["pairing_notes_en"],
        str(_("Goes with, in Spanish")): texts["pairing_notes_es"],
        str(_("On the menu")): str(_("Yes") if form.is_active else _("No")),
    }


def _line(row: Row) -> str:
    amount = " ".join(part for part in (row.quantity, row.unit) if part)
    return " · ".join(part for part in (amount, row.en, row.es) if part)
