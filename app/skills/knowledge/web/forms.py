"""What the forms of sections and products hold, and how it becomes what is saved.

A form keeps what was typed as it was typed, so that it can be shown again beside what is
wrong with it; only then is it made into a draft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from flask_babel import lazy_gettext as _
from werkzeug.datastructures import MultiDict

from app.config import LANGUAGES
from app.db import JsonList
from app.errors import InvalidInput
from app.fields.numbers import is_between_two, parse_number
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.categories import Codes
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
_TIMED = ("recipes",)
# What the form has of an ingredient and of a step besides their words, by its name there.
_OF_INGREDIENT = {
    "quantity": "quantity", "unit": "unit", "note_en": "note_en", "note_es": "note_es",
}  # fmt: skip
_OF_STEP = {"minutes": "timer_minutes", "temperature": "temperature_f"}
MOST_AMOUNT = 100_000
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
    """An ingredient or step as it is typed; what is not asked for is None."""

    en: str = ""
    es: str = ""
    quantity: str | None = None
    unit: str | None = None
    note_en: str | None = None
    note_es: str | None = None
    minutes: str | None = None
    temperature: str | None = None


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
    has_timings: bool = False

    def with_spare_rows(self, more: int = SPARE_ROWS) -> ProductForm:
        """The form with empty rows at the end of each list."""
        ingredient = _row_of({}, _OF_INGREDIENT if self.has_amounts else {})
        step = _row_of({}, _OF_STEP if self.has_timings else {})
        return replace(
            self,
            tags=[*self.tags, *[""] * more],
            ingredients=[*self.ingredients, *[ingredient] * more],
            steps=[*self.steps, *[step] * more],
        )


def empty_form(kind: str) -> ProductForm:
    """Nothing is declared of what is new: somebody has to say so."""
    return ProductForm(
        kind,
        dict.fromkeys(_TEXTS, ""),
        has_amounts=kind in _MEASURED,
        has_timings=kind in _TIMED,
    )


def form_of(product: Product, language: str) -> ProductForm:
    """The form of a product as it is, its category and tags in the editor's language."""
    texts = {name: getattr(product, name) for name in _TEXTS if name not in ("category", "price")}
    texts["category"] = category_name(product.category, language)
    texts["price"] = "" if product.price is None else f"{product.price:.2f}"
    has_amounts = product.kind in _MEASURED or _have_any(product.ingredients, _OF_INGREDIENT)
    has_timings = product.kind in _TIMED or _have_any(product.steps, _OF_STEP)
    state = "unknown" if product.allergens is None else "list" if product.allergens else "none"
    return ProductForm(
        product.kind,
        texts,
        state,
        list(product.allergens or ()),
        [category_name(tag, language) for tag in product.tags],
        [_row_of(item, _OF_INGREDIENT if has_amounts else {}) for item in product.ingredients],
        [_row_of(item, _OF_STEP if has_timings else {}) for item in product.steps],
        product.is_active,
        has_amounts,
        has_timings,
    )


def _have_any(items: JsonList, details: Mapping[str, str]) -> bool:
    return any(item.get(name) for item in items for name in details.values())


def _row_of(item: dict[str, Any], details: Mapping[str, str]) -> Row:
    """A row with these details, each by its name in the form; an empty item is an empty row."""
    written = {
        each: "" if item.get("borrowed") == each else item.get(each, "") for each in LANGUAGES
    }
    return Row(**written, **{name: _typed(item.get(key)) for name, key in details.items()})


def _typed(value: str | float | None) -> str:
    """A detail as it is typed: with all the figures that it has."""
    return value if isinstance(value, str) else f"{value:.15g}" if value else ""


def read_product(form: Form, kind: str) -> ProductForm:
    """The form as it was sent."""
    has_amounts, has_timings = "ingredient_quantity" in form, "step_minutes" in form
    return ProductForm(
        kind,
        {name: _read_text(name, form.get(name, "")) for name in _TEXTS},
        form.get("declaration", ""),
        list(dict.fromkeys(form.getlist("allergens")))[:MOST_TYPED],
        [tag for each in form.getlist("tag")[:MOST_TYPED] if (tag := clean_line(each))],
        _rows(form, "ingredient", _OF_INGREDIENT if has_amounts else {}),
        _rows(form, "step", _OF_STEP if has_timings else {}),
        "is_active" in form,
        has_amounts,
        has_timings,
    )


