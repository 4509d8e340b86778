"""What counts as a plain yes or no, in both languages, and what does not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.nlu import agreement
from app.nlu.control import may_agree, read_answer, read_reply
from app.nlu.evaluation import CONTROL, NO_TOOL, Case, read_cases
from app.nlu.normalization import normalize
from tests.growth import counted

YES = (
    "yes", "Yes!", "yep", "Yeah, do it", "sure", "Sure thing, thanks", "ok", "OK 👍", "okay then",
    "yes please", "go ahead", "that's right", "looks good, confirm", "sí", "¡Sí!", "sí, dale",
    "dale", "claro", "claro que sí", "sí por favor", "está bien", "de acuerdo", "hazlo",
    "dale 🙌", "confírmalo", "vale", "órale", "adelante", "👍🏽", "✅",
)  # fmt: skip
NO = (
    "no", "No.", "nope", "nah", "no thanks", "don't", "no, cancel it", "never mind", "forget it",
    "better not", "no wait", "wait", "no, espera",
    "mejor no", "no gracias", "claro que no", "no, cancélalo", "déjalo", "olvídalo",
    "ya no", "ahora no", "nel", "👎", "❌",
)  # fmt: skip
NEITHER = (
    "", "   ", "make it 250", "yes but make it 250", "no, 250", "sí pero en el bar", "no problem",
    "yes?", "no?", "yes no", "no, yes", "por favor", "please", "what is the tip policy",
    "si quieres", "si el cliente pide", "no sé", "no se puede guardar pollo crudo", "ok google",
    "y", "n", "ya", "stop the fryer", "cancel the order of table 4", "🍕", "sure is hot in here",
    "no hay problema", "bueno, mejor 250", "x" * 4000,
    "yes, -", "ok . . .", "como no gracias", "yes ___", "ok _", 'chef "yes"', '"sure"', "yes,",
    "si entonces",
    "yes\uff1f", "ok\u061f", "yes 🚫", "yes ❎", "y\u0336e\u0336s\u0336", "sí ⁉",
)  # fmt: skip


@pytest.mark.parametrize("message", YES)
def test_a_yes_is_read_as_one(message: str) -> None:
    assert read_answer(message) == "yes"


@pytest.mark.parametrize("message", NO)
def test_a_no_is_read_as_one(message: str) -> None:
    assert read_answer(message) == "no"


@pytest.mark.parametrize("message", NEITHER)
def test_what_says_more_or_less_is_neither(message: str) -> None:
    assert read_answer(message) is None


def test_reading_one_takes_no_time_worth_telling() -> None:
    with counted() as cost:
        for message in (*YES, *NO, *NEITHER):
            read_answer(message)
    # All of them together in what one may take.
    assert cost.seconds < 0.05


LEARNED = (
    ("yes add it", "Shall I add this expense?", "yes"),
    ("go ahead and submit", "Should I submit this request?", "yes"),
    ("Yes, it did", "Did this resolve your issue?", "yes"),
    ("it did, thanks", "Did this resolve your issue?", "yes"),
    ("no, still not working", "Did this resolve your issue?", "no"),
    ("Sí, agrégalo", "¿Lo agrego?", "yes"),
    ("si agregalo porfa", "¿Lo agrego?", "yes"),
    ("no, sigue igual", "¿Se resolvió tu problema?", "no"),
)
NO_ANSWERS = (
    # Neither says whether it works.
    ("thanks", "Did this resolve your issue?"),
    ("thx!", "Did this resolve your issue?"),
    ("good", "Did this resolve your issue?"),
    ("gracias", "¿Esto resolvió tu problema?"),
    ("yes but make it 15", "Shall I add this expense: taxi, $12?"),
    ("yes no wait", "Shall I add this expense: taxi, $12?"),
    ("yes add it and a coffee 4.50", "Shall I add this expense: taxi, $12?"),
    ("yes add it and the coffee", "Shall I add this expense: taxi, $12?"),
    ("if the manager says so", "Shall I add this expense: taxi, $12?"),
    ("Yes Please Catering", "Shall I add this expense: taxi, $12?"),
    ("yes add the tiramisu", "Shall I add this expense: taxi, $12?"),
    ("sí, pero primero dime cuánto llevo", "¿Lo agrego?"),
    ("si el jefe dice", "¿Lo agrego?"),
    ("add it?", "Shall I add it?"),
)


@pytest.mark.parametrize(("message", "asked", "answer"), LEARNED)
def test_a_yes_in_the_words_of_its_question_is_one(message: str, asked: str, answer: str) -> None:
    assert read_answer(message, asked) == answer
    # By itself it may be anything.
    assert read_answer(message) is None


@pytest.mark.parametrize(("message", "asked"), NO_ANSWERS)
def test_what_says_anything_beside_a_yes_is_none(message: str, asked: str) -> None:
    assert read_answer(message, asked) is None


@pytest.mark.parametrize(
    ("message", "asked", "act"),
    [
        ("no more", "Anything else to add?", "finish"),
        ("that's enough", "Anything else to add?", "finish"),
        ("eso es todo", "¿Algo más?", "finish"),
        ("quiero cancelar", "¿Dónde está la fuga?", "cancel"),
        ("undo that", "Saved: napkins, $45.", "undo"),
        ("deshaz eso", "Guardado: servilletas, $45.", "undo"),
        ("file it", "Here is your request. Send it?", "yes"),
        ("show me what you have so far", "Where is it?", "show"),
        ("salta esa", "¿Qué marca es?", "skip"),
        ("nothing comes out of the left tap", "What is wrong with it?", None),
        ("Cancel Ramirez", "Who called?", None),
        ("", "Who called?", None),
        ("x" * 10_000, "Who called?", None),
    ],
)
def test_what_a_reply_does(message: str, asked: str, act: str | None) -> None:
    assert read_reply(message, asked) == act


# Replies of people of whom nothing was learned: of four, of two captains with much to tell, and
# by two writers of what is almost a yes.
UNSEEN = Path(__file__).parent / "unseen"
REPLIES, TOLD, ALMOST = (
    read_cases(UNSEEN / f"{name}.jsonl")
    for name in ("replies", "replies-of-captains", "almost-yes")
)
AGREES = f"{CONTROL}yes"


@pytest.mark.fault(58)
@pytest.mark.parametrize("cases", [REPLIES, TOLD, ALMOST])
def test_nothing_that_is_no_yes_is_taken_for_one(cases: Sequence[Case]) -> None:
    others = [each for each in cases if AGREES not in each.tools]
    assert len(others) > 200
    assert [each.text for each in others if read_answer(each.text, each.asked) == "yes"] == []


# What somebody tried who wanted something written that nobody had agreed to.
NO_CONSENT = (UNSEEN / "no-consent.txt").read_text("utf-8").splitlines()


@pytest.mark.fault(58)
@pytest.mark.parametrize(
    "asked",
    [
        "Would you like me to add taxi $12 for 25 Nov 2026?",
        "¿Quieres que agregue taxi 12 $ del 25 nov 2026?",
        "Should I do this?",
    ],
)
def test_what_says_anything_else_consents_to_nothing(asked: str) -> None:
    assert len(NO_CONSENT) > 500
    assert [each for each in NO_CONSENT if read_answer(each, asked) == "yes"] == []


# The same, to just these questions.
NO_CONSENT_TO = json.loads((UNSEEN / "no-consent-to.json").read_text("utf-8"))


@pytest.mark.fault(58)
@pytest.mark.parametrize("asked", NO_CONSENT_TO)
def test_what_fits_another_question_consents_to_nothing(asked: str) -> None:
    taken = [each for each in NO_CONSENT_TO[asked] if read_answer(each, asked) == "yes"]
    assert taken == []


@pytest.mark.parametrize(
    ("asked", "messages"),
    [
        (
            "Would you like me to add taxi $12 for 25 Nov 2026?",
            ["yes please", "ok add it", "sure, add it now", "yes chef", "yep log it", "dale", "👍"],
        ),
        (
            "¿Quieres que agregue taxi 12 $ del 25 nov 2026?",
            [
                "sí, agrégalo",
                "agréguelo por favor",
                "órale",
                "sí, está bien",
                "sí señor",
                "apúntalo",
            ],
        ),
        ("Should I submit this request?", ["send it", "go ahead and submit", "yes submit it"]),
        ("¿Envío esta solicitud?", ["sí, envíala", "mándala ya", "sí jefe", "claro que sí"]),
        ("Did this resolve your issue?", ["Yes, it did", "it did thx", "fixed!"]),
        ("¿Esto resolvió tu problema?", ["ya quedó, gracias", "sí, ya quedó"]),
        ("¿Cancelo la solicitud? No se guardará nada.", ["sí, cancélala", "cancélala", "sí"]),
        ("Would you like me to delete taxi $12?", ["delete it", "yes delete it", "go ahead"]),
    ],
)
def test_who_agrees_in_plain_words_has_agreed(asked: str, messages: list[str]) -> None:
    assert [each for each in messages if read_answer(each, asked) != "yes"] == []


# 93 and 71 % when this was written; each by itself, whatever was possible where it was said.
@pytest.mark.parametrize(("cases", "share"), [(REPLIES, 0.92), (TOLD, 0.7)])
def test_most_replies_of_people_nobody_knows_are_read_right(
    cases: Sequence[Case], share: float
) -> None:
    right = 0
    for each in cases:
        act = read_reply(each.text, each.asked)
        right += (f"{CONTROL}{act}" if act else NO_TOOL) in each.tools
    assert right >= share * len(cases)


# 80 and 68 % when this was written.
@pytest.mark.parametrize(("cases", "share"), [(TOLD, 0.75), (ALMOST, 0.66)])
def test_most_yeses_with_a_story_are_read_or_asked_for_once_more(
    cases: Sequence[Case], share: float
) -> None:
    yeses = [each for each in cases if each.kind == AGREES and "?" in each.asked]
    assert len(yeses) > 80
    heard = [
        each
        for each in yeses
        if read_answer(each.text, each.asked) == "yes" or may_agree(each.text, each.asked)
    ]
    assert len(heard) >= share * len(yeses)


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("no, that was my own parking", "Shall I add this expense: parking, $22?"),
        ("make it 250", "Shall I add this expense: taxi, $12?"),
        ("did it go through?", "Shall I add this expense: taxi, $12?"),
        ("yes " * 60, "Shall I add this expense: taxi, $12?"),
        ("yes please, chef wants it today", "All right."),
        ("", "Shall I?"),
    ],
)
def test_what_is_no_likely_yes_is_not_asked_for(message: str, asked: str) -> None:
    assert not may_agree(message, asked)


@pytest.mark.fault(60)
@pytest.mark.parametrize("unit", ["a. ", "ñ. ", "¿a. ", "do i. ", "! ", "¿ "])
def test_a_line_of_many_sentences_is_looked_at_a_word_a_sentence(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A colleague, or a model, may write thousands of them before a question mark."""
    read: list[int] = []

    def counted(text: str) -> str:
        read.append(len(text))
        return normalize(text)

    monkeypatch.setattr(agreement, "normalize", counted)
    line = unit * 6_000 + "?"
    assert read_answer("yes", line) in ("yes", None)
    assert sum(read) < 20 * len(line)


def test_what_is_kept_of_questions_does_not_grow_with_them() -> None:
    agreement._kinds_of.cache_clear()
    for number in range(200):
        read_answer("yes", f"Shall I add “taxi {number}” for ${number}?")
    assert agreement._kinds_of.cache_info().currsize == 1
