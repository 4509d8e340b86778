"""Runs axe, the accessibility checker, inside a page."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

SCRIPT = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def findings(page: Page, within: str = "body") -> list[str]:
    """What axe finds wrong on the page as it is now: impact, rule and where.

    `within` is the part that is new where the rest of the page was looked at before.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    # What is not wrong is counted, and not described element by element.
    results: dict[str, Any] = page.evaluate(
        """([within, tags]) => axe.run(within === "body" ? document : within, {
          runOnly: { type: "tag", values: tags }, resultTypes: ["violations"],
        }).then(({ violations, passes }) => ({ violations, passed: passes.length }))""",
        [within, RULES],
    )
    assert results["passed"] > 5, "axe has looked at nothing"
    return [
        f"{finding['impact']}: {finding['id']} at {node['target']}: {node['failureSummary']}"
        for finding in results["violations"]
        for node in finding["nodes"]
    ]
