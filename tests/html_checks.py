"""Looks at HTML the way a browser does: what elements and attributes are really there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

# These never have an end tag, so they hold nothing.
VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr use path circle".split()
)


@dataclass
class Element:
    """An element with its attributes, its place in the tree, and the text inside."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    contents: list[Element | str] = field(default_factory=list)

    @property
    def children(self) -> list[Element]:
        return [each for each in self.contents if isinstance(each, Element)]

    def __iter__(self) -> Iterator[Element]:
        """This element and all below, in the order of the document."""
        waiting: list[Element | str] = [self]
        while waiting:
            element = waiting.pop()
            if isinstance(element, Element):
                yield element
                waiting += element.contents[::-1]

    @property
    def text(self) -> str:
        """The words inside, with single blanks between them."""
        return " ".join("".join(self._all_texts()).split())

    def _all_texts(self) -> Iterator[str]:
        for each in self.contents:
            if isinstance(each, str):
                yield each
            else:
                yield from each._all_texts()

    def find_all(self, tag: str, **attributes: str) -> list[Element]:
        """The elements below with that tag and those attributes (class_ for class)."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            element
            for element in self
            if element.tag == tag
            and all(element.attributes.get(name) == value for name, value in wanted.items())
        ]

    def find(self, tag: str, **attributes: str) -> Element:
        """The one element below that is so; fails when there is none or several."""
        found = self.find_all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} × <{tag} {attributes}>"
        return found[0]

    def has_class(self, name: str) -> bool:
        return name in self.attributes.get("class", "").split()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("#document", {})
        self.open = self.root
        self.others: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _value in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs}, self.open)
        self.open.contents.append(element)
        if tag not in VOID:
            self.open = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        element: Element | None = self.open
        while element is not None and element.tag != tag:
            element = element.parent
        assert element is not None and element.parent is not None, f"stray </{tag}>"
        self.open = element.parent

    def handle_data(self, data: str) -> None:
        self.open.contents.append(data)

    def handle_comment(self, data: str) -> None:
        self.others.append(f"<!--{data}-->")

    def handle_pi(self, data: str) -> None:
        self.others.append(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.others.append(f"<![{data}>")


def parse_html(html: str) -> Element:
    """The document as a tree; comments and the like are not allowed in it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert not reader.others, f"there is {reader.others[0]!r} in it"
    return reader.root
