"""The group's contacts: whom a name means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import select

from app.db import ScopedSession, new_id
from app.retrieval.folding import words
from app.skills.forms.fields.values import Person
from app.skills.forms.models import Contact

MOST_FOUND = 8


def find_people(session: ScopedSession, wanted: str) -> list[Person]:
    """The contacts that a name, or a contact's id, may mean; who is called exactly so alone.

    Every word of the name must be one of theirs, or the beginning of one where it is the last.
    """
    query = (
        select(Contact)
        .where(Contact.group_id == session.scope.group_id, Contact.is_active)
        .order_by(Contact.name)
    )
    contact_id = _as_id(wanted)
    if contact_id:
        query = query.where(Contact.id == contact_id)
    else:
        spoken = words(wanted)
        if not spoken:
            return []
        for number, word in enumerate(spoken, 1):
            ending = "" if number == len(spoken) else " "
            query = query.where(Contact.name_words.contains(f" {word}{ending}", autoescape=True))
    found = session.scalars(query.limit(MOST_FOUND)).all()
    exact = [one for one in found if words(one.name) == words(wanted)]
    whole = [one for one in found if set(words(wanted)) <= set(words(one.name))]
    return [Person(str(one.id), one.name) for one in exact or whole or found]


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


def _as_id(wanted: str) -> UUID | None:
    try:
        return UUID(wanted)
    except ValueError:
        return None
