"""Fixtures of the embedded services' tests: data folders that leave nothing behind."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedded.processes import kill_everything

# The tests look for processes in /proc.
collect_ignore_glob = [] if sys.platform.startswith("linux") else ["test_*.py"]


MEMORY = Path("/dev/shm")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder that does not exist yet, where a service's own user can reach it."""
    parent = Path(tempfile.mkdtemp(prefix="comanda-embedded-", dir=_roomy_memory()))
    parent.chmod(0o755)
    yield parent / "data"
    kill_everything(parent / "data")
    shutil.rmtree(parent, ignore_errors=True)


def _roomy_memory() -> Path | None:
    """A disk in memory, where it is large enough: killed processes do not need a real one."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 2 * 1024**3:
        return MEMORY
    return None
