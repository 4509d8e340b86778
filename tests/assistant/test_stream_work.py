"""What reading a stream costs: four times the input, four times the work, however it is cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from app.assistant.providers.base import ModelRequest, ProviderError, TextDelta, ToolCall
from app.assistant.providers.json_mode import JsonModeProvider
from app.assistant.providers.json_reader import Unreadable, WordsReader, read_reply
from app.assistant.providers.openai_wire import LONGEST_NAME, MOST_CHOICES, Reply
from app.assistant.tools.tool import CitationLedger
from app.assistant.turns.citations import CitationFilter
from app.assistant.turns.json_blocks import BlockFilter, read_object
from app.assistant.turns.writer import Claim, ReplyWriter
from app.text.markdown import render_model_text, split_blocks
from tests.assistant.scripted import ScriptedProvider, say
from tests.growth import spent

# Work that grows with the square would be sixteen times as much.
GROWTH, FLOOR_SECONDS = 5.0, 0.05
FEW = 2_000


def cpu_seconds(work: Callable[[], object]) -> float:
    """The processor's time that it takes, the best of three times."""
    return min(spent(work) for _ in range(3))


def check_linear(work: Callable[[int], object], few: int = FEW) -> None:
    """Four times as much takes at most five times as long, but for what no clock can tell."""
    for _ in range(3):
        once, four = cpu_seconds(lambda: work(few)), cpu_seconds(lambda: work(4 * few))
        if four <= GROWTH * once + FLOOR_SECONDS:
            return
    pytest.fail(f"{once:.3f} s grow to {four:.3f} s")


# Each: what comes first, and what then comes again and again.
BLOCKS = {
    "a block of ours without an end": ('{"form_navigation": {"forms": ["', "a word "),
    "a fence without an end": ('```json\n{"form_navigation": "', "x"),
    "a fence that is not closed": ('```json\n{"form_navigation": {}}\n', "x"),
    "another block without an end": ('{"list": "', "word "),
    "levels without an end": ('{"form_navigation": ', '{"a": '),
    "quotes": ('{"form_navigation": "', '\\"'),
    "backticks": ("", "`"),
    "braces": ("", "{"),
    "objects": ("", '{"a": 1}'),
    "blanks": ("So", " "),
    "lines": ("So", "\n"),
    "a brace and blanks": ("{", " "),
}
SIZES = [1, 7, 100_000]


def cut(first: str, again: str, times: int, size: int) -> list[str]:
    text = first + again * times
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", BLOCKS)
def test_blocks_are_read_once(kind: str, size: int) -> None:
    def work(times: int) -> None:
        kept = BlockFilter(("form_navigation",))
        for delta in cut(*BLOCKS[kind], times, size):
            kept.feed(delta)
        kept.close()

    check_linear(work)


@pytest.mark.parametrize(
    "text", ['{"form_navigation": "```', "```", '```json\n{"form_navigation": "', "{" * 9]
)
@pytest.mark.parametrize("again", ["a", " ", "`", '{"a":', "```a"])
def test_a_block_is_searched_for_its_object_once(text: str, again: str) -> None:
    check_linear(lambda times: read_object(text + again * times))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("again", [" ", "\u00a0", "[", "[1", "[1, ", " [9]", "【1†", "word "])
def test_citations_are_read_once(again: str, size: int) -> None:
    def work(times: int) -> None:
        citations = CitationFilter({1, 2})
        for delta in cut("So ", again, times, size):
            citations.feed(delta)
        citations.close()

    check_linear(work)


