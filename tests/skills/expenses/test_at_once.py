"""Adds that go straight through, where a house lets them: written once, whatever fails."""

from __future__ import annotations

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.assistant.models import Message, Turn
from app.assistant.proposals.consent import Heard
from app.assistant.proposals.decisions import start_over
from app.assistant.proposals.proposals import (
    bring_back,
    confirm,
    decline,
    latest_proposal,
    load_proposal,
    undo,
)
from app.assistant.providers.base import ModelEvent, ModelRequest, ProviderError
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.threads.threads import Accepted, ask_again, load_message
from app.assistant.tools.tool import CitationLedger
from app.assistant.turns.events import EventLog
from app.assistant.turns.executor import ClaimedTurn, TurnStopped, execute_turn
from app.assistant.turns.writer import Claim, ReplyWriter
from app.db import Database
from app.errors import Conflict
from app.extensions import Services
from app.skills.expenses.nlu import guess_category
from app.skills.expenses.nlu.reader import is_bare_addition
from app.skills.expenses.nlu.sentence import ReadingContext
from app.skills.expenses.tools.arguments import AddArguments
from app.skills.expenses.tools.ledger_tools import AddExpense
from tests.assistant.answering import Answering
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import Member, answer, api_token, ask
from tests.factories.chat import TEST_RUNNER
from tests.factories.expenses import ledger_of, make_expense
from tests.skills.expenses.conftest import SayTo
from tests.skills.expenses.test_tools import rows

WORDS = "Add taxi $5 today"


