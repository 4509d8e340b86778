"""The eighteen types of field that a form is made of, as they are stored with their template.

A template keeps its fields as a list of these, as JSON; `read_fields` is the only way in, so
that whatever is stored can be drawn, filled and checked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

from app.fields.patterns import compile_pattern
from app.text.bilingual import in_language

MOST_FIELDS = 100
MOST_OPTIONS = 100
# Of a whole form, so that no page and no table of it is a matter of seconds: options in all its
# fields together, and characters in all that stands in it.
MOST_OPTIONS_IN_ALL = 1_000
MOST_CHARACTERS = 500_000
MIB = 1024 * 1024
LARGEST_FILE_MIB = 20
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class Stored(BaseModel):
    """The base of what is stored as JSON: unknown keys are rejected, nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Words(Stored):
    """A text in both languages; one may be missing."""

    en: str = Field("", max_length=500)
    es: str = Field("", max_length=500)

    def text(self, language: str) -> str:
        """It in `language`, else in the one there is."""
        return in_language(language, self.en, self.es)

    def __bool__(self) -> bool:
        return bool(self.en or self.es)


class Condition(Stored):
    """When a field is shown: the field named `field` has one of these values.

    `is` with several values means any of them; `is_not` none of them; `is_filled` that it has
    any value at all. A checkbox has the values "true" and "false".
    """

    field: str
    test: Literal["is", "is_not", "is_filled"] = "is"
    values: tuple[str, ...] = Field((), max_length=MOST_OPTIONS)


class Option(Stored):
    """One of the choices of a field: `value` is stored, the label is shown."""

    value: str = Field(min_length=1, max_length=60)
    label: Words

    @field_validator("label")
    @classmethod
    def _is_named(cls, label: Words) -> Words:
        if not label:
            raise ValueError("an option needs a label")
        return label


class FieldBase(Stored):
    """What all fields have. `name` is unique within its template and stays when labels change."""

    name: str
    label: Words
    help: Words = Words()
    required: bool = False
    show_if: Condition | None = None

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError("a name has small letters, numbers and underscores")
        return name

    @field_validator("label")
    @classmethod
    def _is_labelled(cls, label: Words) -> Words:
        if not label:
            raise ValueError("a field needs a label")
        return label


class Heading(FieldBase):
    """A title between fields; it has no value."""

    type: Literal["heading"] = "heading"


class TextField(FieldBase):
    """One line. `pattern` is a regular expression that the whole value matches.

    It is one of RE2, which knows no pattern that takes for ever.
    """

    type: Literal["text"] = "text"
    min_length: int = Field(0, ge=0, le=500)
    max_length: int = Field(200, ge=1, le=500)
    pattern: str = Field("", max_length=100)
    pattern_help: Words = Words()

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        compile_pattern(pattern)
        return pattern


class TextareaField(FieldBase):
    type: Literal["textarea"] = "textarea"
    min_length: int = Field(0, ge=0, le=5000)
    max_length: int = Field(2000, ge=1, le=5000)


class NumberField(FieldBase):
    """A number with at most `decimals` places. `unit` is shown after it."""

    type: Literal["number"] = "number"
    min: Decimal | None = Field(None, max_digits=12, decimal_places=4)
    max: Decimal | None = Field(None, max_digits=12, decimal_places=4)
    decimals: int = Field(2, ge=0, le=4)
    unit: Words = Words()

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("the least is more than the most")
        return self


class EmailField(FieldBase):
    type: Literal["email"] = "email"


class PhoneField(FieldBase):
    type: Literal["phone"] = "phone"


class DateField(FieldBase):
    """A day; `when` says on which side of today it must be, today included.

    With `starts_now`, as in the other fields of time, a page on which it is empty shows today.
    """

    type: Literal["date"] = "date"
    when: Literal["any", "past", "future"] = "any"
    starts_now: bool = False


class TimeField(FieldBase):
    type: Literal["time"] = "time"
    starts_now: bool = False


