"""The admin pages: usage and limits, the list of turns, and how one turn went."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.form_pages import page
from app.accounts.people import list_people
from app.admin import figures
from app.admin.search_inspector_views import address_of_search
from app.admin.turns import (
    PAGE_TURNS,
    STATUSES,
    list_turns,
    load_turn,
    own_words,
    timeline,
)
from app.admin.usage import RANGES, cost, read_usage
from app.assistant.usage.message_quotas import (
    OWN_LIMITS,
    read_own_limits,
    read_standing,
    set_own_limits,
)
from app.errors import ComandaError, InvalidInput
from app.extensions import services
from app.text.bilingual import reader_language
from app.text.edits import Overtaken
from app.web import charts
from app.web.pages import db_session, require_role

blueprint = Blueprint("admin", __name__, url_prefix="/admin")
USUAL_RANGE = 30


@blueprint.get("/usage")
def usage() -> ResponseReturnValue:
    """What the group uses the assistant for, in numbers."""
    require_role("admin")
    return _usage_page()


@blueprint.post("/limits")
def limits() -> ResponseReturnValue:
    """Give the group limits of its own, or show what was typed with what is wrong or overtaken."""
    require_role("admin")
    form = request.form
    was = {name: form[f"was_{name}"] for name in OWN_LIMITS if f"was_{name}" in form}
    try:
        set_own_limits(db_session(), was=was, typed=form)
    except InvalidInput as error:
        return _usage_page(error, texts=form, was=was)
    except Overtaken as error:
        db_session().rollback()
        texts, theirs = error.shown_again(_shown_limits(), form)
        return _usage_page(error, texts=texts, theirs=theirs)
    flash(_("Limits saved. They apply from the next message on."))
    return redirect(url_for("admin.usage"), HTTPStatus.SEE_OTHER)


@blueprint.get("/turns")
def turns() -> ResponseReturnValue:
    """The turns of the group, newest first, without a word of them."""
    require_role("admin")
    session, names = db_session(), _names()
    filters = _filters()
    found = list_turns(session, before=_moment(request.args.get("before", "")), **filters)
    older = found[-1].at.isoformat() if len(found) == PAGE_TURNS else ""
    kept = {name: value for name, value in filters.items() if value}
    return render_template(
        "admin/turns.html",
        turns=found,
        names=names,
        chosen=filters,
        statuses={code: status_word(code) for code in STATUSES},
        providers={code: provider_name(code) for code in PROVIDERS},
        provider_names={turn.provider: provider_name(turn.provider) for turn in found},
        older=f"{url_for('admin.turns')}?{urlencode({**kept, 'before': older})}" if older else "",
        figures=figures,
    )


@blueprint.get("/turns/<uuid:turn_id>")
def turn(turn_id: UUID) -> ResponseReturnValue:
    """How one turn went; its words only for the person who asked."""
    require_role()
    session = db_session()
    facts = load_turn(session, turn_id)
    whole = facts.queued_ms + (facts.latency_ms or 0)
    spans = [
        (span, charts.stretch(span.start, span.milliseconds, whole)) for span in timeline(facts)
    ]
    return render_template(
        "admin/turn.html",
        turn=facts,
        name=_names().get(facts.user_id),
        whole=whole,
        spans=spans,
        words=own_words(session, facts),
        status=status_word(facts.status),
        tool_words=tool_words,
        reason_words=reason_words,
        address_of_search=address_of_search,
        **_drawing(),
    )


PROVIDERS = ("openai", "builtin", "fast_path")


def provider_name(provider: str) -> str:
    """Who answered, as people call it; nobody, where a turn was stopped before it began."""
    words = {
        "openai": _("Language model"),
        "builtin": _("Built-in assistant"),
        "fast_path": _("No model needed"),
        "": _("Nobody"),
    }
    return words.get(provider, provider)


def status_word(status: str) -> str:
    """How a turn ended, in a word."""
    words = {
        "complete": _("Complete"),
        "stopped": _("Stopped"),
        "interrupted": _("Cut short"),
        "failed": _("Failed"),
    }
    return words.get(status, status)


def reason_words(why: str) -> str:
    """Why the built-in assistant did what it did, in a sentence."""
    words = {
        "emergency": _("It reported an emergency: help comes first."),
        "wished": _("The matching skill read what the message asks for."),
        "changed": _("It changed what was proposed."),
        "several": _("It asked for two things, and each was handled separately."),
        "likeliest": _("Most likely, it was for the first of these."),
        "unsure": _("Nothing was likely enough, so the assistant asked a question."),
        "small_talk": _("It was small talk."),
        "off_topic": _("It was not about the restaurant."),
        "not_understood": _("The message could not be understood."),
        "listens": _("Everything said in this chat goes to one tool."),
    }
    return words.get(why, why)


def tool_words(name: str) -> str:
    """What a tool does, as the chat says it; empty for one that is no more."""
    tool = services().registry.tools.get(name)
    return tool.activity[reader_language()].rstrip("…") if tool else ""


def _shown_limits() -> dict[str, str]:
    """The group's own limits as the form writes them."""
    own = read_own_limits(db_session())
    return {name: "" if limit is None else str(limit) for name, limit in own.items()}


def _usage_page(
    error: ComandaError | None = None,
    *,
    texts: Mapping[str, str] | None = None,
    was: Mapping[str, str] | None = None,
    theirs: Mapping[str, str] | None = None,
) -> ResponseReturnValue:
    """`texts` stand in the form of the limits; what it changes is told by what they `was`.

    Without them, what is there now. `theirs` is what stands there instead of what was typed.
    """
    session, settings = db_session(), services().settings
    shown = _shown_limits()
    days = _range()
    report = read_usage(session, days, current_user.zone)
    return page(
        "admin/usage.html",
        error,
        report=report,
        days=days,
        with_table="table" in request.args,
        ranges=RANGES,
        names=_names(),
        cost=lambda sums: figures.dollars(cost(sums, settings)),
        standing=read_standing(session),
        texts=shown if texts is None else texts,
        was=shown if was is None else was,
        theirs=theirs,
        settings=settings,
        turns_chart=charts.columns([(d.turns, d.failed) for d in report.by_day.values()]),
        tokens_chart=charts.columns([(d.tokens, d.tokens_out) for d in report.by_day.values()]),
        **_drawing(),
    )


def _drawing() -> dict[str, Any]:
    return {"charts": charts, "figures": figures, "provider_name": provider_name}


def _names() -> dict[UUID, str]:
    return {person.user_id: person.name for person in list_people(db_session())}


def _range() -> int:
    days = request.args.get("days", USUAL_RANGE, type=int)
    return days if days in RANGES else USUAL_RANGE


def _filters() -> dict[str, Any]:
    """What the list is limited to; what is no such thing limits nothing."""
    status = request.args.get("status", "")
    provider = request.args.get("provider", "")
    return {
        "person": request.args.get("person", type=UUID),
        "provider": provider if provider in PROVIDERS else "",
        "status": status if status in STATUSES else "",
    }


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
