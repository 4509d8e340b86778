"""The pages of accounts. Each view reads the form, calls one service, and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import UUID

from flask import Blueprint, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import force_locale
from flask_babel import gettext as _
from flask_login import current_user
from werkzeug.wrappers import Response

from app.accounts import account_limits, choices, password_change, people
from app.accounts import profile as profiles
from app.accounts import sign_in as sign_ins
from app.accounts.form_pages import (
    absolute,
    browser_name,
    moment_in_words,
    page,
    seen_on,
)
from app.accounts.names_and_emails import clean_email, fold_email
from app.accounts.people import find_invitation, join_as_known_person, join_as_new_person
from app.accounts.person import end_browser_session, start_browser_session
from app.config import LANGUAGES
from app.db import ScopedSession, utc_now
from app.errors import ComandaError, Conflict, InvalidInput, NotFound, TooMany
from app.extensions import client_address, keep_cookie, kept_cookie
from app.text.bilingual import reader_language
from app.web.pages import (
    HOME,
    db_session,
    is_htmx,
    next_page,
    require_browser,
    require_role,
    same_page,
    wants_fragment,
)

COOKIE_AGE = timedelta(days=365)
# Of the lists of a profile, those that something reads.
PROFILE_LISTS = ("allergens",)

# What a program may do here with its token. Everything else is about a person's own account, who
# is in a group, or which one they look at: a token is of one group, and is not the person.
OPEN_TO_TOKENS = {"accounts.sign_out"}

blueprint = Blueprint("accounts", __name__)


@blueprint.before_request
def browsers_only() -> None:
    if request.endpoint not in OPEN_TO_TOKENS:
        require_browser()


@blueprint.get("/sign-in")
def sign_in() -> ResponseReturnValue:
    """The way in; whoever is in already goes on."""
    if current_user.is_authenticated:
        return redirect(next_page(), HTTPStatus.SEE_OTHER)
    return page("accounts/sign_in.html", next=next_page(""))


@blueprint.post("/sign-in")
def submit_sign_in() -> ResponseReturnValue:
    """Check e-mail and password, and begin a session that shares nothing with the last one."""
    email = fold_email(request.form.get("email", ""))
    try:
        account_limits.count_sign_in(email)
        token, leads_to = _sign_in(email)
    except (InvalidInput, TooMany) as error:
        return page("accounts/sign_in.html", error, next=next_page(""))
    account_limits.sign_in_succeeded(email)
    profiles.keep_first_language(db_session(), kept_cookie("language"))
    return _enter(token, email, leads_to)


def _sign_in(email: str) -> tuple[str, str]:
    """The token of the new sign-in, and the page that it leads to.

    Who is in no group can come in only by the invitation that sent them here; it is used then.
    """
    joined = list[bool]()

    def join(session: ScopedSession) -> None:
        people.join_while_signing_in(session, invitation_in(next_page("")), email)
        joined.append(True)

    token = sign_ins.sign_in(
        db_session(),
        email,
        request.form.get("password", ""),
        seen_on(),
        replaces=current_user.sign_in_id if current_user.is_authenticated else None,
        join=join,
    )
    return token, HOME if joined else next_page()


def invitation_in(path: str) -> str:
    """The token of the invitation that a path leads to; "" where it leads elsewhere."""
    found = re.fullmatch(r"/invitations/([\w-]+)", path)
    return found[1] if found else ""


def _enter(token: str, email: str, leads_to: str) -> Response:
    start_browser_session(token)
    response = redirect(leads_to, HTTPStatus.SEE_OTHER)
    account_limits.remember_device(response, email)
    return response


@blueprint.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End this sign-in, or all of the person's with `everywhere`."""
    if "everywhere" in request.form:
        require_browser()
    if current_user.is_authenticated and "everywhere" in request.form:
        sign_ins.sign_out_everywhere(db_session())
    elif current_user.is_authenticated:
        sign_ins.sign_out(db_session(), current_user.sign_in_id)
    end_browser_session()
    response = redirect(next_page(url_for("accounts.sign_in")), HTTPStatus.SEE_OTHER)
    # Whoever takes the tablet next must not find what was typed and not sent.
    response.headers["Clear-Site-Data"] = '"storage"'
    return response


@blueprint.get("/profile")
def profile() -> ResponseReturnValue:
    """Oneself: language, what one cannot eat, the password, the devices."""
    require_role()
    return _profile_page()


@blueprint.post("/profile")
def save_profile() -> ResponseReturnValue:
    """Save the profile's form."""
    require_role()
    was, typed = _posted_profile("was_"), _posted_profile()
    try:
        profiles.save_profile(db_session(), was=was, typed=typed)
    except InvalidInput as error:
        return _profile_page(error, was, typed)
    with force_locale(typed.get("language", current_user.language)):
        flash(_("Your profile is saved."))
    return redirect(url_for("accounts.profile"), HTTPStatus.SEE_OTHER)


