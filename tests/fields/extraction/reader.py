"""What a sentence fills in, beside what it should."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from app.demo import HERE as DEMO
from app.fields.definitions import FormField
from app.fields.extraction import Found, extract
from app.fields.values import FieldContext, Person, Problem, read_value
from app.skills.forms.services.starters import read_starters
from app.text.normalize import words

SENTENCES = yaml.safe_load((Path(__file__).parent / "sentences.yaml").read_text("utf-8"))
# Friday, 17:30 in Chicago.
NOW = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)


@cache
def contacts() -> tuple[Person, ...]:
    people = yaml.safe_load((DEMO / "alamo_prime" / "contacts.yaml").read_text("utf-8"))
    return tuple(Person(f"id-{n}", each["name"]) for n, each in enumerate(people))


def find_people(wanted: str) -> Sequence[Person]:
    """As the database finds them: by every word, the last one perhaps only begun."""
    by_id = [each for each in contacts() if each.id == wanted]
    spoken = words(wanted)
    found = [
        each
        for each in contacts()
        if spoken
        and all(word in words(each.name) for word in spoken[:-1])
        and any(word.startswith(spoken[-1]) for word in words(each.name))
    ]
    whole = [each for each in found if set(spoken) <= set(words(each.name))]
    return by_id or whole or found


def field_context(language: str = "en") -> FieldContext:
    zone = ZoneInfo("America/Chicago")
    return FieldContext(NOW, zone, language=language, find_people=find_people)


def read(
    fields: Sequence[FormField], text: str, known: dict[str, Any] | None = None
) -> dict[str, Found]:
    return {each.name: each for each in extract(fields, text, field_context(), known)}


def values(
    fields: Sequence[FormField], text: str, known: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The values that a sentence fills in, a person as the name that is shown."""
    by_name = {each.name: each for each in fields}
    found = read(fields, text, known)
    return {name: _value(by_name[name], each.raw) for name, each in found.items()}


def _value(field_: FormField, raw: Any) -> Any:
    try:
        value = read_value(field_, raw, field_context())
    except Problem:
        value = raw
    return value["name"] if field_.type == "person" else value


@dataclass
class Score:
    """How many values were expected, how many came out right, and what was wrong."""

    expected: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)


def score(cases: Sequence[dict[str, Any]]) -> Score:
    total = Score()
    for case in cases:
        fields = read_starters()[case["form"]].fields
        got = values(fields, case["text"], case.get("known"))
        for name, wanted in case["found"].items():
            choices = wanted["any"] if isinstance(wanted, dict) and "any" in wanted else [wanted]
            choices = [case["text"] if each == "SAID" else each for each in choices]
            total.expected += 1
            if got.get(name) in choices:
                total.right += 1
            else:
                total.wrong.append(f"{case['text']} | {name}: {got.get(name)!r}, not {choices!r}")
        extra = got.keys() - case["found"].keys()
        total.invented += [f"{case['text']} | {name}: {got[name]!r}" for name in sorted(extra)]
    return total
