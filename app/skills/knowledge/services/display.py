"""Sections and products in the reader's language: for the model, the cards and the pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from babel.numbers import format_currency
from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.tools.parts import Citation, Suggestion
from app.retrieval.search import Hit
from app.skills.knowledge.models import Product
from app.skills.knowledge.parts import ProductCardPart
from app.skills.knowledge.services.vocabulary import category_name, fact_pairs
from app.text.allergens import allergen_name
from app.text.numbers import NUMBER_LOCALES
from app.web.links import Link

# What a card's chips ask; each needs its prompt row action-<kind>-<action>.
ACTIONS: dict[str, tuple[str, ...]] = {
    "dishes": ("pairing", "allergens"),
    "wines": ("pairing",),
    "cocktails": ("steps", "allergens"),
    "recipes": ("steps", "allergens"),
    "beer_liquor": ("pairing",),
}
# What was given to the model fits: a passage, or a section of four hundred words.
QUOTE_LENGTH = 4000
# What a card has room for; the page shows all.
CARD_FACTS: dict[str, tuple[str, ...]] = {
    "dishes": ("cut", "weight_oz", "default_doneness", "spice_level"),
    "wines": ("grape", "region", "body", "glass_price"),
    "cocktails": ("base_spirit", "glass", "method", "garnish"),
    "recipes": ("total_time_minutes", "servings", "difficulty", "cuisine"),
    "beer_liquor": ("style", "abv", "format", "serve_oz"),
}


def product_citation(product: Product, hit: Hit, language: str, currency: str) -> Citation:
    return Citation(
        context=product.kind,
        document_id=hit.document_id,
        source_id=product.id,
        title=product.name(language),
        path=[category_name(product.category, language)] if product.category else [],
        url=product_link(product, language),
        quote=product_quote(product, language, currency)[:QUOTE_LENGTH],
        language=language,
    )


def passage_citation(hit: Hit, given: str) -> Citation:
    """The citation of a passage; `given` is what of its section the model was given."""
    return Citation(
        context=hit.source_type,
        document_id=hit.document_id,
        source_id=hit.source_id,
        title=hit.title,
        path=list(hit.details.get("path", []))[:-1],
        url=Link.to("knowledge.section", slug=hit.details["slug"], passage=hit.document_id),
        quote=given[:QUOTE_LENGTH],
        language=hit.language,
    )


def product_link(product: Product, language: str) -> Link:
    """The product's page in the language that it was spoken of in."""
    return Link.to("knowledge.product", kind=product.kind, slug=product.slug, lang=language)


def price_text(price: Decimal | None, currency: str, language: str) -> str | None:
    """The price as menus here write it: $50.00, in Spanish too."""
    return (
        None if price is None else format_currency(price, currency, locale=NUMBER_LOCALES[language])
    )


def product_record(product: Product, language: str, currency: str) -> dict[str, Any]:
    """The whole record in one language, as the model reads it and the page shows it."""
    return {
        "name": product.name(language),
        "category": category_name(product.category, language),
        "description": product.description(language),
        "price": price_text(product.price, currency, language),
        "allergens": _allergen_names(product, language),
        "ingredients": [ingredient_text(item, language) for item in product.ingredients],
        "pairing": product.pairing_notes(language),
        "tags": [category_name(tag, language) for tag in product.tags],
        "facts": fact_pairs(product.facts, language),
        "steps": [step[language] for step in product.steps],
    }


def product_quote(product: Product, language: str, currency: str) -> str:
    """What a product's record says, as a citation keeps it: prose first, then what may matter."""
    record = product_record(product, language, currency)
    with force_locale(language):
        facts = {
            _("Price"): record["price"] or "",
            _("Allergens"): _allergens_in_words(record["allergens"]),
            _("Ingredients"): ", ".join(record["ingredients"]),
            _("Goes with"): record["pairing"],
        }
    lines = [f"{label}: {value}" for label, value in facts.items() if value]
    return "\n\n".join(line for line in [record["description"], *lines] if line)


