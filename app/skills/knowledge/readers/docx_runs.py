"""The words of a Word paragraph with their emphasis: added ones, without deleted ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from docx.oxml.ns import qn

from app.skills.knowledge.readers.markup import escape_text

# Text boxes are drawn twice, for old programs too; what was deleted is there no more.
_NOT_READ = frozenset(
    (qn("w:del"), qn("w:moveFrom"), qn("w:pict"), qn("w:drawing"), qn("w:txbxContent"),
     "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent")
)  # fmt: skip
_BREAKS = {qn("w:tab"): " ", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_OFF = ("0", "false", "none", "off")


def plain_text(paragraph: Any) -> str:
    return "".join(text for text, *_ in _runs(paragraph))


def inline_markdown(paragraph: Any) -> str:
    """The paragraph as Markdown, neighbouring words of one emphasis put together."""
    parts = []
    for (bold, italic), runs in groupby(_runs(paragraph), key=lambda run: run[1:]):
        parts.append(_emphasised("".join(text for text, *_ in runs), bold, italic))
    return "  \n".join(line.strip() for line in "".join(parts).split("\n") if line.strip())


def _emphasised(text: str, bold: bool, italic: bool) -> str:
    mark = "*" * (2 * bold + italic)
    words = text.strip()
    escaped = escape_text(text)
    # Emphasis over a break of lines, or over signs alone, would not be read as such.
    if not mark or "\n" in words or not any(sign.isalnum() for sign in words):
        return escaped
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{escape_text(words)}{mark}{after}"


def _runs(element: Any) -> Iterator[tuple[str, bool, bool]]:
    """Text, bold and italic of each run, in links and additions too."""
    for child in element:
        if child.tag == qn("w:r"):
            yield _text(child), _is_on(child, "w:b"), _is_on(child, "w:i")
        elif child.tag not in _NOT_READ:
            yield from _runs(child)


def _text(run: Any) -> str:
    if _is_on(run, "w:vanish"):
        return ""
    parts = []
    for child in run:
        if child.tag == qn("w:t"):
            parts.append(child.text or "")
        elif child.tag in _BREAKS:
            parts.append(_BREAKS[child.tag])
    return "".join(parts)


def _is_on(run: Any, name: str) -> bool:
    switch = run.find(f"{qn('w:rPr')}/{qn(name)}")
    return switch is not None and str(switch.get(qn("w:val"), "1")).lower() not in _OFF
