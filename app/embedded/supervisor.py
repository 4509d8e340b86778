"""Runs Comanda: services, then the database's schema, then the programs, until stopped.

One loop in one thread: it forwards what the programs write, starts again what died, and
on Ctrl-C stops the web server first, then the programs that drain, the services last.
"""

from __future__ import annotations

import errno
import http.client
import os
import selectors
import shutil
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType

from app.config import EVERYWHERE, Settings
from app.embedded import leases, release, resolve
from app.embedded.child import PROGRAMS, SETUP, Child, Program
from app.embedded.folder import DataFolder, open_folder
from app.embedded.lease import Lease
from app.embedded.locks import FileLock
from app.embedded.prepare import SERVICES_ONLY, read_answer
from app.errors import ConfigurationError
from app.observability.metric_files import metrics_folder

TICK_SECONDS = 0.1
SERVICES_CHECK_SECONDS = 0.5
SERVICES_PAUSE_SECONDS = 5
WEB_SECONDS = 120
# A web server that dies this often before its first answer will not answer at all.
WEB_DEATHS = 4
WHOLE_STOP_SECONDS = 15
# Somebody at a terminal waits for the end: an answer that takes longer is begun again by the
# next start, whose runner finds its turn released.
DRAIN_SECONDS = 2.0


class Stopped(Exception):
    """Somebody asked Comanda to stop."""


class Supervisor:
    """Everything that `make run` starts, for the settings given."""

    def __init__(
        self,
        settings: Settings,
        programs: Sequence[Program] = PROGRAMS,
        *,
        setup: Program = SETUP,
    ) -> None:
        self.settings = settings
        # The first of them is the web server; none at all means the services alone.
        self.programs = programs
        self.setup = setup
        self.children: list[Child] = []
        self.selector = selectors.DefaultSelector()
        self.leases: list[Lease] = []
        self._stop_signals = 0
        self._services_checked_at = 0.0

    def run(self) -> int:
        """Run until asked to stop; the exit code of the process.

        Raises:
            ConfigurationError: Comanda cannot start; the text says why.
        """
        folder = open_folder(self.settings.comanda_data)
        with self._only_one(folder), self._signals():
            try:
                self._start(folder)
                while True:
                    self._tick()
            except Stopped:
                _say("Stopping …")
            finally:
                self._stop()
        return 0

    @contextmanager
    def _only_one(self, folder: DataFolder) -> Iterator[None]:
        """Hold the folder's supervisor lock, or say who does."""
        with folder.lock("supervisor") as lock:
            if not lock.take():
                raise ConfigurationError(
                    f"Comanda already runs in {folder.path}: {lock.read_note()}"
                )
            self._note(lock)
            yield

    def _note(self, lock: FileLock) -> None:
        address = self.settings.base_url if self.programs else "services only"
        lock.write_note(f"{address} (process {os.getpid()})")

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Turn the signals that end a program into a flag that the loop reads."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            # Unless it was started with nohup, Comanda stops with its terminal.
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._on_signal) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        self._stop_signals += 1

    def _start(self, folder: DataFolder) -> None:
        if self.programs:
            check_address(self.settings.host, self.settings.port)
        _say("Starting …")
        self.leases = leases(self.settings, folder)
        self.settings = resolve(self.settings)
        sign_ins = self._prepare()
        drain = min(self.settings.runner_drain_seconds, DRAIN_SECONDS)
        environment = environment_of(
            self.settings.model_copy(update={"runner_drain_seconds": drain})
        )
        self._forget_numbers()
        self.children = [Child(program, environment) for program in self.programs]
        if self.children:
            # The web server first and alone: it is what somebody is waiting for.
            self._start_child(self.children[0])
            self._wait_for_web()
        self._say_ready(sign_ins)

    def _forget_numbers(self) -> None:
        """What the processes of an earlier start counted is over; nothing here reads it."""
        shutil.rmtree(metrics_folder(self.settings), ignore_errors=True)

    def _prepare(self) -> str | None:
        """Run the migrations and the demo in a process of their own; the sign-ins to print."""
        reader, writer = os.pipe()
        flags = [] if self.programs else [SERVICES_ONLY]
        program = replace(self.setup, command=(*self.setup.command, str(writer), *flags))
        with open(reader, "rb") as answers_of_setup:
            self._run_to_its_end(Child(program, environment_of(self.settings)), writer)
            return read_answer(answers_of_setup.read())

    def _run_to_its_end(self, child: Child, writer: int) -> None:
        self._start_child(child, keep_open=[writer])
        os.close(writer)
        while child.running:
            if self._stop_signals:
                self._stop_group([child], time.monotonic() + child.program.grace_seconds)
                raise Stopped
            self._forward(TICK_SECONDS)
        self._forget_output(child)

    def _wait_for_web(self) -> None:
        deadline = time.monotonic() + WEB_SECONDS
        web = self.children[0]
        while not is_answering(self.settings.host, self.settings.port, "/healthz"):
            self._tick(only=web)
            if web.deaths >= WEB_DEATHS or time.monotonic() > deadline:
                raise ConfigurationError(
                    f"The web server does not answer at {self.settings.base_url};"
                    " the lines above say why"
                )

    def _say_ready(self, sign_ins: str | None) -> None:
        if not self.programs:
            _say("The services run; Ctrl-C stops them.")
            return
        _say(f"Comanda is ready: {self.settings.base_url}   (Ctrl-C stops it)")
        if sign_ins:
            _say(sign_ins.rstrip())

    def _tick(self, only: Child | None = None) -> None:
        """One turn of the loop: output, deaths, restarts, services.

        Raises:
            Stopped: a signal asked for the end.
        """
        if self._stop_signals:
            raise Stopped
        self._forward(TICK_SECONDS)
        now = time.monotonic()
        for child in [only] if only else self.children:
            self._bury_if_dead(child, now)
            if child.due(now):
                self._start_child(child)
        self._check_services(now)

    def _bury_if_dead(self, child: Child, now: float) -> None:
        if child.process and not child.running:
            self._forget_output(child)
            # Its own children hold the port, and have nobody left to answer to.
            child.signal(signal.SIGKILL)
            _say(child.bury(now))

    def _start_child(self, child: Child, keep_open: Sequence[int] = ()) -> None:
        child.start(keep_open)
        self.selector.register(child.output, selectors.EVENT_READ, child)

    def _forget_output(self, child: Child) -> None:
        """Forward the last lines of a dead program and close its pipe."""
        while self._forward_from(child):
            pass
        with suppress(KeyError):
            self.selector.unregister(child.output)
        child.output.close()

    def _forward(self, timeout: float) -> None:
        for key, _ in self.selector.select(timeout):
            self._forward_from(key.data)

    def _forward_from(self, child: Child) -> bool:
        """Print what a program wrote; False when there is nothing to wait for."""
        lines, open_end = child.read_lines()
        for line in lines:
            _say(f"{child.program.name:<6} | {line.decode(errors='replace')}")
        if not open_end:
            with suppress(KeyError):
                self.selector.unregister(child.output)
        return bool(lines)

    def _check_services(self, now: float) -> None:
        """Start a keeper again that was killed; the keepers look after the services."""
        if now - self._services_checked_at < SERVICES_CHECK_SECONDS:
            return
        self._services_checked_at = now
        for lease in self.leases:
            if not lease.running:
                _say(f"{lease.service} ended; it starts again")
                try:
                    lease.join()
                except ConfigurationError as error:
                    _say(str(error))
                    self._services_checked_at = now + SERVICES_PAUSE_SECONDS

    def _stop(self) -> None:
        """Stop the programs in their order, then give the services back."""
        deadline = time.monotonic() + WHOLE_STOP_SECONDS - 3
        for order in sorted({child.program.stop_order for child in self.children}):
            group = [c for c in self.children if c.program.stop_order == order and c.running]
            self._stop_group(group, deadline)
        release()

    def _stop_group(self, group: list[Child], deadline: float) -> None:
        began = time.monotonic()
        for child in group:
            child.signal(signal.SIGTERM)
        impatient = self._stop_signals + 1
        while running := [child for child in group if child.running]:
            self._forward(0.05)
            now = time.monotonic()
            for child in running:
                late = now > min(began + child.program.grace_seconds, deadline)
                # A second Ctrl-C means now.
                if late or self._stop_signals >= impatient:
                    child.signal(signal.SIGKILL)
        for child in group:
            self._forget_output(child)
            child.signal(signal.SIGKILL)


