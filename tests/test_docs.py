"""What the documentation names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app import errors

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


def test_the_guide_lists_each_code_that_a_tool_may_fail_with() -> None:
    tools = [*ROOT.glob("app/skills/*/tools/*.py"), *ROOT.glob("app/assistant/tools/*.py")]
    said = {code for file in tools for code in re.findall(r'\bcode="([a-z_]+)"', file.read_text())}
    kinds = {each.code for each in vars(errors).values() if hasattr(each, "code")}
    # What a service calls invalid is an invalid input to a program.
    kinds -= {"error", "invalid", "not_signed_in"}
    guide = (ROOT / "docs" / "adding-a-skill.md").read_text("utf-8")
    _before, _head, table = guide.partition("| code | when |")
    listed = set(re.findall(r"`([a-z_]+)`", table.partition("\n\n")[0]))
    assert said | kinds <= listed, "of what is not listed nobody knows"
