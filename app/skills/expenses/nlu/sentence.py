"""A sentence with its sums and times found, each hidden under a letter of its own.

So a pattern can say "a sum, then words, then a time", and still every place is one of the
words as they were said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise

from app.periods import Found, find_period
from app.skills.expenses.nlu.categories import Category
from app.skills.expenses.nlu.lexicon import CATEGORY, EACH, MASKS, NOTE, SUM, TIME, either, one_of
from app.text.calendar_words import ALL_WEEKDAYS, MONTHS, SHORT_MONTHS, either_of
from app.text.money import FoundAmount, find_amounts, fold_in_place
from app.text.plain_text import compose

# Nobody logs an expense in a text as long as this, and a pasted one is about something else.
LONGEST_MESSAGE = 400
_MOST_TIMES = 4
_MASK_LETTERS = re.compile(MASKS)
_UNIT = re.compile(rf"[ -]?(?:{either('units')}|{either('measures')})")
_MEASURE = re.compile(rf"[ -]?{either('measures')}")
# "Bought 3 knives" counts them; "compre 30 de limones" does not.
_OF_THEM = re.compile(rf"{either('of_them')} $")
_FEW = 12
_OF_TIME = re.compile(either("of_time"), re.IGNORECASE)
_LONGEST_OF = 5
_COST_BEFORE = re.compile(rf"(?:{either('cost')}|{either('spent')})(?: en| a| to)? $")
_AND_BEFORE = re.compile(r"(?<!\w)(?:and|y|e) $")
_OF = re.compile(r"\s(?:de|d|of)(?!\w)")
_COSTS = re.compile(f"{either('cost_surely')}|{either('spent')}")
_BOUGHT = re.compile(rf"{either('bought')} $")
_LEAST_NUMBER = 100
# Of fewer, the first may count what the second is for: "12 cookies 30".
_FEWEST_LISTED = 2
_MOST_WORDS_OF_A_THING = 4
_VERB = re.compile("|".join(either(name) for name in ("spent", "got")))
_MASKED = re.compile(MASKS)
_THING = re.compile("[a-z]{3}")
_AND = re.compile(either("joins_sums"))
_PAPER = re.compile(rf"(?<!\w){one_of('numbered_papers')}\W{{1,2}}$")
_BEFORE = re.compile(rf"{either('before_numbers')}[^\w,;]{{0,2}}$")
# Neither is longer: before each of a thousand numbers no more than this is searched.
_LONGEST_BEFORE = 40
# So many characters after its number a paper's sum may stand.
_FARTHEST_SUM = 200
# A plain number before a noun counts things: "2 ribeyes". Before these it may be a sum.
_SUM_GOES_ON = re.compile(rf"\s*(?:$|[^\w\s]|{MASKS}|{either('after_sums')})")
_OF_DAYS = re.compile(r"\b(yesterday|today)s\b", re.IGNORECASE)
_ONE = re.compile(one_of("of_one"), re.IGNORECASE)
_DAY = rf"(?:{one_of('near_days')}|(?:on |el )?(?:{either_of(ALL_WEEKDAYS, accents=True)}))\b"
# An "and" that begins the next row is none between two days: "taxi 12 and yesterday coffee 4".
_NEXT_ROW = re.compile(rf"(?<=\d )(?:and|y)(?= {_DAY})|(?:and|y)(?= {_DAY} \W?\d)", re.IGNORECASE)
# Whoever mixes languages, or writes too few words to tell which it is, says days in these; of
# the other language's words nothing else is taken for a time: "mar", "may" and "march" mean more.
_SURE_TIME = re.compile(
    rf"\b(?:{_DAY}|{one_of('sure_times')}"
    rf"|{either_of({*MONTHS['en'], *MONTHS['es']} - {'march', 'may', 'mayo'})})\b",
    re.IGNORECASE,
)
# A day that no month has, "31 November": which one it was is asked for.
_MONTH_NAMES = {*MONTHS["en"], *SHORT_MONTHS["en"], *MONTHS["es"]} - {"march", "mar", "may"}
_MONTH = f"(?:{either_of(_MONTH_NAMES)})"
_NO_DAY = re.compile(
    rf"\b(?:on |el )?(?:(?:29|3[01])(?: of| de)? {_MONTH}|{_MONTH} (?:29|3[01]))\b", re.IGNORECASE
)
# "El 14 pagué…", "lo pagué el 14": a day of the month, as "el día 14" is.
_BARE_DAY = re.compile(
    rf"(?<!\w)el (?P<day>[12]?[0-9]|3[01])(?=\s*(?:$|[,.;]|y\s|{either('spent')}|{either('got')}))"
)
_SPENT_BEFORE = re.compile(rf"{either('spent')}\s?$")
_PRICE_OF_ONE = re.compile(rf"\s?{either('each')}")


@dataclass(frozen=True)
class ReadingContext:
    """What a sentence is read with; `currency` is the group's own, "" where it is not known."""

    language: str
    today: date
    categories: Sequence[Category]
    currency: str = ""


