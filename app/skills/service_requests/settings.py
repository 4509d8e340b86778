"""The settings of a group: whether solutions are proposed, and how sure they must be."""

from __future__ import annotations

from app.db import ScopedSession
from app.skills.service_requests.models import RequestSettings

DEFAULT_THRESHOLD = 70


def load_settings_of(session: ScopedSession) -> RequestSettings:
    """The group's settings; the usual ones where nobody has set any."""
    group_id = session.scope.group_id
    found = session.get(RequestSettings, group_id) if group_id else None
    return found or RequestSettings(
        group_id=group_id,
        is_resolution_on=True,
        resolution_threshold=DEFAULT_THRESHOLD,
        version=0,
    )
