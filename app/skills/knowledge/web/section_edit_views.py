"""Pages for editing the manual: sections side by side in both languages, and their places."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_babel import ngettext
from flask_login import current_user

from app.db import new_id
from app.errors import ComandaError, Conflict, InvalidInput, NotFound
from app.extensions import services
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.editor_tree import WholeTree, load_whole_tree
from app.skills.knowledge.services.products import list_hidden_products
from app.skills.knowledge.services.reindex import find_search_status, requeue_embedding
from app.skills.knowledge.services.sections import (
    LONGEST_BODY,
    SectionDraft,
    StaleEdit,
    create_section,
    draft_of,
    find_section_id,
    load_section_to_edit,
    move_section,
    move_under,
    save_section,
)
from app.skills.knowledge.services.translations import confirm_same, list_gaps
from app.skills.knowledge.services.withdrawal import (
    MOST_NAMED,
    list_hidden_branches,
    list_shown_below,
    load_hidden_branch,
    restore_section,
    sign_rows,
    withdraw_section,
)
from app.skills.knowledge.web import editors
from app.skills.knowledge.web.forms import (
    SECTION_KIND_NAMES,
    read_section,
    section_lines,
)
from app.text.bilingual import reader_language
from app.text.markdown import preview_library_text
from app.web.issued_ids import own_id
from app.web.pages import db_session, give_back_connection, page_number, wants_fragment
from app.web.rate_limits import limit_building, limit_previews

blueprint = Blueprint("editing", __name__, url_prefix="/library/edit")
editors.init_editing(blueprint)
blueprint.add_app_template_global(editors.may_edit)
blueprint.add_app_template_global(editors.library_upkeep)

# How often the page asks before it leaves asking to the person.
MOST_LOOKS = 40


@blueprint.get("/manual/<slug>")
def by_slug(slug: str) -> ResponseReturnValue:
    """The editor of a section that is known by its address."""
    section_id = find_section_id(db_session(), slug)
    return redirect(url_for(".section", section_id=section_id))


@blueprint.get("/sections/new")
def new_section() -> ResponseReturnValue:
    """An empty section: a chapter, or under the one that the address names."""
    draft = SectionDraft()
    parent_id = request.args.get("parent", "")
    return _new_page(draft, new_id(), parent_id)


@blueprint.post("/sections/new")
@limit_building
def create() -> ResponseReturnValue:
    """Add the section that was typed."""
    draft, parent = read_section(request.form), request.form.get("parent_id", "")
    section_id = editors.typed_id("section_id") or new_id()
    if request.form.get("action") == "preview":
        return _new_page(draft, section_id, parent, unsaved=True)
    try:
        parent_id = editors.typed_id("parent_id")
        made = create_section(db_session(), own_id(section_id), draft, parent_id)
    except (InvalidInput, Conflict) as error:
        db_session().rollback()
        if isinstance(error, Conflict):
            section_id = new_id()
        page = _new_page(draft, section_id, parent, unsaved=True, errors=editors.told(error))
        return page, error.status
    asked = request.args.get("asked")
    address = url_for(".section", section_id=made.id, saved=1, asked=asked)
    return redirect(address, HTTPStatus.SEE_OTHER)


@blueprint.get("/sections/<uuid:section_id>")
def section(section_id: UUID) -> ResponseReturnValue:
    """Both languages of a section side by side, and its place."""
    found = load_section_to_edit(db_session(), section_id)
    return _section_page(found, draft_of(found), found.version)


@blueprint.post("/sections/<uuid:section_id>")
@limit_building
def save(section_id: UUID) -> ResponseReturnValue:
    """Save what was typed; whatever keeps it from being saved, it is shown again."""
    draft, version = read_section(request.form), editors.typed_version()
    if request.form.get("action") == "preview":
        found = load_section_to_edit(db_session(), section_id)
        return _section_page(found, draft, version, unsaved=True)
    try:
        save_section(db_session(), section_id, version, draft)
    except NotFound as error:
        # Nothing that was typed is lost with a section that somebody has removed.
        page = _new_page(draft, new_id(), "", unsaved=True, is_gone=True)
        return page, error.status
    except (InvalidInput, Conflict) as error:
        return _refused(section_id, draft, version, error), error.status
    return redirect(url_for(".section", section_id=section_id, saved=1), HTTPStatus.SEE_OTHER)


def _refused(
    section_id: UUID,
    draft: SectionDraft,
    version: int,
    error: InvalidInput | Conflict,
) -> str:
    """The form once more; after another's change with theirs beside it, to be saved over it."""
    db_session().rollback()
    found = load_section_to_edit(db_session(), section_id)
    if not isinstance(error, StaleEdit):
        return _section_page(found, draft, version, unsaved=True, errors=editors.told(error))
    mine, theirs = section_lines(draft), section_lines(draft_of(found))
    differing = {name: theirs[name] for name in theirs if theirs[name] != mine[name]}
    return _section_page(
        found, draft, found.version, unsaved=True, editor=error.editor, theirs=differing
    )


