"""A running house for the browser: demo data, a web server, a runner and a scripted model."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from flask import Flask
from sqlalchemy import select

from app.accounts.models import Group
from app.config import Settings
from app.db import Database, owner_database
from app.demo import load_demo
from app.factory import build_app
from tests.assistant.processes import Processes, Program, free_port
from tests.assistant.web_client import WebClient
from tests.factories import Member, make_user
from tests.factories.service_requests import ask_step_by_step
from tests.fridge_log import SKILLS_WITH_LOG, make_table
from tests.model_server import ModelServer

# A loaded machine must not turn a slow start into a failed answer.
PATIENCE = {
    "AI_CONNECT_TIMEOUT_SECONDS": "30",
    "AI_FIRST_TOKEN_TIMEOUT_SECONDS": "60",
    "TURN_LEASE_SECONDS": "5",
}
# This house keeps a fridge log besides all that the real one does: a skill that writes.
RUNNER = ("-m", "gevent.monkey", "--module", "tests.fridge_log.runner")
JOBS = ("-m", "app.jobs")
WEB = ("-m", "gunicorn", "-c", "gunicorn.conf.py", "tests.fridge_log.wsgi:app")


class House:
    """The demo restaurant as its people meet it, at `url`."""

    def __init__(self, settings: Settings, folder: Path, model: ModelServer) -> None:
        self.settings = settings
        self.model = model
        self.processes = Processes(settings, folder, model.base_url)
        self.port = free_port()
        # What answers where no model is set up: started for the first test that wants it.
        self._builtin: tuple[Program, int] | None = None
        # They start while this process loads the demo, and are waited for after that.
        self.runner = self.launch_runner()
        web = self.launch_web(self.port)
        self.app: Flask = build_app(settings, SKILLS_WITH_LOG)
        self.owner: Database = owner_database(settings)
        make_table(self.owner, settings.database_url or "")
        with self.app.app_context():
            load_demo(self.app.extensions["comanda"])
        ask_step_by_step(self.owner)
        with self.owner.transaction() as session:
            slug = Group.slug == "alamo-prime"
            self.group_id: UUID = session.scalars(select(Group.id).where(slug)).one()
        wait_for_runner(self.runner)
        wait_for_web(web, self.port)

    @property
    def url(self) -> str:
        return address(self.port)

    def launch_runner(self, **more: str) -> Program:
        """A runner that will soon claim turns."""
        environment = self.processes.environment(**PATIENCE, **more)
        return self._launch("runner", environment, *RUNNER)

    def launch_web(self, port: int, **more: str) -> Program:
        """A web server with one worker that will soon answer on this port."""
        environment = self.processes.environment(PORT=str(port), WEB_WORKERS="1", **more)
        return self._launch("web", environment, *WEB)

    def _launch(self, name: str, environment: dict[str, str], *arguments: str) -> Program:
        log = self.processes.folder / f"{name}-{len(self.processes.programs)}.log"
        program = Program(log, environment, *arguments)
        self.processes.programs.append(program)
        return program

    @contextmanager
    def answered_by_the_builtin_assistant(self) -> Iterator[str]:
        """Meanwhile no model is set up; yields the address of a web server that knows.

        Of the two runners only one is ever awake; the other is frozen until it is wanted.
        """
        self.runner.signal(signal.SIGSTOP)
        try:
            if self._builtin is None:
                self._builtin = self._start_builtin()
            runner, port = self._builtin
            runner.signal(signal.SIGCONT)
            try:
                yield address(port)
            finally:
                runner.signal(signal.SIGSTOP)
        finally:
            self.runner.signal(signal.SIGCONT)

    def _start_builtin(self) -> tuple[Program, int]:
        """A runner and a web server's port, which last as long as the house."""
        port = free_port()
        builtin = {"AI_PROVIDER": "builtin"}
        runner, web = self.launch_runner(**builtin), self.launch_web(port, **builtin)
        wait_for_runner(runner)
        wait_for_web(web, port)
        return runner, port

    @contextmanager
    def doing_its_jobs(self) -> Iterator[None]:
        """Meanwhile a worker does what may wait, such as imports."""
        jobs = self._launch("jobs", self.processes.environment(**PATIENCE), *JOBS)
        jobs.wait_for(lambda: "jobs ready" in jobs.output)
        try:
            yield
        finally:
            jobs.kill()

    def hire(self, role: str = "staff", **facts: str) -> Member:
        """Somebody new in the demo restaurant, with nothing asked yet."""
        return make_user(self.owner, self.group_id, role, **facts)

    def session_cookie(self, member: Member) -> str:
        """What the browser of somebody who has signed in sends."""
        return WebClient(self.app, self.owner, member, self.port).cookies["comanda"]

    def latest_output(self) -> str:
        """What the processes wrote last, for whoever looks into a failure."""
        return "\n\n".join(
            f"{program.log.name}:\n{program.output[-3000:]}" for program in self.processes.programs
        )

    def close(self) -> None:
        # Nobody is left to be told; streams would keep a polite web server for seconds.
        for program in self.processes.programs:
            program.kill()
        self.owner.engine.dispose()


def address(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def wait_for_runner(runner: Program) -> None:
    runner.wait_for(lambda: "runner ready" in runner.output)


def wait_for_web(web: Program, port: int) -> None:
    web.wait_for(lambda: is_healthy(port))


def is_healthy(port: int) -> bool:
    """Whether a web server answers there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            return b" 200 " in connection.recv(1024)
    except OSError:
        return False
