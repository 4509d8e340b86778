"""POST /api/chat: the contract of other clients, word by word."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from app.assistant.models import Message, Proposal
from app.assistant.providers.base import ProviderError
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.providers.json_mode import JsonModeProvider
from app.db import Database, new_id, utc_now
from app.skills.expenses.services.expenses import Filters, find_expenses
from app.web import idempotency
from app.web.idempotency import KeyedAnswer
from tests.assistant.answering import Answering
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import Member, api_token, make_user
from tests.factories.expenses import ledger_of, make_expense

Post = Callable[..., TestResponse]
TAXI = {"item": "taxi", "amount": 12}


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A client without cookies."""
    return app.test_client(use_cookies=False)


@pytest.fixture
def post(owner: Database, client: FlaskClient, member: Member) -> Post:
    """Sends a body as the member, or as `who`."""
    tokens: dict[UUID, str] = {}

    def send(who: Member | None = None, key: str = "", **body: Any) -> TestResponse:
        person = who or member
        token = tokens.setdefault(person.user_id, api_token(owner, person))
        headers = {"Authorization": f"Bearer {token}"}
        if key:
            headers["Idempotency-Key"] = key
        return client.post("/api/chat", json=body, headers=headers)

    return send


@pytest.fixture
def proposed(post: Post, answering: Answering) -> dict[str, Any]:
    """The gate of a taxi of 12 that the member was asked about."""
    answering.script([call("add_expense", json.dumps(TAXI))])
    body: dict[str, Any] = post(message="Log 12 for a taxi").get_json()
    return body


def items(database: Database, who: Member) -> list[str]:
    with database.transaction(who.scope) as session:
        return [each.item for each in find_expenses(session, Filters())]


# What is answered


def test_a_clear_add_is_a_gate_that_runs_nothing(
    database: Database, member: Member, proposed: dict[str, Any]
) -> None:
    today = ledger_of(database, member).today
    assert proposed["answer"].startswith("Would you like me to add taxi $12 for ")
    assert proposed["confirmationRequired"] is True
    assert proposed["proposal"]["tool"] == "add_expense"
    args = {
        "item": "taxi",
        "amount": "12.00",
        "currency": "USD",
        "date": today.isoformat(),
        "category": "transport",
        "note": "",
        "more": [],
    }
    assert proposed["proposal"]["args"] == args
    assert proposed["attemptedAdd"] == args
    assert (proposed["version"], proposed["status"]) == ("1.0", "complete")
    assert items(database, member) == []


def test_a_confirmation_by_id_asks_no_model_and_answers_with_what_was_added(
    database: Database, member: Member, post: Post, answering: Answering, proposed: dict[str, Any]
) -> None:
    script = answering.script(say("No model is asked."))
    done = post(confirm={"proposal_id": proposed["proposal"]["id"]})
    assert done.status_code == 200
    body = done.get_json()
    assert body["answer"] == "I've added your taxi $12 for today."
    assert body["added"]["item"] == "taxi"
    assert UUID(body["added"]["id"])
    assert body["sessionId"] == proposed["sessionId"]
    assert script.requests == []
    assert items(database, member) == ["taxi"]


def test_a_confirmation_by_tool_and_arguments_does_the_same_once(
    database: Database, member: Member, post: Post, proposed: dict[str, Any]
) -> None:
    gate = proposed["proposal"]
    first = post(confirm={"tool": gate["tool"], "args": gate["args"]})
    second = post(confirm={"tool": gate["tool"], "args": gate["args"]})
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.get_json()["added"] == second.get_json()["added"]
    assert items(database, member) == ["taxi"]


def test_an_older_one_that_ran_out_does_not_hide_what_was_confirmed(
    owner: Database, post: Post, answering: Answering, proposed: dict[str, Any]
) -> None:
    with owner.session() as session:
        session.execute(update(Proposal).values(expires_at=utc_now() - timedelta(minutes=1)))
        session.commit()
    answering.script([call("add_expense", json.dumps(TAXI))])
    gate = post(message="Log 12 for a taxi").get_json()["proposal"]
    same = {"tool": gate["tool"], "args": gate["args"]}
    answers = [post(confirm=same) for _time in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].get_json()["added"] == answers[1].get_json()["added"]


