"""Accepting what a widget posts: a step, stored as the message of whoever tapped it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from app.assistant.models import Message
from app.assistant.threads.branches import language_of
from app.assistant.threads.steps import LONGEST_STEP, Posted, Step, StepReader, load_steps
from app.assistant.threads.threads import (
    Accepted,
    check_key,
    find_accepted,
    load_thread,
    queue_turn,
    raise_if_busy,
)
from app.db import ScopedSession, new_id, utc_now
from app.errors import InvalidInput
from app.fields.form_data import TypedForm

# How deep a step may be: it has a value, which is a list of files, each of which has a name.
DEEPEST_STEP = 4


def accept_step(
    session: ScopedSession,
    readers: Mapping[str, StepReader],
    *,
    thread_id: UUID,
    internal: Step,
    message_key: str | None,
    form: TypedForm | None = None,
    reserve: tuple[str, float] | None = None,
) -> Accepted:
    """Store a step as the person's message, validated, and queue the turn that goes on from it.

    The same `message_key` is the same message. With `reserve` the turn is claimed at once, as in
    `accept_message`.

    Raises:
        InvalidInput: it is no step, or its value cannot be taken; nothing is stored.
        NotFound: the thread is somebody else's.
        Conflict: it has been answered already.
        LimitReached: the person's day or the group's month is used up.
    """
    check_key(message_key)
    reader = readers.get(str(internal.get("type", "")))
    if reader is None or not _is_of_a_size(internal):
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    # It consents to nothing that ended after this moment, while it waited for the thread.
    arrived = utc_now()
    thread = load_thread(session, thread_id, lock=True)
    known = find_accepted(session, thread_id, message_key)
    if known is not None:
        return known
    language = language_of(session, thread.id)
    steps = load_steps(session, thread_id, thread.head_id)
    valid = reader(session, Posted(internal, thread, language, steps, form))
    question = Message(
        id=new_id(),
        group_id=thread.group_id,
        user_id=thread.user_id,
        thread_id=thread.id,
        parent_id=thread.head_id,
        role="user",
        content=valid.content,
        internal_content=valid.internal,
        message_key=message_key,
        language=language,
        created_at=arrived,
    )
    try:
        accepted = queue_turn(session, thread, question, {}, reserve, is_first=False)
        session.commit()
    except IntegrityError as error:
        session.rollback()
        known = find_accepted(session, thread_id, message_key)
        if known is not None:
            return known
        raise_if_busy(error)
        raise
    return accepted


def _is_of_a_size(internal: Step) -> bool:
    return _is_shallow(internal) and len(json.dumps(internal, default=str)) <= LONGEST_STEP


def _is_shallow(value: Any, depth: int = DEEPEST_STEP) -> bool:
    """Whether what reads a value by going into it comes to an end before it is out of depth."""
    if not isinstance(value, (dict, list)):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_shallow(each, depth - 1) for each in inside)
