"""Blocks of JSON in a model's words: taken out while it speaks, and read when it is done.

Some models put an object such as {"form_navigation": {…}} into their reply, bare or in a code
fence, for a program to read. It is none of the reader's business: it never reaches the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# What is longer, and has no such key so far, is shown: it is something else.
LONGEST_UNKNOWN = 4_000
_BLANKS = r"(?<!\s)\s{0,40}"
_OPENING = re.compile(_BLANKS + r'(?:(?P<fence>`{3,})[\w-]{0,12}\s{0,40})?\{\s{0,40}(?=")')
# Whatever a block may begin with, at the end of the text.
_PERHAPS = re.compile(_BLANKS + r"(?:(?:`{1,8}[\w-]{0,12}\s{0,40})?(?:\{\s{0,40})?)\Z")
# A string as a whole, so that the braces in it do not count.
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[{}"]', re.DOTALL)
_FENCED = re.compile(r"`{3,}[\w-]*\s*(.*?)`{3,}", re.DOTALL)
# Weak models put line breaks into strings as they are; what they mean is plain.
_DECODER = json.JSONDecoder(strict=False)


@dataclass
class BlockFilter:
    """Feeds on deltas and lets text through, keeping objects that have a key of `names`."""

    names: Collection[str]
    blocks: list[str] = field(default_factory=list, init=False)
    _held: str = field(default="", init=False)
    _has_begun: bool = field(default=False, init=False)

    def feed(self, delta: str) -> str:
        """Return the text that is certain by now."""
        if not self.names:
            return delta
        self._held += delta
        return "".join(self._certain())

    def close(self) -> str:
        """Return what was still held, unless it is a block that was cut short."""
        rest, self._held = self._held, ""
        if not self._is_ours(rest):
            return rest
        self.blocks.append(rest)
        return ""

    def _certain(self) -> Iterator[str]:
        while self._held:
            opening = _OPENING.search(self._held)
            if opening is None:
                yield self._take(self._certain_length())
                return
            if opening.start():
                yield self._take(opening.start())
                continue
            end = _end_of_block(self._held, opening)
            if end is None:
                if len(self._held) > LONGEST_UNKNOWN and not self._is_ours(self._held):
                    yield self._take(len(self._held))
                return
            block = self._take(end)
            if self._is_ours(block):
                self.blocks.append(block)
            else:
                yield block

    def _certain_length(self) -> int:
        """How much of what is held cannot be the beginning of a block."""
        perhaps = _PERHAPS.search(self._held)
        # Blanks wait for what follows them, for a block would leave them behind; before the
        # first word there is nothing that they would be behind of.
        if perhaps is None or not (self._has_begun or self._held.strip()):
            return len(self._held)
        return perhaps.start()

    def _take(self, end: int) -> str:
        self._has_begun = self._has_begun or bool(self._held[:end].strip())
        taken, self._held = self._held[:end], self._held[end:]
        return taken

    def _is_ours(self, text: str) -> bool:
        return any(re.search(rf'"{re.escape(name)}"\s*:', text) for name in self.names)


def _end_of_block(text: str, opening: re.Match[str]) -> int | None:
    """Where the block that begins the text ends, with its fence; None while it goes on."""
    end = _end_of_object(text, text.index("{", opening.start()))
    if end is None or not opening["fence"]:
        return end
    closing = text.find(opening["fence"], end)
    return None if closing < 0 else closing + len(opening["fence"])


def _end_of_object(text: str, start: int) -> int | None:
    """After the brace that closes the one at `start`; None where none does."""
    depth = 0
    for mark in _MARK.finditer(text, start):
        if mark[0] == '"':
            return None
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return None


def read_object(text: str) -> Mapping[str, Any] | None:
    """The object that a text is, or has in a code fence, or else the first in braces."""
    for candidate in _candidates(text):
        try:
            value = _DECODER.decode(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def _candidates(text: str) -> Iterator[str]:
    yield text.strip()
    if fenced := _FENCED.search(text):
        yield fenced[1].strip()
    start = text.find("{")
    end = _end_of_object(text, start) if start >= 0 else None
    if end is not None:
        yield text[start:end]
