"""The pages of contacts: the list, one of them, and a table of many. For managers and admins."""

from __future__ import annotations

from dataclasses import asdict, replace
from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.form_pages import page
from app.accounts.group_settings import load_zone_and_region
from app.db import new_id
from app.errors import ComandaError, Conflict, InvalidInput, TooMany
from app.extensions import services
from app.fields.display import plain
from app.files.posted_files import allow_files, examination, get_posted_files
from app.files.tables import LARGEST_TABLE, read_table
from app.skills.forms.models import Contact
from app.skills.forms.services.contact_import import import_contacts, read_contacts
from app.skills.forms.services.contacts import (
    MOST_LISTED,
    PHONE,
    ContactTexts,
    add_contact,
    list_contacts,
    load_contact,
    save_contact,
    switch_contact,
    texts_of,
)
from app.text.bilingual import reader_language
from app.text.edits import Overtaken
from app.web.issued_ids import id_of_posted
from app.web.pages import db_session, require_role
from app.web.rate_limits import limit_building, limit_searches

blueprint = Blueprint("contacts", __name__, url_prefix="/admin/contacts")


@blueprint.url_value_preprocessor
def let_a_table_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """One route takes one file, from whoever is signed in; who else may is looked at later."""
    if endpoint == "contacts.take_table" and current_user.is_authenticated:
        # Twice as much, so that what is a little too large is told so on its page.
        allow_files(2 * LARGEST_TABLE, most=1)


@blueprint.before_request
def editors_only() -> None:
    require_role("manager", "admin")


@blueprint.get("/")
@limit_searches
def index() -> ResponseReturnValue:
    """Who forms may name; the list alone for htmx."""
    wanted, off = request.args.get("q", "")[:100], "off" in request.args
    found, count = list_contacts(db_session(), wanted, active=not off)
    fragment = request.htmx.wants_fragment  # type: ignore[attr-defined]
    return render_template(
        "forms/contacts/_list.html" if fragment else "forms/contacts/index.html",
        contacts=found,
        count=count,
        most=MOST_LISTED,
        wanted=wanted,
        off=off,
        phone=_phone,
    )


def _phone(contact: Contact) -> str:
    return plain(PHONE, contact.phone or None, reader_language())


@blueprint.get("/new")
def new() -> ResponseReturnValue:
    """The form for somebody who is not on the list yet."""
    return _new_page(ContactTexts())


def _new_page(texts: ContactTexts, error: InvalidInput | None = None) -> ResponseReturnValue:
    begun = request.form.get("begun_id", "")[:36] or new_id()
    return page("forms/contacts/edit.html", error, contact=None, texts=texts, begun_id=begun)


@blueprint.post("/new")
@limit_building
def add() -> ResponseReturnValue:
    """Put somebody on the list."""
    try:
        contact = add_contact(db_session(), id_of_posted(), _typed())
    except InvalidInput as error:
        return _new_page(_typed(), error)
    flash(_("%(name)s is on the list.", name=contact.name))
    return _to_list()


@blueprint.get("/<uuid:contact_id>")
def edit(contact_id: UUID) -> ResponseReturnValue:
    """One of them."""
    contact = load_contact(db_session(), contact_id)
    return _edit_page(contact, _shown(contact), texts_of(contact))


def _shown(contact: Contact) -> ContactTexts:
    return replace(texts_of(contact), phone=_phone(contact))


def _edit_page(
    contact: Contact,
    texts: ContactTexts,
    was: ContactTexts,
    error: ComandaError | None = None,
    theirs: dict[str, str] | None = None,
) -> ResponseReturnValue:
    """`texts` stand in the form; what it changes is told by what the contact `was`.

    `theirs` is what stands there instead of what was typed, by field.
    """
    more = {"contact": contact, "texts": texts, "was": was, "theirs": theirs}
    return page("forms/contacts/edit.html", error, **more)


@blueprint.post("/<uuid:contact_id>")
@limit_building
def save(contact_id: UUID) -> ResponseReturnValue:
    """Write what was typed, or show it again with what is wrong or overtaken."""
    session, was, typed = db_session(), _typed("was_"), _typed()
    try:
        contact = save_contact(session, contact_id, was=was, typed=typed)
    except InvalidInput as error:
        return _edit_page(load_contact(session, contact_id), typed, was, error)
    except Overtaken as error:
        session.rollback()
        return _overtaken_page(load_contact(session, contact_id), typed, error)
    flash(_("%(name)s was saved.", name=contact.name))
    return _to_list()


def _overtaken_page(contact: Contact, typed: ContactTexts, error: Overtaken) -> ResponseReturnValue:
    """What was typed, over what stands there now; saved again, it takes that place."""
    texts, theirs = error.shown_again(asdict(_shown(contact)), asdict(typed))
    return _edit_page(contact, ContactTexts(**texts), texts_of(contact), error, theirs)


@blueprint.post("/<uuid:contact_id>/switch")
@limit_building
def switch(contact_id: UUID) -> ResponseReturnValue:
    """Take somebody off the list, or put them back."""
    active = request.form.get("to") == "on"
    try:
        contact = switch_contact(db_session(), contact_id, active=active, was=_typed("was_"))
    except Conflict as error:
        db_session().rollback()
        now = load_contact(db_session(), contact_id)
        return _edit_page(now, _shown(now), texts_of(now), error)
    if active:
        flash(_("%(name)s is on the list.", name=contact.name))
        return _to_list()
    flash(_("%(name)s is off the list. Forms that name them stay as they are.", name=contact.name))
    return _to_list()


@blueprint.get("/import")
def choose_table() -> ResponseReturnValue:
    """Where a table of contacts is handed in."""
    return page("forms/contacts/import.html", done=None)


@blueprint.post("/import")
@limit_building
def take_table() -> ResponseReturnValue:
    """Take in what can be used of a table, and tell row by row what cannot."""
    try:
        posted = get_posted_files({"file": 1})
        if not posted:
            raise InvalidInput("Choose a file first.", field="file")
        region = _region()
        with examination():
            table = read_table(posted["file"][0].stream, services().files.spool)
            rows = read_contacts(table, region)
        done = import_contacts(db_session(), rows)
    except (InvalidInput, TooMany) as error:
        db_session().rollback()
        return page("forms/contacts/import.html", error, done=None)
    problems = [(each, _(each.message, **each.params)) for each in done.problems]
    return page("forms/contacts/import.html", done=done, problems=problems)


def _typed(prefix: str = "") -> ContactTexts:
    names = ("name", "job", "phone", "email")
    return ContactTexts(*(request.form.get(f"{prefix}{name}", "")[:500] for name in names))


def _to_list() -> ResponseReturnValue:
    return redirect(url_for(".index"), HTTPStatus.SEE_OTHER)


def _region() -> str:
    """The group's country; no transaction is open behind it, while a file is read."""
    _zone, region = load_zone_and_region(db_session())
    db_session().rollback()
    return region
