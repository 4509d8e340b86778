"""The checks of this folder themselves: what they must catch, and what they must let pass."""

from __future__ import annotations

import pytest

from tests.acceptance.asking import Reply, read_lines
from tests.acceptance.conversations import NOT_FOUND
from tests.acceptance.grounding import Papers, statements, uncited, unsupported, written_in

PAPERS = Papers(
    [
        "Raw chicken may stay out 2 hours at most. Throw it away even if it smells fine.",
        "El pollo crudo va en la repisa de abajo. Debajo del pollo crudo no va nada.",
        "Contains milk and gluten. Served in a chilled glass with lime.",
    ],
    ["Raw chicken", "Mesquite Ribeye 16 oz", "Tip policy"],
)


def reply(text: str, asked: str = "a question") -> Reply:
    return Reply(asked, {"message": text})


@pytest.mark.parametrize(
    "text",
    [
        "It may stay out 2 hours.",
        "Throw it away even if it smells fine.",
        "Both are true. [1] Throw it away even if it smells fine.",
        "Here you go:\n\n- Throw it away even if it smells fine\n- At most an hour [1]",
        "Debajo del pollo crudo no va nada.",
        "One serves it in a chilled glass with lime.",
        "| Food | Time |\n|---|---|\n| chicken | 2 hours |",
    ],
)
def test_a_fact_without_a_source_is_caught(text: str) -> None:
    assert uncited(reply(text), PAPERS)


@pytest.mark.parametrize(
    "text",
    [
        "Throw it away even if it smells fine. [1]",
        "Throw it away even if it smells fine [1].",
        "This is what I found about Mesquite Ribeye 16 oz:",
        "I found nothing about that. The nearest topics are: Raw chicken; Tip policy.",
        "Do you want to know how long raw chicken may stay out?",
        "Hello. Ask me about the manual or the menu.",
        "You are welcome. I am here if something else comes up.",
        "Check with the kitchen before you promise a guest anything.",
        "| Food | Time |\n|---|---|\n| chicken | 2 hours |\n[1]",
        "- **2 hours** at most [1]\n- Throw it away even if it smells fine [2]",
        "",
    ],
)
def test_a_cited_fact_and_mere_politeness_pass(text: str) -> None:
    assert uncited(reply(text), PAPERS) == []


def test_a_source_at_the_end_of_a_paragraph_supports_it_but_is_not_named_by_each() -> None:
    both = reply("Throw it away even if it smells fine. It stays out 2 hours. [1]\n\nThen 3 hours.")
    assert uncited(both, PAPERS) == ["Throw it away even if it smells fine.", "Then 3 hours."]
    assert unsupported(both, PAPERS) == ["Then 3 hours."]


def test_repeating_the_question_states_nothing() -> None:
    asked = "walkin reading 44 what now"
    for said in (asked, "walkin 44"):
        assert uncited(reply(f"I found nothing about “{said}”.", asked), PAPERS) == []
    assert uncited(reply("I found “44 degrees” there.", asked), PAPERS)


def test_sentences_are_taken_apart_with_their_sources() -> None:
    found = statements("Wash. [1] Rinse well [2][3]. It reads 41.5°F there\n1. Dry [4]")
    assert [(statement.text, statement.cites) for statement in found] == [
        ("Wash.", (1,)),
        ("Rinse well.", (2, 3)),
        ("It reads 41.5°F there", ()),
        ("Dry", (4,)),
    ]


def test_languages_are_told_apart_by_every_sentence_of_the_file() -> None:
    long = [line for line in read_lines("questions.jsonl") if len(line["text"].split()) > 5]
    wrong = [line["text"] for line in long if written_in(line["text"]) != line["language"]]
    assert len(wrong) <= len(long) // 10, wrong


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I could not find anything about that in the manual.", True),
        ("I don't have a form for that.", True),
        ("No encontré nada sobre eso en el manual.", True),
        ("The manual does not say.", True),
        (
            "I only know what this restaurant's own documents say, and they have nothing on that.",
            True,
        ),
        ("At most 2 hours. [1]", False),
        ("Hello, how can I help?", False),
    ],
)
def test_honest_words_of_not_finding_are_recognised(text: str, is_one: bool) -> None:
    assert bool(NOT_FOUND.search(text)) is is_one
