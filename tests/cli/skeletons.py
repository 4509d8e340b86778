"""Skills as tests have them written: by the names of the guide, and by others."""

from __future__ import annotations

from dataclasses import replace

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
