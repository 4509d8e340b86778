"""Blocks of JSON in a model's words: taken out while it speaks, and read when it is done.

Some models put an object such as {"form_navigation": {…}} into their reply, bare or in a code
fence, for a program to read. It is none of the reader's business: it never reaches the page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.text.json_text import ObjectScanner, parse_json
from app.text.plain_text import clean_value

# What is longer, and has no such key so far, is shown: it is something else.
LONGEST_UNKNOWN = 4_000
# Each is read by its skill, which may look things up; more than these are only left out.
MOST_BLOCKS = 8
# So much is looked at in one go, that looking again costs the same however long a delta is.
STRETCH = 1_000
FENCE = "```"
_BLANKS = r"(?<!\s)\s{0,40}"
_OPENING = re.compile(_BLANKS + r'(?:(?P<fence>`{3,8})[\w-]{0,12}\s{0,40})?\{\s{0,40}(?=")')
# Whatever a block may begin with, at the end of the text.
_PERHAPS = re.compile(_BLANKS + r"(?:(?:`{1,8}[\w-]{0,12}\s{0,40})?(?:\{\s{0,40})?)\Z")
_BEHIND_FENCE = re.compile(r"`*[\w-]*\s*")


class _OpenBlock:
    """A block of which more may come: an object, and the fence around it where there is one."""

    def __init__(self, fence: str) -> None:
        self.is_whole = False
        self.is_ours = False
        self.length = 0
        self._fence = fence
        self._scanner = ObjectScanner()
        self._is_object_over = False
        # The last characters behind the object, which may be the beginning of the fence.
        self._behind = ""
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def feed(self, more: str) -> int:
        """Take in what belongs to the block; how many characters of `more` that are."""
        end = self._find_end(more)
        self.is_whole = end is not None
        piece = more if end is None else more[:end]
        self._pieces.append(piece)
        self.length += len(piece)
        return len(piece)

    def _find_end(self, more: str) -> int | None:
        at = 0
        if not self._is_object_over:
            end = self._scanner.feed(more)
            if end is None or not self._fence:
                return end
            self._is_object_over, at = True, end
        behind = self._behind + more[at:]
        closing = behind.find(self._fence)
        if closing >= 0:
            return at - len(self._behind) + closing + len(self._fence)
        self._behind = behind[1 - len(self._fence) :]
        return None


@dataclass
class BlockFilter:
    """Feeds on deltas and lets text through, keeping objects that have a key of `names`.

    Each character is looked at a bounded number of times, however the text is cut.
    """

    names: Collection[str]
    blocks: list[str] = field(default_factory=list, init=False)
    # Of what comes outside of blocks, the end that may be the beginning of one.
    _held: str = field(default="", init=False)
    _open: _OpenBlock | None = field(default=None, init=False)
    _has_begun: bool = field(default=False, init=False)

    def feed(self, delta: str) -> str:
        """Return the text that is certain by now."""
        if not self.names:
            return delta
        stretches = (delta[at : at + STRETCH] for at in range(0, len(delta), STRETCH))
        return "".join(piece for each in stretches for piece in self._certain(each))

    def close(self) -> str:
        """Return what was still held, unless it is a block that was cut short."""
        rest = (self._open.text if self._open else "") + self._held
        self._held, self._open = "", None
        return self._unless_ours(rest)

    def _certain(self, more: str) -> Iterator[str]:
        self._held += more
        while self._held:
            if self._open is None:
                opening = _OPENING.search(self._held)
                yield self._take(opening.start() if opening else self._certain_length())
                if opening is None:
                    return
                self._open = _OpenBlock(opening["fence"] or "")
            self._held = self._held[self._open.feed(self._held) :]
            if self._open.is_whole or self._is_something_else(self._open):
                block, self._open = self._open.text, None
                yield self._unless_ours(block)

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

    def _is_something_else(self, block: _OpenBlock) -> bool:
        if block.is_ours or block.length <= LONGEST_UNKNOWN:
            return False
        block.is_ours = self._is_ours(block.text)
        return not block.is_ours

    def _unless_ours(self, text: str) -> str:
        """The text to show: none where it is a block for us, which is kept."""
        if not self._is_ours(text):
            self._has_begun = self._has_begun or bool(text.strip())
            return text
        if len(self.blocks) < MOST_BLOCKS:
            self.blocks.append(text)
        return ""

    def _is_ours(self, text: str) -> bool:
        return any(re.search(rf'"{re.escape(name)}"\s*:', text) for name in self.names)


def read_object(text: str) -> Mapping[str, Any] | None:
    """The object that a text is, or has in a code fence, or else the first in braces.

    Its texts are cleaned; what is nested too deeply is none.
    """
    for candidate in _candidates(text):
        try:
            value = parse_json(candidate, lenient=True)
        except ValueError:
            continue
        if isinstance(value, dict):
            cleaned: dict[str, Any] = clean_value(value)
            return cleaned
    return None


def _candidates(text: str) -> Iterator[str]:
    yield text.strip()
    opening = text.find(FENCE)
    behind = _BEHIND_FENCE.match(text, opening) if opening >= 0 else None
    closing = text.find(FENCE, behind.end()) if behind else -1
    if behind and closing >= 0:
        yield text[behind.end() : closing].strip()
    start = text.find("{")
    end = ObjectScanner().feed(text, start) if start >= 0 else None
    if end is not None:
        yield text[start:end]
