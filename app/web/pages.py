"""What every page has in common: its database session, language, headers and errors."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from flask import (
    Flask,
    Response,
    current_app,
    g,
    has_request_context,
    jsonify,
    redirect,
    render_template,
    request,
)
from flask import url_for as flask_url_for
from flask.globals import request_ctx
from flask.typing import ResponseReturnValue
from flask_babel import get_locale
from flask_babel import gettext as _
from flask_login import AnonymousUserMixin, current_user
from flask_wtf.csrf import CSRFError
from sqlalchemy import Connection, event
from sqlalchemy.exc import DataError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import SessionTransaction
from werkzeug.exceptions import BadRequest, HTTPException

from app.config import LANGUAGES
from app.db import NOBODY, Scope, ScopedSession, utc_now, was_cancelled
from app.errors import (
    ComandaError,
    Forbidden,
    InvalidInput,
    LimitReached,
    NotFound,
    NotSignedIn,
    SignInChanged,
    Unavailable,
)
from app.extensions import PROBES, ComandaRequest, kept_cookie, services
from app.jobs.system_threads import give_back_with
from app.web.fair_queue import draw
from app.web.icons import icon, icon_sprite
from app.web.navigation import NavLink, nav_links
from app.web.request_body import LARGEST_SIGNED_OUT, MOST_FILES, drain
from app.web.static_files import keep_for_ever, static_url
from app.web.urls import url_of

# Pages hold personal data; static files carry a version and may be kept for ever.
PRIVATE = "no-store"
HOME = "/"
# Who is refused asks again at once, and each answer costs others a little.
REFUSED_SECONDS = 1.0
# No list is as long; what is beyond it would only overflow in the database.
MOST_PAGES = 10_000


def db_session() -> ScopedSession:
    """This request's session, serving the signed-in person and group, and nobody else."""
    if "db" not in g:
        # The person is looked up first (with a session of its own), so that a request
        # never works with a session that was made before it was known for whom.
        if _has_body():
            # The end of what was posted may come long after its beginning: who asks is looked at
            # behind it. What a browser posts has been read already, for its token.
            request.get_data(parse_form_data=True)
        g.db = services().database.session(*_asking())
    session: ScopedSession = g.db
    return session


def _asking() -> tuple[Scope, UUID | None]:
    """Whom this request serves, and the sign-in that it was sent with."""
    if not current_user.is_authenticated:
        return NOBODY, None
    return current_user.scope, current_user.sign_in_id


def transactions() -> Callable[[], AbstractContextManager[ScopedSession]]:
    """Transactions for the person of this request, for longer than it has a session.

    Each is refused once they are signed out or have another role.
    """
    database, asking = services().database, _asking()
    return lambda: database.transaction(*asking)


def release_session() -> None:
    """Give back what others wait for before the response ends: the connection, and the lane.

    For a stream, which holds none of them, and for who waits for something else.
    """
    session = g.pop("db", None)
    if session is not None:
        _close_session(session)
    leave_lanes()


@event.listens_for(ScopedSession, "after_begin")
def _note_connection(
    session: ScopedSession, _transaction: SessionTransaction, connection: Connection
) -> None:
    """Keep hold of the connection: a session that could not be closed no longer names it."""
    session.info["connection"] = connection


def _close_session(session: ScopedSession) -> None:
    """Close a session, even one whose database went away in the middle of a transaction.

    Nobody handles an error at the end of a request, or within an error's handler, and the
    person would get neither the page nor the apology. What was not committed is lost anyway.
    """
    connection: Connection | None = session.info.pop("connection", None)
    try:
        session.close()
    except DBAPIError as error:
        current_app.logger.warning("a session could not be closed: %s", type(error).__name__)
        if connection is not None and not connection.closed:
            # Nobody knows what state it is in; the pool opens another one in its place.
            connection.invalidate()
            connection.close()


def leave_lanes() -> None:
    """Let another request of the same person be answered (app.accounts.concurrency_limit)."""
    lanes = g.pop("lanes", None)
    if lanes is not None:
        lanes.close()


