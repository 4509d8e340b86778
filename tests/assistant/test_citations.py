"""Citations in streamed text: however it is cut into deltas, the same words come out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.assistant.turns.citations import CitationFilter, cited_numbers

KNOWN = {1, 2, 12}

PIECES = st.sampled_from(
    [
        *("[", "]", "【", "】", "^", "1", "2", "12", "9", "007", ",", ", ", " ", "\u00a0", "\n"),
        *("\t", "†source", "†L1-L4", "word", "a [link](x)", ".", "[1]", " [9]", "[^1]", "【1】"),
        "[1, 2]",
    ]
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)


def filtered(*deltas: str) -> str:
    citations = CitationFilter(KNOWN)
    return "".join(citations.feed(delta) for delta in deltas) + citations.close()


@given(text=TEXTS, cuts=st.lists(st.integers(0, 200), max_size=12))
@example(text="All. [1, 2, 12, 9, 1, 2, 12, 9, 1, 2, 12, 9, 1, 2, 12, 9, 1, 2, 12]", cuts=[60])
@example(text="Two [1,\n9] lines", cuts=[8])
@example(text="【1†the\nsource】", cuts=[8])
@settings(max_examples=800, deadline=None)
def test_any_split_into_deltas_gives_the_text_of_no_split(text: str, cuts: list[int]) -> None:
    at = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    deltas = [text[start:end] for start, end in pairwise(at)]
    assert filtered(*deltas) == filtered(text)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_delta_a_character_gives_the_text_of_no_split(text: str) -> None:
    assert filtered(*text) == filtered(text)


WHOLE_CITATIONS = st.sampled_from(
    ["[1]", "[9]", " [2, 9]", "[^8]", "【7】", " 【6†x】", "word", " ", "\n", ",", "(see)", "5"]
)


@given(st.lists(WHOLE_CITATIONS, max_size=24).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_invented_number_survives(text: str) -> None:
    assert set(cited_numbers(filtered(*text))) <= KNOWN


@given(st.text(alphabet=st.characters(exclude_characters="[【"), max_size=80))
def test_text_without_brackets_passes_unchanged(text: str) -> None:
    assert filtered(*text) == text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Weekly [1].", "Weekly [1]."),
        ("Weekly [12].", "Weekly [12]."),
        ("Weekly [1][2].", "Weekly [1][2]."),
        ("Weekly [1, 2].", "Weekly [1][2]."),
        ("Weekly [1,2, 12].", "Weekly [1][2][12]."),
        ("Weekly 【1】.", "Weekly [1]."),
        ("Weekly 【2†manual.md】.", "Weekly [2]."),
        ("Weekly [^1].", "Weekly [1]."),
        ("Weekly [^1, ^2].", "Weekly [1][2]."),
        ("Weekly [3].", "Weekly."),
        ("Weekly [0].", "Weekly."),
        ("Weekly  [3] [4], always.", "Weekly, always."),
        ("Weekly [1, 3].", "Weekly [1]."),
        ("Weekly\u00a0[3].", "Weekly."),
        ("Weekly.\n\n[3] Daily.", "Weekly.\n\n Daily."),
        ("An array[x] and [a list] stay.", "An array[x] and [a list] stay."),
        ("A [1 and no end", "A [1 and no end"),
        ("- [ ] a task\n- [x] done", "- [ ] a task\n- [x] done"),
        ("Year [2024] is no citation.", "Year [2024] is no citation."),
    ],
)
def test_each_form_of_a_citation_is_read_and_written_as_one(said: str, shown: str) -> None:
    assert filtered(said) == shown
    assert filtered(*said) == shown


def test_a_number_counts_from_the_moment_its_source_is_known() -> None:
    known: set[int] = set()
    citations = CitationFilter(known)
    before = citations.feed("Before [1], ")
    known.add(1)
    assert before + citations.feed("after [1].") + citations.close() == "Before, after [1]."


def test_only_what_may_be_a_citation_is_held_back() -> None:
    citations = CitationFilter(KNOWN)
    assert citations.feed("Weekly") == "Weekly"
    assert citations.feed(" ") == ""
    assert citations.feed("[1") == ""
    assert citations.feed("]") + citations.feed(".") == " [1]."
    # Words in brackets are words, long before the bracket closes.
    assert citations.feed(" [and so on").strip() == "[and so on"


def test_numbers_are_listed_once_in_the_order_of_their_first_mention() -> None:
    assert cited_numbers("a [2] b [1, 2] c 【12】 d [^1]") == [2, 1, 12]
