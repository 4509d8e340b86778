"""Questions about the demo manual, answered from the section that says it."""

from __future__ import annotations

import pytest

from app.retrieval.embedder import WordLlamaEmbedder
from app.retrieval.quotes.extract import extract_answer
from app.retrieval.quotes.lines import to_markdown
from app.retrieval.quotes.scores import Passage
from tests.assistant.builtin.payloads import sections


def answer(embedder: WordLlamaEmbedder, question: str, *slugs: str, language: str = "en") -> str:
    """The answer from these sections, in the order a search would bring them."""
    passages = [
        Passage(number, found["title"], found["text"], language, *found["path"])
        for number, found in enumerate((sections(language)[slug] for slug in slugs), 1)
    ]
    return to_markdown(extract_answer(question, passages, embedder).lines)


@pytest.mark.parametrize(
    ("question", "slug", "told"),
    [
        ("How long can raw chicken stay out?", "raw-chicken", "At most 2 hours in total"),
        ("what is the danger zone", "temperature-danger-zone", "41°F to 135°F"),
        ("when is payday", "pay-days", "Friday"),
        ("how long should I wash my hands", "hand-washing", "20 seconds"),
        ("what temp should chicken be cooked to", "cooking-temperatures", "165°F (74°C)"),
        (
            "how often do I change the sanitizer bucket",
            "sanitizer-concentration-ppm",
            "every 2 hours",
        ),
        ("how long is guacamole good for", "date-labels", "guacamole: 2 days"),
        ("what happens after a second no-call no-show", "punctuality", "End of employment"),
        ("what time is last call", "bar-closing", "22:45"),
        ("where do I park", "parking-and-lockers", "back lot"),
        ("who do I call to fix the air conditioning", "who-to-call-for-repairs", "Tom Okafor"),
        ("what's the fee for a no show reservation", "reservations-and-no-shows", "$25 a person"),
        ("automatic gratuity for a party of nine", "large-parties", "20%"),
        ("what does 86 mean", "waste-log-and-86-list", "means that an item is out"),
    ],
)
def test_the_sentence_or_row_that_answers_is_quoted(
    embedder: WordLlamaEmbedder, question: str, slug: str, told: str
) -> None:
    assert told in answer(embedder, question, slug)


@pytest.mark.parametrize(
    ("question", "slug", "told"),
    [
        ("¿Cuánto tiempo puede estar fuera el pollo crudo?", "raw-chicken", "Máximo 2 horas"),
        ("¿cuánto tiempo me lavo las manos?", "hand-washing", "20 segundos"),
        ("¿a qué temperatura se cuece el pollo?", "cooking-temperatures", "165°F (74°C)"),
        ("cuántos días dura el guacamole", "date-labels", "guacamole: 2 días"),
        ("tengo diarrea, ¿puedo ir a trabajar?", "sick-leave", "24 horas sin síntomas"),
    ],
)
def test_spanish_questions_find_the_spanish_sentence(
    embedder: WordLlamaEmbedder, question: str, slug: str, told: str
) -> None:
    assert told in answer(embedder, question, slug, language="es")


@pytest.mark.parametrize(
    ("question", "slug", "first"),
    [
        ("how do I light the chargrill", "gas-grill-lighting", "Turn on the hood fan"),
        ("how do I swap a shift with a coworker", "shift-swaps", "Find a coworker"),
        ("a guest is choking", "choking", "Shout for help"),
        ("POS terminal is frozen", "pos-restart-steps", "Wait 30 seconds"),
        ("what do I do if I burned my arm", "burns", "Get away from the heat"),
        ("how do I ask for time off", "time-off", "Write the dates"),
    ],
)
def test_a_how_to_is_answered_with_its_steps(
    embedder: WordLlamaEmbedder, question: str, slug: str, first: str
) -> None:
    assert f"\n1. {first}" in "\n" + answer(embedder, question, slug)


@pytest.mark.parametrize(
    ("question", "language", "sentence", "first"),
    [
        (
            "we saw a roach by the fryer what do i do",
            "en",
            "A live rodent, or roaches in daylight, means",
            "Do not shout",
        ),
        (
            "vi una cucaracha en la linea q hago",
            "es",
            "Un roedor vivo o cucarachas de día quiere decir",
            "No grites",
        ),
    ],
)
def test_what_to_do_in_any_such_case_is_told_with_the_sentence_about_this_one(
    embedder: WordLlamaEmbedder, question: str, language: str, sentence: str, first: str
) -> None:
    told = answer(embedder, question, "pest-control", language=language)
    assert told.startswith(sentence)
    assert f"\n1. {first}" in told