def enter_lane_again() -> None:
    """Wait for room in the lane that was left, before anything is written.

    Raises:
        TooMany, Unavailable: too many of the person's requests are there, or it took too long.
    """
    if "lanes" not in g and "enter_lane_again" in g:
        give_back_connection()
        g.enter_lane_again()


def _give_back_while_reading() -> None:
    """Give back the connection of a request that only reads, from the beginning or by now."""
    if not has_request_context():
        return
    session: ScopedSession | None = g.get("db")
    # What was posted is written at once, and what is read after that is for the answer.
    has_written = session is not None and session.info.get("has_committed")
    if has_written or request.method in ("GET", "HEAD"):
        give_back_connection()


def give_back_connection() -> None:
    """End the transaction of a request that has nothing to write; it may read on in another.

    For what was posted: only where nothing is written any more, as of a form that is shown again.
    """
    session: ScopedSession | None = g.get("db")
    if session is None or not session.in_transaction():
        return
    if not (session.new or session.dirty or session.deleted):
        session.commit()


def csp_nonce() -> str:
    """This response's nonce, made when first asked for."""
    if "csp_nonce" not in g:
        g.csp_nonce = secrets.token_urlsafe(18)
    nonce: str = g.csp_nonce
    return nonce


def choose_language() -> str:
    """The language of this page: the link's, the person's, the cookie's, the browser's."""
    asked = request.args.get("lang", "")
    if asked in LANGUAGES:
        return asked
    if current_user.is_authenticated:
        return str(current_user.language)
    kept = kept_cookie("language")
    if kept in LANGUAGES:
        return kept
    return request.accept_languages.best_match(LANGUAGES) or "en"


def next_page(default: str = HOME) -> str:
    """Where to go on to: the page asked for, if it is one of ours, else `default`.

    Browsers drop tabs and line ends from an address, so that "/<tab>/evil.example" would
    lead to another site: nothing of ours has such characters.
    """
    return _one_of_ours(request.values.get("next", "")) or default


def same_page() -> str:
    """The page that a switch was pressed on.

    Its address as the browser has it now: that of a chat changes with its first message.
    A browser that keeps it to itself has the one that the page was made for.
    """
    return _page_left() or next_page()


def _page_left() -> str:
    """The page that a browser says it comes from, if it is one of ours."""
    now = urlsplit(request.referrer or "")
    addresses = current_app.create_url_adapter(request)
    # A page that answered a form may have an address that can only be posted to.
    if now.netloc != request.host or not addresses or not addresses.test(now.path, "GET"):
        return ""
    return _one_of_ours(urlunsplit(("", "", now.path, now.query, "")))


def _one_of_ours(target: str) -> str:
    """`target` if it is an address within this site, else nothing."""
    ours = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if ours and target.isprintable() else ""


def choose_zone() -> str | None:
    """The time zone of this page: the group's; UTC for whoever is not signed in."""
    return str(current_user.timezone) if current_user.is_authenticated else None


def page_number() -> int:
    """Which page of a list the address names, from 1 on; the first where it names none."""
    return min(max(request.args.get("page", 1, type=int), 1), MOST_PAGES)


def is_htmx() -> bool:
    """Whether htmx asks, be it for a part of the page or for the whole of it."""
    return bool(cast(ComandaRequest, request).htmx)


def wants_fragment() -> bool:
    """Whether htmx asks for a part of the page."""
    return cast(ComandaRequest, request).htmx.wants_fragment


def wants_json() -> bool:
    return request.path.startswith("/api/") or request.is_json


def secure_headers(response: Response) -> Response:
    """The headers of every response; a policy that lets nothing in from elsewhere."""
    nonce = csp_nonce()
    response.headers.setdefault(
        "Content-Security-Policy",
        "default-src 'none'; "
        f"script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; "
        "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; media-src 'self' blob:; "
        "manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'",
    )
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=(self)"
    if services().settings.secure_cookies:
        response.headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
    if request.endpoint == "static" and response.status_code < HTTPStatus.BAD_REQUEST:
        keep_for_ever(response)
    else:
        response.headers.setdefault("Cache-Control", PRIVATE)
        response.headers.add("Vary", "HX-Request")
    return response


