"""The period that a text names, in English or Spanish.

A text becomes signs, the rules make dates and periods of them, and the first one that is
certain is the answer. What may mean something else, or contradicts itself, is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from app.periods.date_phrases import DATE_RULES
from app.periods.grammar import apply_rules, resolved
from app.periods.nodes import Needs, Node
from app.periods.part_phrases import SELECTION_RULES
from app.periods.period import BEGINNING, END, YEARS, Partial, Period
from app.periods.ranges import RANGE_RULES
from app.periods.relative_phrases import BARE_UNIT_RULES, LATE_UNIT_RULES, UNIT_RULES
from app.periods.tokens import read_tokens
from app.periods.vocabulary import ENGLISH, SPANISH, Vocabulary

_RULES = (
    *DATE_RULES,
    *UNIT_RULES,
    *SELECTION_RULES,
    *LATE_UNIT_RULES,
    *RANGE_RULES,
    *BARE_UNIT_RULES,
)
_VOCABULARIES = {"en": ENGLISH, "es": SPANISH}
_MARKS = frozenset({"comma", "dot", "stop", "dash"})
# A noun does not follow where one of these does.
_ROOM = frozenset(
    "comma dot stop clear record deed on in from since before after and the this a today".split()
)
# What stands before an expression and belongs to it.
_BEFORE = frozenset({"in", "on", "of", "from", "the"})
# No sentence of a person's is longer, and a rule reads the whole of it.
_MOST = 2000


@dataclass(frozen=True)
class Found:
    """A period, and from which letter to which of the text it is named."""

    period: Period
    start: int
    end: int


def parse_period(text: str, language: str, today: date) -> Period | None:
    """The period that a text names; None where it names none, or not for certain.

    What has no year looks back, as a ledger does: "in March" is the latest that has begun.
    """
    found = find_period(text, language, today)
    return found.period if found else None


def find_period(text: str, language: str, today: date) -> Found | None:
    """The first period that a text names, and where its words are, "in" and "the" with them."""
    vocabulary = _VOCABULARIES.get(language)
    if vocabulary is None:
        return None
    try:
        nodes = apply_rules(read_tokens(text[:_MOST], vocabulary), _RULES, today, vocabulary)
        return _first(nodes, today, vocabulary)
    except (OverflowError, ValueError):
        # So many years ago that the calendar has none.
        return None


def _first(nodes: Sequence[Node], today: date, vocabulary: Vocabulary) -> Found | None:
    for place, node in enumerate(nodes):
        if node.sign in ("point", "period") and _is_certain(nodes, place, vocabulary):
            period = resolved(node, today)
            if period and _is_sane(period):
                return Found(period, _beginning(nodes, place), node.end)
    return None


def _is_sane(period: Period) -> bool:
    starts = period.start == BEGINNING or period.start.year in YEARS
    ends = period.end == END or period.end.year in YEARS
    return starts and ends and period.start < period.end


def _beginning(nodes: Sequence[Node], place: int) -> int:
    while place and nodes[place - 1].sign in _BEFORE:
        place -= 1
    return nodes[place].start


def _is_certain(nodes: Sequence[Node], place: int, vocabulary: Vocabulary) -> bool:
    """Whether around it stands what it needs."""
    needs = nodes[place].needs
    if needs is Needs.NOTHING or _is_whole(nodes, place):
        return True
    has_room = _has_room(nodes, place)
    has_lead = _has_lead(nodes, place, vocabulary)
    return {
        Needs.ROOM: has_room,
        Needs.LEAD: has_lead,
        Needs.EITHER: has_room or has_lead,
        Needs.BOTH: has_room and has_lead,
        Needs.DEED: has_room and _has_deed(nodes, place),
    }.get(needs, False)


def _is_whole(nodes: Sequence[Node], place: int) -> bool:
    others = [*nodes[:place], *nodes[place + 1 :]]
    return all(each.sign in _MARKS or each.sign in _BEFORE for each in others)


def _has_room(nodes: Sequence[Node], place: int) -> bool:
    following = nodes[place + 1].sign if place + 1 < len(nodes) else "stop"
    return following in _ROOM


def _has_deed(nodes: Sequence[Node], place: int) -> bool:
    """ "Gasté el 15", "ventas del 15", "gastos del 1 al 15"."""
    before = [node.sign for node in nodes[max(place - 2, 0) : place]]
    return before[-1:] in (["deed"], ["record"]) or before == ["record", "of"]


def _has_lead(nodes: Sequence[Node], place: int, vocabulary: Vocabulary) -> bool:
    """ "In" before a month, "on" before a day, "sales" before or after either."""
    before = [node.sign for node in nodes[max(place - 2, 0) : place]]
    following = nodes[place + 1] if place + 1 < len(nodes) else None
    is_of_record = following is not None and following.sign == "record" and following.value
    value = nodes[place].value
    leads = vocabulary.leads if isinstance(value, Partial) and value.is_day else {"in"}
    if is_of_record:
        return True
    return bool(before) and (before[-1] in leads or before[0] == "record")