def environment_of(settings: Settings) -> dict[str, str]:
    """The environment that gives a program exactly these settings."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    for field, value in settings.model_dump().items():
        name = field.upper()
        if value is None:
            environment.pop(name, None)
        elif field == "comanda_data":
            environment[name] = str(settings.comanda_data.expanduser().absolute())
        elif isinstance(value, tuple):
            environment[name] = ",".join(map(str, value))
        else:
            environment[name] = str(value)
    return environment


def _say(line: str) -> None:
    """Write a line; a closed terminal is no reason to stop Comanda."""
    with suppress(OSError, ValueError):
        print(line, flush=True)


def check_address(host: str, port: int) -> None:
    """Check that the web server will be able to listen.

    Raises:
        ConfigurationError: it will not; the text names the setting and what to do.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen()
    except socket.gaierror:
        raise ConfigurationError(f"HOST: this machine has no address {host}") from None
    except OSError as error:
        raise ConfigurationError(_why_not(host, port, error)) from None


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"PORT: {port} on {host} is used by another program;"
            f" stop it or choose another, as in: PORT={min(port + 1, 65535)} make run"
        )
    if error.errno == errno.EACCES:
        return f"PORT: {port} is reserved for the system's administrator; choose one above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"HOST: this machine has no address {host}"
    return f"HOST, PORT: cannot listen on {host}:{port}: {error.strerror}"


def is_answering(host: str, port: int, path: str) -> bool:
    """True when the web server answers `path` with 200 within a second."""
    connection = http.client.HTTPConnection(EVERYWHERE.get(host, host), port, timeout=1)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
