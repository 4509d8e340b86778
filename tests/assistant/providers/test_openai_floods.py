"""A server that sends without end or all at once: bounded, closed, and nobody else waits."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest

from app.assistant.providers.base import (
    LONGEST_ARGUMENTS,
    MOST_CALLS,
    MOST_TOKENS,
    ProviderError,
    TextDelta,
    ToolCall,
    Usage,
)
from app.assistant.providers.openai import LONGEST_WHOLE_BYTES, OpenAIProvider
from app.assistant.providers.openai_wire import LONGEST_DELTA
from tests.assistant.providers.asking import MakeProvider, asking, failure_of, text_of
from tests.assistant.providers.test_openai_stopping import under_gevent
from tests.model_server import (
    Call,
    Chunk,
    Ending,
    ModelServer,
    Raw,
    Say,
    Stall,
    plain_server,
    scenario,
)

pytestmark = pytest.mark.timeout(120)


def events(*deltas: dict[str, Any]) -> bytes:
    lines = [json.dumps({"choices": [{"delta": delta}]}) for delta in deltas]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def arguments(text: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": text, **more}}]}


BLOCK = events({"content": '{"form_navigation": "'}, *[{"content": "x"}] * 15_000)
FLOODS = {
    "a block": ("native", BLOCK),
    "thoughts": ("json", events({"content": "<think>"}, *[{"content": "x"}] * 15_000)),
    "arguments": ("native", events(arguments('{"a": "', name="f"), *[arguments("x")] * 15_000)),
    "silent thoughts": ("native", events(*[{"reasoning_content": "x"}] * 15_000)),
    "one long event": ("json", events({"content": "<think>" + "\\u00e9" * 30_000})),
    "comments": ("native", b": wait\n\n" * 400_000),
}


@pytest.mark.parametrize("kind", FLOODS)
@pytest.mark.fault(31)
@pytest.mark.soak
def test_others_go_on_while_one_reply_comes_all_at_once(
    model_server: ModelServer, kind: str
) -> None:
    mode, flood = FLOODS[kind]
    model_server.script(scenario([Raw(flood), Ending(usage=False)]))
    report = under_gevent(model_server, "flood", mode)
    # Of the processor's time and not the clock's; the rest is for a machine that is busy.
    assert report["longest"] < 0.1
    assert report["ticks"] >= report["seconds"] / 0.1


@pytest.mark.fault(31)
def test_arguments_without_an_end_are_cut_and_the_call_is_closed(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    endless = Raw(events(arguments('{"a": "', name="look_up"), *[arguments("x" * 1_000)] * 100))
    model_server.script(scenario([endless, Stall(20)]))
    [call] = list(provider.stream(asking()))
    assert isinstance(call, ToolCall)
    assert len(call.arguments) == LONGEST_ARGUMENTS + 1
    assert model_server.last_call.client_left.wait(5)


def test_calls_without_an_end_are_cut(model_server: ModelServer, provider: OpenAIProvider) -> None:
    calls = [Call("look_up", {"query": "a"}) for _ in range(3 * MOST_CALLS)]
    model_server.script(scenario(calls))
    found = list(provider.stream(asking("Tips?", "look_up")))
    assert len(found) == MOST_CALLS
    assert {call.arguments for call in found if isinstance(call, ToolCall)} == {'{"query": "a"}'}


def test_a_long_text_comes_in_pieces(model_server: ModelServer, provider: OpenAIProvider) -> None:
    model_server.script(scenario(Say(["x" * 10_001])))
    found = [each for each in provider.stream(asking()) if isinstance(each, TextDelta)]
    assert text_of(list(found)) == "x" * 10_001
    assert max(len(each.text) for each in found) == LONGEST_DELTA


@pytest.mark.fault(31)
def test_a_response_without_an_end_is_given_up(
    model_server: ModelServer, provider: OpenAIProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.assistant.providers.openai.LONGEST_RESPONSE_BYTES", 100_000)
    model_server.script(scenario([Raw(b": wait\n\n" * 20_000), Say("Never.")]))
    assert failure_of(provider).code == "malformed"


@pytest.mark.parametrize(
    ("reported", "kept"),
    [
        (2**31, MOST_TOKENS),
        (10**30, MOST_TOKENS),
        (-5, 0),
        (12.7, 12),
        (float("inf"), MOST_TOKENS),
        (float("nan"), 0),
        (True, 0),
        ("12", 0),
        (None, 0),
        ([1], 0),
    ],
)
def test_whatever_a_server_counts_the_answer_comes(
    model_server: ModelServer, provider: OpenAIProvider, reported: Any, kept: int
) -> None:
    usage = {"prompt_tokens": reported, "completion_tokens": reported}
    chunk = Chunk({"choices": [], "usage": usage})
    model_server.script(scenario([Say("Fine."), chunk, Ending(usage=False)]))
    assert list(provider.stream(asking())) == [TextDelta("Fine."), Usage(kept, kept)]


def test_a_count_of_ten_thousand_digits_costs_no_answer(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": %s}}\n\n' % (b"9" * 10_000)
    model_server.script(scenario([Say("Fine."), Raw(usage), Ending(usage=False)]))
    assert list(provider.stream(asking()))[1:] == [Usage(MOST_TOKENS, 0)]


@pytest.mark.parametrize("levels", [70, 500, 50_000])
def test_an_event_that_is_nested_too_deeply_is_a_failure_of_the_server(
    model_server: ModelServer, provider: OpenAIProvider, levels: int
) -> None:
    deep = b'{"text": [' * levels + b"]}" * levels
    data = b'data: {"choices": [{"delta": {"content": [%s]}}]}\n\n' % deep
    model_server.script(scenario([Raw(data), Ending(usage=False)]))
    with pytest.raises(ProviderError) as raised:
        list(provider.stream(asking()))
    assert raised.value.code == "server_error"


@pytest.mark.parametrize("status", [200, 500])
def test_what_is_packed_is_not_unpacked(make_provider: MakeProvider, status: int) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    packed = gzip.compress(b" " * 50_000_000)
    with plain_server(status, headers, packed) as url:
        failed = failure_of(make_provider(openai_base_url=url))
    assert failed.code in ("malformed", "unreachable")


@pytest.mark.fault(31)
def test_a_reply_that_does_not_come_in_events_is_no_longer_than_one_may_be(
    make_provider: MakeProvider,
) -> None:
    """It is decoded in one go: nine million values kept others' answers waiting for 5 seconds."""
    said = b'{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "x": "%s"}'
    headers = {"Content-Type": "application/json"}
    with plain_server(200, headers, said % (b"x" * LONGEST_WHOLE_BYTES)) as url:
        failed = failure_of(make_provider(openai_base_url=url))
    assert failed.code in ("malformed", "interrupted", "server_error")
    with plain_server(200, headers, said % b"x") as url:
        found = list(make_provider(openai_base_url=url).stream(asking()))
    assert found[0] == TextDelta("hi")


