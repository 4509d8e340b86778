"""What the days of the week and the months are called, folded, in full and for short."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from app.text.numbers import in_order

Words = Mapping[str, Mapping[str, int]]

# By language; Monday is 0.
WEEKDAYS: Words = {
    "en": in_order("monday tuesday wednesday thursday friday saturday sunday", 0),
    "es": in_order("lunes martes miercoles jueves viernes sabado domingo", 0),
}
SHORT_WEEKDAYS: Words = {
    "en": in_order("mon tues|tue wed thurs|thur|thu fri sat sun", 0),
    # "Mar" is March.
    "es": {"lun": 0, **in_order("mie|mier jue vie sab dom", 2)},
}
# By language; January is 1.
MONTHS: Words = {
    "en": in_order(
        "january february march april may june july august september october november december", 1
    ),
    "es": in_order(
        "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre"
        " diciembre",
        1,
    ),
}
SHORT_MONTHS: Words = {
    "en": in_order("jan feb mar apr may jun jul aug sept|sep oct nov dec", 1),
    "es": in_order("ene feb mar abr may jun jul ago sept|sep|set oct nov dic", 1),
}
ALL_WEEKDAYS = {**WEEKDAYS["en"], **WEEKDAYS["es"]}
_VOWELS = {"a": "[aá]", "e": "[eé]", "i": "[ií]", "o": "[oó]", "u": "[uúü]"}


def either_of(words: Collection[str], *, accents: bool = False) -> str:
    """A pattern of these words, the longest first; in text that is not folded with `accents`."""
    pattern = "|".join(sorted(words, key=lambda word: (-len(word), word)))
    return re.sub("[aeiou]", lambda vowel: _VOWELS[vowel[0]], pattern) if accents else pattern
