"""A model that is down for a minute in the middle of a busy chat: what the users saw."""

from __future__ import annotations

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from sqlalchemy import func, select

from app.assistant.models import Message
from app.db import Database
from tests.assistant.processes import Processes
from tests.factories import Member, api_token, embed_library, make_section, make_user
from tests.model_server import HttpError, ModelServer, Say, scenario

PEOPLE, EVERY, LASTS = 6, 4.0, 150.0
DOWN_FROM, DOWN_FOR = 30.0, 60.0
# Between what the model's server does and what a question finds out: a question's own time,
# and after the outage the breaker's pause.
SLACK, RECOVERY = 8.0, 45.0
QUESTIONS = (
    ("en", "How long can raw chicken stay out?"),
    ("es", "¿Cuánto tiempo puede estar fuera el pollo crudo?"),
    ("en", "Hello"),
    ("en", "Thank you"),
)


@dataclass(frozen=True)
class Seen:
    """One question and the reply that its person read."""

    at: float
    seconds: float
    who: int
    question: str
    status: str
    degraded: bool
    words: str

    def __str__(self) -> str:
        by = "built-in, degraded" if self.degraded else "model"
        words = " ".join(self.words.split())[:70]
        return (
            f"{self.at:6.1f} s  person {self.who}  {self.question:<48} -> {self.status}"
            f" in {self.seconds:4.1f} s by {by}: {words}"
        )


def ask(port: int, token: str, **body: str) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("POST", "/api/ask", json.dumps(body), headers)
    answer = connection.getresponse()
    told: dict[str, object] = json.loads(answer.read())
    connection.close()
    assert answer.status == 200, told
    return told


def chat(port: int, owner: Database, member: Member, who: int, began: float) -> list[Seen]:
    """One person who asks every few seconds, in one conversation."""
    token, session, seen = api_token(owner, member), {}, []
    time.sleep(who * EVERY / PEOPLE)
    while (at := time.monotonic() - began) < LASTS:
        language, question = QUESTIONS[len(seen) % len(QUESTIONS)]
        told = ask(port, token, message=question, language=language, **session)
        session = {"sessionId": str(told["sessionId"])}
        seconds = time.monotonic() - began - at
        answer = Seen(
            at, seconds, who, question, str(told["status"]), bool(told["degraded"]),
            str(told["message"]),
        )  # fmt: skip
        seen.append(answer)
        time.sleep(max(0.0, EVERY - seconds))
    return seen


def go_down(model: ModelServer, began: float) -> None:
    """Refuse everything for a minute, then be well again."""
    time.sleep(max(0.0, began + DOWN_FROM - time.monotonic()))
    model.script(scenario([HttpError(503)]))
    time.sleep(DOWN_FOR)
    model.script(scenario([Say("Here is what I know.", delay=0.01)]))


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_model_that_is_down_for_a_minute_leaves_nobody_without_an_answer(
    processes: Processes, shared_model: ModelServer, owner: Database, database: Database
) -> None:
    processes.ensure_runners(2)
    _program, port = processes.start_web()
    group = make_user(owner).group_id
    make_section(owner, group)
    embed_library(owner, group)
    members = [make_user(owner, group) for _ in range(PEOPLE)]
    shared_model.script(scenario([Say("Here is what I know.", delay=0.01)]))
    began = time.monotonic()
    threading.Thread(target=go_down, args=(shared_model, began), daemon=True).start()
    with ThreadPoolExecutor(PEOPLE) as pool:
        chats = [pool.submit(chat, port, owner, m, who, began) for who, m in enumerate(members)]
        seen = sorted((line for chat_ in chats for line in chat_.result()), key=lambda s: s.at)
    print("\n".join(map(str, seen)))
    check(seen)
    with owner.transaction() as session:
        replies = select(func.count()).where(
            Message.group_id == group, Message.role == "assistant", Message.status == "complete"
        )
        assert session.scalar(replies) == len(seen)


def check(seen: list[Seen]) -> None:
    """Everybody was answered at all times, in words, and told by whom."""
    back = DOWN_FROM + DOWN_FOR
    assert all(line.status == "complete" and line.words for line in seen)
    down = [line for line in seen if DOWN_FROM + SLACK < line.at < back - SLACK]
    well = [line for line in seen if line.at < DOWN_FROM - SLACK or line.at > back + RECOVERY]
    assert down
    assert well
    assert all(line.degraded for line in down)
    assert not any(line.degraded for line in well)
    # Once the breaker is open nobody waits for a server that does not answer.
    waits = sorted(line.seconds for line in down)
    assert waits[len(waits) // 2] < 4, waits
