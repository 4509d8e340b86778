"""The English of days, months and years."""

from __future__ import annotations

from app.periods.vocabulary import Ahead, Back, Vocabulary, each_of
from app.text.calendar_words import MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS
from app.text.numbers import NUMBER_WORDS, in_order

# No day or year is the zeroth.
_NUMBERS = {word: value for word, value in NUMBER_WORDS["en"].items() if value}
_ORDINALS = in_order(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    1,
)
_UNITS = {
    **each_of("day|days", "day"),
    **each_of("week|weeks|wk|wks", "week"),
    **each_of("weekend|weekends", "weekend"),
    **each_of("month|months", "month"),
    **each_of("quarter|quarters", "quarter"),
    **each_of("half", "half"),
    **each_of("year|years", "year"),
}
_TODAY = {
    **each_of("the day before yesterday|day before yesterday", -2),
    **each_of("yesterday|last night", -1),
    **each_of("today|tonight|now|right now|this morning|this afternoon|this evening", 0),
    **each_of("tomorrow", 1),
    **each_of("the day after tomorrow|day after tomorrow", 2),
}
_SHIFTS = each_of(
    "morning|afternoon|evening|night|in the morning|in the afternoon|in the evening|at night"
)
# A clock's hour, a holiday and a habit are no days of a ledger's.
_BARS = each_of("every|each|any|that same|by|good|black|ash|palm|easter|shrove|most|other")
_CLEAR = each_of(
    "i|you|we|he|she|it|they|there|did|do|does|was|were|is|are|have|has|had|what|who|how|when"
    "|where|which|at|with|for|than|compared|versus|vs|please|thanks|but|so|because|per|if|that"
    "|then|not|only|again|as|i'll|we'll|we've|i've|total|altogether|show|tell|list"
)
# "May sales" is May's; "may report" is not.
_RECORDS = {
    **each_of(
        "expenses|spending|sales|costs|receipts|invoices|bills|purchases|totals|figures"
        "|accounts|orders|takings|tips|summary|payments",
        True,
    ),
    **each_of("expense|cost|receipt|invoice|report|spend", False),
}

ENGLISH = Vocabulary(
    language="en",
    day_first=False,
    leads=frozenset({"on"}),
    endings=frozenset({"st", "nd", "rd", "th"}),
    verbs=frozenset({3, 5}),
    qualifies_after=False,
    tables={
        "number": {**_NUMBERS, "a couple of": 2, "a couple": 2},
        "ordinal": _ORDINALS,
        "few": each_of("few|a few|the few", 3),
        "a": each_of("a|an", 1),
        "month": {**SHORT_MONTHS["en"], **MONTHS["en"]},
        "weekday": {**SHORT_WEEKDAYS["en"], **WEEKDAYS["en"]},
        "unit": _UNITS,
        "today": _TODAY,
        "shift": _SHIFTS,
        "last": {
            "last": Back(by_year=True),
            **each_of("previous|prior|preceding|this past", Back()),
            "past": Back(rolls=True),
        },
        "next": {
            "next": Ahead(by_week=True),
            **each_of("coming|upcoming|following|this coming", Ahead()),
        },
        "this": each_of("this|current|the same|same|this very"),
        "ago": each_of("ago"),
        "early": each_of(
            "early|the beginning of|beginning of|the start of|start of|early in|the early"
        ),
        "middle": each_of("mid|middle of|the middle of|mid of"),
        "late": each_of("late|end of|the end of|late in"),
        "rest": each_of(
            "the rest of|rest of|the rest|rest|the remainder of|remainder of|later|later in"
        ),
        "earlier": each_of("earlier|earlier in"),
        "from": each_of("from"),
        "to": each_of("to|through|thru|til"),
        "until": each_of("until|till|up to|up until"),
        "between": each_of("between"),
        "and": each_of("and|&"),
        "since": each_of("since|starting from|ever since"),
        "before": each_of("before|prior to"),
        "after": each_of("after"),
        "onward": each_of("onward|onwards|forward"),
        "so_far": {**each_of("so far|to date|so far in"), **each_of("until now|up to now")},
        "starting": each_of("starting|beginning|starting on|beginning on|commencing"),
        "within": each_of("within|within the"),
        "the": each_of("the|my|our", "the"),
        "of": each_of("of"),
        "in": each_of("in|during|over|all of|whole of|throughout|over the course of"),
        "on": each_of("on"),
        "bar": _BARS,
        "clear": _CLEAR,
        "record": _RECORDS,
        "word": each_of(
            "up to date|out of date|so far so good|the other day|quarter past|quarter to"
            "|half a year|half a month|half a week"
        ),
    },
    weak=frozenset(
        each_of(
            "may|march|april|june|jan|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|now|mon|tue"
            "|tues|wed|thu|thur|thurs|fri|sat|sun|weekends|same|half|the same|right now"
        )
    ),
)
