"""What counts as a plain yes or no, in both languages, and what does not."""

from __future__ import annotations

import time

import pytest

from app.assistant.fast_paths import read_answer

YES = (
    "yes", "Yes!", "yep", "Yeah, do it", "sure", "Sure thing, thanks", "ok", "OK 👍", "okay then",
    "yes please", "go ahead", "that's right", "looks good, confirm", "sí", "¡Sí!", "sí, dale",
    "dale", "claro", "claro que sí", "sí por favor", "está bien, gracias", "de acuerdo", "hazlo",
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
    began = time.process_time()
    for message in (*YES, *NO, *NEITHER):
        read_answer(message)
    # All of them together in what one may take.
    assert time.process_time() - began < 0.05
