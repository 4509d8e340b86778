"""docs/adding-a-skill.md prints what `flask new-skill` writes, and speaks of all a skill may bring.

That what it prints works is tested in tests/cli/test_new_skill.py, by the same names.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from app.assistant.tools.registry import Skill
from app.cli.new_skill import CHANGES, FILES, render
from tests.cli.skeletons import SHIFT_NOTES

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "docs" / "adding-a-skill.md").read_text("utf-8")
# A file is a block whose first line is a comment with its path.
_FILE = re.compile(r"^```\w+\n(?:#|\{#-) (\S+/\S+?)(?: -#\})?\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = dict(_FILE.findall(GUIDE))
# What it names in the project: files and folders, and links to other pages.
_PATH = re.compile(r"`((?:app|migrations|static|templates|tests)/[\w./-]*\w/?)`")
_LINK = re.compile(r"\]\(([\w/.-]*)(?:#([\w-]+))?\)")
DECISIONS = sorted(set(re.findall(r"\((decisions/[\w.-]+\.md)\)", GUIDE)))
# Modules without a line make their folders packages.
WRITTEN = {path: text for path, text in render(SHIFT_NOTES).items() if text}


def test_the_guide_prints_each_file_that_the_command_writes() -> None:
    assert len(WRITTEN) == len(FILES) - 3
    assert set(PRINTED) == set(WRITTEN)


@pytest.mark.parametrize("path", WRITTEN)
def test_a_file_is_printed_as_the_command_writes_it(path: str) -> None:
    assert PRINTED[path] == WRITTEN[path]


def test_the_guide_names_each_file_that_the_command_changes() -> None:
    names = {path: f"`{path}`" for path, _ in CHANGES}
    names["docs/security.md"] = "[security.md]"
    assert [path for path, name in names.items() if name not in GUIDE] == []


def test_the_guide_speaks_of_all_that_a_skill_may_bring() -> None:
    declaration = PRINTED["app/skills/shift_notes/__init__.py"]
    listed = GUIDE.split("## More that a skill may bring")[1]
    said = set(re.findall(r"^    (\w+)=", declaration, re.MULTILINE))
    said |= set(re.findall(r"`(\w+)`", listed))
    assert {field.name for field in fields(Skill)} - said == set()


@pytest.mark.parametrize("page", ["adding-a-skill.md", *DECISIONS])
def test_what_it_and_its_decisions_name_is_there(page: str) -> None:
    """A decision is kept as it was taken, with the names that things have today."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    # What the command has written, or makes.
    paths = {path for path in _PATH.findall(text) if "shift_notes" not in path}
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
    named = set(re.findall(r"`Skill\.(\w+)`", text))
    assert named - {field.name for field in fields(Skill)} == set()


def test_its_links_lead_somewhere() -> None:
    broken = []
    for path, part in _LINK.findall(GUIDE):
        file = ROOT / "docs" / (path or "adding-a-skill.md")
        if not file.exists() or (part and part not in _headings(file)):
            broken.append(f"{path}#{part}")
    assert broken == []


def _headings(page: Path) -> set[str]:
    """What each heading of a page is linked by."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
