"""Answers that need no model: yes or no to what was just proposed."""

from __future__ import annotations

import re
from typing import Literal

from app.folding import fold
from app.plain_text import compose

Answer = Literal["yes", "no"]

# Whole messages are compared, phrase by phrase: "yes, but make it 250" is neither.
_YES = (
    "yes|yep|yeah|yea|yup|sure|sure thing|of course|absolutely|definitely|ok|okay|k|alright|"
    "all right|fine|good|great|perfect|right|correct|exactly|that s right|that is right|"
    "that s correct|looks good|looks right|sounds good|do it|do that|go|go ahead|go for it|"
    "confirm|confirmed|i confirm|confirm it|save it|send it|submit it|please do|"
    "si|sip|sep|simon|dale|claro|claro que si|por supuesto|vale|va|orale|sale|bueno|bien|"
    "esta bien|de acuerdo|correcto|asi es|exacto|eso es|eso|perfecto|listo|adelante|hazlo|"
    "confirmo|confirma|confirmar|confirmado|lo confirmo|confirmalo|guardalo|guardala|envialo|"
    "enviala|mandalo|mandala|"
    "👍|👌|✅|✔️|✔"
)
_NO = (
    "no|nope|nah|nay|no way|wait|no wait|not now|not really|no thanks|no thank you|"
    "don t|do not|don t do it|"
    "do not do it|don t do that|cancel|cancel it|cancel that|stop|stop it|never mind|nevermind|"
    "forget it|forget that|leave it|drop it|discard it|better not|rather not|i d rather not|"
    "i changed my mind|changed my mind|"
    "espera|no espera|mejor no|no gracias|que no|claro que no|por supuesto que no|nel|para nada|"
    "cancela|cancelar|"
    "cancelalo|cancelala|dejalo|dejala|dejalo asi|olvidalo|olvidala|ya no|ahora no|no lo hagas|"
    "no la hagas|no lo guardes|no la guardes|no lo envies|no la envies|no hagas nada|"
    "cambie de opinion|descartalo|"
    "👎|❌|✖️"
)
_FILLER = "please|thanks|thank you|then|por favor|porfa|porfavor|gracias|pues|entonces|just|so|oh"
_WORD = re.compile(r"[^\W_]+|[👍👎👌✅✔❌✖]️?")
# Questions in any script, struck-out words, and pictures that may take back what is said.
_UNSURE = re.compile(
    "[?\uff1f\u061f\u037e\u2047-\u2049\u0300-\u036f\u20d0-\u20ff\u2753\u2754]"
    "|(?![👍👎👌✅✔❌✖🙏🙌👏🎉😀😃😄😁😊🙂😉])[\u2600-\u27bf\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_LONGEST = 60  # characters; a longer message says more than yes or no


def _phrases(listed: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in listed.split("|"))


_KNOWN: dict[tuple[str, ...], Answer | None] = {
    **dict.fromkeys(_phrases(_FILLER)),
    **dict.fromkeys(_phrases(_YES), "yes"),
    **dict.fromkeys(_phrases(_NO), "no"),
}
_MOST_WORDS = max(map(len, _KNOWN))


def read_answer(message: str) -> Answer | None:
    """Whether a whole message is a yes or a no, in English or Spanish; None for anything else.

    "Yes please", "sí, dale" and "ok 👍" are; "yes but 250", "no problem" and "no, yes" are not.
    """
    if len(message) > _LONGEST or _UNSURE.search(compose(message)):
        return None
    words = _WORD.findall(fold(message))
    said: set[Answer] = set()
    while words:
        length = next(
            (n for n in range(min(_MOST_WORDS, len(words)), 0, -1) if tuple(words[:n]) in _KNOWN),
            0,
        )
        if not length:
            return None
        meaning = _KNOWN[tuple(words[:length])]
        if meaning:
            said.add(meaning)
        del words[:length]
    return said.pop() if len(said) == 1 else None
