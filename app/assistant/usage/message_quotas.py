"""How many messages a person may send a day and a group a month, counted as they are stored.

Day and month are those of the group's time zone. A group's own limits stand in its row;
where there are none, those of the settings hold. A limit of 0 is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import ForeignKey, Row, select, text
from sqlalchemy.orm import Mapped, mapped_column

from app.accounts.audit import record
from app.accounts.models import Group
from app.db import Base, ScopedSession, utc_now
from app.errors import Forbidden, InvalidInput, LimitReached
from app.text.edits import merge_edit

# The limits that a group may have of its own: of a person a day, of all a month.
OWN_LIMITS = ("daily", "monthly")
# Stands for what a page had shown when it does not say so: no limit is that.
NOT_SHOWN = -1
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
            "You have used all of today's messages (%(limit)s of %(limit)s). You can "
            "write again on %(date)s at %(time)s; until then, you can read and "
            "search the manual and the menus.",
            standing.daily,
        )
    if row.monthly_used is None:
        session.rollback()
        raise LimitReached(
            "The restaurant has used all its messages for this month (%(limit)s of "
            "%(limit)s). The assistant will answer again on %(date)s at %(time)s; "
            "until then, you can read and search the manual and the menus.",
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


def read_own_limits(session: ScopedSession) -> dict[str, int | None]:
    """The group's own limits, by `OWN_LIMITS`; None where those of the settings hold."""
    return _own_limits(session.get_one(Group, session.scope.group_id))


def _own_limits(group: Group) -> dict[str, int | None]:
    return {name: getattr(group, f"{name}_message_limit") for name in OWN_LIMITS}


def set_own_limits(
    session: ScopedSession, *, was: Mapping[str, str], typed: Mapping[str, str]
) -> None:
    """Give the session's group limits of its own; nothing typed means those of the settings.

    `was` is what the page that was sent had shown. What somebody else has changed meanwhile stays.

    Raises:
        InvalidInput: not a whole number from 0 on, naming the field.
        Overtaken: both have changed the same limit; nothing is written.
        Forbidden: no admin.
    """
    wanted = {name: _limit(typed.get(name, ""), name) for name in OWN_LIMITS}
    group = _lock_group(session)
    shown = {name: _shown_limit(was.get(name)) for name in OWN_LIMITS}
    merged = merge_edit(shown, wanted, _own_limits(group))
    for name, limit in merged.items():
        setattr(group, f"{name}_message_limit", limit)
    said = ", ".join(
        f"{name}_message_limit={'default' if limit is None else limit}"
        for name, limit in merged.items()
    )
    record(session, "limits_changed", said)
    session.commit()


def _lock_group(session: ScopedSession) -> Group:
    # Not a full lock: everything that is written of the group refers to its row meanwhile.
    query = select(Group).where(Group.id == session.scope.group_id)
    query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    # The database gives the row to admins alone when it is to be changed.
    if (group := session.scalar(query)) is None:
        raise Forbidden("Only admins can change the limits.")
    return group


def _shown_limit(text: str | None) -> int | None:
    try:
        return NOT_SHOWN if text is None else _limit(text, "")
    except InvalidInput:
        return NOT_SHOWN


def _limit(typed: str, field: str) -> int | None:
    digits = typed.strip()
    if not digits:
        return None
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= 12
    if not (is_number and int(digits) <= HIGHEST_LIMIT):
        raise InvalidInput("Enter a whole number; 0 means no limit.", field=field)
    return int(digits)