ANSWER = '{"type": "answer", "content": "'
REPLIES = {
    "thoughts without an end": ("<think>", "hm "),
    "thoughts about braces": ("<think>", '{"type": "answer"'),
    "talk": ("", "well "),
    "braces": ("", "{ "),
    "a brace and blanks": ("{", " "),
    "an opening and blanks": ('{"type": "answer", ', " "),
    "another object": ('{"a": "', "word "),
    "words": (ANSWER, "word "),
    "quotes": (ANSWER, '"'),
    "a quote and blanks": (ANSWER + '"', " "),
    "a quote, a comma and blanks": (ANSWER + '",', " "),
    "escapes": (ANSWER, "\\n"),
    "escaped characters": (ANSWER, "\\u00e9"),
    "backslashes": (ANSWER, "\\x"),
    "an end and more": (ANSWER + 'All."}', "more "),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", REPLIES)
def test_a_reply_in_json_is_read_once(kind: str, size: int) -> None:
    def work(times: int) -> None:
        reader = WordsReader()
        for delta in cut(*REPLIES[kind], times, size):
            reader.feed(delta)
        reader.close()

    check_linear(work)


@pytest.mark.parametrize("kind", REPLIES)
def test_a_reply_in_json_is_read_once_when_it_is_whole(kind: str) -> None:
    def work(times: int) -> None:
        with suppress(Unreadable):
            read_reply("".join(cut(*REPLIES[kind], times, 100)))

    check_linear(work)


def test_thoughts_in_json_mode_cost_what_they_are() -> None:
    def work(times: int) -> None:
        model = ScriptedProvider(say("<think>", *["hm "] * times, "</think>", ANSWER + 'So."}'))
        events = JsonModeProvider(model).stream(ModelRequest((), (), "en"))
        assert "".join(each.text for each in events if isinstance(each, TextDelta)) == "So."

    check_linear(work)


def event(**function: Any) -> str:
    fragment = {"index": 0, "function": function}
    return json.dumps({"choices": [{"delta": {"tool_calls": [fragment]}}]})


# Some servers repeat the name, and some end what they send with a brace each time.
ARGUMENTS = {
    "a string": [event(name="f", arguments='{"a": "'), event(arguments="a")],
    "its name again": [event(name="f", arguments='{"a": "'), event(name="f", arguments="a")],
    "braces": [event(name="f", arguments='{"a": "'), event(name="f", arguments="}")],
    "ends that are none": [event(name="f", arguments="{}x"), event(name="f", arguments="{}")],
    "calls": [event(name="f", arguments="{}"), event(name="f", arguments="{}")],
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_the_arguments_of_a_call_are_put_together_once(kind: str) -> None:
    def work(times: int) -> None:
        reply = Reply()
        first, again = ARGUMENTS[kind]
        for data in (first, *[again] * times):
            reply.read(data)
        reply.complete = True
        list(reply.finish())

    check_linear(work)


@pytest.mark.parametrize(
    "data",
    [
        '{"choices": [' + ",".join(["{}"] * 300_000) + "]}",
        '{"a": [' + ",".join(["[[[[[[1]]]]]]"] * 70_000) + '], "choices": []}',
        json.dumps({"choices": [{"delta": {"tool_calls": [{"index": 0}] * 20_000}}]}),
        '{"x": [' + "1," * 500_000 + '1], "choices": []}',
    ],
    ids=["choices", "nested", "fragments", "numbers"],
)
def test_an_event_of_values_without_an_end_is_a_failure_and_not_read(data: str) -> None:
    """It would be read in one go, and nobody else's turn could go on meanwhile."""
    with pytest.raises(ProviderError) as failure:
        Reply().read(data)
    assert str(failure.value) == "server_error: too many values"


def test_a_reply_has_one_choice_and_a_few_are_read() -> None:
    choices = [{"delta": {"content": f"{n} "}} for n in range(1_000)]
    texts = Reply().read(json.dumps({"choices": choices}))
    assert [each.text for each in texts] == [f"{n} " for n in range(MOST_CHOICES)]


def test_the_name_and_the_id_of_a_call_are_kept_as_far_as_one_may_be_long() -> None:
    """Both are stored with the reply, and told to all who read it."""
    fragment = {"index": 0, "id": "i" * 1_000_000}
    fragment["function"] = {"name": "n" * 1_000_000, "arguments": "{}"}
    reply = Reply()
    for _ in range(2):
        reply.read(json.dumps({"choices": [{"delta": {"tool_calls": [fragment]}}]}))
    reply.complete = True
    [call] = [each for each in reply.finish() if isinstance(each, ToolCall)]
    assert (call.id, call.name) == ("i" * LONGEST_NAME, "n" * LONGEST_NAME)


class Log:
    """An event log that keeps what it is given: only the writer's own work is counted."""

    def __init__(self) -> None:
        self.published: list[tuple[str, dict[str, Any]]] = []

    def publish(self, _thread: Any, type_: str, body: dict[str, Any], **_: Any) -> str:
        self.published.append((type_, body))
        return f"e-{len(self.published)}"


def write(log: Log, deltas: list[str]) -> ReplyWriter:
    """The deltas as a writer sends them whose clock says that each may go at once."""
    clock = iter(range(100_000_000))
    claim = Claim(uuid4(), uuid4(), uuid4(), 1)
    writer = ReplyWriter(
        claim,
        SimpleNamespace,
        log,
        CitationLedger(),
        clock=lambda: next(clock) * 0.1,  # type: ignore[arg-type]
    )
    writer.save = lambda: None  # type: ignore[method-assign]
    for delta in deltas:
        writer.add_text(delta)
    writer.flush()
    return writer


@pytest.mark.parametrize("again", ["word ", "a line\n", "- item\n\n", "```\n", "\n", "1"])
def test_a_reply_is_split_into_blocks_once_while_it_is_written(again: str) -> None:
    def work(times: int) -> None:
        write(Log(), ["So:\n\n", *[again] * times])

    check_linear(work, 1_000)


@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_what_is_sent_while_it_grows_is_the_text_and_its_blocks(size: int) -> None:
    text = "One.\n\n- a\n\n- b\n\nTwo.\n\n```\nx\n\ny\n```\n\nThree.\n\n2024 was\n\n12"
    log = Log()
    deltas = [text[at : at + size] for at in range(0, len(text), size)]
    writer = write(log, deltas)
    assert writer.text == text
    assert "".join(body["text"] for type_, body in log.published if type_ == "token") == text
    drawn = [body for type_, body in log.published if type_ == "block"]
    blocks, tail = split_blocks(text)
    # What is finished by one delta is drawn together.
    assert len(drawn) == (1 if size > len(text) else len(blocks))
    assert size < len(text) or drawn[-1]["tail"] == tail
    alone = "".join(str(render_model_text(block)) for block in blocks)
    assert "".join(body["html"] for body in drawn).split() == alone.split()


@pytest.mark.fault(54)
def test_thousands_of_tiny_blocks_are_told_in_a_few_events() -> None:
    log = Log()
    write(log, ["a\n\n" * 6_666])
    drawn = [body["html"] for type_, body in log.published if type_ == "block"]
    assert "".join(drawn).count("<p>") == 6_665
    assert len(drawn) < 30


def test_a_block_full_of_signs_keeps_nobody_waiting() -> None:
    log = Log()
    write(log, ["[*a*](b) <i>\n" * 1_000, "\n\nEnd"])
    [body] = [body for type_, body in log.published if type_ == "block"]
    assert body["html"].startswith("<p>[*a*](b) &lt;i&gt;<br>")
