"""An HTML element as Markdown, with marks where its headings stand."""

from __future__ import annotations

import json
import re
from typing import Any

import markdownify
from bs4 import Tag

from app.skills.knowledge.readers.markup import code_block, escape_start

# Stands at the start of a heading's line; it is no letter, and is taken out of texts.
MARK = "\ufdd0"
# What the library says of its types leaves out the methods that are there to be replaced.
_Base: Any = markdownify.MarkdownConverter
_LINKED = ("http://", "https://", "mailto:", "tel:")


def to_markdown(element: Tag) -> str:
    """The element's Markdown; a line `MARK + JSON` of level, title and name is a heading."""
    text: str = _Converter(
        bullets="-", escape_underscores=False, strip_document=None, table_infer_header=True
    ).process_tag(element)
    return text


class _Converter(_Base):
    """Markdown as Comanda shows it: see what each method changes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._places: dict[int, int] = {}  # of the items of numbered lists, by their identity

    def process_text(self, el: Any, parent_tags: set[str] | None = None) -> str:
        text: str = super().process_text(el, parent_tags)
        return text.replace(MARK, "")

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802
        """A heading opens a section, unless it stands within something."""
        title = el.get_text(" ", strip=True)
        if not title:
            return ""
        within = {"table", "li", "blockquote", "td", "th", "dd", "_inline"} & parent_tags
        if within:
            return f"\n\n**{text.strip()}**\n\n" if "_inline" not in within else text
        level = int(str(el.get("data-level") or n))
        mark = json.dumps([level, title, str(el.get("data-name") or "")])
        return f"\n\n{MARK}{mark}\n\n"

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Addresses outside stay links; the library's pages have addresses of their own."""
        if not str(el.get("href", "")).lower().startswith(_LINKED) or el.find("code"):
            return text
        el.attrs.pop("title", None)
        linked: str = super().convert_a(el, text, parent_tags)
        return linked

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

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item of a numbered list has its number, without counting all before it again."""
        around = el.parent
        if around is None or around.name != "ol" or not text.strip():
            item: str = super().convert_li(el, text, parent_tags)
            return item
        given = str(around.get("start") or "")
        start = int(given) if given.isdecimal() and len(given) < 10 else 1
        bullet = f"{start + self._place_of(el, around)}. "
        lines = text.strip().split("\n")
        below = [" " * len(bullet) + line if line else "" for line in lines[1:]]
        return "\n".join([bullet + lines[0], *below]) + "\n"

    def _place_of(self, item: Tag, around: Tag) -> int:
        """How many items of the list stand before it."""
        if id(item) not in self._places:
            items = [each for each in around.children if isinstance(each, Tag)]
            named = [each for each in items if each.name == "li"]
            self._places |= {id(each): place for place, each in enumerate(named)}
        return self._places[id(item)]

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Only a table's first row has the line of a head below it, or an empty head above."""
        around = el.parent
        is_first = el.find_previous_sibling() is None
        if is_first and around is not None and around.name == "tbody":
            is_first = around.find_previous_sibling("tbody") is None
        if not is_first:
            return f"|{text}\n"
        row: str = super().convert_tr(el, text, parent_tags)
        return row

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        cell: str = super().convert_td(el, text.replace("|", "\\|"), parent_tags)
        return cell

    def convert_th(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        cell: str = super().convert_th(el, text.replace("|", "\\|"), parent_tags)
        return cell

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return ""

    def convert_hr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "\n\n"

    def get_conv_fn(self, tag_name: str) -> Any:
        """Only real headings are: `<h7>`, or `<h99999999999>`, are not."""
        if tag_name[:1] == "h" and tag_name[1:].isdecimal() and tag_name not in _HEADINGS:
            return None
        return super().get_conv_fn(tag_name)


_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
