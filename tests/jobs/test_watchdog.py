"""A process in which one greenlet keeps all others from going on ends by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# In a process of its own, because that is what ends.
SCRIPT = """
from gevent import monkey
monkey.patch_all()
import gevent, time
from app.jobs.watchdog import end_when_stuck

watchdog = gevent.spawn(end_when_stuck, {limit})
gevent.sleep({quiet})
until = time.monotonic() + {stuck}
while time.monotonic() < until:
    pass
watchdog.kill()
{then}
print("went on")
"""


def run(limit: float, quiet: float, stuck: float, then: str = "") -> tuple[int, str, str]:
    script = SCRIPT.format(limit=limit, quiet=quiet, stuck=stuck, then=then)
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.fault(62)
def test_a_process_that_is_kept_busy_ends_and_says_where() -> None:
    code, output, errors = run(limit=0.5, quiet=0.1, stuck=100)
    assert (code, output) == (1, "")
    assert 'File "<string>", line 1' in errors


def test_a_process_that_is_busy_for_a_moment_goes_on() -> None:
    assert run(limit=5, quiet=0.1, stuck=0.2) == (0, "went on\n", "")


def test_a_process_that_ends_its_watchdog_may_be_busy() -> None:
    busy = "time.sleep = monkey.get_original('time', 'sleep'); time.sleep(1.5)"
    assert run(limit=1, quiet=0, stuck=0, then=busy) == (0, "went on\n", "")
