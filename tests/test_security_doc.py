"""docs/security.md against what is there: every door, every file, every test it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from sqlalchemy import text

import app.notifications.mail  # noqa: F401 (its table is one of them)
from app.db import Base, Database

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
# Folders of the repository; an address such as /metrics begins with a slash and is none.
PATH = re.compile(
    r"`((?:app|deploy|docs|migrations|static|stubs|templates|tests|\.ci)/[\w./-]+"
    r"|[\w.-]+\.(?:md|py|txt|toml|yaml)|Dockerfile|Makefile|\.env\.example)(?:::(\w+))?`"
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]+)?\)")
# One requirement, or some that are next to each other.
ROW = re.compile(r"\| V(\d+)\.(\d+)\.(\d+)(?: to (\d+))? \|")
COUNT = re.compile(r"\*\*(\d+)\*\* (met|partly|not yet|not applicable|operator's)")
STATES = {"met", "partly", "not yet", "not applicable", "operator's"}
# ASVS 5.0.0: how many requirements of the first two levels each section has. They come
# first in each; those of the third level follow them.
ASVS = {
    1: (2, 9, 11, 3, 2),
    2: (3, 3, 4, 1),
    3: (0, 2, 4, 6, 5, 0, 2),
    4: (3, 1, 2, 4),
    5: (1, 3, 2, 3),
    6: (3, 12, 4, 4, 5, 3, 0, 4),
    7: (3, 4, 2, 5, 2, 2),
    8: (2, 3, 1, 1),
    9: (3, 4),
    10: (2, 2, 4, 11, 5, 2, 3),
    11: (2, 3, 3, 4, 1, 1, 0),
    12: (3, 2, 4),
    13: (1, 5, 2, 5),
    14: (2, 4, 3),
    15: (3, 3, 7, 0),
    16: (1, 5, 4, 3, 3),
    17: (1, 4, 2),
}

DEFINERS = text(
    "SELECT proname FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace"
)


def section(title: str) -> str:
    return re.split(r"\n#{2,3} ", PAGE.split(f" {title}\n", 1)[1], maxsplit=1)[0]


def rows(title: str) -> list[list[str]]:
    """The cells of a section's table, without its two lines of head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_door_is_listed_and_nothing_else_is(owner: Database) -> None:
    with owner.transaction() as session:
        doors = session.scalars(DEFINERS).all()
    listed = [name for row in rows("The doors") for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(listed) == sorted(doors)


def test_every_table_is_listed_with_the_rule_of_its_rows() -> None:
    """`tests/test_row_level_security.py` reads there which tables are personal, and who writes."""
    listed = {name for row in rows("Named policies") for name in re.findall(r"`(\w+)`", row[1])}
    assert set(Base.metadata.tables) - listed == set()


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_file_and_every_test_that_is_named_exists() -> None:
    named = PATH.findall(PAGE)
    assert len(named) > 100
    for path, test in named:
        assert (ROOT / path).exists(), path
        if test:
            assert test in names_in(ROOT / path), f"{path}::{test}"
    for target in LINK.findall(PAGE):
        assert (ROOT / "docs" / target).exists(), target


def test_every_requirement_of_both_levels_has_one_row_and_a_state() -> None:
    found: list[tuple[int, int, int]] = []
    for line in PAGE.splitlines():
        if match := ROW.match(line):
            chapter, part, first, last = (int(number or 0) for number in match.groups())
            found += [(chapter, part, n) for n in range(first, max(first, last) + 1)]
            assert line.split("|")[3].strip() in STATES, line
    wanted = [
        (chapter, part, number)
        for chapter, counts in ASVS.items()
        for part, count in enumerate(counts, 1)
        for number in range(1, count + 1)
    ]
    assert len(wanted) == 253
    assert sorted(found) == wanted


def test_the_counts_are_those_of_the_table() -> None:
    said = {state: int(number) for number, state in COUNT.findall(section("OWASP ASVS 5.0"))}
    found = dict.fromkeys(STATES, 0)
    for line in PAGE.splitlines():
        if match := ROW.match(line):
            _chapter, _part, first, last = (int(number or 0) for number in match.groups())
            found[line.split("|")[3].strip()] += max(first, last) - first + 1
    assert said == found
