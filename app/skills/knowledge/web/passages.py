"""A cited passage inside the section it stands in: found, marked, and shown."""

from __future__ import annotations

import re

from markupsafe import Markup

from app.text.markdown import render_house_text

# Punctuation that nobody types: Markdown treats what stands beside it as beside a quote,
# so that emphasis, lists and tables mean the same with it as without.
_OPEN, _CLOSE = "\u2e4e", "\u2e4f"
_TYPED = str.maketrans({_OPEN: "\ufffd", _CLOSE: "\ufffd"})
# Where a mark may stand at the start of a line without becoming part of its syntax.
_LINE_START = re.compile(r"^(\s*(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+|>\s?|\|\s*)*)")
_FENCE = re.compile(r"\s*(```|~~~)")


def mark_passage(body: str, start: int, end: int) -> Markup:
    """The section's HTML with the characters from `start` to `end` of its Markdown marked.

    Each line is marked on its own, so that lists and tables keep their structure; the
    first mark carries the id `passage`. A range outside the body marks nothing.
    """
    if not 0 <= start < end <= len(body):
        return render_house_text(body)
    body = body.translate(_TYPED)
    middle = "\n".join(_mark_line(line) for line in body[start:end].split("\n"))
    return render_house_text(body[:start] + middle + body[end:], marks=(_OPEN, _CLOSE))


def _mark_line(line: str) -> str:
    # Without a letter or a digit a line is syntax: a rule, an underline, a table's head.
    if _FENCE.match(line) or not any(sign.isalnum() for sign in line):
        return line
    if "|" in line:
        return "|".join(_mark_text(cell) for cell in line.split("|"))
    prefix = _LINE_START.match(line)
    head = prefix.group(1) if prefix else ""
    return head + _mark_text(line[len(head) :])


def _mark_text(text: str) -> str:
    bare = text.strip()
    return text.replace(bare, f"{_OPEN}{bare}{_CLOSE}", 1) if bare else text
