"""Skills as tests have them written: by the names of the guide, and by others."""

from __future__ import annotations

from app.cli.new_skill import LONGEST, Names

# As the guide prints it, at a time of its own and after a migration that it does not name.
SHIFT_NOTES = Names("shift_notes", "notas del turno", "20270101_0900", "the newest there is")
# What makes lines short, and what makes them long.
SHORT = Names("ice", "luz", "20270101_0900", "20261231_0900")
LONG_PLURAL = Names(f"{'w' * (LONGEST - 1)}s", f"{'x' * 40}", "20270101_0900", "20261231_0900")
LONG_SINGULAR = Names("w" * LONGEST, "x" * 40, "20270101_0900", "20261231_0900")
ALL = (SHIFT_NOTES, SHORT, LONG_PLURAL, LONG_SINGULAR)
