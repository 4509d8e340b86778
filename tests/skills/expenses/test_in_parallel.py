"""A thousand random operations on one ledger by eight clients at once, over real HTTP.

Whatever the order: every confirmed proposal is executed exactly once, no row is lost, doubled
or another house's, sums are those of the rows, and the audit tells the whole story.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.accounts.models import AuditEntry
from app.assistant.models import Proposal
from app.assistant.proposals.proposals import offer
from app.assistant.tools.tool import CitationLedger, ToolContext, ToolFailure, WriteTool
from app.config import Settings
from app.db import Database
from app.errors import ComandaError
from app.skills.expenses.models import Expense, ExpenseMonth
from app.skills.expenses.tools.ledger_tools import AddExpense, DeleteExpense, UpdateExpense
from tests.assistant.processes import running
from tests.factories import Member, api_token, make_thread, make_user

OPERATIONS, CLIENTS, THREADS = 1000, 8, 6
SEED = 20261122
ADD, UPDATE, DELETE = "add_expense", "update_expense", "delete_expense"
WEIGHTS = {"confirm": 6, "decline": 1, "undo": 3, "bring-back": 1}


@dataclass
class Table:
    """Those who work at one ledger: their threads, what they proposed, what they were told."""

    app: Flask
    database: Database
    people: list[Member]
    threads: dict[UUID, list[tuple[UUID, UUID]]]
    proposed: list[tuple[int, UUID]] = field(default_factory=list)
    rows: list[UUID] = field(default_factory=list)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def propose(self, who: int, dice: random.Random) -> None:
        """As a turn does when the model calls a writing tool; a manager at times changes a row."""
        person = self.people[who]
        known = self.rows[-40:]
        if person.role == "staff" or not known or dice.random() < 0.4:
            tool, said = AddExpense(), _some_expense(dice)
        elif dice.random() < 0.6:
            tool, said = UpdateExpense(), _some_change(dice, dice.choice(known))
        else:
            tool, said = DeleteExpense(), {"id": str(dice.choice(known))}
        thread_id, message_id = dice.choice(self.threads[person.user_id])
        try:
            self._offer(tool, said, person, thread_id, message_id, who)
        except (ToolFailure, ComandaError):
            # The row is gone meanwhile, or says so already: nothing is proposed.
            return

    def _offer(
        self,
        tool: WriteTool,
        said: dict[str, Any],
        person: Member,
        thread_id: UUID,
        message_id: UUID,
        who: int,
    ) -> None:
        context = ToolContext(
            person.scope, "en", lambda: self.database.transaction(person.scope), CitationLedger()
        )
        with self.app.test_request_context("/"):
            draft = tool.propose(tool.arguments.model_validate(said), context)
        with self.database.transaction(person.scope) as session:
            found = offer(session, tool, draft, thread_id=thread_id, message_id=message_id)
        self.proposed.append((who, found.id))

    def note(self, action: str, status: int, body: bytes) -> None:
        with self.lock:
            self.answers[action, status] += 1
            part = json.loads(body).get("part", {}) if status == 200 else {}
            if action == "confirm" and part.get("tool") == ADD:
                self.rows.append(UUID(part["result_id"]))


def _some_expense(dice: random.Random) -> dict[str, Any]:
    said: dict[str, Any] = {
        "item": dice.choice(["taxi", "soap", "limes"]),
        "amount": dice.randint(1, 9_999) / 100,
        "currency": dice.choice(["USD", "USD", "EUR"]),
        "date": f"2026-{dice.randint(1, 10):02}-{dice.randint(1, 28):02}",
    }
    if dice.random() < 0.2:
        said["more"] = [{"item": "coffee", "amount": 3}]
    return said


def _some_change(dice: random.Random, expense_id: UUID) -> dict[str, Any]:
    changes = {"amount": dice.randint(1, 9_999) / 100, "category": "other", "date": "2026-05-05"}
    name = dice.choice(list(changes))
    return {"id": str(expense_id), name: changes[name]}


@pytest.fixture(scope="module")
def port(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory, model_url: str
) -> Iterator[int]:
    """A web server with two workers."""
    with running(settings, tmp_path_factory.mktemp("processes"), model_url) as processes:
        program, port = processes.start_web(app="tests.fridge_log.unhurried:app")
        yield port
        program.kill()


@pytest.fixture(scope="module")
def model_url() -> str:
    """Nobody is asked here: what a model would propose is proposed by the test."""
    return "http://127.0.0.1:9/v1"


def work(table: Table, port: int, tokens: list[str], seed: int) -> None:
    """One client: so many operations, some of them by somebody who may not."""
    dice = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(OPERATIONS // CLIENTS):
        if not table.proposed or dice.random() < 0.3:
            table.propose(dice.randrange(len(table.people) - 1), dice)
            continue
        recent = table.proposed[-6:] if dice.random() < 0.7 else table.proposed
        who, proposal_id = dice.choice(recent)
        action = dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        is_stranger = dice.random() < 0.05
        token = tokens[-1] if is_stranger else tokens[who]
        headers = {"Authorization": f"Bearer {token}"}
        connection.request("POST", f"/api/proposals/{proposal_id}/{action}", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        if is_stranger:
            assert answer.status == 404
        else:
            table.note(action, answer.status, body)
    connection.close()


@pytest.mark.soak
def test_a_thousand_random_operations_lose_double_and_mix_up_nothing(
    app: Flask, database: Database, owner: Database, port: int
) -> None:
    first = make_user(owner)
    people = [
        first,
        make_user(owner, first.group_id),
        make_user(owner, first.group_id, "manager"),
        make_user(owner, first.group_id, "admin"),
        make_user(owner, role="manager"),
    ]
    table = Table(
        app,
        database,
        people,
        {each.user_id: [_a_thread(database, each) for _ in range(THREADS)] for each in people},
    )
    tokens = [api_token(owner, each) for each in people]
    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(work, table, port, tokens, SEED + n) for n in range(CLIENTS)]
        for client in clients:
            client.result()
    print(f"{len(table.proposed)} proposals; answers: {sorted(table.answers.items())}")
    assert {status for _, status in table.answers} <= {200, 404, 409}
    check(owner, first.group_id)


def _a_thread(database: Database, member: Member) -> tuple[UUID, UUID]:
    thread_id = make_thread(database, member)
    with database.transaction(member.scope) as session:
        query = text("SELECT head_id FROM threads WHERE id = :id")
        head: UUID = session.execute(query, {"id": thread_id}).scalar_one()
    return thread_id, head


def check(owner: Database, group_id: UUID) -> None:
    """Compare the rows with what was confirmed, the sums with the rows, and the audit with both."""
    with owner.transaction() as session:
        proposals = session.scalars(select(Proposal).where(Proposal.group_id == group_id)).all()
        rows = session.scalars(select(Expense).where(Expense.group_id == group_id)).all()
        sums = session.scalars(select(ExpenseMonth).where(ExpenseMonth.group_id == group_id)).all()
        audit = Counter(
            (entry.action, entry.subject, entry.digest)
            for entry in session.scalars(
                select(AuditEntry).where(
                    AuditEntry.group_id == group_id, AuditEntry.action.like("tool.%")
                )
            )
        )
        session.expunge_all()
    done = [each for each in proposals if each.state == "confirmed"]
    assert len(done) > 100, "too few were confirmed for this to say anything"
    _check_rows(done, rows)
    _check_sums(rows, sums)
    assert audit == _expected_audit(done)


def _check_rows(done: list[Proposal], rows: Any) -> None:
    """Each row was added once, by its own person, and changed as often as was confirmed."""
    by_id = {str(row.id): row for row in rows}
    added = {
        expense_id: each for each in done if each.tool == ADD
        for expense_id in (each.receipt or {})["kept"]["ids"]
    }  # fmt: skip
    assert set(by_id) == set(added)
    changes: Counter[str] = Counter()
    is_there: dict[str, bool] = {}
    for _, each, is_undo in sorted(_story(done), key=lambda entry: entry[0]):
        receipt = each.receipt or {}
        for expense_id in receipt["kept"].get("ids", [receipt["result_id"]]):
            changes[expense_id] += is_undo or each.tool != ADD
            if each.tool != UPDATE:
                # Adding and taking back a deletion bring it, the other two take it away.
                is_there[expense_id] = (each.tool == ADD) != is_undo
    for expense_id, row in by_id.items():
        assert row.user_id == added[expense_id].user_id
        assert (row.deleted_at is None) == is_there[expense_id]
        # To take back what was deleted already, or restore what is there, changes nothing.
        assert 1 <= row.version <= 1 + changes[expense_id]


def _story(done: list[Proposal]) -> Iterator[tuple[Any, Proposal, bool]]:
    """What was done and taken back, each with its moment."""
    for each in done:
        yield each.decided_at, each, False
        if each.undone_at is not None:
            yield each.undone_at, each, True


def _check_sums(rows: Any, sums: Any) -> None:
    by_hand: Counter[tuple[Any, ...]] = Counter()
    totals: dict[tuple[Any, ...], Decimal] = {}
    for row in rows:
        if row.deleted_at is None:
            key = (row.user_id, row.date.replace(day=1), row.category, row.currency)
            by_hand[key] += 1
            totals[key] = totals.get(key, Decimal(0)) + row.amount
    kept = {(s.user_id, s.month, s.category, s.currency): (s.count, s.total) for s in sums}
    assert {key: value for key, value in kept.items() if value[0]} == {
        key: (by_hand[key], totals[key]) for key in by_hand
    }
    assert all(total == 0 for count, total in kept.values() if not count)


def _expected_audit(done: list[Proposal]) -> Counter[tuple[str, str, str]]:
    expected = Counter(
        (f"tool.{each.tool}", (each.receipt or {})["result_id"], each.digest) for each in done
    )
    return expected + Counter(
        (f"tool.{each.tool}.undo", (each.receipt or {})["result_id"], each.digest)
        for each in done
        if each.undone_at
    )
