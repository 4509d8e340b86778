"""The group's contacts: whom a name means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import ColumnElement, select

from app.db import ScopedSession, new_id, read_id
from app.fields.values import Person, people_called
from app.skills.forms.models import Contact
from app.text.free_text import limit_search
from app.text.normalize import words

MOST_FOUND = 8
# Each word of a name is looked for by itself.
MOST_WORDS = 12


def find_people(session: ScopedSession, wanted: str) -> list[Person]:
    """The contacts that a name, or a contact's id, may mean; who is called exactly so alone.

    Every word of the name must be one of theirs, or the beginning of one where it is the last.

    Raises:
        TooMany: that takes too long.
    """
    query = select(Contact).where(Contact.group_id == session.scope.group_id, Contact.is_active)
    contact_id, spoken = read_id(wanted), words(wanted)[:MOST_WORDS]
    if contact_id:
        query = query.where(Contact.id == contact_id)
    elif not spoken:
        return []
    else:
        *whole, last = spoken
        query = query.where(*(_has(f" {word} ") for word in whole), _has(f" {last}"))
        # Those who are called so come first, however many have names that only begin so.
        query = query.order_by(_has(f" {last} ").desc())
    with limit_search(session):
        rows = session.scalars(query.order_by(Contact.name).limit(MOST_FOUND)).all()
    found = [Person(str(row.id), row.name) for row in rows]
    exact = [one for one in found if words(one.name) == spoken]
    return exact or people_called(wanted, found) or found


def _has(part: str) -> ColumnElement[bool]:
    return Contact.name_words.contains(part, autoescape=True)


def add_contacts(
    session: ScopedSession, group_id: UUID, people: Iterable[Mapping[str, str]]
) -> None:
    """Add those whose name a group does not have yet: {name, job, phone, email}. Never commits."""
    known = set(session.scalars(select(Contact.name).where(Contact.group_id == group_id)))
    session.add_all(
        Contact(id=new_id(), group_id=group_id, **person)
        for person in people
        if person["name"] not in known
    )
    session.flush()
