"""Whose expense it is, in words."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import select

from app.accounts.models import Membership, User
from app.db import ScopedSession
from app.skills.expenses.models import Expense


def names_of(session: ScopedSession, user_ids: Iterable[UUID]) -> dict[UUID, str]:
    """What these people of the group are called, by their ids."""
    wanted = set(user_ids)
    if not wanted:
        return {}
    rows = session.execute(select(User.id, User.name).where(User.id.in_(wanted)))
    return {row.id: row.name for row in rows}


def name_of(session: ScopedSession, expense: Expense) -> str:
    """Who added it, where it was somebody else."""
    if expense.user_id == session.scope.user_id:
        return ""
    return names_of(session, [expense.user_id]).get(expense.user_id, "")


def list_people(session: ScopedSession) -> list[tuple[UUID, str]]:
    """Everybody of the group, by name, for choosing whose expenses to see."""
    rows = session.execute(
        select(User.id, User.name)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.group_id == session.scope.group_id)
        .order_by(User.name)
    )
    return [(user_id, name) for user_id, name in rows]
