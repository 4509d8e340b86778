"""The restaurant's clock: what time and which day it is where the group is."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import bindparam, select

from app.accounts.models import Group
from app.db import ScopedSession, utc_now

_ZONE = select(Group.timezone).where(Group.id == bindparam("group_id"))


def load_zone(session: ScopedSession) -> ZoneInfo:
    """The time zone of the session's group."""
    return ZoneInfo(session.execute(_ZONE, {"group_id": session.scope.group_id}).scalar_one())


def local_now(zone: ZoneInfo) -> datetime:
    """Now, in a group's time zone; its date is the group's today."""
    return utc_now().astimezone(zone)
