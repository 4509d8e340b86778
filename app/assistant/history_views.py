"""The page of all one's conversations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
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

from app.assistant.export import (
    FORMATS,
    Letterhead,
    Transaction,
    as_zip,
    file_name,
    open_conversation,
)
from app.assistant.history import PAGE_THREADS, delete_thread, find_threads, rename_thread
from app.db import utc_now
from app.errors import InvalidInput
from app.extensions import limiter, services
from app.web import db_session, is_htmx, release_session, require_role

blueprint = Blueprint("history", __name__, url_prefix="/chats")


@blueprint.before_request
def signed_in_only() -> None:
    require_role()


@blueprint.get("")
@limiter.limit(
    "90 per minute",
    key_func=lambda: str(current_user.user_id),
    exempt_when=lambda: not request.args.get("q"),
)
def index() -> ResponseReturnValue:
    """All conversations, or those in which something was said; the newest first."""
    words, before = request.args.get("q", "").strip(), _moment(request.args.get("before", ""))
    found = find_threads(db_session(), words, before)
    older = found[-1].thread.last_message_at.isoformat() if len(found) == PAGE_THREADS else None
    more = f"{url_for('history.index')}?{urlencode({'q': words, 'before': older})}"
    # Typing asks for the list alone.
    template = "chat/_found_chats.html" if is_htmx() else "chat/chats.html"
    return render_template(template, found=found, words=words, more=more if older else "")


@blueprint.post("/<uuid:thread_id>/rename")
def rename(thread_id: UUID) -> ResponseReturnValue:
    """Give a conversation another name."""
    try:
        thread = rename_thread(db_session(), thread_id, request.form.get("title", ""))
        flash(_("It is called “%(title)s” now.", title=thread.title), "success")
    except InvalidInput as error:
        flash(_(error.message, **error.params), "error")
    return _back()


@blueprint.post("/<uuid:thread_id>/delete")
def delete(thread_id: UUID) -> ResponseReturnValue:
    """Take a conversation off the list."""
    delete_thread(db_session(), thread_id)
    flash(_("The conversation is deleted."), "success")
    return _back()


@blueprint.get("/<uuid:thread_id>/export.<any(md, json):extension>")
def export(thread_id: UUID, extension: str) -> ResponseReturnValue:
    """One conversation as a file."""
    transaction, letterhead = _reading(), _letterhead()
    conversation = open_conversation(transaction, thread_id)
    mimetype, write = FORMATS[extension]
    name = file_name(conversation.thread, letterhead.zone, extension)
    return _attachment(write(conversation, letterhead), name, mimetype)


@blueprint.get("/export.zip")
@limiter.limit("10 per minute", key_func=lambda: str(current_user.user_id))
def export_all() -> ResponseReturnValue:
    """All conversations, each as two files."""
    name = f"chats-{utc_now().astimezone(current_user.zone).date().isoformat()}.zip"
    return _attachment(as_zip(_reading(), _letterhead()), name, "application/zip")


def _reading() -> Transaction:
    """Transactions of the person's own scope, for longer than the request's session lives."""
    database, scope = services().database, current_user.scope
    return lambda: database.transaction(scope)


def _letterhead() -> Letterhead:
    site = request.url_root.rstrip("/")
    return Letterhead(current_user.group_name, current_user.zone, site)


def _attachment(
    content: Iterator[str] | Iterator[bytes], name: str, mimetype: str
) -> ResponseReturnValue:
    """A file that is written while it is sent; the request's own connection is given back."""
    release_session()
    response = Response(stream_with_context(content), content_type=mimetype)
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