def test_of_two_that_wait_for_the_same_none_is_taken_for_the_other(
    database: Database, member: Member, post: Post, answering: Answering, proposed: dict[str, Any]
) -> None:
    answering.script([call("add_expense", json.dumps(TAXI))])
    again = post(message="Log 12 for a taxi").get_json()
    arguments = {"tool": "add_expense", "args": proposed["proposal"]["args"]}
    refused = post(confirm=arguments)
    assert (refused.status_code, refused.get_json()["code"]) == (409, "conflict")
    assert items(database, member) == []
    first, second = (
        post(confirm=arguments, sessionId=again["sessionId"]).get_json() for _ in range(2)
    )
    assert first["added"]["id"] == second["added"]["id"]
    assert first["sessionId"] == again["sessionId"]
    assert items(database, member) == ["taxi"]


def test_two_confirmations_at_once_write_one_row(
    database: Database, member: Member, post: Post, proposed: dict[str, Any]
) -> None:
    def send(_: int) -> int:
        return post(confirm={"proposal_id": proposed["proposal"]["id"]}).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(send, range(8))) == {200}
    assert items(database, member) == ["taxi"]


def test_a_question_back_is_a_clarification(post: Post, answering: Answering) -> None:
    answering.script(say("What expense do you want to add?"))
    body = post(message="I want to add an item.").get_json()
    assert body["answer"] == "What expense do you want to add?"
    assert body["confirmationRequired"] is False
    assert "proposal" not in body
    assert body["attemptedAdd"] == {}


def test_a_list_and_a_balance_are_told_in_their_own_fields(
    database: Database, member: Member, post: Post, answering: Answering
) -> None:
    make_expense(database, member, "Taxi", amount="12.50")
    answering.script([call("list_expenses", "{}")], say("Here they are."))
    listed = post(message="Show my expenses").get_json()["listed"]
    assert [row["item"] for row in listed["rows"]] == ["Taxi"]
    assert listed["totals"] == [{"total": "12.50", "currency": "USD", "category": {}}]
    answering.script([call("get_balance", '{"range": "last year"}')], say("Nothing."))
    assert post(message="How much last year?").get_json()["balance"]["count"] == 0


def test_a_change_and_a_deletion_are_told_in_their_own_fields(
    database: Database, boss: Member, post: Post, answering: Answering
) -> None:
    expense = make_expense(database, boss)
    for tool, more, field in (
        ("update_expense", {"amount": 15}, "updated"),
        ("delete_expense", {}, "deleted"),
    ):
        arguments = json.dumps({"id": str(expense.id), **more})
        answering.script([call(tool, arguments)])
        gate = post(boss, message="Do it").get_json()
        assert "attemptedAdd" not in gate
        done = post(boss, confirm={"proposal_id": gate["proposal"]["id"]}).get_json()
        assert done[field]["id"] == str(expense.id)
    assert items(database, boss) == []


def test_the_gates_answer_begins_with_the_models_own_message_and_the_card_has_its_arguments(
    post: Post, answering: Answering
) -> None:
    command = {
        "type": "tool_call",
        "tool": "add_expense",
        "args": TAXI,
        "confirmationMessage": "Shall I put the taxi down?",
    }
    answering.provider = JsonModeProvider(ScriptedProvider(say(json.dumps(command))))
    body = post(message="taxi 12").get_json()
    # And then the product's own question, which is what a "yes" answers.
    own, asked = body["answer"].split("\n\n")
    assert own == "Shall I put the taxi down?"
    assert asked.startswith("Would you like me to add taxi $12 for ")
    assert body["proposal"]["args"]["amount"] == "12.00"
    assert body["parts"][0]["summary"]["en"].startswith("Add taxi $12")


# The history, and what is never believed


