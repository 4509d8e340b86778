"""What `python -m bench` says at its end, and how it ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench import __main__ as bench


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
