"""The turn loop: bounded calls, tools in order, every result given back, words at the end."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import pytest

from app.assistant.proposals.consent import Question
from app.assistant.providers.base import (
    ChatMessage,
    ModelEvent,
    ModelRequest,
    ProviderError,
    TextDelta,
)
from app.assistant.tools.tool import ToolContext, ToolResult
from app.assistant.tools.toolbox import RESULT_LIMIT, ToolOutcome
from app.assistant.turns.loop import (
    Finished,
    PartReady,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    run_turn,
    trace_entry,
)
from app.assistant.turns.turn_limits import MAX_MODEL_CALLS
from app.text.markdown import render_model_text
from tests.assistant.scripted import (
    Broken,
    Count,
    Declared,
    LookUp,
    ScriptedProvider,
    call,
    converse,
    say,
    start,
    toolbox,
    words,
)


def finished(events: list[TurnEvent]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]


def results(provider: ScriptedProvider) -> list[dict[str, object]]:
    """The tool results that the last call was given."""
    return [json.loads(m.text) for m in provider.requests[-1].messages if m.role == "tool"]


def test_words_alone_need_one_call() -> None:
    provider = ScriptedProvider(say("Hello", " there.", tokens=(12, 3)))
    events = converse(provider, toolbox(LookUp()))
    assert words(events) == "Hello there."
    assert finished(events) == Finished((), 12, 3, 1)


def test_a_tool_result_reaches_the_next_call_with_the_id_of_its_call() -> None:
    provider = ScriptedProvider([call("look_up", id_="abc")], say("Weekly. [1]"))
    events = converse(provider, toolbox(LookUp()))
    assert [type(event) for event in events[:2]] == [ToolStarted, ToolFinished]
    assert words(events) == "Weekly. [1]"
    asked, answered = provider.requests[1].messages[-2:]
    assert asked.role == "assistant"
    assert [wanted.id for wanted in asked.tool_calls] == ["abc"]
    assert (answered.role, answered.tool_call_id, answered.tool_name) == ("tool", "abc", "look_up")
    assert json.loads(answered.text) == {"results": [{"cite": 1, "text": "tips"}]}


def test_parallel_calls_run_in_order_and_count_as_one_round_of_searching() -> None:
    pair = [call("look_up", '{"query": "a"}', "1"), call("look_up", '{"query": "b"}', "2")]
    provider = ScriptedProvider(pair, pair, say("Both. [1] [2]"))
    search = LookUp()
    events = converse(provider, toolbox(search))
    assert search.seen == ["a", "b", "a", "b"]
    assert provider.offered == [["look_up"]] * 3
    assert [m.tool_call_id for m in provider.requests[1].messages if m.role == "tool"] == ["1", "2"]
    assert words(events) == "Both. [1] [2]"


def test_chained_calls_see_what_came_before() -> None:
    provider = ScriptedProvider(
        [call("look_up", '{"query": "first"}', "1")],
        [call("look_up", '{"query": "second"}', "2")],
        say("Done [2]."),
    )
    events = converse(provider, toolbox(LookUp()))
    assert [result["results"] for result in results(provider)] == [
        [{"cite": 1, "text": "first"}],
        [{"cite": 2, "text": "second"}],
    ]
    assert words(events) == "Done [2]."


def test_searching_is_withheld_after_three_rounds_and_everything_on_the_fifth_call() -> None:
    provider = ScriptedProvider([call("look_up")])
    converse(provider, toolbox(LookUp(), Count()))
    both, rest = ["look_up", "count"], ["count"]
    assert provider.offered == [both, both, both, rest, []]


def test_rounds_without_a_search_do_not_withhold_searching() -> None:
    provider = ScriptedProvider(*[[call("count")]] * 4, say("Three."))
    converse(provider, toolbox(LookUp(), Count()))
    assert provider.offered[3] == ["look_up", "count"]
    assert provider.offered[4] == []


def test_a_model_that_calls_tools_for_ever_is_asked_five_times_at_most() -> None:
    provider = ScriptedProvider([TextDelta("Let me see."), call("look_up")])
    search = LookUp()
    events = converse(provider, toolbox(search))
    assert finished(events).model_calls == len(provider.requests) == MAX_MODEL_CALLS
    # What it asks for on the last call is not run: nobody would read the result.
    assert len(search.seen) == MAX_MODEL_CALLS - 1
    assert words(events).startswith("Let me see.")


def test_words_before_and_after_a_tool_are_two_paragraphs() -> None:
    provider = ScriptedProvider(
        [TextDelta("I will"), TextDelta(" look."), call("look_up")], say("Found", " it. [1]")
    )
    assert words(converse(provider, toolbox(LookUp()))) == "I will look.\n\nFound it. [1]"


def test_a_tool_called_before_any_words_leaves_no_gap() -> None:
    provider = ScriptedProvider([TextDelta(""), call("look_up")], say("Found it."))
    assert words(converse(provider, toolbox(LookUp()))) == "Found it."


def test_final_text_ends_the_turn_without_another_call() -> None:
    provider = ScriptedProvider([call("declared")])
    events = converse(provider, toolbox(Declared()))
    assert words(events) == "These are the words."
    assert len(provider.requests) == 1


def test_final_text_after_other_words_is_a_paragraph_of_its_own() -> None:
    provider = ScriptedProvider([TextDelta("A moment."), call("declared")])
    events = converse(provider, toolbox(Declared()))
    assert words(events) == "A moment.\n\nThese are the words."


class Ask(Count):
    """Ends the turn in words and in a question of the product."""

    name = "ask"

    def __init__(self, said: str | None, before: str = "") -> None:
        super().__init__()
        self.said, self.before = said, before

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        question = Question("Should I do this?", "it", self.before)
        return ToolResult({}, final_text=self.said, question=question)


@pytest.mark.parametrize("fence", ["```", "~~~~", "- a\n\n```py", "   ~~~ x"])
def test_a_model_that_leaves_code_open_hides_no_question(fence: str) -> None:
    asked = "<p>Should I do this?</p>"
    opened = f"Look:\n\n{fence}\nrm"
    # In its own words, in what it says of a card, and in what a tool had from another model.
    for first, tool in (
        ([*say(opened), call("ask")], Ask("")),
        ([call("ask")], Ask(opened)),
        ([call("ask")], Ask("", opened)),
        ([*say(opened), call("ask")], Ask(opened, f"{opened}\n2")),
    ):
        said = words(converse(ScriptedProvider(first, say("")), toolbox(tool)))
        assert render_model_text(said).rstrip().endswith(asked)


def test_an_unknown_tool_is_explained_to_the_model() -> None:
    provider = ScriptedProvider([call("delete_everything")], say("I cannot."))
    events = converse(provider, toolbox(LookUp()))
    [error] = results(provider)
    assert error["error"] is True
    assert "delete_everything" in str(error["message"])
    assert "look_up" in str(error["suggestion"])
    assert words(events) == "I cannot."


@pytest.mark.parametrize(
    ("arguments", "explained"),
    [
        ("{not json", "not valid JSON"),
        ('{"query": "x", "user_id": "another"}', "user_id"),
        ('{"query": ""}', "query"),
        ("{}", "query"),
        ("", "query"),
        ("[]", "arguments"),
        ("[" * 100_000, "not valid JSON"),
        ('"tips"', "arguments"),
        ('{"query": 7}', "query"),
        (json.dumps({"query": "x" * 201}), "200"),
    ],
)
def test_wrong_arguments_are_explained_to_the_model(arguments: str, explained: str) -> None:
    provider = ScriptedProvider([call("look_up", arguments)], say("Sorry."))
    search = LookUp()
    events = converse(provider, toolbox(search))
    [error] = results(provider)
    assert error["error"] is True
    assert error["recoverable"] is True
    assert explained in str(error["message"])
    assert search.seen == []
    assert words(events) == "Sorry."


def test_arguments_of_too_many_values_are_read_no_further() -> None:
    many = json.dumps({"query": "x"} | {f"a{number}": 1 for number in range(5_000)})
    provider = ScriptedProvider([call("look_up", many)], say("Sorry."))
    converse(provider, toolbox(LookUp()))
    [error] = results(provider)
    assert "more than 1000 values" in str(error["message"])


def test_others_go_on_between_two_tools() -> None:
    calls = [call("look_up", id_=f"c{number}") for number in range(12)]
    rests: list[tuple[float, int]] = []
    search = LookUp()
    request = ModelRequest((ChatMessage("user", "What about tips?"),), (), "en")
    events = run_turn(
        request,
        ScriptedProvider(list(calls), say("So.")),
        toolbox(search),
        rest=lambda seconds: rests.append((seconds, len(search.seen))),
    )
    assert len([event for event in events if isinstance(event, ToolFinished)]) == 12
    assert rests == [(0, min(number, 8)) for number in range(1, 12)]


def test_a_failing_tool_is_a_result_that_the_model_reads() -> None:
    provider = ScriptedProvider([call("broken")], say("The log is locked."))
    events = converse(provider, toolbox(Broken()))
    assert results(provider) == [
        {
            "error": True,
            "message": "The fryer log is locked.",
            "recoverable": True,
            "suggestion": "Try later.",
        }
    ]
    [entry] = [trace_entry(event) for event in events if isinstance(event, ToolFinished)]
    assert entry["ok"] is False


@pytest.mark.parametrize(
    "error", [KeyError("slug"), RuntimeError("pool is closed"), OSError("disk")]
)
def test_a_tool_with_a_fault_of_its_own_does_not_end_the_turn(error: Exception) -> None:
    provider = ScriptedProvider([call("broken")], say("I could not look that up."))
    events = converse(provider, toolbox(Broken(error)))
    [result] = results(provider)
    assert result["error"] is True
    # What went wrong inside is for the log, not for a model that might repeat it.
    assert str(error) not in str(result["message"])
    assert words(events) == "I could not look that up."


def test_after_three_errors_no_tool_is_offered_any_more() -> None:
    provider = ScriptedProvider(*[[call("look_up", "{}")]] * 3, say("I give up."))
    events = converse(provider, toolbox(LookUp()))
    assert provider.offered == [["look_up"], ["look_up"], ["look_up"], []]
    assert words(events) == "I give up."


def test_parts_and_chips_of_tools_are_passed_on_and_chips_only_once() -> None:
    provider = ScriptedProvider([call("count", id_="1"), call("count", id_="2")], say("Three."))
    events = converse(provider, toolbox(Count()))
    assert len([event for event in events if isinstance(event, PartReady)]) == 2
    assert [chip.message for chip in finished(events).suggestions] == ["More of it"]


def test_the_trace_has_names_arguments_and_times_but_no_results() -> None:
    ticks = iter(range(100))
    provider = ScriptedProvider([call("look_up", '{"query": "  tips "}')], say("Weekly."))
    events = converse(provider, toolbox(LookUp()), clock=lambda: next(ticks))
    [entry] = [trace_entry(event) for event in events if isinstance(event, ToolFinished)]
    assert entry == {"tool": "look_up", "args": {"query": "tips"}, "ok": True, "ms": 1000}


def test_invented_citations_disappear_while_streaming() -> None:
    provider = ScriptedProvider([call("look_up")], say("Weekly [", "1", "] and daily ", "[7]."))
    assert words(converse(provider, toolbox(LookUp()))) == "Weekly [1] and daily."


def test_a_citation_before_any_search_is_invented() -> None:
    provider = ScriptedProvider(say("Weekly [1]."))
    assert words(converse(provider, toolbox(LookUp()))) == "Weekly."


def test_what_was_said_before_the_model_failed_stands() -> None:
    provider = ScriptedProvider([TextDelta("Weekly, "), ProviderError("interrupted")])
    turn = start(provider, toolbox(LookUp()))
    assert words([next(turn)]) == "Weekly,"
    with pytest.raises(ProviderError):
        next(turn)


def test_a_turn_that_is_given_up_ends_the_call_upstream() -> None:
    provider = ScriptedProvider(say("One ", "two ", "three."))
    upstream = provider.stream
    ended = []

    def watched(request: ModelRequest) -> Generator[ModelEvent, None, None]:
        try:
            yield from upstream(request)
        finally:
            ended.append(True)

    provider.stream = watched  # type: ignore[method-assign]
    turn = start(provider, toolbox(LookUp()))
    next(turn)
    assert ended == []
    turn.close()  # type: ignore[attr-defined]
    assert ended == [True]


def test_a_long_result_is_cut_for_the_model_and_says_so() -> None:
    outcome = ToolOutcome(True, {"text": "é" * (RESULT_LIMIT * 2)})
    assert json.loads(outcome.model_text)["truncated"] is True
    assert len(outcome.model_text) < RESULT_LIMIT + 200


def test_what_no_database_can_keep_is_left_out_of_words_and_arguments() -> None:
    provider = ScriptedProvider(
        [call("look_up", '{"query": "ti\\u0000ps"}')], say("a\0b", "\0", "c\ud800d")
    )
    search = LookUp()
    assert words(converse(provider, toolbox(search))) == "abc?d"
    assert search.seen == ["tips"]
