"""Versions of what people edit: kept with each save, listed with their authors, found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.models import User
from app.db import JsonObject, ScopedSession, utc_now
from app.errors import NotFound

VERSIONS_A_PAGE = 20


@dataclass(frozen=True)
class Version:
    """A version: who saved it when, and whether nothing was there before it."""

    number: int
    at: datetime
    author: str
    is_first: bool = False


class VersionPage(NamedTuple):
    """A page of versions, the latest first, and whether there are older ones."""

    versions: Sequence[Version]
    has_more: bool


@dataclass(frozen=True)
class Versions:
    """The versions of one kind of thing.

    `table` has a row for each, with `group_id`, `version`, `author_id` and `created_at`; `of` is
    its column that names the thing, and `missing` what is said where there is no such version.
    What is kept, listed and compared here has a column `content` too.
    """

    table: type[Any]
    of: InstrumentedAttribute[UUID]
    missing: str

    def _of(self, session: ScopedSession, thing_id: UUID) -> tuple[ColumnElement[bool], ...]:
        return self.of == thing_id, self.table.group_id == session.scope.group_id

    def find(self, session: ScopedSession, thing_id: UUID, number: int) -> Any:
        """The row of a version of something of the session's group.

        Raises:
            NotFound: there is no such version.
        """
        query = select(self.table).where(*self._of(session, thing_id), self.table.version == number)
        found = session.scalar(query)
        if found is None:
            raise NotFound(self.missing)
        return found

    def keep(self, session: ScopedSession, thing: Any, content: JsonObject) -> None:
        """Keep something as it is, unless that is kept already: what came with it is not."""
        kept = select(self.table.id).where(
            *self._of(session, thing.id), self.table.version == thing.version
        )
        if session.scalar(kept) is None:
            session.add(
                self.table(
                    group_id=thing.group_id,
                    version=thing.version,
                    content=content,
                    author_id=thing.edited_by,
                    created_at=thing.updated_at or utc_now(),
                    **{self.of.key: thing.id},
                )
            )

    def list_versions(self, session: ScopedSession, thing: Any, page: int = 1) -> VersionPage:
        """A page of the versions of something, the latest first."""
        rows = session.execute(
            select(self.table.version, self.table.created_at, User.name)
            .outerjoin(User, User.id == self.table.author_id)
            .where(*self._of(session, thing.id))
            .order_by(self.table.version.desc())
            .offset(VERSIONS_A_PAGE * (page - 1))
            .limit(VERSIONS_A_PAGE + 1)
        ).all()
        if not rows and page == 1:
            # One that came with the group and was never changed.
            return VersionPage([Version(thing.version, thing.updated_at, "", is_first=True)], False)
        has_more = len(rows) > VERSIONS_A_PAGE
        shown = rows[:VERSIONS_A_PAGE]
        versions = [
            Version(number, at, author or "", is_first=not has_more and place == len(shown))
            for place, (number, at, author) in enumerate(shown, 1)
        ]
        return VersionPage(versions, has_more)

    def load_change(
        self, session: ScopedSession, thing: Any, number: int
    ) -> tuple[Version, JsonObject, JsonObject]:
        """A version with what the one before it held, and what it holds.

        Raises:
            NotFound: there is no such version, or none before it.
        """
        found = session.execute(
            select(self.table, User.name)
            .outerjoin(User, User.id == self.table.author_id)
            .where(*self._of(session, thing.id), self.table.version <= number)
            .order_by(self.table.version.desc())
            .limit(2)
        ).all()
        if len(found) < 2 or found[0][0].version != number:
            raise NotFound(self.missing)
        (after, author), (before, _name) = found
        return Version(number, after.created_at, author or ""), before.content, after.content


def name_of_editor(session: ScopedSession, user_id: UUID | None) -> str:
    """The name of who saved something last; empty where it is not known."""
    return session.scalar(select(User.name).where(User.id == user_id)) or ""
