"""Which of the two languages a message is in, told by its small words and its letters."""

from __future__ import annotations

import re
from typing import Literal

_WORD = re.compile(r"[a-záéíóúüñ']+")
_SPANISH_SIGNS = re.compile("[¿¡ñáéíóúü]")
# Words that both languages have, such as "a", "me" and "no", are in neither list.
_ENGLISH = frozenset(
    """an and any are at be but can could did do does for from get give go goes got had has have
    hello hey hi how i if in into is it its long make many much my need not of on or our
    please should show so some tell thank thanks that the their them there these they this to
    was we what when where which who why will with work would yes you your""".split()
)
_SPANISH = frozenset(
    """al algo alguien buenas buenos como con cual cuales cuando cuanta cuantas cuanto cuantos
    cómo cuál cuándo cuánto de del dia dime donde dónde el ella ellos en es eso esta estan este
    están esto gracias hago hay hasta hola la las le les lo los llevo lleva más mi mis mucho muy
    necesito nos o para pero por porque puede puedo que quien quiero quién qué se ser si sin son
    su sus sí también te tenemos tengo tiene tienen tu un una unas unos va van y ya yo""".split()
)


def detect_language(text: str, default: str) -> Literal["en", "es"]:
    """The language of `text`; `default` where nothing in it speaks for either."""
    folded = text.lower()
    # "What's" is "what" and a sign.
    words = [word.partition("'")[0] for word in _WORD.findall(folded.replace("’", "'"))]
    english = sum(word in _ENGLISH for word in words)
    # Nobody writes these letters in English, except in the name of a dish.
    spanish = sum(word in _SPANISH for word in words) + bool(_SPANISH_SIGNS.search(folded))
    if english == spanish:
        return "es" if default == "es" else "en"
    return "es" if spanish > english else "en"
