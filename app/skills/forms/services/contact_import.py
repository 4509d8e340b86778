"""Contacts from a table: read row by row, with the reason where a row cannot be used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import InvalidInput
from app.fields.phones import EXTENSION_WORDS
from app.fields.values import clean
from app.files.table_cells import Cells
from app.jobs.system_threads import RealThreads
from app.skills.forms.models import Contact
from app.skills.forms.services.contacts import (
    ContactTexts,
    count_room,
    list_is_full,
    new_contact,
    read_contact,
    texts_of,
    write_contact,
)
from app.skills.forms.services.lexicon import CONTACT_COLUMNS
from app.text.normalize import words

_EXTENSION = re.compile(
    rf"(?:(?:{EXTENSION_WORDS}|[x#])[.:#]?\s*)?(?P<digits>[0-9]+)", re.IGNORECASE
)
_READING = RealThreads(1, holds_nothing=True)


@dataclass(frozen=True)
class RowProblem:
    """Why a row was left out: its line in the file, who it is about, and a catalog message."""

    line: int
    name: str
    message: str
    params: dict[str, Any] = field(default_factory=dict)


# A row: its line, what it says, and what is to be written of it or why it cannot be.
ReadRow = tuple[int, ContactTexts, ContactTexts | InvalidInput]


@dataclass
class Imported:
    """What came of a table: who is new, who was changed, who was as before, who was left out."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same: int = 0
    problems: list[RowProblem] = field(default_factory=list)


def read_contacts(table: Cells, region: str) -> list[ReadRow]:
    """Each row of a table as a contact, or why it is none; before a transaction begins.

    Addresses in other scripts take long to read, and nobody else's page waits for thousands.

    Raises:
        InvalidInput: none of its columns has names.
    """
    return _READING.run(lambda: [_read(*row, region) for row in _rows(table)])


def import_contacts(session: ScopedSession, rows: Iterable[ReadRow]) -> Imported:
    """Write the rows that can be used; the others are told. The same table again does nothing.

    Who has the name of a contact is that contact, and is put back on the list. Commits.
    """
    done, seen = Imported(), dict[str, int]()
    rows = list(rows)
    room = count_room(session)
    known = _by_name(
        session, {_key(each.name) for _, _, each in rows if isinstance(each, ContactTexts)}
    )
    for line, given, texts in rows:
        error = texts if isinstance(texts, InvalidInput) else _namesake(texts, seen)
        if error is not None:
            done.problems.append(RowProblem(line, given.name, error.message, error.params))
            continue
        assert isinstance(texts, ContactTexts)
        key = _key(texts.name)
        seen[key] = line
        if key not in known and len(done.added) >= room:
            full = list_is_full()
            done.problems.append(RowProblem(line, given.name, full.message, full.params))
            continue
        _write(session, known.get(key), texts, done)
    if done.added or done.changed:
        told = f"{len(done.added)} added, {len(done.changed)} changed"
        record(session, "contacts_imported", told)
    session.commit()
    return done


def _read(line: int, given: ContactTexts, extension: str, region: str) -> ReadRow:
    """A row with what is to be written of it, or why it cannot be."""
    try:
        return line, given, _join_extension(read_contact(given, region), extension, region)
    except InvalidInput as error:
        return line, given, error


def _join_extension(texts: ContactTexts, extension: str, region: str) -> ContactTexts:
    """A contact with the extension that a column of its own says: "45", "ext. 45" or nothing.

    Raises:
        InvalidInput: it is no extension, there is no number, or the number has another one.
    """
    said = clean(extension)
    if not said:
        return texts
    match = _EXTENSION.fullmatch(said)
    if match is None:
        raise InvalidInput("An extension has only digits, like 45.", field="phone")
    number, _, known = texts.phone.partition(";ext=")
    if not number:
        raise InvalidInput("There is an extension without a phone number.", field="phone")
    if known and known != match["digits"]:
        raise InvalidInput("The phone number has another extension.", field="phone")
    return read_contact(replace(texts, phone=f"{number} ext. {match['digits']}"), region)


def _namesake(texts: ContactTexts, seen: Mapping[str, int]) -> InvalidInput | None:
    line = seen.get(_key(texts.name))
    if line is None:
        return None
    return InvalidInput("Line %(line)s already has this name.", line=line)


def _by_name(session: ScopedSession, wanted: Set[str]) -> dict[str, Contact]:
    """The group's contacts of these folded names; of two of one the one that is on the list."""
    here = Contact.group_id == session.scope.group_id
    ordered = (Contact.is_active, Contact.id)
    names = session.execute(select(Contact.id, Contact.name).where(here).order_by(*ordered))
    ids = {key: row.id for row in names if (key := _key(row.name)) in wanted}
    found = session.scalars(select(Contact).where(here, Contact.id.in_(ids.values())))
    by_id = {each.id: each for each in found}
    return {key: by_id[contact_id] for key, contact_id in ids.items()}


def _key(name: str) -> str:
    return " ".join(words(name)) or name


def _write(
    session: ScopedSession, contact: Contact | None, texts: ContactTexts, done: Imported
) -> None:
    if contact is None:
        new_contact(session, texts)
        done.added.append(texts.name)
        return
    # What the table does not say stays as it is.
    wanted = ContactTexts(
        texts.name,
        texts.job or contact.job,
        texts.phone or contact.phone,
        texts.email or contact.email,
    )
    if wanted == texts_of(contact) and contact.is_active:
        done.same += 1
        return
    write_contact(contact, wanted)
    contact.is_active = True
    done.changed.append(texts.name)


def _rows(table: Cells) -> Iterator[tuple[int, ContactTexts, str]]:
    """Each row with the line on which it begins, and the extension of its phone number."""
    columns = [_column(cell) for cell in table[0][1]]
    if "name" not in columns:
        raise InvalidInput(
            "The first line must name the columns, and one of them must be called Name or Nombre.",
            field="file",
        )
    for line, cells in table[1:]:
        said: dict[str, str] = {}
        for column, cell in zip(columns, cells, strict=False):
            # Of two columns for the same the first one that says something counts.
            if column and not said.get(column, "").strip():
                said[column] = cell
        extension = said.pop("extension", "")
        yield line, ContactTexts(**said), extension


def _column(cell: str) -> str:
    called = " ".join(words(cell))
    return next((name for name, known in CONTACT_COLUMNS.items() if called in known), "")
