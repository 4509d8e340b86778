"""How many messages a person may send a day and a group a month, counted as they are stored.

Day and month are those of the group's time zone. A group's own limits stand in its row;
where there are none, those of the settings hold. A limit of 0 is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ForeignKey, Row, text, update
from sqlalchemy.orm import Mapped, mapped_column

from app.accounts.audit import record
from app.accounts.models import Group
from app.db import Base, ScopedSession, utc_now
from app.errors import InvalidInput, LimitReached

# What fits an integer column with room to count on.
HIGHEST_LIMIT = 1_000_000_000


class DailyMessages(Base):
    """How many messages a person has sent on a day of their group."""

    __tablename__ = "daily_messages"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[date] = mapped_column(primary_key=True)
    used: Mapped[int]


class MonthlyMessages(Base):
    """How many messages a group has sent in a month, which is named by its first day."""

    __tablename__ = "monthly_messages"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    month: Mapped[date] = mapped_column(primary_key=True)
    used: Mapped[int]


@dataclass(frozen=True)
class Usage:
    """How much of a limit is used; `limit` is None where there is none.

    `resets_at` is an exact instant, in the group's time zone.
    """

    used: int
    limit: int | None
    resets_at: datetime

    def as_json(self) -> dict[str, Any]:
        """The envelope's `usage`."""
        moment = self.resets_at.astimezone(UTC).isoformat()
        return {"used": self.used, "limit": self.limit, "resets_at": moment}


@dataclass(frozen=True)
class Standing:
    """How much of both limits a person and their group have used just now."""

    daily: Usage
    monthly: Usage

    @property
    def nearest(self) -> Usage:
        """The limit that is reached first; the person's day where there is none at all."""
        limited = [each for each in (self.daily, self.monthly) if each.limit is not None]
        return min(limited, key=lambda each: (each.limit or 0) - each.used, default=self.daily)


_OWN_GROUP = """
own_group AS MATERIALIZED (
  SELECT id, timezone, coalesce(daily_message_limit, :daily) AS daily_limit,
         coalesce(monthly_message_limit, :monthly) AS monthly_limit,
         (CAST(:now AS timestamptz) AT TIME ZONE timezone)::date AS day,
         date_trunc('month', CAST(:now AS timestamptz) AT TIME ZONE timezone)::date AS month
    FROM groups WHERE id = :group)
"""
# One statement checks and counts. It takes the person's row before the group's, as every
# other does; a row that is full is not touched, and then nothing is counted at all.
_COUNT = text(
    f"""
WITH {_OWN_GROUP}, mine AS (
  INSERT INTO daily_messages AS known (group_id, user_id, day, used)
  SELECT id, :user, day, 1 FROM own_group
  ON CONFLICT (group_id, user_id, day) DO UPDATE SET used = known.used + 1
   WHERE (SELECT daily_limit = 0 OR known.used < daily_limit FROM own_group)
  RETURNING used
), everybodys AS (
  INSERT INTO monthly_messages AS known (group_id, month, used)
  SELECT id, month, 1 FROM own_group WHERE EXISTS (SELECT FROM mine)
  ON CONFLICT (group_id, month) DO UPDATE SET used = known.used + 1
   WHERE (SELECT monthly_limit = 0 OR known.used < monthly_limit FROM own_group)
  RETURNING used
)
SELECT own_group.*, (SELECT used FROM mine) AS daily_used,
       (SELECT used FROM everybodys) AS monthly_used
  FROM own_group
"""  # noqa: S608 - both parts are constants
)
_READ = text(
    f"""
WITH {_OWN_GROUP}
SELECT own_group.*,
       coalesce((SELECT used FROM daily_messages d
          WHERE d.group_id = own_group.id AND d.user_id = :user AND d.day = own_group.day), 0)
         AS daily_used,
       coalesce((SELECT used FROM monthly_messages m
          WHERE m.group_id = own_group.id AND m.month = own_group.month), 0) AS monthly_used
  FROM own_group
"""  # noqa: S608 - both parts are constants
)


def count_message(session: ScopedSession, now: datetime | None = None) -> None:
    """Count a message as part of the transaction that stores it; the last step before commit.

    The group's row is held until then, so nothing slow should follow.

    Raises:
        LimitReached: it is one too many; the transaction is rolled back.
    """
    row = _ask(session, _COUNT, now)
    standing = _standing(row)
    if row.daily_used is None:
        session.rollback()
        raise LimitReached(
            "Today's messages are used up (%(limit)s of %(limit)s). You can write again on %(date)s"
            " at %(time)s; until then the manual and the menus can be read and searched.",
            standing.daily,
        )
    if row.monthly_used is None:
        session.rollback()
        raise LimitReached(
            "The restaurant's messages for this month are used up (%(limit)s of %(limit)s). The"
            " assistant answers again on %(date)s at %(time)s; until then the manual and the menus"
            " can be read and searched.",
            standing.monthly,
        )


def read_standing(session: ScopedSession, now: datetime | None = None) -> Standing:
    """How much of both limits is used, without counting."""
    return _standing(_ask(session, _READ, now))


def _ask(session: ScopedSession, statement: Any, now: datetime | None) -> Row[Any]:
    parameters = {
        "now": now or utc_now(),
        "group": session.scope.group_id,
        "user": session.scope.user_id,
        "daily": session.settings.daily_message_limit,
        "monthly": session.settings.monthly_message_limit,
    }
    return session.execute(statement, parameters).one()


def _standing(row: Row[Any]) -> Standing:
    zone = ZoneInfo(row.timezone)
    next_month = (row.month + timedelta(days=31)).replace(day=1)
    return Standing(
        _usage(row.daily_used, row.daily_limit, row.day + timedelta(days=1), zone),
        _usage(row.monthly_used, row.monthly_limit, next_month, zone),
    )


def _usage(used: int | None, limit: int, until: date, zone: ZoneInfo) -> Usage:
    # What could not be counted was full. By way of UTC, so that a midnight which the clocks
    # skip is the instant at which they do.
    resets_at = datetime.combine(until, time.min, zone).astimezone(UTC).astimezone(zone)
    return Usage(limit if used is None else used, limit or None, resets_at)


def read_own_limits(session: ScopedSession) -> tuple[int | None, int | None]:
    """The group's own limits, a day and a month; None where those of the settings hold."""
    group = session.get_one(Group, session.scope.group_id)
    return group.daily_message_limit, group.monthly_message_limit


def set_own_limits(session: ScopedSession, daily: str, monthly: str) -> None:
    """Give the session's group limits of its own; nothing typed means those of the settings.

    Raises:
        InvalidInput: not a whole number from 0 on, naming the field.
    """
    values = {
        "daily_message_limit": _limit(daily, "daily"),
        "monthly_message_limit": _limit(monthly, "monthly"),
    }
    session.execute(update(Group).where(Group.id == session.scope.group_id).values(**values))
    said = ", ".join(f"{name}={'default' if n is None else n}" for name, n in values.items())
    record(session, "limits_changed", said)
    session.commit()


def _limit(typed: str, field: str) -> int | None:
    digits = typed.strip()
    if not digits:
        return None
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= 12
    if not (is_number and int(digits) <= HIGHEST_LIMIT):
        raise InvalidInput("Write a whole number; 0 means no limit.", field=field)
    return int(digits)
