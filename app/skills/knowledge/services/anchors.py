"""Addresses for the parts of a section: each paragraph, heading and item can be linked to.

An address is made from the words themselves, so that it stays while they do, whatever is
written before or after them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.text.normalize import words

# What `app.text.markdown` lets through that holds running text. A list's item ends, as far as its
# own words go, where a list below it begins.
_BLOCK = re.compile(r"<(p|h[1-6]|li)>")
_EDGE = re.compile(r"</?(?:p|h[1-6]|li|ul|ol|table|blockquote|pre)\b")
_HEADING = re.compile(r"h[1-6]")
LONG_HEADINGS = 3


@dataclass(frozen=True)
class Mark:
    """A heading within a section, and where it stands."""

    anchor: str
    text: str


@dataclass(frozen=True)
class AnchoredText:
    """A section's HTML with its addresses; `headings` are what a reader may jump to."""

    html: Markup
    headings: Sequence[Mark]

    @property
    def is_long(self) -> bool:
        return len(self.headings) >= LONG_HEADINGS


def anchor_blocks(html: Markup, label: str) -> AnchoredText:
    """Give each block of safe HTML an id, and a link sign called `label` that leads to it."""
    used: Counter[str] = Counter()
    headings: list[Mark] = []

    def with_anchor(block: re.Match[str]) -> str:
        edge = _EDGE.search(html, block.end())
        said = html[block.end() : edge.start() if edge else len(html)].striptags()
        if not words(said):
            return block[0]
        anchor = _anchor(said, used)
        if _HEADING.fullmatch(block[1]):
            headings.append(Mark(anchor, said))
        link = Markup('<a class="anchor" href="#{}" aria-label="{}"></a>').format(anchor, label)
        return f'<{block[1]} id="{anchor}">{link}'

    anchored = _BLOCK.sub(with_anchor, html)
    return AnchoredText(Markup(anchored), headings)  # noqa: S704 - safe before, and ids of our own


def _anchor(said: str, used: Counter[str]) -> str:
    folded = " ".join(words(said))
    anchor = "t-" + hashlib.sha256(folded.encode()).hexdigest()[:10]
    used[anchor] += 1
    return anchor if used[anchor] == 1 else f"{anchor}-{used[anchor]}"
