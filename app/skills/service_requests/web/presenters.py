"""What the templates of the requests are given: one request, one's own list, the queue.

And the numbers of the requests, in words and as bars.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from babel.dates import format_date
from flask import render_template, request, url_for
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.form_pages import moment_in_words
from app.db import ScopedSession, new_id, utc_now
from app.errors import ComandaError
from app.fields.display import display_moment
from app.skills.service_requests.labels import PRIORITY_WORDS, REOPEN, STATUS_ACTS, status_words
from app.skills.service_requests.models import PRIORITIES, STATUSES, ServiceRequest
from app.skills.service_requests.services.analytics import Measured, Report
from app.skills.service_requests.services.deadline import Standing, span
from app.skills.service_requests.services.lifecycle import LONGEST_WORDS, may_become
from app.skills.service_requests.services.queue import (
    ALL,
    LONGEST_NAME,
    ME,
    NOBODY,
    OPEN,
    Filters,
    find_queue,
    list_assignees,
    list_teams,
    list_types,
    list_views,
    read_filters,
)
from app.skills.service_requests.services.requests import (
    Seen,
    has_queue,
    is_editor,
    list_agents,
    list_kept_files,
    list_own,
    list_updates,
    names_of,
)
from app.skills.service_requests.services.type_snapshot import read_form, type_name
from app.skills.service_requests.web.request_presenters import (
    Stage,
    assignee_name,
    draw_events,
    draw_lines,
    draw_stages,
    standing_in_words,
    standing_of,
)
from app.text.bilingual import reader_language
from app.text.numbers import figures
from app.web.charts import Bar, Columns, columns, stretch

Choices = list[tuple[str, str]]


NOT_KNOWN = "—"


@dataclass(frozen=True)
class QueueLine:
    """A request as the lists draw it."""

    request: ServiceRequest
    type: str
    assignee: str
    standing: Standing
    due: str
    stages: tuple[Stage, ...] = ()


def common(session: ScopedSession) -> dict[str, Any]:
    """What all pages of the requests need: words, and the places that there are for its person."""
    return {
        "status_words": status_words(),
        "priority_words": {name: _(words) for name, words in PRIORITY_WORDS.items()},
        "has_queue": has_queue(session),
        "sees_all": is_editor(session),
        "moment_in_words": moment_in_words,
        "moment": _moment,
        "language": reader_language(),
    }


def _moment(at: datetime) -> str:
    """A moment as the group's clock shows it."""
    return display_moment(at.astimezone(current_user.zone), reader_language())


def view_lines(
    session: ScopedSession, requests: Sequence[ServiceRequest], *, with_stages: bool = False
) -> list[QueueLine]:
    """Requests with the names of their types and people, and how they stand to their due time."""
    names, language, now = (
        names_of(session, [each.assignee_id for each in requests]),
        reader_language(),
        utc_now(),
    )
    lines = []
    for each in requests:
        found = standing_of(each, now)
        lines.append(
            QueueLine(
                each,
                type_name(each, language),
                assignee_name(each, names),
                found,
                standing_in_words(found),
                tuple(draw_stages(each)) if with_stages else (),
            )
        )
    return lines


def own_page(session: ScopedSession, state: str, page: int) -> str:
    """One's own requests, all of them or those that are open or not."""
    is_open = {"open": True, "closed": False}.get(state)
    found, has_more = list_own(session, is_open=is_open, page=page)
    narrowed: dict[str, Any] = {"state": state} if is_open is not None else {}
    return render_template(
        "requests/index.html",
        lines=view_lines(session, found, with_stages=True),
        state=state if is_open is not None else "",
        newer=url_for(".index", page=page - 1, **narrowed) if page > 1 else "",
        older=url_for(".index", page=page + 1, **narrowed) if has_more else "",
        **common(session),
    )


def request_page(session: ScopedSession, seen: Seen, error: ComandaError | None = None) -> str:
    """One request: what was asked for, what has happened, and what its reader can do."""
    found, language = seen.request, reader_language()
    names = names_of(session, [found.assignee_id])
    stand = standing_of(found)
    form = read_form(found)
    updates = list_updates(session, seen)
    return render_template(
        "requests/request.html",
        request_=found,
        seen=seen,
        type=form.name.text(language),
        path=[each.text(language) for each in form.path],
        icon_name=form.icon,
        lines=draw_lines(found, language, list_kept_files(session, found)),
        events=draw_events(found, updates),
        last=updates[-1].id if updates else None,
        assignee=assignee_name(found, names),
        has_left=found.assignee_id is not None and found.assignee_id not in names,
        standing=stand,
        due=standing_in_words(stand),
        acts=_acts(seen),
        agents=list_agents(session, found.team_id) if seen.is_agent else [],
        error=_(error.message, **error.told(language)) if error else "",
        error_field=error.field if error else "",
        typed=request.form.get("words", "") if error else "",
        typed_key=request.form.get("message_key", "") if error else "",
        new_key=lambda: new_id().hex,
        longest=LONGEST_WORDS,
        **common(session),
    )


def _acts(seen: Seen) -> Choices:
    """What the reader can make of the request, with the words of the buttons."""
    status = seen.request.status
    targets = may_become(status, is_agent=seen.is_agent)
    is_over = status in ("resolved", "closed")
    words = STATUS_ACTS | ({"in_progress": REOPEN} if is_over else {})
    return [(target, _(words[target])) for target in targets]


