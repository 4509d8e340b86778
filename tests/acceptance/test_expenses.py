"""The conversations of the expenses chapter: built-in assistant, model with tools, model with JSON.

Each turn says what the person writes, what a model does about it (a tool with arguments, or
words of its own), and what they are then told; what is written is looked up in the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import Group
from app.db import Database, new_id
from app.skills.expenses.models import Expense
from tests.acceptance.asking import Reply, ask
from tests.acceptance.conftest import LanguageModel
from tests.factories import Member, make_user
from tests.model_server import Call, InJson, Say, scenario

TODAY = r"\d{1,2} \w{3,4}\.? \d{4}"


@dataclass(frozen=True)
class Turn:
    """What is said, what a model would do, and what the reply says (a pattern)."""

    say: str
    told: str
    tool: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    part: str = ""


@dataclass(frozen=True)
class Conversation:
    """A conversation, and the ledger after it: item, amount, currency."""

    name: str
    language: str
    turns: tuple[Turn, ...]
    ledger: tuple[tuple[str, str, str], ...]
    role: str = "manager"


CONVERSATIONS = (
    Conversation(
        "a-clear-one",
        "en",
        (
            Turn(
                "Add electricity bill £200 today",
                rf"Would you like me to add electricity bill £200 for {TODAY}\?",
                "add_expense",
                {"item": "electricity bill", "amount": 200, "currency": "GBP"},
                part="proposal",
            ),
            Turn("yes", r"I've added your electricity bill £200 for today\.", part="receipt"),
        ),
        (("electricity bill", "200.00", "GBP"),),
    ),
    Conversation(
        "una-clara",
        "es",
        (
            Turn(
                "Agrega el recibo de la luz, 200 dólares de hoy",
                rf"¿Quieres que agregue .*luz \$200 del {TODAY}\?",
                "add_expense",
                {"item": "recibo de la luz", "amount": 200},
                part="proposal",
            ),
            Turn("sí", r"Agregué .*luz \$200 de hoy\.", part="receipt"),
        ),
        (("recibo de la luz", "200.00", "USD"),),
    ),
    Conversation(
        "one-question-then-another",
        "en",
        (
            Turn(
                "I want to add an item.",
                r"What expense do you want to add\?",
                words="What expense do you want to add?",
            ),
            Turn("taxi", r"How much was .*taxi.*\?", words="How much was the taxi?"),
            Turn(
                "12.50",
                rf"Would you like me to add taxi \$12\.50 for {TODAY}\?",
                "add_expense",
                {"item": "taxi", "amount": 12.5},
                part="proposal",
            ),
            Turn("yep", r"I've added your taxi \$12\.50 for today\.", part="receipt"),
        ),
        (("taxi", "12.50", "USD"),),
    ),
    Conversation(
        "una-pregunta",
        "es",
        (
            Turn(
                "quiero agregar un gasto",
                r"¿Qué .*\?",
                words="¿Qué gasto quieres agregar?",
            ),
            Turn(
                "taxi, 12.50",
                rf"¿Quieres que agregue taxi \$12\.50 del {TODAY}\?",
                "add_expense",
                {"item": "taxi", "amount": "12.50"},
                part="proposal",
            ),
            Turn("dale", r"Agregué taxi \$12\.50 de hoy\.", part="receipt"),
        ),
        (("taxi", "12.50", "USD"),),
    ),
    Conversation(
        "no-then-something-else",
        "en",
        (
            Turn(
                "Log 240 for the plumber",
                rf"Would you like me to add plumber \$240 for {TODAY}\?",
                "add_expense",
                {"item": "plumber", "amount": 240},
                part="proposal",
            ),
            Turn("no", r"was not done\. What should be different\?"),
            Turn(
                "make it 250",
                rf"Would you like me to add plumber \$250 for {TODAY}\?",
                "add_expense",
                {"item": "plumber", "amount": 250},
                part="proposal",
            ),
            Turn("yes", r"I've added your plumber \$250 for today\.", part="receipt"),
        ),
        (("plumber", "250.00", "USD"),),
    ),
    Conversation(
        "spoken-sums",
        "en",
        (
            Turn(
                "taxi was two fifty",
                r"Was “taxi” \$2\.50 or \$250\?",
                words="Was “taxi” $2.50 or $250?",
            ),
            Turn(
                "250",
                rf"Would you like me to add taxi \$250 for {TODAY}\?",
                "add_expense",
                {"item": "taxi", "amount": 250},
                part="proposal",
            ),
            Turn(
                "make it three twenty",
                r"Was “taxi” \$3\.20 or \$320\?",
                words="Was “taxi” $3.20 or $320?",
            ),
            Turn(
                "320",
                rf"Would you like me to add taxi \$320 for {TODAY}\?",
                "add_expense",
                {"item": "taxi", "amount": 320},
                part="proposal",
            ),
            Turn("yes", r"I've added your taxi \$320 for today\.", part="receipt"),
        ),
        (("taxi", "320.00", "USD"),),
    ),
    Conversation(
        "two-in-one-sentence",
        "en",
        (
            Turn(
                "coffee 4.50 and taxi 12 yesterday",
                rf"Would you like me to add coffee \$4\.50 and taxi \$12 for {TODAY}\?",
                "add_expense",
                {
                    "item": "coffee",
                    "amount": 4.5,
                    "date": "{yesterday}",
                    "more": [{"item": "taxi", "amount": 12, "date": "{yesterday}"}],
                },
                part="proposal",
            ),
            Turn(
                "sure",
                r"I've added your coffee \$4\.50 and taxi \$12 for yesterday\.",
                part="receipt",
            ),
        ),
        (("coffee", "4.50", "USD"), ("taxi", "12.00", "USD")),
    ),
    Conversation(
        "se-corrige-y-se-borra",
        "es",
        (
            Turn(
                "café 4.50",
                rf"¿Quieres que agregue café \$4\.50 del {TODAY}\?",
                "add_expense",
                {"item": "café", "amount": 4.5},
                part="proposal",
            ),
            Turn("ok", r"Agregué café \$4\.50 de hoy\.", part="receipt"),
            Turn(
                "cambia el del café a 5",
                r"¿Quieres que cambie café \$4\.50 .*monto \$5\?",
                "update_expense",
                {"which": "el del café", "amount": 5},
                part="proposal",
            ),
            Turn("claro", r"Cambié café: monto \$5\.", part="receipt"),
            Turn(
                "borra el último gasto",
                r"¿Quieres que elimine café \$5 .*\?",
                "delete_expense",
                {"which": "el último gasto"},
                part="proposal",
            ),
            Turn(
                "mejor no",
                r"no se hizo\. ¿Qué quieres cambiar\?",
            ),
        ),
        (("café", "5.00", "USD"),),
    ),
    Conversation(
        "how-much",
        "en",
        (
            Turn(
                "taxi $12",
                r"Would you like me to add taxi \$12 .*\?",
                "add_expense",
                {"item": "taxi", "amount": 12},
                part="proposal",
            ),
            Turn("yes", r"I've added your taxi \$12", part="receipt"),
            Turn(
                "How much have I spent this month?",
                r"Your expenses, .*: \$12 \(1 expense\)|\$12 \(1 expense\)",
                "get_balance",
                {"range": "this month"},
                words="Your expenses, this month: $12 (1 expense).",
                part="expense_list",
            ),
            Turn(
                "show my expenses of today",
                r"\$12 \(1 expense\)",
                "list_expenses",
                {"range": "today"},
                words="$12 (1 expense).",
                part="expense_list",
            ),
        ),
        (("taxi", "12.00", "USD"),),
        "staff",
    ),
    Conversation(
        "staff-may-not-delete",
        "en",
        (
            Turn(
                "taxi $12",
                r"Would you like me to add taxi \$12 .*\?",
                "add_expense",
                {"item": "taxi", "amount": 12},
                part="proposal",
            ),
            Turn("yes", r"I've added your taxi \$12", part="receipt"),
            Turn(
                "delete the taxi one",
                r"Ask a manager|manager can",
                "delete_expense",
                {"which": "the taxi one"},
                words="Only a manager can delete it.",
            ),
        ),
        (("taxi", "12.00", "USD"),),
        "staff",
    ),
)


@pytest.fixture
def person(demo: Flask, owner: Database) -> Any:
    """Makes somebody new of the demo house, so that every ledger begins empty."""
    with owner.transaction() as session:
        group_id = session.scalars(select(Group.id).where(Group.slug == "alamo-prime")).one()

    def make(conversation: Conversation) -> Member:
        return make_user(owner, group_id, conversation.role, language=conversation.language)

    return make


def ledger_of(owner: Database, person: Member) -> tuple[tuple[str, str, str], ...]:
    with owner.transaction() as session:
        rows = session.scalars(
            select(Expense)
            .where(Expense.user_id == person.user_id, Expense.deleted_at.is_(None))
            .order_by(Expense.id)
        )
        return tuple((row.item, str(row.amount), row.currency) for row in rows)


def play(turn: Turn, model: LanguageModel, yesterday: str) -> None:
    """Have the model do about this message what the turn says, then say its words."""
    rounds: list[Any] = []
    if turn.tool:
        rounds.append(Call(turn.tool, _dated(turn.args, yesterday)))
    rounds.append(Say(turn.words or "All right."))
    script = scenario(*rounds, when=lambda call: call.message == turn.say)
    model.server.script(InJson(script) if model.speaks_json else script)


def _dated(value: Any, yesterday: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _dated(each, yesterday) for name, each in value.items()}
    if isinstance(value, list):
        return [_dated(each, yesterday) for each in value]
    return yesterday if value == "{yesterday}" else value


def hold(
    app: Flask, person: Member, conversation: Conversation, model: LanguageModel | None
) -> Iterator[tuple[Turn, Reply]]:
    day = datetime.now(ZoneInfo("America/Chicago")).date() - timedelta(days=1)
    thread_id: UUID = new_id()
    for turn in conversation.turns:
        if model:
            play(turn, model, day.isoformat())
        yield (
            turn,
            ask(
                app,
                person.email,
                turn.say,
                thread_id=thread_id,
                language=conversation.language,
            ),
        )


def problems(turn: Turn, reply: Reply) -> list[str]:
    found = []
    if not re.search(turn.told, reply.text):
        found.append(f"{turn.say!r}: said {reply.text!r}, not {turn.told!r}")
    shown = [part["type"] for part in reply.body["parts"]]
    if turn.part and turn.part not in shown:
        found.append(f"{turn.say!r}: shows {shown}, not {turn.part}")
    if not turn.part and {"proposal", "receipt"} & set(shown):
        found.append(f"{turn.say!r}: shows {shown}")
    return found


everyone = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.name)


@everyone
@pytest.mark.parametrize("provider", ["builtin", "native", "json"])
def test_a_conversation_comes_out_whoever_answers(
    request: pytest.FixtureRequest,
    demo: Flask,
    owner: Database,
    person: Any,
    conversation: Conversation,
    provider: str,
) -> None:
    model: LanguageModel | None = None
    if provider != "builtin":
        model = request.getfixturevalue(f"{provider}_model")
    somebody = person(conversation)
    held = hold(model.app if model else demo, somebody, conversation, model)
    assert [problem for turn, reply in held for problem in problems(turn, reply)] == []
    assert ledger_of(owner, somebody) == conversation.ledger