def _read_text(name: str, typed: str) -> str:
    """A name, a category and a price stand on one line; what is written of a product need not."""
    is_line = name.startswith("name_") or name in ("category", "price")
    return clean_line(typed) if is_line else clean_lines(typed).strip()


def _rows(form: Form, name: str, details: Iterable[str]) -> list[Row]:
    names = (*LANGUAGES, *details)
    columns = (form.getlist(f"{name}_{each}")[:MOST_TYPED] for each in names)
    rows = []
    for cells in zip_longest(*columns, fillvalue=""):
        typed = dict(zip(names, cells, strict=True))
        texts = {each: clean_lines(typed.pop(each)).strip() for each in LANGUAGES}
        if any(texts.values()) or any(typed.values()):
            rows.append(Row(**texts, **{each: clean_line(text) for each, text in typed.items()}))
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
    codes_of_tags = Codes([*own_tags, *tags])
    return ProductDraft(
        **texts,
        category=Codes([*own_category, *categories]).code_for(form.texts["category"]),
        price=parse_price(form.texts["price"]),
        allergens=read_declaration(form.declaration, form.allergens),
        ingredients=[_ingredient(_named(row, "ingredients")) for row in form.ingredients],
        steps=[_step(_named(row, "steps")) for row in form.steps],
        tags=[codes_of_tags.code_for(tag) for tag in form.tags],
        is_active=form.is_active,
    )


def read_declaration(declaration: str, codes: Sequence[str]) -> list[str] | None:
    """The allergens that a form declares: some, none (an empty list), or not known (None).

    Raises:
        InvalidInput: it does not say which of the three, or it says two things at once.
    """
    if declaration not in DECLARATIONS:
        raise InvalidInput("Choose one of the three options.", field="allergens")
    if declaration == "list" and not codes:
        raise InvalidInput("Select what it has, or say that it has none.", field="allergens")
    if declaration != "list" and codes:
        raise InvalidInput(
            "Some allergens are checked: say that it has these, or uncheck them.", field="allergens"
        )
    return None if declaration == "unknown" else list(codes)


def _named(row: Row, field_: str) -> Row:
    """The row; what nobody has said what it is of is not dropped, nor kept."""
    if not (row.en or row.es):
        raise InvalidInput(
            "A row has an amount or a note but does not say what it is for.", field=field_
        )
    return row


def _ingredient(row: Row) -> dict[str, Any]:
    """An ingredient as it is stored: of the form alone, which shows all that there is of it."""
    quantity = _read_number(row.quantity, "ingredients", "Write an amount like 250 or 2.5.")
    details = {
        "quantity": quantity, "unit": row.unit, "note_en": row.note_en, "note_es": row.note_es,
    }  # fmt: skip
    return _texts_of(row) | {name: value for name, value in details.items() if value}


def _step(row: Row) -> dict[str, Any]:
    told = "Write minutes and degrees as numbers, like 25 or 350."
    read = {key: _read_number(getattr(row, name), "steps", told) for name, key in _OF_STEP.items()}
    return _texts_of(row) | {key: value for key, value in read.items() if value}


def _texts_of(row: Row) -> dict[str, Any]:
    """A word that is written once serves in both languages, until somebody writes the other."""
    texts = {"en": row.en or row.es, "es": row.es or row.en}
    return texts if row.en and row.es else {**texts, "borrowed": "es" if row.en else "en"}


def _read_number(typed: str | None, field_: str, told: str) -> float | None:
    """A number above zero, whole where it can be; None where none is typed."""
    if not typed:
        return None
    number = parse_number(typed)
    if number is None or not 0 < number <= MOST_AMOUNT or is_between_two(typed):
        raise InvalidInput(told, field=field_)
    return int(number) if number == int(number) else float(number)


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
    notes = (row.note_en, row.note_es, row.minutes, row.temperature)
    return " · ".join(part for part in (amount, row.en, row.es, *notes) if part)
