"""The chat pages and their partials; the event stream is in app.assistant.web.stream.

A message of a person's or of a widget's is taken here, and what is thought of a reply: the thumbs
under it, and the small form that asks what was wrong with it.
"""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import force_locale
from flask_babel import gettext as _
from flask_login import current_user

from app.assistant.feedback.feedback import feedback_on, load_reply, rate_reply, withdraw_feedback
from app.assistant.models import Message, Thread
from app.assistant.proposals.proposals import list_pending, part_as_of_now, proposals_of
from app.assistant.threads.branches import is_shown
from app.assistant.threads.history import messages_around
from app.assistant.threads.step_posts import accept_step
from app.assistant.threads.steps import LONGEST_STEP
from app.assistant.threads.threads import (
    CHAT,
    PAGE_MESSAGES,
    Accepted,
    accept_message,
    ask_again,
    latest_messages,
    load_message,
    load_thread,
    request_stop,
    show_branch,
)
from app.assistant.tools.parts import Suggestion
from app.assistant.tools.registry import UnfinishedWork
from app.assistant.tools.sent_data import now_sent
from app.assistant.turns.ask import announce, turn_request
from app.assistant.turns.events import EventLog
from app.assistant.turns.language import detect_language
from app.assistant.web.conversation import (
    ThreadView,
    another_branch,
    cursor_after,
    exchange,
    history_by_day,
    home_of,
    last_page,
    page_of,
    presence_of,
    redrawn,
    talk_facts,
    tip_of,
    view_messages,
)
from app.assistant.web.presenters import found_nothing, view_part
from app.assistant.web.stream import ThreadEvents
from app.errors import ComandaError, Conflict, InvalidInput, LimitReached, NotFound
from app.extensions import services
from app.text.json_text import parse_json
from app.web.issued_ids import is_issued, issue_id
from app.web.links import Link
from app.web.navigation import first_page
from app.web.pages import choose_language, db_session, is_htmx, require_role
from app.web.rate_limits import limit_chat_changes, limit_decisions, limit_messages, limit_person
from app.web.request_body import MOST_VALUES_OF_A_BODY

# JSON may write each sign of a text as an escape of six.
LONGEST_ESCAPED = 6
blueprint = Blueprint("chat", __name__)
streams = ThreadEvents("streams", __name__)
streams.add_url_rule("/chat/<uuid:thread_id>/events", "events", streams.stream)
feedback = Blueprint(
    "feedback",
    __name__,
    url_prefix="/chat/<uuid:thread_id>/messages/<uuid:message_id>/feedback",
)


@blueprint.before_request
@streams.before_request
@feedback.before_request
def signed_in_only() -> None:
    require_role()


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """Where a person begins: the chat, or the work of those who have one."""
    return redirect(first_page(db_session()))


@blueprint.get("/chat")
def new() -> ResponseReturnValue:
    """An empty conversation; it is stored with its first message."""
    thread = ThreadView(str(issue_id()), _("New chat"), is_new=True)
    return render_template("chat/page.html", **_page(thread, [], ""))


@blueprint.get("/chat/<uuid:thread_id>")
def thread(thread_id: UUID) -> ResponseReturnValue:
    """A conversation: its last messages, and where the live events go on."""
    session = db_session()
    found = load_thread(session, thread_id)
    if found.context_type != CHAT:
        return redirect(home_of(found))
    # The position is read before the snapshot, so that nothing falls between the two.
    tip = tip_of(thread_id)
    before, at = _before(), request.args.get("at", type=UUID)
    around = messages_around(session, thread_id, at, PAGE_MESSAGES + 1) if at else []
    messages, earlier = page_of(around) if around else last_page(thread_id, before)
    is_past = bool(before or around)
    view = ThreadView(str(found.id), found.title, is_new=False)
    page = _page(view, messages, tip if is_past else cursor_after(messages, tip)) | _edited(
        thread_id
    )
    return render_template("chat/page.html", **page, earlier=earlier, later=is_past)