@pytest.mark.fault(31)
@pytest.mark.parametrize("charset", ["punycode", "utf-16", "rot13", "idna", "hex"])
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_is_utf_8_whatever_it_says_it_is(
    make_provider: MakeProvider, charset: str, status: int
) -> None:
    """One of Python's codecs takes a minute for half a million letters, while nobody goes on."""
    body = b'{"choices": [{"message": {"content": "%s"}, "finish_reason": "stop"}]}'
    headers = {"Content-Type": f"application/json; charset={charset}"}
    said = "é".encode() + b"-" + b"x" * 300_000
    with plain_server(status, headers, body % said) as url:
        provider = make_provider(openai_base_url=url)
        if status == 500:
            assert failure_of(provider).code == "server_error"
            return
        assert text_of(list(provider.stream(asking()))).startswith("é-xxx")
    headers = {"Content-Type": f"text/event-stream; charset={charset}"}
    with plain_server(status, headers, events({"content": "é"}) + b"data: [DONE]\n\n") as url:
        assert text_of(list(make_provider(openai_base_url=url).stream(asking()))) == "é"


def test_hints_without_an_end_before_an_answer_are_given_up(
    make_provider: MakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client drops them one by one, whatever its timeouts, as long as more are there."""
    monkeypatch.setattr("app.web.model_client.LONGEST_ANSWER_BYTES", 2_000_000)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sending = threading.Thread(target=_hint_without_end, args=(listener,), daemon=True)
        sending.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        failed = failure_of(make_provider(openai_base_url=url))
        sending.join()
    assert failed.code in ("malformed", "unreachable", "interrupted")


def _hint_without_end(listener: socket.socket) -> None:
    connection, _address = listener.accept()
    with connection, suppress(OSError):
        connection.recv(65536)
        while True:
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2_000)


def test_an_error_without_an_end_is_given_up(make_provider: MakeProvider) -> None:
    with plain_server(500, {"Content-Type": "text/plain"}, b"x" * 3_000_000) as url:
        tracemalloc.start()
        failed = failure_of(make_provider(openai_base_url=url))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert failed.code in ("malformed", "unreachable", "server_error")
    assert most < 2_500_000
