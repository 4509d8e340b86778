"""Contacts from a table: read row by row, with the reason where a row cannot be used."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import InvalidInput
from app.folding import words
from app.skills.forms.contact_editing import (
    ContactTexts,
    new_contact,
    read_contact,
    write_contact,
)
from app.skills.forms.models import Contact

LARGEST_FILE = 1024 * 1024
MOST_ROWS = 2_000
COLUMNS = {
    "name": ("name", "full name", "employee", "nombre", "nombre completo", "empleado"),
    "job": ("job", "job title", "position", "role", "puesto", "cargo", "rol", "posicion"),
    "phone": ("phone", "phone number", "mobile", "cell", "telefono", "celular", "movil", "tel"),
    "email": ("email", "e mail", "mail", "correo", "correo electronico"),
}
_SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class RowProblem:
    """Why a row was left out: its line in the file, who it is about, and a catalog message."""

    line: int
    name: str
    message: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass
class Imported:
    """What came of a table: who is new, who was changed, who was as before, who was left out."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same: int = 0
    problems: list[RowProblem] = field(default_factory=list)


def import_contacts(session: ScopedSession, content: bytes) -> Imported:
    """Write the rows that can be used; the others are told. The same table again does nothing.

    Who has the name of a contact is that contact, and is put back on the list. Commits.

    Raises:
        InvalidInput: there is no table with names in it, or it is too long.
    """
    done, seen = Imported(), dict[str, int]()
    known = _by_name(session)
    for line, given in _rows(content):
        try:
            texts = read_contact(given)
            key = _key(texts.name)
            if key in seen:
                raise InvalidInput("The same name stands in line %(line)s already.", line=seen[key])
        except InvalidInput as error:
            done.problems.append(RowProblem(line, given.name, error.message, error.params))
            continue
        seen[key] = line
        _write(session, known.get(key), texts, done)
    if done.added or done.changed:
        told = f"{len(done.added)} added, {len(done.changed)} changed"
        record(session, "contacts_imported", told)
    session.commit()
    return done


def _by_name(session: ScopedSession) -> dict[str, Contact]:
    """The group's contacts by folded name; of two of one name the one that is on the list."""
    rows = session.scalars(
        select(Contact)
        .where(Contact.group_id == session.scope.group_id)
        .order_by(Contact.is_active, Contact.id)
    )
    return {_key(each.name): each for each in rows}


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
    before = ContactTexts(contact.name, contact.job, contact.phone, contact.email)
    if wanted == before and contact.is_active:
        done.same += 1
        return
    write_contact(contact, wanted)
    contact.is_active = True
    done.changed.append(texts.name)


def _rows(content: bytes) -> Iterator[tuple[int, ContactTexts]]:
    """Each row with the line on which it begins."""
    table = list(_cells(_decode(content)))
    if not table:
        raise InvalidInput("The file is empty. Choose another one.", field="file")
    columns = [_column(cell) for cell in table[0][1]]
    if "name" not in columns:
        raise InvalidInput(
            "The first line must name the columns, and one of them must be called Name or Nombre.",
            field="file",
        )
    if len(table) - 1 > MOST_ROWS:
        raise InvalidInput(
            "The table has %(count)s rows; %(limit)s can be taken at once. Make several of it.",
            field="file",
            count=f"{len(table) - 1:,}",
            limit=f"{MOST_ROWS:,}",
        )
    for line, cells in table[1:]:
        said: dict[str, str] = {}
        for column, cell in zip(columns, cells, strict=False):
            # Of two columns for the same the first one that says something counts.
            if column and not said.get(column, "").strip():
                said[column] = cell
        yield line, ContactTexts(**said)


def _column(cell: str) -> str:
    called = " ".join(words(cell))
    return next((name for name, known in COLUMNS.items() if called in known), "")


def _cells(text: str) -> Iterator[tuple[int, Sequence[str]]]:
    first = next(filter(str.strip, text.splitlines()), "")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=first.count), strict=True
    )
    begins = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error:
        raise InvalidInput(
            "Line %(line)s cannot be read as a table. Save it as CSV again.",
            field="file",
            line=begins,
        ) from None


def _decode(content: bytes) -> str:
    """Text as Excel and others write it: UTF-8, UTF-16 with its mark, or that of Windows."""
    if len(content) > LARGEST_FILE:
        raise InvalidInput("The file is larger than %(limit)s MB.", field="file", limit=1)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if b"\0" in content:
        raise InvalidInput("This is no table in text. Save it as CSV.", field="file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
