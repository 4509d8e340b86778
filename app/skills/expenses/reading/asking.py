"""Questions about the ledger: "how much did we spend last month", "gastos de limpieza"."""

from __future__ import annotations

import re
from typing import Any

from app.currencies import WORD, currency_named
from app.skills.expenses.reading.categories import guess_category, named_category
from app.skills.expenses.reading.lexicon import MASKS, NOTHING, TIME, compiled, either
from app.skills.expenses.reading.sentence import Sentence
from app.skills.expenses.reading.wish import BALANCE, LIST, Wish

_BALANCE = re.compile(either("balance"))
_LIST = re.compile(either("list"))
_LEADING_TIME = re.compile(rf"(?:(?:in|on|for|en|de)\s)?{TIME}+[\s,]*")
_TELL = re.compile(
    r"(?:(?:tell|let)\s(?:me|us)(?:\sknow)?|(?:do you\s)?know|find out|check|see|(?:me\s)?dices|decirme|dime"
    r"|saber|sabes)\s(?=how|what|cuanto|a cuanto|en que|que)"
)
_MINE, _EVERYONE = compiled("mine"), compiled("everyone")
_CURRENCY = re.compile(rf"(?<!\w)(?:in|en)\s(?P<said>{WORD}|[a-z]{{3}})(?!\w)")
_BESIDE = re.compile(rf"{either('beside')}|{either('mine')}|[^\w\s]|{MASKS}")
_ELSEWHERE = re.compile(
    rf"{either('elsewhere')}|(?<!\w)(?:cost|costs|should|approve|approved|allowed|limit|much|many"
    r"|how|why|who|cuesta|cuestan|debo|puedo|limite|aprueba)(?!\w)"
)
_LEDGER = re.compile(
    rf"{either('ledger')}|(?<!\w)(?:spen[dt]|spending|paid|pay|bought|buy|logged|money|gast\w+|pag\w+"
    r"|compr\w+|dinero|lana|fue|ido|went|gone|go|expensed?|llev\w+)(?!\w)"
)
_BALANCE_ALONE = re.compile(r"(?<!\w)(?:balance|totals?|amount|sum|saldo)(?!\w)")
_PARTING = re.compile(r"(?<!\w)(?:and|y|or|o)(?!\w)")
_LONGEST_SUBJECT = 4


def read_question(sentence: Sentence, start: int, end: int) -> Wish | None:
    """A question for a sum or for rows; None where it asks something else."""
    masked = sentence.masked
    leading = _LEADING_TIME.match(masked, start, end)
    start = leading.end() if leading else start
    told = _TELL.match(masked, start, end)
    start = told.end() if told else start
    for tool, pattern in ((BALANCE, _BALANCE), (LIST, _LIST)):
        match = pattern.match(masked, start, end)
        if match:
            wish = _question(sentence, tool, match, end)
            if wish is not None:
                return wish
    return None


def _question(sentence: Sentence, tool: str, match: re.Match[str], end: int) -> Wish | None:
    """With what it is limited to; what cannot be understood of that is asked about."""
    arguments: dict[str, Any] = _range(sentence)
    if sentence.sums_in(match.start(), end):
        return None
    rest, currency = _currency(sentence, match.end(), end)
    who = _who(sentence.masked[match.start() : end])
    subject = _subject(_EVERYONE.sub(" ", rest))
    before = next((said for said in match.groupdict().values() if said), "")
    before = _subject(_EVERYONE.sub(" ", before))
    if _ELSEWHERE.search(f"{before} {subject}") or len(subject.split()) > _LONGEST_SUBJECT:
        return None
    said = subject or before
    # "The balance on this gift card" is another one.
    if said and _BALANCE_ALONE.search(match[0]) and not _LEDGER.search(match[0]):
        return None
    slug = _slug(sentence, said) if said else ""
    if said and not slug and match.groupdict().get("bare_topic"):
        return None
    limits = {"category": slug, "who": who, "currency": currency}
    arguments |= {name: value for name, value in limits.items() if value}
    return Wish(tool, arguments, ("category",) if said and not slug else ())


def _range(sentence: Sentence) -> dict[str, Any]:
    """The words of the time, as they were said; of several those from the first to the last."""
    if not sentence.times:
        return {}
    first, last = sentence.times[0], sentence.times[-1]
    said = sentence.said(first.start, last.end).strip(" ,.?!")
    return {"range": said.removesuffix("'s").removeprefix("on ")}


def _currency(sentence: Sentence, start: int, end: int) -> tuple[str, str]:
    match = _CURRENCY.search(sentence.masked, start, end)
    code = currency_named(match["said"], sentence.around.currency) if match else ""
    if not match or not code:
        return sentence.masked[start:end], ""
    return sentence.hiding(*match.span(), NOTHING).masked[start:end], code


def _who(asked: str) -> str:
    if _EVERYONE.search(asked):
        return "all"
    return "mine" if _MINE.search(asked) else ""


def _subject(rest: str) -> str:
    """What is left of a question when all that every question has is taken away."""
    return " ".join(_BESIDE.sub(" ", rest).split())


def _slug(sentence: Sentence, said: str) -> str:
    """The category of what was asked about; of two, none is right."""
    around = sentence.around
    slugs = {
        named_category(each, around.categories)
        or guess_category(each, around.categories, around.language)
        for each in _PARTING.split(said)
    }
    return slugs.pop() if len(slugs) == 1 else ""
