"""A conversation as its pages show it: the chat's own, and those beside something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile
from typing import Any
from uuid import UUID, uuid4

from flask import redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_babel import format_date, format_time
from flask_babel import gettext as _
from flask_login import current_user
from redis import RedisError
from sqlalchemy.orm.attributes import set_committed_value

from app.accounts.clock import local_now
from app.assistant.feedback.feedback import feedback_on
from app.assistant.models import UNFINISHED, Message, Thread
from app.assistant.proposals.proposals import proposals_of
from app.assistant.threads.branches import places
from app.assistant.threads.threads import (
    CHAT,
    PAGE_MESSAGES,
    Accepted,
    latest_messages,
    recent_threads,
)
from app.assistant.turns.events import RESET, EventLog
from app.assistant.web.presenters import MessageView, view_message
from app.extensions import services
from app.web.pages import db_session, is_htmx
from app.web.urls import url_of


@dataclass(frozen=True)
class ThreadView:
    id: str
    title: str
    is_new: bool
    is_current: bool = False
    is_chat: bool = True
    # When it was used last, where another one in the list is called the same.
    at: str = ""


def home_of(thread: Thread) -> str:
    """The address of the page that a conversation is on; what it is beside, if it is no chat."""
    kind = services().registry.conversations.get(thread.context_type)
    if thread.context_type == CHAT or kind is None:
        return url_for("chat.thread", thread_id=thread.id)
    return url_of(kind.page(db_session(), thread.id))


def talk_facts(thread: ThreadView, messages: Sequence[Message], cursor: str) -> dict[str, Any]:
    """What the partials of a conversation need; its stream goes on at `cursor`."""
    return {
        "thread": thread,
        "messages": view_messages(messages),
        "running": any(message.status in UNFINISHED for message in messages),
        "seen": last_whole(messages),
        "cursor": cursor,
        "presence": presence_of(messages),
        "message_key": uuid4().hex,
    }


def last_whole(messages: Sequence[Message]) -> str:
    """The last message up to which all are whole; "" where none is."""
    whole = takewhile(lambda message: message.status not in UNFINISHED, messages)
    return next((str(message.id) for message in reversed(list(whole))), "")


def talk_beside(thread: Thread) -> dict[str, Any]:
    """The end of a conversation for the page of what it is about."""
    # The position is read before the snapshot, so that nothing falls between the two.
    tip = tip_of(thread.id)
    messages, earlier = last_page(thread.id, None)
    view = ThreadView(str(thread.id), thread.title, is_new=False, is_chat=False)
    return {**talk_facts(view, messages, cursor_after(messages, tip)), "earlier": earlier}


def no_talk_yet(thread_id: UUID) -> dict[str, Any]:
    """The same for a conversation that nothing has been said in."""
    view = ThreadView(str(thread_id), "", is_new=True, is_chat=False)
    return {**talk_facts(view, [], ""), "earlier": None}


def last_page(thread_id: UUID, before: UUID | None) -> tuple[list[Message], UUID | None]:
    """The last messages (before one), and the first of them where there are more before it."""
    return page_of(latest_messages(db_session(), thread_id, PAGE_MESSAGES + 1, before))


def page_of(found: list[Message]) -> tuple[list[Message], UUID | None]:
    """What a page shows of these, and the first of it where one of them is left out."""
    messages = found[-PAGE_MESSAGES:]
    return messages, messages[0].id if len(found) > len(messages) else None


def tip_of(thread_id: UUID) -> str:
    """The thread's latest event; empty while Redis is away, which keeps no page from opening."""
    try:
        return EventLog(services().redis).tip(thread_id)
    except RedisError:
        return ""


