"""What a page carries to be walked through, not to be read, is taken out of it.

Navigation goes without a word. Whatever else goes is told; what names an allergen or warns
stays (`omissions.must_be_kept`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement

from app.skills.knowledge.readers.omissions import must_be_kept, says_nothing
from app.text.normalize import words

HEADINGS = re.compile(r"^h[1-6]$")
# These have no text, or one that is written for programs.
_WORDLESS = (
    "script", "style", "template", "img", "input", "link", "meta", "base", "map", "source", "track",
)  # fmt: skip
_CONTROLS = ("button", "select", "textarea")
# What is within these is shown by programs that cannot show the thing itself.
_INSTEAD = ("noscript", "iframe", "object", "embed", "canvas", "audio", "video")
_NAVIGATION = frozenset(
    "navheader navfooter navbar navigation breadcrumb breadcrumbs toc headerlink list-of-tables"
    " list-of-figures list-of-examples sphinxsidebar skip-link".split()
)
_NAVIGATION_ROLES = frozenset(("navigation", "search"))
# These may hold links alone, or as well something to read.
_BESIDE = frozenset(("menu", "sidebar", "related", "noprint"))
_BESIDE_TAGS = ("header", "footer", "aside")
_BESIDE_ROLES = frozenset(("menu", "banner", "contentinfo"))
_TABLE = ("table", "thead", "tbody", "tfoot", "tr", "td", "th")
_FILE_NAME = re.compile(r"^\S+\.(?:png|jpe?g|gif|svg|webp|bmp|ico)$", re.IGNORECASE)
_NAMED_ICONS = ("i", "span", "td", "th")
# More words than these are no name of a restaurant above a page.
FEW_WORDS = 12


class _Fate(Enum):
    KEPT = "kept"
    GONE = "gone"
    TOLD = "gone, and told"


def take_out_furniture(soup: BeautifulSoup) -> tuple[Tag, list[str]]:
    """The part of the page that is its text, and the words that were left out of it."""
    body = soup.body or soup
    _write_pictures(body)
    remove(body.find_all(_WORDLESS))
    gone, left_out = _furniture(body)
    remove(gone)
    links = [each for each in body.select("header a") if not each.find_parent([HEADINGS, "p"])]
    remove(link for link in links if not must_be_kept(text_of(link)))
    main = _main(body)
    if main is not body:
        left_out += _gather(body, main)
    return main, left_out


def _furniture(body: Tag) -> tuple[list[Tag], list[str]]:
    """The elements to be taken out, none of them within another, and the words to be told."""
    gone: list[Tag] = []
    left_out: list[str] = []
    within: set[int] = set()
    for element in body.find_all(True):
        if id(element.parent) in within:
            within.add(id(element))
            continue
        fate = _fate(element)
        if fate is _Fate.KEPT:
            _show(element)
            continue
        gone.append(element)
        within.add(id(element))
        if fate is _Fate.TOLD:
            left_out.append(text_of(element))
    return gone, left_out


def _show(element: Tag) -> None:
    """What is kept of a control, or instead of a film, is a text as others are."""
    if element.name in _CONTROLS or element.name in _INSTEAD:
        element.name = "div"


def remove(elements: Iterable[PageElement]) -> None:
    """Take elements out of the tree, those of one parent together.

    The library looks for each among its siblings, and moves those after it: of thousands that
    would take minutes.
    """
    children: dict[int, list[PageElement]] = {}
    for element in elements:
        if element.parent is not None:
            children.setdefault(id(element.parent), []).append(element)
    for together in children.values():
        parent, gone = together[0].parent, {id(each) for each in together}
        assert parent is not None
        kept = [each for each in parent.contents if id(each) not in gone]
        for element in together:
            parent.contents = [element]
            element.extract(_self_index=0)
        parent.contents = kept


def text_of(element: Tag) -> str:
    return element.get_text(" ", strip=True)


def classes_of(element: Tag) -> list[str]:
    classes = element.get("class")
    return classes.split() if isinstance(classes, str) else list(classes or ())


def _write_pictures(body: Tag) -> None:
    """Where a picture has words, these stand for it; what is ticked, and what is not, is a sign.

    A menu's table may say "contains" by a picture alone.
    """
    for element in body.find_all(_is_picture):
        if element.name == "input":
            said = "☑" if element.has_attr("checked") else "☐"
        else:
            said = _words_of_picture(element)
        if said or element.name == "svg":
            element.clear()
            element.append(NavigableString(f" {said} "))
            element["data-picture"] = ""
            if element.name not in ("td", "th"):
                element.name = "span"
    for element in body.find_all("picture"):
        element.name = "span"


def _is_picture(element: Tag) -> bool:
    if element.name in ("img", "svg") or element.get("role") == "img":
        return True
    if element.name == "input":
        # Elsewhere it is but how a page opens its navigation.
        is_tick = element.get("type") in ("checkbox", "radio")
        return is_tick and element.find_parent(["td", "th", "li"]) is not None
    has_words = element.name in _NAMED_ICONS and (element.get("aria-label") or element.get("title"))
    return bool(has_words) and element.find(True) is None and not element.get_text(strip=True)


def _words_of_picture(element: Tag) -> str:
    for name in ("alt", "aria-label", "title"):
        said = " ".join(str(element.get(name) or "").split())
        if said:
            return "" if _FILE_NAME.match(said) else said
    return text_of(element)


def _fate(element: Tag) -> _Fate:
    """Whether the element stays."""
    is_hidden = element.get("hidden") not in (None, "until-found")
    if is_hidden and element.get("role") != "tabpanel":
        # What the page shows to nobody is no part of it.
        return _Fate.TOLD
    if element.name in _TABLE and element.name != "table":
        return _Fate.KEPT  # without it, the others of its row would move
    role, classes = str(element.get("role") or ""), set(classes_of(element))
    if element.name == "nav" or role in _NAVIGATION_ROLES or _NAVIGATION & classes:
        return _fate_of_navigation(element)
    if element.name in _BESIDE_TAGS or role in _BESIDE_ROLES or _BESIDE & classes:
        return _fate_beside(element, is_header="header" in (element.name, role) or role == "banner")
    if element.get("aria-hidden") == "true":
        return _fate_of_ornament(element)
    if element.name in _CONTROLS and element.find_parent([HEADINGS, "summary", "dt"]) is None:
        return _Fate.KEPT if must_be_kept(text_of(element)) else _Fate.TOLD
    if element.name in _INSTEAD:
        return _Fate.KEPT if must_be_kept(text_of(element)) else _Fate.TOLD
    return _Fate.KEPT


def _fate_of_navigation(element: Tag) -> _Fate:
    """Names of chapters may name allergens: only what stands in no link is looked at."""
    own = _own_words(element)
    if must_be_kept(own):
        return _Fate.KEPT
    return _Fate.GONE if len(words(own)) <= FEW_WORDS else _Fate.TOLD


def _fate_beside(element: Tag, *, is_header: bool) -> _Fate:
    """A header may hold the chapter's title, and a box or a foot what has to be known."""
    is_titled = element.name in _BESIDE_TAGS and element.find(HEADINGS) is not None
    if is_titled or must_be_kept(text_of(element)):
        return _Fate.KEPT
    own = _own_words(element)
    if not words(own):
        return _Fate.GONE
    is_short = is_header and len(words(own)) <= FEW_WORDS
    return _Fate.TOLD if is_short or says_nothing(own) else _Fate.KEPT


