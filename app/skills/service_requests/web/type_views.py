"""The pages of types of requests: their tree, one of them, its history. Managers may look."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.form_pages import moment_in_words
from app.db import ScopedSession, read_id
from app.errors import ComandaError, Conflict, InvalidInput, NotFound
from app.fields.definitions import Words
from app.fields.values import clean
from app.skills.service_requests.builder.page_state import TypeWork, act_on, read_work, work_of
from app.skills.service_requests.builder.presenters import (
    built,
    parent_choices,
    priorities,
    type_context,
    type_in_words,
    what_changed,
)
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.services.starters import add_starters
from app.skills.service_requests.services.teams import list_teams
from app.skills.service_requests.services.type_catalog import load_type, load_types
from app.skills.service_requests.services.type_tree import grow
from app.skills.service_requests.services.types import (
    VERSIONS,
    StaleType,
    add_type,
    kept_content,
    lock_tree,
    move_type,
    restore_version,
    save_type,
    set_active,
)
from app.skills.service_requests.services.write_rules import lock_alone
from app.skills.service_requests.web.admin_blueprints import make_blueprint, may_edit, typed_number
from app.text.bilingual import reader_language
from app.web.pages import db_session, page_number, wants_fragment
from app.web.rate_limits import limit_building

blueprint = make_blueprint("request_types")


@blueprint.get("/")
def index() -> ResponseReturnValue:
    """The whole tree, archived ones too."""
    return _tree_page()


def _tree_page(error: ComandaError | None = None, focus: str = "") -> ResponseReturnValue:
    session = db_session()
    errors = {error.field or "form": _(error.message, **error.params)} if error else {}
    types = load_types(session)
    page = render_template(
        "requests/admin/_tree.html" if wants_fragment() else "requests/admin/index.html",
        branches=grow(types),
        parents=parent_choices(types, None),
        priorities=priorities(),
        team_names=_names(session),
        form=request.form,
        errors=errors,
        focus=focus,
        **_in_common(),
    )
    return page, error.status if error else HTTPStatus.OK


def _in_common() -> dict[str, Any]:
    return {
        "language": reader_language(),
        "may_edit": may_edit(),
        "moment_in_words": moment_in_words,
    }


def _names(session: ScopedSession) -> dict[str, str]:
    """What the group's teams and categories are called, by their ids."""
    both: list[Any] = [*list_teams(session), *load_types(session)]
    return {str(each.id): each.name(reader_language()) for each in both}


@blueprint.post("/")
@limit_building
def add() -> ResponseReturnValue:
    """Add a type or a category, or all the usual types."""
    session, form = db_session(), request.form
    if form.get("do") == "usual":
        return _add_usual()
    name = Words(en=clean(form.get("name_en", ""))[:500], es=clean(form.get("name_es", ""))[:500])
    parent = form.get("parent_id", "")
    try:
        if parent and read_id(parent) is None:
            raise InvalidInput("Choose from the list.", field="parent_id")
        is_type = form.get("kind") != "category"
        made = add_type(session, name, read_id(parent), is_submittable=is_type)
    except InvalidInput as error:
        session.rollback()
        return _tree_page(error)
    flash(
        _("The type is added. Choose here what it asks for.") if is_type else _("Category added.")
    )
    return _to_page(made.id)


def _add_usual() -> ResponseReturnValue:
    session = db_session()
    lock_alone(session, "teams")
    lock_tree(session)
    group_id = session.scope.group_id
    count = add_starters(session, group_id) if group_id else 0
    session.commit()
    if count:
        flash(_("They were added. Now choose who is on each team, and change what you like."))
    else:
        flash(_("The usual types are here already."))
    return redirect(url_for(".index"), HTTPStatus.SEE_OTHER)


@blueprint.post("/move")
@limit_building
def move() -> ResponseReturnValue:
    """Move one type up or down among its neighbours: "up:ID" or "down:ID"."""
    verb, _colon, about = request.form.get("do", "").partition(":")
    type_id = read_id(about)
    if verb not in ("up", "down") or type_id is None:
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    move_type(db_session(), type_id, -1 if verb == "up" else 1)
    if wants_fragment():
        return _tree_page(focus=f"{verb}-{about}")
    return redirect(url_for(".index", _anchor=f"type-{about}"), HTTPStatus.SEE_OTHER)


@blueprint.get("/<uuid:type_id>")
def edit(type_id: UUID) -> ResponseReturnValue:
    """A type's page: its words, its fields and its questions."""
    type_ = load_type(db_session(), type_id)
    return _edit_page(type_, work_of(type_))


@blueprint.post("/<uuid:type_id>")
@limit_building
def save(type_id: UUID) -> ResponseReturnValue:
    """Do what a button of the page says; only "save" writes anything."""
    session, do = db_session(), request.form.get("do", "")
    type_ = load_type(session, type_id)
    work = read_work(request.form, is_submittable=type_.is_submittable)
    if do != "save":
        return _worked_on(type_, work, do)
    read = built(type_, work)
    if read.problems:
        return _refused(type_, work, next(iter(read.problems)))
    try:
        type_ = save_type(session, type_id, work.version, read.content)
    except StaleType as error:
        return _stale_page(work, error)
    except InvalidInput as error:
        session.rollback()
        return _refused(type_, work, "", error)
    told = _("Saved as version %(number)s.", number=type_.version)
    is_changed = type_.version != work.version
    return _edit_page(type_, work_of(type_), told=told if is_changed else _("Saved."))


