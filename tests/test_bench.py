"""What `python -m bench` says at its end, and how it ends."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import pytest
from PIL import Image

from bench import __main__ as bench
from bench import abuse
from bench.support.pictures import photo_of_many_scans
from bench.support.replies import ReplyEvents


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Three benchmarks that measure nothing; the options that each was run with."""
    asked: list[list[str]] = []

    def measuring(met: bool) -> Callable[[Sequence[str]], dict[str, Any]]:
        def measure(arguments: Sequence[str]) -> dict[str, Any]:
            asked.append([*arguments])
            return {"met": met, "p95_ms": 7}

        return measure

    def fall(_arguments: Sequence[str]) -> dict[str, Any]:
        raise RuntimeError("the house did not open")

    kinds = {"falls": fall, "fast": measuring(met=True), "slow": measuring(met=False)}
    for name, measure in kinds.items():
        module = ModuleType(f"bench.{name}")
        module.measure = measure  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(bench, "BENCHMARKS", sorted(kinds))
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    monkeypatch.setattr(bench.signal, "signal", lambda *_: None)
    return asked


def test_a_bar_that_is_kept_ends_well(
    benchmarks: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(["fast", "--rounds=1"]) == 0
    assert benchmarks == [["--rounds=1"]]
    assert capsys.readouterr().out.endswith("fast: met\n")
    written = json.loads((tmp_path / "fast.json").read_text("utf-8"))
    assert (written["benchmark"], written["figures"]["p95_ms"]) == ("fast", 7)


def test_a_bar_that_is_missed_ends_with_an_error(
    benchmarks: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(["slow"]) == 1
    assert "slow: MISSED" in capsys.readouterr().out
    assert (tmp_path / "slow.json").exists(), "the figures say by how much"


def test_one_that_cannot_be_measured_leaves_the_others_to_run(
    benchmarks: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main([]) == 1
    said = capsys.readouterr()
    assert said.out.endswith("falls: FAILED\nfast: met\nslow: MISSED\n")
    assert "the house did not open" in said.err
    assert len(benchmarks) == 2
    assert not (tmp_path / "falls.json").exists()


def test_an_unknown_name_runs_nothing(benchmarks: list[list[str]]) -> None:
    assert bench.main(["fast", "fats"]) == 2
    assert benchmarks == []


@pytest.mark.timeout(300)
@pytest.mark.soak
def test_what_others_notice_of_abuse_is_measured_beside_the_quiet_around_it() -> None:
    """The smallest run of it: its figures say nothing here, and are all there."""
    small = ["--samples=2", "--quiet=2", "--scans=0", "--files=2", "--large=1", "--streams=4"]
    figures = abuse.measure([*small, "--scenarios=uploads,accounting"])
    assert list(figures["scenarios"]) == ["uploads", "accounting"]
    for scenario in figures["scenarios"].values():
        assert not scenario["failed_in_quiet"]
        for kind in ("first_token", "upload"):
            assert (scenario[kind]["samples"], scenario[kind]["quiet_samples"]) == (2, 4)
            assert scenario[kind]["p95_ms"] > 0
        assert scenario["peak_memory_mb"]["during"]["web_and_runner"] > 0
        assert scenario["cpu"]["during"]["web_and_runner"] > 0
    answers = [each["answers_to_the_misbehaving"] for each in figures["scenarios"].values()]
    assert answers[0]["uploads of 19 MB"] and answers[0]["forms with 2 files"]
    assert answers[1]["messages"]["200"] and answers[1]["streams"]["200"]


def test_a_scenario_that_there_is_no_time_for_is_missed_and_not_begun() -> None:
    options = abuse._options(["--scenarios=uploads", "--seconds=5"])
    course = abuse.Course(None, None, options, "", time.monotonic())  # type: ignore[arg-type]
    assert course.run() == {"uploads": {"met": False, "not_measured": "no time was left"}}


def test_an_unknown_scenario_is_told_before_anything_is_started(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        abuse.measure(["--scenarios=uploads,flods"])
    assert "there is no scenario flods" in capsys.readouterr().err


def test_the_model_knows_each_kind_of_reply_that_is_asked_for() -> None:
    # Making the replies takes a second, for which the other tests need not wait.
    from bench.support import abused_model

    asked = {*abuse.STREAMING, *abuse.ACCOUNTING, *abuse.JSON}
    assert asked == set(abused_model.KINDS)


def test_twice_the_quiet_is_met_and_more_is_not_but_for_some_milliseconds() -> None:
    quiet = [10.0] * 32
    assert abuse._compare(quiet, [40.0] * 32)["met"], "30 ms longer is not told from chance"
    assert not abuse._compare(quiet, [41.0] * 32)["met"]
    slower = [100.0] * 32
    assert abuse._compare(slower, [200.0] * 32)["met"]
    assert not abuse._compare(slower, [201.0] * 32)["met"]


def test_a_picture_of_many_scans_is_a_picture_of_few_bytes() -> None:
    content = photo_of_many_scans(300, side=64)
    assert content.count(b"\xff\xda") > 300
    assert len(content) < 20_000
    with Image.open(BytesIO(content)) as picture:
        picture.load()
        assert (picture.format, picture.size) == ("JPEG", (64, 64))


def test_a_reply_is_heard_though_its_event_comes_in_pieces() -> None:
    reply = str(uuid4())
    stream = f'event:token\ndata:{{"message_id": "{reply}", "text": "Hi"}}\nid:e-1\n\n'.encode()

    async def listen(cut: int) -> str:
        events = ReplyEvents("token", "done")
        events.hear(stream[:cut])
        events.hear(stream[cut:])
        type_, _moment = await asyncio.wait_for(events.wait_for(reply), 5)
        return type_

    assert {asyncio.run(listen(cut)) for cut in range(0, len(stream), 7)} == {"token"}
