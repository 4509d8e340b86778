"""From a message to a command: what it is about, if it is about the ledger at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from app.skills.expenses.nlu.additions import is_ordered, read_addition
from app.skills.expenses.nlu.categories import Category
from app.skills.expenses.nlu.command import ADD, Command, rows_of
from app.skills.expenses.nlu.edits import read_deletion, read_update
from app.skills.expenses.nlu.lexicon import NOTHING, SUM, TIME, compiled, either, one_of
from app.skills.expenses.nlu.questions import read_question
from app.skills.expenses.nlu.sentence import LONGEST_MESSAGE, ReadingContext, Sentence, hide
from app.text.calendar_words import ALL_WEEKDAYS, either_of
from app.text.money import FoundAmount, fold_in_place
from app.text.normalize import fold, plain_words, words
from app.text.stop_words import STOP_WORDS

__all__ = ["Command", "read_wish"]

_OPENING = re.compile(rf"[\s,.;:!¡¿\"'-]*(?:{either('openings')}[\s,;:.!]+)*+")
_POLITE, _MAY_I = compiled("polite"), compiled("may_i")
_CLAIM = re.compile(rf"{one_of('claims')}\s")
_CLOSING = re.compile(rf"(?:[\s,.!?¡¿]+{either('closings')})?[\s,.!?¡¿]*$")
_ASKS = re.compile(r"[?¿]")
_NOTHING_TOLD = compiled("nothing_told")
# "$1,2" may be a price with a point, or have lost a digit; "-$5" may have been paid back.
_UNCLEAR_SUM = re.compile(r"\d,\d{1,2}(?!\d)|-\s*[$€£]?\s?[\d.]")
# As a sum is written that can be nothing else: "twenty thirty" may be two, "€14 dollars" is.
_NUMBER = r"(?:\d+(?:,\d{3})*(?:\.\d\d?)?|\.\d\d)"
_CLEAR_SUM = re.compile(rf"[$€£]\s?{_NUMBER}|{_NUMBER}\s?(?:[$€£]|[^\W\d_]+)?")
_CLEAR_DAY = re.compile(
    rf"{one_of('near_days')}|(?:{one_of('before_weekdays')}\s)?(?P<weekday>{either_of(ALL_WEEKDAYS)})"
)
_PLAIN_SIGNS = re.compile(r"[\w\s.,!¡$€£:']*")
# The shapes of a message that does nothing but add: words to do it, an item (¬) and a sum, with a
# day before or behind. What stands anywhere else may say more: of "beer $30 the keg" it was not
# said how many, and of "taxi $14, ice $5 yesterday" not when the taxi was.
_LEAD = rf"(?:{either('bare')}[,:!]?\s)*+"
_ARTICLE = rf"(?:{one_of('articles')}\s)?"
_TO_ITEM = rf"(?:{one_of('bare_rows', 'sum_to_item')}\s)?{_ARTICLE}"
_TO_SUM = rf",?\s(?:{one_of('bare_rows', 'item_to_sum')}\s)?"
_ROW = rf"(?:{NOTHING}+{_TO_SUM}{SUM}+|{SUM}+\s{_TO_ITEM}{NOTHING}+)(?:,?\s{TIME}+)?"
_BARE_ADDITION = re.compile(
    rf"[¡\s]*{_LEAD}(?:{TIME}+[,:]?\s{_LEAD})?{_ROW}"
    rf"(?:,?\s{either('bare_end')})?[\s.!]*"
)
_JOINS_WORDS = re.compile(rf"\s{one_of('bare_rows', 'joins_words')}\s")
_READERS: tuple[Callable[[Sentence, int, int], Command | None], ...] = (
    read_deletion, read_update, read_question, read_addition,
)  # fmt: skip


def read_wish(
    message: str, language: str, today: date, categories: Sequence[Category], currency: str = ""
) -> Command | None:
    """What a message wants of the ledger of expenses; None where it is about anything else.

    `currency` is the group's own, which "$" and "pesos" are taken for where they may be.
    """
    return read_sentence(message, ReadingContext(language, today, tuple(categories), currency))


def read_sentence(message: str, around: ReadingContext) -> Command | None:
    """The same, with all that it is read with in one."""
    if not message.strip() or len(message) > LONGEST_MESSAGE:
        return None
    sentence = Sentence.of(message, around)
    start, end = core_of(sentence)
    if start >= end:
        return None
    # Only a question that is an order in kind words asks for something to be done.
    is_question = bool(_ASKS.search(message))
    is_asked = is_question and not _POLITE.search(sentence.masked, 0, start)
    for read in (read_question,) if is_asked else _READERS:
        command = read(sentence, start, end)
        if command is not None and is_question and _is_rule(sentence, start, command):
            return None
        if command is not None:
            return without_what_is_no_thing(command)
    return None


def is_bare_addition(message: str, around: ReadingContext, items: Sequence[str]) -> bool:
    """Whether a message says nothing beside one item, its sum and day, and to add it.

    Whoever says "add the taxi $5 today if Lucía agrees" has not told that it be added. The items
    are what the restaurant's categories know: "skip taxi" and "unpaid taxi" are none.
    """
    sentence = Sentence.of(message, around)
    sums = [sentence.said(each.start, each.end) for each in sentence.sums]
    if not _PLAIN_SIGNS.fullmatch(sentence.text) or not all(map(_is_money(around), sentence.sums)):
        return False
    if not _is_clear_day(sentence, around.today):
        return False
    if _UNCLEAR_SUM.search(message) or not all(map(_CLEAR_SUM.fullmatch, sums)):
        return False
    if not all(_is_known(item, around.categories) for item in items):
        return False
    masked = _hiding_items(sentence.masked, items)
    return bool(_BARE_ADDITION.fullmatch(masked))


def _is_clear_day(sentence: Sentence, today: date) -> bool:
    """Whether at most one day is said, and it can be one alone.

    On a Saturday, "Saturday" may be today or a week ago.
    """
    found = [_CLEAR_DAY.fullmatch(fold(sentence.said(t.start, t.end))) for t in sentence.times]
    is_today = any(time.day == today for time in sentence.times)
    return len(found) < 2 and all(each and not (each["weekday"] and is_today) for each in found)


def is_another(message: str, around: ReadingContext, items: Sequence[str], before: str) -> bool:
    """Whether a message that follows a reply of these words orders to add something else.

    "And the ice $5" after a deletion may be to delete that too, and "taxi $14 yesterday" after a
    taxi of $14 the day of that one.
    """
    sentence = Sentence.of(message, around)
    shown = set(words(before))
    return is_ordered(sentence, *core_of(sentence)) and not any(
        shown & set(words(i)) for i in items
    )


def _is_money(around: ReadingContext) -> Callable[[FoundAmount], bool]:
    """Whether a sum says that it is one, and is of the group's own money: "5 pounds" may weigh."""
    own = ("", around.currency)
    return lambda each: (each.is_marked or each.has_cents) and each.currency in own