def _worked_on(type_: RequestType, work: TypeWork, do: str) -> ResponseReturnValue:
    try:
        return _edit_page(type_, act_on(work, do))
    except InvalidInput as error:
        return _edit_page(type_, work, error), error.status


def _refused(
    type_: RequestType, work: TypeWork, key: str, error: InvalidInput | None = None
) -> ResponseReturnValue:
    """The page with all that was typed, opened at the first thing that is wrong."""
    shown = replace(work, open_key=key) if key else work
    page = _edit_page(type_, shown, error, was_saved=True)
    return page, HTTPStatus.UNPROCESSABLE_ENTITY


def _stale_page(work: TypeWork, error: StaleType) -> ResponseReturnValue:
    """Somebody else was faster: theirs is shown beside mine, which can be saved over it."""
    session, type_ = db_session(), error.type
    theirs = kept_content(type_)
    mine = {**theirs, **built(type_, work).content}
    changes = what_changed(theirs, mine, _names(session))
    session.rollback()
    clash = {"editor": error.editor, "changes": changes}
    page = _edit_page(type_, replace(work, version=type_.version), clash=clash)
    return page, HTTPStatus.CONFLICT


def _edit_page(
    type_: RequestType,
    work: TypeWork,
    error: ComandaError | None = None,
    *,
    was_saved: bool = False,
    told: str = "",
    clash: dict[str, Any] | None = None,
) -> str:
    session = db_session()
    context = type_context(session, type_, work, was_saved=was_saved)
    if error is not None:
        context["errors"] = {error.field or "form": _(error.message, **error.params)}
    in_words = "" if may_edit() else type_in_words(kept_content(type_), _names(session))
    return render_template(
        "requests/admin/_worked.html" if wants_fragment() else "requests/admin/edit.html",
        told=told,
        clash=clash,
        in_words=in_words,
        **context,
        **_in_common(),
    )


@blueprint.post("/<uuid:type_id>/archive")
@limit_building
def archive(type_id: UUID) -> ResponseReturnValue:
    """Archive a type or a category, or bring it back."""
    to = request.form.get("to", "")
    if to not in ("archived", "offered"):
        raise InvalidInput("Choose from the list.", field="to")
    version, signature = typed_number("version"), request.form.get("signature", "")
    try:
        set_active(db_session(), type_id, version, is_active=to == "offered", signature=signature)
    except Conflict as error:
        db_session().rollback()
        type_ = load_type(db_session(), type_id)
        return _edit_page(type_, work_of(type_), error), error.status
    if to == "offered":
        flash(_("It is offered again."))
    else:
        flash(_("It is archived: nobody can start one anymore. Requests already made continue."))
    return _to_page(type_id)


@blueprint.get("/<uuid:type_id>/history")
def history(type_id: UUID) -> ResponseReturnValue:
    """A page of what was saved when and by whom, and the way back."""
    session, page = db_session(), page_number()
    type_ = load_type(session, type_id)
    versions, has_more = VERSIONS.list_versions(session, type_, page)
    return render_template(
        "requests/admin/history.html",
        type=type_,
        versions=versions,
        newer=url_for(".history", type_id=type_id, page=page - 1) if page > 1 else "",
        older=url_for(".history", type_id=type_id, page=page + 1) if has_more else "",
        **_in_common(),
    )


@blueprint.get("/<uuid:type_id>/history/<int(max=1000000):number>")
def version(type_id: UUID, number: int) -> ResponseReturnValue:
    """What one version changed; that alone for htmx."""
    session = db_session()
    type_ = load_type(session, type_id)
    saved, before, after = VERSIONS.load_change(session, type_, number)
    changes = what_changed(before, after, _names(session))
    if wants_fragment():
        return render_template("fields/building/_changes.html", changes=changes)
    return render_template(
        "requests/admin/history.html", type=type_, versions=[saved], changes=changes, **_in_common()
    )


@blueprint.post("/<uuid:type_id>/restore")
@limit_building
def restore(type_id: UUID) -> ResponseReturnValue:
    """Make the type again what it was in a version."""
    number = typed_number("number")
    try:
        restore_version(db_session(), type_id, number, typed_number("version"))
    except NotFound:
        raise
    except ComandaError as error:
        db_session().rollback()
        flash(_(error.message, **error.params), "error")
        return redirect(url_for(".history", type_id=type_id), HTTPStatus.SEE_OTHER)
    flash(_("The type is back to what it was in version %(number)s.", number=number))
    return _to_page(type_id)


def _to_page(type_id: UUID) -> ResponseReturnValue:
    return redirect(url_for(".edit", type_id=type_id), HTTPStatus.SEE_OTHER)
