"""Runs all tests, three at a time, and what failed once more alone: `tests.py [pytest options]`.

Most of them wait for real processes, so that three keep two cores busy; some freeze and kill
such processes, and a busy machine can make one of them late.
What passes alone is named, so that it gets mended; what fails twice, or too much at once, fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
AT_ONCE = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")
TESTS_FAILED = 1
AGAIN_AT_MOST = 5


def main(options: list[str]) -> int:
    LAST_FAILED.unlink(missing_ok=True)
    code = pytest(*AT_ONCE, *options)
    failed = last_failed()
    if code != TESTS_FAILED or not 0 < len(failed) <= AGAIN_AT_MOST:
        return code
    print(f"\nOnce more, alone: {', '.join(failed)}", flush=True)
    code = pytest(*failed)
    if not code:
        print("\nPassed alone, failed beside other tests; please mend:", *failed, sep="\n  ")
    return code


def pytest(*options: str) -> int:
    """Its exit code."""
    command = [sys.executable, "-m", "pytest", *options]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def last_failed() -> list[str]:
    """The ids of the tests, or of whole files, that failed in the last run."""
    return list(json.loads(LAST_FAILED.read_text())) if LAST_FAILED.exists() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
