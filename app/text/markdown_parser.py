"""The Markdown parser of this app: CommonMark with tables, whose output is bounded by its input.

Some constructs write much more than is written of them: a table's rows are filled up to the
width of its head, and a reference puts one address into every link that names it. Here a table
that would have too many cells stays plain text, links beyond a total lead nowhere, and lists
and quotes within each other end at a depth, from which on their signs are text.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_core import StateCore, normalize
from markdown_it.rules_core import block as split_into_blocks
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

MOST_COLUMNS = 20
# In all tables of one text together, with those that the parser would fill in.
MOST_CELLS = 1_000
# A list within a list is two levels deeper. Each level is read again for every line in it.
MOST_LEVELS = 10
MOST_QUOTE_LEVELS = 5
# What the addresses and titles of links may come to, for each character of the text.
LINK_GROWTH = 8
# From how many brackets on a text holds no further links: each is looked at up to its end.
MOST_LINKS = 5_000
BlockRule = Callable[[StateBlock, int, int, bool], bool]
InlineRule = Callable[[StateInline, bool], bool]


@cache
def markdown_parser() -> MarkdownIt:
    """The one parser of a process; it keeps nothing of what it has parsed."""
    # html=False: angle brackets are text. Bare addresses stay text too (linkify is off).
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    for cell in ("th_open", "td_open"):
        parser.add_render_rule(cell, _open_cell)
    parser.enable(["table", "strikethrough"])
    rules = parser.block.ruler
    rules.at("table", _table, {"alt": ["paragraph", "reference"]})
    around = ["paragraph", "reference", "blockquote", "list"]
    rules.at("blockquote", _down_to(MOST_QUOTE_LEVELS, blockquote), {"alt": around})
    rules.at("list", _down_to(MOST_LEVELS, list_block), {"alt": around[:3]})
    parser.inline.ruler.at("link", _limited(link, "["))
    parser.inline.ruler.at("image", _limited(image, "!["))
    parser.core.ruler.after("inline", "link_limit", _limit_links)
    return parser


def parse_blocks(text: str) -> list[Token]:
    """The blocks that a text is drawn as; what stands within them is not read."""
    state = StateCore(text, markdown_parser(), {})
    normalize(state)
    split_into_blocks(state)
    return state.tokens


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


def _down_to(levels: int, rule: BlockRule) -> BlockRule:
    """The rule, but not below so many levels: there the text of its block is a paragraph."""

    def bounded(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level < levels and rule(state, start, end, silent)

    return bounded


def _limited(rule: InlineRule, beginning: str) -> InlineRule:
    """The rule, but only for the first so many places of a text where it could begin."""

    def bounded(state: StateInline, silent: bool) -> bool:
        if not state.src.startswith(beginning, state.pos):
            return False
        state.env["links_tried"] = tried = state.env.get("links_tried", 0) + 1
        return tried <= MOST_LINKS and rule(state, silent)

    return bounded


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table, if its cells are within the bounds; else its lines are plain text."""
    env = state.env
    # The lines of a table that was refused are read once: what of it could be another's head
    # is no table either.
    if start < env.get("plain_until", 0) or not table(state, start, end, True):
        return False
    columns = _count_columns(state, start + 1)
    stop = _end_of_table(state, start, end)
    cells = columns * (stop - start - 1)
    left = env.get("cells_left", MOST_CELLS)
    # A table that is written out has a character at least for each cell.
    length = state.eMarks[stop - 1] - state.bMarks[start]
    if columns > MOST_COLUMNS or cells > min(left, length):
        env["plain_until"] = stop
        return False
    if not silent:
        env["cells_left"] = left - cells
    return silent or table(state, start, end, False)


def _count_columns(state: StateBlock, line: int) -> int:
    """The columns of a table, by the line under its head; each is at least one dash."""
    below = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    return sum(1 for each in below.split("|") if each.strip())


def _end_of_table(state: StateBlock, start: int, end: int) -> int:
    """The line behind the last one that can belong to the table that begins at `start`."""
    line = start + 2
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
    return line


def _limit_links(state: StateCore) -> None:
    """Take the addresses away from links and images, once there are too many characters in them."""
    left = LINK_GROWTH * len(state.src)
    for block in state.tokens:
        for token in block.children or ():
            if token.type not in ("link_open", "image"):
                continue
            left -= sum(len(escapeHtml(str(value))) for value in token.attrs.values())
            if left < 0:
                token.attrs = {"src": "", "alt": ""} if token.type == "image" else {}
