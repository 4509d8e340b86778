"""The menus' pages: everything of one kind, and what narrows it down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.models import Group
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.display import price_text
from app.skills.knowledge.services.menus import MenuFilter, list_choices, list_menu, read_filter
from app.skills.knowledge.services.vocabulary import category_name, kind_name
from app.skills.knowledge.web.library_reader import own_allergens
from app.text.allergens import ALLERGENS, allergen_name
from app.text.bilingual import reader_language
from app.web.pages import db_session, page_number, wants_fragment
from app.web.rate_limits import limit_searches


@limit_searches
def menu(kind: str) -> ResponseReturnValue:
    """The products of a kind that fit the filters; the list alone when htmx asks."""
    session, language = db_session(), reader_language()
    wanted = read_filter(kind, request.args.to_dict(flat=False))
    wanted = replace(wanted, page=page_number())
    found = list_menu(session, wanted)
    currency = session.get_one(Group, session.scope.group_id).currency
    fragment = wants_fragment()
    return render_template(
        "library/_menu.html" if fragment else "library/menu.html",
        kind=kind,
        title=kind_name(kind, language),
        wanted=wanted,
        count=found.count,
        products=[_line(product, currency) for product in found.products],
        undeclared=[_line(product, currency) for product in found.undeclared],
        undeclared_more=found.undeclared_count - len(found.undeclared),
        chips=_chips(wanted),
        avoided=[allergen_name(code, language) for code in wanted.avoided],
        earlier=_address(wanted, page=wanted.page - 1) if wanted.page > 1 else "",
        later=_address(wanted, page=wanted.page + 1) if found.more else "",
        **({} if fragment else _choices(kind)),
    )


def _line(product: Product, currency: str) -> dict[str, Any]:
    language = reader_language()
    return {
        "name": product.name(language),
        "category": category_name(product.category, language),
        "price": price_text(product.price, currency, language),
        "allergens": product.allergens,
        "warnings": [code for code in product.allergens or () if code in own_allergens()],
        "url": url_for("knowledge.product", kind=product.kind, slug=product.slug),
    }


def _choices(kind: str) -> dict[str, Any]:
    """What the form offers, in the reader's language and its order."""
    language = reader_language()
    there = list_choices(db_session(), kind)

    def named(codes: Any) -> list[tuple[str, str]]:
        return sorted(((code, category_name(code, language)) for code in codes), key=_by_name)

    sorts = {"category": _("By category"), "name": _("By name")}
    if there.has_prices:
        sorts |= {"price": _("Cheapest first"), "price-desc": _("Priciest first")}
    return {
        "categories": [("", _("All")), *named(there.categories)],
        "tags": named(there.tags),
        "allergens": [(code, allergen_name(code, language)) for code in ALLERGENS],
        "sorts": list(sorts.items()),
        "has_prices": there.has_prices,
    }


def _by_name(choice: tuple[str, str]) -> str:
    return choice[1].casefold()


def _chips(wanted: MenuFilter) -> list[dict[str, str]]:
    """What narrows the list, each with the address of the list without it."""
    language = reader_language()
    chips: list[tuple[str, dict[str, Any]]] = []
    if wanted.text:
        chips.append((f"“{wanted.text}”", {"text": ""}))
    if wanted.category:
        chips.append((category_name(wanted.category, language), {"category": ""}))
    for tag in wanted.tags:
        rest = tuple(other for other in wanted.tags if other != tag)
        chips.append((category_name(tag, language), {"tags": rest}))
    for code in wanted.without:
        rest = tuple(other for other in wanted.without if other != code)
        label = _("Without %(allergen)s", allergen=allergen_name(code, language))
        chips.append((label, {"without": rest}))
    if wanted.up_to is not None:
        chips.append((_("Up to %(price)s", price=f"{wanted.up_to:f}"), {"up_to": None}))
    return [{"label": label, "url": _address(wanted, page=1, **less)} for label, less in chips]


def _address(wanted: MenuFilter, **changed: Any) -> str:
    """The address of the list with these changes: only what says something stands in it."""
    to = replace(wanted, **changed)
    fields: dict[str, Any] = {
        "q": to.text or None,
        "category": to.category or None,
        "tag": list(to.tags) or None,
        "without": list(to.without) or None,
        "up_to": f"{to.up_to:f}" if to.up_to is not None else None,
        "sort": to.sort if to.sort != "category" else None,
        "page": to.page if to.page > 1 else None,
    }
    return url_for("knowledge.menu", kind=to.kind, **fields)
