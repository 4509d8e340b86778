"""The page of all one's conversations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, AnyStr
from urllib.parse import urlencode
from uuid import UUID

from flask import (
    Blueprint,
    Response,
    flash,
    redirect,
    render_template,
    request,
    stream_with_context,
    url_for,
)
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.clock import local_now
from app.assistant.threads.deletion import delete_thread, deleted_lately, restore_thread
from app.assistant.threads.export import (
    FORMATS,
    Letterhead,
    as_zip,
    file_name,
    open_conversation,
)
from app.assistant.threads.export_jobs import (
    FEW_CHATS,
    PAGE,
    begin_export,
    cancel_export,
    count_chats,
    find_export,
    load_ready_export,
    state_of,
)
from app.assistant.threads.history import PAGE_THREADS, find_threads, rename_thread
from app.assistant.web.conversation import history_by_day
from app.errors import Conflict, InvalidInput
from app.extensions import services
from app.files.views import send_stored
from app.notifications.services import read_about
from app.web.fair_queue import in_stretches
from app.web.pages import (
    choose_language,
    db_session,
    is_htmx,
    release_session,
    require_role,
    transactions,
)
from app.web.rate_limits import limit_chat_changes, limit_person

blueprint = Blueprint("history", __name__, url_prefix="/chats")


@blueprint.before_request
def signed_in_only() -> None:
    require_role()


@blueprint.get("")
@limit_person(
    "90 per minute",
    "chat searches",
    exempt_when=lambda: not request.args.get("q"),
)
def index() -> ResponseReturnValue:
    """All conversations, or those in which something was said; the newest first."""
    words, before = request.args.get("q", "").strip(), _moment(request.args.get("before", ""))
    found = find_threads(db_session(), words, before)
    older = found[-1].thread.last_message_at.isoformat() if len(found) == PAGE_THREADS else None
    more = f"{url_for('history.index')}?{urlencode({'q': words, 'before': older})}"
    facts = {"found": found, "words": words, "more": more if older else ""}
    if is_htmx():
        # Typing asks for the list alone.
        return render_template("chat/_found_chats.html", **facts)
    if read_about(db_session(), PAGE):
        db_session().commit()
    deleted = deleted_lately(db_session())
    return render_template("chat/chats.html", **facts, **_export_facts(), deleted=deleted)


def _export_facts() -> dict[str, Any]:
    session = db_session()
    export = find_export(session)
    state = state_of(export) if export else ""
    return {"export": export, "state": state, "many": count_chats(session) > FEW_CHATS}


@blueprint.post("/<uuid:thread_id>/rename")
@limit_chat_changes
def rename(thread_id: UUID) -> ResponseReturnValue:
    """Give a conversation another name."""
    wanted, problem = request.form.get("title", ""), ""
    try:
        wanted = rename_thread(db_session(), thread_id, wanted).title
    except InvalidInput as error:
        problem = _(error.message, **error.params)
    said = problem or _("It is called “%(title)s” now.", title=wanted)
    if is_htmx():
        renamed = {"title": wanted, "problem": problem, "said": said}
        history = history_by_day(str(thread_id))
        return render_template("chat/_renamed.html", history=history, renamed=renamed)
    flash(said, "error" if problem else "success")
    is_in_rail = request.form.get("from") == "rail"
    return redirect(url_for("chat.thread", thread_id=thread_id), 303) if is_in_rail else _back()


@blueprint.post("/<uuid:thread_id>/delete")
@limit_chat_changes
def delete(thread_id: UUID) -> ResponseReturnValue:
    """Take a conversation off the list; a file that has its words goes at once."""
    delete_thread(db_session(), thread_id)
    _forget_export()
    return _back()


@blueprint.post("/<uuid:thread_id>/restore")
@limit_chat_changes
def restore(thread_id: UUID) -> ResponseReturnValue:
    """Undo a deletion."""
    try:
        thread = restore_thread(db_session(), thread_id)
        flash(_("“%(title)s” is back.", title=thread.title or _("New chat")), "success")
    except Conflict as error:
        flash(_(error.message), "error")
    return _back()


@blueprint.get("/<uuid:thread_id>/export.<any(md, json):extension>")
@limit_person("30 per minute", "chat files")
def export(thread_id: UUID, extension: str) -> ResponseReturnValue:
    """One conversation as a file."""
    transaction, letterhead = transactions(), _letterhead()
    conversation = open_conversation(transaction, thread_id)
    mimetype, write = FORMATS[extension]
    name = file_name(conversation.thread, letterhead.zone, extension)
    return _attachment(write(conversation, letterhead), name, mimetype)


@blueprint.get("/export.zip")
@limit_person("10 per minute", "chat exports")
def export_all() -> ResponseReturnValue:
    """All conversations, each as two files; more than a few are made ready in the background."""
    if count_chats(db_session()) > FEW_CHATS:
        flash(
            _(
                "That is a lot of chats. Choose “Export all”, and the file will be "
                "prepared for you."
            ),
            "info",
        )
        return redirect(url_for("history.index"), 303)
    return _attachment(as_zip(transactions(), _letterhead()), _zip_name(), "application/zip")


@blueprint.post("/export")
@limit_person("10 per minute", "chat exports")
def begin() -> ResponseReturnValue:
    """Have all conversations exported in the background."""
    begin_export(db_session(), _letterhead())
    return _export_shown()


@blueprint.get("/export")
def status() -> ResponseReturnValue:
    """How far that is."""
    return _export_shown()


@blueprint.post("/export/cancel")
def cancel() -> ResponseReturnValue:
    """Stop it, or let go of the file."""
    _forget_export()
    return _export_shown()


def _forget_export() -> None:
    key = cancel_export(db_session())
    if key is not None:
        services().files.remove(key)


@blueprint.get("/export/<uuid:export_id>.zip")
def download(export_id: UUID) -> ResponseReturnValue:
    """The file that was made, for its person alone."""
    found = load_ready_export(db_session(), export_id)
    return send_stored(found.key, "application/zip", _zip_name())


def _export_shown() -> ResponseReturnValue:
    if not is_htmx():
        return redirect(url_for("history.index"), 303)
    return render_template("chat/_export.html", **_export_facts())


def _zip_name() -> str:
    return f"chats-{local_now(current_user.zone).date().isoformat()}.zip"


def _letterhead() -> Letterhead:
    # Never the host that a request claims to be for: a file is kept, and handed on.
    site = services().settings.base_url
    return Letterhead(current_user.group_name, current_user.zone, site, choose_language())


def _attachment(content: Iterator[AnyStr], name: str, mimetype: str) -> ResponseReturnValue:
    """A file that is written while it is sent; the request's own connection is given back."""
    release_session()
    unhurried = in_stretches(content, current_user.user_id)
    response = Response(stream_with_context(unhurried), content_type=mimetype)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _back() -> ResponseReturnValue:
    words = request.form.get("q", "")
    return redirect(url_for("history.index", q=words or None), 303)


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
