"""The page of the restaurant's own settings, for admins."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.form_pages import page
from app.accounts.group_settings import (
    FIELDS,
    choices_of,
    load_group_settings,
    update_group_settings,
)
from app.errors import ComandaError
from app.text.bilingual import reader_language
from app.text.edits import Overtaken
from app.web.pages import db_session, require_browser, require_role

blueprint = Blueprint("group_settings", __name__, url_prefix="/restaurant")


@blueprint.before_request
def admins_only() -> None:
    require_browser()
    require_role("admin")


@blueprint.get("")
def settings() -> ResponseReturnValue:
    """What the restaurant is called, and where it is."""
    return _page()


@blueprint.post("")
def save() -> ResponseReturnValue:
    """Change it, or show what was typed with what is wrong or overtaken."""
    form = request.form
    was = {name: form.get(f"was_{name}", "") for name in FIELDS}
    typed = {name: form.get(name, "") for name in FIELDS}
    try:
        update_group_settings(db_session(), was=was, typed=typed)
    except Overtaken as error:
        texts, theirs = error.shown_again(load_group_settings(db_session()), typed)
        return _page(error, texts=texts, theirs=theirs)
    except ComandaError as error:
        return _page(error, texts=typed, was=was)
    flash(_("The settings are saved."), "success")
    return redirect(url_for(".settings"), HTTPStatus.SEE_OTHER)


def _page(
    error: ComandaError | None = None,
    *,
    texts: dict[str, str] | None = None,
    was: dict[str, str] | None = None,
    theirs: dict[str, str] | None = None,
) -> ResponseReturnValue:
    """`texts` stand in the form; what it changes is told by what they `was`."""
    shown = load_group_settings(db_session())
    return page(
        "accounts/group_settings.html",
        error,
        texts=shown if texts is None else texts,
        was=shown if was is None else was,
        theirs=theirs,
        choices=lambda name: choices_of(name, reader_language(), shown[name]),
    )