def _allergens_in_words(names: list[str] | None) -> str:
    if names is None:
        return _("not declared")
    return ", ".join(names) or _("none of those listed")


def _allergen_names(product: Product, language: str) -> list[str] | None:
    if product.allergens is None:
        return None
    return [allergen_name(code, language) for code in product.allergens]


def ingredient_text(item: dict[str, Any], language: str) -> str:
    """An ingredient in a line: quantity, unit, name and note, as far as they are known."""
    quantity = item.get("quantity")
    amount = "" if quantity is None else f"{quantity:g}" if quantity else ""
    words = [amount, _unit(item.get("unit"), quantity), item[language]]
    line = " ".join(word for word in words if word)
    note = item.get(f"note_{language}")
    return f"{line}, {note}" if note else line


def _unit(unit: str | None, quantity: float | None) -> str:
    """The unit's word; a piece is said by the number alone."""
    if not unit or unit == "piece":
        return ""
    words = {
        "g": "g",
        "ml": "ml",
        "tbsp": _("tbsp"),
        "tsp": _("tsp"),
        "cup": _("cups") if (quantity or 0) > 1 else _("cup"),
        "clove": _("cloves of") if (quantity or 0) > 1 else _("clove of"),
        "pinch": _("pinch of"),
    }
    return words.get(unit, unit)


def product_card(
    product: Product, language: str, currency: str, own: Mapping[str, str] = MappingProxyType({})
) -> ProductCardPart:
    """The card of a product; `own` are the group's own actions with what their buttons say."""
    record = product_record(product, language, currency)
    shown = {key: product.facts[key] for key in CARD_FACTS[product.kind] if key in product.facts}
    return ProductCardPart(
        kind=product.kind,
        slug=product.slug,
        name=record["name"],
        description=record["description"],
        category=record["category"],
        price=record["price"],
        allergens=product.allergens,
        facts=list(fact_pairs(shown, language).items()),
        url=product_link(product, language),
        chips=[
            *(_chip(product, action, record["name"]) for action in ACTIONS[product.kind]),
            *(
                Suggestion(
                    label=label,
                    message=f"{label}: {record['name']}",
                    domain=product.kind,
                    action=action,
                )
                for action, label in own.items()
            ),
        ],
    )


def _chip(product: Product, action: str, name: str) -> Suggestion:
    asks = {
        "pairing": (_("What goes with it?"), _("What goes with %(name)s?", name=name)),
        "allergens": (_("Allergens"), _("Which allergens are in %(name)s?", name=name)),
        "steps": (_("How is it made?"), _("How is %(name)s made?", name=name)),
    }
    label, message = asks[action]
    return Suggestion(label=label, message=message, domain=product.kind, action=action)


@dataclass(frozen=True)
class ProductView:
    """A product's page: its record, and what in it concerns this reader."""

    kind: str
    name: str
    description: str
    category: str
    price: str | None
    allergens: list[str] | None  # codes; None when nobody has declared them
    ingredients: list[str]
    steps: list[str]
    tags: list[str]
    pairing_notes: str
    facts: list[tuple[str, str]]
    warnings: list[str]  # codes


def view_product(
    product: Product, language: str, currency: str, avoided: Collection[str]
) -> ProductView:
    """Draw a product; `avoided` are the allergen codes of the reader's profile."""
    record = product_record(product, language, currency)
    return ProductView(
        kind=product.kind,
        name=record["name"],
        description=record["description"],
        category=record["category"],
        price=record["price"],
        allergens=product.allergens,
        ingredients=record["ingredients"],
        steps=record["steps"],
        tags=record["tags"],
        pairing_notes=record["pairing"],
        facts=list(record["facts"].items()),
        warnings=[code for code in product.allergens or () if code in avoided],
    )
