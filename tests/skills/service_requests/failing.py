"""Writes that fail in the middle of a transaction, because the database is told to fail them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from sqlalchemy import text

from app.db import Database

FAIL = "RAISE EXCEPTION 'told to fail'"
# As when the server is restarted, or somebody pulls a cable.
BREAK_OFF = "PERFORM pg_terminate_backend(pg_backend_pid())"


@contextmanager
def failing(
    owner: Database,
    table: str,
    event: str,
    group_id: UUID,
    *,
    when: str = "true",
    by: str = FAIL,
    at_commit: bool = False,
) -> Iterator[None]:
    """Within this block such a write of the group's fails; `when` says of which rows, as NEW."""
    kind = "CONSTRAINT TRIGGER" if at_commit else "TRIGGER"
    moment = f"AFTER {event}" if at_commit else f"BEFORE {event}"
    late = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
    with owner.transaction() as session:
        session.execute(
            text(
                "CREATE FUNCTION told_to_fail() RETURNS trigger LANGUAGE plpgsql AS"
                f" $$ BEGIN {by}; RETURN NEW; END $$"
            )
        )
        session.execute(
            text(
                f"CREATE {kind} told_to_fail {moment} ON {table} {late} FOR EACH ROW"
                f" WHEN (NEW.group_id = '{group_id}' AND {when})"
                " EXECUTE FUNCTION told_to_fail()"
            )
        )
    try:
        yield
    finally:
        with owner.transaction() as session:
            session.execute(text(f"DROP TRIGGER told_to_fail ON {table}"))
            session.execute(text("DROP FUNCTION told_to_fail()"))
