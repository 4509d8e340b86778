"""What the builder's templates are given: the work, what is wrong with it, and how it will look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import render_template
from flask_babel import force_locale
from flask_babel import gettext as _
from flask_login import current_user
from markupsafe import Markup

from app.bilingual import in_language
from app.fields.typed import shape_of
from app.icons import SHAPES
from app.skills.forms.building.reading import Built, build
from app.skills.forms.building.rows import Row
from app.skills.forms.building.saving import is_stored
from app.skills.forms.building.types import CHOOSING, SETTINGS, TYPES, Setting, TypeWords
from app.skills.forms.building.wording import condition_in_words
from app.skills.forms.building.work import Work
from app.skills.forms.models import FormTemplate
from app.skills.forms.pages import FieldView, reader_language, view_problem

# Those of the house's icons that stand for a form; the others are for buttons.
FORM_ICONS = tuple(
    name
    for name in (
        "form", "clipboard", "checklist", "first-aid", "write-up", "alert", "thermometer", "wrench",
        "complaint", "calendar", "swap", "shirt", "trash", "coins", "truck", "camera", "people",
        "chart", "clock", "dishes", "wines", "again",
    )
    if name in SHAPES
)  # fmt: skip


@dataclass(frozen=True)
class RowView:
    """A row as the page draws it; `problems` are told where it is closed, or was to be saved."""

    row: Row
    type: TypeWords
    label: str
    condition: str
    problems: Mapping[str, str]
    is_open: bool
    is_first: bool
    is_last: bool

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def settings(self) -> tuple[Setting, ...]:
        return SETTINGS.get(self.row.type, ())

    @property
    def labels(self) -> list[tuple[str, str]]:
        """What it is called, by language; once where it is called the same in both."""
        by_text = {self.row.text(f"label_{code}").strip(): code for code in ("es", "en")}
        return [(code, text) for text, code in reversed(by_text.items()) if text]

    @property
    def is_choosing(self) -> bool:
        return self.row.type in CHOOSING


@dataclass(frozen=True)
class Drawn:
    """A field as the preview draws it, with the sentence that says when it is shown."""

    view: FieldView
    condition: str
    is_open: bool


def builder_context(template: FormTemplate, work: Work, *, was_saved: bool) -> dict[str, Any]:
    """What the page and its parts need; `was_saved` where saving was tried, so that all is told."""
    language = reader_language()
    built = build(work, language)
    rows = [_view(work, place, built, was_saved) for place in range(len(work.rows))]
    open_row = work.open_row
    return {
        "template": template,
        "work": work,
        "is_unsaved": not is_stored(template, built.content),
        "rows": rows,
        "errors": _told(built.problems.get("", {})) if was_saved else {},
        "conditions": _choices_of_condition(work, open_row) if open_row else {},
        "types": TYPES,
        "form_icons": list(dict.fromkeys((*FORM_ICONS, template.icon))),
        "previews": {each: preview(work, each, built) for each in ("en", "es")},
        "person": current_user.user_id,
        "language": language,
    }


def _view(work: Work, place: int, built: Built, was_saved: bool) -> RowView:
    row = work.rows[place]
    is_open = row.key == work.open_key
    tells = was_saved or not is_open
    kept = work.kept
    return RowView(
        row,
        TYPES[row.type],
        row.label(reader_language()).strip(),
        condition_in_words(row, _by_key(work), reader_language()),
        _told(built.problems.get(row.key, {})) if tells else {},
        is_open,
        bool(kept) and row is kept[0],
        bool(kept) and row is kept[-1],
    )


def _by_key(work: Work) -> dict[str, Row]:
    return {row.key: row for row in work.kept}


def _told(problems: Mapping[str, Any]) -> dict[str, str]:
    return {name: view_problem(problem).message for name, problem in problems.items()}


def _choices_of_condition(work: Work, row: Row) -> dict[str, Any]:
    """The fields above that a row can depend on, and the values of the one it depends on."""
    language = reader_language()
    above = work.kept[: work.kept.index(row)] if row in work.kept else ()
    able = [each for each in above if each.type != "heading"]
    on = next((each for each in able if each.key == row.text("if_field")), None)
    values: list[tuple[str, str]] | None = None
    if on is not None and on.type == "checkbox":
        values = [("true", _("Yes")), ("false", _("No"))]
    elif on is not None and on.type in CHOOSING:
        values = [
            (value, in_language(language, english, spanish))
            for value, english, spanish in on.options
        ]
    fields = [(each.key, each.label(language) or str(TYPES[each.type].label)) for each in able]
    return {"fields": fields, "on": on, "values": values}


def preview(work: Work, language: str, built: Built | None = None) -> Markup:
    """The form as those who fill it in will see it in a language, to look at only."""
    read = built or build(work, reader_language())
    rows = [row for row in work.kept if row.key in read.fields]
    title, description = (_text_of(work, name, language) for name in ("title", "description"))
    with force_locale(language):
        drawn = [
            Drawn(
                _field_view(row, read, language),
                condition_in_words(row, _by_key(work), language),
                row.key == work.open_key,
            )
            for row in rows
        ]
        html = render_template(
            "forms/builder/_drawn.html",
            drawn=drawn,
            title=title,
            description=description,
            left_out=len(work.kept) - len(rows),
            language=language,
        )
    return Markup(html)  # noqa: S704 (a template of ours has made it)


def _text_of(work: Work, name: str, language: str) -> str:
    return in_language(language, work.texts[f"{name}_en"], work.texts[f"{name}_es"])


def _field_view(row: Row, built: Built, language: str) -> FieldView:
    # Two previews stand on one page: what is drawn has a name of its own in each.
    stored = built.fields[row.key]
    named = stored.model_copy(update={"name": f"{language}-{stored.name}"})
    return FieldView(named, True, shape_of(named, None), None, "")
