"""Threads with messages, answered here and now by the provider that the settings name."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import update

from app.assistant.models import Message, Turn
from app.assistant.providers.base import Provider
from app.assistant.threads.threads import Accepted, accept_message, load_message
from app.assistant.turns.executor import ClaimedTurn, Later, execute_turn
from app.assistant.turns.outcome import TurnFacts
from app.db import Database, new_id, utc_now
from tests.factories.people import Member

# Reserved, so that no runner that is up for other tests answers it.
TEST_RUNNER = ("a test", 3600.0)


def ask(
    database: Database,
    member: Member,
    text: str = "Hello",
    thread_id: UUID | None = None,
    **more: Any,
) -> Accepted:
    """Send a message as that person; its turn is left to `answer`."""
    with database.session(member.scope) as session:
        return accept_message(
            session,
            thread_id=thread_id or new_id(),
            may_begin=more.pop("may_begin", True),
            message=text,
            language=more.pop("language", member.language),
            reserve=TEST_RUNNER,
            **more,
        )


def answer(
    app: Flask,
    member: Member,
    accepted: Accepted,
    provider: Provider,
    later: Later | None = None,
) -> Message:
    """Run the turn of a message in this process, and return the reply as it is stored."""
    services, claimed = app.extensions["comanda"], ClaimedTurn(accepted.turn.id, 1, 1, member.scope)
    with app.test_request_context("/"):
        execute_turn(services, provider, claimed, later=later)
    with services.database.transaction(member.scope) as session:
        return load_message(session, accepted.thread.id, accepted.reply.id)


def make_thread(database: Database, member: Member, *texts: str, reply: str = "An answer.") -> UUID:
    """A thread in which each text was answered with `reply`; returns its id."""
    thread_id = new_id()
    for text in texts or ("Hello",):
        accepted = ask(database, member, text, thread_id)
        with database.transaction(member.scope) as session:
            session.execute(
                update(Message)
                .where(Message.id == accepted.reply.id)
                .values(content=reply, status="complete")
            )
            session.execute(
                update(Turn)
                .where(Turn.id == accepted.turn.id)
                .values(status="done", finished_at=utc_now())
            )
    return thread_id


def make_turn_facts(database: Database, member: Member, **facts: Any) -> UUID:
    """What is kept of a turn that this person's runner has finished; returns the turn's id."""
    turn_id = facts.pop("turn_id", None) or new_id()
    row = {
        "thread_id": new_id(),
        "at": utc_now(),
        "language": member.language,
        "status": "complete",
        "provider": "openai",
        **facts,
    }
    with database.transaction(member.scope) as session:
        session.add(
            TurnFacts(turn_id=turn_id, group_id=member.group_id, user_id=member.user_id, **row)
        )
    return turn_id
