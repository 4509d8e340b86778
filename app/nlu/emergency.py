"""Whether a message reports what cannot wait: a fire, somebody hurt, a robbery."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.nlu.model import EMERGENCY, OTHER_INTENTS, read_intents
from app.text.normalize import fold
from app.text.yaml_file import read_yaml

EMERGENCIES = Path(__file__).with_name("emergencies.yaml")
# So likely must it be in words that nobody listed: "se cayó el internet" is none.
SURE = 0.58
# And so likely though it may only be an answer.
LEAST_ALONE = 0.2
# In listed words it is none where it is so unlikely, and so likely for one of the tools: no
# emergency that people wrote down was.
UNLIKELY, SURE_OF_TOOL = 0.05, 0.75


@dataclass(frozen=True)
class Emergency:
    """What cannot wait, what to look up for it, and how it is reported afterwards.

    `report` are words that the paper for it has; empty where nobody need be hurt. What `is_over`
    is only told of, to be written down or put right: it can wait.
    """

    kind: str
    asked: str
    report: str = ""
    is_over: bool = False


@dataclass(frozen=True)
class _Kind:
    said: re.Pattern[str]
    asked: Mapping[str, str]
    is_injury: bool


@cache
def _load() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = read_yaml(EMERGENCIES)
    return loaded


@cache
def _kinds() -> Mapping[str, _Kind]:
    return {
        kind: _Kind(re.compile("|".join(entry["said"])), entry["asked"], "is_injury" in entry)
        for kind, entry in _load()["emergencies"].items()
    }


def read_emergency(message: str, language: str) -> Emergency | None:
    """The emergency that a message reports, if it does.

    Whoever stands before a fire writes three words, and one of them names a dish.
    """
    shares, folded = read_intents(message), fold(message)
    name = next((name for name, kind in _kinds().items() if kind.said.search(folded)), None)
    is_over = name is not None and _is_something_else(shares)
    # "And the fryer?" goes on with something, and reports nothing.
    is_report = read_intents(message, is_answer=True)[EMERGENCY] > LEAST_ALONE
    if name is None and is_report and shares[EMERGENCY] > SURE:
        name = str(_load()["otherwise"])
    if name is None:
        return None
    kind = _kinds()[name]
    asked = kind.asked.get(language, kind.asked["en"])
    report = f"{_load()['injury'][language]} {asked}" if kind.is_injury else ""
    return Emergency(name, asked, report, is_over)


@cache
def _listed(name: str) -> re.Pattern[str]:
    return re.compile("|".join(_load()[name]))


def speaks_of_dying(message: str) -> bool:
    """Whether a message has words that nobody may pass over."""
    return bool(_listed("crisis").search(fold(message)))


def exaggerates(message: str) -> bool:
    """Whether a message speaks of dying as people do at work, who mean something else."""
    return bool(_listed("exaggeration").search(fold(message)))


def reports_accident(message: str) -> bool:
    """Whether a message reports an emergency in words that are listed."""
    folded = fold(message)
    return any(kind.said.search(folded) for kind in _kinds().values())


def _is_something_else(shares: Mapping[str, float]) -> bool:
    """What is over, and is to be written down, or a thing that sounds alike: "cortada"."""
    tools = (share for name, share in shares.items() if name not in OTHER_INTENTS)
    return shares[EMERGENCY] < UNLIKELY and max(tools) >= SURE_OF_TOOL


def call_for_help(language: str) -> str:
    """What is asked for where somebody is hurt, in the words of a tool's examples."""
    return str(_load()["call_for_help"][language])
