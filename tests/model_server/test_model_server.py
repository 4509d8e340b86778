"""The scripted server itself: what tests elsewhere rely on."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.model_server import Call, HttpError, ModelServer, Say, scenario, split
from tests.model_server.assistant import pick_tool, query_for
from tests.model_server.loading import load_scripts

pytestmark = pytest.mark.timeout(30)

ROOT = Path(__file__).parents[2]
SEARCHES = (
    "search_manual_v2",
    "search_dishes",
    "search_wines",
    "search_cocktails",
    "search_recipes",
    "search_beer_liquor",
    "search_forms",
)


@pytest.fixture
def client(model_server: ModelServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=model_server.base_url, api_key="none", max_retries=0)


def ask(client: openai.OpenAI, *messages: dict[str, Any], tools: tuple[str, ...] = ()) -> Any:
    """One message of the model, asked for with the official client and not streamed."""
    body: dict[str, Any] = {"model": "scripted", "messages": list(messages)}
    if tools:
        body["tools"] = [{"type": "function", "function": {"name": name}} for name in tools]
    return client.chat.completions.create(**body).choices[0].message


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def found(result: Any) -> list[dict[str, Any]]:
    """A tool call and its result, as they stand in a conversation."""
    function = {"name": "search_manual_v2", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": json.dumps(result)},
    ]


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("How long can raw chicken stay out?", "search_manual_v2"),
        ("¿Cuál es la política de propinas?", "search_manual_v2"),
        ("Which dishes are vegetarian?", "search_dishes"),
        ("¿Qué vino va con el corte?", "search_wines"),
        ("How do I make a margarita?", "search_cocktails"),
        ("How do I make the mole?", "search_recipes"),
        ("What tequilas do we have?", "search_beer_liquor"),
        ("I need to fill out an injury report", "search_forms"),
    ],
)
def test_the_plausible_assistant_picks_the_fitting_tool(message: str, tool: str) -> None:
    assert pick_tool(message, SEARCHES) == tool


def test_it_asks_for_a_form_by_its_name() -> None:
    assert query_for("search_forms", "Write up John for being late") == "Write up"
    assert query_for("search_forms", "I need an injury report") == "injury report"


def test_it_searches_and_then_quotes_the_source(client: openai.OpenAI) -> None:
    question = user("How long can raw chicken stay out?")
    call = ask(client, question, tools=SEARCHES).tool_calls[0]
    assert call.function.name == "search_manual_v2"
    assert json.loads(call.function.arguments) == {"query": question["content"]}
    result = {"weak": False, "results": [{"cite": 3, "text": "At most **two hours**."}]}
    assert ask(client, question, *found(result), tools=SEARCHES).content == "At most two hours. [3]"


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ({"results": [], "near": []}, "I found nothing about that."),
        (
            {"weak": True, "results": [{"cite": 1, "text": "x"}], "near": ["Tips", "Pay"]},
            "I found nothing about that. The nearest topics are: Tips; Pay.",
        ),
        ({"error": True, "message": "No library."}, "I could not look that up: No library."),
    ],
)
def test_it_invents_nothing(client: openai.OpenAI, result: Any, answer: str) -> None:
    assert ask(client, user("Is there a heliport?"), *found(result)).content == answer


@pytest.mark.parametrize("message", ["Hello!", "muchas gracias", "How are you?", "ok"])
def test_small_talk_needs_no_tool(client: openai.OpenAI, message: str) -> None:
    reply = ask(client, user(message), tools=SEARCHES)
    assert reply.content
    assert not reply.tool_calls


def test_the_script_given_last_is_asked_first(
    model_server: ModelServer, client: openai.OpenAI
) -> None:
    model_server.script(scenario(Say("older"), when="tip"))
    model_server.script(scenario(Say("newer"), when="tips"))
    assert ask(client, user("One tip")).content == "older"
    assert ask(client, user("All TIPS")).content == "newer"


def test_a_model_that_calls_tools_for_ever_stops_where_none_is_offered(
    model_server: ModelServer, client: openai.OpenAI
) -> None:
    model_server.script(scenario(Call("search_manual_v2", {"query": "more"})))
    history = [user("Tell me all"), *found({}), *found({})]
    assert ask(client, *history, tools=SEARCHES).tool_calls
    assert ask(client, *history).content == "That is all I could find out."


def test_an_error_can_pass_after_some_tries(
    model_server: ModelServer, client: openai.OpenAI
) -> None:
    model_server.script(scenario([HttpError(503, times=2), Say("Back again.")]))
    for _ in range(2):
        with pytest.raises(openai.InternalServerError):
            ask(client, user("Hello"))
    assert ask(client, user("Hello")).content == "Back again."


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [user("x"), {"role": "tool", "tool_call_id": "call_1", "content": "{}"}],
        [user("x"), found({})[0]],
        [user("x"), found({})[0], user("y")],
    ],
    ids=["none", "a result without a call", "a call without a result", "an unanswered call"],
)
def test_it_refuses_conversations_that_a_strict_server_refuses(
    client: openai.OpenAI, messages: list[dict[str, Any]]
) -> None:
    with pytest.raises(openai.BadRequestError):
        ask(client, *messages)


@pytest.mark.parametrize("options", [{}, {"encoding_format": "float"}], ids=["base64", "float"])
def test_embeddings_are_unit_vectors_of_the_size_asked_for(
    client: openai.OpenAI, options: dict[str, Any]
) -> None:
    texts = ["raw chicken storage", "chicken storage, raw", "tips"]
    reply = client.embeddings.create(model="scripted", input=texts, dimensions=256, **options)
    first, same, other = (each.embedding for each in reply.data)
    assert len(first) == 256
    assert math.isclose(math.hypot(*first), 1, rel_tol=1e-5)
    assert first == same
    assert sum(a * b for a, b in zip(first, other, strict=True)) < 0.5


def test_it_lists_its_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["scripted", "benchmark"]


def test_the_benchmark_model_keeps_its_times(
    model_server: ModelServer, client: openai.OpenAI
) -> None:
    stream = client.chat.completions.create(
        model="benchmark", messages=[{"role": "user", "content": "Go"}], stream=True
    )
    assert sum(1 for chunk in stream if chunk.choices[0].delta.content) == 100
    call = model_server.last_call
    assert call.first_delta_at is not None
    assert 0.1 <= call.first_delta_at - call.received_at < 0.5
    assert 2.0 <= time.monotonic() - call.received_at < 4


def test_text_is_split_into_words_pieces_or_given_sizes() -> None:
    text = "  One two.\n"
    assert split(text, None) == ["  One", " two.\n"]
    assert split(text, 4) == ["  On", "e tw", "o.\n"]
    assert split(text, [3, 1]) == ["  O", "n", "e two.\n"]


@pytest.mark.parametrize("suffix", [".json", ".py"])
def test_scripts_are_read_from_files(tmp_path: Path, suffix: str) -> None:
    step = {"say": {"text": "From a file.", "delay": 0.01}}
    path = tmp_path / f"script{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps([{"when": "file", "rounds": [[step]]}]), "utf-8")
    else:
        lines = [
            "from tests.model_server import Say, scenario",
            "SCENARIOS = [scenario(Say('From a file.', delay=0.01), when='file')]",
        ]
        path.write_text("\n".join(lines), "utf-8")
    assert load_scripts(path) == [scenario(Say("From a file.", delay=0.01), when="file")]


def test_it_can_be_started_by_hand() -> None:
    command = [sys.executable, "-m", "tests.model_server", "--delay", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip().removeprefix("OPENAI_BASE_URL=")
        client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
        assert ask(client, user("Hola")).content.startswith("¡Hola!")
        process.terminate()
        assert process.wait(5) == 0
