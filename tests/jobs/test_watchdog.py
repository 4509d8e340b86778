"""A process in which one greenlet keeps all others from going on ends by itself."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# In a process of its own, because that is what ends.
SCRIPT = """
from gevent import monkey
monkey.patch_all()
import gevent, os, re, signal, time
from app.jobs.watchdog import end_when_stuck

watchdog = gevent.spawn(end_when_stuck, {limit})
gevent.sleep(0.1)
{work}
watchdog.kill()
print("went on")
"""
BUSY = """
until = time.monotonic() + {seconds}
while time.monotonic() < until:
    pass
"""


def run(limit: float, work: str) -> tuple[int, str, str]:
    script = SCRIPT.format(limit=limit, work=work)
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.fault(62)
@pytest.mark.parametrize(
    "work",
    [
        BUSY.format(seconds=60),
        # One call, in which no other thread of Python gets to work either.
        'any(re.fullmatch("(a|a)*b", "a" * 28) for _ in range(60))',
    ],
    ids=["a loop", "a call"],
)
def test_a_process_that_is_kept_busy_ends_and_says_where(work: str) -> None:
    code, output, errors = run(0.5, work)
    assert (code, output) == (-signal.SIGPROF, "")
    assert 'File "<string>", line ' in errors


@pytest.mark.parametrize(
    "work",
    [
        BUSY.format(seconds=0.2),
        # Who only waits is not busy.
        "monkey.get_original('time', 'sleep')(1.5)",
        "os.system(f'(sleep 1.5; kill -CONT {os.getpid()}) &')\n"
        "os.kill(os.getpid(), signal.SIGSTOP)",
    ],
    ids=["busy for a moment", "waiting", "stopped"],
)
def test_a_process_that_is_not_kept_busy_goes_on(work: str) -> None:
    assert run(1, work) == (0, "went on\n", "")


def test_a_process_without_its_watchdog_may_be_busy() -> None:
    assert run(0.5, "watchdog.kill()" + BUSY.format(seconds=1)) == (0, "went on\n", "")
