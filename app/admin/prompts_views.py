"""The prompt pages: the rows in their order, one row's texts, its history, new ones."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.form_pages import page
from app.admin.prompt_edit_page import edit_page, opened_version, typed_texts
from app.admin.prompts_pages import domain_choices, in_common, sections, whole_sizes
from app.assistant.models import Prompt
from app.assistant.prompts import editor as prompt_editing
from app.assistant.prompts import history as prompt_history
from app.assistant.prompts.editor import Clash, load_prompt
from app.assistant.prompts.system_prompt import load_prompts
from app.assistant.tools.registry import Registry
from app.errors import ComandaError, Conflict, InvalidInput, NotFound
from app.extensions import services
from app.web.pages import (
    db_session,
    give_back_connection,
    page_number,
    require_role,
    wants_fragment,
)
from app.web.rate_limits import limit_building

blueprint = Blueprint("prompts", __name__, url_prefix="/admin/prompts")


@blueprint.before_request
def admins_only() -> None:
    require_role("admin")


@blueprint.get("/")
def index() -> ResponseReturnValue:
    """All rows in the order they are put together; the list alone for htmx."""
    return _list_page()


@blueprint.post("/<uuid:prompt_id>/switch")
@limit_building
def switch(prompt_id: UUID) -> ResponseReturnValue:
    """Switch a row on or off."""
    on = _choice("to", "on", "off") == "on"
    try:
        row = prompt_editing.switch(db_session(), prompt_id, opened_version(), on=on)
    except Conflict as error:
        return _list_page(error)
    name = row.slug
    flash(_("%(name)s is on.", name=name) if on else _("%(name)s is off.", name=name))
    return _back_to_list()


@blueprint.post("/<uuid:prompt_id>/move")
@limit_building
def move(prompt_id: UUID) -> ResponseReturnValue:
    """Move a row one place up or down in its category."""
    up = _choice("to", "up", "down") == "up"
    try:
        prompt_editing.move(db_session(), prompt_id, opened_version(), up=up)
    except Conflict as error:
        return _list_page(error)
    return _back_to_list()


@blueprint.get("/new")
def new() -> ResponseReturnValue:
    """The form for a row of the group's own."""
    return _new_page()


@blueprint.post("/new")
@limit_building
def add() -> ResponseReturnValue:
    """Add a row of the group's own."""
    form = request.form
    try:
        row = prompt_editing.add_prompt(
            db_session(),
            _registry(),
            slug=form.get("slug", ""),
            category=form.get("category", ""),
            domain=form.get("domain", ""),
            typed=typed_texts(),
        )
    except InvalidInput as error:
        return _new_page(error)
    flash(_("The row is added. It takes effect with the next message."))
    return redirect(url_for("prompts.edit", prompt_id=row.id), HTTPStatus.SEE_OTHER)


@blueprint.get("/<uuid:prompt_id>")
def edit(prompt_id: UUID) -> ResponseReturnValue:
    """One row's texts side by side, and the test bench under them."""
    return edit_page(load_prompt(db_session(), prompt_id))


@blueprint.post("/<uuid:prompt_id>")
@limit_building
def save(prompt_id: UUID) -> ResponseReturnValue:
    """Save a row's texts; with both when somebody else saved others meanwhile."""
    session = db_session()
    try:
        saved = prompt_editing.save_texts(session, prompt_id, opened_version(), typed_texts())
    except InvalidInput as error:
        return edit_page(load_prompt(session, prompt_id), error)
    if isinstance(saved, Clash):
        return _clash_page(saved)
    if saved.version == opened_version():
        flash(_("Nothing was changed."))
    else:
        flash(_("Saved. It applies from the next message on."))
    return redirect(url_for("prompts.edit", prompt_id=prompt_id), HTTPStatus.SEE_OTHER)


@blueprint.post("/<uuid:prompt_id>/delete")
@limit_building
def delete(prompt_id: UUID) -> ResponseReturnValue:
    """Remove a row that the group added itself, unless it is not any more what was shown."""
    session = db_session()
    try:
        slug = prompt_editing.delete_prompt(session, _registry(), prompt_id, opened_version())
    except Conflict as error:
        session.rollback()
        return edit_page(load_prompt(session, prompt_id), error)
    flash(_("%(name)s was deleted.", name=slug))
    return _back_to_list()


@blueprint.get("/<uuid:prompt_id>/history")
def history(prompt_id: UUID) -> ResponseReturnValue:
    """What a row was before, and what changed each time."""
    return _history_page(load_prompt(db_session(), prompt_id))


@blueprint.post("/<uuid:prompt_id>/restore")
@limit_building
def restore(prompt_id: UUID) -> ResponseReturnValue:
    """Go back to an earlier version, or to the row as it was seeded."""
    session = db_session()
    number = request.form.get("number", "")
    try:
        if number == "seed":
            prompt_history.take_seed(session, _registry(), prompt_id, opened_version())
        else:
            prompt_history.restore(session, prompt_id, _number(number), opened_version())
    except Conflict as error:
        return _history_page(load_prompt(session, prompt_id), error)
    flash(_("Restored. It applies from the next message on."))
    return redirect(url_for("prompts.edit", prompt_id=prompt_id), HTTPStatus.SEE_OTHER)


@blueprint.post("/<uuid:prompt_id>/keep-ours")
@limit_building
def keep_ours(prompt_id: UUID) -> ResponseReturnValue:
    """Keep the group's text, whatever the new release says."""
    digest = request.form.get("seed_digest", "")
    prompt_history.decline_seed(db_session(), _registry(), prompt_id, digest)
    flash(_("Your text stays as it is."))
    return redirect(url_for("prompts.edit", prompt_id=prompt_id), HTTPStatus.SEE_OTHER)


def _list_page(error: ComandaError | None = None) -> ResponseReturnValue:
    session = db_session()
    if error is not None:
        session.rollback()
    rows = load_prompts(session)
    fragment = wants_fragment()
    return page(
        "admin/prompts/_list.html" if fragment else "admin/prompts/index.html",
        error,
        fragment=fragment,
        sections=sections(_registry(), rows),
        whole=whole_sizes(rows),
        **in_common(session),
    )


def _back_to_list() -> ResponseReturnValue:
    return redirect(url_for("prompts.index"), HTTPStatus.SEE_OTHER)


def _new_page(error: ComandaError | None = None) -> ResponseReturnValue:
    return page(
        "admin/prompts/new.html",
        error,
        domains=domain_choices(_registry()),
        **in_common(db_session()),
    )


def _clash_page(clash: Clash) -> ResponseReturnValue:
    context = in_common(db_session())
    give_back_connection()
    body = render_template("admin/prompts/clash.html", clash=clash, **context)
    return body, HTTPStatus.CONFLICT


def _history_page(row: Prompt, error: ComandaError | None = None) -> ResponseReturnValue:
    session, number = db_session(), page_number()
    changes, has_more = prompt_history.list_changes(session, row, number)
    turn = partial(url_for, ".history", prompt_id=row.id)
    return page(
        "admin/prompts/history.html",
        error,
        row=row,
        changes=changes,
        newer=turn(page=number - 1) if number > 1 else "",
        older=turn(page=number + 1) if has_more else "",
        seed=prompt_history.seed_of(_registry(), row),
        **in_common(session),
    )


def _registry() -> Registry:
    return services().registry


def _choice(name: str, *known: str) -> str:
    value = request.form.get(name, "")
    if value not in known:
        raise InvalidInput("Choose from the list.", field=name)
    return value


def _number(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise NotFound("This version does not exist.") from None
    if not 0 < number < 2**31:
        raise NotFound("This version does not exist.")
    return number
