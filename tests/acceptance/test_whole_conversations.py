"""Whole conversations as strangers typed them, from the first words to what was filed.

They are not part of the project: what is said when stands in a file beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.db import Database, utc_now
from app.skills.service_requests.models import RequestType, ServiceRequest
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.state import OpenRequest
from app.text.normalize import fold
from tests.acceptance.asking import Reply, assert_share
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member

FILE = Path(__file__).parents[3] / "shared/data/conversations/conversations.jsonl"
MOST_TURNS = 16
RIGHT = 1.0
# How a request stands, as those who wrote the conversations call it.
STATES = {"open": {"new", "in_progress"}, "closed|resolved": {"closed", "resolved"}}
CONVERSATIONS = (
    [json.loads(line) for line in FILE.read_text("utf-8").splitlines()] if FILE.is_file() else []
)


class Caller:
    """Somebody with answers to what may be asked, who says other things at certain points."""

    def __init__(self, told: dict[str, Any], talk: Talk) -> None:
        self.told, self.talk = told, talk
        self.events = {event["at"]: event["say"] for event in told["events"]}
        self.transcript: list[str] = []

    def hold(self) -> list[str]:
        """Talk until it is filed or called off; what was said by both."""
        said, step = str(self.told["opening"]), None
        for _ in range(MOST_TURNS):
            reply = self.talk.send(said, step)
            self.transcript += [f"> {said or step}", f"< {reply.text[:200]}"]
            step = self._choice(reply)
            if not self.talk.state.is_open and not step and len(self.transcript) > 2:
                break
            said = "" if step else self._answer(reply)
        return self.transcript

    def _choice(self, reply: Reply) -> dict[str, Any] | None:
        """A tap on the type that is offered first."""
        offered = [part for part in reply.body["parts"] if part["type"] == "type_selector"]
        chosen = [each["type_id"] for part in offered for each in part["suggestions"]]
        return {"type": "type_selection", "type_id": chosen[0]} if chosen else None

    def _answer(self, reply: Reply) -> str:
        kind = next_step(self.talk.state).kind
        if kind == "nothing":
            return str(self.told["rescue"])
        if kind == "submit" and not any(part["type"] == "proposal" for part in reply.body["parts"]):
            # What is optional is offered first.
            return "no"
        points = {"resolution": "solution", "submit": "summary"}
        point = "turn2" if "turn2" in self.events else points.get(kind, kind)
        if point in self.events:
            return str(self.events.pop(point))
        last = fold(reply.text.rstrip().rpartition("\n")[2])
        fitting = (say for asked, say in self.told["answers"] if re.search(fold(asked), last))
        said = str(next(fitting, self.told["default"]))
        # Who has said the same to no avail reads what there is to choose from.
        is_stuck = self.transcript[-4:-3] == [f"> {said}"]
        return self._first_choice() or said if is_stuck else said

    def _first_choice(self) -> str:
        state = self.talk.state
        field = state.form.by_name(state.awaited) if isinstance(state, OpenRequest) else None
        options = getattr(field.field, "options", ()) if field else ()
        return options[0].label.text(self.told["lang"]) if options else ""


@pytest.mark.skipif(not CONVERSATIONS, reason="../shared/data/conversations is absent")
def test_whole_conversations_end_as_their_writer_meant(
    demo: Flask, owner: Database, person: Callable[[str], Member]
) -> None:
    rows = []
    for told in CONVERSATIONS:
        talk = Talk(demo, person(told["lang"]), told["lang"])
        transcript = Caller(told, talk).hold()
        wrong = wrongly_ended(owner, talk, told["expect"])
        lines = "\n    ".join([f"{told['id']}: {wrong}", *transcript])
        rows.append((lines, not wrong))
    assert_share(rows, RIGHT, "ended as meant")


def wrongly_ended(owner: Database, talk: Talk, wanted: dict[str, Any]) -> list[str]:
    """What is wrong with what was filed."""
    with owner.transaction() as session:
        filed = session.execute(
            select(ServiceRequest, RequestType.slug)
            .join(RequestType, RequestType.id == ServiceRequest.type_id)
            .where(ServiceRequest.thread_id == talk.thread_id)
        ).all()
        slugs = [slug for _, slug in filed]
        if slugs != [each for each in [wanted["filed"]] if each]:
            return [f"filed {slugs}"]
        return [problem for request, _slug in filed for problem in _problems(request, wanted)]


def _problems(request: ServiceRequest, wanted: dict[str, Any]) -> Iterator[str]:
    names = {each["field_id"]: each["name"] for each in request.form["fields"]}
    held = {names[field_id]: value for field_id, value in request.values.items()}
    for name, value in wanted.get("values", {}).items():
        if not _is_as_meant(held.get(name), value):
            yield f"{name} is {held.get(name)!r}, not {value!r}"
    statuses = STATES.get(wanted.get("state", ""))
    if statuses and request.status not in statuses:
        yield f"it is {request.status}"


def _is_as_meant(kept: Any, wanted: Any) -> bool:
    if isinstance(wanted, str) and wanted.startswith("@"):
        day = (utc_now() + timedelta(days=int(wanted[1:]))).date()
        # It may be yesterday still where the house is.
        return kept in {str(day), str(day - timedelta(days=1))}
    if isinstance(wanted, str) and wanted.startswith("~"):
        return fold(wanted[1:]) in fold(str(kept))
    return str(kept) == str(wanted)
