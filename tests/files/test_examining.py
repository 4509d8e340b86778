"""Files are looked at in a process that can break, and harm nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import pytest

from app.files import child_process
from app.files import sandbox as examining
from app.files.kinds import MIB, Unfit
from app.files.sandbox import examine
from app.files.spool import SpooledFile
from tests.files import samples


def spooled(content: bytes) -> SpooledFile:
    """A file as it comes with a form."""
    file = SpooledFile()
    file.write(content)
    return file


def test_the_child_says_what_the_parent_would_find() -> None:
    found = examine(spooled(samples.photo_with_place()))
    assert (found.kind, found.media_type) == ("image", "image/jpeg")
    assert found.file.read(3) == found.preview[:3] == b"\xff\xd8\xff"
    sent = spooled(samples.TEXT)
    assert examine(sent).file is sent
    assert sent.read() == samples.TEXT


def test_why_a_file_is_not_taken_comes_back() -> None:
    with pytest.raises(Unfit) as refused:
        examine(spooled(b"<svg></svg>"))
    assert refused.value.code == "markup"


def test_the_largest_pictures_fit_into_the_childs_memory() -> None:
    assert examine(spooled(samples.picture("JPEG", (8600, 5800)))).kind == "image"
    assert examine(spooled(samples.picture("PNG", (5000, 4900), "RGBA"))).kind == "image"
    assert examine(spooled(samples.picture("JPEG", (5000, 4900), progressive=True))).kind == "image"


def test_a_child_that_is_gone_before_it_is_slowed_down_has_done_its_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine a small picture was an internal error."""

    def gone(*_args: object) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(examining.os, "setpriority", gone)
    assert examine(spooled(samples.picture("PNG", (8, 8)))).kind == "image"


def test_a_child_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examining, "WALL_SECONDS", 0.01)
    began = time.monotonic()
    with pytest.raises(Unfit) as refused:
        examine(spooled(samples.picture("PNG", (4000, 4000))))
    assert refused.value.code == "too_much"
    assert time.monotonic() - began < 5


def test_a_child_that_dies_is_a_file_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process.sys, "executable", "/bin/false")
    with pytest.raises(Unfit) as refused:
        examine(spooled(samples.TEXT))
    assert refused.value.code == "broken"


def test_a_child_gives_way_from_its_first_moment_and_more_the_larger_the_file_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tell = "import json, os\nwhile not (more := os.nice(0) - {own}): pass\n"
    tell += "print(json.dumps({{'problem': 'broken', 'number': more}}))"

    def start(_arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        return popen([sys.executable, "-c", tell.format(own=os.nice(0))], **options)

    popen = subprocess.Popen
    monkeypatch.setattr(child_process.subprocess, "Popen", start)
    for size, niceness in ((MIB // 4, 1), (3 * MIB, 7)):
        with pytest.raises(Unfit) as refused:
            examine(spooled(b"x" * size))
        assert refused.value.number == niceness
