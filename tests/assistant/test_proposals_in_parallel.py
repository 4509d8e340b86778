"""A thousand random answers to proposals by eight clients at once, over real HTTP.

What must hold whatever the order: a proposal is executed exactly once or not at all, all who
confirmed it are told the same result, and the audit tells the whole story.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from sqlalchemy import select, text

from app.accounts.models import AuditEntry
from app.assistant.models import Proposal
from app.assistant.proposals.proposals import offer
from app.assistant.tools.tool import Draft, ToolContext
from app.config import Settings
from app.db import Database
from tests.assistant.processes import Processes
from tests.factories import Member, api_token, make_thread, make_user
from tests.fridge_log import LogTemperature, Reading, make_table

OPERATIONS, CLIENTS, THREADS = 1000, 8, 12
SEED = 20261120


@dataclass
class Told:
    """What the server answered to all clients together."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    results: dict[UUID, set[str]] = field(default_factory=lambda: defaultdict(set))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, action: str, proposal_id: UUID, status: int, body: bytes) -> None:
        with self.lock:
            self.answers[action, status] += 1
            if action == "confirm" and status == 200:
                self.results[proposal_id].add(json.loads(body)["part"]["result_id"])


@dataclass(frozen=True)
class Board:
    """The proposals there are, to which the clients keep adding."""

    database: Database
    owner: Member
    threads: list[tuple[UUID, UUID]]
    known: list[UUID] = field(default_factory=list)

    def propose(self, dice: random.Random) -> None:
        """As a turn does when the model calls a writing tool."""
        tool = LogTemperature()
        thread_id, message_id = dice.choice(self.threads)
        reading = Reading(unit=dice.choice(["walk-in", "freezer", "bar"]), degrees=dice.random())
        context: ToolContext = None  # type: ignore[assignment]  # this tool looks at none
        draft: Draft = tool.propose(reading, context)
        with self.database.transaction(self.owner.scope) as session:
            found = offer(session, tool, draft, thread_id=thread_id, message_id=message_id)
        self.known.append(found.id)


@pytest.fixture(scope="module")
def port(processes: Processes, settings: Settings, owner: Database) -> Iterator[int]:
    """A web server with two workers whose house keeps a fridge log."""
    make_table(owner, settings.database_url or "")
    program, port = processes.start_web(app="tests.fridge_log.unhurried:app")
    yield port
    program.kill()


def act(board: Board, told: Told, port: int, tokens: tuple[str, str], seed: int) -> None:
    """One client: so many random operations, some of them by somebody else."""
    dice = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(OPERATIONS // CLIENTS):
        if not board.known or dice.random() < 0.15:
            board.propose(dice)
            continue
        # Mostly the newest, so that clients meet; sometimes one that is long decided.
        recent = board.known[-4:] if dice.random() < 0.8 else board.known
        proposal_id = dice.choice(recent)
        action = dice.choices(["confirm", "decline", "undo", "bring-back"], [5, 2, 2, 2])[0]
        stranger = dice.random() < 0.05
        headers = {"Authorization": f"Bearer {tokens[stranger]}"}
        connection.request("POST", f"/api/proposals/{proposal_id}/{action}", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        if stranger:
            assert answer.status == 404
        else:
            told.note(action, proposal_id, answer.status, body)
    connection.close()


@pytest.mark.soak
def test_a_thousand_random_answers_execute_each_proposal_once_or_not_at_all(
    database: Database, owner: Database, port: int
) -> None:
    member, stranger = make_user(owner), make_user(owner)
    tokens = (api_token(owner, member), api_token(owner, stranger))
    board = Board(database, member, [a_thread(database, member) for _ in range(THREADS)])
    told = Told()
    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(act, board, told, port, tokens, SEED + n) for n in range(CLIENTS)]
        for client in clients:
            client.result()
    print(f"{len(board.known)} proposals; answers: {sorted(told.answers.items())}")
    assert {status for _, status in told.answers} == {200, 409}
    check(owner, member, told)


def a_thread(database: Database, member: Member) -> tuple[UUID, UUID]:
    """A conversation and the reply in it that shows what is proposed."""
    thread_id = make_thread(database, member)
    with database.transaction(member.scope) as session:
        query = text("SELECT head_id FROM threads WHERE id = :id")
        head: UUID = session.execute(query, {"id": thread_id}).scalar_one()
    return thread_id, head


def check(owner: Database, member: Member, told: Told) -> None:
    """Compare the log, the proposals, the audit and what the clients were told."""
    mine = Proposal.user_id == member.user_id
    with owner.transaction() as session:
        proposals = session.scalars(select(Proposal).where(mine)).all()
        query = text("SELECT id FROM for_tests.fridge_log WHERE user_id = :user")
        rows = {str(id_) for (id_,) in session.execute(query, {"user": member.user_id})}
        audit = Counter(
            (entry.action, entry.subject, entry.digest)
            for entry in session.scalars(
                select(AuditEntry).where(
                    AuditEntry.user_id == member.user_id, AuditEntry.action.like("tool.%")
                )
            )
        )
    done = {found.id: found for found in proposals if found.state == "confirmed"}
    assert len(done) > 50, "too few were confirmed for this to say anything"
    receipts = {id_: (found.receipt or {})["result_id"] for id_, found in done.items()}
    assert rows == {receipts[id_] for id_, found in done.items() if not found.undone_at}
    assert told.results == {id_: {receipts[id_]} for id_ in done}
    expected = Counter(("tool.log_temperature", receipts[i], p.digest) for i, p in done.items())
    expected += Counter(
        ("tool.log_temperature.undo", receipts[i], p.digest) for i, p in done.items() if p.undone_at
    )
    assert audit == expected
    open_by_thread = Counter(found.thread_id for found in proposals if found.state == "pending")
    assert max(open_by_thread.values(), default=0) <= 1
