"""Values of fields: read from what was typed, said or stored, into one form each.

What is stored is plain JSON:
    text, textarea, email: a string          number: a number as a string, "38.5"
    phone: "+12105550123", with an extension "+12105550123;ext=45"
    date: "2026-11-22"   time: "15:00"
    datetime: "2026-11-22T15:00" where the group is
    select, radio: an option's value         multi_select: a list of them, in their order
    checkbox: true (what is not ticked has no value)
    address: {line1, line2, city, state, postal, country}, those that are known
    person: {name, contact_id?}              file, photo, signature: a list of {id, name, size}
A field without a value is absent. What the form sends and what is stored are both taken, so
that a stored value can be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from email_validator import EmailNotValidError, validate_email

from app.fields.definitions import (
    MIB,
    AddressField,
    CheckboxField,
    DateField,
    DatetimeField,
    EmailField,
    FileField,
    FormField,
    Heading,
    MultiSelectField,
    NumberField,
    PersonField,
    PhoneField,
    PhotoField,
    RadioField,
    SelectField,
    SignatureField,
    TextareaField,
    TextField,
    TimeField,
)
from app.fields.numbers import is_between_two, parse_number, plain_number
from app.fields.patterns import compile_pattern
from app.fields.phones import LONGEST_EXTENSION, parse_phone, store_phone
from app.text.normalize import words
from app.text.plain_text import clean_line, clean_lines

Value = Any
Values = Mapping[str, Value]

ADDRESS_PARTS = ("line1", "line2", "city", "state", "postal", "country")
LONGEST_ADDRESS_PART, LONGEST_NAME = 120, 120
# As a contact's is written.
LONGEST_ID = 36
# A field with fewer places than this has no use for three digits after a point.
_THOUSANDTHS = 3


class Attachment(NamedTuple):
    """A file that the person has uploaded, as a value refers to it."""

    id: str
    name: str
    size: int
    media_type: str
    kind: str


class Person(NamedTuple):
    """A contact of the group."""

    id: str
    name: str


def _nobody(_words: str) -> Sequence[Person]:
    return ()


def _no_file(_id: str) -> Attachment | None:
    return None


@dataclass(frozen=True)
class FieldContext:
    """What values are read in: when, where, and how contacts and files are looked up.

    `find_people` gives the contacts that a name or an id may mean, the likeliest first;
    `find_file` a file that the person may attach. A phone number that names no country is of
    the `region`, unless its field has one of its own in `regions`.
    """

    now: datetime
    zone: ZoneInfo
    region: str = "US"
    language: str = "en"
    regions: Mapping[str, str] = field(default_factory=dict)
    find_people: Callable[[str], Sequence[Person]] = _nobody
    find_file: Callable[[str], Attachment | None] = _no_file

    @property
    def today(self) -> date:
        return self.here.date()

    @property
    def here(self) -> datetime:
        """Now, on the clock of the group."""
        return self.now.astimezone(self.zone)


class Problem(ValueError):
    """Why a value cannot be taken: a catalog message, and what fills its placeholders.

    `choices` are what it may be instead, as (value, label), where there are few.
    """

    def __init__(
        self, message: str, *, choices: Sequence[tuple[str, str]] = (), **params: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.choices = tuple(choices)
        self.params = params


@dataclass(frozen=True)
class Checked:
    """A form's values that can be taken, and the problems of those that cannot."""

    values: dict[str, Value] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)


def read_value(field_: FormField, raw: Any, around: FieldContext) -> Value | None:
    """A value as it is stored; None where there is none.

    Raises:
        Problem: it is no value of this field. That a required one is missing is none.
    """
    reader = _READERS.get(field_.type)
    if reader is None or is_empty(raw):
        return None
    value = reader(field_, raw, around)
    # Of what cannot be seen nothing is left.
    return None if is_empty(value) else value


def clean(text: Any, *, lines: bool = False) -> str:
    """Text without what cannot be seen and outer blanks, on one line unless `lines`."""
    if not isinstance(text, str):
        raise Problem("This is not text.")
    return clean_lines(text).strip() if lines else clean_line(text)


