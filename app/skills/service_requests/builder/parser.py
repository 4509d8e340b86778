"""From what stands on a type's page to what it stores, or what is wrong where. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.db import new_id, read_id
from app.fields.definitions import MOST_FIELDS
from app.fields.editor.parser import BuiltFields, Problems, build_fields, too_long
from app.fields.values import Problem, clean
from app.skills.service_requests.builder.page_state import STEPS, Asked, TypeWork
from app.skills.service_requests.models import PRIORITIES
from app.skills.service_requests.services.definitions import RequestField, dump_request_fields
from app.skills.service_requests.services.write_rules import LONGEST_NAME
from app.web.icons import SHAPES

LONGEST_DESCRIPTION, LONGEST_QUESTION = 300, 300
LONGEST_WORD, MOST_WORDS = 60, 100
MOST_SLA_HOURS = 365 * 24


@dataclass(frozen=True)
class BuiltType:
    """What a page can be stored as; `problems` are by row (those of the type under ""), then by
    what they are about.
    """

    content: Mapping[str, Any]
    problems: Mapping[str, Problems] = field(default_factory=dict)


def build(work: TypeWork, ids: Mapping[str, UUID]) -> BuiltType:
    """Read the work.

    `ids` are those of the fields that are stored already, by name: they stay.
    """
    reader = _TypeReader(work)
    content = reader.texts()
    if not work.is_submittable:
        return BuiltType(content, {"": reader.problems} if reader.problems else {})
    built = build_fields(work.kept)
    if len(work.kept) > MOST_FIELDS:
        reader.problems["form"] = Problem("A form has at most %(limit)s fields.", limit=MOST_FIELDS)
    content |= reader.of_types() | {
        "questions": reader.questions(built),
        "fields": _fields(work, built, ids),
    }
    problems = {"": reader.problems, **built.problems}
    return BuiltType(content, {key: each for key, each in problems.items() if each})


def _fields(work: TypeWork, built: BuiltFields, ids: Mapping[str, UUID]) -> list[dict[str, Any]]:
    steps = dict(STEPS)
    found = []
    for row in work.kept:
        if row.key in built.fields:
            step = row.text("step")
            facts: dict[str, Any] = {
                "field_id": ids.get(row.name) or new_id(),
                "step": step if step in steps else STEPS[0][0],
                "field": built.fields[row.key],
            }
            found.append(RequestField(**facts))
    return dump_request_fields(found)


class _TypeReader:
    """Reads the texts and questions of a type; what is wrong gathers in `problems`."""

    def __init__(self, work: TypeWork) -> None:
        self.work = work
        self.problems: Problems = {}

    def texts(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            **self._pair("name", LONGEST_NAME),
            **self._pair("description", LONGEST_DESCRIPTION),
            "icon": self.work.texts["icon"],
            "parent_id": self._id("parent_id"),
        }
        if not content["name_en"] and not content["name_es"]:
            self.problems["name_en"] = Problem("Give it a name in at least one language.")
        if content["icon"] not in SHAPES:
            self.problems["icon"] = Problem("Choose from the list.")
        return content

    def of_types(self) -> dict[str, Any]:
        priority = self.work.texts["priority"]
        if priority not in PRIORITIES:
            self.problems["priority"] = Problem("Choose from the list.")
        return {
            "priority": priority,
            "team_id": self._id("team_id"),
            "sla_hours": self._hours(),
            "is_guided": self.work.texts["is_guided"] == "True",
            "words": {code: self._words(f"words_{code}") for code in ("en", "es")},
        }

    def _pair(self, name: str, longest: int) -> dict[str, str]:
        texts = {
            f"{name}_{code}": clean(self.work.texts[f"{name}_{code}"]) for code in ("en", "es")
        }
        for key, text in texts.items():
            if len(text) > longest:
                self.problems[key] = too_long(len(text), longest)
        return texts

    def _id(self, name: str) -> str | None:
        text = self.work.texts[name].strip()
        if text and read_id(text) is None:
            self.problems[name] = Problem("Choose from the list.")
        return text or None

    def _hours(self) -> int:
        text = self.work.texts["sla_hours"].strip()
        hours = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
        if not 1 <= hours <= MOST_SLA_HOURS:
            self.problems["sla_hours"] = Problem(
                "Enter a whole number from %(least)s to %(most)s.", least=1, most=MOST_SLA_HOURS
            )
        return hours

    def _words(self, name: str) -> list[str]:
        """What stands one on each line, each once."""
        lines = [clean(each) for each in self.work.texts[name].splitlines()]
        found = list(dict.fromkeys(filter(None, lines)))
        if len(found) > MOST_WORDS or max(map(len, found), default=0) > LONGEST_WORD:
            self.problems[name] = Problem(
                "Use at most %(limit)s lines of at most %(letters)s characters each.",
                limit=MOST_WORDS,
                letters=LONGEST_WORD,
            )
        return found

    def questions(self, built: BuiltFields) -> list[dict[str, Any]]:
        return [
            self._question(number, each, built) for number, each in enumerate(self.work.questions)
        ]

    def _question(self, number: int, asked: Asked, built: BuiltFields) -> dict[str, Any]:
        length = max(len(asked.en), len(asked.es))
        if length > LONGEST_QUESTION:
            self.problems[f"question-{number}"] = too_long(length, LONGEST_QUESTION)
        row = next((row for row in self.work.kept if row.key == asked.unless), None)
        if asked.unless and row is None:
            self.problems[f"question-{number}"] = Problem(
                "The field that made this question unnecessary is no longer there."
            )
        ask = {code: text for code, text in (("en", asked.en), ("es", asked.es)) if text}
        field = built.fields.get(row.key) if row else None
        return {"ask": ask, "unless": field.name} if field else {"ask": ask}
