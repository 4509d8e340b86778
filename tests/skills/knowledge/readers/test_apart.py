"""Reading in a process of its own: it answers as if in ours, and its end is never ours."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from app.files import child_process
from app.skills.knowledge.readers import Limits, read_apart, read_file
from tests.skills.knowledge.readers.files import Pdf, fatal, zip_of


def long_pdf() -> bytes:
    pdf = Pdf()
    for _ in range(600):
        for _ in range(9):
            pdf.prose()
        pdf.page()
    return pdf.bytes()


def children() -> set[str]:
    """The processes that this one has started and that are still there."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.add(entry.parent.name)
    return found


def test_it_answers_as_if_it_were_read_here() -> None:
    content = zip_of({"a.html": "<h1 id='bar'>Bár</h1><p>Ice</p>", "b.md": "# Floor\nTables."})
    steps: list[tuple[str, int, int]] = []
    apart_ = read_apart(content, "m.zip", "sop", "en", on_progress=lambda *s: steps.append(s))
    assert apart_ == read_file(content, "m.zip", "sop", "en")
    assert steps == [("opening", 0, 1), ("reading", 1, 2), ("reading", 2, 2)]
    menu = read_apart(b"name,price\nTaco,-1\n", "m.csv", "dishes", "es")
    assert menu == read_file(b"name,price\nTaco,-1\n", "m.csv", "dishes", "es")


def test_it_is_killed_as_soon_as_it_is_cancelled() -> None:
    before, seen = children(), []

    def is_cancelled() -> bool:
        return bool(seen)

    started = time.monotonic()
    reading = read_apart(
        long_pdf(), "m.pdf", "sop", "en",
        on_progress=lambda step, done, total: seen.append(step) if done else None,
        is_cancelled=is_cancelled,
    )  # fmt: skip
    assert fatal(reading) == "cancelled"
    assert time.monotonic() - started < 30
    assert children() <= before


def test_it_is_killed_when_whoever_listens_fails() -> None:
    before = children()

    def fail(step: str, done: int, total: int) -> None:
        raise ConnectionError("the database has gone")

    with pytest.raises(ConnectionError):
        read_apart(b"# A\nx", "a.md", "sop", "en", on_progress=fail)
    assert children() <= before


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Limits(wall_seconds=0.05), "takes_too_long"),
        (Limits(cpu_seconds=1), "takes_too_long"),
        (Limits(memory_bytes=200 * 1024 * 1024), "too_big_to_read"),
        (Limits(file_bytes=10), "too_big"),
    ],
    ids=["time", "processor", "memory", "size"],
)
def test_what_costs_too_much_is_given_up(limits: Limits, code: str) -> None:
    page = b"<html>" + b"<p>" * 200 + b"<b>x</b><i>y</i>" * 400_000
    assert fatal(read_apart(page, "x.html", "sop", "en", limits=limits)) == code


@pytest.mark.parametrize("signal", ["SEGV", "ABRT", "KILL"])
def test_a_crash_is_a_reading_that_says_so(
    signal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "app" / "skills" / "knowledge" / "readers"
    package.mkdir(parents=True)
    (package / "__main__.py").write_text(
        f"import os, signal\nos.kill(os.getpid(), signal.SIG{signal})"
    )
    monkeypatch.setattr(child_process, "ROOT", tmp_path)
    reading = read_apart(b"# A\nx", "a.md", "sop", "en")
    assert fatal(reading) == ("too_big_to_read" if signal == "KILL" else "could_not_be_read")


def test_the_process_knows_none_of_our_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "app" / "skills" / "knowledge" / "readers"
    package.mkdir(parents=True)
    (package / "__main__.py").write_text(
        "import json, os\n"
        "problem = {'place': '', 'code': 'x', 'detail': ' '.join(os.environ), 'is_fatal': True}\n"
        "print(json.dumps({'reading': {'documents': [], 'rows': [], 'problems': [problem],"
        " 'facts': {}}}))"
    )
    monkeypatch.setattr(child_process, "ROOT", tmp_path)
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    (problem,) = read_apart(b"# A\nx", "a.md", "sop", "en").problems
    assert "LANG" in problem.detail
    assert "DATABASE_URL" not in problem.detail


def test_the_process_can_write_no_file_and_open_few() -> None:
    program = """
import json, resource
from app.skills.knowledge.readers import __main__ as child
from app.skills.knowledge.readers.result import LIMITS
child._restrain(LIMITS)
try:
    with open({path!r}, "w") as file:
        file.write("x")
except OSError as error:
    print(type(error).__name__, error.errno == 27, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
"""
    with tempfile.NamedTemporaryFile() as target:
        done = subprocess.run(
            [sys.executable, "-c", program.format(path=target.name)],
            cwd=child_process.ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert done.stdout.split() == ["OSError", "True", "32"]
