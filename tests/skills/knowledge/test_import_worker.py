"""Imports done by the real worker, which is killed in the middle and followed by another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import func, select, text

from app.config import Settings
from app.db import Database, app_database, owner_database
from app.skills.knowledge.models import LibraryImport, LibraryRevision, ManualSection
from app.skills.knowledge.services.imports import apply_when_ready, load_import, receive_file
from tests.assistant.processes import Processes, Program, wait_until
from tests.factories import Member, make_user
from tests.services import RunningServices, make_database

SECTIONS = 3000
LONG = "# Rules {#rules}\nAll of them.\n" + "".join(
    f"\n## Rule {number} {{#rule-{number}}}\nWash the board number {number} after use.\n"
    for number in range(1, SECTIONS)
)
SECONDS = 90.0


@pytest.fixture(scope="module")
def own_settings(
    services: RunningServices, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Settings:
    """A database of this module's own: its workers must do nobody else's jobs."""
    from tests.conftest import FOLDER

    name = f"comanda_jobs_{uuid4().hex[:8]}"
    make_database(services, pytestconfig.stash[FOLDER], name)
    return services.settings(name, 1, tmp_path_factory.mktemp("jobs"))


@pytest.fixture
def processes(own_settings: Settings, tmp_path: Path) -> Iterator[Processes]:
    processes = Processes(own_settings, tmp_path, "")
    yield processes
    processes.end_all()


@pytest.fixture
def house(own_settings: Settings) -> Iterator[Database]:
    database = app_database(own_settings)
    yield database
    database.engine.dispose()


@pytest.fixture
def member(own_settings: Settings) -> Member:
    return make_user(owner_database(own_settings), role="manager")


def start_worker(processes: Processes) -> Program:
    environment = processes.environment(OPENAI_API_KEY="", OPENAI_BASE_URL="")
    worker = processes.start("jobs", environment, "-m", "app.jobs")
    worker.wait_for(lambda: "jobs ready" in worker.output)
    return worker


def state(house: Database, member: Member, item: LibraryImport) -> LibraryImport:
    with house.session(member.scope) as session:
        return load_import(session, item.id)


def stored(house: Database, member: Member) -> tuple[int, int]:
    """How many sections there are, and how many revisions."""
    with house.session(member.scope) as session:
        return (
            session.scalar(select(func.count()).select_from(ManualSection)) or 0,
            session.scalar(select(func.count()).select_from(LibraryRevision)) or 0,
        )


@contextmanager
def held_up(settings: Settings) -> Iterator[None]:
    """No import gets past its last write of reading, and of applying, within this block."""
    owner = owner_database(settings)
    with owner.session() as session:
        session.execute(text("LOCK TABLE library_import_files IN SHARE MODE"))
        yield
        session.rollback()
    owner.engine.dispose()


# Three workers start one after the other, and two are taken for dead only after seconds.
@pytest.mark.timeout(300)
@pytest.mark.soak
def test_a_killed_worker_leaves_nothing_half_done_and_another_does_it_once(
    own_settings: Settings, house: Database, member: Member, processes: Processes
) -> None:
    with house.session(member.scope) as session:
        item, _is_new = receive_file(session, LONG.encode(), "rules.md", "sop", "en")
    first = start_worker(processes)
    with held_up(own_settings):
        wait_until(lambda: state(house, member, item).status == "reading", SECONDS)
        first.kill()
    assert state(house, member, item).status == "reading"

    second = start_worker(processes)
    wait_until(lambda: state(house, member, item).status == "ready", SECONDS)
    plan = state(house, member, item).plan

    def is_in_the_middle() -> bool:
        now = state(house, member, item)
        return now.status == "applying" and now.step == "storing" and now.done > 0

    with held_up(own_settings):
        with house.session(member.scope) as session:
            apply_when_ready(session, item.id, plan["signature"])
        wait_until(is_in_the_middle, SECONDS)
        second.kill()
    assert state(house, member, item).status == "applying"
    assert stored(house, member) == (0, 0)

    start_worker(processes)
    wait_until(lambda: state(house, member, item).status == "applied", SECONDS)
    assert stored(house, member) == (SECTIONS, SECTIONS)
