"""What the templates of a type's page are given, and a type in words, to compare versions by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from flask import url_for
from flask_babel import gettext as _
from flask_login import current_user

from app.db import ScopedSession
from app.fields.editor.descriptions import both, changes_between, fields_in_words
from app.fields.editor.presenters import rows_context, told
from app.fields.editor.types import TYPES
from app.skills.service_requests.builder.page_state import KIT, TypeWork, rows_of
from app.skills.service_requests.builder.parser import BuiltType, build
from app.skills.service_requests.models import PRIORITIES, RequestType
from app.skills.service_requests.services.definitions import (
    MOST_QUESTIONS,
    QUESTIONS_ASKED,
    read_questions,
    read_request_fields,
)
from app.skills.service_requests.services.teams import list_teams
from app.skills.service_requests.services.type_catalog import load_types
from app.skills.service_requests.services.type_tree import places_for
from app.skills.service_requests.services.types import is_stored, offered_below, sign_types
from app.text.bilingual import reader_language
from app.text.diff import Change
from app.web.icons import SHAPES

# Those icons that stand for something to be asked for; others are for buttons.
TYPE_ICONS = tuple(
    name
    for name in (
        "ticket", "wrench", "thermometer", "dishes", "builder", "globe", "phone", "person",
        "people", "coins", "receipt", "shirt", "truck", "trash", "alert", "clipboard",
        "checklist", "calendar", "clock", "first-aid", "form", "info",
    )
    if name in SHAPES
)  # fmt: skip
Names = Mapping[str, str]


def priorities() -> dict[str, str]:
    """What each priority is called, the least first."""
    labels = (_("Low"), _("Normal"), _("High"), _("Urgent"))
    return dict(zip(PRIORITIES, labels, strict=True))


def built(type_: RequestType, work: TypeWork) -> BuiltType:
    """The work as this type would store it."""
    ids = {each.field.name: each.field_id for each in read_request_fields(type_.fields)}
    return build(work, ids)


def type_context(
    session: ScopedSession, type_: RequestType, work: TypeWork, *, was_saved: bool
) -> dict[str, Any]:
    """What the page and its parts need; `was_saved` where saving was tried, so that all is told."""
    language, read = reader_language(), built(type_, work)
    types = load_types(session)
    below = offered_below(types, type_)
    context = rows_context(work, read.problems, was_saved=was_saved, kit=KIT)
    of_type = told(read.problems.get("", {})) if was_saved else {}
    return {
        **context,
        "type": type_,
        "signature": sign_types(below),
        "below": [each.name(language) for each in below],
        "work": work,
        "errors": of_type,
        "is_unsaved": not is_stored(type_, read.content),
        "save_address": url_for("request_types.save", type_id=type_.id),
        "icons": list(dict.fromkeys((*TYPE_ICONS, type_.icon))),
        "parents": parent_choices(types, type_),
        "teams": [(str(each.id), each.name(language)) for each in list_teams(session)],
        "priorities": list(priorities().items()),
        "rows_by_key": [(row.key, row.label(language) or str(TYPES[row.type].label))
                        for row in work.kept],
        "most_questions": MOST_QUESTIONS,
        "asked": QUESTIONS_ASKED,
        "person": current_user.draft_owner,
    }  # fmt: skip


def parent_choices(
    types: Sequence[RequestType], type_: RequestType | None
) -> list[tuple[str, str]]:
    """The categories that a type can be put in, or a new one, indented as they stand."""
    return [
        (str(each.type.id), "\u2003" * each.depth + each.type.name(reader_language()))
        for each in places_for(types, type_)
    ]


def type_in_words(content: Mapping[str, Any], names: Names) -> str:
    """What a version holds, in the page's language; `names` are those of teams and categories."""
    lines = [
        _("Name (English): %(text)s", text=content["name_en"]),
        _("Name (Spanish): %(text)s", text=content["name_es"]),
        _("Description (English): %(text)s", text=content["description_en"]),
        _("Description (Spanish): %(text)s", text=content["description_es"]),
        _("Icon: %(name)s", name=content["icon"]),
        _("In: %(name)s", name=_called(content.get("parent_id"), names)),
    ]
    if not content["fields"]:
        return "\n".join(lines)
    fields = fields_in_words(rows_of(content["fields"]), KIT)
    return "\n\n".join(["\n".join((*lines, *_of_types(content, names))), *fields])


def _of_types(content: Mapping[str, Any], names: Names) -> Iterator[str]:
    yield _("Team: %(name)s", name=_called(content.get("team_id"), names))
    yield _("Usual priority: %(name)s", name=priorities().get(content["priority"], ""))
    if "sla_hours" in content:
        yield _("Due within (hours): %(hours)s", hours=content["sla_hours"])
    if content.get("is_guided"):
        yield _("Asked for step by step")
    for language, said in content["words"].items():
        words = ", ".join(said)
        if language == "en":
            yield _("What people call it (English): %(words)s", words=words)
        else:
            yield _("What people call it (Spanish): %(words)s", words=words)
    for each in read_questions(content["questions"]):
        question = both(each.ask.en, each.ask.es)
        if each.unless:
            yield _("Question (skipped if %(field)s is known): %(text)s",
                    field=each.unless, text=question)  # fmt: skip
        else:
            yield _("Question: %(text)s", text=question)


def _called(id_: str | None, names: Names) -> str:
    return names.get(id_, "—") if id_ else "—"


def what_changed(before: Mapping[str, Any], after: Mapping[str, Any], names: Names) -> list[Change]:
    """How one version became another one, with the lines around what differs."""
    return changes_between(
        partial(type_in_words, before, names), partial(type_in_words, after, names)
    )
