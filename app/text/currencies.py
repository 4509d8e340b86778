"""The currencies that people name, by sign, by word and by code."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.text.lexicon import WORDS

# A sign or word that several countries share, and whose money it is where the group's own is
# none of them.
_DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "BBD", "BZD", "JMD", "TTD")
_PESOS = ("MXN", "COP", "ARS", "CLP", "DOP", "UYU", "CUP", "PHP")
_SHARED = {
    "$": ("USD", *_DOLLARS, *_PESOS),
    "dollar": _DOLLARS,
    "peso": _PESOS,
    "pound": ("GBP",),
    "euro": ("EUR",),
}
_SIGNS = {
    "us$": "USD", "mx$": "MXN", "ca$": "CAD", "c$": "CAD", "a$": "AUD", "nz$": "NZD", "hk$": "HKD",
    "r$": "BRL", "£": "GBP", "€": "EUR", "¥": "JPY", "cn¥": "CNY", "₱": "PHP",
}  # fmt: skip
CODES = frozenset(
    "USD MXN EUR GBP CAD AUD NZD BRL ARS CLP COP PEN UYU DOP GTQ HNL CRC NIO CHF JPY CNY SEK NOK"
    " DKK PLN CZK BBD BZD JMD TTD SGD HKD CUP PHP".split()
)
_WORDS = {kind: line.split() for kind, line in WORDS["currencies"]["words"].items()}
_PHRASES: Mapping[str, str] = WORDS["currencies"]["phrases"]

# Patterns for folded letters: what `currency_named` can name.
SIGN = r"(?:us|mx|ca|c|a|nz|hk|r)?\$|[£€₱]|(?:cn)?¥"
TYPED_CODE = "|".join(sorted(code.lower() for code in CODES))
# "1 cup" is no Cuban peso.
CODE = "|".join(sorted(code.lower() for code in CODES - {"CUP", "PEN", "COP"}))
WORD = "|".join([*_PHRASES, *(word for words in _WORDS.values() for word in words)])
_KINDS = {kind: re.compile("|".join(words)) for kind, words in _WORDS.items()}
_PHRASE_CODES = tuple((re.compile(phrase), code) for phrase, code in _PHRASES.items())


def currency_named(said: str, home: str = "") -> str:
    """The ISO code of a sign, word or code in folded letters; "" where it is none.

    "$", "dollars" and "pesos" are the group's own, `home`, where that is written so: to a
    group in Mexico "$200" is no foreign money.
    """
    if said.upper() in CODES:
        return said.upper()
    if said in _SIGNS:
        return _SIGNS[said]
    for pattern, code in _PHRASE_CODES:
        if pattern.fullmatch(said):
            return code
    kind = "$" if said == "$" else _kind(said)
    shared = _SHARED.get(kind, ("",))
    return home if home in shared else shared[0]


def _kind(said: str) -> str:
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(said)), "")
