"""What the openai provider sends to a real server, and the text that it reads from it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from app.assistant.providers.base import (
    ChatMessage,
    ModelRequest,
    TextDelta,
    ToolCall,
    Usage,
)
from app.assistant.providers.openai import OpenAIProvider
from tests.assistant.providers.asking import (
    MakeProvider,
    asking,
    calls_of,
    text_of,
)
from tests.model_server import (
    Call,
    Chunk,
    Delta,
    Ending,
    ModelServer,
    Raw,
    Say,
    Stall,
    Step,
    scenario,
)

pytestmark = pytest.mark.timeout(120)

PAYLOADS = {
    "leading and trailing spaces": "  two before, three after   ",
    "blank lines": "\n\none\n\n\ntwo\r\nthree\n",
    "line separators": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "other scripts and emoji": "ñ é 日本語 👩‍🍳🇲🇽 e\u0301 \ufeff.",
    "what looks like the protocol": "data: [DONE]\n\ndata: x\n\n: comment\nevent: y",
    "a script": "<script>alert('x')</script><img src=x onerror=alert(1)>[a](javascript:b)",
    "quotes and backslashes": '\\ " \\n \\u2028 {"a": 1} \t',
}


@pytest.mark.parametrize("text", PAYLOADS.values(), ids=PAYLOADS)
@pytest.mark.parametrize("sizes", [None, 1, 7], ids=["words", "characters", "sevens"])
def test_text_arrives_exactly_as_the_model_said_it(
    model_server: ModelServer, provider: OpenAIProvider, text: str, sizes: int | None
) -> None:
    model_server.script(scenario(Say(text, sizes)))
    assert text_of(list(provider.stream(asking()))) == text


@pytest.mark.parametrize("text", PAYLOADS.values(), ids=PAYLOADS)
def test_text_is_exact_when_every_byte_comes_alone(
    model_server: ModelServer, provider: OpenAIProvider, text: str
) -> None:
    model_server.script(scenario(Say(text), byte_by_byte=True))
    assert text_of(list(provider.stream(asking()))) == text


def test_a_script_payload_split_anywhere_arrives_unchanged(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    payload = PAYLOADS["a script"]
    for split in range(1, len(payload)):
        model_server.script(scenario(Say(payload, [split])))
        events = list(provider.stream(asking()))
        assert events[:2] == [TextDelta(payload[:split]), TextDelta(payload[split:])]


def test_the_halves_of_a_character_are_joined(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(scenario(Say(["ok \ud83d", "\udc4d ", "\ud83c", "\udf2e"])))
    events = list(provider.stream(asking()))
    assert events[:3] == [TextDelta("ok "), TextDelta("👍 "), TextDelta("🌮")]


def test_what_could_not_be_stored_is_replaced_or_dropped(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(scenario(Say(["a\udc4db", "c\ud83dd", "e\0f", "g\ud83d"])))
    assert text_of(list(provider.stream(asking()))) == "a\ufffdbc\ufffddefg\ufffd"


def test_the_first_words_come_while_the_model_is_still_speaking(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(scenario([Say("First. "), Stall(2), Say("Last.")]))
    started = time.monotonic()
    stream = provider.stream(asking())
    assert next(stream) == TextDelta("First. ")
    assert time.monotonic() - started < 1.8
    assert text_of(list(stream)) == "Last."


def test_the_request_is_what_every_compatible_server_understands(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    list(provider.stream(asking("Are tips shared?", "search_manual_v2")))
    assert model_server.last_call.body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "Are tips shared?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "search_manual_v2",
                    "description": "Does search_manual_v2.",
                    "parameters": {
                        "type": "object",
                        "properties": {"query": {"type": "string"}},
                    },
                },
            }
        ],
    }


def test_no_list_of_tools_is_sent_when_none_is_offered(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    list(provider.stream(asking()))
    assert "tools" not in model_server.last_call.body


def test_the_key_is_sent_when_there_is_one(
    model_server: ModelServer, make_provider: MakeProvider
) -> None:
    list(make_provider(openai_api_key="a-key").stream(asking()))
    assert model_server.last_call.headers["authorization"] == "Bearer a-key"


def test_a_server_without_keys_is_asked_all_the_same(
    model_server: ModelServer,
    make_provider: MakeProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert text_of(list(make_provider().stream(asking())))


def answering(calls: tuple[ToolCall, ...], *results: str) -> ModelRequest:
    """A conversation in which these calls were made and these results were found."""
    answers = (
        ChatMessage("tool", result, tool_call_id=call.id, tool_name=call.name)
        for call, result in zip(calls, results, strict=True)
    )
    request = asking("Are tips shared?", "search_manual_v2")
    messages = (*request.messages, ChatMessage("assistant", "", calls), *answers)
    return ModelRequest(messages, request.tools, "en")


def test_calls_and_their_results_are_sent_back_as_they_were(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    call = ToolCall("call_a", "search_manual_v2", '{"query": "tips"}')
    list(provider.stream(answering((call,), '{"results": []}')))
    assert model_server.last_call.messages[2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_a",
                    "type": "function",
                    "function": {"name": "search_manual_v2", "arguments": '{"query": "tips"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": '{"results": []}'},
    ]


@pytest.mark.parametrize("arguments", ['{"query": "ti', "", "[]", '"tips"', "null"])
def test_calls_that_the_model_got_wrong_do_not_make_the_server_refuse(
    provider: OpenAIProvider, arguments: str
) -> None:
    call = ToolCall("call_a", "búsqueda en el manual!", arguments)
    assert text_of(list(provider.stream(answering((call,), '{"error": true}'))))


def test_a_tool_result_of_100_kilobytes_reaches_the_model(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    result = json.dumps({"results": [{"cite": 1, "text": "ñ " * 50_000}]}, ensure_ascii=False)
    call = ToolCall("call_a", "search_manual_v2", "{}")
    list(provider.stream(answering((call,), result)))
    assert model_server.last_call.messages[-1]["content"] == result


@pytest.mark.parametrize(
    "steps",
    [
        [Delta({"role": "assistant", "content": None}), Say("Yes.")],
        [Delta({"reasoning_content": "hm", "content": None}), Say("Yes.")],
        [Delta({"reasoning": "hm"}), Delta({"thinking": "hm"}), Say("Yes.")],
        [Delta({"content": [{"type": "text", "text": "Yes."}, {"type": "thinking"}]})],
        [Delta({"refusal": "Yes."})],
        [Chunk({"choices": []}), Say("Yes."), Chunk({"choices": None, "usage": None})],
        [Chunk({"choices": [{"index": 0, "delta": None}]}), Say("Yes.")],
        [Say("Yes."), Chunk({"choices": [{"delta": {}, "message": {"content": "Yes."}}]})],
        [Chunk({"choices": [{"delta": {}, "message": {"content": "Yes."}}]})],
        [Raw(b": ping\n\n"), Raw(b"data:\n\n"), Raw(b"event: x\nid: 1\n\n"), Say("Yes.")],
        [Raw(b'data:{"choices":[{"delta":{"content":"Yes."}}]}\r\n\r\n')],
        [Say("Yes."), Ending(done=False)],
        [Say("Yes."), Ending(reason=None)],
        [Say("Yes."), Ending(reason="length")],
    ],
    ids=str,
)
def test_other_ways_of_saying_the_same_are_understood(
    model_server: ModelServer, provider: OpenAIProvider, steps: list[Step]
) -> None:
    model_server.script(scenario(steps))
    assert text_of(list(provider.stream(asking()))) == "Yes."


def test_a_server_that_answers_whole_is_understood(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(
        scenario([Say("Let me look."), Call("search", {"query": "tips"})], streams=False)
    )
    events = list(provider.stream(asking("Are tips shared?", "search")))
    assert text_of(events) == "Let me look."
    assert calls_of(events) == [("search", '{"query": "tips"}')]
    assert isinstance(events[-1], Usage)


def test_usage_comes_last(model_server: ModelServer, provider: OpenAIProvider) -> None:
    model_server.script(scenario(Say("One two three.")))
    assert list(provider.stream(asking()))[-1] == Usage(tokens_in=6, tokens_out=3)


@pytest.mark.parametrize("told", [None, {}, {"prompt_tokens": None, "completion_tokens": "x"}])
def test_a_server_that_tells_no_usage_is_no_failure(
    model_server: ModelServer, provider: OpenAIProvider, told: dict[str, Any] | None
) -> None:
    model_server.script(scenario([Say("Yes."), Chunk({"usage": told}), Ending(usage=False)]))
    events = list(provider.stream(asking()))
    assert events == [TextDelta("Yes.")] + ([Usage(0, 0)] if told else [])


def test_the_next_call_uses_the_same_connection(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    for _ in range(3):
        list(provider.stream(asking()))
    assert len({call.client_port for call in model_server.calls}) == 1


def test_a_response_that_lingers_does_not_hold_up_the_reply(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(scenario([Say("Yes."), Ending(lingers=10)]))
    started = time.monotonic()
    assert text_of(list(provider.stream(asking()))) == "Yes."
    assert time.monotonic() - started < 5
    assert model_server.last_call.client_left.wait(5)
