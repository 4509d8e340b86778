"""The library's pages: the manual's tree and sections, products, and the search over all of it.

The addresses of the other pages (menus, versions, passages) stand in the table at the end.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.models import Group
from app.errors import NotFound
from app.extensions import limit_searches
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import PRODUCT_KINDS, ManualSection
from app.skills.knowledge.services import name_search
from app.skills.knowledge.services.anchors import anchor_blocks
from app.skills.knowledge.services.display import view_product
from app.skills.knowledge.services.library import (
    count_products,
    find_renamed,
    load_passage,
    load_product,
    load_section,
)
from app.skills.knowledge.services.manual_tree import Branch, find_place, list_branch
from app.skills.knowledge.services.versions import last_author
from app.skills.knowledge.services.vocabulary import category_name, kind_name
from app.skills.knowledge.web import menu_views, passage_views, version_views
from app.skills.knowledge.web.editors import may_edit
from app.skills.knowledge.web.passages import mark_passage
from app.skills.knowledge.web.reader import own_allergens, teach_templates
from app.text.bilingual import reader_language
from app.text.markdown import render_house_text
from app.web.pages import db_session, require_role, wants_fragment

blueprint = Blueprint("knowledge", __name__, url_prefix="/library")
teach_templates(blueprint)


@blueprint.before_request
def signed_in_only() -> None:
    require_role()


@blueprint.get("/")
def index() -> ResponseReturnValue:
    """The manual's chapters and the menus, with the field to search both."""
    return _index("")


@blueprint.get("/search")
@limit_searches
def search() -> ResponseReturnValue:
    """What was found for the words typed so far; the results alone when htmx asks."""
    query = request.args.get("q", "")
    if not wants_fragment():
        return _index(query)
    return render_template("library/_results.html", **_found(query))


def _index(query: str) -> ResponseReturnValue:
    session, language = db_session(), reader_language()
    menus = [
        (kind, kind_name(kind, language), count) for kind, count in count_products(session).items()
    ]
    return render_template(
        "library/index.html",
        branch=_branch_view(list_branch(session, None, _first())),
        menus=menus,
        **_found(query),
    )


def _found(query: str) -> dict[str, Any]:
    return {
        "query": query,
        "found": name_search.find_in_library(db_session(), query, reader_language()),
        "excerpt": name_search.excerpt,
        "mark_hits": name_search.mark_hits,
        "language": reader_language(),
    }


@blueprint.get("/manual/<slug>/below")
def below(slug: str) -> ResponseReturnValue:
    """What stands right under a section, for the tree that is opened branch by branch."""
    section = load_section(db_session(), slug)
    if not wants_fragment():
        return redirect(url_for("knowledge.section", slug=slug))
    branch = _branch_view(list_branch(db_session(), section.id, _first()))
    return render_template("library/_branch.html", branch=branch, parent=_link(section))


@blueprint.get("/manual/<slug>")
def section(slug: str) -> ResponseReturnValue:
    """One section of the manual, with the cited passage marked when there is one."""
    session, language = db_session(), reader_language()
    try:
        found = load_section(session, slug)
    except NotFound:
        now = find_renamed(session, slug).slug
        passage, asked = request.args.get("passage"), request.args.get("lang")
        return redirect(url_for("knowledge.section", slug=now, passage=passage, lang=asked))
    cited = _cited_passage(found)
    shown = cited.language if cited is not None and cited.language != "mul" else language
    place = find_place(session, found, _first())
    is_editor = may_edit()
    return render_template(
        "library/section.html",
        section=_section_view(found, cited, shown),
        breadcrumbs=[_link(above) for above in place.above],
        previous=_link(place.before) if place.before else None,
        next=_link(place.after) if place.after else None,
        branch=_branch_view(place.below),
        language_note=_language_note(found, shown),
        is_editor=is_editor,
        author=last_author(session, found) if is_editor else None,
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
    return render_template(
        "library/product.html", product=view, menu=kind_name(kind, language), slug=slug
    )


def _first() -> int:
    """Where in a long branch the reader wants to go on."""
    asked = request.args.get("first", "")
    return int(asked) if asked.isdecimal() and len(asked) < 7 else 0


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
    anchored = anchor_blocks(html, _("Link to this place"))
    return {
        "title": found.title(language),
        "html": anchored.html,
        "headings": anchored.headings if anchored.is_long else (),
        "kind": found.kind,
        "slug": found.slug,
        "language": language,
        "updated_at": found.updated_at,
        "version": found.version,
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


def _link(found: Any) -> dict[str, str]:
    address = url_for("knowledge.section", slug=found.slug)
    return {"slug": found.slug, "title": found.title(reader_language()), "url": address}


def _branch_view(branch: Branch) -> dict[str, Any]:
    """The links of a branch; `later` and `earlier` are where the rest of a long one begins."""
    return {
        "links": [{**_link(link), "below": link.below} for link in branch.links],
        "earlier": max(branch.first - branch.size, 0) if branch.first else None,
        "later": branch.first + branch.size if branch.more else None,
    }


# The pages of the other modules, as a table of addresses.
blueprint.add_app_template_filter(
    lambda category: category_name(category, reader_language()), "category_name"
)
for _rule, _endpoint, _view, _method in (
    ("/passages/<uuid:document_id>", "passage", passage_views.passage, "GET"),
    ("/<any(dishes,wines,cocktails,recipes,beer_liquor):kind>", "menu", menu_views.menu, "GET"),
    ("/manual/<slug>/versions", "versions", version_views.versions, "GET"),
    (
        "/manual/<slug>/versions/<int(max=2147483647):number>",
        "version",
        version_views.version,
        "GET",
    ),
    (
        "/manual/<slug>/versions/<int(max=2147483647):number>/restore",
        "restore",
        version_views.restore,
        "POST",
    ),
):
    blueprint.add_url_rule(_rule, _endpoint, _view, methods=[_method])
