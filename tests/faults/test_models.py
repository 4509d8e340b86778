"""A model that fails in each of its ways: tried again a little, never after its first word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from flask import Flask

from app.assistant.models import Message
from app.db import Database
from tests.assistant.chatting import finished_reply, listening
from tests.assistant.processes import Processes
from tests.assistant.web_client import WebClient
from tests.factories import make_user
from tests.model_server import (
    CutAfter,
    Ending,
    HttpError,
    ModelServer,
    Page,
    Raw,
    Say,
    Stall,
    Step,
    scenario,
)

# What it does; how often it may be asked; and who answers in the end.
BEFORE_THE_FIRST_WORD: dict[str, tuple[Sequence[Step], int]] = {
    "busy": ([HttpError(429, retry_after=0.1)], 4),
    "broken": ([HttpError(500)], 4),
    "silent": ([Stall(30)], 4),
    "silent but alive": ([Stall(30, ping=0.2)], 4),
    "cut": ([CutAfter(0), Say("never")], 4),
}
NOT_TO_BE_READ: dict[str, Sequence[Step]] = {
    "page": [Page("<h1>Gateway</h1>")],
    "garbage": [Raw(b"data: {no json\n\n"), Ending(reason=None, usage=False, done=False)],
}

AFTER_THE_FIRST_WORD: dict[str, Sequence[Step]] = {
    "cut": [CutAfter(3), Say("one two three four five")],
    "stalled": [Say("one two three"), Stall(30)],
}


@contextmanager
def one_runner(processes: Processes, **settings: str) -> Iterator[None]:
    """One runner of a test's own: what fails in one test must not open another's breaker."""
    for other in processes.runners:
        other.kill()
    runner = processes.start_runner(**settings)
    runner.wait_for(lambda: "runner ready" in runner.output)
    yield
    runner.kill()


@pytest.fixture
def person(app: Flask, owner: Database, web: tuple[object, int]) -> WebClient:
    return WebClient(app, owner, make_user(owner), web[1])


def calls(model: ModelServer, message: str) -> int:
    return len([call for call in model.calls if call.message == message])


@pytest.mark.fault(20)
def test_before_its_first_word_a_model_is_asked_again_a_little_and_then_stood_in_for(
    person: WebClient, processes: Processes, shared_model: ModelServer, owner: Database
) -> None:
    with one_runner(processes, AI_FIRST_TOKEN_TIMEOUT_SECONDS="0.5"):
        for name, (steps, most) in BEFORE_THE_FIRST_WORD.items():
            question = f"are you a bot? {name}"
            shared_model.script(scenario(list(steps), when=f"bot. {name}$"))
            thread_id = person.new_id()
            with listening(person, thread_id, question) as reader:
                reader.wait_for("done")
            reply = finished_reply(owner, thread_id)
            who = (reply.status, reply.provider, reply.degraded)
            assert who == ("complete", "builtin", True), name
            # Once too many have failed it is not asked at all for a while.
            assert calls(shared_model, question) <= most, name


@pytest.mark.fault(20)
def test_what_cannot_be_read_or_breaks_off_is_told_in_words_and_not_asked_for_again(
    person: WebClient, processes: Processes, shared_model: ModelServer, owner: Database
) -> None:
    with one_runner(processes, AI_TURN_TIMEOUT_SECONDS="2"):
        for kind, steps in NOT_TO_BE_READ.items():
            reply = answered(person, shared_model, owner, f"are you a bot? {kind}", steps)
            if reply.status == "complete":
                assert (reply.provider, reply.degraded) == ("builtin", True), kind
            else:
                assert reply.parts[0]["type"] == "notice", kind
            assert calls(shared_model, f"are you a bot? {kind}") <= 4, kind
        for kind, steps in AFTER_THE_FIRST_WORD.items():
            reply = answered(person, shared_model, owner, f"halfway {kind}", steps)
            assert (reply.status, reply.content) == ("interrupted", "one two three"), kind
            assert calls(shared_model, f"halfway {kind}") == 1, kind


def answered(
    person: WebClient, model: ModelServer, owner: Database, question: str, steps: Sequence[Step]
) -> Message:
    """The reply to a question, to which the model does this."""
    model.script(scenario(list(steps), when=re.escape(question)))
    thread_id = person.new_id()
    assert person.send(thread_id, question).status == 200
    return finished_reply(owner, thread_id)