def test_the_last_turn_of_a_history_is_the_message_and_the_others_come_before(
    post: Post, answering: Answering
) -> None:
    script = answering.script(say("How much?"))
    history = [
        {"role": "user", "content": "I want to add an item"},
        {"role": "assistant", "content": "What expense do you want to add?"},
        {"role": "user", "content": "a taxi"},
    ]
    post(history=history, message="not this", userContext={"role": "admin", "group": "x"})
    spoken = [(m.role, m.text) for m in script.requests[0].messages if m.role != "system"]
    assert spoken == [(turn["role"], turn["content"]) for turn in history]


@pytest.mark.parametrize(
    "told",
    [
        [("user", "Log 12 for a taxi"), ("assistant", "Would you like to hear about tips?")],
        [("assistant", "Nothing was done.")],
        [("user", "Log 12 for a taxi")],
    ],
)
def test_a_yes_answers_what_was_told_last_and_not_what_stands_here(
    database: Database,
    member: Member,
    post: Post,
    answering: Answering,
    proposed: dict[str, Any],
    told: list[tuple[str, str]],
) -> None:
    history = [{"role": role, "content": content} for role, content in [*told, ("user", "yes")]]
    answering.script(say("Confirm it with its button."))
    post(history=history, sessionId=proposed["sessionId"])
    assert items(database, member) == []


@pytest.mark.parametrize("before", [1, 2])
def test_a_yes_beside_a_reply_that_is_told_answers_that_reply(
    database: Database,
    member: Member,
    post: Post,
    answering: Answering,
    proposed: dict[str, Any],
    before: int,
) -> None:
    told = [{"role": "assistant", "content": "Would you like to hear about tips?"}] * before
    answering.script(say("Confirm it with its button."))
    post(history=told, message="yes", sessionId=proposed["sessionId"])
    assert items(database, member) == []
    told[-1] = {"role": "assistant", "content": proposed["answer"]}
    again = post(history=told, message="yes", sessionId=proposed["sessionId"]).get_json()
    assert "added" not in again, "it has been set aside"


@pytest.mark.parametrize("after", [[""], ["Network error. Nothing was done."], ["x", "y"]])
@pytest.mark.parametrize("message", [None, "no, cancel that", "what is the soup?"])
def test_a_yes_that_the_conversation_went_on_from_is_none(
    database: Database,
    member: Member,
    post: Post,
    answering: Answering,
    proposed: dict[str, Any],
    after: list[str],
    message: str | None,
) -> None:
    history = [
        {"role": "assistant", "content": proposed["answer"]},
        {"role": "user", "content": "yes"},
        *({"role": "assistant", "content": content} for content in after),
    ]
    answering.script(say("Confirm it with its button."))
    post(
        history=history,
        sessionId=proposed["sessionId"],
        **({"message": message} if message else {}),
    )
    assert items(database, member) == []


def test_a_reply_is_the_same_to_its_last_letter(
    database: Database, member: Member, post: Post, answering: Answering, proposed: dict[str, Any]
) -> None:
    long = {"item": "t" * 180, "amount": 12}
    more = [{**long, "item": f"{n:03}" + "t" * 180} for n in range(12)]
    answering.script([call("add_expense", json.dumps({**long, "more": more}))])
    shown = post(message="Here are twelve receipts", sessionId=proposed["sessionId"]).get_json()
    assert len(shown["answer"]) > 2_000
    other = f"{shown['answer'][:-2]}8?"
    answering.script(say("Confirm it with its button."))
    told = [{"role": "assistant", "content": other}]
    post(history=told, message="yes", sessionId=proposed["sessionId"])
    assert items(database, member) == []


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\u00a0", "\u2028", "\u3000"])
def test_a_reply_in_the_same_words_that_proposed_something_else_is_not_taken_for_it(
    database: Database,
    member: Member,
    post: Post,
    answering: Answering,
    proposed: dict[str, Any],
    blank: str,
) -> None:
    other = {**proposed["proposal"]["args"], "category": "supplies"}
    said = say(blank) if blank else []
    answering.script([*said, call("add_expense", json.dumps(other))])
    again = post(message="the category is supplies", sessionId=proposed["sessionId"]).get_json()
    assert again["answer"].strip() == proposed["answer"]
    answering.script(say("Confirm it with its button."))
    told = [{"role": "assistant", "content": proposed["answer"]}]
    post(history=told, message="yes", sessionId=proposed["sessionId"])
    assert items(database, member) == []


