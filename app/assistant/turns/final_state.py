"""How a reply ends: its last state, the sources that it cites, and what is said where it failed."""

from __future__ import annotations

import time
from dataclasses import replace

from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.tools.parts import NoticePart
from app.assistant.turns.citations import cited_numbers
from app.assistant.turns.outcome import TurnOutcome
from app.assistant.turns.writer import ReplyWriter


def settle(writer: ReplyWriter, language: str, started: float, outcome: TurnOutcome) -> TurnOutcome:
    """Write the reply's last state, with a notice where it did not end well; returns it timed."""
    _keep_cited(writer)
    if outcome.status in ("failed", "interrupted"):
        with force_locale(language):
            notice = NoticePart(kind="unavailable", text=_trouble(outcome.code, outcome.status))
        writer.parts.append(notice.model_dump(mode="json"))
    first = writer.first_token_at
    timed = replace(
        outcome,
        first_token_ms=None if first is None else round((first - started) * 1000),
        latency_ms=round((time.monotonic() - started) * 1000),
    )
    writer.finish(timed)
    return timed


def cut_notice() -> NoticePart:
    """What stands below a reply that has reached the greatest length, in the current language."""
    return NoticePart(
        kind="limit",
        text=_(
            "This answer has reached the greatest length and ends here. Ask for the part that"
            " you need more of."
        ),
    )


def broken_off(writer: ReplyWriter) -> str:
    """With words on the page the reply is interrupted; without any it failed."""
    return "interrupted" if writer.text else "failed"


def _trouble(code: str, status: str) -> str:
    """What to tell a person whose reply could not be finished."""
    if status == "interrupted":
        return _("The answer broke off here. Your question is kept; try again.")
    if code == "rate_limited":
        return _("The language model is busy. Your question is kept; try again in a minute.")
    if code == "refused":
        return _(
            "The language model does not accept this house's key or model name. Tell an admin;"
            " your question is kept."
        )
    if code == "malformed":
        return _(
            "The language model answered in a form that could not be read. Your question is"
            " kept; try again, and tell an admin if it goes on."
        )
    if code == "no_member":
        return _("You are not in this group any more, so it does not answer.")
    if code == "internal":
        return _("Something went wrong on our side. Your question is kept; try again.")
    return _("The language model cannot be reached. Your question is kept; try again.")


def _keep_cited(writer: ReplyWriter) -> None:
    """Leave out the sources that the reply does not cite; the numbers stay as they are."""
    cited = set(cited_numbers(writer.text))
    writer.ledger.citations[:] = [c for c in writer.ledger.citations if c.number in cited]
