"""Fields in words, one line for each thing that can be set: what two versions are compared by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flask_babel import gettext as _

from app.bilingual import in_language
from app.differences import Change, compare
from app.fields.building.rows import Row, new_row
from app.fields.building.types import CHOOSING, EVERYTHING, SETTINGS, TYPES, Kit, Setting

# Beside a change, so many lines of what stayed are shown.
AROUND = 4


def changes_between(before: str, after: str) -> list[Change]:
    """How one text became another one, with the lines around what differs."""
    changes = compare(before, after)
    shown: list[Change] = []
    for place, change in enumerate(changes):
        lines = change.text.split("\n")
        if change.kind != "same" or len(lines) <= 2 * AROUND:
            shown.append(change)
            continue
        if place > 0:
            shown.append(Change("same", "\n".join(lines[:AROUND])))
        shown.append(Change("gap", ""))
        if place < len(changes) - 1:
            shown.append(Change("same", "\n".join(lines[-AROUND:])))
    return shown


def both(english: str, spanish: str) -> str:
    """A text in both languages, or in the one there is."""
    return " / ".join(filter(None, dict.fromkeys((english, spanish))))


def fields_in_words(rows: Sequence[Row], kit: Kit = EVERYTHING) -> list[str]:
    """Each field with all that is set on it, in the page's language."""
    by_key = {row.key: row for row in rows}
    return ["\n".join(_lines_of(row, by_key, kit)) for row in rows]


def _lines_of(row: Row, rows: Mapping[str, Row], kit: Kit) -> Iterator[str]:
    yield f"{_called(row)} · {TYPES[row.type].label}"
    if row.text("required"):
        yield _("Required")
    if row.text("help_en") or row.text("help_es"):
        yield _("Help: %(text)s", text=both(row.text("help_en"), row.text("help_es")))
    usual = new_row(row.type, 0)
    if row.type in CHOOSING:
        choices = ", ".join(both(*names) for _value, *names in row.options)
        yield _("Choices: %(choices)s", choices=choices)
    for setting in (*SETTINGS.get(row.type, ()), *kit.extra):
        value = _value_of(row, setting)
        if value and value != _value_of(usual, setting):
            yield f"{setting.label}: {value}"
    if row.text("if_field"):
        yield condition_in_words(row, rows)


def _called(row: Row) -> str:
    return both(row.text("label_en"), row.text("label_es"))


def _value_of(row: Row, setting: Setting) -> str:
    if setting.kind == "words":
        return both(row.text(f"{setting.name}_en"), row.text(f"{setting.name}_es"))
    if setting.kind == "flag":
        return _("Yes") if row.text(setting.name) else _("No")
    names = {value: str(label) for value, label in setting.choices}
    values = row.texts(setting.name) or [row.text(setting.name)]
    return ", ".join(names.get(value, value) for value in values)


def condition_in_words(row: Row, rows: Mapping[str, Row], language: str = "") -> str:
    """When a field is shown, as a sentence, in one language or both; `rows` are those above."""
    on = rows.get(row.text("if_field"))
    if on is None:
        return ""
    name = on.label(language) if language else _called(on)
    values = ", ".join(_value_in_words(on, each, language) for each in row.texts("if_values"))
    if row.text("if_test") == "is_filled":
        return _("Only if “%(field)s” is filled in", field=name)
    if row.text("if_test") == "is_not":
        return _("Only if “%(field)s” is not: %(values)s", field=name, values=values)
    return _("Only if “%(field)s” is: %(values)s", field=name, values=values)


def _value_in_words(on: Row, value: str, language: str) -> str:
    if on.type == "checkbox":
        return _("Yes") if value == "true" else _("No")
    for known, english, spanish in on.options:
        if known == value:
            return in_language(language, english, spanish) if language else both(english, spanish)
    return value
