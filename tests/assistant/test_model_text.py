"""What a model sends is bounded, cleaned and clamped where it comes in, and costs no answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.assistant.models import Message
from app.assistant.providers.base import MOST_TOKENS, TextDelta, Usage
from app.assistant.providers.choice import make_provider
from app.assistant.tools.tool import ToolResult
from app.assistant.turns.loop import Finished, ToolFinished
from app.assistant.turns.outcome import TurnFacts
from app.assistant.turns.turn_limits import LONGEST_REPLY
from app.config import Settings
from app.db import Database
from app.text.json_text import MOST_LEVELS, TooMuch, parse_json
from app.text.plain_text import clean_text
from tests.assistant.scripted import (
    Declared,
    LookUp,
    ScriptedProvider,
    call,
    converse,
    say,
    toolbox,
    words,
)
from tests.factories import Member, answer, api_token, ask
from tests.model_server import Call, Chunk, Ending, ModelServer, Say, Stall, scenario

ROOT = Path(__file__).resolve().parents[2]
TERMINAL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e\u2066\u200f\r"
SEEN = "]0;owned[2J31m"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def answered(
    settings: Settings, database: Database, member: Member, model: ModelServer, **more: Any
) -> Message:
    """The reply of one turn that asks the scripted server."""
    named = {"openai_base_url": model.base_url, "ai_fallback": False, **more}
    app = create_app(settings.model_copy(update=named))
    accepted = ask(database, member, "are tips shared")
    on = app.extensions["comanda"]
    return answer(app, member, accepted, make_provider(on.settings, on.embedder))


class InTurn:
    """A model whose first reply is one thing and whose later ones are another."""

    streams = True
    byte_by_byte = False

    def __init__(self, replies: list[Say]) -> None:
        self.replies = list(replies)

    def is_for(self, _call: Any) -> bool:
        return True

    def steps(self, _call: Any) -> list[Say]:
        return [self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]]


# The length


def test_a_reply_ends_at_the_greatest_length_and_its_call_is_closed() -> None:
    provider = ScriptedProvider([*say(*["word "] * LONGEST_REPLY), call("look_up")])
    closed: list[bool] = []
    stream = provider.stream

    def watched(request: Any) -> Any:
        try:
            yield from stream(request)
        finally:
            closed.append(True)

    provider.stream = watched  # type: ignore[method-assign]
    events = converse(provider, toolbox(LookUp()))
    assert words(events) == "word " * (LONGEST_REPLY // 5)
    assert closed == [True]
    assert len(provider.requests) == 1
    assert isinstance(events[-1], Finished)
    assert events[-1].is_cut


def test_a_reply_of_the_greatest_length_is_whole() -> None:
    events = converse(ScriptedProvider(say("x" * LONGEST_REPLY)), toolbox(LookUp()))
    assert len(words(events)) == LONGEST_REPLY
    assert isinstance(events[-1], Finished)
    assert not events[-1].is_cut


def test_what_one_turn_says_counts_together() -> None:
    provider = ScriptedProvider([TextDelta("x" * (LONGEST_REPLY // 2)), call("look_up")])
    events = converse(provider, toolbox(LookUp()))
    assert len(words(events).replace("\n", "")) == LONGEST_REPLY
    assert len(provider.requests) == 3


@pytest.mark.parametrize("mode", ["native", "json"])
@pytest.mark.fault(31)
def test_the_person_is_told_that_an_answer_was_cut(
    settings: Settings, database: Database, member: Member, model: ModelServer, mode: str
) -> None:
    begins = "" if mode == "native" else '{"type": "answer", "content": "'
    model.script(scenario([Say([begins + "Much. ", *["rice " * 100] * 100]), Stall(20)]))
    reply = answered(settings, database, member, model, ai_tool_mode=mode)
    assert reply.status == "complete"
    assert reply.content.startswith("Much. rice rice")
    assert len(reply.content) == LONGEST_REPLY
    assert [(part["type"], part["kind"]) for part in reply.parts] == [("notice", "limit")]
    told = "This answer has reached the maximum length and ends here."
    assert reply.parts[0]["text"].startswith(told)
    assert model.last_call.client_left.wait(5)


def test_a_block_without_an_end_is_cut_and_told(
    settings: Settings, database: Database, member: Member, model: ModelServer
) -> None:
    model.script(scenario([Say(['{"form_navigation": "', *["x" * 100] * 400]), Stall(20)]))
    reply = answered(settings, database, member, model)
    assert (reply.status, reply.content) == ("complete", "")
    assert [part["kind"] for part in reply.parts] == ["limit"]


def test_thoughts_without_an_end_are_no_answer(
    settings: Settings, database: Database, member: Member, model: ModelServer
) -> None:
    model.script(scenario([Say(["<think>", *["hm, " * 1_000] * 60]), Stall(20)]))
    reply = answered(settings, database, member, model, ai_tool_mode="json")
    assert (reply.status, reply.content) == ("failed", "")
    assert "could not be read" in reply.parts[0]["text"]
    assert model.last_call.client_left.wait(5)


# Depth


def nested(levels: int, around: str = "{}") -> str:
    opening = '{"a": ' if around == "{}" else "["
    return opening * levels + "1" + around[1] * levels


def test_json_is_read_to_its_greatest_depth_and_no_further() -> None:
    for around in ("{}", "[]"):
        assert parse_json(nested(MOST_LEVELS, around))
        for levels in (MOST_LEVELS + 1, 500, 990, 100_000):
            with pytest.raises(TooMuch, match="nested"):
                parse_json(nested(levels, around))


@pytest.mark.parametrize("levels", [70, 500, 950, 5_000, 100_000])
@pytest.mark.parametrize("mode", ["native", "json"])
@pytest.mark.fault(31)
def test_deep_arguments_are_the_models_mistake(
    settings: Settings,
    database: Database,
    member: Member,
    model: ModelServer,
    levels: int,
    mode: str,
) -> None:
    deep = '{"query": ' + nested(levels) + "}"
    if mode == "native":
        model.script(scenario(Call("search_manual_v2", deep, sizes=5_000), Say("Sorry.")))
    else:
        wish = f'{{"type": "tool_call", "tool": "search_manual_v2", "args": {deep}}}'
        rounds = [Say(wish, sizes=5_000), Say('{"type": "answer", "content": "Sorry."}')]
        model.script(InTurn(rounds))
    reply = answered(settings, database, member, model, ai_tool_mode=mode)
    assert (reply.status, reply.content) in (("complete", "Sorry."), ("failed", ""))
    told = [part["text"] for part in reply.parts]
    assert not any("wrong on our side" in text for text in told)
    if mode == "native" or levels < 5_000:
        assert reply.content == "Sorry."


@pytest.mark.parametrize("levels", [70, 500, 950, 2_500])
def test_a_deep_block_in_words_is_left_out(
    settings: Settings, database: Database, member: Member, model: ModelServer, levels: int
) -> None:
    model.script(scenario(Say(f'So. {{"form_navigation": {nested(levels)}}}', sizes=500)))
    reply = answered(settings, database, member, model)
    assert (reply.status, reply.content, reply.parts) == ("complete", "So.", [])


def test_arguments_that_are_too_long_are_the_models_mistake() -> None:
    long = json.dumps({"query": "x" * 70_000})
    events = converse(ScriptedProvider([call("look_up", long)], say("Sorry.")), toolbox(LookUp()))
    [outcome] = [event.outcome for event in events if isinstance(event, ToolFinished)]
    assert (outcome.ok, outcome.code) == (False, "invalid_input")
    assert "64000" in str(outcome.payload["message"])
    assert words(events) == "Sorry."


def test_of_many_blocks_a_few_are_read() -> None:
    seen: list[Any] = []

    def read(value: Any, _context: Any) -> Any:
        seen.append(value)
        return ToolResult({})

    tools = toolbox(LookUp())
    tools.blocks = {"form": read}
    events = converse(ScriptedProvider(say(*['{"form": 1} '] * 500)), tools)
    assert len(seen) == 8
    assert words(events).strip() == ""


@pytest.mark.parametrize("levels", [70, 500, 950, 100_000])
@pytest.mark.parametrize("path", ["/api/ask", "/api/chat"])
def test_a_body_that_is_nested_too_deeply_is_refused(
    app: Flask, owner: Database, member: Member, path: str, levels: int
) -> None:
    client: FlaskClient = app.test_client(use_cookies=False)
    for name in ("message", "userContext", "confirm"):
        body = f'{{"question": "Hi", "{name}": {nested(levels)}}}'
        answer = client.post(
            path,
            data=body,
            content_type="application/json",
            headers={
                "Authorization": f"Bearer {api_token(owner, member)}",
                "Idempotency-Key": f"deep {name} {levels}",
            },
        )
        assert answer.status_code == 422, (name, answer.status_code)
        assert answer.get_json()["error"] is True


# Accounting


@pytest.mark.parametrize("count", [2**31, 10**30, -5, 12.7, 1e300, None, "many"])
@pytest.mark.fault(32)
def test_what_a_model_says_it_took_costs_no_answer(
    settings: Settings, database: Database, member: Member, model: ModelServer, count: Any
) -> None:
    chunk = Chunk({"choices": [], "usage": {"prompt_tokens": count, "completion_tokens": count}})
    model.script(scenario([Say("Fine."), chunk, Ending(usage=False)]))
    reply = answered(settings, database, member, model)
    assert (reply.status, reply.content) == ("complete", "Fine.")
    assert 0 <= (reply.tokens_in or 0) <= MOST_TOKENS


def test_five_calls_that_took_the_most_are_counted(
    app: Flask, database: Database, member: Member
) -> None:
    most = Usage(2**63, 2**63)
    provider = ScriptedProvider([TextDelta("So."), call("no_such_tool"), most])
    reply = answer(app, member, ask(database, member), provider)
    assert (reply.status, reply.tokens_in) == ("complete", 5 * MOST_TOKENS)


@pytest.mark.fault(32)
def test_a_turn_whose_facts_cannot_be_kept_keeps_its_answer(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    accepted = ask(database, member)
    with owner.engine.begin() as connection:
        # No turn may take longer than any could: whatever it is that the database refuses.
        connection.exec_driver_sql(
            "ALTER TABLE turn_facts ADD CONSTRAINT of_a_test CHECK (tokens_out <> 77) NOT VALID"
        )
    try:
        reply = answer(app, member, accepted, ScriptedProvider(say("Fine.", tokens=(7, 77))))
    finally:
        with owner.engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE turn_facts DROP CONSTRAINT of_a_test")
    assert (reply.status, reply.content, reply.tokens_out) == ("complete", "Fine.", 77)
    with database.transaction(member.scope) as session:
        assert session.get(TurnFacts, accepted.turn.id) is None


# Signs


def test_signs_that_a_terminal_obeys_or_that_turn_the_direction_are_dropped() -> None:
    assert (
        clean_text(f"a{TERMINAL}b\n\tc é 😀 👩\u200d🍳 \ud800")
        == f"a{SEEN}b\n\tc é 😀 👩\u200d🍳 ?"
    )


def test_they_are_dropped_wherever_a_model_writes(
    app: Flask, database: Database, member: Member
) -> None:
    escaped = json.dumps({"query": f"chicken {TERMINAL}"})
    provider = ScriptedProvider(
        [call("search_manual_v2", escaped), call(f"no{TERMINAL}tool", "{}", f"id{TERMINAL}")],
        say(*f"Two {TERMINAL}hours."),
    )
    reply = answer(app, member, ask(database, member), provider)
    assert reply.content == f"Two {SEEN}hours."
    stored = json.dumps([reply.tool_trace, reply.parts], ensure_ascii=False)
    assert clean_text(stored) == stored
    assert not any(sign in stored for sign in ("\\u001b", "\\u0007", "\\u007f", "\\r"))
    assert f"no{SEEN}tool" in stored


def test_words_and_arguments_in_json_are_cleaned_too(
    settings: Settings, database: Database, member: Member, model: ModelServer
) -> None:
    said = json.dumps({"type": "answer", "content": f"Two {TERMINAL}hours."})
    model.script(scenario(Say(said, sizes=3)))
    reply = answered(settings, database, member, model, ai_tool_mode="json")
    assert reply.content == f"Two {SEEN}hours."


def test_a_tool_is_given_its_arguments_without_them() -> None:
    said = call("declared", json.dumps({"query": TERMINAL + "a"}))
    events = converse(ScriptedProvider([said]), toolbox(Declared()))
    [finished] = [event for event in events if isinstance(event, ToolFinished)]
    assert finished.outcome.arguments == {"query": SEEN + "a"}


def test_a_reply_of_thousands_of_sentences_keeps_nobody_waiting() -> None:
    """Under gevent others get their turns while it is read for what it claims."""
    script = """
from gevent import monkey; monkey.patch_all()
import random, time
import gevent
from app.assistant.turns import denials
from app.nlu.claims import says_done
says_done("abc.", has_looked_up=False)
letters = random.Random(7)
text = " ".join("".join(letters.choices("abcdefghiz", k=3)) + "." for _ in range(4_000))
longest, done = 0.0, False
def tick():
    global longest
    while not done:
        began = time.perf_counter()
        gevent.sleep(0.001)
        longest = max(longest, time.perf_counter() - began)
gevent.spawn(tick)
gevent.sleep(0.01)
began = time.perf_counter()
denials._READING.run(lambda: says_done(text, has_looked_up=False))
took, done = time.perf_counter() - began, True
print(longest / took)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    # On the loop itself all of it would be one wait.
    assert float(result.stdout) < 0.5
