"""Words are read out of JSON that is still arriving, wherever the pieces are cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.assistant.providers.json_reader import (
    MOST_OBJECTS,
    Answer,
    Call,
    Unreadable,
    WordsReader,
    read_reply,
)

# All characters that a model's text can have once halves of them are out.
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(str.strip)


def read(*pieces: str) -> tuple[str, bool]:
    """What the pieces give, and whether that is known to be all."""
    reader = WordsReader()
    words = [reader.feed(piece) for piece in pieces]
    return "".join([*words, reader.close()]), reader.is_over


def cut(text: str, at: list[int]) -> list[str]:
    places = sorted({0, len(text), *(place % (len(text) + 1) for place in at)})
    return [text[start:end] for start, end in pairwise(places)]


@given(text=TEXTS, at=st.lists(st.integers(0, 4000)), ascii_only=st.booleans())
@example(text="Two hours 😀🇲🇽.", at=[], ascii_only=True)
@example(text='"\\u00e9" \\ / \b\f\n\r\t', at=[], ascii_only=True)
def test_any_text_comes_out_as_it_went_in_however_it_is_cut(
    text: str, at: list[int], ascii_only: bool
) -> None:
    written = json.dumps({"type": "answer", "content": text}, ensure_ascii=ascii_only)
    assert read(*cut(written, at)) == (text.lstrip(), True)
    assert read(*written) == (text.lstrip(), True)
    reply = read_reply(written)
    assert isinstance(reply, Answer)
    # Pydantic and Python do not call the same control characters blank.
    assert reply.content.strip() == text.strip()


@pytest.mark.parametrize("ascii_only", [True, False])
def test_it_may_be_cut_in_two_at_every_byte(ascii_only: bool) -> None:
    text = 'Salsa "verde" 🌶️: añade sal\\nada\n[1] 😀'
    written = json.dumps({"type": "answer", "content": text, "x": 1}, ensure_ascii=ascii_only)
    data = written.encode()
    for place in range(len(data) + 1):
        # A byte in the middle of a character waits for the others, as in every decoder.
        whole = data[:place].decode(errors="ignore")
        assert read(whole, written[len(whole) :]) == (text, True)


def test_the_words_do_not_wait_for_the_end() -> None:
    reader = WordsReader()
    assert reader.feed('Sure:\n```json\n{"type" : "answer",\n "content"') == ""
    assert not reader.has_begun
    assert reader.feed(': "At mo') == "At mo"
    assert reader.has_begun
    assert reader.feed("st two\\") == "st two"
    assert reader.feed("nhours \\ud83d") == "\nhours "
    assert reader.feed("\\ude0") == ""
    assert reader.feed('0."') == "😀."
    assert not reader.is_over
    assert reader.feed("}\n```") == ""
    assert reader.is_over
    assert reader.feed(' {"type": "answer", "content": "More"}') == ""


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('say "please" and go', 'say "please" and go'),
        ("line\nbreak", "line\nbreak"),
        (r"a \* b \(c\)", r"a \* b \(c\)"),
        (r"\ud83d alone, \udc00 too, \ud83d", "\ufffd alone, \ufffd too, \ufffd"),
        (r"\ud83d\ud83d\ude00 \uZZZZ", "\ufffd😀 \\uZZZZ"),
        (r"  \n\n first", "first"),
        ('it has "milk", "wheat" and "nuts". Stop', 'it has "milk", "wheat" and "nuts". Stop'),
        ('"milk", "wheat", "nuts"', '"milk", "wheat", "nuts"'),
        ('the "house", "" and "x" , "y"', 'the "house", "" and "x" , "y"'),
    ],
)
def test_the_common_faults_of_weak_models_are_read_for_what_they_mean(
    written: str, words: str
) -> None:
    reply = '{"type": "answer", "content": "' + written + '"}'
    assert read(reply) == (words, True)
    assert read(*reply) == (words, True)


@pytest.mark.fault(54)
@pytest.mark.parametrize("written", [dict, json.dumps])
def test_a_call_with_thousands_of_arguments_is_unreadable_at_once(written: Any) -> None:
    many = {"type": "tool_call", "tool": "list_expenses",
            "args": written({str(n): 1 for n in range(5_000)})}  # fmt: skip
    with pytest.raises(Unreadable, match="more than 1000 values"):
        read_reply(json.dumps(many))


def test_of_many_objects_the_first_few_are_tried() -> None:
    answer = '{"type": "answer", "content": "So."}'
    assert read_reply('{"a": 1}' * (MOST_OBJECTS - 1) + answer) == Answer(
        type="answer", content="So."
    )
    with pytest.raises(Unreadable, match="type"):
        read_reply('{"a": 1}' * MOST_OBJECTS + answer)


def test_a_question_is_read_like_an_answer() -> None:
    assert read('{"type":"clarify","question":"Which one?"}') == ("Which one?", True)


@pytest.mark.parametrize("more", [', "model": "x"}', ' ,  "n" : 1}', "  }", ', "n":1}'])
def test_the_words_end_where_the_object_goes_on(more: str) -> None:
    reply = '{"type": "answer", "content": "Say "hi", "bye""' + more
    assert read(reply) == ('Say "hi", "bye"', True)
    assert read(*reply) == ('Say "hi", "bye"', True)


def test_what_may_be_left_out_of_a_call_may_be_null() -> None:
    call = {"type": "tool_call", "tool": "x", "args": None, "confirmationSuggested": None,
            "confirmationMessage": None}  # fmt: skip
    assert read_reply(json.dumps(call)) == Call(type="tool_call", tool="x")


def test_a_missing_brace_at_the_end_is_forgiven_and_a_missing_quote_is_not() -> None:
    assert read('{"type": "answer", "content": "All."', "\n") == ("All.", True)
    assert read('{"type": "answer", "content": "All') == ("All", False)


@pytest.mark.parametrize(
    "reply",
    [
        '{"type": "tool_call", "tool": "x", "args": {"type": "answer", "content": "No"}}',
        '{"content": "Later", "type": "answer"}',
        '<think>{"type": "answer", "content": "Not yet"}',
        "Plain words.",
        '{"type": "answer", "content": ""}',
    ],
)
def test_what_does_not_begin_with_its_words_gives_none_out_early(reply: str) -> None:
    assert read(reply)[0] == ""
    assert read(*reply)[0] == ""
