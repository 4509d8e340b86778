"""How a row of the ledger is spoken of: "the taxi one", "el último gasto", "el del taxi"."""

from __future__ import annotations

import re

from app.skills.expenses.reading.categories import guess_category
from app.skills.expenses.reading.lexicon import SUM, TIME, compiled, either
from app.skills.expenses.reading.sentence import Sentence

_ELSEWHERE = compiled("elsewhere")
# Of the ledger by its own words.
_LAST = either("last")
_ONE = either("one")
_LAST_ONE = re.compile(
    rf"(?:(?:the|my|our|that|el|la|lo|mi|los)\s)*(?:very )?{_LAST}(?:\s(?:two|one|{_ONE}))?(?:\s{_ONE})?"
    rf"(?:\s(?:i|we) (?:added|logged|entered|put in|made)|\sque (?:agregue|anote|registre|puse|meti))?"
)
_ONE_OF = re.compile(
    rf"(?:the|my|our|that|this|el|la|ese|esa|este|mi|lo|los|las)\s(?:[^,;]{{1,40}}?\s)?(?:{_ONE})(?:s)?(?:\s(?:[^,;]{{1,40}}))?"
    r"|(?:el|la|lo|los|las)\s(?:del?|de la|de los|de las)\s[^,;]{2,40}"
)
_LEDGER_ONE = re.compile(r"(?<!\w)(?:expenses?|purchase|charge|outlay|gastos?|egreso)(?!\w)")
_VAGUE = re.compile(
    r"(?:(?:an?|one|some|any|all|all of|the|my|our|un|una|algun|alguno de|uno de|todos|los|mis|of)\s)+"
    r"(?:expenses?|gastos?|entry|entries|expense entry|purchases?)|(?:expenses?|gastos?)"
)
_POINTED = re.compile(
    rf"(?:(?:the|my|our|el|la|los|las|mi)\s)?(?P<thing>[^,;{SUM}{TIME}]*?)\s?(?:(?:from|of|on|de|del)\s)?(?P<mark>[{SUM}{TIME}]+)?(?:\s(?P<behind>[^,;{SUM}{TIME}]+))?"
)
_SURE = frozenset({"transport", "utilities", "fees", "repairs", "office"})
# "El de ayer" is all time, and still a row.
_ONE_FROM = re.compile(r"\s*(?:el|la|los|las|lo)\sdel?\s")
_WORD = re.compile("[a-z]")
LAST_ONE, NAMED_ONE, POINTED_ONE, VAGUE, NONE = "last", "named", "pointed", "vague", ""
_MOST_WORDS = 9


def kind_of(sentence: Sentence, start: int, end: int) -> str:
    """How these words speak of a row; NONE where they may be about anything."""
    masked = sentence.masked[start:end].strip()
    if _ONE_FROM.match(sentence.said(start, end).lower()) and not _WORD.search(masked):
        return NAMED_ONE
    if not masked or len(masked.split()) > _MOST_WORDS or _ELSEWHERE.search(masked):
        return NONE
    if _VAGUE.fullmatch(masked):
        return VAGUE
    if _LAST_ONE.fullmatch(re.sub(rf"\s?(?:(?:from|of|on|de|del)\s)?{TIME}+$", "", masked)):
        return NAMED_ONE if _LEDGER_ONE.search(masked) else LAST_ONE
    if _ONE_OF.fullmatch(masked):
        return NAMED_ONE
    return _pointed(sentence, start, end, masked)


def _pointed(sentence: Sentence, start: int, end: int, masked: str) -> str:
    """ "The taxi", "the coffee from yesterday": of what is not on the menu, or with its time."""
    match = _POINTED.fullmatch(masked)
    if match is None or not re.search("[a-z]", masked):
        return NONE
    around = sentence.around
    slug = guess_category(sentence.said(start, end), around.categories, around.language)
    has_mark = bool(match["mark"]) and bool(match["thing"] or match["behind"]) and bool(slug)
    return POINTED_ONE if has_mark or slug in _SURE else NONE


def words_of(sentence: Sentence, start: int, end: int) -> str:
    """The reference as it was said."""
    said = sentence.said(start, end).strip(" ,.;:!?¡¿\"'")
    return re.sub(r"^(?:al?|to)\s", "", said)