@blueprint.get("/chat/<uuid:thread_id>/earlier")
def earlier(thread_id: UUID) -> ResponseReturnValue:
    """The messages before one that is shown, for a page that is scrolled up."""
    thread = load_thread(db_session(), thread_id)
    messages, more = last_page(thread_id, _before())
    views = view_messages(messages)
    return render_template("chat/_earlier.html", thread=thread, messages=views, earlier=more)


def _edited(thread_id: UUID) -> dict[str, Any]:
    """What the composer begins with, where the address says that a message is to be changed."""
    asked = request.args.get("edit", type=UUID)
    if asked is None:
        return {}
    with suppress(NotFound):
        found = load_message(db_session(), thread_id, asked)
        return {"draft": found.content, "edits": str(asked)} if found.role == "user" else {}
    return {}


def _before() -> UUID | None:
    """The message that the address says to end before; none where it names no id."""
    return request.args.get("before", type=UUID)


@blueprint.post("/chat/<uuid:thread_id>/messages")
@limit_messages
def post_message(thread_id: UUID) -> ResponseReturnValue:
    """Take a message; answer with its bubble and an empty one that fills by events."""
    if request.is_json or "internal_content" in request.form:
        return post_step(thread_id)
    edits = request.form.get("edits", type=UUID)
    try:
        accepted = _accept(thread_id, edits)
    except (InvalidInput, LimitReached) as error:
        if is_htmx():
            raise
        return _page_with_draft(thread_id, error)
    if edits and not accepted.repeated:
        return another_branch(accepted.thread)
    announce(EventLog(services().redis), accepted)
    if not is_htmx():
        return redirect(url_for("chat.thread", thread_id=thread_id), 303)
    return exchange(accepted)


@blueprint.post("/chat/<uuid:thread_id>/messages/<uuid:message_id>/again")
@limit_messages
def again(thread_id: UUID, message_id: UUID) -> ResponseReturnValue:
    """Have a reply made again; the one there is stays reachable."""
    return another_branch(ask_again(db_session(), thread_id, message_id).thread)


@blueprint.post("/chat/<uuid:thread_id>/branch")
@limit_chat_changes
def branch(thread_id: UUID) -> ResponseReturnValue:
    """Show another branch of the conversation."""
    chosen = request.form.get("message_id", type=UUID)
    if chosen is None:
        raise NotFound("This message does not exist, or it is not yours.")
    return another_branch(show_branch(db_session(), thread_id, chosen))


@blueprint.post("/chat/<uuid:thread_id>/stop")
@limit_decisions
def stop(thread_id: UUID) -> ResponseReturnValue:
    """End the answer that is running; what it said so far stays."""
    for reply_id in request_stop(db_session(), thread_id):
        facts = {"message_id": str(reply_id), "status": "stopped"}
        EventLog(services().redis).announce(thread_id, "done", facts)
    if not is_htmx():
        return redirect(url_for("chat.thread", thread_id=thread_id), 303)
    return "", 204


@blueprint.get("/chat/<uuid:thread_id>/messages/<uuid:message_id>")
def message(thread_id: UUID, message_id: UUID) -> ResponseReturnValue:
    """One bubble, as it stands now; none for a page that misses it, if it is on another branch."""
    session = db_session()
    thread, found = load_thread(session, thread_id), load_message(session, thread_id, message_id)
    if "missed" in request.args and not is_shown(session, thread, found, PAGE_MESSAGES):
        return "", 204
    [view] = view_messages([found])
    presence = presence_of([found]) if found.id == thread.head_id else ""
    return render_template("chat/_bubble.html", message=view, thread=thread, presence=presence)


@blueprint.get("/chat/<uuid:thread_id>/messages/<uuid:message_id>/parts/<int:index>")
def part(thread_id: UUID, message_id: UUID, index: int) -> ResponseReturnValue:
    """One part of a reply, for a page that follows it live."""
    [found] = redrawn([load_message(db_session(), thread_id, message_id)])
    if index >= len(found.parts):
        raise NotFound("This message does not exist, or it is not yours.")
    stored = part_as_of_now(found.parts[index], proposals_of(db_session(), [found]))
    view = view_part(stored, services().registry)
    if view is None:
        return "", 204
    return render_template(view["template"], part=view["part"], **_thread_facts(thread_id))


