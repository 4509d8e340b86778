"""The group's contacts for those who look after them: found, written, taken off the list."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Text, cast, func, or_, select

from app.accounts.audit import record
from app.accounts.group_settings import load_zone_and_region
from app.db import ScopedSession, new_id, utc_now
from app.errors import InvalidInput, NotFound
from app.fields.definitions import EmailField, PhoneField, Words
from app.fields.values import LONGEST_NAME, FieldContext, Problem, clean, read_value
from app.skills.forms.models import Contact
from app.text.edits import check_same, merge_edit
from app.text.free_text import MOST_WORDS, limit_search
from app.text.normalize import words

MOST_LISTED = 200
# A table that is brought is compared with all of them.
MOST_CONTACTS = 5_000
LONGEST_JOB = 80
EMAIL = EmailField(name="email", label=Words(en="Email"))
PHONE = PhoneField(name="phone", label=Words(en="Phone"))


@dataclass(frozen=True)
class ContactTexts:
    """A contact as somebody writes it."""

    name: str = ""
    job: str = ""
    phone: str = ""
    email: str = ""


def list_contacts(
    session: ScopedSession, wanted: str = "", *, active: bool = True
) -> tuple[list[Contact], int]:
    """Those on the list, or off it, that have every word in name or job; and how many there are.

    Accents are optional. At most `MOST_LISTED` are given.

    Raises:
        TooMany: that takes too long.
    """
    told = func.name_words(
        Contact.name + " " + Contact.job + " " + Contact.email, cast("", Text), type_=Text
    )
    conditions: list[ColumnElement[bool]] = [
        Contact.group_id == session.scope.group_id,
        Contact.is_active == active,
        *(
            or_(
                told.contains(f" {word}", autoescape=True),
                Contact.phone.contains(word, autoescape=True),
            )
            for word in words(wanted)[:MOST_WORDS]
        ),
    ]
    query = select(Contact).where(*conditions)
    page = query.order_by(Contact.name, Contact.id).limit(MOST_LISTED)
    with limit_search(session):
        count = session.scalar(query.with_only_columns(func.count(Contact.id))) or 0
        return list(session.scalars(page)), count


def load_contact(session: ScopedSession, contact_id: UUID, *, lock: bool = False) -> Contact:
    """A contact of the group, on the list or off it, or NotFound."""
    query = select(Contact).where(
        Contact.id == contact_id, Contact.group_id == session.scope.group_id
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    contact = session.scalar(query)
    if contact is None:
        raise NotFound("This contact does not exist, or it is not in your group.")
    return contact


def read_contact(texts: ContactTexts, region: str) -> ContactTexts:
    """A contact as it is stored; a phone number that names no country is of `region`.

    Raises:
        InvalidInput: names the field.
    """
    name, job = clean(texts.name), clean(texts.job)
    if not name:
        raise InvalidInput("Enter a name.", field="name")
    for field, text, longest in (("name", name, LONGEST_NAME), ("job", job, LONGEST_JOB)):
        if len(text) > longest:
            raise InvalidInput("Use at most %(longest)s characters.", field=field, longest=longest)
    around = FieldContext(utc_now(), ZoneInfo("UTC"), region)
    found = {}
    for each, text in ((PHONE, texts.phone), (EMAIL, texts.email)):
        try:
            found[each.name] = read_value(each, text, around) or ""
        except Problem as problem:
            raise InvalidInput(problem.message, field=each.name, **problem.params) from None
    return ContactTexts(name, job, found["phone"], found["email"])


def add_contact(session: ScopedSession, contact_id: UUID, typed: ContactTexts) -> Contact:
    """A new contact; what is sent twice under one id is there once. Commits.

    Raises:
        InvalidInput: names the field.
    """
    texts = read_contact(typed, load_zone_and_region(session)[1])
    # Of two that come at once the second waits here for the first.
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(str(contact_id), 0))))
    own = (Contact.id == contact_id, Contact.group_id == session.scope.group_id)
    known = session.scalar(select(Contact).where(*own))
    if known is not None:
        session.commit()
        return known
    if not count_room(session):
        raise list_is_full()
    contact = new_contact(session, texts, contact_id)
    record(session, "contact_added", str(contact.id))
    session.commit()
    return contact


def count_room(session: ScopedSession) -> int:
    """How many more contacts the group's list takes, those off it included."""
    count = select(func.count()).select_from(Contact)
    here = session.scalar(count.where(Contact.group_id == session.scope.group_id)) or 0
    return max(0, MOST_CONTACTS - here)


def list_is_full() -> InvalidInput:
    return InvalidInput(
        "The list holds at most %(most)s people, including those who were taken off it. Change one"
        " of them instead of adding another.",
        field="name",
        most=MOST_CONTACTS,
    )


def new_contact(
    session: ScopedSession, texts: ContactTexts, contact_id: UUID | None = None
) -> Contact:
    """A contact of these texts, as they are stored. Never commits."""
    contact = Contact(id=contact_id or new_id(), group_id=session.scope.group_id)
    write_contact(contact, texts)
    session.add(contact)
    return contact


def write_contact(contact: Contact, texts: ContactTexts) -> None:
    contact.name, contact.job = texts.name, texts.job
    contact.phone, contact.email = texts.phone, texts.email


def texts_of(contact: Contact) -> ContactTexts:
    """A contact as it is stored."""
    return ContactTexts(contact.name, contact.job, contact.phone, contact.email)


def save_contact(
    session: ScopedSession, contact_id: UUID, *, was: ContactTexts, typed: ContactTexts
) -> Contact:
    """Change what differs from what the contact `was`, as the page showed it. Commits.

    What somebody else has changed meanwhile stays. Forms that name the contact already keep what
    they say.

    Raises:
        NotFound, InvalidInput. Overtaken: both have changed the same field; nothing is written.
    """
    region = load_zone_and_region(session)[1]
    before, texts = asdict(was), asdict(read_contact(typed, region))
    contact = load_contact(session, contact_id, lock=True)
    merged = merge_edit(before, texts, asdict(texts_of(contact)))
    write_contact(contact, ContactTexts(**merged))
    record(session, "contact_edited", str(contact.id))
    session.commit()
    return contact


def switch_contact(
    session: ScopedSession, contact_id: UUID, *, active: bool, was: ContactTexts
) -> Contact:
    """Take a contact off the list, or put it back on; twice is the same as once. Commits.

    Raises:
        NotFound. Conflict: it is not what it `was`, as the page showed it.
    """
    contact = load_contact(session, contact_id, lock=True)
    if contact.is_active != active:
        check_same(was, texts_of(contact))
        contact.is_active = active
        record(session, "contact_restored" if active else "contact_removed", str(contact.id))
    session.commit()
    return contact
