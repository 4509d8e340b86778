"""Numbered citations in streamed text: known numbers stay, invented ones are dropped."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

# A citation is [1], [12] or [1, 3]; models also write [^1] and 【1†source】. Its longest
# form is bounded, so that it is known how much must be held back while it grows.
CITATION = re.compile(
    r"[\[【]\^?(\d{1,3}(?:[ \u00a0]?,[ \u00a0]{0,2}\^?\d{1,3}){0,19})(?:†[^\]】\n]{0,40})?[\]】]"
)
# As the filter writes them; an escaped bracket begins none.
_WRITTEN = re.compile(r"(?<!\\)\[(\d{1,3}(?:, ?\d{1,3}){0,19})\]")
# Of the private use area, which no text has; what stands between two of them is a citation.
MARKS = "\ue310\ue311"
_MARK = re.compile(f"[{MARKS}]")
MARKED = re.compile(f"{MARKS[0]}([^{MARKS[1]}]*){MARKS[1]}")
# Blanks belong to the citation after them; so many of them, that a long run of blanks is
# neither held back nor read again and again while it grows.
_BLANKS = r"[ \u00a0]{0,16}"
_WITH_BLANKS = re.compile(f"({_BLANKS})" + CITATION.pattern)
# Whatever a citation may begin with, at the end of the text.
_BEGINNING = re.compile(
    _BLANKS + r"(?:[\[【](?:\^|\^?\d[\d ,^\u00a0]{0,160}(?:†[^\]】\n]{0,40})?)?)?\Z"
)


@dataclass
class CitationFilter:
    """Feeds on deltas and lets text through, holding back what may be half a citation.

    `known` may grow between deltas (tools run in the middle of a reply). A number that
    is not in it disappears, together with the blank before it.
    """

    known: Collection[int]
    _held: str = field(default="", init=False)

    def feed(self, delta: str) -> str:
        """Return the text that is certain by now."""
        pending = self._held + delta
        beginning = _BEGINNING.search(pending)
        cut = beginning.start() if beginning else len(pending)
        self._held = pending[cut:]
        return self._checked(pending[:cut])

    def whole(self, text: str) -> str:
        """The same for a text that does not come in pieces."""
        return self.feed(text) + self.close()

    def close(self) -> str:
        """Return what was still held: the end of the text."""
        rest, self._held = self._held, ""
        return self._checked(rest)

    def _checked(self, text: str) -> str:
        return _WITH_BLANKS.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", match.group(2))]
        kept = "".join(f"[{number}]" for number in numbers if number in self.known)
        return match.group(1) + kept if kept else ""


def without_citations(text: str) -> str:
    """A text whose citations lead nowhere; what one says beside its number stays."""
    return CITATION.sub(lambda match: match[0] if "†" in match[0] else "", text)


def mark_citations(markdown: str) -> str:
    """Markdown with each citation between two `MARKS`.

    So they can be made links once it is HTML, where it no longer shows what was a citation and
    what only looks like one: an escaped bracket, or a tag between two brackets.
    """
    bare = _MARK.sub("", markdown)
    return _WRITTEN.sub(lambda match: f"{MARKS[0]}{match[1]}{MARKS[1]}", bare)


def cited_numbers(text: str) -> list[int]:
    """The numbers that a finished text cites, in the order of their first mention."""
    numbers = [int(n) for match in CITATION.finditer(text) for n in re.findall(r"\d+", match[1])]
    return list(dict.fromkeys(numbers))
