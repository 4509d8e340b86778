"""The people page: managers see who works here; admins invite, change roles and remove."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts import choices, people, throttle
from app.accounts.pages import absolute, page
from app.db import utc_now
from app.errors import ComandaError, Conflict, InvalidInput, NotFound, TooMany
from app.web.pages import db_session, require_role, wants_fragment


def show() -> ResponseReturnValue:
    """Who works here; the list alone when htmx asks for it."""
    require_role("manager", "admin")
    return _people_page()


def change() -> ResponseReturnValue:
    """Do what the form's `action` says and show the list again."""
    require_role("admin")
    action = ACTIONS.get(request.form.get("action", ""))
    if action is None:
        raise InvalidInput("Choose from the list.", field="action")
    try:
        action()
    except (InvalidInput, Conflict, TooMany) as error:
        db_session().rollback()
        if action is not _invite:
            error.field = None  # only the invitation has fields to show it beside
        return _people_page(error)
    return redirect(url_for("accounts.people"), HTTPStatus.SEE_OTHER)


def _people_page(error: ComandaError | None = None) -> ResponseReturnValue:
    session = db_session()
    fragment = wants_fragment()
    return page(
        "accounts/_people.html" if fragment else "accounts/people.html",
        error,
        fragment=fragment,
        people=people.list_people(session),
        invitations=people.list_invitations(session),
        choices=choices,
        now=utc_now(),
    )


def _invite() -> None:
    group = str(current_user.group_id)
    throttle.count_try(throttle.INVITATIONS, "invitations", group)
    email = request.form.get("email", "")
    link = people.invite(
        db_session(),
        email,
        request.form.get("role", ""),
        absolute("accounts.accept_invitation"),
        inviter=current_user.name,
    )
    flash(_("The invitation is on its way. You can also hand over this link yourself:"))
    flash(link, "link")


def _revoke() -> None:
    people.revoke_invitation(db_session(), _id("invitation_id"))
    flash(_("The invitation is taken back."))


def _change_role() -> None:
    people.change_role(db_session(), _id("user_id"), request.form.get("role", ""))
    flash(_("The role is changed."))


def _remove() -> None:
    people.remove_from_group(db_session(), _id("user_id"))
    flash(_("They are no longer in this group."))


ACTIONS: dict[str, Callable[[], None]] = {
    "invite": _invite,
    "revoke": _revoke,
    "role": _change_role,
    "remove": _remove,
}


def _id(name: str) -> UUID:
    try:
        return UUID(request.form.get(name, ""))
    except ValueError:
        raise NotFound("This person is not in the group any more.") from None
