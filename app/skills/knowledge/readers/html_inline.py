"""What elements within a line do to the words in them: strike out, raise, lower, part.

An element that is not known to stand within a line ends it, as browsers show most of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement

from app.skills.knowledge.readers.html_furniture import classes_of, remove, text_of
from app.skills.knowledge.readers.stylesheet import StyleSheet, declarations
from app.skills.knowledge.readers.superscripts import END, LOWERED, RAISED, fraction

INLINE = frozenset(
    "a abbr acronym b basefont bdi bdo big blink cite code data del dfn em font i img ins kbd"
    " mark math meter nobr output picture progress q rb rp rt rtc ruby s samp slot small span"
    " strike strong sub sup svg time tt u var wbr".split()
)
STRUCK = ("s", "del", "strike")
# Their effect is carried to the words of the blocks within them.
_CARRIED = frozenset(("b", "strong", "i", "em", *STRUCK))
_SHOWN_AS_BLOCK = ("block", "table", "flex", "grid", "list-item", "flow-root")
_RAISED = ("sup", "sub", "rt")
# Markdown has a sign for these, which cannot stand around several lines.
_SIGNED = _CARRIED | {"code", "kbd", "samp", "q", "sub", "sup"}
_ALIGNED = {"super": RAISED, "sub": LOWERED}
_POWERS = {"msup": (RAISED,), "msub": (LOWERED,), "msubsup": (LOWERED, RAISED)}
_POWERS |= {"mover": (RAISED,), "munder": (LOWERED,), "munderover": (LOWERED, RAISED)}


def apply_styles(soup: BeautifulSoup, body: Tag, sheet: StyleSheet) -> None:
    """Hide, strike out, raise and lower what the page's styles do, by elements that say so."""
    struck: set[int] = set()
    for element in body.find_all(True):
        own = declarations(str(element.get("style") or ""))
        said = {
            name: own.get(name) or sheet.value(element.name, classes_of(element), name)
            for name in ("display", "text-decoration", "vertical-align")
        }
        if said["display"] == "none":
            element["hidden"] = ""
        if element.name in INLINE and said["display"].startswith(_SHOWN_AS_BLOCK):
            _part(element, said["display"])
        if "line-through" in said["text-decoration"] and element.name not in STRUCK:
            struck.add(id(element))
        sign = _ALIGNED.get(said["vertical-align"])
        if sign and element.name in INLINE and element.name not in _RAISED:
            _mark(element, sign)
    _mark_raised(body)
    _carry(soup, body, struck)


def _part(element: Tag, display: str) -> None:
    """What is shown as a block, or a cell, runs into nothing beside it."""
    if element.name == "span" and display != "table-cell":
        element.name = "div"
        return
    element.insert(0, NavigableString(" "))
    element.append(NavigableString(" "))


def _mark_raised(body: Tag) -> None:
    """Mark what is raised and lowered, and write fractions and powers of MathML as text."""
    remove(body.find_all(["annotation", "annotation-xml", "rp"]))
    for element in body.find_all(_RAISED):
        _mark(element, LOWERED if element.name == "sub" else RAISED)
    # The innermost first: what it becomes is a part of those around it.
    for element in reversed(body.find_all(["mfrac", *_POWERS])):
        parts = [child for child in element.children if isinstance(child, Tag)]
        if element.name == "mfrac" and len(parts) == 2:
            written = fraction(*(part.get_text().strip() for part in parts))
            element.clear()
            element.append(NavigableString(written))
        for part, sign in zip(parts[1:], _POWERS.get(element.name, ()), strict=False):
            _mark(part, sign)
    for math in body.find_all("math"):
        for each in math.find_all(True):
            each.name = "div" if each.name == "mtr" else "span"


def _mark(element: Tag, sign: str) -> None:
    element.insert(0, NavigableString(sign))
    element.append(NavigableString(END))


def _carry(soup: BeautifulSoup, body: Tag, struck: set[int]) -> None:
    """Put emphasis, and striking out, around the words within each block, not around blocks."""
    blocks = _around_blocks(body)
    carried: dict[int, tuple[str, ...]] = {}
    for element in [body, *body.find_all(True)]:
        names = carried.pop(id(element), ())
        if id(element) in struck:
            names = (*names, "s")
        if id(element) in blocks and element.name in _SIGNED:
            if element.name in _CARRIED:
                names = (*names, element.name)
            element.name = "span"
        if names:
            _wrap_runs(soup, element, tuple(dict.fromkeys(names)), blocks, carried)


def _around_blocks(body: Tag) -> set[int]:
    """The identities of all blocks, and of what they stand in."""
    found: set[int] = set()
    for element in body.find_all(True):
        above: Tag | None = element
        while element.name not in INLINE and above is not None and id(above) not in found:
            found.add(id(above))
            above = above.parent
    return found


def _wrap_runs(
    soup: BeautifulSoup,
    parent: Tag,
    names: tuple[str, ...],
    blocks: set[int],
    carried: dict[int, tuple[str, ...]],
) -> None:
    """Wrap what stands in one line; `carried` to what is a block, or holds one."""
    children = list(parent.contents)
    remove(children)
    for is_block, run in groupby(children, key=lambda each: id(each) in blocks):
        if is_block:
            together = list(run)
            carried.update({id(each): names for each in together})
            parent.extend(together)
        else:
            parent.extend(_wrapped(soup, list(run), names))


def _wrapped(
    soup: BeautifulSoup, run: list[PageElement], names: Iterable[str]
) -> Iterator[PageElement]:
    if not any(each.get_text(strip=True) for each in run):
        yield from run
        return
    for name in names:
        same = STRUCK if name in STRUCK else (name,)
        tags = [each for each in run if isinstance(each, Tag)]
        for inner in (found for tag in tags for found in [tag, *tag.find_all(same)]):
            inner.name = "span" if inner.name in same else inner.name
        around = soup.new_tag(name)
        around.extend(run)
        run = [around]
    yield from run


def strike_title(heading: Tag) -> None:
    """A title is no Markdown, but has to say as well what is not valid any more."""
    for struck in heading.find_all(STRUCK):
        struck.name, struck.string = "span", f"~~{text_of(struck)}~~"
