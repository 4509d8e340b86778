"""Runs all tests, four at a time: `tests.py [pytest options]`.

Most of them wait for real processes, so that four keep two cores busy. What fails is run again
alone, only to be named: whether a test failed by itself or beside others, the run has failed.
A test that sometimes fails is a fault of the suite, to be mended like any other.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
AT_ONCE = ("-n", "4", "--dist", "loadfile", "--no-loadscope-reorder")
TESTS_FAILED = 1
AGAIN_AT_MOST = 5


def main(options: list[str]) -> int:
    LAST_FAILED.unlink(missing_ok=True)
    code = pytest(*AT_ONCE, *options)
    failed = last_failed()
    if code == TESTS_FAILED and 0 < len(failed) <= AGAIN_AT_MOST:
        run_alone(failed)
    return code


def run_alone(failed: list[str]) -> None:
    """Name what passes alone; it changes nothing about the run."""
    print(f"\nOnce more, alone: {', '.join(failed)}", flush=True)
    pytest(*failed)
    passed = [test for test in failed if test not in last_failed()]
    if passed:
        print("\nFailed beside other tests and passed alone:", *passed, sep="\n  ")


def pytest(*options: str) -> int:
    """Its exit code."""
    command = [sys.executable, "-m", "pytest", *options]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def last_failed() -> list[str]:
    """The ids of the tests, or of whole files, that failed in the last run."""
    return list(json.loads(LAST_FAILED.read_text())) if LAST_FAILED.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
