"""What the templates of a type's page are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import url_for
from flask_babel import gettext as _
from flask_login import current_user

from app.db import ScopedSession
from app.fields.editor.presenters import rows_context, told
from app.fields.editor.types import TYPES
from app.skills.service_requests.builder.page_state import KIT, TypeWork
from app.skills.service_requests.builder.parser import BuiltType, build
from app.skills.service_requests.models import PRIORITIES, RequestType
from app.skills.service_requests.services.definitions import (
    MOST_QUESTIONS,
    QUESTIONS_ASKED,
    read_request_fields,
)
from app.skills.service_requests.services.teams import list_teams
from app.skills.service_requests.services.type_catalog import load_types
from app.skills.service_requests.services.type_tree import places_for
from app.skills.service_requests.services.types import is_stored
from app.text.bilingual import reader_language
from app.web.icons import SHAPES

# Those of the house's icons that stand for something to be asked for; others are for buttons.
TYPE_ICONS = tuple(
    name
    for name in (
        "ticket", "wrench", "thermometer", "dishes", "builder", "globe", "phone", "person",
        "people", "coins", "receipt", "shirt", "truck", "trash", "alert", "clipboard",
        "checklist", "calendar", "clock", "first-aid", "form", "info",
    )
    if name in SHAPES
)  # fmt: skip


def priorities() -> dict[str, str]:
    """What each priority is called, the least first."""
    labels = (_("Low"), _("Normal"), _("High"), _("Urgent"))
    return dict(zip(PRIORITIES, labels, strict=True))


def built(type_: RequestType, work: TypeWork) -> BuiltType:
    """The work as this type would store it."""
    ids = {each.field.name: each.field_id for each in read_request_fields(type_.fields)}
    return build(work, ids, reader_language())


def type_context(
    session: ScopedSession, type_: RequestType, work: TypeWork, *, was_saved: bool
) -> dict[str, Any]:
    """What the page and its parts need; `was_saved` where saving was tried, so that all is told."""
    language, read = reader_language(), built(type_, work)
    context = rows_context(work, read.problems, was_saved=was_saved, kit=KIT)
    of_type = told(read.problems.get("", {})) if was_saved else {}
    return {
        **context,
        "type": type_,
        "work": work,
        "errors": of_type,
        "is_unsaved": not is_stored(type_, read.content),
        "save_address": url_for("request_types.save", type_id=type_.id),
        "icons": list(dict.fromkeys((*TYPE_ICONS, type_.icon))),
        "parents": parent_choices(load_types(session), type_),
        "teams": [(str(each.id), each.name(language)) for each in list_teams(session)],
        "priorities": list(priorities().items()),
        "rows_by_key": [(row.key, row.label(language) or str(TYPES[row.type].label))
                        for row in work.kept],
        "most_questions": MOST_QUESTIONS,
        "asked": QUESTIONS_ASKED,
        "person": current_user.user_id,
    }  # fmt: skip


def parent_choices(
    types: Sequence[RequestType], type_: RequestType | None
) -> list[tuple[str, str]]:
    """The categories that a type can be put in, or a new one, indented as they stand."""
    return [
        (str(each.type.id), "\u2003" * each.depth + each.type.name(reader_language()))
        for each in places_for(types, type_)
    ]
