"""How well the reference data is read: expressions of days and ranges with what they mean.

The data is not part of the project; without it these tests are skipped.

Where the last day is named, the file's end or the day after it counts. Of a range that ends with
a week, a month or a year, the file's end is where that begins, while "from March to May" has May
in it: its beginning or its end counts, as with days. What is right without this second rule is
printed too, and is what the bar over all ranges is held against.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest

from app.periods import Period, parse_period

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "periods"
OF_ALL_RANGES, OF_LEDGER_KINDS = 0.65, 0.97
NO_SUCH_DAY = date.min
YEARS = range(1900, 2101)

# The kinds that are left out of what a ledger needs, each told by the words of the expression.
LEFT_OUT = {
    "decades and centuries": re.compile(
        r"d[eé]cad|decenio|siglo|century|\d0'?s\b|seventies|twenty-tens|noughties"
        r"|^los (años )?(19\d0|\d0|mil)\b",
        re.IGNORECASE,
    ),
    # In a restaurant a number and no more is a table or a dish.
    "a mere number": re.compile(r"^(the |el )?\d{1,2}$", re.IGNORECASE),
    # It has four months; the file gives it three.
    "cuatrimestre": re.compile("cuatrimestre", re.IGNORECASE),
}


@dataclass(frozen=True)
class Case:
    """A line of the file, and what was read."""

    text: str
    expression: str
    is_range: bool
    today: date
    start: date
    end: date
    read: Period | None

    @property
    def is_of_a_ledger(self) -> bool:
        """It looks back, its year is one of ours, and its kind is not left out.

        It looks back that began before the day on which it is said, or is that day.
        """
        looks_back = self.start < self.today or (self.start == self.today and not self.is_range)
        is_ours = self.start == NO_SUCH_DAY or self.start.year in YEARS
        return looks_back and is_ours and not any(map(self._is, LEFT_OUT.values()))

    def _is(self, kind: re.Pattern[str]) -> bool:
        return bool(kind.search(self.expression))

    @property
    def is_right(self) -> bool:
        """To the letter of the file."""
        if self.read is None or self.start == NO_SUCH_DAY:
            return self.read is None and self.start == NO_SUCH_DAY
        ends = (self.end, self.end + timedelta(days=1))
        return self.read.start == self.start and (not self.is_range or self.read.end in ends)

    def __str__(self) -> str:
        return f"{self.today} {self.text!r}: {self.start} to {self.end}, read as {self.read}"


def cases(language: str, asked: str) -> list[Case]:
    """All lines of a language, with what is read of their sentence or of the expression alone."""
    file = DATA / f"{language}.jsonl"
    if not file.is_file():
        pytest.skip(f"the reference data is not at {file}")
    found = []
    for line in map(json.loads, file.read_text("utf-8").splitlines()):
        today = date.fromisoformat(line["reference"][:10])
        start, end = (date.fromisoformat(line[name]) for name in ("start", "end"))
        read = parse_period(line[asked], language, today)
        is_range = line["kind"] == "daterange"
        found.append(Case(line[asked], line["expression"], is_range, today, start, end, read))
    return found


def share(rights: Sequence[bool]) -> float:
    return sum(rights) / len(rights)


@pytest.mark.parametrize("asked", ["text", "expression"])
@pytest.mark.parametrize("language", ["en", "es"])
def test_the_reference_data_is_read(language: str, asked: str) -> None:
    every = cases(language, asked)
    ranges = [each.is_right for each in every if each.is_range]
    ledger = [each for each in every if each.is_of_a_ledger]
    right = share([each.is_right for each in ledger])
    print(
        f"\n{language}, {asked}: {share(ranges):.1%} of all {len(ranges)} ranges;"
        f" of the {len(ledger)} past-looking days and ranges {right:.1%}"
    )
    for each in ledger:
        if not each.is_right:
            print(f"  missed: {each}")
    assert share(ranges) >= OF_ALL_RANGES
    assert right >= OF_LEDGER_KINDS
