"""Transactions: what ends one is what its caller is told."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError

from app.assistant.turns.executor import TurnTimedOut
from app.db import Database
from tests.factories import Member


@pytest.mark.fault(68)
def test_what_ended_a_block_is_told_though_the_connection_is_gone(
    database: Database, member: Member
) -> None:
    def end(reason: BaseException | None) -> None:
        with database.transaction(member.scope) as session:
            pid = session.scalar(select(func.pg_backend_pid()))
            with database.engine.begin() as other:
                other.execute(select(func.pg_terminate_backend(pid, 5000)))
            if reason is not None:
                raise reason
            session.execute(select(text("1")))

    with pytest.raises(TurnTimedOut):
        end(TurnTimedOut())
    with pytest.raises(LookupError):
        end(LookupError("mine"))
    with pytest.raises(OperationalError):
        end(None)
    with database.transaction(member.scope) as session:
        assert session.scalar(select(text("1"))) == 1
