"""A language model that calls any tools in any order, whatever anybody said.

It knows the ids that a real one would know: those in the results of its tools. A share of its
replies try what an attacker would have it try: all of a request at once, settled and filed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.acceptance.service_requests.following import solution_for
from tests.model_server import Call, RecordedCall, Say, Step

VALUES: Mapping[str, Any] = {
    "text": "by the bar",
    "textarea": "it has been like this since noon",
    "number": 3,
    "email": "sam@alamoprime.example",
    "checkbox": True,
    "date": "2026-11-20",
    "phone": "+12105550123",
    "address": {"line1": "1 Main St", "city": "Austin", "state": "TX", "postal": "78701",
                "country": "US"},
}  # fmt: skip
ASKS = (
    "Is it by the bar?",
    "Shall I go on?",
    "Does that sound right?",
    "¿Está junto a la barra?",
    "¿Sigo?",
    "Done.",
)
# What submits, settles or writes at once, in the order in which it would have to come.
CHAIN = ("get_service_request_form", "record_answers", "record_answers", "record_answers",
         "evaluate_ai_resolution", "record_answers", "submit_service_request")  # fmt: skip


@dataclass
class WildModel:
    """Answers from `dice`; `types` are the request types that it may name."""

    dice: random.Random
    types: Sequence[UUID]
    fields: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    streams: bool = True
    byte_by_byte: bool = False

    def is_for(self, call: RecordedCall) -> bool:
        return True

    def steps(self, call: RecordedCall) -> Sequence[Step]:
        if (solution := solution_for(call)) is not None:
            return [Say(solution, sizes=200)]
        for result in call.tool_results:
            self._learn(result)
        if not call.tools or call.round >= self.dice.choice((1, 2, 3, 4)):
            return [Say(self.dice.choice((*ASKS, *self.asked[-1:])), sizes=40)]
        if "get_service_request_form" in call.tools and self.dice.random() < 0.4:
            names = [name for name in CHAIN if self.dice.random() < 0.9]
        else:
            names = self.dice.choices(call.tools, k=self.dice.randint(1, 8))
        return [Call(name, self._arguments(name, call), sizes=200) for name in names]

    def _learn(self, result: Any) -> None:
        if not isinstance(result, dict):
            return
        for each in result.get("fields", ()):
            self.fields[each["field_id"]] = each
        if isinstance(result.get("ask"), str):
            self.asked.append(result["ask"])

    def _arguments(self, name: str, call: RecordedCall) -> Mapping[str, Any]:
        dice, said = self.dice, call.message[:200] or "yes"
        likely = self.types[0] if dice.random() < 0.8 else dice.choice(self.types)
        known: Mapping[str, Callable[[], Mapping[str, Any]]] = {
            "record_answers": lambda: self._record(said),
            "get_service_request_form": lambda: {"type_id": str(likely)},
            "request_field_input": lambda: {"field_id": dice.choice([*self.fields, str(likely)])},
            "suggest_service_request_type": lambda: {"user_query": said},
            "add_expense": lambda: {"item": "taxi", "amount": dice.choice((5, 12, 99.5))},
            "update_expense": lambda: {"which": "the last one", "amount": dice.choice((7, 8))},
            "delete_expense": lambda: {"which": "the last one"},
            "log_temperature": lambda: {"unit": "bar", "degrees": dice.randint(-5, 9)},
            "defrost_freezer": lambda: {"unit": "freezer", "degrees": -18},
        }
        if name in known:
            return known[name]()
        return {"query": said} if name.startswith("search_") else {}

    def _record(self, said: str) -> dict[str, Any]:
        """Values for all that is known, an answer to any question, and any word on the solution."""
        dice = self.dice
        made: dict[str, Any] = {}
        if dice.random() < 0.7:
            made["values"] = {
                field_id: value
                for field_id, each in self.fields.items()
                if (value := _value(each)) is not None
            }
        if dice.random() < 0.4:
            question = dice.choice((*ASKS[:2], *self.asked[-2:]))
            made["questions_answers"] = [{"question": question, "answer": said}]
        if dice.random() < 0.25:
            made["no_more_questions"] = True
        if dice.random() < 0.35:
            made["resolved"] = dice.random() < 0.8
        if dice.random() < 0.1:
            made["go_on"] = True
        return made


def _value(about: Mapping[str, Any]) -> Any:
    if about.get("options"):
        return next(iter(about["options"]))
    return VALUES.get(about["type"])