def error_response(error: ComandaError) -> ResponseReturnValue:
    """One error as JSON, as a fragment for htmx, or as a page."""
    if isinstance(error, SignInChanged):
        error = _as_of_now()
    message = _(error.message, **error.told(choose_language()))
    headers = {}
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    if wants_json():
        body: dict[str, Any] = {"error": True, "code": error.code, "message": message}
        if error.field:
            body |= {"field": error.field, "errors": {error.field: message}}
        if isinstance(error, LimitReached):
            body["usage"] = error.usage.as_json()
        return jsonify(body), error.status, headers
    if isinstance(error, NotSignedIn):
        return _ask_to_sign_in()
    # A Host header that names no host at all leaves Flask without addresses to build.
    has_addresses = request_ctx.url_adapter is not None
    if not has_addresses or request.endpoint == "static" or request.endpoint in PROBES:
        # Programs ask for these, again and again: drawing a page costs much more than they do.
        return message, error.status, {**headers, "Content-Type": "text/plain; charset=utf-8"}
    part = "errors/_limit.html" if isinstance(error, LimitReached) else "errors/_error.html"
    template = part if wants_fragment() else "errors/page.html"
    g.is_error_page = True
    told = {"message": message, "status": error.status, "code": error.code, "field": error.field}
    page = render_template(template, **told)
    return page, error.status, headers


def _as_of_now() -> ComandaError:
    """What is said to whoever was signed out, or given another role, while they were asking."""
    release_session()
    g.pop("_login_user", None)
    if not current_user.is_authenticated:
        return NotSignedIn("Sign in to continue.")
    return Forbidden("Your role was changed in the meantime, so nothing was done. Reload the page.")


def _ask_to_sign_in() -> ResponseReturnValue:
    """Send a page to the sign-in page and back; tell htmx to do the same."""
    # Neither a part of a page nor the address of a form is a place to come back to.
    stays = request.method == "GET" and not is_htmx()
    here = request.full_path.rstrip("?") if stays else _page_left() or HOME
    target = flask_url_for("accounts.sign_in", next=here if here != HOME else None)
    if is_htmx():
        return "", HTTPStatus.UNAUTHORIZED, {"HX-Redirect": target}
    return redirect(target, HTTPStatus.SEE_OTHER)


def _http_error(error: HTTPException) -> ResponseReturnValue:
    """Werkzeug's own errors, in the person's language and our clothes."""
    known: dict[int, ComandaError] = {
        400: InvalidInput("What the page sent could not be read. Reload it and try again."),
        404: NotFound("This page does not exist, or you don't have access to it."),
        405: InvalidInput("This address can't be used that way."),
        408: InvalidInput("This took too long to arrive. Check the connection and send it again."),
        413: InvalidInput("That is too much to be sent at once. Shorten it, or send it in parts."),
        429: ComandaError("Too many tries. Wait a minute and try again."),
    }
    status = error.code or 500
    shown = known.get(status) or ComandaError("Something went wrong. Try again in a moment.")
    shown.status = status
    response = current_app.make_response(error_response(shown))
    for name, value in error.get_headers():
        if name in ("Allow", "Retry-After"):
            response.headers[name] = value
    return response


def _csrf_error(_error: CSRFError) -> ResponseReturnValue:
    if wants_json() and not current_user.is_authenticated:
        # A client that sends neither cookie nor bearer token forgot to say who it is.
        return error_response(NotSignedIn("Sign in to continue."))
    if not current_user.is_authenticated and request.blueprint != "accounts":
        # Signed out meanwhile, and the token with it: reloading would not help.
        return _ask_to_sign_in()
    if wants_json():
        # A client that sends the cookie of a browser: it has no page that could be reloaded.
        error = InvalidInput(
            "The CSRF token is missing or not valid. Send it in the X-CSRFToken header, or use"
            " a bearer token instead of the cookie."
        )
    else:
        error = InvalidInput("This page has been open for too long. Reload it and try again.")
    error.status, error.code = 400, "csrf"
    return error_response(error)


