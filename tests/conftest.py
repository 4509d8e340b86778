"""Fixtures for every test: real services, one database and one Redis database per worker.

Tables are never emptied between tests: a test makes its own group, and its own people in it.
"""

from __future__ import annotations

import gc
import os
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient, FlaskCliRunner

from app.accounts import passwords
from app.config import Settings
from app.db import Database, app_database, owner_database
from app.extensions import limiter
from tests.leftovers import end_waiting_turns
from tests.services import (
    RunningServices,
    make_database,
    make_run_folder,
    remove_run_folder,
    start_services,
)

pytest_plugins = [
    "tests.bucket.fixtures",
    "tests.factories.fixtures",
    "tests.model_server.fixtures",
    "tests.nlu.stale",
]

# Their asserts say what was compared, as those of tests do.
pytest.register_assert_rewrite("tests.row_security")

REAL_HASHER = passwords._hasher
FOLDER = pytest.StashKey[Path]()
# Folders and files that take a worker half a minute or more, the longest first. A file is one
# worker's: begun late, it would be waited for when all else is through.
FIRST = (
    "tests/browser/",
    "tests/embedded/",
    "tests/cli/test_new_skill.py",
    "tests/assistant/test_rolling.py",
    "tests/faults/",
    "tests/cli/test_cli.py",
    "tests/assistant/test_watching.py",
    "tests/files/test_uploads_over_http.py",
    "tests/skills/knowledge/test_import_",
    "tests/test_bench.py",
    "tests/assistant/test_faults.py",
    "tests/skills/knowledge/readers/",
    "tests/files/test_posted_files.py",
    "tests/test_architecture.py",
    "tests/skills/service_requests/test_in_parallel.py",
    "tests/acceptance/",
)
# Where the limiter of `app` counts.
_own_counts: dict[str, Any] = {}
# What `make test` installs or finds is what the tests use.
ENVIRONMENT = Path(__file__).parent.parent / ".ci" / "environment.py"
CHROMIUM_NAMES: tuple[str, ...] = runpy.run_path(str(ENVIRONMENT))["CHROMIUM_NAMES"]


def pytest_configure(config: pytest.Config) -> None:
    """The controller makes the run's folder; its workers are told where it is."""
    given = getattr(config, "workerinput", {}).get("services_folder")
    config.stash[FOLDER] = Path(given) if given else make_run_folder()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _place(item.nodeid))


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: nobody looks for garbage among them.

    Among all that they leave behind it is looked for more rarely: a tenth of the time went there.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _place(nodeid: str) -> int:
    """Where a test comes among those of `FIRST`; all others come after them, as they are."""
    places = (at for at, first in enumerate(FIRST) if nodeid.startswith(first))
    return next(places, len(FIRST))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["services_folder"] = str(node.config.stash[FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and FOLDER in config.stash:
        remove_run_folder(config.stash[FOLDER])


@pytest.fixture(scope="session")
def worker() -> str:
    """The name of this worker of the run, or `main` when there are none."""
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


@pytest.fixture(scope="session")
def services(pytestconfig: pytest.Config) -> Iterator[RunningServices]:
    """The Postgres and the Redis of this run."""
    running = start_services(pytestconfig.stash[FOLDER])
    yield running
    for hold in running.holds:
        hold.release()


@pytest.fixture(scope="session")
def settings(
    services: RunningServices,
    pytestconfig: pytest.Config,
    worker: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Settings:
    """Settings for this worker's own migrated database and its own Redis database."""
    name = f"comanda_{worker}"
    make_database(services, pytestconfig.stash[FOLDER], name)
    number = int(worker.removeprefix("gw")) + 1 if worker.startswith("gw") else 1
    return services.settings(name, number, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def database(settings: Settings) -> Iterator[Database]:
    """The database as the app's role: row-level security holds."""
    database = app_database(settings)
    yield database
    database.engine.dispose()


@pytest.fixture(scope="session")
def owner(settings: Settings) -> Iterator[Database]:
    """The database as its owner, who sees every row."""
    database = owner_database(settings)
    yield database
    database.engine.dispose()


@pytest.fixture
def nobody_waits(owner: Database) -> None:
    """No turn is left that a runner of this test could claim instead of the test's own."""
    end_waiting_turns(owner)


@pytest.fixture(scope="session")
def redis_client(settings: Settings) -> Iterator[redis.Redis]:
    """Redis as the app sees it: answers are bytes."""
    with redis.Redis.from_url(settings.redis_url or "") as client:
        yield client


@pytest.fixture(scope="session")
def app(settings: Settings) -> Flask:
    """The whole app on this worker's database."""
    from app import create_app

    app = create_app(settings)
    app.config["TESTING"] = True
    _own_counts.update({name: getattr(limiter, name) for name in ("_storage", "_limiter")})
    return app


@pytest.fixture(autouse=True)
def counts_of_the_app() -> None:
    """All apps of a process share one limiter, which counts where the last of them does, be that
    a Redis that has ended: each test begins with it counting where `app` does.
    """
    for name, value in _own_counts.items():
        setattr(limiter, name, value)


@pytest.fixture(scope="session", autouse=True)
def passwords_that_cost_little() -> None:
    """Hundreds of tests sign in; `real_passwords` are for those that are about the hash itself."""
    passwords._hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


@pytest.fixture
def real_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed as they are outside of tests."""
    monkeypatch.setattr(passwords, "_hasher", REAL_HASHER)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A browser without cookies yet."""
    return app.test_client()


@pytest.fixture
def cli(app: Flask) -> FlaskCliRunner:
    """Runs `flask` commands."""
    return app.test_cli_runner()


@pytest.fixture(scope="session")
def chromium() -> str | None:
    """The path of the system's Chromium; None means playwright's own."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