class DatetimeField(FieldBase):
    """A day and time where the group is; `when` says on which side of now it must be."""

    type: Literal["datetime"] = "datetime"
    when: Literal["any", "past", "future"] = "any"
    starts_now: bool = False


class _Choosing(FieldBase):
    options: tuple[Option, ...] = Field(min_length=1, max_length=MOST_OPTIONS)

    @field_validator("options")
    @classmethod
    def _differ(cls, options: tuple[Option, ...]) -> tuple[Option, ...]:
        if len({option.value for option in options}) < len(options):
            raise ValueError("two options have the same value")
        return options

    def option(self, value: str) -> Option | None:
        """The option of that value, or None."""
        return next((option for option in self.options if option.value == value), None)


class SelectField(_Choosing):
    type: Literal["select"] = "select"


class RadioField(_Choosing):
    type: Literal["radio"] = "radio"


class MultiSelectField(_Choosing):
    type: Literal["multi_select"] = "multi_select"
    least: int = Field(0, ge=0, le=MOST_OPTIONS)
    most: int = Field(MOST_OPTIONS, ge=1, le=MOST_OPTIONS)


class CheckboxField(FieldBase):
    """A box to tick; a required one must be ticked."""

    type: Literal["checkbox"] = "checkbox"


class AddressField(FieldBase):
    type: Literal["address"] = "address"


class PersonField(FieldBase):
    """A contact of the group, or anybody by name where `anybody`."""

    type: Literal["person"] = "person"
    anybody: bool = True


class FileField(FieldBase):
    """Files of these kinds, told by their content: pdf, image, text, office."""

    type: Literal["file"] = "file"
    kinds: tuple[Literal["pdf", "image", "text", "office"], ...] = ("pdf", "image")
    most: int = Field(3, ge=1, le=10)
    largest_mib: int = Field(10, ge=1, le=LARGEST_FILE_MIB)


class PhotoField(FieldBase):
    type: Literal["photo"] = "photo"
    most: int = Field(3, ge=1, le=10)


class SignatureField(FieldBase):
    type: Literal["signature"] = "signature"


FormField = Annotated[
    Heading
    | TextField
    | TextareaField
    | NumberField
    | EmailField
    | PhoneField
    | DateField
    | TimeField
    | DatetimeField
    | SelectField
    | RadioField
    | CheckboxField
    | MultiSelectField
    | AddressField
    | FileField
    | PhotoField
    | SignatureField
    | PersonField,
    Field(discriminator="type"),
]
FIELD_TYPES: tuple[str, ...] = (
    "text", "textarea", "number", "email", "phone", "date", "time", "datetime", "select", "radio",
    "checkbox", "multi_select", "address", "file", "photo", "signature", "person", "heading",
)  # fmt: skip
# Those whose value is one or more files.
FILE_TYPES = ("file", "photo", "signature")

_FIELDS: TypeAdapter[tuple[FormField, ...]] = TypeAdapter(tuple[FormField, ...])


def read_fields(stored: Sequence[Any]) -> tuple[FormField, ...]:
    """The fields of a template from their JSON.

    Raises:
        ValueError: one of them is no field, two share a name, or a condition names a field
            that does not stand before it. (pydantic's ValidationError is one.)
    """
    fields = _FIELDS.validate_python(stored)
    if len(fields) > MOST_FIELDS:
        raise ValueError(f"a form has at most {MOST_FIELDS} fields")
    before: set[str] = set()
    for field in fields:
        if field.name in before:
            raise ValueError(f"two fields are called {field.name}")
        if field.show_if and field.show_if.field not in before:
            raise ValueError(f"the condition of {field.name} names no field above it")
        if field.type != "heading":
            before.add(field.name)
    return fields


def dump_fields(fields: Sequence[FormField]) -> list[dict[str, Any]]:
    """The fields as the JSON that `read_fields` takes, without what is as usual."""
    return [
        {"type": field.type, **field.model_dump(mode="json", exclude_defaults=True)}
        for field in fields
    ]
