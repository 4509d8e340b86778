"""The types of field as an editor sees them: what they are called, and what can be set on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flask_babel import LazyString
from flask_babel import lazy_gettext as _

from app.fields.definitions import FIELD_TYPES, LARGEST_FILE_MIB, MOST_OPTIONS

Choices = tuple[tuple[str, LazyString | str], ...]


@dataclass(frozen=True)
class Setting:
    """Something that can be set on fields of a type, called as it is stored.

    `words` is a text in both languages, `count` a whole number from `least` to `most`,
    `number` any number or none, `flag` a box, `checks` some of the choices and `choice` one.
    """

    name: str
    kind: Literal["words", "count", "number", "text", "flag", "checks", "choice"]
    label: LazyString
    least: int = 0
    most: int = 0
    choices: Choices = ()
    help: LazyString | str = ""


@dataclass(frozen=True)
class TypeWords:
    """What a type is called, and the icon beside it."""

    label: LazyString
    icon: str


TYPES: dict[str, TypeWords] = {
    "text": TypeWords(_("Short text"), "field-text"),
    "textarea": TypeWords(_("Long text"), "field-lines"),
    "number": TypeWords(_("Number"), "field-number"),
    "email": TypeWords(_("Email"), "send"),
    "phone": TypeWords(_("Phone"), "phone"),
    "date": TypeWords(_("Date"), "calendar"),
    "time": TypeWords(_("Time of day"), "clock"),
    "datetime": TypeWords(_("Date and time"), "calendar"),
    "select": TypeWords(_("Dropdown list"), "down"),
    "radio": TypeWords(_("Pick one"), "field-radio"),
    "checkbox": TypeWords(_("Checkbox"), "check"),
    "multi_select": TypeWords(_("Choose several"), "checklist"),
    "address": TypeWords(_("Address"), "globe"),
    "file": TypeWords(_("File"), "clipboard"),
    "photo": TypeWords(_("Photo"), "camera"),
    "signature": TypeWords(_("Signature"), "pencil"),
    "person": TypeWords(_("Person"), "person"),
    "heading": TypeWords(_("Heading"), "menu"),
}
CHOOSING = ("select", "radio", "multi_select")

_WHEN = Setting(
    "when",
    "choice",
    _("Which days"),
    choices=(
        ("any", _("Any")),
        ("past", _("Today or earlier")),
        ("future", _("Today or later")),
    ),
)
_NOW = Setting("starts_now", "flag", _("Start with the current date or time"))
_FILES = Setting("most", "count", _("At most this many"), 1, 10)
SETTINGS: dict[str, tuple[Setting, ...]] = {
    "text": (
        Setting("min_length", "count", _("Min characters"), 0, 500),
        Setting("max_length", "count", _("Max characters"), 1, 500),
        Setting(
            "pattern",
            "text",
            _("Pattern"),
            most=100,
            help=_("A regular expression that the whole text must match, such as [A-Z]{2}-\\d{4}."),
        ),
        Setting("pattern_help", "words", _("What to say when it does not match"), most=500),
    ),
    "textarea": (
        Setting("min_length", "count", _("Min characters"), 0, 5000),
        Setting("max_length", "count", _("Max characters"), 1, 5000),
    ),
    "number": (
        Setting("min", "number", _("Min")),
        Setting("max", "number", _("Max")),
        Setting("decimals", "count", _("Decimal places"), 0, 4),
        Setting("unit", "words", _("Unit"), most=500),
    ),
    "date": (_WHEN, _NOW),
    "time": (_NOW,),
    "datetime": (_WHEN, _NOW),
    "multi_select": (
        Setting("least", "count", _("At least this many"), 0, MOST_OPTIONS),
        Setting("most", "count", _("At most this many"), 1, MOST_OPTIONS),
    ),
    "person": (Setting("anybody", "flag", _("Allow names that aren't in the contacts")),),
    "file": (
        Setting(
            "kinds",
            "checks",
            _("Kinds of files"),
            choices=(
                ("pdf", "PDF"),
                ("image", _("Pictures")),
                ("text", _("Text")),
                ("office", "Word, Excel, PowerPoint"),
            ),
        ),
        _FILES,
        Setting("largest_mib", "count", _("Max file size (MB)"), 1, LARGEST_FILE_MIB),
    ),
    "photo": (_FILES,),
}
# Two settings of which the first must not be more than the second.
ORDERED = (("min_length", "max_length"), ("min", "max"), ("least", "most"))


@dataclass(frozen=True)
class Kit:
    """What an editor offers: types of field, and what is set on each field besides its own.

    Fields of the names in `fixed` stand first and stay: only what they are called changes.
    """

    types: tuple[str, ...] = FIELD_TYPES
    extra: tuple[Setting, ...] = ()
    fixed: frozenset[str] = frozenset()


EVERYTHING = Kit()
