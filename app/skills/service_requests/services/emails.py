"""What people are told of requests: a line for the bell, and a mail with its title and a link.

What was said about a request is never in them: a mail goes through many hands.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask_babel import force_locale
from flask_babel import gettext as _

from app.skills.service_requests.models import ServiceRequest
from app.text.bilingual import in_both

ASSIGNED, REPLIED, ANSWERED = "assigned", "replied", "answered"
RESOLVED, CLOSED, REOPENED = "resolved", "closed", "reopened"
WAITING = "waiting"


@dataclass(frozen=True)
class Letter:
    subject: str
    body: str


def lines_about(event: str, request: ServiceRequest) -> dict[str, str]:
    """What has happened to a request, in both languages."""
    return in_both(lambda _language: _line(event, request))


def letter_about(event: str, request: ServiceRequest, language: str, link: str) -> Letter:
    """The same as a mail in its reader's language."""
    with force_locale(language):
        line = _line(event, request)
        return Letter(
            line,
            _(
                "Hello,\n\n%(line)s\n\nHere is all about it:\n%(link)s\n",
                line=line,
                link=link,
            ),
        )


def _line(event: str, request: ServiceRequest) -> str:
    facts = {"reference": request.reference, "title": request.title}
    lines = {
        ASSIGNED: _("%(reference)s is yours now: %(title)s", **facts),
        WAITING: _("%(reference)s waits for somebody to take it: %(title)s", **facts),
        REPLIED: _("A reply to %(reference)s: %(title)s", **facts),
        ANSWERED: _("An answer to %(reference)s: %(title)s", **facts),
        RESOLVED: _("%(reference)s is resolved: %(title)s", **facts),
        CLOSED: _("%(reference)s is closed: %(title)s", **facts),
        REOPENED: _("%(reference)s is open again: %(title)s", **facts),
    }
    return lines[event]
