"""Fields in words, one line for each thing that can be set: what two versions are compared by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from flask_babel import gettext as _

from app.fields.editor.rows import Row, new_row
from app.fields.editor.types import CHOOSING, EVERYTHING, SETTINGS, TYPES, Kit, Setting
from app.jobs.system_threads import RealThreads
from app.text.bilingual import in_language
from app.text.diff import Change, compare

# Beside a change, so many lines of what stayed are shown.
AROUND = 4
# What is shown of a change, and of all in a version, in characters. What is short counts as so
# many: it is marked as a change of its own.
LONGEST_CHANGE, MOST_SHOWN, LEAST_COUNTED = 5_000, 20_000, 40
_WORDING = RealThreads(1, holds_nothing=True)
# A sentence names so much of the values that a field depends on: a hundred fields may depend on
# one whose choices are called by hundreds of letters.
LONGEST_VALUES = 1_000


def changes_between(before: Callable[[], str], after: Callable[[], str]) -> list[Change]:
    """How one text became another one, with the lines around what differs, as much as is read.

    Both are put into words in a thread: that takes tenths of a second of large ones.
    """
    old, new = _WORDING.run(lambda: (before(), after()))
    return list(_cut(_near_changes(compare(old, new))))


def _near_changes(changes: Sequence[Change]) -> list[Change]:
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


def _cut(changes: Sequence[Change]) -> Iterator[Change]:
    """No more than a page shows of changes; a gap stands for what is left out."""
    left = MOST_SHOWN
    for change in changes:
        if left <= 0:
            yield Change("gap", "")
            return
        text = change.text[:LONGEST_CHANGE]
        yield Change(change.kind, text)
        if len(text) < len(change.text):
            yield Change("gap", "")
        left -= max(len(text), LEAST_COUNTED)


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
    values = _values_in_words(on, row.texts("if_values"), language)
    if row.text("if_test") == "is_filled":
        return _("Only if “%(field)s” is filled in", field=name)
    if row.text("if_test") == "is_not":
        return _("Only if “%(field)s” is not: %(values)s", field=name, values=values)
    return _("Only if “%(field)s” is: %(values)s", field=name, values=values)


def _values_in_words(on: Row, values: Sequence[str], language: str) -> str:
    """What values of a field are called, with commas between, as many as a sentence takes."""
    if on.type == "checkbox":
        return ", ".join(_("Yes") if value == "true" else _("No") for value in values)
    names = {
        value: in_language(language, english, spanish) if language else both(english, spanish)
        for value, english, spanish in on.options
    }
    text = ", ".join(names.get(value, value) for value in values)
    return text if len(text) <= LONGEST_VALUES else f"{text[:LONGEST_VALUES]}…"
