"""Tool calls as OpenAI sends them, and as the many other servers do."""

from __future__ import annotations

from typing import Any

import pytest

from app.assistant.providers.base import (
    ChatMessage,
    ModelRequest,
    ToolCall,
    Usage,
)
from app.assistant.providers.openai import OpenAIProvider
from tests.assistant.providers.asking import (
    asking,
    calls_of,
    text_of,
)
from tests.model_server import (
    Call,
    Delta,
    Ending,
    ModelServer,
    Say,
    Step,
    scenario,
)

pytestmark = pytest.mark.timeout(30)


def test_a_call_comes_whole_after_the_text(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(
        scenario([Say("Let me look. "), Call("search_manual_v2", {"query": "tips"}, id="call_7")])
    )
    events = list(provider.stream(asking("Are tips shared?", "search_manual_v2")))
    assert text_of(events[:-2]) == "Let me look. "
    assert events[-2] == ToolCall("call_7", "search_manual_v2", '{"query": "tips"}')
    assert isinstance(events[-1], Usage)


def test_parallel_calls_come_in_order_with_their_own_ids(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(
        scenario(
            [Call("search_wines", {"query": "Malbec"}), Call("search_dishes", {"query": "🥩"})]
        )
    )
    events = list(provider.stream(asking("Which wine?", "search_wines", "search_dishes")))
    assert calls_of(events) == [
        ("search_wines", '{"query": "Malbec"}'),
        ("search_dishes", '{"query": "🥩"}'),
    ]
    assert len({event.id for event in events if isinstance(event, ToolCall)}) == 2


def test_chained_calls_see_the_results_before_them(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    model_server.script(
        scenario(
            Call("search_dishes", {"query": "steak"}),
            Call("search_wines", lambda call: {"query": f"for {call.tool_results[0]['name']}"}),
            Say(lambda call: f"Pour {call.tool_results[1]['name']}. [2]"),
        )
    )
    request = asking("Which wine goes with steak?", "search_dishes", "search_wines")
    said, found = "", iter(['{"name": "Ribeye"}', '{"name": "Malbec"}'])
    while not said:
        events = list(provider.stream(request))
        said = text_of(events)
        made = tuple(event for event in events if isinstance(event, ToolCall))
        results = (ChatMessage("tool", next(found), tool_call_id=call.id) for call in made)
        messages = (*request.messages, ChatMessage("assistant", said, made), *results)
        request = ModelRequest(messages, request.tools, "en")
    assert said == "Pour Malbec. [2]"
    assert model_server.last_call.messages[4]["tool_calls"][0]["function"]["arguments"] == (
        '{"query": "for Ribeye"}'
    )


def fragment(name: str | None = None, arguments: Any = None, **more: Any) -> Delta:
    """One fragment of a tool call, with only what is given."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    return Delta({"tool_calls": [{"function": function, **more}]})


TIPS, PAY = '{"query": "tips"}', '{"query": "pay"}'
DIFFERENT_SERVERS: dict[str, tuple[list[Step], list[tuple[str, str]]]] = {
    "a whole call in one fragment": (
        [fragment("search", TIPS, index=0, id="a", type="function")],
        [("search", TIPS)],
    ),
    "two whole calls in one delta, no index": (
        [
            Delta(
                {
                    "tool_calls": [
                        {"id": "a", "function": {"name": "search", "arguments": TIPS}},
                        {"id": "b", "function": {"name": "search", "arguments": PAY}},
                    ]
                }
            )
        ],
        [("search", TIPS), ("search", PAY)],
    ),
    "neither index nor id": (
        [fragment("search", TIPS), fragment("search", PAY), fragment("other", "{}")],
        [("search", TIPS), ("search", PAY), ("other", "{}")],
    ),
    "neither index nor id, in pieces": (
        [
            fragment("search", '{"query"'),
            fragment(arguments=': "tips"}'),
            fragment("search", ""),
            fragment(arguments=PAY),
        ],
        [("search", TIPS), ("search", PAY)],
    ),
    "index 0 for all, whole": (
        [fragment("search", TIPS, index=0, id="a"), fragment("search", PAY, index=0, id="b")],
        [("search", TIPS), ("search", PAY)],
    ),
    "index 0 for all, no id": (
        [fragment("search", TIPS, index=0), fragment("search", PAY, index=0)],
        [("search", TIPS), ("search", PAY)],
    ),
    "one id for all": (
        [fragment("search", TIPS, index=0, id="a"), fragment("search", PAY, index=1, id="a")],
        [("search", TIPS), ("search", PAY)],
    ),
    "name and id repeated in every fragment": (
        [fragment("search", piece, index=0, id="a") for piece in ('{"que', 'ry": "tips"', "}", "")],
        [("search", TIPS)],
    ),
    "name repeated, no id": (
        [fragment("search", piece, index=0) for piece in ('{"query":', ' "tips"}')],
        [("search", TIPS)],
    ),
    "a new id in every fragment": (
        [
            fragment("search", '{"query"', index=0, id="a"),
            fragment(None, ': "tips"}', index=0, id="b"),
        ],
        [("search", TIPS)],
    ),
    "two calls interleaved by index": (
        [
            fragment("search", "", index=0, id="a"),
            fragment("other", "", index=1, id="b"),
            fragment(arguments='{"query": ', index=0),
            fragment(arguments="{", index=1),
            fragment(arguments='"tips"}', index=0),
            fragment(arguments="}", index=1),
        ],
        [("search", TIPS), ("other", "{}")],
    ),
    "two calls interleaved by id": (
        [
            fragment("search", '{"query": ', id="a"),
            fragment("search", '{"query": ', id="b"),
            fragment(arguments='"tips"}', id="a"),
            fragment(arguments='"pay"}', id="b"),
        ],
        [("search", TIPS), ("search", PAY)],
    ),
    "no arguments at all": ([fragment("search", index=0, id="a")], [("search", "{}")]),
    "empty arguments": ([fragment("search", "", index=0, id="a")], [("search", "{}")]),
    "arguments as an object": (
        [fragment("search", {"query": "tips"}, index=0, id="a")],
        [("search", TIPS)],
    ),
    "id and type null in later fragments": (
        [
            fragment("search", '{"query": ', index=0, id="a"),
            fragment(None, '"tips"}', index=0, id=None, type=None),
        ],
        [("search", TIPS)],
    ),
    "malformed arguments": (
        [fragment("search", '{"query": "ti', index=0, id="a")],
        [("search", '{"query": "ti')],
    ),
    "a call without a name": ([fragment(None, TIPS, index=0, id="a")], []),
}


@pytest.mark.parametrize(("steps", "calls"), DIFFERENT_SERVERS.values(), ids=DIFFERENT_SERVERS)
def test_calls_of_servers_that_are_different_are_understood(
    model_server: ModelServer,
    provider: OpenAIProvider,
    steps: list[Step],
    calls: list[tuple[str, str]],
) -> None:
    model_server.script(scenario([*steps, Ending("tool_calls")]))
    events = list(provider.stream(asking("Are tips shared?", "search", "other")))
    assert calls_of(events) == calls
    ids = [event.id for event in events if isinstance(event, ToolCall)]
    assert all(ids)
    assert len(set(ids)) == len(ids)
