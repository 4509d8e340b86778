"""Chatting with the real processes: what a person sends, hears, and finds stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from app.assistant.models import Message, Turn
from app.db import Database
from tests.assistant.processes import wait_until
from tests.assistant.web_client import StreamReader, WebClient
from tests.model_server import Say, scenario

WORDS = [f"word{number} " for number in range(60)]
WHOLE = "".join(WORDS)


def slow(seconds: float, **options: Any) -> Any:
    """A model that takes so long for its sixty words."""
    return scenario(Say(WORDS, delay=seconds / len(WORDS)), **options)


def messages(owner: Database, thread_id: UUID) -> list[Message]:
    with owner.session() as session:
        query = select(Message).where(Message.thread_id == thread_id).order_by(Message.id)
        return list(session.scalars(query))


def replies(owner: Database, thread_id: UUID) -> list[Message]:
    return [message for message in messages(owner, thread_id) if message.role == "assistant"]


def finished_reply(owner: Database, thread_id: UUID, seconds: float = 20) -> Message:
    """The thread's one reply, once it is finished."""

    def look() -> list[Message]:
        found = replies(owner, thread_id)
        return [r for r in found if r.status not in ("queued", "streaming")]

    wait_until(look, seconds)
    [reply] = replies(owner, thread_id)
    return reply


def turn_of(owner: Database, thread_id: UUID) -> Turn:
    with owner.session() as session:
        return session.scalars(select(Turn).where(Turn.thread_id == thread_id)).one()


def running_turn(owner: Database, thread_id: UUID) -> Turn:
    """The thread's turn, once a runner has taken it."""

    def look() -> Turn | None:
        found = turn_of(owner, thread_id)
        return found if found.status == "running" else None

    turn: Turn = wait_until(look)
    return turn


def check_ids(reader: StreamReader) -> None:
    """Every id once, in order, without a gap."""
    numbers = [int(event.id.rsplit("-", 1)[1]) for event in reader.received if event.id]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert len({event.id.rsplit("-", 1)[0] for event in reader.received if event.id}) == 1


@contextmanager
def listening(person: WebClient, thread_id: UUID, message: str) -> Iterator[StreamReader]:
    """A stream opened as the page does: right after the first message is sent."""
    assert person.send(thread_id, message, message_key=uuid4().hex).status == 200
    with StreamReader(person, thread_id) as reader:
        yield reader


def pid_of(turn: Turn) -> int:
    return int(turn.runner_id.rsplit(":", 1)[1])


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    results: list[Any] = [None] * len(actions)
    barrier = threading.Barrier(len(actions))

    def run(place: int, action: Callable[[], Any]) -> None:
        barrier.wait()
        results[place] = action()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
