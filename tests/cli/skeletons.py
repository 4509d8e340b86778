"""Skills as tests have them written: by the names of the guide, and by others."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from app.cli.new_skill import LONGEST, MOST_SPANISH, Names

# As the guide prints it, at a time of its own and after a migration that it does not name.
SHIFT_NOTES = replace(
    Names.of("shift_notes", "las notas del turno"),
    revision="20270101_0900",
    newest="the newest there is",
)
# What makes lines short, and what makes them long.
SHORT = Names.of("ice", "la luz", "cup")
LONG_PLURAL = Names.of(f"{'w' * (LONGEST - 1)}s", f"las {'x' * MOST_SPANISH}")
LONG_SINGULAR = Names.of("w" * LONGEST, f"los {'x' * MOST_SPANISH}")
# A name that is no plural, nor the name of one thing.
LOST_AND_FOUND = Names.of("lost_and_found", "los objetos perdidos", "found_item")
ALL = (SHIFT_NOTES, SHORT, LONG_PLURAL, LONG_SINGULAR, LOST_AND_FOUND)

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "adding-a-skill.md").read_text("utf-8")


def _blocks(what: str) -> list[tuple[str, str]]:
    """Blocks of the guide that go into a file which is there, as their first line says."""
    block = rf"^```\w+\n# (\S+/\S+), {what}\n(.*?)^```"
    return re.findall(block, GUIDE, re.MULTILINE | re.DOTALL)


# What the guide adds to the files: at their ends, and at the start of the skill's reader.
ADDED = _blocks("added")
FIRST_HINTS = _blocks("first in find_hints")