def queue_page(session: ScopedSession, filters: Filters, page: int, *, alone: bool) -> str:
    """The queue as it is narrowed down; `alone` is the list without the page around it."""
    found, has_more = find_queue(session, filters, utc_now(), page)

    def turned(number: int) -> str:
        return url_for(".queue", page=number, **filters.arguments)

    context = {
        "lines": view_lines(session, found),
        "filters": filters,
        "earlier": turned(page - 1) if page > 1 else "",
        "later": turned(page + 1) if has_more else "",
        **_views(session, filters),
        "agents": list_assignees(session) if found else [],
        "here": url_for(".change_chosen", page=page, **filters.arguments),
        "last": new_id(),
        **common(session),
    }
    if alone:
        return render_template("requests/_queue.html", **context)
    return render_template("requests/queue.html", **context, **_choices(session))


def _views(session: ScopedSession, filters: Filters) -> dict[str, Any]:
    """The views that are asked for most, and those that this person has saved.

    Each has its words, where it leads, and whether it is on. A saved one that is on can be removed;
    filters that are no view yet can be saved.
    """
    usual = [
        (_("All open"), Filters()),
        (_("Assigned to me"), Filters(assignee=ME)),
        (_("Unassigned"), Filters(assignee=NOBODY)),
        (_("Overdue"), Filters(is_overdue=True)),
    ]
    saved = [(each, read_filters(each.arguments)) for each in list_views(session)]
    views = [*usual, *((each.name, found) for each, found in saved)]
    removes = [
        url_for(".remove_filters", view_id=each.id) for each, found in saved if found == filters
    ]
    is_view = any(found == filters for _words, found in views)
    return {
        "quick": [(w, url_for(".queue", **each.arguments), each == filters) for w, each in views],
        "removes": removes[0] if removes else "",
        "saves": "" if is_view else url_for(".save_filters", **filters.arguments),
        "longest_name": LONGEST_NAME,
    }


def _choices(session: ScopedSession) -> dict[str, Choices]:
    """What the queue can be narrowed to."""
    language = reader_language()
    own = session.scope.user_id
    words = status_words()
    states = [(each, words[each]) for each in STATUSES]
    people = [(str(id_), name) for id_, name in list_assignees(session) if id_ != own]
    types = [(str(each.id), each.name(language)) for each in list_types(session)]
    return {
        "statuses": [(OPEN, _("Still open")), *states, (ALL, _("All statuses"))],
        "teams": [
            ("", _("All teams")),
            *((str(each.id), each.name(language)) for each in list_teams(session)),
        ],
        "people": [("", _("Everybody")), (ME, _("Me")), (NOBODY, _("Nobody")), *people],
        "priorities": [
            ("", _("All priorities")),
            *((each, _(PRIORITY_WORDS[each])) for each in reversed(PRIORITIES)),
        ],
        "types": [("", _("All types")), *sorted(types, key=lambda each: each[1])],
    }


@dataclass(frozen=True)
class ChartRow:
    """A month or a type with its numbers in words, and its bar beside the largest."""

    name: str
    submitted: str
    is_open: str
    resolved: str
    response: str
    resolution: str
    met: str
    attempted: str
    accepted: str
    rate: str
    bar: Bar


@dataclass(frozen=True)
class DrawnReport:
    """The whole in words, and what is drawn of it."""

    total: ChartRow
    months: tuple[ChartRow, ...]
    types: tuple[ChartRow, ...]
    columns: Columns
    most: str


def draw_report(report: Report) -> DrawnReport:
    """A report for its page, in the reader's language."""
    language = reader_language()
    most = max((each.submitted for each in report.by_month.values()), default=0)
    most_of_type = max((each.submitted for _type, each in report.by_type), default=0)
    return DrawnReport(
        _chart_row("", report.total, 0),
        tuple(
            _chart_row(_month_name(month, language), each, most)
            for month, each in report.by_month.items()
        ),
        tuple(
            _chart_row(
                type_.name(language) if type_ else _("Types that are gone"), each, most_of_type
            )
            for type_, each in report.by_type
        ),
        columns([(each.submitted, each.accepted) for each in report.by_month.values()]),
        _number_in_words(most),
    )


def _chart_row(name: str, found: Measured, most: int) -> ChartRow:
    return ChartRow(
        name,
        _number_in_words(found.submitted),
        _number_in_words(found.is_open),
        _number_in_words(found.resolved),
        _span_in_words(found.response),
        _span_in_words(found.resolution),
        _share_in_words(found.met, found.judged),
        _number_in_words(found.attempted),
        _number_in_words(found.accepted),
        _share_in_words(found.accepted, found.attempted),
        stretch(0, found.submitted, most),
    )


def _month_name(month: dt.date, language: str) -> str:
    return str(format_date(month, "MMM y", locale=language))


def _number_in_words(value: int) -> str:
    return figures(value)


def _span_in_words(seconds: float | None) -> str:
    return NOT_KNOWN if seconds is None else span(int(seconds))


def _share_in_words(part: int, whole: int) -> str:
    if not whole:
        return NOT_KNOWN
    return _("%(number)s%%", number=figures(round(part / whole * 100)))
