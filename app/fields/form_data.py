"""What the page of a form sends of each field, and the raw values that it stands for.

Each field has a shape on the page, in which an untouched value comes back as it was shown:
    checkbox: "true" or ""               multi_select, file, photo, signature: a list of strings
    address: {line1, line2, …}, all six  person: {name, contact_id}
    all others: a string
The mark of a shape goes into the page with it. What comes back with the same mark was not
touched there, whatever has become of it elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from app.fields.definitions import (
    FILE_TYPES,
    FileField,
    FormField,
    MultiSelectField,
    PhotoField,
)
from app.fields.values import ADDRESS_PARTS, Value
from app.text.plain_text import clean_lines

# Whose stored value says more than what was typed: a whole name, a moment without its zone.
_SHOWN_AS_READ = ("person", "datetime", "date", "time", "checkbox")
_TRUE = (True, "true", "on", "1", "yes")
# Twice what the longest field takes, so that what is too long is seen and can be shortened: of
# a text, of a part of an address or a name, and of an option or the id of a file or contact.
# Whatever signs it is made of, no field takes more than 64 KiB.
LONGEST_TYPED, LONGEST_PART, LONGEST_LISTED = 10_000, 1_000, 60
_EMPTY: tuple[Any, ...] = ("", [], None)


class TypedForm(Protocol):
    """A form as it was sent (werkzeug's MultiDict is one)."""

    def get(self, key: str, /) -> str | None: ...
    def getlist(self, key: str, /) -> list[str]: ...


class Seen(NamedTuple):
    """What a page has seen of a field: how often it had been changed, and its mark."""

    version: int
    mark: str


def shape_of(field: FormField, raw: Any, value: Value | None = None) -> Any:
    """A field as the page shows it; `value` is what `raw` was read as, if it could be."""
    held = value if value is not None and field.type in _SHOWN_AS_READ else raw
    if field.type == "checkbox":
        return "true" if held in _TRUE else ""
    if field.type == "multi_select" or field.type in FILE_TYPES:
        return [_id_of(each) for each in _listed(held) if each not in _EMPTY]
    if field.type == "address":
        given = held if isinstance(held, Mapping) else {"line1": held}
        return {part: _text(given.get(part)) for part in ADDRESS_PARTS}
    if field.type == "person":
        given = held if isinstance(held, Mapping) else {"name": held}
        return {part: _text(given.get(part)) for part in ("name", "contact_id")}
    if field.type == "datetime":
        return _local_moment(_text(held))
    return _text(held)


def shape_now(field: FormField, here: datetime) -> str:
    """A field that starts with the present moment as the page shows it; `here` is local time."""
    if field.type == "date":
        return f"{here:%Y-%m-%d}"
    return f"{here:%H:%M}" if field.type == "time" else f"{here:%Y-%m-%dT%H:%M}"


def read_shape(field: FormField, form: TypedForm, shown: Any) -> Any:
    """A field as the form brings it; `shown` is its shape before.

    A button `pick-NAME` says which of several choices was meant.
    """
    key, picked = f"v-{field.name}", _bare(form.get(f"pick-{field.name}"), LONGEST_LISTED)
    if field.type == "multi_select" or field.type in FILE_TYPES:
        given = dict.fromkeys(filter(None, (*form.getlist(key), picked)))
        listed = [_bare(each, LONGEST_LISTED) for each in list(given)[: _most_listed(field)]]
        return list(dict.fromkeys(filter(None, listed)))
    if field.type == "address":
        return {part: _bare(form.get(f"{key}-{part}"), LONGEST_PART) for part in ADDRESS_PARTS}
    if field.type == "person":
        contact_id = picked or _bare(form.get(f"{key}-contact"), LONGEST_LISTED)
        return _read_person(_bare(form.get(key), LONGEST_PART), contact_id, shown)
    return picked or _bare(form.get(key))


def _most_listed(field: FormField) -> int:
    """How many values of a list are read: one more than it takes, so that too many are told."""
    if isinstance(field, MultiSelectField):
        return len(field.options) + 1
    return 1 + (field.most if isinstance(field, FileField | PhotoField) else 1)


def raw_of(field: FormField, shape: Any) -> Any:
    """A shape as it is stored in a draft; None where it is empty."""
    if field.type == "address":
        return {part: text for part, text in shape.items() if text.strip()} or None
    if field.type == "person":
        given = {part: text for part, text in shape.items() if text.strip()}
        return given or None
    if isinstance(shape, str) and not shape.strip():
        return None
    return shape or None


def mark_of(shape: Any) -> str:
    """A short mark that differs where shapes differ."""
    text = json.dumps(shape, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def read_seen(text: str | None) -> Seen | None:
    """What a page says it has seen of a field; None where it had no such field."""
    if text is None:
        return None
    version, _, mark = text.partition("-")
    is_count = version.isdecimal() and len(version) < len("1000000000")
    return Seen(int(version) if is_count else 0, mark)


def _read_person(name: str, contact_id: str, shown: Mapping[str, str]) -> dict[str, str]:
    """A contact is meant only as long as its name stands in the field."""
    is_same = contact_id == shown["contact_id"] and name.strip() != shown["name"].strip()
    return {"name": name, "contact_id": "" if is_same else contact_id}


def _listed(held: Any) -> list[Any]:
    return list(held) if isinstance(held, list | tuple) else [held]


def _id_of(each: Any) -> str:
    return _text(each.get("id")) if isinstance(each, Mapping) else _text(each)


def _text(held: Any) -> str:
    return "" if held is None else _bare(str(held))


def _bare(text: str | None, longest: int = LONGEST_TYPED) -> str:
    """A text with line ends of one kind, as long as is taken, without what no database keeps."""
    return clean_lines(text or "")[:longest]


def _local_moment(text: str) -> str:
    """A moment as browsers send it, to the minute; anything else as it is."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return moment.replace(tzinfo=None).isoformat(timespec="minutes")
