"""The settings of requests: whether and when a solution is proposed. Managers may look."""

from __future__ import annotations

from http import HTTPStatus

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.form_pages import page
from app.errors import ComandaError, InvalidInput
from app.skills.service_requests.services.settings import (
    SURE,
    USUAL_THRESHOLD,
    StaleSettings,
    load_settings_of,
    save_settings,
)
from app.skills.service_requests.web.admin_blueprints import make_blueprint, may_edit, typed_number
from app.web.pages import db_session

blueprint = make_blueprint("request_settings", "/settings")


@blueprint.get("/")
def show() -> ResponseReturnValue:
    """What is settled now."""
    return _page()


def _page(error: ComandaError | None = None) -> ResponseReturnValue:
    editor = error.editor if isinstance(error, StaleSettings) else ""
    return page(
        "requests/admin/settings.html",
        error,
        settings=load_settings_of(db_session()),
        is_overtaken=isinstance(error, StaleSettings),
        editor=editor,
        usual=USUAL_THRESHOLD,
        most=SURE,
        may_edit=may_edit(),
    )


@blueprint.post("/")
def save() -> ResponseReturnValue:
    """Keep what was settled, or show it again with what is wrong."""
    try:
        save_settings(
            db_session(),
            is_resolution_on=request.form.get("resolution") == "on",
            threshold=_threshold(request.form.get("threshold", "")),
            version=typed_number("version"),
        )
    except (InvalidInput, StaleSettings) as error:
        db_session().rollback()
        return _page(error)
    flash(_("The settings are saved."))
    return redirect(url_for(".show"), HTTPStatus.SEE_OTHER)


def _threshold(text: str) -> int:
    """A percentage as it is typed: 70, or 70 %; -1 for what is none."""
    bare = text.strip().removesuffix("%").strip()
    return int(bare) if bare.isascii() and bare.isdecimal() and len(bare) < len("1000") else -1