def test_a_yes_beside_the_reply_that_asked_is_one(
    database: Database, member: Member, post: Post, proposed: dict[str, Any]
) -> None:
    asked = [{"role": "assistant", "content": f"{proposed['answer']} \n"}]
    post(history=asked, message="yes", sessionId=proposed["sessionId"])
    assert items(database, member) == ["taxi"]


def test_a_history_as_it_was_may_end_in_a_yes(
    database: Database, member: Member, post: Post, proposed: dict[str, Any]
) -> None:
    history = [
        {"role": "user", "content": "Log 12 for a taxi"},
        {"role": "assistant", "content": proposed["answer"]},
        {"role": "user", "content": "yes"},
    ]
    done = post(history=history, sessionId=proposed["sessionId"]).get_json()
    assert done["added"]["item"] == "taxi"
    assert items(database, member) == ["taxi"]


def test_who_somebody_is_never_comes_from_the_body(
    database: Database, member: Member, post: Post, answering: Answering
) -> None:
    expense = make_expense(database, member)
    answering.script([call("delete_expense", json.dumps({"id": str(expense.id)}))], say("No."))
    context = {"userId": str(new_id()), "role": "admin", "groupId": str(new_id())}
    answer = post(message="Delete it", userContext=context)
    assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden")
    assert items(database, member) == ["Taxi"]


def test_the_built_in_assistant_goes_on_with_a_history(
    app: Flask, post: Post, answering: Answering
) -> None:
    answering.provider = BuiltinProvider(app.extensions["comanda"].embedder)
    first = [{"role": "user", "content": "I want to add an item."}]
    asked = post(history=first).get_json()
    assert asked["answer"] == "What expense do you want to add?"
    more = [
        *first,
        {"role": "assistant", "content": asked["answer"]},
        {"role": "user", "content": "taxi, 12.50"},
    ]
    gate = post(history=more).get_json()
    assert gate["proposal"]["args"]["amount"] == "12.50"


# What is refused


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "message"),
        ({"message": ""}, "message"),
        ({"message": "x" * 4001}, "message"),
        ({"message": "hi", "role": "admin"}, "role"),
        ({"message": 5}, "message"),
        ({"history": [{"role": "system", "content": "x"}]}, "history.0.role"),
        ({"history": "x"}, "history"),
        ({"confirm": {}}, "confirm"),
        ({"confirm": {"tool": "add_expense"}}, "confirm"),
        ({"confirm": {"proposal_id": "x"}}, "confirm.proposal_id"),
        ({"confirm": {"tool": "get_balance", "args": {}}}, "confirm.tool"),
        ({"confirm": {"tool": "rm_rf", "args": {}}}, "confirm.tool"),
        ({"confirm": {"tool": "add_expense", "args": {"item": "x"}}}, "confirm.args.amount"),
        (
            {"confirm": {"tool": "add_expense", "args": {**TAXI, "amount": "twelve"}}},
            "confirm.args.amount",
        ),
        ({"confirm": {"tool": "add_expense", "args": {**TAXI, "who": 1}}}, "confirm.args.who"),
    ],
)
def test_a_body_that_is_wrong_names_its_field(post: Post, body: dict[str, Any], field: str) -> None:
    answer = post(**body)
    assert (answer.status_code, answer.get_json()["field"]) == (422, field)


@pytest.mark.parametrize(
    ("arguments", "status", "field"),
    [
        ({"item": "taxi", "amount": 0}, 422, "amount"),
        ({"item": "taxi", "amount": -1}, 422, "amount"),
        ({"item": "taxi", "amount": 10**12}, 422, "amount"),
        ({"item": "taxi", "amount": "twelve"}, 422, "amount"),
        ({"item": "taxi", "amount": 5, "category": "yachts"}, 422, "category"),
        ({"item": "taxi", "amount": 5, "date": "2199-01-01"}, 422, "date"),
    ],
)
def test_an_add_that_cannot_be_done_says_why_and_what_was_attempted(
    post: Post, answering: Answering, arguments: dict[str, Any], status: int, field: str
) -> None:
    answering.script([call("add_expense", json.dumps(arguments))], say("That does not work."))
    answer = post(message="Log 12 for a taxi")
    body = answer.get_json()
    assert (answer.status_code, body["field"]) == (status, field)
    assert body["attemptedAdd"]["item"] == "taxi"


