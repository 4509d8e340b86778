"""Questions about the ledger: "how much did we spend last month", "gastos de limpieza"."""

from __future__ import annotations

import re
from typing import Any

from app.skills.expenses.nlu.categories import guess_category, named_category
from app.skills.expenses.nlu.command import BALANCE, LIST, Command
from app.skills.expenses.nlu.lexicon import MASKS, NOTHING, TIME, compiled, either, one_of
from app.skills.expenses.nlu.sentence import Sentence
from app.text.currencies import WORD, currency_named
from app.text.stop_words import STOP_WORDS

_BALANCE = re.compile(either("balance"))
_LIST = re.compile(either("list"))
_LEADING_TIME = re.compile(rf"(?:{one_of('before_times')}\s)?{TIME}+[\s,]*")
_TOLD = re.compile(rf"{either('told')}\s(?={one_of('asked')})")
_MINE, _EVERYONE = compiled("mine"), compiled("everyone")
_CURRENCY = re.compile(rf"(?<!\w)(?:in|en)\s(?P<said>{WORD}|[a-z]{{3}})(?!\w)")
_BESIDE = re.compile(rf"{either('beside')}|{either('mine')}|[^\w\s]|{MASKS}")
_ELSEWHERE = re.compile(rf"{either('elsewhere')}|{either('asked_of_others')}")
_LEDGER = re.compile(rf"{either('ledger')}|{either('ledger_words')}")
_SUM_ALONE = compiled("sums_alone")
_PARTING = compiled("joins_questions")
_LONGEST_SUBJECT = 4


def read_question(sentence: Sentence, start: int, end: int) -> Command | None:
    """A question for a sum or for rows; None where it asks something else."""
    for leading in (_LEADING_TIME, _TOLD):
        match = leading.match(sentence.masked, start, end)
        start = match.end() if match else start
    if sentence.sums_in(start, end):
        return None
    for tool, pattern in ((BALANCE, _BALANCE), (LIST, _LIST)):
        match = pattern.match(sentence.masked, start, end)
        command = _question(sentence, tool, match, end) if match else None
        if command is not None:
            return command
    return None


def _question(sentence: Sentence, tool: str, match: re.Match[str], end: int) -> Command | None:
    """With what it is limited to: what is no category are words of what was bought."""
    rest, currency = _currency(sentence, match.end(), end)
    before = next((said for said in match.groupdict().values() if said), "")
    subject = _subject(rest) or _subject(before)
    if _ELSEWHERE.search(f"{before} {subject}") or len(subject.split()) > _LONGEST_SUBJECT:
        return None
    slug = _slug(sentence, subject) if subject else ""
    if subject and not _is_ours(match, slug):
        return None
    limits = {
        **_range(sentence),
        "category": slug,
        "who": _who(sentence.masked[match.start() : end]),
        "currency": currency,
        "matching": "" if slug else _matching(subject),
    }
    arguments = {name: value for name, value in limits.items() if value}
    return Command(tool, arguments)


def _matching(subject: str) -> str:
    return " ".join(word for word in subject.split() if word not in STOP_WORDS)


def answer_limits(sentence: Sentence) -> dict[str, Any]:
    """What a question for the ledger is limited to, as far as its words name it."""
    around = sentence.around
    bare = re.sub(rf"{MASKS}|[^\w\s]", " ", sentence.masked)
    named = {named_category(word, around.categories) for word in bare.split()} - {""}
    guessed = guess_category(bare, around.categories, around.language)
    limits = {
        **_range(sentence),
        "category": named.pop() if len(named) == 1 else guessed,
        "who": _who(sentence.masked),
    }
    return {name: value for name, value in limits.items() if value}


def _is_ours(match: re.Match[str], slug: str) -> bool:
    """Not "the balance on this gift card", and not every "… spending"."""
    if _SUM_ALONE.search(match[0]) and not _LEDGER.search(match[0]):
        return False
    return bool(slug) or not match.groupdict().get("bare_topic")


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
    return " ".join(_BESIDE.sub(" ", _EVERYONE.sub(" ", rest)).split())


def _slug(sentence: Sentence, said: str) -> str:
    """The category of what was asked about; of two, none is right."""
    around = sentence.around
    slugs = {
        named_category(each, around.categories)
        or guess_category(each, around.categories, around.language)
        for each in _PARTING.split(said)
    }
    return slugs.pop() if len(slugs) == 1 else ""