@blueprint.get("/help")
def help_page() -> ResponseReturnValue:
    """Who answers here, and how an admin sets up a language model."""
    settings, every = services().settings, services().registry.sends
    return render_template(
        "chat/help.html",
        presence=presence_of([]),
        settings=settings,
        sent=now_sent(every, settings),
        with_model=[each for each in every if each.receiver == "model"],
    )


@blueprint.get("/chat/history")
def history() -> ResponseReturnValue:
    """The person's conversations, by day."""
    current = request.args.get("current", "")
    return render_template("chat/_history.html", history=history_by_day(current))


def _accept(thread_id: UUID, edits: UUID | None) -> Accepted:
    """Store the posted message and queue its turn."""
    session, form = db_session(), request.form
    words = form.get("message", "")
    asked = turn_request(
        session, services().registry, form.get("domain") or None, form.get("action") or None
    )
    return accept_message(
        session,
        thread_id=thread_id,
        may_begin=is_issued(thread_id),
        message=words,
        message_key=form.get("message_key") or None,
        language=detect_language(words, current_user.language),
        request=asked,
        instead_of=edits,
        seen=form.get("seen", ""),
    )


def _page_with_draft(thread_id: UUID, error: ComandaError) -> ResponseReturnValue:
    """The page again for a browser without scripts: what is wrong, and what was typed."""
    session = db_session()
    try:
        found: Thread | None = load_thread(session, thread_id)
    except NotFound:
        found = None
    messages = latest_messages(session, thread_id) if found else []
    view = ThreadView(str(thread_id), found.title if found else _("New chat"), found is None)
    kind = "warn" if isinstance(error, LimitReached) else "error"
    flash(_(error.message, **error.told(choose_language())), kind)
    kept = {"draft": request.form.get("message", ""), "edits": request.form.get("edits", "")}
    page = _page(view, messages, "") | kept
    return render_template("chat/page.html", **page), error.status


def _page(thread: ThreadView, messages: list[Message], cursor: str) -> dict[str, Any]:
    return {
        **talk_facts(thread, messages, cursor),
        "history": history_by_day("" if thread.is_new else thread.id),
        "starters": starters(),
        "help_url": url_for("chat.help_page"),
        "unfinished_work": _open_work(thread.id),
    }


def _open_work(thread_id: str) -> list[UnfinishedWork]:
    """What the person has begun elsewhere and not finished, as the skills tell, and cards that
    wait for their yes; each conversation once, but for the one of this page.
    """
    sources, language = services().registry.unfinished_work.values(), choose_language()
    session = db_session()
    found = [work for source in sources for work in source(session, language)]
    for each in list_pending(session):
        link = Link.to("chat.thread", thread_id=each.thread_id)
        drop = Link.to("proposals.act", proposal_id=each.id, action="decline")
        if link not in [work.link for work in found]:
            said = _("Waiting for your yes: %(what)s", what=each.summary[language])
            found.append(UnfinishedWork(said, link, drop))
    here = Link.to("chat.thread", thread_id=thread_id)
    return [work for work in found if work.link != here]


def _thread_facts(thread_id: UUID, title: str = "") -> dict[str, Any]:
    return {"thread": ThreadView(str(thread_id), title, is_new=False)}


def starters() -> list[dict[str, Any]]:
    """What the skills offer to try on a first visit, in the person's language."""
    return [
        Suggestion(label=str(each.label), message=str(each.message)).model_dump(mode="json")
        for each in services().registry.first_questions
    ]


