"""How a row of the ledger is spoken of: "the taxi one", "el último gasto", "el del taxi"."""

from __future__ import annotations

import re

from app.skills.expenses.nlu.kinds import is_known, is_on_the_menu, is_paid_for
from app.skills.expenses.nlu.lexicon import SUM, TIME, compiled, either, one_of
from app.skills.expenses.nlu.sentence import Sentence

_ELSEWHERE = compiled("elsewhere")
# Of the ledger by its own words.
_LAST = either("last")
_ONE = either("one")
_ITS = rf"{one_of('its')}\s"
_LAST_ONE = re.compile(
    rf"(?:{_ITS})*(?:very )?{_LAST}(?:\s(?:two|{_ONE}))*(?:\s{either('just_added')})?"
)
_ONE_OF = re.compile(
    rf"{_ITS}(?:[^,;]{{1,40}}?\s)?{_ONE}s?(?:\s[^,;]{{1,40}})?"
    rf"|{one_of('the_one')}\s{one_of('from_the')}\s[^,;]{{2,40}}"
)
_LEDGER_ONE = compiled("ledger_ones")
_VAGUE = compiled("vague_ones")
_POINTED = re.compile(
    rf"(?:{_ITS})?(?P<thing>[^,;{SUM}{TIME}]*?)\s?(?:{one_of('of_times')}\s)?"
    rf"(?P<mark>[{SUM}{TIME}]+)?(?:\s(?P<behind>[^,;{SUM}{TIME}]+))?"
)
# "El de ayer" is all time, and still a row.
_ONE_FROM = re.compile(rf"\s*{one_of('the_one')}\sdel?\s")
_TIME_BEHIND = re.compile(rf"\s?(?:{one_of('of_times')}\s)?{TIME}+$")
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
    if _LAST_ONE.fullmatch(_TIME_BEHIND.sub("", masked)):
        return NAMED_ONE if _LEDGER_ONE.search(masked) else LAST_ONE
    if _ONE_OF.fullmatch(masked):
        return NAMED_ONE
    return _pointed(sentence, start, end, masked)


def _pointed(sentence: Sentence, start: int, end: int, masked: str) -> str:
    """ "The taxi", "the coffee from yesterday": of what is not on the menu, or with its time."""
    match = _POINTED.fullmatch(masked)
    if match is None or not re.search("[a-z]", masked):
        return NONE
    said, language = sentence.said(start, end), sentence.around.language
    has_mark = bool(match["mark"]) and bool(match["thing"] or match["behind"])
    is_one = is_paid_for(said, language) or (has_mark and is_known(said, language))
    return POINTED_ONE if is_one else NONE


def is_certain(sentence: Sentence, start: int, end: int) -> bool:
    """Whether no dish or order can be meant: "the taxi one", "the steak expense"."""
    said, language = sentence.said(start, end), sentence.around.language
    is_bought = is_known(said, language) and not is_on_the_menu(said, language)
    return bool(_LEDGER_ONE.search(sentence.masked, start, end)) or is_bought


def words_of(sentence: Sentence, start: int, end: int) -> str:
    """The reference as it was said."""
    said = sentence.said(start, end).strip(" ,.;:!?¡¿\"'")
    return re.sub(r"^(?:al?|to)\s", "", said)
