"""One Postgres and one Redis for a whole test run, and a database of its own for each worker.

The controller of the run makes the folder; the first test that needs the services starts
them. Every worker holds them through the same locks as the app does, so they stop after the
last one, even when the run is killed.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from app.config import Settings
from app.embedded import postgres_url, redis_url
from app.embedded.folder import DataFolder, Secrets, open_folder
from app.embedded.home import Home, find_home
from app.embedded.lease import Lease
from app.embedded.locks import is_held
from app.embedded.postgres import APP, DATABASE, OWNER, SUPERUSER
from app.schema import upgrade

PREFIX = "comanda-tests-"
SERVICES = ("postgres", "redis")


def make_run_folder() -> Path:
    """A new folder for a run, after those of killed runs were swept away."""
    for old in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not _in_use(old):
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    # Root's Postgres runs as another user, who has to pass through.
    folder.chmod(0o711)
    return folder


def _in_use(folder: Path) -> bool:
    try:
        recent = time.time() - folder.stat().st_mtime < 600
        return recent or any(is_held(lock) for lock in folder.glob("data/locks/*.lock"))
    except OSError:
        return True


def remove_run_folder(folder: Path) -> None:
    """Delete a run's folder once its services have ended."""
    if (folder / "data").exists():
        for lease in _leases(DataFolder(folder / "data")):
            lease.wait_for_the_end()
    shutil.rmtree(folder, ignore_errors=True)


def _leases(data: DataFolder) -> list[Lease]:
    return [Lease(data, name, durable=False) for name in SERVICES]


@dataclass(frozen=True)
class RunningServices:
    """The services of this run, held for as long as this object lives."""

    home: Home
    secrets: Secrets
    holds: list[Lease]

    def settings(self, database: str, redis_database: int, data: Path) -> Settings:
        """Settings for one database of these services; nothing is read from the environment."""
        return Settings(
            comanda_data=data,
            demo=False,
            database_url=postgres_url(self.home, APP, self.secrets.app, database),
            migration_database_url=postgres_url(self.home, OWNER, self.secrets.owner, database),
            redis_url=redis_url(self.home, redis_database),
            secret_key="a key that is used for tests only",
            log_level="warning",
        )

    def superuser_url(self, database: str = "postgres") -> str:
        """For what only an operator may do, such as making a database."""
        return postgres_url(self.home, SUPERUSER, self.secrets.superuser, database)


def start_services(folder: Path) -> RunningServices:
    """Join the services of a run's folder, starting them where they do not run yet."""
    data = open_folder(folder / "data")
    holds = _leases(data)
    for hold in holds:
        hold.join()
    return RunningServices(find_home(data), data.secrets(), holds)


def make_database(services: RunningServices, folder: Path, name: str) -> None:
    """Make an empty, migrated database; the migrations run once for all workers."""
    with DataFolder(folder / "data").lock("template") as lock:
        assert lock.take(within=120), "another worker does not finish its migrations"
        if lock.read_note() != "migrated":
            upgrade(services.settings(DATABASE, 0, folder))
            lock.write_note("migrated")
        _clone(services, name)


@contextmanager
def empty_database(services: RunningServices, name: str) -> Iterator[str]:
    """A database without tables, with the extension that an operator makes; gone afterwards."""
    address = services.superuser_url().replace("+psycopg", "")
    named = {"name": sql.Identifier(name), "owner": sql.Identifier(OWNER)}
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {name} OWNER {owner}").format(**named))
    with psycopg.connect(
        services.superuser_url(name).replace("+psycopg", ""), autocommit=True
    ) as connection:
        connection.execute("CREATE EXTENSION vector")
    yield name
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {name} WITH (FORCE)").format(**named))


def _clone(services: RunningServices, name: str) -> None:
    address = services.superuser_url().replace("+psycopg", "")
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(
        *map(sql.Identifier, (name, DATABASE, OWNER))
    )
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement)
