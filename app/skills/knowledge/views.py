"""The library's pages: the manual, the menus, and the passages that answers cite."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from markupsafe import Markup

from app.accounts.models import Group
from app.errors import NotFound
from app.markdown import render_house_text
from app.retrieval.models import SearchDocument
from app.skills.knowledge.library import (
    OutlineEntry,
    list_products,
    load_contents,
    load_passage,
    load_product,
    load_section,
)
from app.skills.knowledge.models import PRODUCT_KINDS, ManualSection
from app.skills.knowledge.passages import mark_passage
from app.skills.knowledge.present import view_product
from app.skills.knowledge.reader import own_allergens, reader_language, teach_templates
from app.skills.knowledge.vocabulary import category_name, kind_name
from app.web import db_session, require_role

blueprint = Blueprint("knowledge", __name__, url_prefix="/library")
teach_templates(blueprint)


@blueprint.before_request
def signed_in_only() -> None:
    require_role()


@blueprint.get("/")
def index() -> ResponseReturnValue:
    """The manual's contents and the menus."""
    session, language = db_session(), reader_language()
    menus = [
        (kind, kind_name(kind, language), [_menu_line(p, language) for p in products])
        for kind, products in list_products(session).items()
        if products
    ]
    chapters = [_outline_view(entry, language) for entry in load_contents(session).outline()]
    return render_template("library/index.html", chapters=chapters, menus=menus)


@blueprint.get("/manual/<slug>")
def section(slug: str) -> ResponseReturnValue:
    """One section of the manual, with the cited passage marked when there is one."""
    session, language = db_session(), reader_language()
    found = load_section(session, slug)
    contents = load_contents(session)
    cited = _cited_passage(found)
    shown = cited.language if cited is not None and cited.language != "mul" else language
    before, after = contents.neighbours(found)
    return render_template(
        "library/section.html",
        section=_section_view(found, cited, shown),
        breadcrumbs=[_link(above, language) for above in contents.ancestors(found)],
        previous=_link(before, language) if before else None,
        next=_link(after, language) if after else None,
        children=[_link(child, language) for child in contents.children(found)],
        language_note=_language_note(found, shown),
    )


@blueprint.get("/<kind>/<slug>")
def product(kind: str, slug: str) -> ResponseReturnValue:
    """One dish, wine, cocktail, recipe, beer or spirit."""
    if kind not in PRODUCT_KINDS:
        raise NotFound("This page does not exist, or it is not yours to see.")
    session, language = db_session(), reader_language()
    found = load_product(session, kind, slug)
    group = session.get_one(Group, session.scope.group_id)
    view = view_product(found, language, group.currency, own_allergens())
    return render_template("library/product.html", product=view)


@blueprint.get("/passages/<uuid:document_id>")
def passage(document_id: UUID) -> ResponseReturnValue:
    """The passage behind a citation: a sheet beside the chat, or a page of its own."""
    language = reader_language()
    document = load_passage(db_session(), document_id)
    is_section = document.details["entity"] == "section"
    context = {
        "title": document.title if is_section else document.title.split(" / ")[_place(language)],
        "path": _path(document, language),
        "context": document.source_type,
        "html": render_house_text(document.text) if is_section else _product_quote(document),
        "url": _document_url(document),
        "language": document.language,
    }
    fragment = request.htmx.wants_fragment  # type: ignore[attr-defined]
    template = "library/_passage.html" if fragment else "library/passage.html"
    return render_template(template, passage=context)


def _place(language: str) -> int:
    return -1 if language == "es" else 0


def _path(document: SearchDocument, language: str) -> list[str]:
    if document.details["entity"] == "section":
        return list(document.details.get("path", []))[:-1]
    category = category_name(document.details.get("category", ""), language)
    return [kind_name(document.source_type, language), *([category] if category else [])]


def _product_quote(document: SearchDocument) -> Markup:
    """A product's own words, in the reader's language."""
    found = load_product(db_session(), document.source_type, document.details["slug"])
    language = reader_language()
    notes = [found.description(language), found.pairing_notes(language)]
    return render_house_text("\n\n".join(note for note in notes if note))


def _document_url(document: SearchDocument) -> str:
    if document.details["entity"] == "section":
        return url_for(
            "knowledge.section",
            slug=document.details["slug"],
            passage=str(document.id),
            _anchor="passage",
        )
    return url_for("knowledge.product", kind=document.source_type, slug=document.details["slug"])


def _cited_passage(found: ManualSection) -> SearchDocument | None:
    """The passage that the address names, if it is one of this section."""
    try:
        document_id = UUID(request.args.get("passage", ""))
        document = load_passage(db_session(), document_id)
    except (ValueError, NotFound):
        return None
    return document if document.source_id == found.id else None


def _section_view(
    found: ManualSection, cited: SearchDocument | None, language: str
) -> dict[str, Any]:
    body = found.body(language)
    if cited is None:
        html = render_house_text(body)
    else:
        html = mark_passage(body, cited.details["start"], cited.details["end"])
    return {
        "title": found.title(language),
        "html": html,
        "kind": found.kind,
        "slug": found.slug,
        "language": language,
        "updated_at": found.updated_at,
    }


def _language_note(found: ManualSection, language: str) -> str:
    """Says so when the text is not in the language that the reader asked for."""
    own = found.body_es if language == "es" else found.body_en
    other = found.body_en if language == "es" else found.body_es
    if own.strip() or not other.strip():
        return ""
    if language == "es":
        return _("This section exists in English only.")
    return _("This section exists in Spanish only.")


def _link(found: ManualSection, language: str) -> dict[str, str]:
    address = url_for("knowledge.section", slug=found.slug)
    return {"title": found.title(language), "url": address}


def _outline_view(entry: OutlineEntry, language: str) -> dict[str, Any]:
    children = [_outline_view(child, language) for child in entry.children]
    return {**_link(entry.section, language), "children": children}


def _menu_line(found: Any, language: str) -> dict[str, str]:
    return {
        "name": found.name(language),
        "category": category_name(found.category, language),
        "url": url_for("knowledge.product", kind=found.kind, slug=found.slug),
    }
