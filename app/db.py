"""The database: one engine a process, one session a unit of work, one scope a session.

A `Scope` says for whom the work is done. It comes from the signed-in session, never
from text, and is written into every transaction, where the row-level security
policies of the migrations read it. Queries carry the same predicate themselves.
"""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID

import structlog
from psycopg.errors import QueryCanceled
from sqlalchemy import Connection, DateTime, Engine, MetaData, Text, create_engine, event, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DisconnectionError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Session, SessionTransaction
from uuid_utils.compat import uuid7

from app.config import Settings
from app.errors import SignInChanged

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}

log = structlog.get_logger()

JsonObject = dict[str, Any]
JsonList = list[Any]


class Base(DeclarativeBase):
    """All models share one metadata, one naming convention and one type map."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar = {
        datetime: DateTime(timezone=True),
        JsonObject: JSONB,
        JsonList: JSONB,
        str: Text,
    }

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, 'id', '?')}>"


def new_id() -> UUID:
    """A UUIDv7: unique everywhere, and sorted by the time it was made."""
    return uuid7()


def read_id(text: str) -> UUID | None:
    """An id as a page or a model gives it; None for what is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Scope:
    """For whom a transaction runs; no group and no user means nothing tenant-owned is seen."""

    group_id: UUID | None = None
    user_id: UUID | None = None
    role: str = ""


NOBODY = Scope()


class Impatient(Exception):
    """A statement took longer than its asker was to wait."""


class ScopedSession(Session):
    """A session whose every transaction carries its scope to the database."""

    @property
    def scope(self) -> Scope:
        scope: Scope = self.info.get("scope", NOBODY)
        return scope

    @property
    def settings(self) -> Settings:
        """The group's settings, for rules that hold whoever asks, such as limits."""
        settings: Settings = self.info["settings"]
        return settings

    @contextmanager
    def patience(self, milliseconds: int) -> Iterator[None]:
        """No statement in this block may take longer; what follows has the usual time again.

        Raises:
            Impatient: one did; the transaction is rolled back.
        """
        self._limit_statements(milliseconds)
        try:
            yield
        except OperationalError as error:
            if not was_cancelled(error):
                raise
            self.rollback()
            raise Impatient from None
        if self.in_transaction():
            self._limit_statements(self.info.get("statement_milliseconds"))

    def _limit_statements(self, milliseconds: int | None) -> None:
        limit = text("SELECT set_config('statement_timeout', :limit, true)")
        self.execute(limit, {"limit": _as_setting(milliseconds)})

    def rescope(self, scope: Scope) -> None:
        """Serve another scope from now on (sign-in does), within this transaction too.

        It was asked for in what has just been read, and no sign-in is looked at any more.
        """
        self.info["scope"], self.info["sign_in"] = scope, None
        if self.in_transaction():
            _announce(self, self.connection())

    def hold_sign_in(self) -> None:
        """Let no new password be set for the session's person until this transaction ends.

        For what would outlive one.

        Raises:
            SignInChanged: one was set before, or they were signed out or given another role.
        """
        _announce(self, self.connection(), hold=True)


def was_cancelled(error: OperationalError) -> bool:
    """Whether the database ended a statement that took too long."""
    return isinstance(error.orig, QueryCanceled)


def _as_setting(milliseconds: int | None) -> str | None:
    """A time as the database takes it; it reads none as whatever it is set to itself."""
    return None if milliseconds is None else str(milliseconds)


_ANNOUNCE = (
    "SELECT set_config('comanda.group_id', %s, true),"
    " set_config('comanda.user_id', %s, true), set_config('comanda.role', %s, true),"
    " set_config('statement_timeout', %s, true),"
    " set_config('idle_in_transaction_session_timeout', %s, true)"
)
_ANNOUNCE_AND_ASK = f"{_ANNOUNCE}, sign_in_holds(%s, %s, %s, %s, %s)"


def _announce(session: ScopedSession, connection: Connection, *, hold: bool = False) -> None:
    """Tell a transaction whom it serves, and how long each of its statements may take.

    Where it is asked for with a sign-in, that must still be there, and its person's role the same:
    a request may have been on its way for minutes, and a download lasts as long as its reader
    likes.

    Raises:
        SignInChanged: it has ended, or its person has another role.
    """
    scope, longest = session.scope, session.info.get("statement_milliseconds")
    idle, sign_in = session.info.get("idle_milliseconds"), session.info.get("sign_in")
    settings = (
        str(scope.group_id or ""),
        str(scope.user_id or ""),
        scope.role,
        _as_setting(longest),
        _as_setting(idle),
    )
    if sign_in is None:
        connection.exec_driver_sql(_ANNOUNCE, settings)
        return
    known = (sign_in, scope.user_id, scope.group_id, scope.role, hold)
    if not connection.exec_driver_sql(_ANNOUNCE_AND_ASK, (*settings, *known)).one()[-1]:
        raise SignInChanged


