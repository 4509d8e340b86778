"""Runs the benchmarks and writes each one's figures to bench/results/local/NAME.json.

A benchmark is a module here with `measure(arguments) -> dict`; `met` in it says whether its
bars were kept. Ends with 1 where one was missed or could not be measured.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from bench.machine import machine_facts

HERE = Path(__file__).parent
BENCHMARKS = sorted(file.stem for file in HERE.glob("[a-z]*.py") if file.stem != "machine")
MET = "met"
RESULTS = HERE / "results" / "local"


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all; options go to each of them. Returns the exit code."""
    names = [word for word in arguments if not word.startswith("-")] or list(BENCHMARKS)
    options = [word for word in arguments if word.startswith("-")]
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}.")
        return 2
    # Whoever ends it ends what it has started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    RESULTS.mkdir(parents=True, exist_ok=True)
    # One that fails keeps none of the others from being measured.
    outcomes = {name: _outcome(name, options) for name in names}
    print("\n".join(f"{name}: {outcome}" for name, outcome in outcomes.items()))
    return 0 if set(outcomes.values()) <= {MET} else 1


def _outcome(name: str, options: list[str]) -> str:
    """Run a benchmark; how it ended, in a word."""
    try:
        return MET if _run(name, options).get("met") else "MISSED"
    except Exception:  # noqa: BLE001 - whatever it is, it is shown
        traceback.print_exc()
        return "FAILED"


def _run(name: str, options: list[str]) -> dict[str, Any]:
    """Run a benchmark, and write down and return its figures."""
    load_before = [round(load, 2) for load in os.getloadavg()]
    figures: dict[str, Any] = importlib.import_module(f"bench.{name}").measure(options)
    facts = machine_facts() | {"load_before": load_before}
    result = {"benchmark": name, "machine": facts, "figures": figures}
    text = json.dumps(result, indent=2, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", "utf-8")
    print(text)
    return figures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
