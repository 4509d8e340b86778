"""Reads scripts from a file, for a server that is started by hand.

A Python file has a list SCENARIOS. A JSON file is a list such as

    [{"when": "tip", "rounds": [
        [{"call": {"name": "search_manual_v2", "arguments": {"query": "tips"}}}],
        [{"stall": {"seconds": 1}}, {"say": {"text": "On Fridays. [1]", "delay": 0.05}}]
    ]}]
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

from tests.model_server.script import (
    Call,
    Chunk,
    CutAfter,
    Delta,
    Ending,
    HttpError,
    Page,
    Say,
    Scenario,
    Script,
    Stall,
    Step,
)

STEPS: dict[str, type[Any]] = {
    "say": Say,
    "call": Call,
    "delta": Delta,
    "chunk": Chunk,
    "stall": Stall,
    "http_error": HttpError,
    "page": Page,
    "cut_after": CutAfter,
    "ending": Ending,
}


def load_scripts(path: Path) -> list[Script]:
    """The scripts in a .py or .json file.

    Raises:
        ValueError: the file is not a list of scenarios; the text says what is wrong.
    """
    if path.suffix == ".py":
        scripts: list[Script] = runpy.run_path(str(path))["SCENARIOS"]
        return scripts
    return [_scenario(entry) for entry in json.loads(path.read_text("utf-8"))]


def _scenario(entry: dict[str, Any]) -> Scenario:
    options = {name: value for name, value in entry.items() if name != "rounds"}
    return Scenario([[_step(step) for step in steps] for steps in entry["rounds"]], **options)


def _step(entry: dict[str, Any]) -> Step:
    ((name, options),) = entry.items()
    if name not in STEPS:
        raise ValueError(f"unknown step {name!r}; known are {', '.join(sorted(STEPS))}")
    step: Step = STEPS[name](**options)
    return step
