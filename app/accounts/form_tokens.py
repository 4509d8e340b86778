"""The token of a page's forms: of one browser, and of the group that the page shows.

What a tab still shows after another one has changed the group is not taken for the new group's,
whichever way it was changed and whichever answer's cookie the browser kept last.
"""

from __future__ import annotations

import hmac
import secrets
from uuid import UUID

from flask import Flask, current_app, g, request, session
from flask_login import current_user
from flask_wtf.csrf import CSRFError, generate_csrf
from itsdangerous import BadData, URLSafeTimedSerializer

# Where Flask-WTF keeps what its tokens are made from.
KEPT = "csrf_token"
PARTED = ":"


def make_form_token() -> str:
    """The token for the forms of the page that is being made."""
    if current_user.is_authenticated and not _is_of_group():
        own, parted, _mark = str(session.get(KEPT, "")).partition(PARTED)
        # Short, because each form of a page carries it.
        own = own if parted else secrets.token_urlsafe(16)
        session[KEPT] = f"{own}{PARTED}{mark_of(current_user.group_id)}"
        g.pop(KEPT, None)
    token: str = generate_csrf()
    return token


def check_form_token() -> None:
    """Refuse a request whose token was needed, and is of another group's page.

    Raises:
        CSRFError: a page of the group that is looked at now has to be loaded first.
    """
    # Set where Flask-WTF has found the token good.
    if g.get("csrf_valid") and current_user.is_authenticated and not _is_of_group():
        raise CSRFError("The token is of another group.")


def is_of_any_group() -> bool:
    """Whether the request brings a token of this sign-in, whichever group its page shows.

    For what concerns no group: whoever goes away from a tablet signs out on any page of it.
    """
    brought = request.form.get(KEPT) or request.headers.get("X-CSRFToken", "")
    signed = URLSafeTimedSerializer(str(current_app.secret_key), salt="wtf-csrf-token")
    try:
        token = str(signed.loads(brought))
    except BadData:
        return False
    own, parted, _mark = str(session.get(KEPT, "")).partition(PARTED)
    return bool(parted) and hmac.compare_digest(own, token.partition(PARTED)[0])


def mark_of(group_id: UUID) -> str:
    """What a group's tokens end with: the part of its id that no other group's has."""
    return group_id.hex[-12:]


def _is_of_group() -> bool:
    mark = str(session.get(KEPT, "")).partition(PARTED)[2]
    return mark == mark_of(current_user.group_id)


def init_form_tokens(app: Flask) -> None:
    """Have the templates make these, instead of those of Flask-WTF; bind it after that."""
    app.context_processor(lambda: {"csrf_token": make_form_token})