def _is_known(item: str, categories: Sequence[Category]) -> bool:
    """Whether each thing of it is one of a category's: "limes and lemons"."""
    phrases = {plain_words(phrase) for category in categories for phrase in category.words}
    said = plain_words(item)
    if said in STOP_WORDS:
        return False
    return said in phrases or phrases.issuperset(_JOINS_WORDS.split(said))


def _hiding_items(masked: str, items: Sequence[str]) -> str:
    """The sentence with each item hidden, where it stands in it as it was said."""
    at = 0
    for item in items:
        start = masked.find(fold_in_place(item), at)
        at = start + len(item)
        masked = hide(masked, start, at, NOTHING) if start >= 0 else ""
    return masked


def _is_rule(sentence: Sentence, start: int, command: Command) -> bool:
    """ "Can I expense a taxi?" asks for a rule; "can I add an expense?" asks to begin."""
    is_begun = bool(command.arguments) and "amount" not in command.arguments
    is_claim = bool(_CLAIM.match(sentence.masked, start))
    is_asked_for = bool(_MAY_I.search(sentence.masked, 0, start))
    return command.tool == ADD and (is_begun or is_claim) and is_asked_for


def asks_only(message: str) -> bool:
    """Whether a message is a question, and no order in kind words."""
    return bool(_ASKS.search(message)) and not _POLITE.search(fold(message))


def without_what_is_no_thing(command: Command) -> Command:
    """ "I need to log two expenses": the two are no sum, and "expenses" is no thing."""
    rows = rows_of(command.arguments) if command.tool == ADD else []
    if any(_NOTHING_TOLD.fullmatch(fold(str(row.get("item") or "-"))) for row in rows):
        return Command(ADD, {}, ("item", "amount"))
    return command


def core_of(sentence: Sentence) -> tuple[int, int]:
    """From where to where a sentence says what it means: without greetings and thanks."""
    opening = _OPENING.match(sentence.masked)
    start = opening.end() if opening else 0
    end = len(sentence.masked)
    # One after the other: a pattern that repeats its words would try them in all orders.
    while (closing := _CLOSING.search(sentence.masked, start, end)) and closing.start() < end:
        end = closing.start()
    return start, end
