"""Runs axe, the accessibility checker, inside a page."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

SCRIPT = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def findings(page: Page) -> list[str]:
    """What axe finds wrong on the page as it is now: impact, rule and where."""
    page.evaluate(SCRIPT)
    results: dict[str, Any] = page.evaluate(
        "(tags) => axe.run({ runOnly: { type: 'tag', values: tags } })", RULES
    )
    assert len(results["passes"]) > 5, "axe has looked at nothing"
    return [
        f"{finding['impact']}: {finding['id']} at {node['target']}: {node['failureSummary']}"
        for finding in results["violations"]
        for node in finding["nodes"]
    ]
