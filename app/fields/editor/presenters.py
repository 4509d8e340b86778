"""What the templates of an editor of fields are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask_babel import gettext as _

from app.fields.editor.descriptions import condition_in_words
from app.fields.editor.page_state import FieldWork
from app.fields.editor.parser import Problems
from app.fields.editor.rows import Row
from app.fields.editor.types import (
    CHOOSING,
    EVERYTHING,
    SETTINGS,
    TYPES,
    Kit,
    Setting,
    TypeWords,
)
from app.text.bilingual import in_language, reader_language


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
    is_fixed: bool
    extra: tuple[Setting, ...]

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def settings(self) -> tuple[Setting, ...]:
        return (*SETTINGS.get(self.row.type, ()), *self.extra)

    @property
    def labels(self) -> list[tuple[str, str]]:
        """What it is called, by language; once where it is called the same in both."""
        by_text = {self.row.text(f"label_{code}").strip(): code for code in ("es", "en")}
        return [(code, text) for text, code in reversed(by_text.items()) if text]

    @property
    def is_choosing(self) -> bool:
        return self.row.type in CHOOSING


def rows_context(
    work: FieldWork, problems: Mapping[str, Problems], *, was_saved: bool, kit: Kit = EVERYTHING
) -> dict[str, Any]:
    """What the rows' templates need; `was_saved` where saving was tried, so that all is told.

    They also need `work`, and `save_address`: where the page's form is sent.
    """
    open_row = work.open_row
    by_key = {row.key: row for row in work.kept}
    movable = [key for key in by_key if key not in kit.fixed]
    return {
        "rows": [
            _view(
                row,
                condition=condition_in_words(row, by_key, reader_language()),
                problems=problems.get(row.key, {}) if was_saved or row.key != work.open_key else {},
                is_open=row.key == work.open_key,
                movable=movable,
                kit=kit,
            )
            for row in work.rows
        ],
        "conditions": _choices_of_condition(work, open_row) if open_row else {},
        "types": {name: TYPES[name] for name in TYPES if name in kit.types},
    }


def _view(
    row: Row, *, condition: str, problems: Problems, is_open: bool, movable: list[str], kit: Kit
) -> RowView:
    is_fixed = row.key in kit.fixed
    return RowView(
        row,
        TYPES[row.type],
        row.label(reader_language()).strip(),
        condition,
        told(problems),
        is_open,
        row.key in movable[:1],
        row.key in movable[-1:],
        is_fixed,
        () if is_fixed else kit.extra,
    )


def told(problems: Problems) -> dict[str, str]:
    """What is wrong, in the page's language, by what it is about."""
    return {name: _(each.message, **each.params) for name, each in problems.items()}


def _choices_of_condition(work: FieldWork, row: Row) -> dict[str, Any]:
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