def post_step(thread_id: UUID) -> ResponseReturnValue:
    """Take what a widget posts, {content, internal_content, message_key}: a step of the thread.

    What is wrong with it is told beside its widget, which keeps what it holds.
    """
    try:
        accepted = _accept_step(thread_id)
    except (InvalidInput, Conflict) as error:
        if request.is_json:
            return _refuse_step(error)
        if is_htmx():
            raise
        flash(_(error.message, **error.params), "error")
        return redirect(url_for("chat.thread", thread_id=thread_id), HTTPStatus.SEE_OTHER)
    if not accepted.repeated:
        announce(EventLog(services().redis), accepted)
    if request.is_json:
        told = {"message_id": str(accepted.message.id), "reply_id": str(accepted.reply.id)}
        return jsonify(version="1.0", sessionId=str(thread_id), **told)
    if not is_htmx():
        return redirect(url_for("chat.thread", thread_id=thread_id), HTTPStatus.SEE_OTHER)
    return exchange(accepted)


def _accept_step(thread_id: UUID) -> Accepted:
    sent: Any = _read_json(request.get_data(as_text=True)) if request.is_json else request.form
    if not hasattr(sent, "get"):
        raise InvalidInput("The body must be a JSON object.")
    internal = sent.get("internal_content")
    if isinstance(internal, str):
        internal = _read_json(internal)
    if not isinstance(internal, dict):
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    key = sent.get("message_key")
    with force_locale(choose_language()):
        return accept_step(
            db_session(),
            services().registry.steps,
            thread_id=thread_id,
            internal=internal,
            message_key=str(key) if key else None,
            form=None if request.is_json else request.form,
        )


def _read_json(text: str) -> Any:
    """What was posted as a step; None for what is none, or longer than any is with all escaped."""
    if len(text) > LONGEST_ESCAPED * LONGEST_STEP:
        return None
    try:
        return parse_json(text, most_values=MOST_VALUES_OF_A_BODY)
    except ValueError:
        return None


def _refuse_step(error: InvalidInput | Conflict) -> ResponseReturnValue:
    message = _(error.message, **error.params)
    body: dict[str, Any] = {"error": True, "code": error.code, "message": message, "errors": {}}
    if error.field:
        body |= {"field_id": error.field, "errors": {error.field: message}}
    return jsonify(body), error.status


@feedback.get("", endpoint="ask")
def show_feedback(thread_id: UUID, message_id: UUID) -> ResponseReturnValue:
    """The form; with `?closed`, the thumbs without it."""
    reply = load_reply(db_session(), thread_id, message_id)
    is_open = "closed" not in request.args
    return _draw_feedback(reply, is_open=is_open, has_focus=not is_open)


@feedback.post("", endpoint="give")
@limit_person("60 per minute", "feedback")
def give_feedback(thread_id: UUID, message_id: UUID) -> ResponseReturnValue:
    """Keep, change or take back what the person thinks of a reply."""
    session, form = db_session(), request.form
    reply = load_reply(session, thread_id, message_id, lock=True)
    rating, reason, comment = (form.get(name, "") for name in ("rating", "reason", "comment"))
    share = "share" in form
    try:
        if rating == "none":
            withdraw_feedback(session, reply)
        else:
            rate_reply(session, reply, rating, reason, comment, share=share)
    except InvalidInput as error:
        wrong = {error.field: _(error.message, **error.params)}
        said = {"rating": "down", "reason": reason, "comment": comment, "shared_answer": share}
        return _draw_feedback(reply, is_open=True, said=said, errors=wrong), error.status
    if not is_htmx():
        back = url_for("chat.thread", thread_id=thread_id, _anchor=f"m-{message_id}")
        return redirect(back, 303)
    return _draw_feedback(reply, has_focus=True, is_thanked=rating != "none")


def _draw_feedback(reply: Message, said: dict[str, Any] | None = None, **state: Any) -> str:
    """The thumbs and the form, alone or on a page of their own."""
    given = said or feedback_on(db_session(), [reply]).get(reply.id)
    state["is_missing"] = found_nothing(reply, services().registry)
    template = "chat/_feedback.html" if is_htmx() else "chat/feedback.html"
    return render_template(template, message=reply, feedback=given, **state)
