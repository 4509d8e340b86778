"""Where the processes of one machine share their numbers: a folder with a file each.

Imports next to nothing: gunicorn's first process uses it before gevent has patched anything.
"""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from app.config import Settings

FOLDER = "metrics"


def metrics_folder(settings: Settings) -> Path:
    return settings.comanda_data.expanduser().absolute() / FOLDER


def process_name() -> str:
    """This process, unlike any other that may share the folder: containers repeat numbers."""
    return f"{_host()}-{os.getpid()}"


def make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def sweep(folder: Path, *, gauges_only: bool) -> None:
    """Remove what dead processes of this machine have left.

    Their gauges always: nothing of theirs is open any more. Their counters only at a start,
    because a sum that falls while others count on looks as if everything was counted again.
    """
    pattern = "gauge_live*" if gauges_only else "*"
    own = re.compile(rf"_{re.escape(_host())}-(\d+)\.db$")
    for file in folder.glob(f"{pattern}.db"):
        found = own.search(file.name)
        if found and not Path(f"/proc/{found[1]}").exists():
            file.unlink(missing_ok=True)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", socket.gethostname())
