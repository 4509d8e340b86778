"""What states, priorities and kinds of change are called; looked up in the catalog where shown."""

from __future__ import annotations

from flask_babel import gettext as _
from flask_babel import ngettext, pgettext

from app.errors import N_

PRIORITY_WORDS = {
    "low": N_("Low"),
    "normal": N_("Normal"),
    "high": N_("High"),
    "urgent": N_("Urgent"),
}
# The buttons that move a request on, by what it becomes.
STATUS_ACTS = {
    "in_progress": N_("Start working on it"),
    "waiting": N_("Wait for an answer"),
    "resolved": N_("Mark as resolved"),
    "closed": N_("Close"),
}
REOPEN = N_("Reopen")


def status_words() -> dict[str, str]:
    """What each status is called; of a request, for languages in which that shows in the word."""
    return {
        "new": pgettext("request", "New"),
        "in_progress": _("In progress"),
        "waiting": _("Waiting"),
        "resolved": pgettext("request", "Resolved"),
        "closed": pgettext("request", "Closed"),
    }


def open_in_words(number: int, shown: str) -> str:
    """How many requests are open, as the menu is read out; `shown` may be "99+"."""
    return ngettext("%(shown)s open request", "%(shown)s open requests", number, shown=shown)
