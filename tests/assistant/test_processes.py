"""What tests start ends with them, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.assistant.processes import ROOT, wait_until

STARTS_ONE = """
import os, sys, time
from pathlib import Path
from tests.assistant.processes import Program

program = Program(Path(sys.argv[1]), dict(os.environ), "-c", "import time; time.sleep(600)")
print(program.pid, flush=True)
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_what_was_started_ends_when_the_tests_are_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTS_ONE, str(tmp_path / "log")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout
        pid = int(tests.stdout.readline())
        assert is_alive(pid)
        os.kill(tests.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), 10)
