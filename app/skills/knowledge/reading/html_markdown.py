"""An HTML element as Markdown, with marks where its headings stand."""

from __future__ import annotations

import json
import re
from typing import Any

import markdownify
from bs4 import Tag

from app.skills.knowledge.reading.markup import code_block, escape_start

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
    """Markdown as this house shows it: see what each method changes."""

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
        if tag_name[:1] == "h" and tag_name[1:].isdigit() and tag_name not in _HEADINGS:
            return None
        return super().get_conv_fn(tag_name)


_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
