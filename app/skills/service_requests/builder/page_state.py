"""What an editor of a type has on the page: its words, fields and questions.

Pure: nothing is stored here, and each button gives a new `TypeWork`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from flask_babel import lazy_gettext as _

from app.db import new_id
from app.fields.editor.page_state import FieldWork, act, read_rows
from app.fields.editor.rows import Form, Row, row_of, short_line
from app.fields.editor.types import Kit, Setting
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.services.definitions import (
    MOST_QUESTIONS,
    PRIORITY,
    REQUEST_FIELD_TYPES,
    TITLE,
    main_fields,
    read_questions,
    read_request_fields,
)

# What is typed as one text each; a category has the first six alone.
OF_ALL = ("name_en", "name_es", "description_en", "description_es", "icon", "parent_id")
OF_TYPES = ("team_id", "priority", "sla_hours", "is_guided", "words_en", "words_es")
LONGEST_TYPED = 20_000
# The first of the choices is the usual one.
STEPS = (
    ("details", _("Details")),
    ("main", _("Main")),
    ("where", _("Where")),
    ("contact", _("Contact")),
    ("files", _("Files")),
)
KIT = Kit(
    REQUEST_FIELD_TYPES,
    (Setting("step", "choice", _("Step"), choices=STEPS),),
    frozenset((TITLE, PRIORITY)),
)
MORE, UP, DOWN = "ask-more", "ask-up", "ask-down"


@dataclass(frozen=True)
class Asked:
    """A clarifying question; `unless` is the key of a row that makes it needless."""

    en: str = ""
    es: str = ""
    unless: str = ""


@dataclass(frozen=True)
class TypeWork(FieldWork):
    """A type while it is being worked on; `version` is the one that was opened."""

    version: int
    texts: Mapping[str, str]
    is_submittable: bool = True
    questions: tuple[Asked, ...] = ()


def work_of(type_: RequestType) -> TypeWork:
    """A stored type as it is worked on."""
    texts = {name: _as_text(getattr(type_, name)) for name in (*OF_ALL, *OF_TYPES[:4])}
    texts |= {f"words_{code}": "\n".join(type_.words.get(code, ())) for code in ("en", "es")}
    return TypeWork(
        type_.version,
        texts,
        type_.is_submittable,
        tuple(
            Asked(each.ask.en, each.ask.es, each.unless) for each in read_questions(type_.questions)
        ),
        rows=rows_of(type_.fields) if type_.is_submittable else (),
    )


def _as_text(value: object) -> str:
    return "" if value is None else str(value)


def rows_of(fields: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """The stored fields of a type as they are worked on."""
    found = read_request_fields(fields)
    return tuple(row_of(each.field, {"step": each.step}) for each in found)


def read_work(form: Form, *, is_submittable: bool) -> TypeWork:
    """What stands on the page of a type, or of a category.

    Raises:
        InvalidInput: it is not what the page sends.
    """
    version = form.get("version", "")
    names = (*OF_ALL, *OF_TYPES) if is_submittable else OF_ALL
    return TypeWork(
        int(version) if version.isdecimal() and len(version) < len("1000000") else 0,
        {name: form.get(name, "")[:LONGEST_TYPED] for name in names},
        is_submittable,
        _read_questions(form) if is_submittable else (),
        rows=with_fixed(read_rows(form, KIT)) if is_submittable else (),
        open_key=form.get("open", ""),
    )


def _read_questions(form: Form) -> tuple[Asked, ...]:
    """The questions in which something was written."""
    columns = (form.getlist("q-en"), form.getlist("q-es"), form.getlist("q-unless"))
    found = [
        Asked(short_line(english, 1_000), short_line(spanish, 1_000), unless[:40])
        for english, spanish, unless in list(zip(*columns, strict=False))[:MOST_QUESTIONS]
    ]
    return tuple(each for each in found if each.en or each.es)


@cache
def fixed_rows() -> tuple[Row, ...]:
    """What every type begins with: its title and its priority."""
    return rows_of(main_fields(new_id(), new_id()))


def with_fixed(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows as a type can have them: what is fixed first, and called as was typed."""
    given = {row.key: row for row in rows}
    return (
        *(_called_as(row, given.get(row.key)) for row in fixed_rows()),
        *(row for row in rows if row.key not in KIT.fixed),
    )


def _called_as(row: Row, given: Row | None) -> Row:
    names = ("label_en", "label_es", "help_en", "help_es")
    typed = {name: given.text(name) for name in names} if given else {}
    return replace(row, typed={**row.typed, **typed})


def act_on(work: TypeWork, do: str) -> TypeWork:
    """The work after a button was pressed: those of fields, and "ask-up:2" of questions.

    Raises:
        InvalidInput: there is no more room.
    """
    verb, _colon, about = do.partition(":")
    if verb == MORE:
        return replace(work, focus=MORE)
    if verb not in (UP, DOWN):
        return act(work, do, KIT)
    place = int(about) if about.isdecimal() and len(about) < len("100") else len(work.questions)
    to = place + (-1 if verb == UP else 1)
    if not (0 <= place < len(work.questions) and 0 <= to < len(work.questions)):
        return work
    questions = list(work.questions)
    questions.insert(to, questions.pop(place))
    return replace(work, questions=tuple(questions), focus=f"{verb}-{to}")
