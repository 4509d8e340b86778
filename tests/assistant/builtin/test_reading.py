from __future__ import annotations

import pytest

from app.assistant.providers.base import ChatMessage
from app.assistant.providers.builtin.reader import Reading, read_message, split_clauses
from app.retrieval.embedder import WordLlamaEmbedder


def read(embedder: WordLlamaEmbedder, *said: str) -> Reading:
    """Read the last of what was said; the person speaks first, the assistant second."""
    messages = [
        ChatMessage("assistant" if number % 2 else "user", text) for number, text in enumerate(said)
    ]
    return read_message(messages, embedder)


@pytest.mark.parametrize(
    ("before", "now", "whole"),
    [
        ("How much is the ribeye?", "and the filet?", "How much is the filet?"),
        ("¿cuánto cuesta el ribeye?", "¿y el vino?", "¿cuánto cuesta el vino?"),
        (
            "How long can raw chicken stay out?",
            "what about fish?",
            "How long can raw fish stay out?",
        ),
        (
            "What wine goes with the ribeye",
            "and for the snapper?",
            "What wine goes with the snapper",
        ),
        (
            "What allergens are in the mole?",
            "and the flautas?",
            "What allergens are in the flautas?",
        ),
        (
            "At what temperature is chicken cooked?",
            "and beef?",
            "At what temperature is beef cooked?",
        ),
    ],
)
def test_a_name_alone_takes_its_place_in_the_question_before(
    embedder: WordLlamaEmbedder, before: str, now: str, whole: str
) -> None:
    assert read(embedder, before, "…", now) == Reading(whole, before)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("How much is the tomahawk", "does it have nuts?"),
        ("¿qué lleva el tomahawk?", "¿tiene nueces?"),
        ("¿qué lleva el tomahawk?", "¿cuánto cuesta?"),
        ("tell me about the tomahawk", "is it spicy?"),
    ],
)
def test_what_is_not_named_is_what_was_asked_before(
    embedder: WordLlamaEmbedder, before: str, now: str
) -> None:
    reading = read(embedder, before, "…", now)
    assert reading.earlier == before
    assert reading.text == f"{now} tomahawk"


def test_it_is_the_product_that_was_answered_with(embedder: WordLlamaEmbedder) -> None:
    answer = "**Cerro Plano Tempranillo**: Our house red. [1]"
    reading = read(embedder, "what wine goes with the ribeye", answer, "how much is it?")
    assert reading.text == "how much is it? Cerro Plano Tempranillo"


BROWNIE = "**Nut Brownie**: Listed allergens: tree nuts. [1]"
WEDGE = "**Hill Country Wedge**: Listed allergens: milk, egg. [1] Gluten is not on its list. [1]"


@pytest.mark.parametrize(
    ("before", "now", "whole"),
    [
        ("is there gluten in the Hill Country Wedge?", "and the Caesar?",
         "is there gluten in the caesar?"),
        ("does the Hill Country Wedge contain gluten?", "and in the pecan pie?",
         "does the pecan pie contain gluten?"),
        ("does the wedge have gluten?", "what about the arrachera?",
         "does the arrachera have gluten?"),
        ("¿la Hill Country Wedge lleva gluten?", "¿y la arrachera?", "¿la arrachera lleva gluten?"),
        ("does the Hill Country Wedge contain gluten?", "and nuts?",
         "does the Hill Country Wedge contain nuts?"),
        ("which dishes are gluten free?", "and the Caesar?", "the Caesar? gluten free?"),
        ("is the hill wedge free of gluten?", "and milk?", "is the hill wedge free of milk?"),
        # An allergen in a name is a part of the name.
        ("does the nut brownie contain nuts?", "and the Caesar?", "does the caesar contain nuts?"),
        ("does the nut brownie contain nuts?", "and milk?", "does the nut brownie contain milk?"),
        ("how much is the nut brownie?", "and shrimp?", "how much is the shrimp?"),
    ],
)  # fmt: skip
def test_another_dish_takes_the_place_of_the_whole_name_of_the_former(
    embedder: WordLlamaEmbedder, before: str, now: str, whole: str
) -> None:
    """A verdict of the former one was the answer to what was asked of the other."""
    answer = BROWNIE if "brownie" in before else WEDGE
    assert read(embedder, before, answer, now).text == whole


