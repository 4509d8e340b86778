"""Houses of a test's own, whose services may be frozen, killed and starved."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flask import Flask

from app import create_app
from app.config import Settings
from app.db import Database, owner_database
from app.embedded.folder import open_folder
from app.embedded.home import find_home
from app.embedded.lease import Lease
from app.embedded.postgres import DATABASE
from app.schema import upgrade
from tests.assistant.processes import Processes, Program, running
from tests.assistant.web_client import WebClient
from tests.embedded.processes import kill_everything, service_process
from tests.factories import Member, make_user
from tests.model_server import ModelServer
from tests.services import RunningServices

MEGABYTE = 1024 * 1024
# A cluster with our tables takes some 100 MB, its log included.
DISK_MEGABYTES = 500


@dataclass
class House:
    """Services of its own, a web server, a runner and a scripted model."""

    data: Path
    disk: Path | None
    settings: Settings
    owner: Database
    app: Flask
    model: ModelServer
    processes: Processes
    web: Program
    port: int

    def person(self) -> WebClient:
        """Somebody new who has signed in."""
        return self.browser(make_user(self.owner))

    def browser(self, member: Member) -> WebClient:
        return WebClient(self.app, self.owner, member, self.port)

    def pid(self, service: str) -> int:
        """The process of "postgres" or "redis"."""
        return service_process(self.data, service)

    def kill(self, service: str) -> None:
        """Kill a service; its keeper starts it again within seconds."""
        os.kill(self.pid(service), signal.SIGKILL)

    @contextmanager
    def frozen(self, service: str) -> Iterator[None]:
        """The service takes connections meanwhile, and says nothing."""
        pid = self.pid(service)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """There is no room left on the disk of the services."""
        assert self.disk
        filler = self.disk / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(MEGABYTE)):
                    pass
            except OSError:
                pass
        try:
            yield
        finally:
            filler.unlink()


@contextmanager
def open_house(model: ModelServer, *, small_disk: bool = False, **settings: str) -> Iterator[House]:
    """Start everything anew; `settings` are the web server's and the runner's variables."""
    parent = Path(tempfile.mkdtemp(prefix="comanda-faults-"))
    parent.chmod(0o755)
    disk = _mount(parent) if small_disk else None
    data = (disk or parent) / "data"
    try:
        services = _start_services(disk or parent)
        yield from _serve(services, data, disk, parent, model, settings)
        for hold in services.holds:
            hold.release()
    finally:
        kill_everything(data)
        if disk:
            subprocess.run(["umount", "--lazy", str(disk)])
        shutil.rmtree(parent, ignore_errors=True)


def _start_services(folder: Path) -> RunningServices:
    """A Postgres that keeps what it acknowledged when it is killed, and a Redis that forgets."""
    data = open_folder(folder / "data")
    holds = [Lease(data, "postgres"), Lease(data, "redis", durable=False)]
    for hold in holds:
        hold.join()
    return RunningServices(find_home(data), data.secrets(), holds)


def _serve(
    services: RunningServices,
    data: Path,
    disk: Path | None,
    parent: Path,
    model: ModelServer,
    variables: dict[str, str],
) -> Iterator[House]:
    settings = services.settings(DATABASE, 0, parent / "app")
    upgrade(settings)
    owner = owner_database(settings)
    with running(settings, parent, model.base_url, lease_seconds=1) as processes:
        runner = processes.start_runner(**variables)
        web, port = processes.start_web(1, **variables)
        runner.wait_for(lambda: "runner ready" in runner.output)
        app = create_app(settings)
        yield House(data, disk, settings, owner, app, model, processes, web, port)
    owner.engine.dispose()


def _mount(parent: Path) -> Path | None:
    """A small disk in memory, where we may make one."""
    disk = parent / "disk"
    disk.mkdir()
    options = f"size={DISK_MEGABYTES}m,mode=755"
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
    return disk if os.geteuid() == 0 and subprocess.run(mount).returncode == 0 else None
