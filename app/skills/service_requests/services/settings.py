"""What a group has settled about its requests: whether the assistant tries to solve them first."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.accounts.audit import record
from app.accounts.edit_history import name_of_editor
from app.db import ScopedSession, utc_now
from app.errors import Conflict, Forbidden, InvalidInput
from app.skills.service_requests.models import RequestSettings

USUAL_THRESHOLD = 70
SURE = 100


class StaleSettings(Conflict):
    """Somebody else has saved the settings since they were opened; `editor` is their name."""

    def __init__(self, editor: str) -> None:
        super().__init__("Somebody else changed this in the meantime. Look at it again, then save.")
        self.editor = editor


def load_settings_of(session: ScopedSession) -> RequestSettings:
    """The group's settings; where it has settled nothing, what is usual, as version 0."""
    said = session.scalar(
        select(RequestSettings).where(RequestSettings.group_id == session.scope.group_id)
    )
    return said or _usual(session)


def _usual(session: ScopedSession) -> RequestSettings:
    return RequestSettings(
        group_id=session.scope.group_id,
        is_resolution_on=True,
        resolution_threshold=USUAL_THRESHOLD,
        version=0,
    )


def save_settings(
    session: ScopedSession, *, is_resolution_on: bool, threshold: int, version: int
) -> RequestSettings:
    """Keep what an admin has settled; the same again is no new version.

    `version` is the one that was shown (0 for what is usual).

    Raises:
        Forbidden: no admin. InvalidInput: no such threshold. StaleSettings: somebody was faster.
    """
    if session.scope.role != "admin":
        raise Forbidden("Only admins can change the settings of requests.")
    if not 0 <= threshold <= SURE:
        raise InvalidInput(
            "Enter a whole number from %(least)s to %(most)s.",
            field="threshold",
            least=0,
            most=SURE,
        )
    said = _lock(session) or _usual(session)
    if (said.is_resolution_on, said.resolution_threshold) == (is_resolution_on, threshold):
        session.rollback()
        return load_settings_of(session)
    if said.version != version:
        raise StaleSettings(name_of_editor(session, said.edited_by))
    said.is_resolution_on, said.resolution_threshold = is_resolution_on, threshold
    said.version, said.edited_by, said.updated_at = version + 1, session.scope.user_id, utc_now()
    session.add(said)
    record(session, "request_settings", f"v{said.version}")
    return _commit(session, said)


def _lock(session: ScopedSession) -> RequestSettings | None:
    query = select(RequestSettings).where(RequestSettings.group_id == session.scope.group_id)
    return session.scalar(query.with_for_update().execution_options(populate_existing=True))


def _commit(session: ScopedSession, said: RequestSettings) -> RequestSettings:
    try:
        session.commit()
    except IntegrityError:
        # Two have settled something for the first time at once.
        session.rollback()
        raise StaleSettings(name_of_editor(session, load_settings_of(session).edited_by)) from None
    return said