def _service_away(error: Exception) -> ResponseReturnValue:
    is_slow = isinstance(error, OperationalError) and was_cancelled(error)
    if is_slow:
        current_app.logger.error("a statement took too long for %s", request.endpoint)
    else:
        current_app.logger.error("a service is away: %s", type(error).__name__)
    release_session()
    if "_login_user" not in g:
        # Looking up whose page this is has just failed; the error's page must not try again.
        g._login_user = AnonymousUserMixin()
    if is_slow:
        return error_response(Unavailable("That took too long. Try again in a moment."))
    return error_response(
        Unavailable("Comanda can't reach its database right now. Try again in a moment.")
    )


def _unreadable(error: DataError) -> ResponseReturnValue:
    """Something in the request that no database takes, such as a NUL in an address."""
    current_app.logger.warning("unreadable request for %s", request.endpoint)
    release_session()
    return _http_error(BadRequest())


def _unexpected(error: Exception) -> ResponseReturnValue:
    """Anything unforeseen: logged with its trace here, told without internals there."""
    current_app.logger.error("unhandled error on %s", request.endpoint, exc_info=error)
    return error_response(ComandaError("Something went wrong. Try again in a moment."))


def require_role(*roles: str) -> None:
    """Refuse whoever does not have one of these roles in the current group.

    Raises:
        NotSignedIn, Forbidden
    """
    if not current_user.is_authenticated:
        raise NotSignedIn("Sign in to continue.")
    if roles and current_user.role not in roles:
        raise Forbidden("Your role in this group does not allow that. Ask a manager.")


def require_browser() -> None:
    """Refuse a program that speaks for somebody with an API token.

    Raises:
        Forbidden
    """
    if current_user.is_authenticated and current_user.kind == "api":
        raise Forbidden("An API token cannot open this page. Sign in with a browser to use it.")


def _bound_body() -> None:
    """Take little of a body from whoever is not signed in.

    Before everything else, because looking for a form's token reads the whole of it.

    Raises:
        NotSignedIn: it is a large one, and the page is for people who are signed in.
    """
    if not _has_body() or current_user.is_authenticated:
        return
    posted = cast(ComandaRequest, request)
    posted.max_content_length = LARGEST_SIGNED_OUT
    # Whoever was signed out meanwhile is sent to sign in, files or none.
    posted.most_files = MOST_FILES
    if (request.content_length or 0) > LARGEST_SIGNED_OUT and request.blueprint != "accounts":
        raise NotSignedIn("Sign in to continue.")


def _has_body() -> bool:
    return request.method not in ("GET", "HEAD", "OPTIONS")


def _drain_body(response: Response) -> Response:
    """Read what is left of a body before it is answered, so that the answer arrives."""
    posted = cast(ComandaRequest, request)
    if _has_body() and not posted.is_read:
        release_session()
        drain(posted)
    return response


def _nav_links() -> list[NavLink]:
    """The menu's places. The page of an error counts nothing: the database may be what failed."""
    return nav_links(None if "is_error_page" in g else db_session())


def _favicon() -> ResponseReturnValue:
    """Browsers ask for it by this name wherever a page has not named another yet."""
    return redirect(static_url("icons/comanda-180.png"), HTTPStatus.MOVED_PERMANENTLY)


def init_bodies(app: Flask) -> None:
    """Bound what is read of a request, before anything reads it."""
    app.before_request(_bound_body)


def init_web(app: Flask) -> None:
    """Bind all of the above to `app`."""
    app.request_class = ComandaRequest
    app.after_request(secure_headers)
    app.after_request(_drain_body)
    app.teardown_appcontext(lambda _error: release_session())
    give_back_with(_give_back_while_reading)
    app.add_url_rule("/favicon.ico", "favicon", _favicon)
    app.register_error_handler(ComandaError, error_response)
    app.register_error_handler(CSRFError, _csrf_error)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(DataError, _unreadable)
    app.register_error_handler(PoolTimeout, _service_away)
    app.register_error_handler(OperationalError, _service_away)
    app.register_error_handler(Exception, _unexpected)
    app.jinja_env.concat = draw  # type: ignore[method-assign]
    app.jinja_env.globals |= {
        "csp_nonce": csp_nonce,
        "icon": icon,
        "icon_sprite": icon_sprite,
        "static_url": static_url,
        "url_of": url_of,
        "kept_cookie": kept_cookie,
        "nav_links": _nav_links,
        "languages": LANGUAGES,
        "get_locale": get_locale,
        "now": utc_now,
    }
