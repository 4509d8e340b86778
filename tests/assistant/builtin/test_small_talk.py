from __future__ import annotations

import pytest

from app.assistant.providers.builtin.nonsense import WordShapes
from app.nlu.courtesies import read_courtesy

KNOWN = (
    "what tips policy chicken kitchen wine recipe server shift manager guest table beer salad"
    " menu training schedule cleaning temperature allergen tequila cocktail cerveza cocina"
    " propina mesero turno gerente receta platillo limpiar apagar bodega"
).split()


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("hi", "greeting"),
        ("Good morning!", "greeting"),
        ("hey there 👋", "greeting"),
        ("Hola, buenas tardes", "greeting"),
        ("thank you so much, that helped", "thanks"),
        ("muchas gracias por tu ayuda", "thanks"),
        ("gracias, me sirvió mucho", "thanks"),
        ("bye, see you tomorrow", "goodbye"),
        ("adiós, nos vemos mañana", "goodbye"),
        ("who are you?", "identity"),
        ("Are you a real person?", "identity"),
        ("¿eres un robot?", "identity"),
        ("what can you do", "abilities"),
        ("¿me puedes ayudar?", "abilities"),
        ("help", "abilities"),
        ("how are you doing today?", "wellbeing"),
        ("buenas noches, ¿cómo estás?", "wellbeing"),
        ("you're awesome", "praise"),
        ("ok great", "agreement"),
        ("sí", "agreement"),
        ("that's not what I asked", "complaint"),
        ("ugh, long night", "mood"),
        ("estoy cansada", "mood"),
        ("hay alguien ahí?", "identity"),
        ("ur the best, thx!", "thanks"),
    ],
)
def test_small_talk_is_all_there_is(message: str, kind: str) -> None:
    courtesy = read_courtesy(message)
    assert courtesy.rest == ""
    assert kind in courtesy.kinds


@pytest.mark.parametrize(
    ("message", "rest"),
    [
        ("Hi, what's the tip policy?", "what's the tip policy?"),
        ("hello the fryer is broken", "the fryer is broken"),
        ("what's the tip policy thanks", "what's the tip policy"),
        ("Hola, ¿cuánto cuesta el ribeye? gracias", "cuánto cuesta el ribeye"),
        ("thanks! and what about the filet?", "and what about the filet?"),
        ("I have a question: how do I clock in", "how do I clock in"),
    ],
)
def test_courtesy_comes_off_a_question(message: str, rest: str) -> None:
    assert read_courtesy(message).rest == rest


@pytest.mark.parametrize(
    "message",
    [
        "no call no show policy",
        "good bottle of wine",
        "help me find a wine",
        "can you help me with the schedule?",
        "right temperature for chicken",
        "score i need on the menu test",
        "who closes this evening",
        "test strip ppm",
        "a guest is choking",
    ],
)
def test_a_question_that_begins_like_small_talk_stays_whole(message: str) -> None:
    assert read_courtesy(message).rest == message


@pytest.mark.parametrize(
    "message",
    [
        "asdfghjkl",
        "qwe rty zxcv",
        "hjkdsf kjhsdf",
        "aaaaaaaa",
        "blrrrgh xkcd ptfff",
        "ñlkjhg",
        "jajsdkj wqeoiu",
        "????",
        "😀😀🍕",
        "12",
        "the",
        "de",
    ],
)
def test_keyboard_noise_is_nonsense(message: str) -> None:
    assert WordShapes(KNOWN).is_nonsense(message)


@pytest.mark.parametrize(
    "message",
    [
        "tip policy",
        "elephant",
        "what does 86 mean",
        "¿qué hago si se va la luz?",
        "my shoes are wet",
        "esquites",
        "who fixes the dishwasher",
    ],
)
def test_words_that_nobody_has_used_before_are_no_nonsense(message: str) -> None:
    assert not WordShapes(KNOWN).is_nonsense(message)


def test_a_name_that_the_houses_texts_have_is_no_nonsense() -> None:
    shapes = WordShapes(KNOWN)
    assert shapes.is_nonsense("pxtl")
    assert not shapes.is_nonsense("pxtl", found=["pxtl"])
