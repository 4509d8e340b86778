"""What the templates of a request are given: what was asked for, and what has happened since."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from flask_babel import gettext as _
from markupsafe import Markup

from app.assistant.turns.citations import without_citations
from app.db import read_id, utc_now
from app.errors import N_
from app.fields.definitions import FILE_TYPES
from app.fields.display import display
from app.fields.validation import shown_fields
from app.files.presenters import size_in_words
from app.skills.service_requests.labels import status_words
from app.skills.service_requests.models import RequestUpdate, ServiceRequest
from app.skills.service_requests.services.deadline import Standing, ended_at, span, standing
from app.skills.service_requests.services.definitions import TITLE
from app.skills.service_requests.services.lifecycle import change_in_words
from app.skills.service_requests.services.type_snapshot import read_form
from app.text.markdown import render_model_text

STEP_WORDS = {
    "main": N_("What it is about"),
    "details": N_("Details"),
    "where": N_("Where"),
    "contact": N_("Contact"),
    "files": N_("Files"),
}
ICONS = {
    "answer": "chat",
    "resolution": "info",
    "reply": "chat",
    "note": "lock",
    "status": "check",
    "assignment": "person",
    "priority": "alert",
}


@dataclass(frozen=True)
class FileLine:
    """A file with its size in words; one that could not be attached has only its name."""

    id: str
    name: str
    size: str
    is_there: bool


@dataclass(frozen=True)
class Line:
    """A field with what was given; `words` are those that it was understood from."""

    label: str
    text: str = ""
    words: str = ""
    files: tuple[FileLine, ...] = ()
    heading: str = ""


@dataclass(frozen=True)
class Event:
    """One thing that has happened to a request: who, when, and what in a line or in words.

    `anchor` is its place on the page, where a notice leads to.
    """

    kind: str
    icon: str
    at: datetime
    who: str
    line: str = ""
    body: Markup | str = ""
    is_internal: bool = False
    is_theirs: bool = False
    anchor: str = ""


@dataclass(frozen=True)
class Stage:
    """A stage of the way from sent to closed; `at` is None for one that is not reached."""

    words: str
    at: datetime | None


def draw_lines(request: ServiceRequest, language: str, kept: Collection[UUID]) -> list[Line]:
    """What was submitted, in the reader's language; fields that were hidden or left are not.

    `kept` are the files that the request has.
    """
    fields = read_form(request).fields
    values = {
        each.field.name: request.values[str(each.field_id)]
        for each in fields
        if str(each.field_id) in request.values
    }
    shown = {field.name for field in shown_fields([each.field for each in fields], values)}
    lines, step = [], "main"
    for each in fields:
        field = each.field
        # What it is about is the heading of the page.
        if field.name not in shown or field.name not in values or field.name == TITLE:
            continue
        heading = _(STEP_WORDS[each.step]) if each.step != step else ""
        step = each.step
        value = values[field.name]
        origin: Mapping[str, Any] = request.origins.get(str(each.field_id)) or {}
        is_files = field.type in FILE_TYPES
        lines.append(
            Line(
                field.label.text(language),
                "" if is_files else display(field, value, language),
                str(origin.get("words") or ""),
                _files(value, kept) if is_files else (),
                heading,
            )
        )
    return lines


def _files(value: Sequence[Mapping[str, Any]], kept: Collection[UUID]) -> tuple[FileLine, ...]:
    return tuple(
        FileLine(
            str(each["id"]),
            str(each["name"]),
            size_in_words(int(each.get("size") or 0)),
            read_id(str(each["id"])) in kept,
        )
        for each in value
    )


def draw_events(request: ServiceRequest, updates: Sequence[RequestUpdate]) -> list[Event]:
    """The story of a request, oldest first; it begins with its submission."""
    sent = Event("sent", "send", request.submitted_at, request.requester, _("Sent in"))
    return [sent, *(_draw_event(request, each) for each in updates)]


def _draw_event(request: ServiceRequest, update: RequestUpdate) -> Event:
    line = {
        "answer": update.question,
        "resolution": _("The assistant proposed a solution, and it helped")
        if update.after == "accepted"
        else _("The assistant proposed a solution"),
        "reply": _("Reply"),
        "note": _("Internal note"),
    }.get(update.kind, "")
    if update.kind in ("status", "priority", "assignment"):
        line = change_in_words(update.kind, update.after)
    if update.kind == "priority":
        line = _("Priority: %(level)s", level=line)
    is_proposed = update.kind == "resolution"
    by_requester = update.author_id is not None and update.author_id == request.user_id
    return Event(
        update.kind,
        ICONS[update.kind],
        update.created_at,
        "Comanda" if is_proposed else update.author or _("Former colleague"),
        line,
        render_model_text(without_citations(update.body)) if is_proposed else update.body,
        update.is_internal,
        update.kind == "answer" or (by_requester and not is_proposed),
        f"event-{update.id}",
    )


def draw_stages(request: ServiceRequest) -> list[Stage]:
    """How far it has come, for a line of dots."""
    stages = [
        Stage(_("Sent in"), request.submitted_at),
        Stage(_("Being looked at"), request.responded_at),
        Stage(status_words()["resolved"], request.resolved_at),
        Stage(status_words()["closed"], request.closed_at),
    ]
    # What was closed without being resolved, or looked at, went past that.
    return [
        each
        for place, each in enumerate(stages)
        if each.at is not None or not any(later.at for later in stages[place + 1 :])
    ]


def standing_of(request: ServiceRequest, now: datetime | None = None) -> Standing:
    """How a request stands to when it is due."""
    over = ended_at(request.status, request.resolved_at, request.closed_at)
    return standing(request.due_at, over, now or utc_now())


def standing_in_words(found: Standing) -> str:
    """ "3 h 20 min left", "2 d overdue", "done in time"."""
    length = span(found.seconds)
    if found.state in ("due", "soon"):
        return _("%(time)s left", time=length)
    if found.state == "overdue":
        return _("%(time)s overdue", time=length)
    return _("done on time") if found.state == "met" else _("done %(time)s late", time=length)


def assignee_name(request: ServiceRequest, names: Mapping[UUID, str]) -> str:
    """Who has it; nobody's name where nobody does."""
    if request.assignee_id is None:
        return ""
    return names.get(request.assignee_id) or _("Former colleague")