@blueprint.post("/sections/preview")
@limit_previews
def preview() -> ResponseReturnValue:
    """A body as readers would see it."""
    language = "es" if request.args.get("language") == "es" else "en"
    body = request.form.get(f"body_{language}", "")[:LONGEST_BODY]
    return render_template(
        "library/edit/_preview.html", language=language, html=preview_library_text(body)
    )


@blueprint.post("/sections/<uuid:section_id>/move")
@limit_building
def move(section_id: UUID) -> ResponseReturnValue:
    """One place up or down, or under another section."""
    session, version = db_session(), editors.typed_version()
    try:
        if "direction" in request.form:
            move_section(session, section_id, version, request.form["direction"])
        else:
            move_under(session, section_id, version, editors.typed_id("parent_id"))
    except (InvalidInput, Conflict) as error:
        return _not_moved(section_id, error), error.status
    flash(_("It is in its new place now."))
    return redirect(
        url_for(".section", section_id=section_id, _anchor="place"), HTTPStatus.SEE_OTHER
    )


def _not_moved(section_id: UUID, error: ComandaError) -> str:
    """The section's page with what is wrong said beside its place in the manual."""
    db_session().rollback()
    found = load_section_to_edit(db_session(), section_id)
    told = {"place": editors.told(error).popitem()[1]}
    return _section_page(found, draft_of(found), found.version, errors=told)


@blueprint.get("/sections/<uuid:section_id>/withdraw")
def ask_to_withdraw(section_id: UUID) -> ResponseReturnValue:
    """What would no longer be seen, before anything is done."""
    return _withdraw_page(section_id)


@blueprint.post("/sections/<uuid:section_id>/withdraw")
@limit_building
def withdraw(section_id: UUID) -> ResponseReturnValue:
    """Take it out of readers' sight, with what hangs below it."""
    try:
        signature = request.form.get("signature", "")
        count = withdraw_section(db_session(), section_id, editors.typed_version(), signature)
    except Conflict as error:
        db_session().rollback()
        return _withdraw_page(section_id, editors.told(error)), error.status
    flash(ngettext("%(num)d section is withdrawn.", "%(num)d sections are withdrawn.", count))
    return redirect(url_for(".hidden", just=section_id), HTTPStatus.SEE_OTHER)


@blueprint.get("/sections/<uuid:section_id>/restore")
def ask_to_restore(section_id: UUID) -> ResponseReturnValue:
    """What readers would see again, before anything is done."""
    if load_section_to_edit(db_session(), section_id).is_published:
        return redirect(url_for(".section", section_id=section_id))
    return _restore_page(section_id)


@blueprint.post("/sections/<uuid:section_id>/restore")
@limit_building
def restore(section_id: UUID) -> ResponseReturnValue:
    """Undo: show it again, with what was withdrawn with it."""
    try:
        count = restore_section(db_session(), section_id, request.form.get("signature", ""))
    except Conflict as error:
        db_session().rollback()
        return _restore_page(section_id, editors.told(error)), error.status
    flash(ngettext("Restored: %(num)d section.", "Restored: %(num)d sections.", count))
    return redirect(url_for(".section", section_id=section_id, saved=1), HTTPStatus.SEE_OTHER)


@blueprint.get("/hidden")
def hidden() -> ResponseReturnValue:
    """What readers do not see: withdrawn sections, and what is off the menu."""
    session, page = db_session(), page_number()
    shown = list_hidden_branches(session, page)
    products, more_products = list_hidden_products(session, page)
    tops = {str(branch.top.id): branch for branch in shown.branches}
    return render_template(
        "library/edit/hidden.html",
        branches=shown.branches,
        products=products,
        just=tops.get(request.args.get("just", "")),
        page=page,
        has_more=shown.has_more or more_products,
        language=reader_language(),
    )


@blueprint.get("/translations")
def translations() -> ResponseReturnValue:
    """What lacks one language, or says less in one than in the other."""
    session, page = db_session(), page_number()
    return render_template(
        "library/edit/translations.html",
        missing=list_gaps(session, is_missing=True, page=page),
        outdated=list_gaps(session, is_missing=False, page=page),
        page=page,
        language=reader_language(),
    )


