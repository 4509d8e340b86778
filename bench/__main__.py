"""Runs the benchmarks and writes each one's figures to bench/results/local/NAME.json.

A benchmark is a module here with `measure(arguments) -> dict`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path

from bench.machine import machine_facts

HERE = Path(__file__).parent
BENCHMARKS = sorted(file.stem for file in HERE.glob("[a-z]*.py") if file.stem != "machine")
RESULTS = HERE / "results" / "local"


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all; what follows a name's `--` goes to it."""
    names = [word for word in arguments if not word.startswith("-")] or list(BENCHMARKS)
    options = [word for word in arguments if word.startswith("-")]
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"There is no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}.")
        return 2
    # Whoever ends it ends what it has started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    met: dict[str, bool | None] = {}
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in names:
        load_before = [round(load, 2) for load in os.getloadavg()]
        figures = importlib.import_module(f"bench.{name}").measure(options)
        facts = machine_facts() | {"load_before": load_before}
        result = {"benchmark": name, "machine": facts, "figures": figures}
        text = json.dumps(result, indent=2, ensure_ascii=False)
        (RESULTS / f"{name}.json").write_text(text + "\n", "utf-8")
        print(text)
        met[name] = figures.get("met")
    print("\n".join(f"{name}: {'met' if kept else 'MISSED'}" for name, kept in met.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
