"""What is written on a benchmark's command line."""

from __future__ import annotations


def numbers(text: str) -> tuple[int, ...]:
    """Numbers with commas between them."""
    return tuple(int(each) for each in text.split(","))