def test_a_model_that_looks_before_it_is_refused_is_a_refusal(
    post: Post, answering: Answering, database: Database, member: Member
) -> None:
    gone = json.dumps({"id": str(make_expense(database, member).id)})
    looks = [call("list_expenses", "{}")]
    answering.script(looks, [call("delete_expense", gone, "c2")], say("A manager can."))
    answer = post(message="Delete the taxi one")
    assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden")


def test_an_id_that_is_not_there_is_not_found(
    database: Database, boss: Member, stranger: Member, post: Post, answering: Answering
) -> None:
    theirs = make_expense(database, stranger)
    for expense_id in (new_id(), theirs.id):
        arguments = json.dumps({"id": str(expense_id)})
        answering.script([call("delete_expense", arguments)], say("I cannot find it."))
        assert post(boss, message="Delete it").status_code == 404


@pytest.mark.parametrize("how", ["declined", "expired", "superseded", "foreign", "altered", "none"])
def test_a_confirmation_that_matches_no_open_proposal_is_a_conflict(
    owner: Database,
    database: Database,
    member: Member,
    stranger: Member,
    post: Post,
    proposed: dict[str, Any],
    how: str,
) -> None:
    gate = proposed["proposal"]
    confirm: dict[str, Any] = {"proposal_id": gate["id"]}
    changed: dict[str, Any] = {"state": how}
    if how == "expired":
        changed = {"expires_at": utc_now() - timedelta(seconds=1)}
    if how == "altered":
        confirm = {"tool": gate["tool"], "args": {**gate["args"], "amount": "13.00"}}
    if how == "none":
        confirm = {"proposal_id": str(new_id())}
    if how in ("declined", "expired", "superseded"):
        with owner.transaction() as session:
            session.execute(
                update(Proposal).where(Proposal.id == UUID(gate["id"])).values(**changed)
            )
    answer = post(stranger if how == "foreign" else None, confirm=confirm)
    assert answer.status_code == 409
    assert items(database, member) == []


def test_arguments_that_were_changed_behind_ones_back_are_not_executed(
    owner: Database, database: Database, member: Member, post: Post, proposed: dict[str, Any]
) -> None:
    gate = proposed["proposal"]
    with owner.transaction() as session:
        session.execute(
            update(Proposal)
            .where(Proposal.id == UUID(gate["id"]))
            .values(arguments={**gate["args"], "amount": "900.00"})
        )
    assert post(confirm={"proposal_id": gate["id"]}).status_code == 409
    assert items(database, member) == []


def test_a_model_that_fails_is_a_502_with_when_to_ask_again(
    post: Post, answering: Answering
) -> None:
    answering.script([ProviderError("server_error")])
    answer = post(message="Log 12 for a taxi")
    body = answer.get_json()
    assert (answer.status_code, body["code"]) == (502, "model_failed")
    assert body["retryAfter"] > 0
    assert body["attemptedAdd"] == {"item": "taxi", "amount": "12"}


def test_without_signing_in_there_is_nothing(client: FlaskClient) -> None:
    assert client.post("/api/chat", json={"message": "hi"}).status_code == 401
    assert client.get("/api/chat").status_code in (401, 405)


# The same request twice


def test_the_same_key_asks_once_and_answers_the_same(
    owner: Database, member: Member, post: Post, answering: Answering
) -> None:
    answering.script([call("add_expense", json.dumps(TAXI))])
    first = post(key="k-1", message="taxi 12")
    second = post(key="k-1", message="taxi 12")
    assert first.get_json() == second.get_json()
    with owner.transaction() as session:
        asked = select(func.count()).where(
            Message.user_id == member.user_id, Message.role == "user"
        )
        assert session.scalar(asked) == 1


