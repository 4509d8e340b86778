"""The test bench of the prompt pages: start, look, stop."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from flask import (
    Blueprint,
    Flask,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.audit import record
from app.admin.prompt_edit_page import (
    bench_state,
    edit_page,
    opened_version,
    own_bench,
    typed_texts,
)
from app.admin.prompts_pages import in_common
from app.assistant.models import Prompt
from app.assistant.prompts.bench import Trial
from app.assistant.prompts.dry_run import Sentence
from app.assistant.prompts.editor import clean_texts, load_prompt
from app.assistant.prompts.saved_cases import expectation_of, list_sentences
from app.assistant.prompts.system_prompt import load_prompts
from app.assistant.threads.threads import clean_message
from app.assistant.turns.language import detect_language
from app.config import LANGUAGES
from app.errors import ComandaError, Conflict, InvalidInput, Unavailable
from app.extensions import services
from app.web.pages import db_session, is_htmx, require_role

blueprint = Blueprint("bench", __name__, url_prefix="/admin/prompts/<uuid:prompt_id>/bench")


@blueprint.before_request
def admins_only() -> None:
    require_role("admin")


@blueprint.get("")
def look(prompt_id: UUID) -> ResponseReturnValue:
    """How far the test is: the bench alone for htmx, else on its row's page."""
    row = load_prompt(db_session(), prompt_id)
    if not is_htmx():
        return _to_edit_page(prompt_id)
    return _drawn(row)


@blueprint.post("")
def start(prompt_id: UUID) -> ResponseReturnValue:
    """Try what stands in the form, without saving it."""
    row = load_prompt(db_session(), prompt_id)
    try:
        _start(row)
    except (InvalidInput, Conflict, Unavailable) as error:
        return _refused(row, error)
    return _drawn(row) if is_htmx() else _to_edit_page(prompt_id)


@blueprint.post("/cancel")
def cancel(prompt_id: UUID) -> ResponseReturnValue:
    """Stop the test that is running."""
    row = load_prompt(db_session(), prompt_id)
    own_bench().cancel()
    return _drawn(row) if is_htmx() else _to_edit_page(prompt_id)


def _start(row: Prompt) -> None:
    session, form = db_session(), request.form
    texts = clean_texts(typed_texts())
    trial = Trial(
        str(row.id), *texts, is_active=form.get("as", "on") == "on", version=opened_version()
    )
    sentences = _all_sentences() if form.get("what") == "all" else [_one_sentence(row)]
    rows = load_prompts(session)
    record(session, "prompt_tried", row.slug)
    session.commit()
    own_bench().start(_app(), trial, rows, sentences)


def _app() -> Flask:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    return app


def _one_sentence(row: Prompt) -> Sentence:
    form, domain = request.form, _domain()
    words = clean_message(form.get("message", ""))
    language = form.get("language", "")
    if language not in LANGUAGES:
        language = detect_language(words, current_user.language)
    prefix = f"action-{domain}-"
    is_pressed = row.category == "action" and row.slug.startswith(prefix)
    return Sentence(words, language, domain, row.slug.removeprefix(prefix) if is_pressed else "")


def _all_sentences() -> list[Sentence]:
    found = list_sentences(db_session())
    if not found:
        raise InvalidInput("There are no saved sentences yet. Save some first.", field="what")
    domain = _domain()
    return [Sentence(each.text, each.language, domain, "", expectation_of(each)) for each in found]


def _domain() -> str:
    domain = request.form.get("domain", "")
    if domain not in services().registry.domains:
        raise InvalidInput("Choose from the list.", field="domain")
    return domain


def _drawn(row: Prompt, error: str = "") -> str:
    """The bench alone, as htmx wants it."""
    return render_template(
        "admin/prompts/_try_run.html",
        row=row,
        form=request.form,
        **bench_state(row, error),
        **in_common(db_session()),
    )


def _refused(row: Prompt, error: ComandaError) -> ResponseReturnValue:
    """The bench, or its whole page with what was typed, and what is wrong in words."""
    said = _(error.message, **error.params)
    db_session().rollback()
    if is_htmx():
        return _drawn(row, said), error.status
    return make_response(edit_page(row, bench_error=said), error.status)


def _to_edit_page(prompt_id: UUID) -> ResponseReturnValue:
    target = url_for("prompts.edit", prompt_id=prompt_id, tried=1, _anchor="bench")
    return redirect(target, HTTPStatus.SEE_OTHER)
