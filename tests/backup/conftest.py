"""Houses of their own, to be backed up and restored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import select

from app import create_app
from app.accounts.models import User
from app.config import Settings
from app.db import new_id, owner_database
from app.embedded.postgres import OWNER
from tests.services import RunningServices


@dataclass
class House:
    """A house with a database of its own."""

    settings: Settings

    def flask(self, *arguments: str) -> tuple[int, str]:
        """Run a command of ours in this house; its exit code and what it said."""
        result = create_app(self.settings).test_cli_runner().invoke(args=[*arguments])
        return result.exit_code, result.output

    @property
    def name(self) -> str:
        return (self.settings.database_url or "").rpartition("/")[2].partition("?")[0]

    def emails(self) -> set[str]:
        owner = owner_database(self.settings)
        with owner.session() as session:
            found = set(session.scalars(select(User.email)))
        owner.engine.dispose()
        return found


Found = Callable[[], House]


@contextmanager
def founding(services: RunningServices, below: Path) -> Iterator[Found]:
    """Makes houses whose databases are empty but for the extension; they go when this ends."""
    made: list[str] = []

    def superuser(database: str) -> psycopg.Connection:
        address = services.superuser_url(database).replace("+psycopg", "")
        return psycopg.connect(address, autocommit=True)

    def find() -> House:
        name = f"backup_{new_id().hex[-12:]}"
        made.append(name)
        with superuser("postgres") as connection:
            names = sql.Identifier(name), sql.Identifier(OWNER)
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(*names))
        with superuser(name) as connection:
            connection.execute("CREATE EXTENSION vector")
        folder = below / name
        folder.mkdir()
        return House(services.settings(name, 9, folder))

    yield find
    with superuser("postgres") as connection:
        for name in made:
            statement = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            connection.execute(statement)


@pytest.fixture
def found(services: RunningServices, tmp_path: Path) -> Iterator[Found]:
    """Makes houses whose databases are empty but for the extension."""
    with founding(services, tmp_path) as find:
        yield find
