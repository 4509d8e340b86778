"""A type in words: what two versions of it are compared by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from flask_babel import gettext as _

from app.fields.editor.descriptions import both, changes_between, fields_in_words
from app.skills.service_requests.builder.page_state import KIT, rows_of
from app.skills.service_requests.builder.presenters import priorities
from app.skills.service_requests.services.definitions import read_questions
from app.text.diff import Change

Names = Mapping[str, str]


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
        yield _("To be done within (hours): %(hours)s", hours=content["sla_hours"])
    for language, said in content["words"].items():
        words = ", ".join(said)
        if language == "en":
            yield _("What people call it (English): %(words)s", words=words)
        else:
            yield _("What people call it (Spanish): %(words)s", words=words)
    for each in read_questions(content["questions"]):
        question = both(each.ask.en, each.ask.es)
        if each.unless:
            yield _("Question (not where %(field)s is known): %(text)s",
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
