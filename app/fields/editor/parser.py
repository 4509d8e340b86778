"""From the rows that stand in an editor to fields that can be stored, or what is wrong where.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.fields.definitions import MOST_OPTIONS, Condition, FormField, read_fields
from app.fields.editor.rows import Row, make_name
from app.fields.editor.types import CHOOSING, ORDERED, SETTINGS, Setting
from app.fields.numbers import parse_number
from app.fields.patterns import UnusablePattern, compile_pattern
from app.fields.values import Problem, clean

Problems = dict[str, Problem]


@dataclass(frozen=True)
class BuiltFields:
    """The fields that can be drawn, and what is wrong with each row, both by the row's key."""

    fields: Mapping[str, FormField]
    problems: Mapping[str, Problems]


def build_fields(rows: Sequence[Row]) -> BuiltFields:
    """Read the rows that were kept."""
    names = _names(rows)
    problems: dict[str, Problems] = {}
    fields: dict[str, FormField] = {}
    above: dict[str, Row] = {}
    for row in rows:
        read = _RowReader(row, names, above)
        found = read.field()
        if found is not None:
            fields[row.key] = found
        if read.problems:
            problems[row.key] = read.problems
        if row.type != "heading":
            above[row.key] = row
    return BuiltFields(fields, problems)


def _names(rows: Sequence[Row]) -> dict[str, str]:
    """The name of each row: the one it has, or one made from its label."""
    names = {row.key: row.name for row in rows if row.name}
    taken = set(names.values())
    for row in rows:
        if not row.name:
            names[row.key] = make_name(row.label("en") or row.type, taken)
            taken.add(names[row.key])
    return names


def too_long(length: int, limit: int) -> Problem:
    """What is said of a text that has more characters than `limit`."""
    return Problem(
        "That is %(length)s characters; at most %(limit)s fit here.",
        length=f"{length:,}",
        limit=f"{limit:,}",
    )


class _RowReader:
    """Reads one row; what is wrong gathers in `problems`."""

    def __init__(self, row: Row, names: Mapping[str, str], above: Mapping[str, Row]) -> None:
        self.row, self.names, self.above = row, names, above
        self.problems: Problems = {}

    def field(self) -> FormField | None:
        """The field, as far as it can be drawn; a condition that is wrong is left out."""
        stored = self._stored()
        if self.problems:
            return None
        condition = self._condition()
        try:
            # Alone it stands below no other field: its condition is put in afterwards.
            [found] = read_fields([stored])
        except ValueError:
            self.problems["row"] = Problem(
                "This field can't be saved like this. Check its settings."
            )
            return None
        return found.model_copy(update={"show_if": condition})

    def _stored(self) -> dict[str, Any]:
        row = self.row
        stored: dict[str, Any] = {
            "type": row.type,
            "name": self.names[row.key],
            "label": self._words("label", 500),
            "help": self._words("help", 500),
            "required": row.type != "heading" and row.text("required") == "on",
        }
        if not any(stored["label"].values()):
            self.problems["label_en"] = Problem("Give the field a label in at least one language.")
        for setting in SETTINGS.get(row.type, ()):
            value = _SETTING_READERS[setting.kind](self, setting)
            if value is not None:
                stored[setting.name] = value
        if row.type in CHOOSING:
            stored["options"] = self._options()
        self._check_order(stored)
        return stored

    def _words(self, name: str, longest: int) -> dict[str, str]:
        texts = {language: clean(self.row.text(f"{name}_{language}")) for language in ("en", "es")}
        for language, text in texts.items():
            if len(text) > longest:
                self.problems[f"{name}_{language}"] = too_long(len(text), longest)
        return texts

    def _options(self) -> list[dict[str, Any]]:
        if not self.row.options:
            self.problems["options"] = Problem("Add at least one choice.")
        return [
            {"value": value, "label": {"en": clean(english), "es": clean(spanish)}}
            for value, english, spanish in self.row.options
        ]

    def _check_order(self, stored: Mapping[str, Any]) -> None:
        for first, second in ORDERED:
            least, most = stored.get(first), stored.get(second)
            if least is not None and most is not None and float(least) > float(most):
                self.problems[first] = Problem("The minimum is greater than the maximum.")
        least = stored.get("least")
        if least and self.row.options and least > len(self.row.options):
            self.problems["least"] = Problem("There are not that many choices.")

    def _condition(self) -> Condition | None:
        row = self.row
        key, test = row.text("if_field"), row.text("if_test") or "is"
        if not key:
            return None
        on = self.above.get(key)
        if on is None:
            self.problems["if_field"] = Problem(
                "The field that decides whether this one is shown is no longer above it. "
                "Choose another one, or move this one below it."
            )
            return None
        if test == "is_filled":
            return Condition(field=self.names[key], test="is_filled")
        values = row.texts("if_values")[:MOST_OPTIONS]
        if on.type in CHOOSING:
            given = frozenset(values)
            values = [value for value, *_labels in on.options if value in given]
        elif on.type == "checkbox":
            values = [value for value in ("true", "false") if value in values]
        if not values:
            self.problems["if_values"] = Problem("Say which answers it is shown for.")
            return None
        return Condition(
            field=self.names[key],
            test="is_not" if test == "is_not" else "is",
            values=tuple(values),
        )

    # What is typed into a setting, as it is stored; None where it is as usual.

    def read_words(self, setting: Setting) -> Any:
        return self._words(setting.name, setting.most)

    def read_count(self, setting: Setting) -> Any:
        text = self.row.text(setting.name).strip()
        if not text:
            return None
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else -1
        if not setting.least <= number <= setting.most:
            self.problems[setting.name] = Problem(
                "Enter a whole number from %(least)s to %(most)s.",
                least=setting.least,
                most=setting.most,
            )
            return None
        return number

    def read_number(self, setting: Setting) -> Any:
        text = self.row.text(setting.name).strip()
        if not text:
            return None
        number = parse_number(text)
        # What can be stored of it: eight digits before the point, four after it.
        if number is None or abs(number) >= 10**8 or number != round(number, 4):
            self.problems[setting.name] = Problem("Enter a number, like 38 or 38.5.")
            return None
        return f"{number:f}"

    def read_text(self, setting: Setting) -> Any:
        text = self.row.text(setting.name).strip()
        if len(text) > setting.most:
            self.problems[setting.name] = too_long(len(text), setting.most)
            return None
        try:
            compile_pattern(text)
        except UnusablePattern:
            self.problems[setting.name] = Problem("This pattern can't be used.")
        return text

    def read_flag(self, setting: Setting) -> Any:
        return self.row.text(setting.name) == "on"

    def read_checks(self, setting: Setting) -> Any:
        given = self.row.texts(setting.name)
        chosen = [value for value, _label in setting.choices if value in given]
        if not chosen:
            self.problems[setting.name] = Problem("Choose at least one.")
        return chosen

    def read_choice(self, setting: Setting) -> Any:
        value = self.row.text(setting.name)
        return value if value in dict(setting.choices) else None


_SETTING_READERS: Mapping[str, Callable[[_RowReader, Setting], Any]] = {
    "words": _RowReader.read_words,
    "count": _RowReader.read_count,
    "number": _RowReader.read_number,
    "text": _RowReader.read_text,
    "flag": _RowReader.read_flag,
    "checks": _RowReader.read_checks,
    "choice": _RowReader.read_choice,
}