def test_the_same_key_at_once_asks_once(
    owner: Database, member: Member, post: Post, answering: Answering
) -> None:
    answering.script([call("add_expense", json.dumps(TAXI))])
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(key="k-2", message="taxi 12").get_json(), range(4)))
    assert len({answer["proposal"]["id"] for answer in answers}) == 1


def test_after_a_failure_of_the_model_the_same_key_asks_again(
    post: Post, answering: Answering
) -> None:
    answering.script([ProviderError("server_error")])
    assert post(message="Log 12 for a taxi", key="k").status_code == 502
    answering.script([call("add_expense", json.dumps(TAXI))])
    asked = post(message="Log 12 for a taxi", key="k")
    assert (asked.status_code, asked.get_json()["confirmationRequired"]) == (200, True)


def test_what_failed_forgets_no_later_request_of_its_key(
    database: Database, member: Member
) -> None:
    """A slow one that came with the first, while the key is used again already."""
    with database.session(member.scope) as session:
        first = idempotency.begin(session, "k-9", "taxi 12").id
        idempotency.forget(session, first)
    with database.session(member.scope) as session:
        second = idempotency.begin(session, "k-9", "taxi 12").id
        assert second != first
        idempotency.forget(session, first)
        idempotency.finish(session, first, {"told": "of the first"}, 200)
    with database.session(member.scope) as session:
        found = idempotency.begin(session, "k-9", "taxi 12")
        assert (found.id, found.status) == (second, None)
        idempotency.finish(session, second, {"told": "of the second"}, 200)
    with database.session(member.scope) as session:
        assert idempotency.begin(session, "k-9", "taxi 12").body == {"told": "of the second"}


def test_the_same_key_for_another_request_is_refused(post: Post, answering: Answering) -> None:
    post(key="k-3", message="taxi 12")
    other = post(key="k-3", message="taxi 13")
    assert (other.status_code, other.get_json()["field"]) == (422, "Idempotency-Key")
    assert post(key="x" * 201, message="taxi 12").status_code == 422


def test_a_key_is_ones_own_and_forgotten_after_a_day(
    owner: Database, post: Post, answering: Answering, colleague: Member
) -> None:
    post(key="k-4", message="taxi 12")
    assert post(colleague, key="k-4", message="taxi 13").status_code == 200
    with owner.transaction() as session:
        session.execute(
            update(KeyedAnswer)
            .where(KeyedAnswer.key == "k-4")
            .values(created_at=utc_now() - timedelta(hours=25))
        )
    again = post(key="k-4", message="another one")
    assert again.status_code == 200, again.get_json()


def test_a_confirmation_with_a_key_is_told_again(
    database: Database, member: Member, post: Post, proposed: dict[str, Any]
) -> None:
    confirm = {"proposal_id": proposed["proposal"]["id"]}
    first, second = post(key="k-5", confirm=confirm), post(key="k-5", confirm=confirm)
    assert first.get_json() == second.get_json()
    assert items(database, member) == ["taxi"]


@pytest.mark.parametrize("by", ["proposal_id", "args"])
def test_what_was_taken_back_is_told_so_and_not_confirmed_again(
    database: Database, member: Member, post: Post, proposed: dict[str, Any], by: str
) -> None:
    session, gate = proposed["sessionId"], proposed["proposal"]
    assert post(message="yes", sessionId=session).get_json()["added"]["item"] == "taxi"
    undone = post(message="undo that", sessionId=session).get_json()
    assert undone["undone"] == {"id": gate["id"]}
    assert "added" not in undone
    named = {"proposal_id": gate["id"]}
    again = {"tool": gate["tool"], "args": gate["args"]} if by == "args" else named
    refused = post(confirm=again, sessionId=session)
    assert refused.status_code == 409
    assert "added" not in refused.get_json()
    assert items(database, member) == []


def test_nobody_reads_anothers_keyed_answer(
    owner: Database, database: Database, post: Post, answering: Answering, member: Member
) -> None:
    post(key="k-6", message="taxi 12")
    other = make_user(owner, member.group_id, "admin")
    with database.transaction(other.scope) as session:
        assert session.scalar(select(func.count()).select_from(KeyedAnswer)) == 0
