"""Numbers that are written out: "two hundred and five", "doscientos cinco", "twelve fifty"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from babel.numbers import format_decimal

from app.text.bilingual import reader_language
from app.text.lexicon import WORDS

# Whose signs numbers have. Restaurants in America write "$4.50" in Spanish too: a point before the
# decimals, and a comma between the thousands.
NUMBER_LOCALES: Mapping[str, str] = {"en": "en_US", "es": "es_US"}


def figures(value: float | Decimal, pattern: str | None = None) -> str:
    """A number as the reader of the page or the turn writes it; `pattern` is one of Babel's."""
    return str(format_decimal(value, pattern, locale=NUMBER_LOCALES[reader_language()]))


def in_order(words: str, first: int) -> dict[str, int]:
    """Words that count up from a number; those parted by bars share theirs, a dash is none."""
    return {
        word: first + place
        for place, same in enumerate(words.split())
        for word in same.split("|")
        if word != "-"
    }


# The words that numbers are written with, by language; folded.
NUMBER_WORDS: Mapping[str, Mapping[str, int]] = {
    language: {**in_order(each["counted"], 0), **each["others"]}
    for language, each in WORDS["numbers"].items()
}
# Those of a number below a hundred that is one word, in both languages.
SMALL_NUMBERS: Mapping[str, int] = {
    word: value
    for language in ("en", "es")
    for word, value in NUMBER_WORDS[language].items()
    if 0 < value < 100
}
# These are articles and pronouns far more often than numbers.
LONE_ONES = frozenset(WORDS["lone_ones"].split())
_HUNDRED, _THOUSAND = 100, 1000
_LEAST_OF_TWO_FIGURES = 10


def _pattern(language: str) -> re.Pattern[str]:
    word = "|".join(sorted(NUMBER_WORDS[language], key=len, reverse=True))
    # "a hundred" begins with its article; "and", "y" and "con" stand only between numbers.
    each = WORDS["numbers"][language]
    lead = f"(?:{each['lead']})?" if "lead" in each else ""
    return re.compile(rf"\b{lead}(?:{word})\b(?:(?:[ -]+(?:{each['links']}))?[ -]+(?:{word})\b)*")


_PATTERNS = {language: _pattern(language) for language in NUMBER_WORDS}
_EACH = re.compile(r"[a-z]+")


class WrittenNumber(NamedTuple):
    """A number in words, and from which letter to which it stands.

    `in_hundreds` is what the same words are where "hundred" was left out: 250 of "two fifty".
    """

    value: Decimal
    start: int
    end: int
    in_hundreds: Decimal | None = None


_MOST_WORDS_OF_CENTS = 6


def find_number_words(folded: str, language: str) -> Iterator[WrittenNumber]:
    """The numbers of a text of folded letters; those that do not add up are left out.

    "Twelve fifty" and "doce con cincuenta" are prices: twelve, and fifty hundredths.
    """
    for match in _PATTERNS.get(language, _PATTERNS["en"]).finditer(folded):
        value = read_number_words(match[0], language)
        if value is not None:
            yield WrittenNumber(value, *match.span(), _in_hundreds(value, language))


def _in_hundreds(value: Decimal, language: str) -> Decimal | None:
    """250 of "two fifty". Spanish has a word for it, and "twelve fifty" is no 1,250."""
    is_price = language != "es" and value % 1 and 1 <= value < _LEAST_OF_TWO_FIGURES
    return Decimal(int(value * _HUNDRED)) if is_price else None


def read_number_words(folded: str, language: str) -> Decimal | None:
    """The number that these words are; None where they are none, or more than one."""
    values = NUMBER_WORDS.get(language, NUMBER_WORDS["en"])
    whole = cents = ""
    total = current = 0
    said = _EACH.findall(folded)
    for place, word in enumerate(said):
        if word in ("a", "and", "y"):
            continue
        if word == "con" or not _goes_on(current, values.get(word, -1)):
            whole, cents = str(total + current), " ".join(said[place + (word == "con") :])
            break
        total, current = _more(total, current, values[word])
    if not whole:
        return Decimal(total + current)
    # No more words than the longest price has; each of these calls reads all that are left.
    is_price = "con" not in cents and cents.count(" ") < _MOST_WORDS_OF_CENTS
    hundredths = read_number_words(cents, language) if is_price else None
    if hundredths is None or hundredths % 1 or not 10 <= hundredths < _HUNDRED:
        return None
    return Decimal(f"{whole}.{hundredths}")


def _goes_on(current: int, value: int) -> bool:
    """Whether a number so far may go on with another word: "twenty five", not "five twenty"."""
    if value < 0:
        return False
    if value == _THOUSAND:
        return current < _THOUSAND
    if value == _HUNDRED:
        # "Twelve hundred" and "twenty five hundred", but nobody says "twenty hundred".
        return current < 10 or (current < _HUNDRED and current % 10 != 0)
    if value >= _HUNDRED or current % _HUNDRED == 0:
        return current % _THOUSAND == 0 or value < _HUNDRED
    return 0 < value < 10 and current % 10 == 0 and current % _HUNDRED >= 20


def _more(total: int, current: int, value: int) -> tuple[int, int]:
    if value == _THOUSAND:
        return total + max(current, 1) * _THOUSAND, 0
    if value == _HUNDRED:
        return total, max(current, 1) * _HUNDRED
    return total, current + value
