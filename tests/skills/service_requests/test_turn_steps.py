"""What the tools of one turn know of the steps of its conversation, and how often they are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event

from app.assistant.models import Message
from app.assistant.proposals.proposals import confirm
from app.assistant.providers.base import ModelEvent, ModelRequest, ProviderError, ToolCall
from app.assistant.threads.threads import load_message
from app.assistant.turns.executor import ClaimedTurn, execute_turn
from app.db import Database, ScopedSession
from app.extensions import Services
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.tools import answer_tools
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import Member, answer, ask, make_thread
from tests.skills.service_requests.building import Talk, id_of, ready_talk, start_talk


class Interrupted(ScriptedProvider):
    """Does something of its own before its second reply."""

    def __init__(self, meanwhile: Callable[[], object], *replies: Any) -> None:
        super().__init__(*replies)
        self.meanwhile = meanwhile

    def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
        if len(self.requests) == 1:
            self.meanwhile()
        yield from super().stream(request)


def record(kind: RequestType, **values: Any) -> ToolCall:
    by_id = {id_of(kind, name): value for name, value in values.items()}
    return call("record_answers", json.dumps({"values": by_id}))


def trace(reply: Message) -> list[tuple[str, bool]]:
    return [(each["tool"], each["ok"]) for each in reply.tool_trace]


def test_the_steps_of_a_conversation_are_loaded_once_in_a_turn_of_four_tools(
    app: Flask, database: Database, member: Member, short: RequestType
) -> None:
    talk = start_talk(database, member, short)
    loads: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if "internal_content IS NOT NULL" in statement:
            loads.append(statement)

    field_id = id_of(short, "photos")
    provider = ScriptedProvider(
        [record(short, title="Oven"), record(short, priority="high")],
        [call("request_field_input", json.dumps({"field_id": field_id}))],
        [record(short, title="Grill")],
        say("Done."),
    )
    accepted = ask(database, member, "the oven, no, the grill; high", talk.thread_id)
    engine = app.extensions["comanda"].database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        reply = answer(app, member, accepted, provider)
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert [ok for _tool, ok in trace(reply)] == [True] * 4
    assert len(loads) == 1
    state = talk.state()
    assert {name: told.value for name, told in state.told.items()} == {
        "title": "Grill",
        "priority": "high",
    }
    # What the first tool took, the last one knew.
    assert state.told["title"].before == "Oven"


@pytest.mark.parametrize("photos", [["x"], "x", [{"id": 1}], 3])
def test_what_is_no_value_of_its_field_costs_none_of_the_others(
    app: Flask, database: Database, member: Member, short: RequestType, photos: Any
) -> None:
    talk = start_talk(database, member, short)
    provider = ScriptedProvider([record(short, photos=photos, title="Oven")], say("Done."))
    accepted = ask(database, member, "the oven", talk.thread_id)
    reply = answer(app, member, accepted, provider)
    assert trace(reply) == [("record_answers", True)]
    assert {name: told.value for name, told in talk.state().told.items()} == {"title": "Oven"}


def test_a_tool_knows_what_was_confirmed_with_a_button_while_the_turn_ran(
    app: Flask, on: Services, database: Database, member: Member, short: RequestType
) -> None:
    talk = ready_talk(database, member, short)
    proposal_id = talk.propose(app)

    def press() -> None:
        with app.test_request_context("/"), database.transaction(member.scope) as session:
            confirm(session, on.registry, proposal_id)

    provider = Interrupted(
        press,
        [record(short, title="Oven")],
        [record(short, title="Fryer")],
        say("Done."),
    )
    accepted = ask(database, member, "it is the oven", talk.thread_id)
    reply = answer(app, member, accepted, provider)
    assert trace(reply) == [("record_answers", True), ("record_answers", False)]
    assert reply.tool_trace[1]["code"] == "not_found"
    assert talk.state().submitted


@pytest.mark.parametrize("tool", ["cancel_service_request", "record_answers"])
def test_what_is_confirmed_while_a_tool_runs_makes_it_take_nothing(
    app: Flask, on: Services, database: Database, member: Member, short: RequestType,
    monkeypatch: pytest.MonkeyPatch, tool: str,
) -> None:  # fmt: skip
    """The button is pressed after the tool has read that nothing is filed."""
    talk = ready_talk(database, member, short)
    proposal_id = talk.propose(app)
    taken = answer_tools.take

    def take_late(*given: Any) -> None:
        with database.transaction(member.scope) as session:
            confirm(session, on.registry, proposal_id)
        taken(*given)

    monkeypatch.setattr(answer_tools, "take", take_late)
    wanted = call(tool, "{}") if tool.startswith("cancel") else record(short, title="Fryer")
    provider = ScriptedProvider([wanted], say("Done."))
    accepted = ask(database, member, "cancel the request", talk.thread_id)
    reply = answer(app, member, accepted, provider)
    assert [(each["ok"], each["code"]) for each in reply.tool_trace] == [(False, "conflict")]
    assert "canceled" not in reply.content
    assert reply.internal_content is None
    assert talk.state().submitted


@pytest.mark.parametrize("tool", ["cancel_service_request", "record_answers"])
def test_what_was_taken_before_the_model_failed_without_a_word_is_not_kept(
    app: Flask, database: Database, member: Member, short: RequestType, tool: str
) -> None:
    """Its person reads that it failed, and says it again."""
    talk = ready_talk(database, member, short)
    before = talk.state()
    wanted = call(tool, "{}") if tool.startswith("cancel") else record(short, title="Fryer")
    provider = ScriptedProvider([wanted], [ProviderError("unavailable", "gone")])
    accepted = ask(database, member, "cancel the request", talk.thread_id)
    reply = answer(app, member, accepted, provider)
    assert trace(reply) == [(tool, True)]
    assert (reply.status, reply.internal_content) == ("failed", None)
    assert talk.state() == before


def test_a_model_that_says_it_has_filed_what_it_has_not_is_put_right(
    app: Flask, database: Database, member: Member, short: RequestType
) -> None:
    talk = ready_talk(database, member, short)
    talk.add({"type": "resolution_shown", "confidence_score": 91, "proposed_answer": "Reset it."},
             {"type": "resolution", "user_accepted": True})  # fmt: skip
    accepted = ask(database, member, "great, thank you", talk.thread_id)
    reply = answer(app, member, accepted, ScriptedProvider(say("I have filed it as solved.")))
    assert reply.content.endswith("Nothing is filed yet.\n\nShould I file it as solved?")
    assert [part["type"] for part in reply.parts][-1] == "request_summary"
    assert not talk.state().submitted


def test_who_stands_in_knows_nothing_of_what_a_failed_try_had_taken(
    app: Flask, on: Services, database: Database, member: Member, short: RequestType
) -> None:
    thread_id = make_thread(database, member)
    begin = call("get_service_request_form", json.dumps({"type_id": str(short.id)}))
    first = ScriptedProvider([begin], [ProviderError("unavailable", "gone")])
    standby = ScriptedProvider([record(short, title="Oven")], say("Done."))
    accepted = ask(database, member, "the oven is cold", thread_id)
    claimed = ClaimedTurn(accepted.turn.id, 1, 1, member.scope)
    with app.test_request_context("/"):
        execute_turn(on, first, claimed, standby=standby)
    reply = look(
        database, member, lambda session: load_message(session, thread_id, accepted.reply.id)
    )
    assert len(first.requests) == 2
    assert trace(reply) == [("record_answers", False)]
    assert not Talk(database, member, short, thread_id).state().is_open


def look(database: Database, who: Member, get: Callable[[ScopedSession], Message]) -> Message:
    with database.transaction(who.scope) as session:
        return get(session)