def test_steps_that_are_for_no_case_are_not_what_to_do_in_this_one(
    embedder: WordLlamaEmbedder,
) -> None:
    asked = "the steak was cut before resting what do i do"
    assert "\n1. " not in answer(embedder, asked, "resting-and-firing")


def test_each_statement_ends_in_its_number(embedder: WordLlamaEmbedder) -> None:
    steps = answer(embedder, "how do I light the chargrill", "burns", "gas-grill-lighting")
    assert all(line.endswith("[2]") for line in steps.splitlines() if line)


def test_a_list_is_given_whole_when_its_title_is_what_was_asked(
    embedder: WordLlamaEmbedder,
) -> None:
    told = answer(embedder, "when do I change gloves", "glove-use", "hand-washing")
    assert told.startswith("**Change gloves** [1]\n\n- after raw chicken")
    assert told.count("\n- ") == 6


def test_who_to_tell_is_answered_with_the_list_of_that_title(
    embedder: WordLlamaEmbedder,
) -> None:
    told = answer(embedder, "who do i tell about an injury", "reporting-an-injury")
    assert "The manager on duty, right away, in person." in told


def test_a_place_is_preferred_where_a_place_is_asked_for(embedder: WordLlamaEmbedder) -> None:
    told = answer(embedder, "where is the K extinguisher", "fire-and-extinguishers")
    assert "by the back door" in told


def test_a_sentence_that_goes_on_is_never_said_without_what_comes_first(
    embedder: WordLlamaEmbedder,
) -> None:
    told = answer(embedder, "when do I use the K-class extinguisher", "fire-and-extinguishers")
    assert told.index("pull the red handle") < told.index("Then use the K-class extinguisher")


def test_what_is_asked_first_is_what_is_wanted(embedder: WordLlamaEmbedder) -> None:
    told = answer(embedder, "who do i call when the ice machine stops", "ice-machine-problems")
    assert "call Tom Okafor" in told


def test_the_steps_of_another_matter_are_left_out(embedder: WordLlamaEmbedder) -> None:
    told = answer(embedder, "how do we rest steaks before serving", "resting-and-firing")
    assert "Steaks rest on a rack" in told
    assert "The expo calls" not in told


def test_a_section_that_was_asked_for_by_its_title_is_told_from_its_beginning(
    embedder: WordLlamaEmbedder,
) -> None:
    told = answer(embedder, "what's the tip policy", "tip-policy", "pay-days")
    assert told.startswith("Tips at Alamo Prime belong to the team")


def test_what_was_said_is_not_said_again(embedder: WordLlamaEmbedder) -> None:
    found = sections("en")["tip-policy"]
    passages = [Passage(1, found["title"], found["text"], "en")]
    question = "what's the tip policy"
    first = extract_answer(question, passages, embedder)
    second = extract_answer(question, passages, embedder, said=to_markdown(first.lines))
    assert second.lines
    assert not {line.text for line in first.lines} & {line.text for line in second.lines}


def test_a_section_about_something_else_gives_no_answer(embedder: WordLlamaEmbedder) -> None:
    found = sections("en")["gas-smell"]
    passages = [Passage(1, found["title"], found["text"], "en")]
    assert not extract_answer("which tequila is aged the longest", passages, embedder).lines


def test_how_much_of_a_question_nobody_wrote_about_is_known(embedder: WordLlamaEmbedder) -> None:
    found = sections("en")["raw-chicken"]
    passages = [Passage(1, found["title"], found["text"], "en")]
    chicken = extract_answer("How long can raw chicken stay out?", passages, embedder)
    tuna = extract_answer("How long can smoked tuna stay out?", passages, embedder)
    assert chicken.unknown == 0
    assert tuna.unknown > 0.45


def test_a_sure_answer_has_better_odds_than_one_about_something_else(
    embedder: WordLlamaEmbedder,
) -> None:
    passages = [
        Passage(number, one["title"], one["text"], "en")
        for number, one in enumerate([sections("en")["raw-chicken"], sections("en")["gas-smell"]])
    ]
    sure = extract_answer("How long can raw chicken stay out?", passages, embedder)
    other = extract_answer("Does the chicken man take credit cards?", passages, embedder)
    assert sure.odds > 1 > other.odds
    assert {line.cite for line in sure.near} <= {0, 1}
    assert not {line.text for line in sure.near} & {line.text for line in sure.lines}
