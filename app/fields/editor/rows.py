"""A field as it stands in the builder's page: what was typed, whether it can be saved or not.

All of a page's rows travel in the page itself, each as JSON, but for the one that is open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from app.errors import InvalidInput
from app.fields.definitions import (
    MOST_FIELDS,
    MOST_OPTIONS,
    NAME,
    FormField,
    read_fields,
)
from app.fields.editor.types import CHOOSING, EVERYTHING, SETTINGS, Kit, Setting
from app.text.bilingual import in_language
from app.text.json_text import parse_json
from app.text.normalize import words
from app.text.plain_text import clean_line, clean_value

LONGEST_NAME, LONGEST_LABEL = 40, 500
LONGEST_TYPED = 6_000
# Of what is typed with commas between, and of a value among them; what is beyond is not read.
LONGEST_LISTED, LONGEST_VALUE = 20_000, 200
# More than any type of field has.
MOST_SETTINGS = 40
# Those that were removed are there until the form is saved, so that they can come back.
MOST_ROWS = 2 * MOST_FIELDS
NEW = "new-"
BASE = ("label_en", "label_es", "help_en", "help_es", "required", "if_field", "if_test")
# Each choice is its value, and what it is called in both languages.
OptionTexts = tuple[str, str, str]


class Form(Protocol):
    """A form as it was sent (werkzeug's MultiDict is one)."""

    def get(self, key: str, default: str, /) -> str: ...
    def getlist(self, key: str, /) -> list[str]: ...


@dataclass(frozen=True)
class Row:
    """A field that is worked on; `key` is its name once it was saved, before that a number.

    `typed` holds texts by setting ("label_en", "min"); of settings with several values, and
    of `if_values`, lists. `options` are the choices of a field that has some.
    """

    key: str
    type: str
    typed: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[OptionTexts, ...] = ()
    is_removed: bool = False

    @property
    def name(self) -> str:
        """What the field is stored as; empty as long as it was never saved."""
        return "" if self.key.startswith(NEW) else self.key

    def label(self, language: str) -> str:
        return in_language(language, self.text("label_en"), self.text("label_es"))

    def text(self, name: str) -> str:
        value = self.typed.get(name, "")
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        value = self.typed.get(name, [])
        return list(value) if isinstance(value, list) else []

    def dumped(self) -> str:
        """It as the page carries it."""
        held: dict[str, Any] = {"key": self.key, "type": self.type, "typed": dict(self.typed)}
        held |= {"options": self.options} if self.options else {}
        held |= {"removed": True} if self.is_removed else {}
        return json.dumps(held, ensure_ascii=False, separators=(",", ":"))


def load_row(text: str, kit: Kit = EVERYTHING) -> Row:
    """A row that a page has carried.

    Raises:
        InvalidInput: it is none.
    """
    try:
        held = clean_value(parse_json(text))
        options = tuple(_option(each) for each in held.get("options", ()))
        row = Row(held["key"], held["type"], held["typed"], options, bool(held.get("removed")))
        is_sound = _is_sound(row, kit)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_sound = False
    if not is_sound:
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    return row


def _option(held: Any) -> OptionTexts:
    value, english, spanish = held
    return str(value)[:60], str(english)[:LONGEST_LABEL], str(spanish)[:LONGEST_LABEL]


def _is_sound(row: Row, kit: Kit) -> bool:
    is_new = row.key.startswith(NEW) and row.key.removeprefix(NEW).isdecimal()
    lists = [value for value in row.typed.values() if isinstance(value, list)]
    texts = [each for value in row.typed.values()
             for each in (value if isinstance(value, list) else [value])]  # fmt: skip
    return (
        row.type in kit.types
        and len(row.key) <= LONGEST_NAME
        and (is_new or NAME.fullmatch(row.key) is not None)
        and len(row.options) <= MOST_OPTIONS
        and len(row.typed) <= MOST_SETTINGS
        and all(len(value) <= MOST_OPTIONS for value in lists)
        and all(isinstance(each, str) and len(each) <= LONGEST_TYPED for each in texts)
    )


def row_of(stored: FormField, extra: Mapping[str, str] | None = None) -> Row:
    """A stored field as it is worked on; `extra` is what is set on it besides its own."""
    typed: dict[str, Any] = {
        "label_en": stored.label.en,
        "label_es": stored.label.es,
        "help_en": stored.help.en,
        "help_es": stored.help.es,
        "required": "on" if stored.required else "",
    }
    if stored.show_if:
        typed |= {
            "if_field": stored.show_if.field,
            "if_test": stored.show_if.test,
            "if_values": list(stored.show_if.values),
        }
    held = stored.model_dump(mode="json")
    for setting in SETTINGS.get(stored.type, ()):
        typed |= _typed(setting, held[setting.name])
    options = tuple(
        (option["value"], option["label"]["en"], option["label"]["es"])
        for option in held.get("options", ())
    )
    return Row(stored.name, stored.type, {**typed, **(extra or {})}, options)


def _typed(setting: Setting, value: Any) -> dict[str, Any]:
    if setting.kind == "words":
        return {f"{setting.name}_{language}": text for language, text in value.items()}
    if setting.kind == "flag":
        return {setting.name: "on" if value else ""}
    if setting.kind == "checks":
        return {setting.name: list(value)}
    return {setting.name: "" if value is None else str(value)}


def new_row(type_: str, number: int) -> Row:
    """A field that was just added, with what is usual for its type."""
    usual: dict[str, Any] = {"type": type_, "name": "x", "label": {"en": "x"}}
    if type_ in CHOOSING:
        usual["options"] = [{"value": "x", "label": {"en": "x"}}]
    [stored] = read_fields([usual])
    row = row_of(stored)
    return replace(row, key=f"{NEW}{number}", typed={**row.typed, "label_en": ""}, options=())


def read_open_row(row: Row, form: Form, kit: Kit = EVERYTHING) -> Row:
    """A row with what stands in its fields on the page."""
    typed: dict[str, Any] = {name: form.get(f"x-{name}", "")[:LONGEST_TYPED] for name in BASE}
    typed["if_values"] = _condition_values(form)
    for setting in (*SETTINGS.get(row.type, ()), *kit.extra):
        if setting.kind == "words":
            names = (f"{setting.name}_en", f"{setting.name}_es")
            typed |= {name: form.get(f"x-{name}", "")[:LONGEST_TYPED] for name in names}
        elif setting.kind == "checks":
            ticked = form.getlist(f"x-{setting.name}")[:MOST_OPTIONS]
            typed[setting.name] = [each[:LONGEST_VALUE] for each in ticked]
        else:
            typed[setting.name] = form.get(f"x-{setting.name}", "")[:LONGEST_TYPED]
    return replace(row, typed=typed, options=_read_options(form))


def _condition_values(form: Form) -> list[str]:
    """Values that were ticked, or typed with commas between them."""
    typed = form.get("x-if_typed", "")[:LONGEST_LISTED].split(",")
    given = [*form.getlist("x-if_values")[:MOST_OPTIONS], *typed][:MOST_OPTIONS]
    return list(dict.fromkeys(filter(None, (short_line(each, LONGEST_VALUE) for each in given))))


def short_line(text: str, longest: int) -> str:
    """One line of at most so many characters; what is far beyond is not even cleaned."""
    return clean_line(text[: 2 * longest])[:longest]


def _read_options(form: Form) -> tuple[OptionTexts, ...]:
    """The choices that are called anything; those that are new get their value here."""
    columns = (form.getlist("o-value"), form.getlist("o-en"), form.getlist("o-es"))
    found: list[OptionTexts] = []
    for held, *labels in list(zip(*columns, strict=False))[:MOST_OPTIONS]:
        english, spanish = (short_line(label, LONGEST_LABEL) for label in labels)
        if english or spanish:
            taken = {value for value, *_labels in found}
            is_new = not held or held in taken
            value = make_name(english or spanish, taken) if is_new else held[:60]
            found.append((value, english, spanish))
    return tuple(found)


def make_name(text: str, taken: set[str] | Sequence[str]) -> str:
    """A name for something that is called `text`, unlike those that are taken."""
    plain = [word for word in words(text[:LONGEST_LABEL]) if word.isascii()]
    bare = "_".join(plain)[: LONGEST_NAME - 4].strip("_")
    if not bare or not bare[0].isalpha():
        bare = f"field_{bare}".strip("_")
    name, number = bare, 2
    while name in taken:
        name, number = f"{bare}_{number}", number + 1
    return name
