"""A house to measure: the real web server and runner, on services of their own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from flask import Flask
from itsdangerous import URLSafeTimedSerializer

from app import create_app
from app.accounts.form_tokens import PARTED, mark_of
from app.config import Settings, load_settings
from app.db import Database, owner_database
from app.embedded import release, resolve
from app.schema import upgrade
from app.web.issued_ids import make_issued_id
from bench.support.wire import Guest
from tests.assistant.processes import Processes, Program, wait_until
from tests.factories import Member, make_group, make_user
from tests.factories.people import browser_token
from tests.leftovers import end_waiting_turns

STUB = ("-m", "tests.model_server", "--benchmark")
# What the house runs with; the tests' own short lease is not what is measured.
# One person asks more in a minute here than a team in a month.
USUAL = {
    "TURN_LEASE_SECONDS": "3",
    "LOG_LEVEL": "info",
    "DAILY_MESSAGE_LIMIT": "0",
    "MONTHLY_MESSAGE_LIMIT": "0",
}


@contextmanager
def measured_services() -> Iterator[Settings]:
    """A migrated database: the settings' own, or a throw-away one that writes to disk."""
    given = load_settings()
    if given.database_url:
        upgrade(given)
        yield given
        return
    folder = Path(tempfile.mkdtemp(prefix="comanda-bench-"))
    folder.chmod(0o711)
    try:
        settings = resolve(
            given.model_copy(update={"comanda_data": folder / "data", "demo": False})
        )
        upgrade(settings)
        yield settings
    finally:
        release()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class House:
    """What runs, and who works there."""

    settings: Settings
    processes: Processes
    app: Flask
    owner: Database
    group_id: UUID
    model_port: int
    web: Program
    port: int
    runners: list[Program]
    environment: dict[str, str] = field(default_factory=dict)

    def hire(self, count: int) -> list[tuple[Member, Guest]]:
        """So many people who have signed in."""
        members = [make_user(self.owner, self.group_id) for _ in range(count)]
        return [(member, self.guest(member)) for member in members]

    def guest(self, member: Member) -> Guest:
        """A browser of this person, with the token that its forms carry."""
        raw = f"the seed of a token{PARTED}{mark_of(member.group_id)}"
        cookie = self.app.session_interface.get_signing_serializer(self.app)  # type: ignore[attr-defined]
        session = {
            "_user_id": browser_token(self.owner, member),
            "_permanent": True,
            "_fresh": True,
            "csrf_token": raw,
        }
        signer = URLSafeTimedSerializer(self.app.secret_key or "", salt="wtf-csrf-token")
        return Guest(cookie.dumps(session), str(signer.dumps(raw)), self.issue_id(member))

    def issue_id(self, member: Member) -> str:
        """An id that this person may begin a conversation or a form under."""
        key = str(self.app.secret_key).encode()
        return str(make_issued_id(member.user_id, key))

    def restart(self, *, web: bool = False, runners: bool = False, **environment: str) -> None:
        """Kill these with all that they are at, and start as many, with these settings too.

        Turns that the runners were at, or that waited for one, have ended then.
        """
        self.environment |= environment
        if runners:
            for program in self.runners:
                program.kill()
            end_waiting_turns(self.owner)
            self.runners = [self.processes.start_runner(**self.environment) for _ in self.runners]
        if web:
            workers = len(self.web.children())
            self.web.kill()
            self.web, _port = self.processes.start_web(workers, self.port, **self.environment)
        _wait_for_runners(self.runners)

    @property
    def model_pid(self) -> int:
        return self.processes.programs[0].pid

    @property
    def web_pids(self) -> list[int]:
        return [self.web.pid, *self.web.children()]

    @property
    def runner_pids(self) -> list[int]:
        return [program.pid for program in self.runners]


@contextmanager
def open_house(
    *,
    web_workers: int = 2,
    runners: int = 1,
    stub: tuple[str, ...] = STUB,
    **environment: str,
) -> Iterator[House]:
    """Start everything, and end it all."""
    with measured_services() as settings, tempfile.TemporaryDirectory() as folder:
        processes = Processes(settings, Path(folder), "")
        try:
            yield _start(processes, settings, web_workers, runners, stub, environment)
        finally:
            for program in processes.programs:
                program.kill()


def _start(
    processes: Processes,
    settings: Settings,
    web_workers: int,
    runners: int,
    stub: tuple[str, ...],
    environment: dict[str, str],
) -> House:
    model = processes.start("model", processes.environment(), *stub)
    model.wait_for(lambda: "OPENAI_BASE_URL=" in model.output)
    processes.model_url = model.output.split("OPENAI_BASE_URL=")[1].split()[0]
    given = USUAL | environment
    started = [processes.start_runner(**given) for _ in range(runners)]
    web, port = processes.start_web(web_workers, **given)
    app, owner = create_app(settings), owner_database(settings)
    _wait_for_runners(started)
    return House(
        settings,
        processes,
        app,
        owner,
        make_group(owner),
        int(processes.model_url.split(":")[2].split("/")[0]),
        web,
        port,
        started,
        given,
    )


def _wait_for_runners(runners: list[Program]) -> None:
    for program in runners:
        program.wait_for(lambda program=program: "runner ready" in program.output)


def as_plan(guests: list[Guest]) -> list[dict[str, Any]]:
    """Guests as the load process is told of them."""
    return [asdict(guest) for guest in guests]


__all__ = ["House", "as_plan", "measured_services", "open_house", "wait_until"]
