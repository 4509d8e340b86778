"""An HTML element as Markdown, with marks where its headings stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import markdownify
from bs4 import Tag

from app.skills.knowledge.readers.html_inline import INLINE
from app.skills.knowledge.readers.markup import code_block, escape_start, table
from app.skills.knowledge.readers.omissions import uneven_table
from app.skills.knowledge.readers.result import FileProblem
from app.skills.knowledge.readers.superscripts import settle
from app.skills.knowledge.readers.table_grid import (
    MOST_COLUMNS,
    MOST_ROWS,
    Cell,
    Row,
    count_signs,
    lay_out,
    read_span,
)

# Stands at the start of a heading's line; it is no letter, and is taken out of texts.
MARK = "\ufdd0"
# What the library says of its types leaves out the methods that are there to be replaced.
_Base: Any = markdownify.MarkdownConverter
# A heading in these opens no section.
_HOLDS_TEXT = frozenset(("table", "li", "blockquote", "td", "th", "dt", "dd", "pre", "_inline"))
_LINKED = ("http://", "https://", "mailto:", "tel:")
_CELLS = ("td", "th")


def to_markdown(element: Tag) -> tuple[str, list[FileProblem]]:
    """The element's Markdown, and a problem for each table whose rows are not of one width.

    A line `MARK + JSON` of level, title and name is a heading.
    """
    converter = _Converter(bullets="-", escape_underscores=False, strip_document=None)
    text: str = settle(converter.process_tag(element))
    return text, converter.problems


class _Converter(_Base):
    """Markdown as Comanda shows it: see what each method changes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._numbers: dict[int, int] = {}  # of the items of numbered lists, by their identity
        self._cells: dict[int, str] = {}  # the texts of cells, by their identity
        self._signs = 0  # of all tables
        self.problems: list[FileProblem] = []

    def process_text(self, el: Any, parent_tags: set[str] | None = None) -> str:
        text: str = super().process_text(el, parent_tags)
        return text.replace(MARK, "")

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802
        """A heading opens a section, unless it stands within something."""
        title = settle(el.get_text(" ", strip=True))
        if not title:
            return ""
        within = _HOLDS_TEXT & parent_tags
        if within:
            return f"\n\n**{text.strip()}**\n\n" if "_inline" not in within else f" {text} "
        level = int(str(el.get("data-level") or n))
        mark = json.dumps([level, title, str(el.get("data-name") or "")])
        return f"\n\n{MARK}{mark}\n\n"

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Addresses outside stay links; the library's pages have addresses of their own."""
        words = text.strip()
        if not str(el.get("href", "")).lower().startswith(_LINKED) or el.find("code"):
            return text
        if not words or "\n\n" in words or MARK in words:
            return text  # no link goes around several blocks
        el.attrs.pop("title", None)
        linked: str = super().convert_a(el, words, parent_tags)
        before, _, after = text.partition(words)
        return f"{before}{linked}{after}"

    def convert_p(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        shown: str = super().convert_p(el, escape_start(text.strip()), parent_tags)
        return shown

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if "_inline" in parent_tags:
            return f" `{' '.join(text.split())}` " if text.strip() else ""
        return f"\n\n{code_block(text.strip(chr(10)))}\n\n" if text.strip() else ""

    def convert_blockquote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = re.sub(r"\n{3,}", "\n\n", text)
        quoted: str = super().convert_blockquote(el, text, parent_tags)
        return quoted

    def convert_dt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A term stands in bold above what it means: Markdown has no such lists."""
        term = " ".join(text.split())
        return f"\n\n**{term.replace('**', '')}**\n\n" if term else ""

    def convert_dd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n\n{text.strip()}\n\n"

    def convert_block(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """What is not known to stand within a line ends it, be it empty."""
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        return f"\n\n{text.strip()}\n\n" if text.strip() else _parting(el)

    convert_div = convert_article = convert_section = convert_dl = convert_block
    convert_caption = convert_figcaption = convert_video = convert_block

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A list ends where it ends: what an item says below one is not its last item."""
        items = text.strip("\n").rstrip()
        if not items:
            return _parting(el)
        is_within = "li" in parent_tags
        return f"\n{items}\n{_parting_after(el)}" if is_within else f"\n\n{items}\n\n"

    convert_ul = convert_ol = convert_menu = convert_dir = convert_list

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item of a numbered list has its number, without counting all before it again."""
        around = el.parent
        if not text.strip():
            return "\n"
        is_numbered = around is not None and around.name == "ol"
        bullet = f"{self._number_of(el, around)}. " if around and is_numbered else "- "
        lines = text.strip().split("\n")
        below = [" " * len(bullet) + line if line else "" for line in lines[1:]]
        return "\n" + "\n".join([bullet + lines[0], *below]) + "\n"

    def _number_of(self, item: Tag, around: Tag) -> int:
        """The item's number in its list, which may give numbers of its own."""
        if id(item) not in self._numbers:
            items = [each for each in around.children if isinstance(each, Tag)]
            named = [each for each in items if each.name == "li"]
            is_reversed = around.has_attr("reversed")
            next_number = _number(around.get("start"), len(named) if is_reversed else 1)
            for each in named:
                self._numbers[id(each)] = _number(each.get("value"), next_number)
                next_number = self._numbers[id(each)] + (-1 if is_reversed else 1)
        return max(0, self._numbers[id(item)])

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """The cells on one grid, below the caption and whatever else stands in no cell."""
        groups: dict[int, list[Row]] = {}
        for group, cells in _rows(el):
            groups.setdefault(group, []).append([self._cell(cell) for cell in cells])
        laid_out = lay_out([*groups.values()])
        self._signs = count_signs(laid_out.rows, self._signs)
        if not laid_out.is_even:
            self.problems.append(uneven_table(next(filter(any, laid_out.rows), [])))
        if "_inline" in parent_tags:
            # A table within a cell can but be that cell's words.
            rows = [" | ".join(" ".join(each.split()) for each in row) for row in laid_out.rows]
            return f" {text.strip()} {'; '.join(rows)} "
        return f"\n\n{text.strip()}\n\n{table(laid_out.rows)}\n\n"

    def _cell(self, cell: Tag) -> Cell:
        columns = read_span(str(cell.get("colspan") or ""), 1, MOST_COLUMNS)
        rows = read_span(str(cell.get("rowspan") or ""), 0, MOST_ROWS)
        return Cell(self._cells.pop(id(cell), ""), columns, rows)

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f" {text.strip()} " if text.strip() else ""

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Its table writes it, where it stands in one."""
        around = el.find_parent(["table", *_CELLS])
        if around is None or around.name != "table":
            return f" {text.strip()} "
        self._cells[id(el)] = text.strip()
        return ""

    convert_th = convert_td

    def convert_strike(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        struck: str = super().convert_del(el, text, parent_tags)
        return struck

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return ""

    def convert_hr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "\n\n"

    def get_conv_fn(self, tag_name: str) -> Any:
        """Only real headings are: `<h7>`, or `<h99999999999>`, are not."""
        if tag_name[:1] == "h" and tag_name[1:].isdecimal() and tag_name not in _HEADINGS:
            return self.convert_block
        known = super().get_conv_fn(tag_name)
        return self.convert_block if known is None and tag_name not in INLINE else known


def _number(given: object, default: int) -> int:
    text = str(given or "").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else default


def _parting(el: Tag) -> str:
    """What an empty block leaves behind the words of a line."""
    before = el.previous_sibling
    is_block = isinstance(before, Tag) and before.name not in INLINE
    return "" if before is None or is_block or not before.get_text(strip=True) else "\n\n"


def _parting_after(el: Tag) -> str:
    """A blank line, where something other than a list follows."""
    after = el.next_sibling
    while after is not None and not isinstance(after, Tag) and not str(after).strip():
        after = after.next_sibling
    is_list = isinstance(after, Tag) and after.name in ("ul", "ol", "menu", "dir")
    return "" if after is None or is_list else "\n"


def _rows(parent: Tag) -> Iterator[tuple[int, list[Tag]]]:
    """The cells of each row of a table, not of those within it, and the row's group."""
    for child in parent.children:
        if not isinstance(child, Tag) or child.name == "table":
            continue
        if child.name == "tr":
            yield id(parent), [*_cells(child)]
        elif child.name in _CELLS:
            yield id(parent), [child]
        else:
            yield from _rows(child)


def _cells(row: Tag) -> Iterator[Tag]:
    for child in row.children:
        if not isinstance(child, Tag) or child.name == "table":
            continue
        if child.name in _CELLS:
            yield child
        else:
            yield from _cells(child)


_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
