"""The geometry of the charts, for templates that draw plain SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 720
HEIGHT = 120
# Of the room of a column, what stays free between it and the next.
GAP = 0.2


@dataclass(frozen=True)
class Columns:
    """The outlines of all columns, in ink and in accent, as the data of two SVG paths."""

    ink: str
    accent: str


@dataclass(frozen=True)
class Bar:
    """A bar as high as its drawing."""

    x: float
    width: float


def columns(values: Sequence[tuple[float, float]]) -> Columns:
    """A column for each (whole, marked part of it): the whole in ink, the part below in accent."""
    highest = max((whole for whole, _part in values), default=0)
    outlines: tuple[list[str], list[str]] = ([], [])
    step = WIDTH / max(len(values), 1)
    for place, amounts in enumerate(values):
        x, width = round(place * step + step * GAP / 2, 2), round(step * (1 - GAP), 2)
        for outline, amount in zip(outlines, amounts, strict=True):
            if amount:
                # What is there at all can be seen, however small beside the highest.
                height = round(max(HEIGHT * amount / highest, 1), 2)
                outline.append(f"M{x} {HEIGHT}v-{height}h{width}v{height}z")
    return Columns(*("".join(outline) for outline in outlines))


def stretch(start: float, length: float, whole: float) -> Bar:
    """A bar that begins at `start` of `whole`, within the width of the drawing."""
    scale = WIDTH / whole if whole else 0
    width = max(length * scale, 2)
    return Bar(round(min(start * scale, WIDTH - width), 2), round(width, 2))
