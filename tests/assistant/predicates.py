"""Looks at what the core asks the database: which queries leave their group to the second lock."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import ORMExecuteState

from app.db import Base, ScopedSession

CORE = Path(__file__).resolve().parents[2] / "app" / "assistant"
# Not the accounts' tables: those say who somebody is, before there is a group to ask for.
OWNED = [
    mapper.class_.__tablename__
    for mapper in Base.registry.mappers
    if mapper.class_.__module__.startswith("app.assistant") and hasattr(mapper.class_, "group_id")
]
_READS = re.compile(rf"\b(?:FROM|JOIN|UPDATE) (?:{'|'.join(OWNED)})\b")


@contextmanager
def queries_without_group() -> Iterator[set[str]]:
    """Where, meanwhile, this process asks for groups' rows and does not say of which group."""
    found: set[str] = set()

    def look(state: ORMExecuteState) -> None:
        place = _asked_from()
        is_bulk = state.is_select or state.is_update or state.is_delete
        if not place or not is_bulk or state.is_column_load:
            return
        sql = str(state.statement.compile(dialect=postgresql.dialect()))
        if _READS.search(sql) and "group_id = " not in sql:
            found.add(f"{place}: {' '.join(sql.split())[:200]}")

    event.listen(ScopedSession, "do_orm_execute", look)
    yield found
    event.remove(ScopedSession, "do_orm_execute", look)


def _asked_from() -> str:
    """The line of the core that asks; empty where somebody else does."""
    frame = sys._getframe(2)
    while frame.f_back and "/sqlalchemy/" in frame.f_code.co_filename:
        frame = frame.f_back
    file = Path(frame.f_code.co_filename)
    return f"{file.name}:{frame.f_lineno}" if CORE in file.parents else ""
