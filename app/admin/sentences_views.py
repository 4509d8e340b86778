"""The saved sentences: what is asked again whenever a prompt has changed."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.choices import LANGUAGE_NAMES
from app.accounts.pages import page
from app.admin.prompts_pages import in_common
from app.assistant.prompts.saved_cases import (
    FIELDS,
    delete_sentence,
    list_sentences,
    load_sentence,
    read_expectation,
    save_sentence,
)
from app.errors import ComandaError, Conflict, InvalidInput
from app.extensions import services
from app.web.pages import db_session, require_role

blueprint = Blueprint("sentences", __name__, url_prefix="/admin/prompts/sentences")


@blueprint.before_request
def admins_only() -> None:
    require_role("admin")


@blueprint.get("/")
def index() -> ResponseReturnValue:
    """All saved sentences, and a form for one more."""
    return _index_page()


@blueprint.post("/")
def add() -> ResponseReturnValue:
    """Save one more sentence."""
    try:
        _save()
    except (InvalidInput, Conflict) as error:
        return _index_page(error)
    flash(_("The sentence is saved."))
    return redirect(url_for("sentences.index"), HTTPStatus.SEE_OTHER)


@blueprint.get("/<uuid:sentence_id>")
def edit(sentence_id: UUID) -> ResponseReturnValue:
    """One sentence with what is expected of its answer."""
    return _edit_page(sentence_id)


@blueprint.post("/<uuid:sentence_id>")
def save(sentence_id: UUID) -> ResponseReturnValue:
    """Save a sentence under its id."""
    try:
        _save(sentence_id)
    except InvalidInput as error:
        return _edit_page(sentence_id, error)
    flash(_("The sentence is saved."))
    return redirect(url_for("sentences.index"), HTTPStatus.SEE_OTHER)


@blueprint.post("/<uuid:sentence_id>/delete")
def delete(sentence_id: UUID) -> ResponseReturnValue:
    """Remove a sentence."""
    delete_sentence(db_session(), sentence_id)
    flash(_("The sentence is deleted."))
    return redirect(url_for("sentences.index"), HTTPStatus.SEE_OTHER)


def _save(sentence_id: UUID | None = None) -> None:
    form = request.form
    expect = read_expectation(services().registry, form)
    words, language = form.get("message", ""), form.get("language", "")
    save_sentence(db_session(), words, language, expect, sentence_id=sentence_id)


def _index_page(error: ComandaError | None = None) -> ResponseReturnValue:
    return page(
        "admin/prompts/sentences.html",
        error,
        sentences=list_sentences(db_session()),
        **_known(),
        **in_common(db_session()),
    )


def _edit_page(sentence_id: UUID, error: ComandaError | None = None) -> ResponseReturnValue:
    sentence = load_sentence(db_session(), sentence_id)
    written = {name: "\n".join(sentence.expect.get(name, ())) for name in FIELDS}
    if sentence.expect.get("tools") == []:
        written["tools"] = _("none")
    return page(
        "admin/prompts/sentence.html",
        error,
        sentence=sentence,
        written={"message": sentence.text, "language": sentence.language, **written},
        **_known(),
        **in_common(db_session()),
    )


def _known() -> dict[str, object]:
    registry = services().registry
    return {
        "tool_names": list(registry.tools),
        "part_names": list(registry.parts),
        "language_names": list(LANGUAGE_NAMES.items()),
    }
