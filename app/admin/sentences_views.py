"""The saved sentences: what is asked again whenever a prompt has changed."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from uuid import UUID

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.choices import LANGUAGE_NAMES
from app.accounts.form_pages import page
from app.admin.prompts_pages import in_common
from app.assistant.prompts.saved_cases import (
    add_sentence,
    delete_sentence,
    expect_of,
    list_sentences,
    load_sentence,
    read_sentence,
    read_shown,
    save_sentence,
    texts_of,
)
from app.errors import N_, ComandaError, Conflict, InvalidInput, NotFound
from app.extensions import services
from app.text.edits import Overtaken
from app.web.pages import db_session, require_role

blueprint = Blueprint("sentences", __name__, url_prefix="/admin/prompts/sentences")
NAMES = ("message", "language", "tools", "not_tools", "parts", "contains")
DELETED = N_("This was deleted in the meantime. What you typed is below; saving adds it again.")


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
    session = db_session()
    try:
        typed = read_sentence(services().registry, request.form)
        add_sentence(session, typed["message"], typed["language"], expect_of(typed))
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
    """Write what was typed, or show it again with what is wrong or overtaken."""
    session, shown = db_session(), _shown_before()
    try:
        typed = read_sentence(services().registry, request.form)
        save_sentence(session, sentence_id, was=read_shown(shown), typed=typed)
    except InvalidInput as error:
        return _edit_page(sentence_id, error, texts=request.form, was=shown)
    except Overtaken as error:
        session.rollback()
        return _overtaken_page(sentence_id, error)
    except NotFound:
        # Nothing that was typed is lost with a sentence that somebody has deleted.
        session.rollback()
        return _index_page(NotFound(DELETED))
    flash(_("The sentence is saved."))
    return redirect(url_for("sentences.index"), HTTPStatus.SEE_OTHER)


@blueprint.post("/<uuid:sentence_id>/delete")
def delete(sentence_id: UUID) -> ResponseReturnValue:
    """Remove a sentence, unless it is not any more what its page had shown."""
    session = db_session()
    try:
        delete_sentence(session, sentence_id, was=read_shown(_shown_before()))
    except Conflict as error:
        session.rollback()
        return _edit_page(sentence_id, error)
    flash(_("The sentence is deleted."))
    return redirect(url_for("sentences.index"), HTTPStatus.SEE_OTHER)


def _shown_before() -> dict[str, str]:
    """What the page that was sent had shown, field by field."""
    return {name: request.form.get(f"was_{name}", "") for name in NAMES}


def _overtaken_page(sentence_id: UUID, error: Overtaken) -> ResponseReturnValue:
    """What was typed, over what stands there now; saved again, it takes that place."""
    shown = texts_of(load_sentence(db_session(), sentence_id), _("none"))
    texts, theirs = error.shown_again(shown, request.form)
    if "language" in theirs:
        theirs["language"] = LANGUAGE_NAMES[theirs["language"]]
    return _edit_page(sentence_id, error, texts=texts, theirs=theirs)


def _index_page(error: ComandaError | None = None) -> ResponseReturnValue:
    return page(
        "admin/prompts/sentences.html",
        error,
        sentences=list_sentences(db_session()),
        **_known(),
        **in_common(db_session()),
    )


def _edit_page(
    sentence_id: UUID,
    error: ComandaError | None = None,
    *,
    texts: Mapping[str, str] | None = None,
    was: Mapping[str, str] | None = None,
    theirs: Mapping[str, str] | None = None,
) -> ResponseReturnValue:
    """`texts` stand in the form; what it changes is told by what the sentence `was`.

    Without them, what is there now. `theirs` is what stands there instead of what was typed.
    """
    sentence = load_sentence(db_session(), sentence_id)
    shown = texts_of(sentence, _("none"))
    return page(
        "admin/prompts/sentence.html",
        error,
        sentence=sentence,
        texts=texts or shown,
        was=was or shown,
        theirs=theirs,
        is_unsaved=texts is not None,
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
