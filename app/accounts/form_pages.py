"""What the account pages share: the form once more with its error, links, and the device."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from flask import make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import format_date, format_timedelta
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.sign_in import Device
from app.db import utc_now
from app.errors import ComandaError
from app.extensions import services
from app.web.pages import error_response, wants_json

# What a user agent string contains -> what people call it. The first match counts, since
# most browsers also claim to be the ones before them.
BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "FxiOS": "Firefox",
    "Firefox": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "CrOS": "ChromeOS",
    "Mac OS X": "Mac",
    "Linux": "Linux",
}


def page(template: str, error: ComandaError | None = None, **context: Any) -> ResponseReturnValue:
    """A page with a form; after an error the message is beside its field, in the form or above.

    Templates find what was typed in `form` (passwords they never repeat) and the message
    under its field's name in `errors`, or under "form" when it belongs to no field.
    """
    if error is None:
        return render_template(template, form={}, errors={}, **context)
    if wants_json():
        return error_response(error)
    errors = {error.field or "form": _(error.message, **error.params)}
    body = render_template(template, form=request.form, errors=errors, **context)
    response = make_response(body, error.status)
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        response.headers["Retry-After"] = str(retry_after)
    return response


def absolute(endpoint: str) -> Callable[[str], str]:
    """Makes a token's link, at the address people reach this server by.

    Never at the address a request claims to be for: a mail must not lead elsewhere.
    """
    return lambda token: services().settings.base_url + url_for(endpoint, token=token)


def seen_on() -> Device:
    """The browser that is asking."""
    return Device(request.user_agent.string, services().settings.session_days)


def moment_in_words(moment: datetime) -> str:
    """A time as people say it: "5 minutes ago" within a day, the date after that."""
    age = utc_now() - moment
    if age < timedelta(days=1):
        return str(format_timedelta(-age, add_direction=True))
    return str(format_date(moment.astimezone(current_user.zone).date(), "medium"))


def browser_name(user_agent: str) -> str:
    """What people would call this browser, like "Chrome, Android"; empty when unknown."""
    known = (
        next((name for sign, name in names.items() if sign in user_agent), "")
        for names in (BROWSERS, SYSTEMS)
    )
    return ", ".join(name for name in known if name)
