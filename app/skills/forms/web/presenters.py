"""What the templates of a form that is being filled in are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from flask import render_template
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.clock import local_now
from app.accounts.group_settings import load_zone_and_region
from app.assistant.threads.threads import load_thread
from app.assistant.web.conversation import no_talk_yet, talk_beside
from app.db import new_id
from app.errors import NotFound
from app.fields.definitions import FILE_TYPES, FormField
from app.fields.form_data import mark_of, shape_now
from app.fields.values import Problem
from app.files.presenters import FileView, view_own_files
from app.skills.forms.models import FormDraft, FormTemplate
from app.skills.forms.parts import SURE
from app.skills.forms.services.draft_writer import shape_in
from app.skills.forms.services.drafts import Filling
from app.skills.forms.workflow.conversation import has_assistant
from app.text.bilingual import reader_language
from app.web.pages import db_session

Choices = tuple[tuple[str, str], ...]
Talk = dict[str, Any]
# A question and its answer.
ONE_EXCHANGE = 2


@dataclass(frozen=True)
class ProblemView:
    """What is wrong with a field, in words, and what it may be instead."""

    message: str
    choices: Choices = ()


@dataclass(frozen=True)
class FieldView:
    """A field as its template draws it.

    `raw` is its shape on the page (see `fields.typed`), `value` what it was read as, `seen` the
    mark of both. `words` are those of its person that it was filled in from; it is doubtful
    where it is not sure that they meant that. `files` are those that it holds.
    """

    field: FormField
    is_shown: bool
    raw: Any
    value: Any
    seen: str
    problem: ProblemView | None = None
    words: str = ""
    was_said: bool = False
    is_doubtful: bool = False
    is_fresh: bool = False
    files: tuple[FileView, ...] = ()

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def type(self) -> str:
        return self.field.type


def view_fields(
    filling: Filling,
    names: Collection[str] | None = None,
    *,
    problems: Mapping[str, Problem] | None = None,
    fresh: Collection[str] = (),
) -> list[FieldView]:
    """The fields of a form, or those named, in their order; hidden ones hold their place."""
    shown = {field.name for field in filling.shown}
    told = filling.checked.problems if problems is None else problems
    views = [
        _view(filling, field, field.name in shown, told.get(field.name), field.name in fresh)
        for field in filling.fields
        if names is None or field.name in names
    ]
    return _with_files(views)


def _with_files(views: list[FieldView]) -> list[FieldView]:
    """The same with the files that they hold, which are looked up all at once."""
    held = {view.name: view.raw for view in views if view.type in FILE_TYPES}
    known = view_own_files(db_session(), chain.from_iterable(held.values()))
    return [
        replace(view, files=tuple(known[each] for each in held[view.name] if each in known))
        if view.name in held
        else view
        for view in views
    ]


def _view(
    filling: Filling, field: FormField, is_shown: bool, problem: Problem | None, is_fresh: bool
) -> FieldView:
    draft, shape = filling.draft, shape_in(filling, field)
    # What the page fills in is to be sent as a change, so its mark is that of the empty field.
    mark = mark_of(shape)
    if not shape and filling.starts_now(field):
        shape = shape_now(field, local_now(current_user.zone))
    origin = draft.origins.get(field.name, {})
    was_said = origin.get("by") == "said" and field.name in draft.typed
    return FieldView(
        field,
        is_shown,
        shape,
        filling.checked.values.get(field.name),
        f"{draft.field_versions.get(field.name, 0)}-{mark}",
        view_problem(problem) if problem else None,
        origin.get("words", "") if was_said else "",
        was_said,
        was_said and origin.get("confidence", 1.0) < SURE,
        is_fresh,
    )


def view_problem(problem: Problem) -> ProblemView:
    return ProblemView(_(problem.message, **problem.params), problem.choices)


def fill_page(
    filling: Filling,
    *,
    problems: Mapping[str, Problem] | None = None,
    error: str = "",
    is_new: bool = False,
    is_saved: bool = False,
    talk: Talk | None = None,
) -> str:
    """The page on which a form is filled in; `problems` are told above it, too.

    `talk` is what was said to its assistant, where it was read before the form was: then the
    form has all that the talk tells of.
    """
    language = reader_language()
    views = view_fields(filling, problems={**filling.checked.problems, **(problems or {})})
    return render_template(
        "forms/fill.html",
        template=filling.template,
        form=filling.form,
        fields=views,
        summary=[view for view in views if problems and view.problem and view.is_shown],
        error=error,
        is_new=is_new,
        is_saved=is_saved,
        is_behind=filling.draft.template_version != filling.template.version,
        person=current_user.draft_owner,
        talk=talk or read_talk(filling.draft, filling.template),
        page=new_id().hex,
        region=load_zone_and_region(db_session())[1],
        **drawing(filling, language),
    )


def read_talk(draft: FormDraft, template: FormTemplate) -> Talk | None:
    """What the panel of the form's assistant shows, or nothing where the form has none.

    It `opens` by itself while nothing has happened but what was handed over; what could not be
    told to it is `unsaid`.
    """
    session = db_session()
    if not has_assistant(session, template):
        return None
    try:
        thread = load_thread(session, draft.thread_id)
    except NotFound:
        return {**no_talk_yet(draft.thread_id), "unsaid": draft.context, "opens": False}
    talk = talk_beside(thread)
    is_typed = any(origin["by"] == "typed" for origin in draft.origins.values())
    is_fresh = bool(draft.context) and len(talk["messages"]) <= ONE_EXCHANGE and not is_typed
    return {**talk, "unsaid": "", "opens": is_fresh}


def drawing(filling: Filling, language: str) -> dict[str, Any]:
    """What every template needs that draws fields of a draft."""
    return {"draft": filling.draft, "filling": filling, "language": language}


def dependents(filling: Filling, names: Collection[str]) -> set[str]:
    """The fields that are shown or hidden by these, directly or not."""
    found = set(names)
    for field in filling.fields:
        if field.show_if and field.show_if.field in found:
            found.add(field.name)
    return found