def another_branch(thread: Thread) -> ResponseReturnValue:
    """The messages of the branch that is shown from now on, here and on other pages."""
    EventLog(services().redis).announce(thread.id, RESET, {"all": True})
    if not is_htmx():
        return redirect(home_of(thread), 303)
    messages, earlier = last_page(thread.id, None)
    page = render_template(
        "chat/_branch.html",
        thread=thread,
        messages=view_messages(messages),
        earlier=earlier,
        presence=presence_of(messages),
    )
    return page, 200, {"HX-Retarget": "#messages", "HX-Reswap": "innerHTML"}


def exchange(accepted: Accepted) -> ResponseReturnValue:
    """What sending a message appends: its bubble, and the reply that is being made."""
    thread, address = accepted.thread, home_of(accepted.thread)
    if accepted.repeated:
        # The first answer to this post may have been lost: show the thread as it is.
        return "", 204, {"HX-Redirect": address}
    is_chat = thread.context_type == CHAT
    response = render_template(
        "chat/_exchange.html",
        # What was written just now has neither siblings nor proposals to look up.
        messages=[
            view_message(new, services().registry) for new in (accepted.message, accepted.reply)
        ],
        cursor="",
        history=history_by_day(str(thread.id)) if accepted.is_titled and is_chat else [],
        thread=ThreadView(str(thread.id), thread.title, accepted.is_first, is_chat=is_chat),
    )
    return response, 200, {"HX-Push-Url" if is_chat else "HX-Replace-Url": address}


def view_messages(messages: Sequence[Message]) -> list[MessageView]:
    """Messages as they are drawn, with what became of their proposals, siblings and thumbs."""
    session = db_session()
    messages = redrawn(messages)
    proposals, siblings = proposals_of(session, messages), places(session, messages)
    given = feedback_on(session, messages)
    return [
        view_message(
            message,
            services().registry,
            proposals,
            siblings.get(message.id),
            given.get(message.id),
        )
        for message in messages
    ]


def redrawn(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages with their skills' parts as they are by now; what is stored stays."""
    session, redraws = db_session(), services().registry.refreshers
    shown = {part.get("type") for message in messages for part in message.parts}
    for source in {redraws[kind] for kind in shown if kind in redraws}:
        changed = source(session, messages)
        for message in messages:
            parts = [
                changed[message.id, place].model_dump(mode="json")
                if (message.id, place) in changed
                else part
                for place, part in enumerate(message.parts)
            ]
            set_committed_value(message, "parts", parts)
    return messages


def cursor_after(messages: Sequence[Message], tip: str) -> str:
    """Where the page's stream goes on: a running reply needs all since its snapshot.

    One that waits has none yet; what came after the last snapshot before it is enough.
    """
    first = next((n for n, message in enumerate(messages) if message.status in UNFINISHED), None)
    if first is None:
        return tip
    snapshots = [message.event_cursor for message in messages[: first + 1] if message.event_cursor]
    return snapshots[-1] if snapshots else ""


def presence_of(messages: Sequence[Message]) -> str:
    """Who is answering: the built-in assistant, a model, or one standing in for the other."""
    replies = [message for message in messages if message.role == "assistant"]
    if replies and replies[-1].degraded:
        return "degraded"
    return "builtin" if services().settings.provider == "builtin" else "model"


def history_by_day(current: str) -> list[tuple[str, list[ThreadView]]]:
    """The threads under the day they were last used on, in the person's zone and language."""
    days: dict[str, list[ThreadView]] = {}
    threads = recent_threads(db_session())
    titles = Counter(each.title for each in threads)
    for found in threads:
        at = _time(found) if titles[found.title] > 1 else ""
        view = ThreadView(str(found.id), found.title, False, str(found.id) == current, at=at)
        days.setdefault(_day(found), []).append(view)
    return list(days.items())


def _time(thread: Thread) -> str:
    local = thread.last_message_at.astimezone(current_user.zone)
    return str(format_time(local, "short", rebase=False))


def _day(thread: Thread) -> str:
    zone = current_user.zone
    day, today = thread.last_message_at.astimezone(zone).date(), local_now(zone).date()
    if day == today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    return str(format_date(day, "long"))
