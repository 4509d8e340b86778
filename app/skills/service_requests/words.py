"""What states, priorities and kinds of change are called; looked up in the catalog where shown."""

from __future__ import annotations

from app.errors import N_

STATUS_WORDS = {
    "new": N_("New"),
    "in_progress": N_("In progress"),
    "waiting": N_("Waiting"),
    "resolved": N_("Resolved"),
    "closed": N_("Closed"),
}
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
