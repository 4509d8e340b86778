"""The pages of imports: bringing a file, looking at what it would change, and deciding."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from app.accounts.form_pages import page
from app.errors import ComandaError, Conflict, InvalidInput, TooMany
from app.files.examination_queue import Places
from app.files.posted_files import allow_files, examination, get_posted_files
from app.skills.knowledge.models import LibraryImport
from app.skills.knowledge.readers import LIMITS
from app.skills.knowledge.services import imports
from app.skills.knowledge.services.plan_pages import load_documents, load_signature
from app.skills.knowledge.web.import_presenters import (
    field_word,
    import_view,
    languages,
    load_change,
    load_plan_page,
    load_problem_views,
    targets,
    under_way_words,
    vectors_view,
    who_word,
)
from app.text.bilingual import reader_language
from app.web.pages import db_session, page_number, require_role, wants_fragment
from app.web.request_body import LARGEST_BODY

blueprint = Blueprint("imports", __name__, url_prefix="/library/imports")
EDITORS = ("manager", "admin")
# What a form is larger than its file.
FORM_BYTES = 64 * 1024
# So many choices stand on a page; where there would be more, its documents share one list.
MOST_OPTIONS = 1_000
# Of files as large as these, one at a time is in the memory of a process.
_in_memory = Places(1)


@blueprint.url_value_preprocessor
def let_large_files_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """This route alone takes what is larger than a page, and from those alone who may import.

    Before everything else, because looking for a form's token reads the whole of it.
    """
    if endpoint == "imports.upload" and current_user.is_authenticated:
        may_import = current_user.role in EDITORS
        allow_files(LIMITS.file_bytes + FORM_BYTES if may_import else LARGEST_BODY, most=1)


@blueprint.before_request
def editors_only() -> None:
    require_role(*EDITORS)


@blueprint.get("/")
def index() -> ResponseReturnValue:
    """The form for a file, and what was imported so far."""
    return _index_page()


@blueprint.post("/")
def upload() -> ResponseReturnValue:
    """Take in a file and show how far it is."""
    try:
        item, is_new = _receive()
    except (InvalidInput, TooMany) as error:
        return _index_page(error)
    if not is_new:
        flash(under_way_words(item), "warn")
    return redirect(url_for("imports.show", import_id=item.id), HTTPStatus.SEE_OTHER)


def _receive() -> tuple[LibraryImport, bool]:
    """Take in the file that was sent.

    The database is given it whole: it is in memory for that long, and no other one beside it.
    """
    files = get_posted_files({"file": 1}).get("file")
    name = (files[0].filename if files else "") or ""
    target, language = request.form.get("target", ""), request.form.get("language", "")
    with examination(), _in_memory.hold():
        content = files[0].read() if files else b""
        return imports.receive_file(db_session(), content, name, target, language)


@blueprint.get("/<uuid:import_id>")
def show(import_id: UUID) -> ResponseReturnValue:
    """Where an import stands: how far it is, what it would do, or what it did."""
    return _import_page(_load(import_id))


@blueprint.get("/<uuid:import_id>/status")
def status(import_id: UUID) -> ResponseReturnValue:
    """How far an import is; once it is there, all that the page then shows of it."""
    item = _load(import_id)
    if not wants_fragment():
        return redirect(url_for("imports.show", import_id=import_id), HTTPStatus.SEE_OTHER)
    if item.status not in imports.WORKING:
        return _import_page(item)
    return page("library/_import_working.html", fragment=True, item=import_view(item))


@blueprint.post("/<uuid:import_id>/apply")
def apply(import_id: UUID) -> ResponseReturnValue:
    """Bring in what was shown."""
    return _do(import_id, imports.apply_when_ready, request.form.get("signature", ""))


@blueprint.post("/<uuid:import_id>/cancel")
def cancel(import_id: UUID) -> ResponseReturnValue:
    """Stop it; nothing has changed."""
    return _do(import_id, imports.cancel_import, request.form.get("status", ""))


@blueprint.post("/<uuid:import_id>/undo")
def undo(import_id: UUID) -> ResponseReturnValue:
    """Take back what the import changed."""
    return _do(import_id, imports.undo_import)


@blueprint.post("/<uuid:import_id>/editions")
def choose_editions(import_id: UUID) -> ResponseReturnValue:
    """Say which chapter each document is another language of."""
    sources = request.form.getlist("source")
    chapters = [each.strip() for each in request.form.getlist("chapter")]
    chosen = dict(zip(sources, chapters, strict=False))
    return _do(import_id, imports.choose_editions, chosen, request.form.get("signature", ""))


@blueprint.get("/<uuid:import_id>/changes/<int:document>/<int:place>")
def change(import_id: UUID, document: int, place: int) -> ResponseReturnValue:
    """What changes in one section, word by word."""
    item = _load(import_id)
    title, stretches = load_change(db_session(), item, document, place)
    fragment = wants_fragment()
    return render_template(
        "library/_import_change.html" if fragment else "library/import_change.html",
        title=title,
        stretches=stretches,
        item=import_view(item),
        section_language=item.language,
        at=(document, place),
    )


@blueprint.get("/<uuid:import_id>/vectors")
def vectors(import_id: UUID) -> ResponseReturnValue:
    """How much of the library is found by meaning yet."""
    item = _load(import_id)
    if not wants_fragment():
        return redirect(url_for("imports.show", import_id=import_id), HTTPStatus.SEE_OTHER)
    return render_template(
        "library/_import_vectors.html",
        item=import_view(item),
        vectors=vectors_view(db_session(), item),
    )


def _load(import_id: UUID) -> LibraryImport:
    """The import without its plan: of that, each page asks for what it shows."""
    return imports.load_import(db_session(), import_id, is_light=True)


def _do(import_id: UUID, action: Any, *arguments: Any) -> ResponseReturnValue:
    """Do what was asked and show where the import stands then; too late is told beside it."""
    session = db_session()
    try:
        item = action(session, import_id, *arguments)
    except (Conflict, InvalidInput) as error:
        session.rollback()
        return _import_page(_load(import_id), error)
    if wants_fragment():
        return _import_page(item)
    return redirect(url_for("imports.show", import_id=import_id), HTTPStatus.SEE_OTHER)


def _index_page(error: ComandaError | None = None) -> ResponseReturnValue:
    found = imports.list_imports(db_session())
    return page(
        "library/imports.html",
        error,
        imports=[{**import_view(item), "who": who_word(item, name)} for item, name in found],
        targets=targets(),
        languages=languages(),
        language=reader_language(),
    )


def _import_page(item: LibraryImport, error: ComandaError | None = None) -> ResponseReturnValue:
    fragment = wants_fragment()
    return page(
        "library/_import.html" if fragment else "library/import.html",
        error,
        fragment=fragment,
        item=import_view(item),
        **({} if item.status in imports.WORKING else _settled(item)),
    )


def _settled(item: LibraryImport) -> dict[str, Any]:
    """What is shown of an import that nothing is done with at the moment, a page of its plan."""
    session, is_ready = db_session(), item.status == "ready"
    is_applied = item.status == "applied" and not item.report.get("nothing")
    # First: where a new plan comes meanwhile, its rows are not confirmed by an old signature, while
    # a new one would confirm what nobody was shown.
    signature = load_signature(session, item.id) if is_ready else ""
    return {
        "problems": load_problem_views(session, item.id),
        "plan": load_plan_page(session, item.id, request.args.get("show", ""), page_number()),
        "documents": load_documents(session, item.id) if is_ready else [],
        "chapters": imports.list_chapters(session, item.language) if is_ready else [],
        "most_chapters": imports.MOST_CHAPTERS,
        "most_options": MOST_OPTIONS,
        "signature": signature,
        "vectors": vectors_view(session, item) if is_applied else None,
        "field_word": field_word,
    }
