"""What the documentation names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Files of the project that a page names by the end of their path.
_FILE = re.compile(r"`((?:[\w.-]+/)*[a-z0-9_-]+\.(?:py|yaml|html|js|css))`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_file_that_a_page_names_exists(page: Path) -> None:
    folders = [
        "app", "templates", "static", "migrations", "tests", "bench", "docs", "deploy", ".ci"
    ]  # fmt: skip
    files = {each for folder in folders for each in (ROOT / folder).rglob("*.*")}
    there = {f"/{each.relative_to(ROOT)}" for each in files | set(ROOT.glob("*.*"))}
    named = set(_FILE.findall(page.read_text("utf-8")))
    assert [name for name in sorted(named) if not any(e.endswith(f"/{name}") for e in there)] == []
