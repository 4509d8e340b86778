"""The pages of requests: one's own list, one request with its conversation, the queue.

The queue and its numbers are for those who look after requests, and so is what changes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_babel import ngettext
from flask_login import current_user

from app.accounts.clock import local_now
from app.db import ScopedSession, read_id
from app.errors import Conflict, InvalidInput
from app.files.views import send_stored
from app.notifications.services import read_about
from app.skills.service_requests.models import STATUSES, ServiceRequest
from app.skills.service_requests.services.agent_replies import announce_reply
from app.skills.service_requests.services.analytics import RANGES, first_month, measure
from app.skills.service_requests.services.lifecycle import (
    Chosen,
    Refused,
    Said,
    add_note,
    assign,
    change_each,
    change_priority,
    change_status,
    finish_from_list,
    say,
)
from app.skills.service_requests.services.queue import (
    NOBODY,
    PAGE,
    read_filters,
    remove_view,
    save_view,
)
from app.skills.service_requests.services.requests import (
    EDITORS,
    load_file_of,
    load_request,
    require_agent,
)
from app.skills.service_requests.web.presenters import (
    common,
    draw_report,
    own_page,
    queue_page,
    request_page,
)
from app.text.bilingual import reader_language
from app.web import charts
from app.web.pages import db_session, page_number, require_role, wants_fragment
from app.web.rate_limits import limit_person, limit_searches

blueprint = Blueprint("service_requests", __name__, url_prefix="/requests")
# Each reply is a letter, and a line in the requester's conversation.
MOST_WRITTEN = "60 per minute; 2000 per day"
# Of those that could not be changed with others so many are named: it is kept in a cookie.
MOST_NAMED = 3
limit_writes = limit_person(MOST_WRITTEN, "service requests")
limit_views = limit_person("60 per minute", "saved filters")


@blueprint.before_request
def people_only() -> None:
    require_role()


def _version() -> int:
    """The version that was looked at; none is one that no request has."""
    return request.form.get("version", -1, type=int)


@blueprint.get("/queue")
@limit_searches
def queue() -> ResponseReturnValue:
    """The requests that one looks after; for htmx the list alone."""
    session = db_session()
    require_agent(session)
    return queue_page(session, read_filters(request.args), page_number(), alone=wants_fragment())


@blueprint.post("/queue")
@limit_person("10 per minute; 80 per day", "service requests at once")
def change_chosen() -> ResponseReturnValue:
    """Give the chosen requests of the queue to somebody, or move them on; each by itself."""
    session = db_session()
    require_agent(session)
    try:
        chosen, change = _read_chosen(), _read_change()
        changed, refused = change_each(session, chosen, lambda each: change(session, each))
        session.commit()
        _tell_changed(changed, refused)
    except InvalidInput as error:
        flash(_(error.message), "error")
    kept = read_filters(request.args).arguments
    return redirect(url_for(".queue", page=page_number(), **kept), HTTPStatus.SEE_OTHER)


def _read_chosen() -> list[Chosen]:
    """The requests that were ticked, at the versions that the list showed; no more than a page."""
    found = {}
    for ticked in request.form.getlist("request")[:PAGE]:
        id_, _sign, version = ticked.partition(":")
        request_id = read_id(id_)
        if request_id is not None:
            is_version = version.isdecimal() and len(version) < len("1000000")
            found[request_id] = Chosen(request_id, int(version) if is_version else -1)
    if not found:
        raise InvalidInput("Select at least one request.")
    return list(found.values())


def _read_change() -> Callable[[ScopedSession, Chosen], ServiceRequest]:
    """What shall be done with each of them: assigned, or moved on to a status."""
    last, status = read_id(request.form.get("last", "")), request.form.get("status", "")
    if request.form.get("act") == "assign":
        asked = request.form.get("assignee", "")
        if not asked:
            raise InvalidInput("Choose who should have them.")
        assignee = None if asked == NOBODY else _read_assignee(asked)
        return lambda session, each: assign(session, each.request_id, assignee, each.version)
    if status not in STATUSES:
        raise InvalidInput("Choose a status for them.")
    return lambda session, each: finish_from_list(
        session, each.request_id, status, each.version, last
    )


def _tell_changed(number: int, refused: Sequence[Refused]) -> None:
    """Say how many were changed, and of the first few others why they were not."""
    if number or not refused:
        flash(
            ngettext("%(num)s request changed.", "%(num)s requests changed.", number)
            if number
            else _("They are so already: nothing had to be changed.")
        )
    for each in refused[:MOST_NAMED]:
        flash(
            _(
                "%(reference)s was not changed. %(why)s",
                reference=each.reference or _("A request"),
                why=_(each.error.message, **each.error.told(reader_language())),
            ),
            "error",
        )
    more = len(refused[MOST_NAMED:])
    if more:
        flash(
            ngettext(
                "%(num)s more was not changed: look at it in the list.",
                "%(num)s more were not changed: look at them in the list.",
                more,
            ),
            "error",
        )


@blueprint.post("/queue/views")
@limit_views
def save_filters() -> ResponseReturnValue:
    """Keep the filters of the address under a name."""
    session, filters = db_session(), read_filters(request.args)
    require_agent(session)
    try:
        save_view(session, request.form.get("name", ""), filters)
        session.commit()
        flash(_("Filters saved."))
    except InvalidInput as error:
        flash(_(error.message, **error.params), "error")
    return redirect(url_for(".queue", **filters.arguments), HTTPStatus.SEE_OTHER)


@blueprint.post("/queue/views/<uuid:view_id>/remove")
@limit_views
def remove_filters(view_id: UUID) -> ResponseReturnValue:
    """Forget saved filters."""
    session = db_session()
    remove_view(session, view_id)
    session.commit()
    flash(_("Saved filters removed."))
    return redirect(url_for(".queue", **read_filters(request.args).arguments), HTTPStatus.SEE_OTHER)


@blueprint.get("/queue/analytics")
def analytics() -> ResponseReturnValue:
    """How the requests of the last months went; for managers."""
    require_role(*EDITORS)
    asked = request.args.get("months", 3, type=int)
    months = asked if asked in RANGES else 3
    session, now = db_session(), local_now(current_user.zone)
    first = first_month(now.date(), months)
    report = measure(session, first, current_user.zone, now)
    return render_template(
        "requests/analytics.html",
        report=report,
        drawn=draw_report(report),
        charts=charts,
        months=months,
        ranges=RANGES,
        **common(session),
    )


@blueprint.post("/<uuid:request_id>/status")
@limit_writes
def set_status(request_id: UUID) -> ResponseReturnValue:
    """Move a request on, or open it again."""
    status, version = request.form.get("status", ""), _version()
    last = read_id(request.form.get("last", ""))
    return _done(
        request_id,
        lambda session: change_status(session, request_id, status, version, last),
        _("Status changed."),
    )


@blueprint.post("/<uuid:request_id>/priority")
@limit_writes
def set_priority(request_id: UUID) -> ResponseReturnValue:
    """Give a request another priority."""
    priority, version = request.form.get("priority", ""), _version()
    return _done(
        request_id,
        lambda session: change_priority(session, request_id, priority, version),
        _("Priority changed."),
    )


@blueprint.post("/<uuid:request_id>/assignee")
@limit_writes
def set_assignee(request_id: UUID) -> ResponseReturnValue:
    """Give a request to somebody, or to nobody."""
    asked, version = request.form.get("assignee", ""), _version()
    return _done(
        request_id,
        lambda session: assign(session, request_id, _read_assignee(asked), version),
        _("Request assigned.") if asked else _("The request is now unassigned."),
    )


def _read_assignee(asked: str) -> UUID | None:
    found = read_id(asked)
    if asked and found is None:
        raise InvalidInput(
            "The request can't be assigned to this person. Choose from the list.", field="assignee"
        )
    return found


@blueprint.post("/<uuid:request_id>/notes")
@limit_writes
def write_note(request_id: UUID) -> ResponseReturnValue:
    """Note something for the team alone."""
    words, key = request.form.get("words", ""), request.form.get("message_key", "")
    return _done(request_id, lambda session: add_note(session, request_id, words, key), _("Noted."))


@blueprint.post("/<uuid:request_id>/replies")
@limit_writes
def write_reply(request_id: UUID) -> ResponseReturnValue:
    """Write to the other side; an agent's reply shows up in the requester's open chat."""
    words, key = request.form.get("words", ""), request.form.get("message_key", "")
    return _done(request_id, lambda session: say(session, request_id, words, key), _("Sent."))


def _done(
    request_id: UUID, change: Callable[[ScopedSession], Any], told: str
) -> ResponseReturnValue:
    """Make a change and show the request; with what is wrong, and what was typed, if it fails."""
    session = db_session()
    try:
        made = change(session)
        session.commit()
    except (InvalidInput, Conflict) as error:
        session.rollback()
        return request_page(session, load_request(session, request_id), error), error.status
    if isinstance(made, Said) and not made.is_repeated:
        announce_reply(made.thread_id, made.message_id)
    flash(told)
    return redirect(url_for(".show", request_id=request_id), HTTPStatus.SEE_OTHER)


@blueprint.get("")
def index() -> ResponseReturnValue:
    """One's own requests, newest first."""
    return own_page(db_session(), request.args.get("state", ""), page_number())


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """The same with a slash."""
    return redirect(url_for(".index"))


@blueprint.get("/<uuid:request_id>")
def show(request_id: UUID) -> ResponseReturnValue:
    """One request; what one was told about it is read by now."""
    session = db_session()
    seen = load_request(session, request_id)
    if read_about(session, url_for(".show", request_id=request_id)):
        session.commit()
    return request_page(session, seen)


@blueprint.get("/<uuid:request_id>/files/<uuid:file_id>")
def file(request_id: UUID, file_id: UUID) -> ResponseReturnValue:
    """A file of a request, to be saved and never shown."""
    found = load_file_of(db_session(), request_id, file_id)
    return send_stored(found.key, found.media_type, found.name)