@event.listens_for(ScopedSession, "after_commit")
def _note_commit(session: ScopedSession) -> None:
    session.info["has_committed"] = True


@event.listens_for(ScopedSession, "after_begin")
def _scope_transaction(
    session: ScopedSession, _: SessionTransaction, connection: Connection
) -> None:
    _announce(session, connection)


def _replace_if_closed(connection: Any, _record: object, _proxy: object) -> None:
    """Replace a connection that died while idle (a restarted server), unseen.

    An idle server says nothing, unless it is to say that it ends: asking the kernel costs
    nothing, where asking the server would cost a round trip for each unit of work.
    """
    if connection.closed or _has_something_to_say(connection.fileno()):
        raise DisconnectionError


def _has_something_to_say(descriptor: int) -> bool:
    asking = select.poll()
    asking.register(descriptor, select.POLLIN)
    return bool(asking.poll(0))


class Database:
    """The engine and the way to sessions on it."""

    def __init__(
        self,
        url: str,
        pool_size: int = 6,
        pool_timeout: float = 2,
        settings: Settings | None = None,
        statement_seconds: float | None = None,
        idle_seconds: float | None = None,
    ) -> None:
        """`idle_seconds` is how long a transaction may stand still before the server ends it.

        A process that stops in the middle of one would keep what it has locked from all others.
        """
        self.idle_milliseconds = None if idle_seconds is None else round(idle_seconds * 1000)
        milliseconds = None if statement_seconds is None else round(statement_seconds * 1000)
        self.statement_milliseconds = milliseconds
        self.settings = settings or Settings()
        self.engine: Engine = create_engine(
            url,
            pool_size=pool_size,
            # What is opened stays open: signing in with a password costs the server more
            # than most requests do.
            max_overflow=0,
            # A full pool answers 503 quickly instead of piling requests up.
            pool_timeout=pool_timeout,
            # Errors are logged, and what was bound to a statement is what people wrote.
            hide_parameters=True,
            connect_args={"connect_timeout": 5},
        )
        event.listen(self.engine, "checkout", _replace_if_closed)

    def session(self, scope: Scope = NOBODY, sign_in: UUID | None = None) -> ScopedSession:
        """With a `sign_in`, each transaction is refused once that has ended or its role changed."""
        info = {
            "scope": scope,
            "sign_in": sign_in,
            "settings": self.settings,
            "statement_milliseconds": self.statement_milliseconds,
            "idle_milliseconds": self.idle_milliseconds,
        }
        return ScopedSession(self.engine, expire_on_commit=False, info=info)

    @contextmanager
    def transaction(
        self, scope: Scope = NOBODY, sign_in: UUID | None = None
    ) -> Iterator[ScopedSession]:
        """A session that commits when the block ends well and rolls back when it does not.

        What ends the block is raised, whatever becomes of the connection: a turn that is over is
        not to be taken for a database that went away.
        """
        ended: BaseException | None = None
        try:
            with self.session(scope, sign_in) as session, session.begin():
                try:
                    yield session
                except BaseException as error:
                    ended = error
                    raise
        except SQLAlchemyError as error:
            if ended is None or ended is error:
                raise
            log.warning("cannot roll back", error=type(error).__name__)
            raise ended from None

    def ping(self) -> None:
        """Raise when the database does not answer."""
        with self.engine.connect() as connection:
            connection.execute(text("SELECT 1"))


def app_database(
    settings: Settings,
    *,
    pool_size: int = 0,
    pool_timeout: float = 2,
    statement_seconds: float | None = None,
    idle_seconds: float | None = None,
) -> Database:
    """The database as the app's role: row-level security holds.

    `pool_size` is the settings' own unless given; who finds no free connection for
    `pool_timeout` seconds gets an error. A statement may take `statement_seconds`, or as long as
    it takes, and a transaction may stand still for `idle_seconds`.
    """
    assert settings.database_url, "resolve the embedded services first"
    size = pool_size or settings.database_pool_size
    return Database(
        settings.database_url, size, pool_timeout, settings, statement_seconds, idle_seconds
    )


def owner_database(settings: Settings) -> Database:
    """The database as its owner: migrations, seeds and the operator's commands only."""
    assert settings.migration_database_url, "resolve the embedded services first"
    return Database(settings.migration_database_url, 4, settings=settings)
