"""docs/faults.md lists each fault with the tests that prove what is said there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MARKED = re.compile(
    r"@pytest\.mark\.fault\((\d+)\)\n(?:@[^\n]*\n(?:[ \])][^\n]*\n)*)*def (test_\w+)"
)


def marked_tests() -> dict[int, set[str]]:
    """The tests that carry each fault's number."""
    found: dict[int, set[str]] = {}
    for file in (ROOT / "tests").rglob("test_*.py"):
        for number, name in MARKED.findall(file.read_text("utf-8")):
            found.setdefault(int(number), set()).add(name)
    return found


def rows() -> dict[int, str]:
    """The rows of the table, by the fault's number."""
    text = (ROOT / "docs" / "faults.md").read_text("utf-8")
    return {int(row[1]): row[0] for row in re.finditer(r"^\| (\d+) \|.*$", text, re.M)}


@pytest.mark.parametrize("number", range(1, 38))
def test_a_fault_is_listed_and_proven(number: int) -> None:
    assert number in rows()
    assert marked_tests().get(number), f"no test carries @pytest.mark.fault({number})"


def test_the_tests_that_are_named_exist_and_carry_the_number() -> None:
    marked = marked_tests()
    for number, row in rows().items():
        for name in re.findall(r"`(test_\w+)`", row):
            assert name in marked.get(number, set()), f"fault {number}: {name}"