def _fate_of_ornament(element: Tag) -> _Fate:
    """What is kept from those who listen: a sign beside words, mostly; not if it stands alone."""
    text = text_of(element)
    if words(text):
        return _Fate.KEPT if must_be_kept(text) else _Fate.TOLD
    cell = element.find_parent(["td", "th"])
    is_alone = cell is not None and cell.get_text(strip=True) == element.get_text(strip=True)
    return _Fate.KEPT if is_alone else _Fate.GONE


def _own_words(element: Tag) -> str:
    """The text that stands in no link."""
    return " ".join(_texts_outside_links(element))


def _texts_outside_links(element: Tag) -> Iterator[str]:
    if element.name == "a" and element.get("href"):
        return
    for child in element.children:
        if isinstance(child, Tag):
            yield from _texts_outside_links(child)
        elif type(child) is NavigableString:
            yield str(child)


def _main(body: Tag) -> Tag:
    mains = body.find_all(lambda tag: tag.name == "main" or tag.get("role") == "main")
    return mains[0] if len(mains) == 1 else body


def _gather(body: Tag, main: Tag) -> list[str]:
    """Put what has to be read around the main part at its end; the words of all else.

    Before it, it would stand above the chapter's title.
    """
    moved: list[PageElement] = []
    left_out: list[str] = []
    inside: Tag = main
    while inside is not body and inside.parent is not None:
        beside = [each for each in inside.parent.children if each is not inside]
        for each in beside:
            own = _own_words(each) if isinstance(each, Tag) else _plain(each)
            if _is_read(each, own):
                moved.append(each)
            elif words(own):
                left_out.append(own)
        inside = inside.parent
    remove(moved)
    main.extend(moved)
    return left_out


def _is_read(element: PageElement, own: str) -> bool:
    if len(words(own)) > FEW_WORDS or must_be_kept(own):
        return True
    boxes = ("footer", "aside")
    if not isinstance(element, Tag) or (element.name not in boxes and not element.find(boxes)):
        return False
    # Those that are nothing but links are gone by now.
    return bool(words(text_of(element)))


def _plain(element: PageElement) -> str:
    return str(element) if type(element) is NavigableString else ""
