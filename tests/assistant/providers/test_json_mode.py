"""A model without tools is spoken to in JSON, over real HTTP where it matters."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace

import pytest

from app.assistant.providers.base import (
    ChatMessage,
    ModelEvent,
    ModelRequest,
    ProviderError,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from app.assistant.providers.json_mode import JsonModeProvider
from app.assistant.providers.openai import OpenAIProvider
from app.config import Settings
from tests.assistant.scripted import ScriptedProvider, say
from tests.model_server import ModelServer, Say, scenario
from tests.model_server.script import Exchange

TOOL = ToolSpec("search_manual_v2", "Search the manual.", {"type": "object", "properties": {}})
REQUEST = ModelRequest(
    (ChatMessage("system", "You help."), ChatMessage("user", "How long?")), (TOOL,), "en"
)
ANSWER = '{"type": "answer", "content": "Two hours. [1]"}'


def ask(
    *replies: str, request: ModelRequest = REQUEST
) -> tuple[list[ModelEvent], ScriptedProvider]:
    script = ScriptedProvider(*(say(reply, tokens=(7, 2)) for reply in replies))
    return list(JsonModeProvider(script).stream(request)), script


def test_the_model_is_given_one_object_and_no_tools_of_its_own() -> None:
    _, script = ask(ANSWER)
    [sent] = script.requests
    assert sent.tools == ()
    system, user = sent.messages
    assert system.text.startswith("You help.")
    payload = json.loads(user.text)
    assert set(payload) == {"message", "today", "tools", "history"}
    assert payload["message"] == "How long?"
    assert [tool["name"] for tool in payload["tools"]] == ["search_manual_v2"]


@pytest.mark.parametrize(
    ("reply", "event"),
    [
        (ANSWER, TextDelta("Two hours. [1]")),
        (f"```json\n{ANSWER}\n```", TextDelta("Two hours. [1]")),
        ('{"type": "clarify", "question": "Of what?"}', TextDelta("Of what?")),
        (
            '{"type": "tool_call", "tool": "search_manual_v2", "args": {"query": "pollo ñ"},'
            ' "confirmationSuggested": false}',
            ToolCall("call_1", "search_manual_v2", '{"query": "pollo ñ"}'),
        ),
        (
            '{"type": "tool_call", "tool": "search_manual_v2"}',
            ToolCall("call_1", "search_manual_v2", "{}"),
        ),
        (
            '{"type": "tool_call", "tool": "search_manual_v2", "args": "{\\"query\\": \\"a\\"}"}',
            ToolCall("call_1", "search_manual_v2", '{"query": "a"}'),
        ),
        (
            '{"type": "tool_call", "tool": "x\\u0000", "args": {"query": "\\udc00"}}',
            ToolCall("call_1", "x", '{"query": "?"}'),
        ),
        ('{"content": "Two hours. [1]", "type": "answer"}', TextDelta("Two hours. [1]")),
        (f"Let me {{see}}: {ANSWER} There.", TextDelta("Two hours. [1]")),
        (f"<think>Not {ANSWER[:30]}</think>\n{ANSWER}", TextDelta("Two hours. [1]")),
    ],
)
def test_each_kind_of_reply_is_read(reply: str, event: ModelEvent) -> None:
    events, _ = ask(reply)
    assert [each for each in events if not isinstance(each, Usage)] == [event]
    assert Usage(7, 2) in events


@pytest.mark.parametrize(
    ("nonsense", "reason"),
    [
        ("Two hours.", "there is no JSON object in it"),
        ("[]", "there is no JSON object in it"),
        ("", "there is no JSON object in it"),
        ('{"type": "answer"}', "answer.content: Field required"),
        ('{"type": "answer", "content": " "}', "answer.content: String should have at least 1"),
        ('{"type": "dance"}', "reply: Input tag 'dance'"),
        ('{"type": "answer", "con', "not valid JSON: Unterminated string"),
        ('{"type": "tool_call", "tool": "x", "args": [1]}', "tool_call.args: Input should be a"),
        ('{"type": "tool_call", "tool": "x", "args": "tips"}', "tool_call.args: Value error"),
        ('{"a": {"type": "answer", "content": "x"}}', "reply: Unable to extract tag"),
        ('{"a": ' * 5000, "not valid JSON"),
    ],
)
def test_what_is_none_of_them_is_sent_back_once_with_the_reason(nonsense: str, reason: str) -> None:
    events, script = ask(nonsense, ANSWER)
    assert [each for each in events if not isinstance(each, Usage)] == [TextDelta("Two hours. [1]")]
    assert events.count(Usage(7, 2)) == 2, "what the first try cost is not counted"
    *before, said, complaint = script.requests[1].messages
    assert tuple(before) == script.requests[0].messages
    assert complaint.text.startswith(f"That is not one of the three objects ({reason}")
    assert said.text == (nonsense[:2000] or "(nothing)")


def test_after_two_of_them_it_is_given_up() -> None:
    with pytest.raises(ProviderError) as raised:
        ask("no", "no")
    assert raised.value.code == "malformed"


def test_what_tools_found_goes_into_the_history() -> None:
    request = ModelRequest(
        (
            *REQUEST.messages,
            ChatMessage("assistant", "", (ToolCall("call_1", "search_manual_v2", "{}"),)),
            ChatMessage("tool", '{"results": []}', tool_call_id="call_1"),
        ),
        (TOOL,),
        "en",
    )
    call = '{"type": "tool_call", "tool": "search_manual_v2", "args": {}}'
    events, script = ask(call, request=request)
    payload = json.loads(script.requests[0].messages[1].text)
    assert payload["message"] == "How long?"
    assert [entry["role"] for entry in payload["history"]] == ["assistant", "tool"]
    assert events[-1] == ToolCall("call_2", "search_manual_v2", "{}")


def test_the_date_is_that_of_the_house() -> None:
    _, script = ask(ANSWER, request=replace(REQUEST, today="2026-02-03"))
    assert json.loads(script.requests[0].messages[1].text)["today"] == "2026-02-03"


def test_words_that_have_no_end_are_kept_and_not_asked_for_again() -> None:
    script = ScriptedProvider(say('{"type": "answer", "content": "Two ho'))
    stream = JsonModeProvider(script).stream(REQUEST)
    assert next(stream) == TextDelta("Two ho")
    with pytest.raises(ProviderError) as raised:
        next(stream)
    assert raised.value.code == "interrupted"
    assert len(script.requests) == 1


class Until:
    """A model that goes on when it is let, or after twenty seconds."""

    def __init__(self) -> None:
        self.let = threading.Event()

    async def play(self, _exchange: Exchange) -> None:
        await asyncio.to_thread(self.let.wait, 20)


@pytest.mark.parametrize("sizes", [1, 3, None])
def test_words_are_given_out_while_they_come_over_http(
    model_server: ModelServer, settings: Settings, sizes: int | None
) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    reply = json.dumps({"type": "answer", "content": words})
    middle, until = reply.index("word35"), Until()
    first, rest = Say(reply[:middle], sizes), Say(reply[middle:], sizes)
    model_server.script(scenario([first, until, rest], when="How long"))
    asking = {"openai_base_url": model_server.base_url, "openai_api_key": "none"}
    provider = JsonModeProvider(OpenAIProvider(settings.model_copy(update=asking)))
    seen, running = [], []
    for event in provider.stream(REQUEST):
        if isinstance(event, TextDelta):
            seen.append(event.text)
            running.append(not model_server.last_call.ended.is_set())
        if len(seen) == 30:
            until.let.set()
    assert "".join(seen) == words
    assert len(seen) >= 39
    assert all(running[:30]), "the words were held back to the end"
    assert "tools" not in model_server.last_call.body
