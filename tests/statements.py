"""What the database is asked, as it is asked: for tests of what is not read, or read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event


@contextmanager
def noted_statements(of: Engine | type[Engine] = Engine) -> Iterator[list[str]]:
    """The SQL of each statement meanwhile, of one engine or of all in this process."""
    noted: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        noted.append(statement)

    event.listen(of, "before_cursor_execute", note)
    try:
        yield noted
    finally:
        event.remove(of, "before_cursor_execute", note)