@dataclass(frozen=True)
class Time:
    """A time that was said; `day` is None where it is more than one."""

    start: int
    end: int
    day: date | None


@dataclass(frozen=True)
class Sentence:
    """`masked` is `text` folded, letter by letter, with what was found in it hidden."""

    text: str
    masked: str
    around: ReadingContext
    sums: tuple[FoundAmount, ...] = ()
    times: tuple[Time, ...] = ()
    # Notes, and categories that were named, by where they stand.
    notes: Mapping[int, str] = field(default_factory=dict)
    named: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, message: str, around: ReadingContext, *, tells_prices: bool = False) -> Sentence:
        """Read a message; one that `tells_prices` has sums where others count things."""
        text = clean(message)
        masked = fold_in_place(text)
        times = _times(text, around, are_paid=tells_prices)
        for time in times:
            own = 2 if masked.startswith("'s", time.end) else 0
            masked = hide(masked, time.start, time.end + own, TIME)
        # A sum is not looked for where a date stands: "12 June".
        open_text = "".join(
            " " if letter == TIME else own for letter, own in zip(masked, text, strict=True)
        )
        found = find_amounts(open_text, around.language, around.currency)
        for each in found:
            behind = _PRICE_OF_ONE.match(masked, each.end)
            masked = hide(masked, *behind.span(), EACH) if behind else masked
        certain = [each for each in found if _is_sum(each, masked)]
        if tells_prices and (_is_list_of_things(found, masked) or _are_spent(found, masked)):
            certain = found
        elif tells_prices and (len(found) == 1 or _is_price_list(found, masked)):
            certain = [each for each in found if each in certain or not _is_measure(each, masked)]
        sums = _without_numbers(_without_counts(certain, masked), masked)
        for each in sums:
            masked = hide(masked, each.start, each.end, SUM)
        return cls(text, masked, around, sums, times)

    def said(self, start: int, end: int) -> str:
        """The words as they were said there."""
        return self.text[start:end]

    def sums_in(self, start: int, end: int) -> list[FoundAmount]:
        return [each for each in self.sums if start <= each.start < end]

    def times_in(self, start: int, end: int) -> list[Time]:
        return [each for each in self.times if start <= each.start < end]

    def hiding(self, start: int, end: int, letter: str) -> Sentence:
        """The same sentence where these words need no more reading."""
        return replace(self, masked=hide(self.masked, start, end, letter))

    def with_note(self, start: int, end: int, note: str) -> Sentence:
        """The same sentence with these words known to be a note."""
        return replace(self.hiding(start, end, NOTE), notes={**self.notes, start: note})

    def with_category(self, start: int, end: int, slug: str) -> Sentence:
        """The same sentence with these words known to name a category."""
        return replace(self.hiding(start, end, CATEGORY), named={**self.named, start: slug})