def is_empty(raw: Any) -> bool:
    """Whether a raw value holds nothing at all; False is something."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return True
    if isinstance(raw, Mapping):
        return all(is_empty(value) for value in raw.values())
    return isinstance(raw, (list, tuple)) and all(is_empty(value) for value in raw)


def _read_text(field_: TextField, raw: Any, _around: FieldContext) -> str | None:
    text = clean(raw)
    _check_length(text, field_.min_length, field_.max_length)
    if field_.pattern and not compile_pattern(field_.pattern).fullmatch(text):
        told = field_.pattern_help.text(_around.language)
        if told:
            raise Problem("This does not look right: %(help)s", help=told)
        raise Problem("This does not look right. Check what the field asks for.")
    return text or None


def _read_textarea(field_: TextareaField, raw: Any, _around: FieldContext) -> str | None:
    text = clean(raw, lines=True)
    _check_length(text, field_.min_length, field_.max_length)
    return text or None


def _check_length(text: str, least: int, most: int) -> None:
    if len(text) > most:
        raise Problem(
            "That is %(length)s characters; at most %(limit)s fit here.",
            length=f"{len(text):,}",
            limit=f"{most:,}",
        )
    if len(text) < least:
        raise Problem("Say a little more: at least %(limit)s characters.", limit=least)


def _read_number(field_: NumberField, raw: Any, _around: FieldContext) -> str:
    number = parse_number(raw)
    if number is None:
        raise Problem("Enter a number, like 38 or 38.5.")
    if is_between_two(raw) and field_.decimals < _THOUSANDTHS:
        # Whoever writes so where thousandths do not fit may mean thousands.
        raise Problem(
            "Enter %(whole)s if you mean thousands; otherwise, enter %(part)s.",
            whole=clean(raw).replace(".", ""),
            part=plain_number(round(number, field_.decimals)),
        )
    if field_.min is not None and number < field_.min:
        raise Problem("At least %(limit)s.", limit=plain_number(field_.min))
    if field_.max is not None and number > field_.max:
        raise Problem("At most %(limit)s.", limit=plain_number(field_.max))
    exponent = number.normalize().as_tuple().exponent
    if isinstance(exponent, int) and -exponent > field_.decimals:
        if not field_.decimals:
            raise Problem("Enter a whole number.")
        raise Problem("At most %(limit)s decimal places.", limit=field_.decimals)
    return plain_number(number)


def _read_email(_field: EmailField, raw: Any, _around: FieldContext) -> str:
    try:
        return normal_email(clean(raw))
    except EmailNotValidError:
        raise Problem("Enter an email address, like ana@example.com.") from None


@lru_cache(maxsize=1024)
def normal_email(typed: str) -> str:
    """Kept, because the steps of a conversation are read again at each turn."""
    return validate_email(typed, check_deliverability=False).normalized


def _read_phone(field_: PhoneField, raw: Any, around: FieldContext) -> str:
    number = parse_phone(clean(raw), around.regions.get(field_.name, around.region))
    if number is None:
        raise Problem(
            "Enter a phone number with its area code, like 210 555 0123 or 210 555 0123 ext. 45."
        )
    if len(number.extension or "") > LONGEST_EXTENSION:
        raise Problem("An extension has at most %(limit)s digits.", limit=LONGEST_EXTENSION)
    return store_phone(number)


def _read_date(field_: DateField, raw: Any, around: FieldContext) -> str:
    try:
        day = date.fromisoformat(clean(raw))
    except ValueError:
        raise Problem("Choose a day.") from None
    _check_year(day)
    _check_side(field_.when, day, around.today)
    return day.isoformat()


def _read_time(_field: TimeField, raw: Any, _around: FieldContext) -> str:
    try:
        moment = time.fromisoformat(clean(raw))
    except ValueError:
        raise Problem("Choose a time.") from None
    return f"{moment:%H:%M}"


def _read_datetime(field_: DatetimeField, raw: Any, around: FieldContext) -> str:
    try:
        moment = datetime.fromisoformat(clean(raw))
    except ValueError:
        raise Problem("Choose a day and a time.") from None
    here = around.here.replace(tzinfo=None)
    if moment.tzinfo is not None:
        moment = moment.astimezone(around.zone).replace(tzinfo=None)
    _check_year(moment.date())
    _check_side(field_.when, moment, here)
    return moment.isoformat(timespec="minutes")


def _check_year(day: date) -> None:
    if not 1900 <= day.year <= 2200:
        raise Problem("Check the year.")


def _check_side(when: str, given: date | datetime, now: date | datetime) -> None:
    if when == "past" and given > now:
        raise Problem("This date is in the future.")
    if when == "future" and given < now:
        raise Problem("This date is in the past.")


def _read_choice(field_: SelectField | RadioField, raw: Any, around: FieldContext) -> str:
    value = clean(raw)
    if field_.option(value) is None:
        raise _not_on_list(field_, around.language)
    return value


def _read_multi_select(field_: MultiSelectField, raw: Any, around: FieldContext) -> list[str]:
    given = {clean(each) for each in (raw if isinstance(raw, (list, tuple)) else [raw])} - {""}
    known = [option.value for option in field_.options if option.value in given]
    if len(known) < len(given):
        raise _not_on_list(field_, around.language)
    if len(known) < field_.least:
        raise Problem("Choose at least %(limit)s.", limit=field_.least)
    if len(known) > field_.most:
        raise Problem("Choose at most %(limit)s.", limit=field_.most)
    return known


def _not_on_list(field_: SelectField | RadioField | MultiSelectField, language: str) -> Problem:
    choices = [(option.value, option.label.text(language)) for option in field_.options]
    return Problem("Choose from the list.", choices=choices)


def _read_checkbox(_field: CheckboxField, raw: Any, _around: FieldContext) -> bool | None:
    if raw in (True, "true", "on", "1", "yes"):
        return True
    if raw in (False, "false", "off", "0", "no"):
        return None
    raise Problem("Say yes or no.")


def _read_address(_field: AddressField, raw: Any, _around: FieldContext) -> dict[str, str] | None:
    given = {"line1": raw} if isinstance(raw, str) else raw
    if not isinstance(given, Mapping) or set(given) - set(ADDRESS_PARTS):
        raise Problem("This is not an address.")
    parts = {name: clean(given[name] or "") for name in ADDRESS_PARTS if name in given}
    for part in parts.values():
        _check_length(part, 0, LONGEST_ADDRESS_PART)
    parts = {name: part for name, part in parts.items() if part}
    if parts and "line1" not in parts:
        raise Problem("Enter the street and number too.")
    return parts or None


def _read_person(field_: PersonField, raw: Any, around: FieldContext) -> dict[str, str]:
    """A contact by id or name; several that it may mean are a problem with choices.

    The beginning of a name may be another's: "Juan" is not Juana.
    """
    given = raw if isinstance(raw, Mapping) else {"name": raw}
    if set(given) - {"name", "contact_id"}:
        raise Problem("This is not a person.")
    name, contact_id = clean(given.get("name") or ""), clean(given.get("contact_id") or "")
    _check_length(name, 0, LONGEST_NAME)
    if len(contact_id) > LONGEST_ID:
        raise Problem("This contact is no longer there. Choose another one.")
    found = around.find_people(contact_id or name)
    if contact_id and not found:
        raise Problem("This contact is no longer there. Choose another one.")
    called = found if contact_id else people_called(name, found)
    if len(called) == 1:
        return {"name": called[0].name, "contact_id": called[0].id}
    if called:
        raise Problem("Several people have that name. Which one?", choices=called)
    if not field_.anybody:
        raise Problem("No contact has that name.", choices=found)
    return {"name": name}


def people_called(name: str, found: Iterable[Person]) -> list[Person]:
    """Those who have every word of a name; of one who is found by its beginning alone, no."""
    wanted = set(words(name))
    return [person for person in found if wanted <= set(words(person.name))]


def _read_files(
    field_: FileField | PhotoField | SignatureField, raw: Any, around: FieldContext
) -> list[dict[str, Any]]:
    given = raw if isinstance(raw, (list, tuple)) else [raw]
    ids = [clean(each.get("id") if isinstance(each, Mapping) else each) for each in given]
    ids = list(dict.fromkeys(id_ for id_ in ids if id_))
    most = 1 if field_.type == "signature" else field_.most
    if len(ids) > most:
        raise Problem("At most %(limit)s files.", limit=most)
    found = [around.find_file(id_) for id_ in ids]
    if None in found:
        raise Problem("This file is no longer there. Add it again.")
    for one in found:
        if one is not None:
            _check_file(field_, one)
    return [{"id": one.id, "name": one.name, "size": one.size} for one in found if one]


def _check_file(field_: FileField | PhotoField | SignatureField, file: Attachment) -> None:
    """A file may have been uploaded for another field, which takes others."""
    kinds = field_.kinds if field_.type == "file" else ("image",)
    if file.kind not in kinds:
        raise Problem("This type of file can't be added here. See below the field which types can.")
    if field_.type == "file" and file.size > field_.largest_mib * MIB:
        raise Problem(
            "The file is larger than %(limit)s MB. Make it smaller, or take the "
            "photo at a lower resolution.",
            limit=field_.largest_mib,
        )


_READERS: dict[str, Callable[[Any, Any, FieldContext], Value | None]] = {
    "text": _read_text,
    "textarea": _read_textarea,
    "number": _read_number,
    "email": _read_email,
    "phone": _read_phone,
    "date": _read_date,
    "time": _read_time,
    "datetime": _read_datetime,
    "select": _read_choice,
    "radio": _read_choice,
    "multi_select": _read_multi_select,
    "checkbox": _read_checkbox,
    "address": _read_address,
    "person": _read_person,
    "file": _read_files,
    "photo": _read_files,
    "signature": _read_files,
}


def has_value(field_: FormField) -> bool:
    """Whether a field can have a value at all."""
    return not isinstance(field_, Heading)
