"""What is offered beside an answer, and what somebody has begun and not filed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta

from flask_babel import force_locale
from flask_babel import gettext as _
from sqlalchemy import select

from app.assistant.models import Message, Thread, own
from app.assistant.tools.parts import Suggestion
from app.assistant.tools.registry import UnfinishedWork
from app.db import ScopedSession, utc_now
from app.skills.service_requests.nlu.intent import rank_types
from app.skills.service_requests.nlu.requester_replies import is_question
from app.skills.service_requests.services.type_catalog import load_tree
from app.skills.service_requests.workflow.state_loader import load_begun
from app.web.links import Link

# A thing of a type that a question names by more than one of its words, or in two ways.
NAMED = 1.5
MOST_THREADS = 5
REMEMBERED = timedelta(days=14)


def suggest_request(session: ScopedSession, message: str, language: str) -> Sequence[Suggestion]:
    """Beside the answer to a question about something that breaks: a request of its type."""
    if not is_question(message):
        return ()
    likely = rank_types(message, load_tree(session))
    if not likely or likely[0].score < NAMED:
        return ()
    name = likely[0].type.name.text(language)
    with force_locale(language):
        label = _("Open a request: %(name)s", name=name)
        return (
            Suggestion(label=label, message=_("I need a service request: %(name)s", name=name)),
        )


def unfinished_work(session: ScopedSession, language: str) -> Sequence[UnfinishedWork]:
    """The requests that the person has begun in any conversation, the latest first."""
    threads = session.execute(
        select(Thread.id, Thread.head_id)
        .where(
            *own(session, Thread),
            Thread.deleted_at.is_(None),
            Thread.last_message_at > utc_now() - REMEMBERED,
            Thread.id.in_(
                select(Message.thread_id).where(
                    *own(session, Message),
                    Message.internal_content.is_not(None),
                    Message.role == "assistant",
                )
            ),
        )
        .order_by(Thread.last_message_at.desc())
        .limit(MOST_THREADS)
    )
    found = []
    for thread_id, head_id in threads:
        begun = load_begun(session, thread_id, head_id)
        if begun is not None:
            said = _("Request not sent yet: %(name)s", name=begun.form.name.text(language))
            # Another one may be open there by the time that it is pressed.
            step = {"type": "request_cancelled", "begun_at": begun.begun_at}
            found.append(
                UnfinishedWork(
                    said,
                    Link.to("chat.thread", thread_id=thread_id),
                    Link.to("chat.post_message", thread_id=thread_id),
                    {"internal_content": json.dumps(step)},
                )
            )
    return found
