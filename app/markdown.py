"""Markdown to safe HTML: parsed by markdown-it, then reduced to an allow-list by nh3.

Model text and manual text both come through here. Images never survive; links leave the
house only where an editor of the house wrote them, never from a model.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache, lru_cache
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

TAGS = {
    "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "hr", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a",
}  # fmt: skip
_MODEL_ATTRIBUTES = {"ol": {"start"}, "th": {"align"}, "td": {"align"}}
_HOUSE_ATTRIBUTES = {**_MODEL_ATTRIBUTES, "a": {"href", "title"}, "mark": {"id"}}
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_GOES_ON = re.compile(r"\s|[-*+|]|\d{1,9}(?:[.)]|\Z)")
_LEADING_HASHES = re.compile(r"^(#{1,6})(?=\s)", re.MULTILINE)
_BLANKS = re.compile(r"[ \t]+")
_ANCHOR = re.compile(r" ?\{#[\w-]+\} ?$", re.MULTILINE)
# Fences, rules, the lines under headings and those between a table's head and its rows.
_DRAWN_LINE = re.compile(r"^ ?(?:(?:`{3,}|~{3,}).*|=+|[|:]* ?(?:[-*_][ |:]*){3,})$", re.MULTILINE)
_LINE_MARK = re.compile(r"^ ?(?:(?:[-*+]|>|#{1,6})(?: |$))+", re.MULTILINE)
_TABLE_EDGE = re.compile(r"^ ?\| ?| ?(?<!\\)\| ?$", re.MULTILINE)
_TABLE_CELL = re.compile(r" ?(?<!\\)\| ?")
# The end of a link, or its beginning, may be missing where a passage was cut.
_LINK = re.compile(
    r"!?\[([^\]\n]{0,400})\](?:\([^)\n]{0,400}\)?|\[[^\]\n]{0,400}\])|\]\([^)\n]{0,400}\)"
)
_BARE_LINK = re.compile(r"<((?:https?|mailto|tel):[^>\s]{1,400})>")
_STRESS = re.compile(r"(?<!\\)(?:`+|~~|(?<=\S)\*+|\*+(?=\S)|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w))")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@cache
def _parser() -> MarkdownIt:
    # html=False: angle brackets are text. Bare addresses stay text too (linkify is off).
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    for cell in ("th_open", "td_open"):
        parser.add_render_rule(cell, _open_cell)
    return parser.enable(["table", "strikethrough"])


def _open_cell(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """A table's cell, aligned by an attribute: the page's policy allows no style in place."""
    token = tokens[index]
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrSet("align", style.removeprefix("text-align:"))
    return renderer.renderToken(tokens, index, options, env)


# A page shows thirty messages, and people come back to it.
@lru_cache(maxsize=512)
def render_model_text(text: str) -> Markup:
    """HTML for what a model said: no links, no images, no headings above level 3."""
    lowered = _LEADING_HASHES.sub(lambda m: "#" * min(6, max(3, len(m[1]) + 1)), text)
    html = _parser().render(lowered)
    clean = nh3.clean(html, tags=TAGS - {"a"}, attributes=_MODEL_ATTRIBUTES, link_rel=None)
    return Markup(clean)  # noqa: S704 - just cleaned


def render_house_text(text: str, marks: tuple[str, str] | None = None) -> Markup:
    """HTML for a manual section: like a model's, with links that people may follow.

    What stands between the two signs of `marks` is marked; the first mark has the id
    `passage`. It is drawn before the sanitiser, which mends marks across other elements.
    """
    html = _parser().render(text)
    if marks:
        opening, closing = marks
        html = html.replace(opening, '<mark id="passage">', 1)
        html = html.replace(opening, "<mark>").replace(closing, "</mark>")
    clean = nh3.clean(
        html,
        tags=TAGS | {"mark"},
        attributes=_HOUSE_ATTRIBUTES,
        url_schemes={"http", "https", "mailto", "tel"},
        link_rel="noopener noreferrer",
    )
    return Markup(clean)  # noqa: S704 - just cleaned


def plain_line(markdown: str) -> str:
    """What a reader sees of a piece of Markdown, in one line, wherever it was cut out.

    A passage may begin and end within a table or a link, where a parser would take their
    signs for words.
    """
    text = _ANCHOR.sub("", _BLANKS.sub(" ", markdown))
    text = _LINE_MARK.sub("", _DRAWN_LINE.sub("", text))
    text = _TABLE_CELL.sub(" · ", _TABLE_EDGE.sub("", text))
    text = _BARE_LINK.sub(r"\1", _LINK.sub(lambda link: link[1] or "", text))
    return " ".join(_ESCAPED.sub(r"\1", _STRESS.sub("", text)).split())


def split_blocks(text: str) -> tuple[list[str], str]:
    """The finished Markdown blocks of a text that is still growing, and its unfinished end.

    A block is finished when a blank line follows it outside a code fence and what follows
    has begun at the margin (a list or a table may go on after a blank line). A block that
    was finished once stays so, whatever is added to the text.
    """
    blocks: list[str] = []
    current: list[str] = []
    fence = ""
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        fence = _fence_after(line, fence)
        current.append(line)
        closes = not fence and not line.strip() and _starts_block(following)
        if closes and any(part.strip() for part in current):
            blocks.append("\n".join(current))
            current = []
    return blocks, "\n".join(current)


def _fence_after(line: str, fence: str) -> str:
    """The code fence that is open after this line, when `fence` was open before it."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not line[match.end() :].strip()
    return "" if closes else fence


def _starts_block(line: str) -> bool:
    """True for a line that begins a block of its own rather than going on with a list.

    A number alone may become the number of a list's item, and decides nothing yet.
    """
    return bool(line.strip()) and not _GOES_ON.match(line)