@pytest.fixture
def trusting(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Services:
    """The services of a house that asks only where something was left unsaid."""
    on: Services = app.extensions["comanda"]
    settings = on.settings.model_copy(update={"expenses_confirm": "vague"})
    services = replace(on, settings=settings)
    monkeypatch.setitem(app.extensions, "comanda", services)
    return services


@pytest.fixture
def explicit(database: Database, member: Member) -> list[Any]:
    """A call with all that an add needs."""
    today = ledger_of(database, member).today
    arguments = {"item": "taxi", "amount": 5, "date": str(today)}
    return [call("add_expense", json.dumps(arguments))]


def called(explicit: list[Any], **changes: Any) -> list[Any]:
    """The same call with other arguments."""
    return [call("add_expense", json.dumps({**json.loads(explicit[0].arguments), **changes}))]


def test_who_stands_in_for_a_model_that_failed_writes_nothing_again(
    app: Flask, trusting: Services, database: Database, member: Member, explicit: list[Any]
) -> None:
    accepted = ask(database, member, WORDS)
    fails_later = ([*explicit, call("get_balance", "{}", "c2")], [ProviderError("server_error")])
    with app.test_request_context("/"):
        execute_turn(
            trusting,
            ScriptedProvider(*fails_later),
            ClaimedTurn(accepted.turn.id, 1, 1, member.scope),
            standby=BuiltinProvider(trusting.embedder),
        )
    assert [item for item, _, _ in rows(database, member)] == ["taxi"]
    with database.transaction(member.scope) as session:
        reply = load_message(session, accepted.thread.id, accepted.reply.id)
    assert (reply.status, reply.content) == ("complete", "I've added your taxi $5 for today.")
    assert "receipt" in [part["type"] for part in reply.parts]


def test_what_was_done_before_its_runner_died_is_told_by_the_next_one(
    app: Flask, owner: Database, database: Database, member: Member, trusting: Services,
    explicit: list[Any],
) -> None:  # fmt: skip
    accepted = ask(database, member, WORDS)
    said = answer(app, member, accepted, ScriptedProvider(explicit))
    with owner.transaction() as session:
        lost = {"content": "", "parts": [], "status": "streaming"}
        session.execute(update(Message).where(Message.id == said.id).values(**lost))
        claimed = {"status": "running", "fence": 2, "attempts": 2, "finished_at": None}
        session.execute(update(Turn).where(Turn.id == accepted.turn.id).values(**claimed))
    with app.test_request_context("/"):
        turn = ClaimedTurn(accepted.turn.id, 2, 2, member.scope)
        execute_turn(trusting, ScriptedProvider([]), turn)
    with database.transaction(member.scope) as session:
        reply = load_message(session, accepted.thread.id, accepted.reply.id)
    assert (reply.status, reply.content) == ("complete", "I've added your taxi $5 for today.")
    assert [part["type"] for part in reply.parts] == ["receipt"]
    assert len(rows(database, member)) == 1


def card_and_yes(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> tuple[Message, Accepted]:
    """A reply with a card, and the yes to it whose runner died right after it had done it."""
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    agreed = ask(database, member, "yes", first.thread_id)
    card = UUID(first.parts[0]["proposal_id"])
    with database.session(member.scope) as session, app.test_request_context("/"):
        confirm(session, app.extensions["comanda"].registry, card, agreed.message.id)
        session.commit()
    return first, agreed


@pytest.mark.parametrize(
    ("attempts", "stopped", "status"), [(2, True, "stopped"), (4, False, "complete")]
)
def test_a_yes_that_was_carried_out_is_told_however_its_reply_ends(
    app: Flask, owner: Database, database: Database, member: Member, explicit: list[Any],
    attempts: int, stopped: bool, status: str,
) -> None:  # fmt: skip
    _first, agreed = card_and_yes(app, database, member, explicit)
    with owner.transaction() as session:
        left = {"fence": 2, "attempts": attempts, "stop_requested": stopped}
        session.execute(update(Turn).where(Turn.id == agreed.turn.id).values(**left))
    with app.test_request_context("/"):
        turn = ClaimedTurn(agreed.turn.id, 2, attempts, member.scope)
        execute_turn(app.extensions["comanda"], ScriptedProvider(), turn)
    with database.transaction(member.scope) as session:
        reply = load_message(session, agreed.thread.id, agreed.reply.id)
    assert (reply.status, reply.content) == (status, "I've added your taxi $5 for today.")
    assert [part["type"] for part in reply.parts] == ["receipt"]
    assert len(rows(database, member)) == 1


def test_a_yes_that_is_stopped_once_it_was_carried_out_is_not_denied(
    app: Flask, database: Database, member: Member, explicit: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first = answer(app, member, ask(database, member, "taxi $5"), ScriptedProvider(explicit))
    published = ReplyWriter.publish

    def stop(writer: ReplyWriter, type_: str, payload: dict[str, Any]) -> None:
        published(writer, type_, payload)
        if type_ == "part":
            raise TurnStopped

    monkeypatch.setattr(ReplyWriter, "publish", stop)
    agreed = ask(database, member, "yes", first.thread_id)
    reply = answer(app, member, agreed, ScriptedProvider([]))
    assert (reply.status, reply.content) == ("stopped", "I've added your taxi $5 for today.")
    assert len(rows(database, member)) == 1


def test_a_reply_that_was_stopped_before_its_first_word_has_proposed_nothing(
    app: Flask, owner: Database, database: Database, member: Member, explicit: list[Any]
) -> None:
    accepted = ask(database, member, WORDS)
    said = answer(app, member, accepted, ScriptedProvider(explicit))
    with owner.transaction() as session:
        lost = {"content": "", "parts": [], "status": "streaming"}
        session.execute(update(Message).where(Message.id == said.id).values(**lost))
        left = {"status": "running", "fence": 2, "attempts": 2, "finished_at": None}
        where = Turn.id == accepted.turn.id
        session.execute(update(Turn).where(where).values(**left, stop_requested=True))
    with app.test_request_context("/"):
        turn = ClaimedTurn(accepted.turn.id, 2, 2, member.scope)
        execute_turn(app.extensions["comanda"], ScriptedProvider(), turn)
    with database.transaction(member.scope) as session:
        reply = load_message(session, accepted.thread.id, accepted.reply.id)
        waiting = latest_proposal(session, reply.thread_id)
    assert (reply.status, reply.parts) == ("stopped", [])
    assert waiting is not None and waiting.state == "declined"


def test_what_gave_way_to_a_card_that_nobody_saw_can_be_brought_back(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    more = ask(database, member, "yes, and limes $3", first.thread_id)
    add = call("add_expense", json.dumps({"item": "limes", "amount": 3}))
    limes = [add, call("get_balance", "{}", "c2")]
    failed = answer(app, member, more, ScriptedProvider(limes, [ProviderError("unavailable")]))
    assert failed.status == "failed"
    cards = [UUID(first.parts[0]["proposal_id"]), UUID(failed.parts[0]["proposal_id"])]
    with database.session(member.scope) as session, app.test_request_context("/"):
        assert [load_proposal(session, each).state for each in cards] == ["declined"] * 2
        bring_back(session, cards[0])
        confirm(session, app.extensions["comanda"].registry, cards[0])
        session.commit()
    assert [item for item, _, _ in rows(database, member)] == ["taxi"]


@pytest.mark.parametrize(("error", "status"), [("unavailable", "complete"), ("", "stopped")])
def test_what_was_taken_back_while_its_reply_ran_is_not_told_as_done(
    app: Flask, database: Database, member: Member, explicit: list[Any], error: str, status: str
) -> None:
    registry = app.extensions["comanda"].registry

    class Undoing(ScriptedProvider):
        """Its person confirms the card and takes it back before its second reply ends."""

        def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
            if len(self.requests) == 1:
                with database.session(member.scope) as session:
                    card = latest_proposal(session, accepted.thread.id)
                    assert card is not None
                    confirm(session, registry, card.id)
                    undo(session, registry, card.id)
                    session.commit()
                if not error:
                    raise TurnStopped
            yield from super().stream(request)

    accepted = ask(database, member, WORDS)
    both = [*explicit, call("get_balance", "{}", "c2")]
    reply = answer(app, member, accepted, Undoing(both, [ProviderError(error or "unavailable")]))
    said = "This has since been undone. Check the list before you ask for it again."
    assert (reply.status, reply.content) == (status, said)
    assert rows(database, member) == []


def test_what_is_confirmed_while_its_reply_begins_anew_is_refused(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    """Its card goes with the reply: whoever presses the button meanwhile confirms nothing."""
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    card = UUID(first.parts[0]["proposal_id"])
    registry = app.extensions["comanda"].registry

    def press() -> str:
        with app.test_request_context("/"), database.session(member.scope) as session:
            try:
                confirm(session, registry, card)
                session.commit()
            except Conflict:
                return "refused"
        return "done"

    with database.transaction(member.scope) as session:
        turn = session.scalars(select(Turn).where(Turn.reply_message_id == first.id)).one()
    claim = Claim(turn.id, first.thread_id, first.id, turn.fence)
    writer = ReplyWriter(
        claim,
        lambda: database.transaction(member.scope),
        EventLog(app.extensions["comanda"].redis),
        CitationLedger(),
    )
    with ThreadPoolExecutor(1) as pool, database.session(member.scope) as session:
        session.execute(update(Turn).where(Turn.id == turn.id).values(status="running"))
        assert start_over(session, writer)
        pressed = pool.submit(press)
        session.commit()
        assert pressed.result(timeout=30) == "refused"
    assert rows(database, member) == []


def again(app: Flask, database: Database, member: Member, reply: Message, script: Any) -> Message:
    """Have a reply made again, in this process."""
    with database.session(member.scope) as session:
        accepted = ask_again(session, reply.thread_id, reply.id)
        session.execute(
            update(Turn)
            .where(Turn.id == accepted.turn.id)
            .values(status="running", fence=1, attempts=1, runner_id=TEST_RUNNER[0])
        )
        session.commit()
    return answer(app, member, accepted, ScriptedProvider(script))


@pytest.mark.usefixtures("trusting")
def test_an_answer_that_is_made_again_proposes_what_has_been_written(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    assert [part["type"] for part in first.parts] == ["receipt"]
    second = again(app, database, member, first, explicit)
    assert [part["type"] for part in second.parts] == ["proposal"]
    assert second.content.startswith("Would you like me to add taxi $5 for ")
    assert len(rows(database, member)) == 1


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("is_declined", [True, False])
def test_an_answer_that_is_made_again_proposes_what_was_not_wanted(
    app: Flask, database: Database, member: Member, explicit: list[Any], is_declined: bool
) -> None:
    undated = [call("add_expense", json.dumps({"item": "taxi", "amount": 5}))]
    first = answer(app, member, ask(database, member, "Add taxi $5"), ScriptedProvider(undated))
    assert [part["type"] for part in first.parts] == ["proposal"]
    if is_declined:
        with database.transaction(member.scope) as session:
            decline(session, UUID(first.parts[0]["proposal_id"]))
    second = again(app, database, member, first, explicit)
    assert [part["type"] for part in second.parts] == ["proposal"]
    assert rows(database, member) == []


@pytest.mark.usefixtures("trusting")
def test_a_message_that_is_changed_after_it_was_written_has_a_card(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    with database.session(member.scope) as session:
        asked = load_message(session, first.thread_id, first.parent_id)
    changed = ask(database, member, WORDS, first.thread_id, instead_of=asked.id)
    second = answer(app, member, changed, ScriptedProvider(explicit))
    assert [part["type"] for part in second.parts] == ["proposal"]
    assert len(rows(database, member)) == 1


@pytest.mark.usefixtures("trusting")
def test_an_answer_that_is_made_again_behind_others_proposes(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    """What it failed to write was written in the meantime."""
    failed = answer(
        app, member, ask(database, member, WORDS), ScriptedProvider([ProviderError("server_error")])
    )
    words = ask(database, member, WORDS, failed.thread_id)
    answer(app, member, words, ScriptedProvider(explicit))
    second = again(app, database, member, failed, explicit)
    assert [part["type"] for part in second.parts] == ["proposal"]


@pytest.mark.usefixtures("trusting")
def test_what_was_said_of_another_day_has_a_card(
    app: Flask, database: Database, owner: Database, member: Member, explicit: list[Any]
) -> None:
    """An answer that failed, and is asked for again two days later."""
    accepted = ask(database, member, WORDS)
    with owner.transaction() as session:
        earlier = {"created_at": Message.created_at - timedelta(days=2)}
        session.execute(update(Message).where(Message.id == accepted.message.id).values(earlier))
    reply = answer(app, member, accepted, ScriptedProvider(explicit))
    assert [part["type"] for part in reply.parts] == ["proposal"]
    assert rows(database, member) == []


def test_a_yes_that_is_made_again_after_an_undo_says_what_became_of_it(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    agreed = ask(database, member, "yes", first.thread_id)
    reply = answer(app, member, agreed, ScriptedProvider([]))
    assert len(rows(database, member)) == 1
    with database.session(member.scope) as session, app.test_request_context("/"):
        undo(session, app.extensions["comanda"].registry, UUID(first.parts[0]["proposal_id"]))
        session.commit()
    second = again(app, database, member, reply, [])
    assert (
        second.content == "This has since been undone. Check the list before you ask for it again."
    )
    assert rows(database, member) == []


def test_an_undo_that_is_made_again_takes_back_nothing_that_was_done_since(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    wanted = ask(database, member, "undo that", first.thread_id)
    reply = answer(app, member, wanted, ScriptedProvider([say("There is nothing to undo.")]))
    card = UUID(first.parts[0]["proposal_id"])
    with database.session(member.scope) as session, app.test_request_context("/"):
        bring_back(session, card)
        confirm(session, app.extensions["comanda"].registry, card)
        session.commit()
    again(app, database, member, reply, [say("There is nothing to undo.")])
    assert len(rows(database, member)) == 1


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize(
    "words",
    [
        "add taxi $5 today if the boss agrees", "si lucia dice agrega taxi $5 hoy",
        "cancel add taxi $5 today", "stop adding taxi $5 today", "undo add taxi $5 today",
        "add taxi $5 today or $15", "ni agregues taxi $5 hoy", "tampoco agregues taxi $5 hoy",
        "ya agregué taxi $5 hoy", "agregaste taxi $5 hoy", "i got back $5 taxi today",
        "tomorrow i will add taxi $5 today", "add taxi $5 today maybe", "refund taxi $5 today",
    ],
)  # fmt: skip
def test_who_says_anything_else_is_asked(
    app: Flask, database: Database, member: Member, explicit: list[Any], words: str
) -> None:
    reply = answer(app, member, ask(database, member, words), ScriptedProvider(explicit))
    assert [part["type"] for part in reply.parts] == ["proposal"]
    assert rows(database, member) == []


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize(
    "words",
    [
        "cancel add taxi $12 today", "stop adding taxi $12 today", "undo add taxi $12 today",
        "forget taxi $12 today", "instead of add taxi $12 today", "hold off: add taxi $12 today",
        "maybe add taxi $12 today", "i got back $12 taxi today",
        "add taxi $12 today just kidding", "ni agregues taxi $12 hoy",
        "tampoco agregues taxi $12 hoy", "si lucia dice agrega taxi $12 hoy",
        "ya agregué taxi $12 hoy", "agregaste taxi $12 hoy", "recuérdame agregar taxi $12 hoy",
        "skip taxi $12 today", "taxi $12 today nope", "taxi $12 today jk", "unpaid taxi $12 today",
        "add taxi $12 today 👎", "add taxi $12 today twice", "anula taxi $12 hoy",
        "devolución taxi $12 hoy", "add taxi $12 / $15 today", "lucia paid $12 for the taxi today",
        "thanks for the taxi $12 today", "taxi $12 today yesterday", "taxi $1,2 today",
        "taxi $12 hoy gaste", "put taxi $12 down today",
    ],
)  # fmt: skip
def test_the_built_in_assistant_writes_no_such_thing_either(
    app: Flask, trusting: Services, database: Database, member: Member, words: str
) -> None:
    answer(app, member, ask(database, member, words), BuiltinProvider(trusting.embedder))
    assert rows(database, member) == []


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize(
    "words", ["taxi $5 today", "please log a taxi, $5 today", "agrega $5 de taxi hoy"]
)
def test_the_bare_word_for_it_writes_at_once(
    app: Flask, database: Database, member: Member, explicit: list[Any], words: str
) -> None:
    reply = answer(app, member, ask(database, member, words), ScriptedProvider(explicit))
    assert [part["type"] for part in reply.parts] == ["receipt"]


@pytest.mark.usefixtures("trusting")
def test_a_client_is_told_of_a_write_though_the_model_failed_after_it(
    app: Flask, owner: Database, member: Member, answering: Answering, explicit: list[Any]
) -> None:
    begun = [*say("Let me see."), *explicit, call("get_balance", "{}", "c2")]
    answering.script(begun, [ProviderError("server_error")])
    client = app.test_client(use_cookies=False)
    headers = {"Authorization": f"Bearer {api_token(owner, member)}"}
    told = client.post("/api/chat", json={"message": WORDS}, headers=headers)
    body = told.get_json()
    assert (told.status_code, body["added"]["item"]) == (200, "taxi")
    assert "attemptedAdd" not in body


def test_what_may_be_an_answer_consents_to_no_expense(database: Database, member: Member) -> None:
    """It answers its widget, or its question, whatever its words say."""
    ledger = ledger_of(database, member)
    category = guess_category("taxi", ledger.for_reading(), "en")
    row = {"item": "taxi", "amount": 5, "date": str(ledger.today), "category": category}
    arguments = AddArguments.model_validate(row)
    said = Heard(WORDS, "en", answers_nothing=True)
    step = {"type": "question_answer", "answer": said.words}
    answers = [
        replace(said, step=step),
        replace(said, before=(step,)),
        replace(said, answers_nothing=False),
    ]
    with database.transaction(member.scope) as session:
        assert AddExpense().is_consented(session, arguments, said)
        for each in answers:
            assert not AddExpense().is_consented(session, arguments, each), each


NOT_OVER = {
    "a question of a model": say("Which one do you mean?"),
    "a question without its mark": say("Tell me which one you mean."),
    "a reply that failed": [ProviderError("server_error")],
    "a reply that was cut off": [*say("Which one"), ProviderError("server_error")],
    "an answer about something else": say("The taxi rank is on Main Street."),
}


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("before", NOT_OVER.values(), ids=NOT_OVER)
def test_after_anything_but_what_was_done_there_is_a_card(
    app: Flask, database: Database, member: Member, explicit: list[Any], before: list[Any]
) -> None:
    first = answer(app, member, ask(database, member, "the taxi"), ScriptedProvider(before))
    words = ask(database, member, "taxi $5 today", first.thread_id)
    reply = answer(app, member, words, ScriptedProvider(explicit))
    assert [part["type"] for part in reply.parts] == ["proposal"]
    assert rows(database, member) == []


@pytest.mark.usefixtures("trusting")
def test_one_after_the_other_is_written_at_once(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    first = answer(app, member, ask(database, member, WORDS), ScriptedProvider(explicit))
    words = ask(database, member, "add ice $5 today", first.thread_id)
    second = answer(app, member, words, ScriptedProvider(called(explicit, item="ice")))
    assert [part["type"] for part in second.parts] == ["receipt"]


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize(
    "words",
    ["taxi $5 yesterday", "add taxi $5 yesterday", "ice $5 today", "i paid $5 for ice today"],
)
def test_what_may_be_about_the_one_just_added_has_a_card(
    database: Database, boss: Member, say_to: SayTo, words: str
) -> None:
    first = say_to(boss, WORDS)
    second = say_to(boss, words, thread=first.thread_id)
    assert [part["type"] for part in second.parts] == ["proposal"]
    assert [item for item, _, _ in rows(database, boss)] == ["taxi"]


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("words", ["and the ice $6 today", "ice $6 today", "y el hielo $6 hoy"])
@pytest.mark.parametrize("order", ["delete the taxi", "change the taxi to $7"])
def test_what_may_go_on_with_a_deletion_or_a_change_has_a_card(
    database: Database, member: Member, boss: Member, say_to: SayTo, order: str, words: str
) -> None:
    make_expense(database, member, "taxi", amount=5)
    make_expense(database, member, "ice", amount=6)
    first = say_to(boss, order)
    done = say_to(boss, "yes", thread=first.thread_id)
    assert [part["type"] for part in done.parts] == ["receipt"]
    reply = say_to(boss, words, thread=first.thread_id)
    assert "receipt" not in [part["type"] for part in reply.parts]
    assert [item for item, _, _ in rows(database, boss)].count("ice") == 1


@pytest.mark.usefixtures("trusting")
def test_what_follows_the_turns_that_a_program_tells_has_a_card(
    app: Flask, owner: Database, member: Member, answering: Answering, explicit: list[Any]
) -> None:
    """The conversation of such a program is stored nowhere: nobody knows what it had asked."""
    answering.script(explicit)
    client = app.test_client(use_cookies=False)
    told = client.post(
        "/api/chat",
        json={
            "history": [
                {"role": "user", "content": "delete the taxi"},
                {"role": "assistant", "content": "Which one do you mean?"},
                {"role": "user", "content": WORDS},
            ]
        },
        headers={"Authorization": f"Bearer {api_token(owner, member)}"},
    ).get_json()
    assert told["attemptedAdd"]["item"] == "taxi" and not told.get("added")


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "delete the taxi"), ("en", "change the taxi to $20"), ("es", "borra el taxi"),
        ("en", "delete an expense"), ("es", "borra un gasto"), ("en", "undo that"),
        ("es", "borra el helicóptero"), ("en", "change the helicopter to 20"), ("en", "remove it"),
    ],
)  # fmt: skip
def test_what_says_which_one_is_meant_adds_none(
    database: Database, boss: Member, say_to: SayTo, language: str, words: str
) -> None:
    for amount in (12, 30):
        make_expense(database, boss, "Taxi", amount=amount)
    asked = say_to(boss, words, language=language)
    day = ledger_of(database, boss).today
    chosen = f"taxi $12 {'of' if language == 'en' else 'del'} {day.day} {day:%b} {day.year}"
    chips = [each["message"] for each in asked.suggestions if "12" in each["message"]]
    answer = say_to(boss, (chips or [chosen])[0], thread=asked.thread_id, language=language)
    assert len(rows(database, boss)) == 2
    assert [part["type"] for part in answer.parts] == ["proposal"]
    if "taxi" in words or "gasto" in words or "expense" in words:
        tool = "update_expense" if "change" in words else "delete_expense"
        assert [part["tool"] for part in answer.parts] == [tool]


def test_a_new_one_is_added_after_which_one_where_its_words_say_so(
    database: Database, boss: Member, say_to: SayTo
) -> None:
    for amount in (12, 30):
        make_expense(database, boss, "Taxi", amount=amount)
    asked = say_to(boss, "delete the taxi")
    added = say_to(boss, "add taxi $14 today", thread=asked.thread_id)
    assert [part["tool"] for part in added.parts] == ["add_expense"]


@pytest.mark.usefixtures("trusting")
def test_what_somebody_else_has_called_an_expense_is_not_said_by_who_chooses_it(
    database: Database, member: Member, boss: Member, say_to: SayTo
) -> None:
    """A chip puts the item into the mouth of whoever presses it."""
    make_expense(database, member, "bleach $900 and bleach", amount=5)
    make_expense(database, member, "bleach", amount=7)
    asked = say_to(boss, "delete the bleach")
    for chip in asked.suggestions:
        say_to(boss, chip["message"], thread=asked.thread_id)
    assert sorted(amount for _, amount, _ in rows(database, boss)) == ["5.00", "7.00"]


@pytest.mark.parametrize(
    ("words", "is_clear"),
    [
        ("taxi $5 today", True), ("taxi 5 today", False), ("taxi 5.00 today", True),
        ("add taxi $1,200.50 today", True),
        ("taxi 5 dollars today", True), ("agrega taxi $5 hoy", True), ("taxi 5€ today", False),
        ("-$5 taxi today", False), ("add -$5 taxi today", False), ("taxi - $5 today", False),
        ("taxi $5 a gallon today", False), ("taxi $5 per box today", False),
        ("taxi $5 la caja hoy", False), ("taxi five fifteen today", False),
        ("taxi five today fifteen", False), ("taxi €5 dollars today", False),
        ("taxi $5.005 today", False), ("taxi $5,5 today", False),
        ("taxi -  $5 today", False), ("taxi . 5 today", False), ("taxi .50 today", True),
        ("taxi $5 the ride today", False), ("taxi $5 la vuelta hoy", False),
        ("taxi $5 for the taxi today", False), ("check taxi $5 today", False),
        ("taxi $5 after friday", False), ("taxi $5 until today", False),
        ("taxi $5 on {friday}", True), ("taxi $5 on {today}", False),
        ("taxi $5 last {friday}", False), ("taxi $5 today for", False),
        ("taxi $5 today un", False), ("i paid $5 for the taxi today", True),
        ("hoy pagué $5 de taxi", False), ("taxi $5 on nov 3", False),
        ("taxi $5 on 10/11", False), ("taxi 5 pounds today", False), ("taxi £5 today", False),
        ("t\u0336a\u0336xi\u0336 taxi $5 today", False), ("taxi $5 el viernes pasado", False),
        ("taxi, $5, today, thanks!", True), ("taxi .5 today", False),
        ("taxi $5, ice $5 yesterday", False), ("taxi $5 and taxi $6 today", False),
        ("i paid ,50 for the taxi today", False), ("taxi ,50 today", False),
        ("plan taxi $5 today", False), ("taxi $5 today fine", False),
        ("the taxi $5 yesterday", False), ("put the $5 taxi on friday", False),
        ("and taxi $5 today", False), ("los $5 del taxi ayer", False),
        ("pon los $5 del taxi el viernes", False), ("y el taxi $5 hoy", False),
        ("para el lunes taxi $5", False), ("agrega para el lunes taxi $5", False),
        ("compre taxi $5 hoy", False), ("registra taxi $5 hoy, por favor", True),
        ("the $5 taxi yesterday", False), ("my taxi $5 yesterday", False),
    ],
)  # fmt: skip
def test_only_a_sum_that_can_be_read_in_one_way_is_written_at_once(
    database: Database, member: Member, words: str, is_clear: bool
) -> None:
    ledger = ledger_of(database, member)
    around = ReadingContext("en", ledger.today, ledger.for_reading(), ledger.currency)
    days = {"today": f"{ledger.today:%A}", "friday": f"{ledger.today - timedelta(days=2):%A}"}
    assert is_bare_addition(words.format(**days), around, ["taxi"]) is is_clear


@pytest.mark.usefixtures("trusting")
def test_a_sum_that_may_be_two_has_a_card(
    app: Flask, database: Database, member: Member, explicit: list[Any]
) -> None:
    said = ask(database, member, "add taxi $14 50 today")
    reply = answer(app, member, said, ScriptedProvider(called(explicit, amount=14.5)))
    assert [part["type"] for part in reply.parts] == ["proposal"]