def _posted_profile(prefix: str = "") -> dict[str, Any]:
    """What the profile's form says by field, or with "was_" what it said when it was shown."""
    form, single = request.form, ("name", "language", "theme")
    one = {name: form[prefix + name] for name in single if prefix + name in form}
    return one | {name: form.getlist(prefix + name) for name in PROFILE_LISTS}


def _profile_page(
    error: ComandaError | None = None,
    was: Mapping[str, Any] | None = None,
    typed: Mapping[str, Any] | None = None,
) -> ResponseReturnValue:
    """`typed` stands in the form; what it changes is told by what the profile `was`."""
    session = db_session()
    session.rollback()
    kept = profiles.load_profile(session)
    shown = ("language", "theme", *PROFILE_LISTS)
    now = {"name": current_user.name, **{name: getattr(kept, name) for name in shown}}
    return page(
        "accounts/profile.html",
        error,
        values={**now, **(typed or {})},
        was=now if was is None else was,
        lists=PROFILE_LISTS,
        groups=sign_ins.list_groups(session),
        sign_ins=sign_ins.list_sign_ins(session, current_user.sign_in_id),
        choices=choices,
        in_words=moment_in_words,
        browser_name=browser_name,
    )


@blueprint.post("/profile/password")
def change_password() -> ResponseReturnValue:
    """Replace one's password; all but this browser, which gets a new sign-in, are signed out."""
    require_role()
    try:
        account_limits.count_try(
            account_limits.REAUTHENTICATION, "reauthentication", str(current_user.user_id)
        )
        token = password_change.change_password(
            db_session(),
            request.form.get("current_password", ""),
            request.form.get("new_password", ""),
            seen_on(),
        )
    except (InvalidInput, TooMany) as error:
        return _profile_page(error)
    start_browser_session(token)
    flash(
        _(
            "Your password was changed. You were signed out everywhere else, and "
            "your API tokens no longer work."
        )
    )
    return redirect(url_for("accounts.profile"), HTTPStatus.SEE_OTHER)


@blueprint.post("/language")
def set_language() -> ResponseReturnValue:
    """Switch the language: for this browser, and for the person wherever they sign in."""
    return _keep_choice("language", LANGUAGES)


@blueprint.post("/theme")
def set_theme() -> ResponseReturnValue:
    """Switch between light, dark and the device's own."""
    return _keep_choice("theme", tuple(choices.THEMES))


def _keep_choice(name: str, allowed: tuple[str, ...]) -> ResponseReturnValue:
    chosen = request.form.get(name, "")
    if chosen not in allowed:
        raise InvalidInput("Choose from the list.", field=name)
    if current_user.is_authenticated:
        profiles.update_profile(db_session(), **{name: chosen})
    back = _without_language(same_page())
    response = (
        Response(status=HTTPStatus.NO_CONTENT)
        if is_htmx()
        else redirect(back, HTTPStatus.SEE_OTHER)
    )
    keep_cookie(response, name, chosen, COOKIE_AGE)
    return response


def _without_language(address: str) -> str:
    """A link's own `?lang=` would win over what was just chosen."""
    parts = urlsplit(address)
    query = [(key, value) for key, value in parse_qsl(parts.query, True) if key != "lang"]
    return urlunsplit(parts._replace(query=urlencode(query)))


@blueprint.post("/switch-group")
def switch_group() -> ResponseReturnValue:
    """Look at another of one's groups."""
    require_role()
    try:
        group_id = UUID(request.form.get("group_id", ""))
    except ValueError:
        raise NotFound("This group does not exist, or you are not in it.") from None
    sign_ins.switch_group(db_session(), current_user.sign_in_id, group_id)
    return redirect(next_page(), HTTPStatus.SEE_OTHER)


@blueprint.get("/invitations/<token>")
def accept_invitation(token: str) -> ResponseReturnValue:
    """What the link is for, and the form that fits who is looking at it."""
    account_limits.count_try(account_limits.LINK_ADDRESS, "link", client_address())
    return page("accounts/invitation.html", invitation=find_invitation(db_session(), token))