def clean(message: str) -> str:
    """In one line and in composed letters; a line ends what is said as a semicolon does."""
    text = compose(message).replace("\u2019", "'").replace("\u2018", "'")
    text = _OF_DAYS.sub(r"\1's", text)
    lines = [" ".join(_MASK_LETTERS.sub(" ", line).split()) for line in text.splitlines()]
    return "; ".join(line.strip("-*• ") for line in lines if line.strip("-*• "))


def hide(masked: str, start: int, end: int, letter: str) -> str:
    """The text with another letter in the place of each of these."""
    return masked[:start] + letter * (end - start) + masked[end:]


def _times(text: str, around: ReadingContext, *, are_paid: bool) -> tuple[Time, ...]:
    """The times of a message; of one that tells what was paid, those at which it was."""
    found: list[Time] = []
    # "The taxi one to Friday" speaks of no first of the month, "todos ayer" and "$4 each
    # yesterday" of no every day.
    left = _ONE.sub(lambda match: "-" * len(match[0]), text)
    left = _NEXT_ROW.sub(lambda match: ";" * len(match[0]), left)
    while len(found) < _MOST_TIMES:
        time = _next_time(left, around)
        if time is None or time.end <= time.start:
            break
        is_day = (time.period.end - time.period.start).days == 1
        # A number alone is a sum sooner than a year: "rent 2000"; and the light of this month is
        # what was paid, not when.
        is_sum = text[time.start : time.end].strip().isdecimal()
        said = text[max(0, time.start - _LONGEST_OF) : time.end]
        is_of_thing = are_paid and not is_day and bool(_OF_TIME.search(said))
        if not (is_sum or is_of_thing):
            found.append(Time(time.start, time.end, time.period.start if is_day else None))
        left = hide(left, time.start, time.end, ";")
    found += [Time(*match.span(), None) for match in _NO_DAY.finditer(left)]
    found += _bare_days(left, around)
    return tuple(sorted(found, key=lambda each: each.start))


def _bare_days(left: str, around: ReadingContext) -> Iterator[Time]:
    for match in _BARE_DAY.finditer(fold_in_place(left)):
        day = find_period(f"el dia {match['day']}", "es", around.today)
        if day is not None:
            yield Time(*match.span(), day.period.start)


def _next_time(left: str, around: ReadingContext) -> Found | None:
    """A time in the language of the sentence, else a sure one in the other."""
    found = find_period(left, around.language, around.today)
    if found is not None and found.end > found.start:
        return found
    other = find_period(left, "es" if around.language == "en" else "en", around.today)
    return other if other and _SURE_TIME.search(left[other.start : other.end]) else None


def _without_counts(sums: list[FoundAmount], folded: str) -> list[FoundAmount]:
    """Without the "2" of "3 bags of beans and 2 of rice came to 90": the verb says which is it."""
    costs_one = any(_follows(_COST_BEFORE, each, folded) for each in sums)
    if not costs_one or _are_spent(sums, folded):
        return sums
    return [each for each in sums if not _is_count(each, folded)]


def _is_count(each: FoundAmount, folded: str) -> bool:
    is_plain = not (each.is_marked or each.has_cents) and each.value <= _FEW
    is_after_and = _follows(_AND_BEFORE, each, folded)
    return bool(is_plain and is_after_and and _OF.match(folded, each.end))


def _without_numbers(sums: list[FoundAmount], folded: str) -> tuple[FoundAmount, ...]:
    """Without the "4521" of "invoice 4521 $300": a paper has a number where a sum follows."""
    kept: list[FoundAmount] = []
    marked: FoundAmount | None = None
    for each in reversed(sums):
        if not (marked and _is_number_of_paper(each, marked, folded)):
            kept.append(each)
        if each.is_marked:
            marked = each
    return tuple(reversed(kept))


