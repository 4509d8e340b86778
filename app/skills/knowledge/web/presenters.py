"""What the templates of the manual are given: a section and its text, and the links of the tree.

In the text each paragraph, heading and item has an address, and a cited passage its mark. An
address is made from the words themselves, so that it stays while they do, whatever is written
before or after them. A passage is marked in the section's Markdown, before that is rendered.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flask import url_for
from flask_babel import gettext as _
from markupsafe import Markup

from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.manual_tree import Branch
from app.text.bilingual import reader_language
from app.text.markdown import render_library_text
from app.text.normalize import words

# What `app.text.markdown` lets through that holds running text. A list's item ends, as far as its
# own words go, where a list below it begins.
_BLOCK = re.compile(r"<(p|h[1-6]|li)>")
_EDGE = re.compile(r"</?(?:p|h[1-6]|li|ul|ol|table|blockquote|pre)\b")
_HEADING = re.compile(r"h[1-6]")
LONG_HEADINGS = 3
# The longest have a megabyte with their addresses.
KEPT_TEXTS = 16
# The longest section of the demo has some eighty.
MOST_ANCHORS = 2_000
# Punctuation that nobody types: Markdown treats what stands beside it as beside a quote,
# so that emphasis, lists and tables mean the same with it as without.
_OPEN, _CLOSE = "\u2e4e", "\u2e4f"
_TYPED = str.maketrans({_OPEN: "\ufffd", _CLOSE: "\ufffd"})
# Where a mark may stand at the start of a line without becoming part of its syntax.
_LINE_START = re.compile(r"^(\s*(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+|>\s?|\|\s*)*)")
_FENCE = re.compile(r"\s*(```|~~~)")


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


@lru_cache(maxsize=KEPT_TEXTS)
def anchor_blocks(html: Markup, label: str) -> AnchoredText:
    """Give each block of safe HTML an id, and a link sign called `label` that leads to it.

    The first `MOST_ANCHORS` of them: a text of 200,000 signs may have a block for each three.
    """
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

    anchored = _BLOCK.sub(with_anchor, html, count=MOST_ANCHORS)
    return AnchoredText(Markup(anchored), headings)  # noqa: S704 - safe before, and ids of our own


def _anchor(said: str, used: Counter[str]) -> str:
    folded = " ".join(words(said))
    anchor = "t-" + hashlib.sha256(folded.encode()).hexdigest()[:10]
    used[anchor] += 1
    return anchor if used[anchor] == 1 else f"{anchor}-{used[anchor]}"


def mark_passage(body: str, start: int, end: int) -> Markup:
    """The section's HTML with the characters from `start` to `end` of its Markdown marked.

    Each line is marked on its own, so that lists and tables keep their structure; the
    first mark carries the id `passage`. A range outside the body marks nothing.
    """
    if not 0 <= start < end <= len(body):
        return render_library_text(body)
    body = body.translate(_TYPED)
    middle = "\n".join(_mark_line(line) for line in body[start:end].split("\n"))
    return render_library_text(body[:start] + middle + body[end:], marks=(_OPEN, _CLOSE))


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


def view_section(
    found: ManualSection, cited: SearchDocument | None, language: str
) -> dict[str, Any]:
    """A section for those who read it, with the passage that a citation led to."""
    body = found.body(language)
    if cited is None:
        html = render_library_text(body)
    else:
        html = mark_passage(body, cited.details["start"], cited.details["end"])
    anchored = anchor_blocks(html, _("Link to this place"))
    return {
        "title": found.title(language),
        "html": anchored.html,
        "headings": anchored.headings if anchored.is_long else (),
        "kind": found.kind,
        "slug": found.slug,
        "language": language,
        "updated_at": found.updated_at,
        "version": found.version,
    }


def view_edited_section(section: ManualSection) -> dict[str, Any]:
    """A section for those who look at its versions."""
    language = reader_language()
    return {
        "title": section.title(language) or section.slug,
        "slug": section.slug,
        "version": section.version,
        "is_published": section.is_published,
        "updated_at": section.updated_at,
        "language": language,
    }


def language_note(found: ManualSection, language: str) -> str:
    """Says so when the text is not in the language that the reader asked for."""
    own = found.body_es if language == "es" else found.body_en
    other = found.body_en if language == "es" else found.body_es
    if own.strip() or not other.strip():
        return ""
    if language == "es":
        return _("This section exists in English only.")
    return _("This section exists in Spanish only.")


def link_to(found: Any) -> dict[str, str]:
    """Where a section of the tree is, in the reader's language."""
    address = url_for("knowledge.section", slug=found.slug)
    return {"slug": found.slug, "title": found.title(reader_language()), "url": address}


def view_branch(branch: Branch) -> dict[str, Any]:
    """The links of a branch; `later` and `earlier` are where the rest of a long one begins."""
    return {
        "links": [{**link_to(link), "below": link.below} for link in branch.links],
        "earlier": max(branch.first - branch.size, 0) if branch.first else None,
        "later": branch.first + branch.size if branch.more else None,
    }