@blueprint.post("/invitations/<token>")
def submit_invitation(token: str) -> ResponseReturnValue:
    """Join: as the signed-in person when it is for them, else with a new account."""
    account_limits.count_try(account_limits.LINK_ADDRESS, "link", client_address())
    session = db_session()
    invitation = find_invitation(session, token)
    if current_user.is_authenticated and current_user.email == invitation.email:
        join_as_known_person(session, token, current_user.email, current_user.sign_in_id)
        return redirect(HOME, HTTPStatus.SEE_OTHER)
    name, password = request.form.get("name", ""), request.form.get("password", "")
    try:
        sign_in_token = join_as_new_person(
            session, token, name, password, seen_on(), reader_language()
        )
    except (InvalidInput, Conflict) as error:
        return page("accounts/invitation.html", error, invitation=invitation)
    return _enter(sign_in_token, invitation.email, next_page())


@blueprint.get("/forgot-password")
def forgot_password() -> ResponseReturnValue:
    """Ask for a link that sets a new password."""
    return page("accounts/forgot_password.html")


@blueprint.post("/forgot-password")
def submit_forgot_password() -> ResponseReturnValue:
    """Send the link, and say the same whether or not somebody has that address."""
    try:
        email = clean_email(request.form.get("email", ""))
        account_limits.count_try(account_limits.RESET_ADDRESS, "reset-address", client_address())
        account_limits.count_try(
            account_limits.RESET_ACCOUNT, "reset-account", account_limits.account_key(email)
        )
    except (InvalidInput, TooMany) as error:
        return page("accounts/forgot_password.html", error)
    link = absolute("accounts.reset_password")
    password_change.request_password_reset(db_session(), email, link, language=reader_language())
    flash(_("If there is an account with that address, a message with a link is on its way."))
    return redirect(url_for("accounts.sign_in"), HTTPStatus.SEE_OTHER)


@blueprint.get("/reset-password/<token>")
def reset_password(token: str) -> ResponseReturnValue:
    """The form for a new password, while the link works; else the one for another link."""
    account_limits.count_try(account_limits.LINK_ADDRESS, "link", client_address())
    try:
        password_change.check_password_reset(db_session(), token)
    except NotFound as error:
        return page("accounts/forgot_password.html", error)
    return page("accounts/reset_password.html", token=token)


@blueprint.post("/reset-password/<token>")
def submit_reset_password(token: str) -> ResponseReturnValue:
    """Set the new password; whoever was signed in with the old one no longer is."""
    account_limits.count_try(account_limits.LINK_ADDRESS, "link", client_address())
    try:
        password = request.form.get("password", "")
        email = password_change.reset_password(db_session(), token, password)
    except NotFound as error:
        return page("accounts/forgot_password.html", error)
    except InvalidInput as error:
        return page("accounts/reset_password.html", error, token=token)
    end_browser_session()
    flash(_("Your new password is set. Sign in with it."))
    response = redirect(url_for("accounts.sign_in"), HTTPStatus.SEE_OTHER)
    account_limits.remember_device(response, email)
    return response


@blueprint.get("/people", endpoint="people")
def show_people() -> ResponseReturnValue:
    """Who works here; the list alone when htmx asks for it."""
    require_role("manager", "admin")
    return _people_page()


@blueprint.post("/people")
def change_people() -> ResponseReturnValue:
    """Do what the form's `action` says and show the list again; admins alone may."""
    require_role("admin")
    action = ACTIONS.get(request.form.get("action", ""))
    if action is None:
        raise InvalidInput("Choose from the list.", field="action")
    try:
        action()
    except (InvalidInput, Conflict, TooMany) as error:
        db_session().rollback()
        if action is not _invite_person:
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


def _invite_person() -> None:
    group = str(current_user.group_id)
    account_limits.count_try(account_limits.INVITATIONS, "invitations", group)
    email = request.form.get("email", "")
    link = people.invite(
        db_session(),
        email,
        request.form.get("role", ""),
        absolute("accounts.accept_invitation"),
        inviter=current_user.name,
    )
    flash(_("The invitation is on its way. You can also share this link yourself:"))
    flash(link, "link")


def _revoke_invitation() -> None:
    people.revoke_invitation(
        db_session(), _posted_id("invitation_id"), request.form.get("sent", "")
    )
    flash(_("Invitation taken back."))


def _change_role() -> None:
    role, was = request.form.get("role", ""), request.form.get("was", "")
    people.change_role(db_session(), _posted_id("user_id"), role, was=was)
    flash(_("Role changed."))


def _remove_person() -> None:
    was = request.form.get("was", "")
    people.remove_from_group(db_session(), _posted_id("user_id"), was=was)
    flash(_("They are no longer in this group."))


ACTIONS: dict[str, Callable[[], None]] = {
    "invite": _invite_person,
    "revoke": _revoke_invitation,
    "role": _change_role,
    "remove": _remove_person,
}


def _posted_id(name: str) -> UUID:
    try:
        return UUID(request.form.get(name, ""))
    except ValueError:
        raise NotFound("This person is no longer in the group.") from None
