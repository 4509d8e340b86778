"""What a batch line expects of a reply, and how a difference is told."""

from __future__ import annotations

from typing import Any

import pytest

from app.assistant.models import Message
from app.assistant.prompts.expectations import Expectation, UnreadableLine, read_batch


def reply(content: str = "", tools: tuple[str, ...] = (), parts: tuple[str, ...] = ()) -> Message:
    return Message(
        content=content,
        tool_trace=[{"tool": tool, "args": {}, "ok": True, "ms": 1} for tool in tools],
        parts=[{"type": part} for part in parts],
    )


def problems(expect: Any, found: Message) -> list[str]:
    return Expectation.model_validate(expect).problems(found)


GOOD = reply("Raw CHICKEN stays out two hours.", ("search_manual_v2",), ("product_card",))


@pytest.mark.parametrize(
    "expect",
    [
        {},
        {"tools": None, "contains": None},
        {"tools": ["search_manual_v2"]},
        {"tools": "search_manual_v2"},
        {"not_tools": ["search_wines"]},
        {"parts": ["product_card"]},
        {"contains": ["two hours", "raw chicken"]},
        {"contains": "TWO HOURS"},
    ],
)
def test_a_reply_as_expected_has_no_problems(expect: Any) -> None:
    assert problems(expect, GOOD) == []


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ({"tools": ["search_wines"]}, "tool search_wines did not run"),
        ({"tools": []}, "no tool was expected, but search_manual_v2 ran"),
        ({"not_tools": "search_manual_v2"}, "tool search_manual_v2 ran"),
        ({"parts": ["notice"]}, "part notice is missing"),
        ({"contains": ["four hours"]}, "'four hours' is not in the reply"),
    ],
)
def test_each_difference_is_told_in_words(expect: Any, told: str) -> None:
    assert problems(expect, GOOD) == [told]


def test_an_empty_list_of_tools_means_none_and_a_missing_one_means_any() -> None:
    silent = reply("Hello.")
    assert problems({"tools": []}, silent) == []
    assert problems({}, GOOD) == []


def test_without_expectations_nothing_is_expected() -> None:
    assert Expectation().problems(reply()) == []


# Files of questions


def test_a_line_is_read_with_its_number_and_empty_lines_are_passed_over() -> None:
    content = b'\xef\xbb\xbf{"text": "one", "thread": 7}\r\n\n  \n{"text": "two", "note": ["seen"]}'
    (first, one), (second, two) = read_batch(content)
    assert (first, one.text, one.thread) == (1, "one", 7)
    assert (second, two.text, two.expect) == (4, "two", None)


def test_no_line_is_no_question() -> None:
    assert read_batch(b"\n\n") == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "not JSON: Expecting property name"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"text": "x", "thread": ' + b"1" * 5000 + b"}", "a number too long"),
        (b'{"text": "\xe9"}', "not UTF-8"),
        (b"[]", "expected a JSON object"),
        (b"null", "expected a JSON object"),
        (b"{}", "'text' is missing"),
        (b'{"txet": "x"}', "unknown key 'txet'"),
        (b'{"text": 5}', "'text': input should be a valid string"),
        (b'{"text": "x", "user": ["a@b"]}', "'user': input should be a valid string"),
        (b'{"text": "x", "user": "a\\u0000"}', "'user': has control characters"),
        (b'{"text": "x", "thread": true}', "'thread': input should be a valid string"),
        (b'{"text": "x", "language": "fr"}', "'language': input should be 'en' or 'es'"),
        (b'{"text": "x", "expcet": {}}', "unknown key 'expcet'; a line may have: text, user,"),
        (b'{"text": "x", "expect": []}', "'expect': expected an object"),
        (b'{"text": "x", "expect": {"tool": []}}', "unknown key 'expect.tool'; expect may have:"),
        (b'{"text": "x", "expect": {"tools": 7}}', "'expect.tools': expected a list of words"),
        (b'{"text": "x", "expect": {"parts": [7]}}', "'expect.parts.0': input should be a valid"),
    ],
)
def test_what_is_wrong_with_a_line_is_told_with_its_number(line: bytes, told: str) -> None:
    with pytest.raises(UnreadableLine) as raised:
        read_batch(b'{"text": "fine"}\n' + line)
    assert str(raised.value).startswith("line 2: ")
    assert told in str(raised.value)
