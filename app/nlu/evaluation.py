"""How well messages are understood: cases with what should become of them, and the score.

Pure: whoever runs the cases hands in what became of each.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.nlu.normalization import normalize
from app.text.stop_words import STOP_WORDS

# What becomes of a message beside a tool: an answer in words, or a question back.
NO_TOOL, QUESTION = "none", "ask"
# How the classes of messages begin that answer what was asked or done, before the act.
CONTROL = "control_"


class Case(BaseModel):
    """A message and what should become of it.

    `tools` are those of which one should be called first, shell patterns among them; "none" and
    "ask" stand for an answer without a tool and a question back. `slots` are arguments that the
    call should have. `author` is whoever wrote it: training and measuring are split by that.
    `asked` is what the message answers, where it is not the first of a conversation; its tool is
    the act then, after `CONTROL`, or "none".
    """

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1)
    lang: Literal["en", "es"]
    kind: str = Field(alias="class")
    tools: tuple[str, ...] = Field(min_length=1)
    slots: dict[str, Any] = Field(default_factory=dict)
    user: str = ""
    author: str = ""
    asked: str = ""


class UnreadableCase(ValueError):
    """A line of a file of cases is not one; the text says which and why."""


@dataclass(frozen=True)
class Understood:
    """What became of a message: the calls that were made for it, by tool, in their order."""

    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    answer: str = ""
    milliseconds: int = 0

    @property
    def outcome(self) -> str:
        """The first tool, "ask" where the answer ends in a question, else "none"."""
        if self.calls:
            return self.calls[0][0]
        return QUESTION if self.answer.rstrip().endswith("?") else NO_TOOL


@dataclass(frozen=True)
class Judged:
    """A case, what became of it, and whether that is right; slots by right, missing, wrong."""

    case: Case
    outcome: str
    is_right: bool
    slots: Mapping[str, int]
    milliseconds: int


@dataclass
class Score:
    """How many cases there were, how many were right, and what the others were taken for."""

    cases: int = 0
    right: int = 0
    slots: Counter[str] = field(default_factory=Counter)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    milliseconds: list[int] = field(default_factory=list)

    def add(self, judged: Judged) -> None:
        self.cases += 1
        self.right += judged.is_right
        self.slots.update(judged.slots)
        self.milliseconds.append(judged.milliseconds)
        if not judged.is_right:
            self.confusions[judged.case.kind, judged.outcome] += 1

    @property
    def share(self) -> float:
        """The share of right ones, 0 to 1; 0 of no cases."""
        return self.right / self.cases if self.cases else 0.0


def read_cases(path: Path) -> list[Case]:
    """The cases of a file of JSON lines.

    Raises:
        UnreadableCase: a line is no case.
    """
    return list(_cases(path))


def _cases(path: Path) -> Iterator[Case]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield Case.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UnreadableCase(f"line {number}: {where}: {first['msg']}") from None


def judge(case: Case, understood: Understood) -> Judged:
    """Whether what became of a message is one of the things that should."""
    outcome = understood.outcome
    is_right = any(fnmatch(outcome, tool) for tool in case.tools)
    arguments = understood.calls[0][1] if understood.calls and is_right else {}
    slots = _slots(case, arguments)
    if outcome == QUESTION:
        slots = _asked_of(case, slots, understood.answer)
    return Judged(case, outcome, is_right, slots, understood.milliseconds)


# Several things of one message: the first as the arguments themselves, the others in here.
ROWS, MORE = "rows", "more"
_QUOTED = re.compile("[“«]([^”»]+)[”»]")
_FIGURES = re.compile(r"\d+(?:\.\d+)?")


def _slots(case: Case, arguments: Mapping[str, Any]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name, wanted in case.slots.items():
        if name != ROWS:
            found[_compare(arguments.get(name), wanted)] += 1
            continue
        told = [arguments, *arguments.get(MORE, ())] if arguments else []
        nothing: Mapping[str, Any] = {}
        for expected, row in zip_longest(wanted, told, fillvalue=nothing):
            # A row that nobody told is as wrong as a sum that nobody said.
            found["wrong"] += not expected
            found.update(_compare(row.get(each), expected[each]) for each in expected)
    return dict(found)


def _asked_of(case: Case, slots: Mapping[str, int], answer: str) -> dict[str, int]:
    """With what a question back names: of "Was “blade” $3.20 or $320?" the item and the sum."""
    named = _QUOTED.findall(answer)
    figures = [float(each) for each in _FIGURES.findall(_QUOTED.sub("", answer))]
    wanted = [value for row in case.slots.get(ROWS, ()) for value in row.values()]
    texts = [value for value in wanted if isinstance(value, str)]
    read = sum(any(_same(name, text) for name in named) for text in texts)
    read += sum(value in figures for value in wanted if not isinstance(value, str))
    return {**slots, "missing": slots.get("missing", 0) - read, "right": read}


def _compare(given: Any, wanted: Any) -> str:
    if given in (None, ""):
        return "missing"
    return "right" if _same(given, wanted) else "wrong"


def _same(given: Any, wanted: Any) -> bool:
    """Whether two values are the same: numbers by their value, texts if one has the other's words.

    "Ice from the gas station" names the ice, and "gas a la van" is "gas de la van"; spellings
    are brought into one form.
    """
    if isinstance(given, str) and isinstance(wanted, str) and not wanted.isdecimal():
        words, other = _telling_words(given), _telling_words(wanted)
        return words <= other or other <= words
    try:
        return float(given) == float(wanted)
    except (TypeError, ValueError):
        return (
            json.dumps(given, sort_keys=True).lower() == json.dumps(wanted, sort_keys=True).lower()
        )


def _telling_words(text: str) -> set[str]:
    """Without small words, unless it has no others."""
    words = set(normalize(text).split())
    return words - STOP_WORDS or words


def score_by(
    judged: Iterable[Judged], *, by: Literal["class", "lang", "author"]
) -> dict[str, Score]:
    """The score of all, and of each class, language or author, by its name."""
    scores: dict[str, Score] = {"all": Score()}
    for each in judged:
        name = each.case.kind if by == "class" else getattr(each.case, by)
        scores.setdefault(name, Score()).add(each)
        scores["all"].add(each)
    return scores