def _is_number_of_paper(each: FoundAmount, later: FoundAmount, folded: str) -> bool:
    """Whether it is the number of a paper whose sum is `later`, the next one that is marked."""
    if each.is_marked or each.has_cents or each.value < _LEAST_NUMBER:
        return False
    is_near = later.start - each.end <= _FARTHEST_SUM
    if not is_near or _AND.search(folded, each.end, later.start):
        return False
    return _follows(_PAPER, each, folded)


def _is_list_of_things(found: list[FoundAmount], folded: str) -> bool:
    """Whether each thing has its sum behind it: "guantes 24 bolsas de basura 16 y papel 40".

    Not with a number in words, nor where nothing but a unit parts two of them: "gloves 2 boxes 40";
    and not in a sentence, which has a verb or a time before the first: "bought 8 lbs of bacon 52".
    """
    if len(found) < _FEWEST_LISTED or len({each.is_marked for each in found}) > 1:
        return False
    if not all(
        each.has_cents or folded[each.start].isdecimal() or each.is_marked for each in found
    ):
        return False
    before = folded[: found[0].start]
    if (
        len(before.split()) > _MOST_WORDS_OF_A_THING
        or _MASKED.search(folded)
        or _VERB.search(before)
    ):
        return False
    if any(_is_never_a_sum(each, folded) for each in found):
        return False
    between = [folded[a.end : b.start] for a, b in pairwise(found)]
    if any(map(_COSTS.search, between)):
        return False
    things = [before, *(_UNIT.sub(" ", each, count=1) for each in between)]
    return all(map(_THING.search, things))


def _are_spent(found: list[FoundAmount], folded: str) -> bool:
    """Whether what is said of the first is said of all: "gasté 30 de tortillas y 9 de totopos"."""
    return (
        len(found) > 1
        and _follows(_SPENT_BEFORE, found[0], folded)
        and all(_OF.match(folded, each.end) for each in found)
    )


def _is_price_list(found: list[FoundAmount], folded: str) -> bool:
    """Whether each thing has its number behind it, "eggs 11 butter 8", or each before it."""
    if len({each.is_marked for each in found}) > 1:
        # "2 mop heads for $33": who marks one sum marks them all.
        return False
    between = [folded[a.end : b.start] for a, b in pairwise(found)]
    ends = (folded[: found[0].start], folded[found[-1].end :]) if found else ("", "")
    if not all(_THING.search(each) for each in between):
        return False
    return bool(_THING.search(ends[0])) != bool(_THING.search(ends[1]))


def _follows(ending: re.Pattern[str], each: FoundAmount, folded: str) -> bool:
    return bool(ending.search(folded, max(0, each.start - _LONGEST_BEFORE), each.start))


def _is_never_a_sum(each: FoundAmount, folded: str) -> bool:
    is_weighed = not each.is_marked and _MEASURE.match(folded, each.end)
    return bool(is_weighed or _follows(_BEFORE, each, folded))


def _is_measure(each: FoundAmount, folded: str) -> bool:
    is_counted = _follows(_BOUGHT, each, folded) and not _SUM_GOES_ON.match(folded, each.end)
    is_counted |= each.value <= _FEW and _follows(_OF_THEM, each, folded)
    return bool(is_counted or _UNIT.match(folded, each.end) or _follows(_BEFORE, each, folded))


def _is_sum(each: FoundAmount, folded: str) -> bool:
    """Whether it may be money: neither "2 cups" nor "table 12" nor "2 ribeyes" is."""
    if each.is_marked or folded.startswith(EACH, each.end):
        return True
    if _is_measure(each, folded):
        return False
    # Nobody counts things in thousands with a comma: "1,200 rent".
    if each.has_cents or (each.value >= 1000 and not folded[each.start : each.end].isalnum()):
        return True
    return bool(_SUM_GOES_ON.match(folded, each.end))