@pytest.mark.parametrize(
    "now",
    [
        "is it safe for a fish allergy?",
        "can a guest with a nut allergy have it?",
        "is it nut free?",
        "¿es seguro para un alérgico a las nueces?",
        "does it have gluten?",
    ],
)
def test_it_with_an_allergy_is_what_was_talked_about(embedder: WordLlamaEmbedder, now: str) -> None:
    reading = read(embedder, "tell me about the wedge", WEDGE, now)
    assert reading.text == f"{now} Hill Country Wedge"


@pytest.mark.parametrize(
    "now",
    [
        "which desserts are nut free?",
        "what can a guest with a nut allergy eat?",
        "do you have anything gluten free?",
        "are all of these safe for a nut allergy?",
        "does anyone have an egg allergy?",
        "how do I handle it when a guest has a nut allergy?",
    ],
)
def test_what_asks_for_many_is_not_about_the_last_one(
    embedder: WordLlamaEmbedder, now: str
) -> None:
    assert read(embedder, "tell me about the wedge", WEDGE, now) == Reading(now)


@pytest.mark.parametrize("more", ["tell me more", "More details?", "dime más", "¿qué más?"])
def test_more_means_more_of_the_same(embedder: WordLlamaEmbedder, more: str) -> None:
    reading = read(embedder, "how do I clean the slicer", "…", more)
    assert reading == Reading("how do I clean the slicer", "how do I clean the slicer", more=True)


def test_a_chain_of_follow_ups_is_read_to_its_beginning(embedder: WordLlamaEmbedder) -> None:
    reading = read(
        embedder, "how do I clean the slicer", "…", "tell me more", "…", "and the fryer?"
    )
    assert reading.text == "how do I clean the fryer"


def test_small_talk_between_does_not_break_the_thread(embedder: WordLlamaEmbedder) -> None:
    reading = read(embedder, "How much is the ribeye?", "…", "thanks!", "…", "and the filet?")
    assert reading.text == "How much is the filet?"


@pytest.mark.parametrize(
    "question",
    ["what is the tip policy?", "and how do I swap a shift?", "where do I park?", "malbec"],
)
def test_a_question_that_stands_alone_leans_on_nothing(
    embedder: WordLlamaEmbedder, question: str
) -> None:
    reading = read(embedder, "how do I request time off", "…", question)
    assert reading.earlier == ""
    assert question.endswith(reading.text)


def test_the_first_message_leans_on_nothing(embedder: WordLlamaEmbedder) -> None:
    assert read(embedder, "and the filet?") == Reading("and the filet?")


@pytest.mark.parametrize(
    ("message", "clauses"),
    [
        (
            "what wine goes with the ribeye and how do we rest steaks?",
            ["what wine goes with the ribeye", "how do we rest steaks?"],
        ),
        (
            "¿Qué lleva el negroni? ¿Y qué cervezas hay?",
            ["¿Qué lleva el negroni?", "¿Y qué cervezas hay?"],
        ),
        ("A guest is choking. What do I do?", ["A guest is choking. What do I do?"]),
        ("salt and pepper shrimp", ["salt and pepper shrimp"]),
        ("what is the tip policy", ["what is the tip policy"]),
    ],
)
def test_several_questions_are_taken_apart(message: str, clauses: list[str]) -> None:
    assert split_clauses(message) == clauses


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("which mocktails do we have", "which alcohol free do we have"),
        ("raw chx left out 3 hrs", "raw chicken stayed out 3 hours"),
        ("How do I ask for days off?", "how do i ask for time off request?"),
        ("Me siento mal, ¿a quién le hablo?", "estoy enfermo, ¿a quien llamo?"),
        ("bro where do I park", "where do i park"),
        ("the ribeye, medium", "the ribeye, medium"),
    ],
)
def test_what_crews_say_is_read_as_papers_write_it(
    embedder: WordLlamaEmbedder, said: str, written: str
) -> None:
    assert read(embedder, said).text.strip() == written
