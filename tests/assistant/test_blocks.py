"""Objects of JSON in a model's words: never shown, whatever they look like, read if they can be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.assistant.turns.json_blocks import LONGEST_UNKNOWN, BlockFilter, read_object

OBJECT = {"form_navigation": {"forms": [{"slug": "a-b", "title": 'A {b} "c" ```'}]}}
BARE = json.dumps(OBJECT)
PRETTY = json.dumps(OBJECT, indent=2)


def through(text: str, size: int = 1, *names: str) -> tuple[str, list[str], list[str]]:
    """The text in pieces of that size: what came out, what was kept, and each step's output."""
    kept = BlockFilter(names or ("form_navigation",))
    steps = [kept.feed(text[at : at + size]) for at in range(0, len(text), size)]
    steps.append(kept.close())
    return "".join(steps), kept.blocks, steps


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Here is a form.\n\n```json\n{PRETTY}\n```", "Here is a form."),
        (f"Here is a form.\n\n```\n{BARE}\n```\n\nShall we?", "Here is a form.\n\nShall we?"),
        (f"Here is a form. {BARE}", "Here is a form."),
        (f"{BARE}", ""),
        (f"Two. {BARE} and {BARE}", "Two. and"),
        ('Cut short. {"form_navigation": {"forms": [', "Cut short."),
        ('Cut short.\n```json\n{"form_navigation": {}}\n``', "Cut short."),
    ],
)
def test_a_block_is_kept_from_the_reader_in_every_shape(text: str, shown: str, size: int) -> None:
    said, blocks, steps = through(text, size)
    assert said.split() == shown.split()
    assert blocks
    assert not any("form_navigation" in step or "{" in step for step in steps)


@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize(
    "text",
    [
        "Plain words, with a { brace and `code`.",
        'Another object: {"price": 12, "of": {"a": "}"}} and on.',
        "```python\nprint({'a': 1})\n```\n\nDone.",
        '```json\n{"price": 12}\n```\n\nDone.',
        'It never ends: {"price": ',
        "The word form_navigation alone is harmless.",
        "Ends in blanks   ",
        "Ends in a fence ```",
        "{",
        "",
    ],
)
def test_everything_else_is_shown_as_it_is(text: str, size: int) -> None:
    assert through(text, size)[:2] == (text, [])


def test_words_before_a_block_do_not_wait_for_it() -> None:
    kept = BlockFilter(("form_navigation",))
    assert kept.feed("I found one. ") == "I found one."
    assert kept.feed("It is here") == " It is here"
    assert kept.feed('\n\n{"form_nav') == ""


def test_a_long_object_of_another_kind_is_not_waited_for() -> None:
    kept = BlockFilter(("form_navigation",))
    text = '{"list": "' + "x" * LONGEST_UNKNOWN
    assert kept.feed(text) == text


def test_a_filter_without_names_lets_everything_through() -> None:
    assert BlockFilter(()).feed(BARE) == BARE


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (BARE, OBJECT),
        (f"  {PRETTY}\n", OBJECT),
        (f"```json\n{BARE.replace('```', '')}\n```", True),
        (f"so: {BARE} (and more {{)", OBJECT),
        ('{"form_navigation": {"text": "line\nbreak"}}', True),
        ('{"form_navigation": ', None),
        ("{'form_navigation': {}}", None),
        ("[1, 2]", None),
        ("", None),
    ],
)
def test_three_ways_to_read_an_object(text: str, found: Any) -> None:
    read = read_object(text)
    assert read == found if found is not True else read and "form_navigation" in read


def test_deep_nesting_is_unreadable_and_no_error() -> None:
    assert read_object('{"form_navigation": ' + "[" * 100_000) is None
