"""The library's pages: the manual's tree and sections, products, and the search over all of it.

Those who edit it see the older versions of a section, too: to read, to compare, to bring back. The
addresses of the other pages (menus, passages) stand in the table at the end.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.models import Group
from app.errors import Conflict, InvalidInput, NotFound
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import PRODUCT_KINDS, ManualSection
from app.skills.knowledge.services import name_search
from app.skills.knowledge.services.display import view_product
from app.skills.knowledge.services.library import (
    count_products,
    find_renamed,
    load_passage,
    load_product,
    load_section,
)
from app.skills.knowledge.services.manual_tree import find_place, list_branch
from app.skills.knowledge.services.versions import (
    compare_with_now,
    find_version,
    last_author,
    list_versions,
    load_for_editor,
    load_version,
    restore_version,
)
from app.skills.knowledge.services.vocabulary import category_name, kind_name
from app.skills.knowledge.web import menu_views, passage_views
from app.skills.knowledge.web.editors import EDITORS, may_edit, told
from app.skills.knowledge.web.library_reader import own_allergens, teach_templates
from app.skills.knowledge.web.presenters import (
    language_note,
    link_to,
    view_branch,
    view_edited_section,
    view_section,
)
from app.text.bilingual import reader_language
from app.web.pages import db_session, page_number, require_role, wants_fragment
from app.web.rate_limits import limit_building, limit_searches

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
        branch=view_branch(list_branch(session, None, _first())),
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
    branch = view_branch(list_branch(db_session(), section.id, _first()))
    return render_template("library/_branch.html", branch=branch, parent=link_to(section))


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
        section=view_section(found, cited, shown),
        breadcrumbs=[link_to(above) for above in place.above],
        previous=link_to(place.before) if place.before else None,
        next=link_to(place.after) if place.after else None,
        branch=view_branch(place.below),
        language_note=language_note(found, shown),
        is_editor=is_editor,
        author=last_author(session, found) if is_editor else None,
    )


@blueprint.get("/<kind>/<slug>")
def product(kind: str, slug: str) -> ResponseReturnValue:
    """One dish, wine, cocktail, recipe, beer or spirit."""
    if kind not in PRODUCT_KINDS:
        raise NotFound("This page does not exist, or you don't have access to it.")
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


@blueprint.get("/manual/<slug>/versions")
def versions(slug: str) -> ResponseReturnValue:
    """A page of the versions of a section, the latest first."""
    require_role(*EDITORS)
    session, page = db_session(), page_number()
    section = load_for_editor(session, slug)
    versions, has_more = list_versions(session, section, page)
    return render_template(
        "library/versions.html",
        section=view_edited_section(section),
        versions=versions,
        newer=url_for("knowledge.versions", slug=slug, page=page - 1) if page > 1 else "",
        older=url_for("knowledge.versions", slug=slug, page=page + 1) if has_more else "",
    )


@blueprint.get("/manual/<slug>/versions/<int(max=2147483647):number>")
def version(slug: str, number: int) -> ResponseReturnValue:
    """What has changed since one version, and the way back to it."""
    require_role(*EDITORS)
    return _version_page(slug, number)


@blueprint.post("/manual/<slug>/versions/<int(max=2147483647):number>/restore")
@limit_building
def restore(slug: str, number: int) -> ResponseReturnValue:
    """Bring a version back, unless the section has changed since it was looked at."""
    require_role(*EDITORS)
    seen = request.form.get("version", "")
    try:
        version_seen = int(seen) if seen.isdecimal() and len(seen) < 10 else 0
        section = restore_version(db_session(), slug, number, version_seen)
    except (Conflict, InvalidInput) as error:
        db_session().rollback()
        return _version_page(slug, number, told(error).popitem()[1]), error.status
    flash(_("The section is back to what it said in version %(number)s.", number=number))
    if not section.is_published:
        return redirect(url_for("knowledge.versions", slug=slug), HTTPStatus.SEE_OTHER)
    return redirect(url_for("knowledge.section", slug=section.slug), HTTPStatus.SEE_OTHER)


def _version_page(slug: str, number: int, problem: str = "") -> str:
    session = db_session()
    section = load_for_editor(session, slug)
    difference = compare_with_now(section, load_version(session, section, number))
    return render_template(
        "library/version.html",
        section=view_edited_section(section),
        version=find_version(session, section, number),
        difference=difference,
        fields={
            "title_en": _("Title in English"),
            "title_es": _("Title in Spanish"),
            "body_en": _("Text in English"),
            "body_es": _("Text in Spanish"),
        },
        problem=problem,
    )


# The pages of the other modules, as a table of addresses.
blueprint.add_app_template_filter(
    lambda category: category_name(category, reader_language()), "category_name"
)
for _rule, _endpoint, _view in (
    ("/passages/<uuid:document_id>", "passage", passage_views.passage),
    ("/<any(dishes,wines,cocktails,recipes,beer_liquor):kind>", "menu", menu_views.menu),
):
    blueprint.add_url_rule(_rule, _endpoint, _view)