@blueprint.post("/translations/<entity>/<uuid:entity_id>")
@limit_building
def confirm_translation(entity: str, entity_id: UUID) -> ResponseReturnValue:
    """Take it from the list: both languages say the same."""
    confirm_same(db_session(), entity, entity_id, editors.typed_version())
    flash(_("Noted: both languages say the same thing."))
    return redirect(url_for(".translations"), HTTPStatus.SEE_OTHER)


@blueprint.get("/status/<uuid:source_id>")
def status(source_id: UUID) -> ResponseReturnValue:
    """How far the search knows a text; asked again by the page until it is ready."""
    looks = request.args.get("looks", 0, int) + 1
    return render_template("library/edit/_status.html", **status_of(source_id, looks))


@blueprint.post("/status/<uuid:source_id>")
@limit_building
def prepare_again(source_id: UUID) -> ResponseReturnValue:
    """Try once more what failed in the background."""
    status_of(source_id, 1)  # for NotFound
    requeue_embedding(db_session())
    if wants_fragment():
        return render_template("library/edit/_status.html", **status_of(source_id, 1))
    flash(_("It is being tried again."))
    return redirect(url_for(".status_page", source_id=source_id), HTTPStatus.SEE_OTHER)


@blueprint.get("/status/<uuid:source_id>/page")
def status_page(source_id: UUID) -> ResponseReturnValue:
    """The same as a page, for browsers without scripts."""
    return render_template("library/edit/status.html", **status_of(source_id, MOST_LOOKS))


def status_of(source_id: UUID, looks: int) -> dict[str, Any]:
    found = find_search_status(db_session(), source_id, services().embedder.model)
    return {
        "search": found,
        "source_id": source_id,
        "looks": looks,
        "asks_again": found.state == "waiting" and looks < MOST_LOOKS,
        "pause": min(1 + looks // 5, 10),
    }


def _new_page(draft: SectionDraft, section_id: UUID, parent_id: str, **more: Any) -> str:
    return _page(
        draft,
        is_new=True,
        section_id=section_id,
        parent_id=parent_id,
        places=_places(load_whole_tree(db_session())),
        **more,
    )


def _section_page(found: ManualSection, draft: SectionDraft, version: int, **more: Any) -> str:
    tree = load_whole_tree(db_session())
    siblings = [row.id for row in tree.below[found.parent_id]]
    place = siblings.index(found.id)
    context = {
        "section": found,
        "section_id": found.id,
        "version": version,
        "parent_id": str(found.parent_id or ""),
        "above": tree.ancestors(found),
        "is_first": place == 0,
        "is_last": place == len(siblings) - 1,
        "places": _places(tree, found.id),
        "just_saved": "saved" in request.args and request.method == "GET",
        **status_of(found.id, 0),
    }
    return _page(draft, **{**context, **more})


def _page(draft: SectionDraft, **context: Any) -> str:
    asked = editors.question_asked()
    # Long bodies take seconds to be drawn.
    give_back_connection()
    shown = request.form.get("shown") or reader_language()
    if any(name.endswith("_es") for name in context.get("errors", {})):
        shown = "es"
    context = {"errors": {}, "is_new": False, "section": None, **context}
    return render_template(
        "library/edit/section.html",
        draft=draft,
        asked=asked,
        previews={
            each: preview_library_text(getattr(draft, f"body_{each}")) for each in ("en", "es")
        },
        kinds=SECTION_KIND_NAMES,
        shown=shown,
        person=current_user.draft_owner,
        language=reader_language(),
        **context,
    )


def _places(tree: WholeTree, without: UUID | None = None) -> list[tuple[str, str]]:
    """Where a section could stand: the manual's tree as (id, indented title), without its own."""
    language = reader_language()
    rows = tree.outline(without=without)
    under = [(str(row.id), "— " * depth + row.title(language)) for depth, row in rows]
    return [("", _("Top level: a chapter of its own")), *under]


def _withdraw_page(section_id: UUID, errors: dict[str, str] | None = None) -> str:
    session = db_session()
    found = load_section_to_edit(session, section_id)
    below = list_shown_below(load_whole_tree(session), found.id)
    return render_template(
        "library/edit/withdraw.html",
        section=found,
        below=below[:MOST_NAMED],
        count=len(below),
        signature=sign_rows(below),
        language=reader_language(),
        problems=[*(errors or {}).values()],
    )


def _restore_page(section_id: UUID, errors: dict[str, str] | None = None) -> str:
    return render_template(
        "library/edit/restore.html",
        branch=load_hidden_branch(db_session(), section_id),
        language=reader_language(),
        problems=[*(errors or {}).values()],
    )
