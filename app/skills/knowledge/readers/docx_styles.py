"""What the styles of a Word document mean: headings in any language, titles, and lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from docx.document import Document
from docx.oxml.ns import qn

# Word calls them "heading 1" in its files; other programs write what their menus say.
_HEADING = re.compile(
    r"^(?:heading|t[ií]tulo|ttulo|encabezado|cabecera|titre|überschrift|titolo)\s*([1-9])\b",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^(?:title|t[ií]tulo|puesto|titre|titel)$", re.IGNORECASE)
_CONTENTS = re.compile(r"^(?:toc|tdc|tabla de contenido|índice|contents)\b", re.IGNORECASE)
_LIST = re.compile(r"^(?:list|lista)\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"paragraph|p[aá]rrafo", re.IGNORECASE)
_NUMBERS = re.compile(r"number|n[uú]mero|numerada", re.IGNORECASE)
_BULLET_FORMATS = ("bullet", "none")
BODY_LEVEL = 9  # an outline level that stands for plain text
MOST_BASES = 12
# In half points: Word's own step. Less is how a line is adjusted.
LEAST_MOVED = 6
# From where a list begins, and up to where it is counted in Roman numerals.
MOST_START, LARGEST_ROMAN = 32_767, 4_000
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
OFF = ("0", "false", "none", "off")


@dataclass(frozen=True)
class Style:
    """A paragraph's style: `level` is 1 for chapters, 0 for what is no heading."""

    name: str = ""
    level: int = 0
    is_title: bool = False
    is_contents: bool = False
    numbering: Any = None


@dataclass(frozen=True)
class Level:
    """How the items of one depth of a list are numbered: from where, and with what."""

    format: str = ""
    start: int = 1

    @property
    def is_numbered(self) -> bool:
        return bool(self.format) and self.format not in _BULLET_FORMATS

    def label(self, count: int) -> str:
        """What stands before the item that is so manyth; "" where that is a number in figures."""
        number = self.start + count - 1
        name = self.format.lower()
        if name.endswith("letter") and number > 0:
            # After Z Word goes on with AA, BB.
            text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        elif name.endswith("roman") and 0 < number < LARGEST_ROMAN:
            text = _roman(number)
        else:
            return ""
        return text.upper() if self.format.startswith("upper") else text


class Styles:
    """The styles and numberings of a document, each looked up once."""

    def __init__(self, document: Document) -> None:
        self._elements = {
            str(style.get(qn("w:styleId"))): style
            for style in document.styles.element.iter(qn("w:style"))
        }
        self._known: dict[str, Style] = {}
        self._switched: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._aligned: dict[str, str] = {}
        self._levels = _numbering_levels(document)

    def of(self, paragraph: Any) -> Style:
        """The paragraph's style, with the outline level that it may have of its own."""
        properties = paragraph.find(qn("w:pPr"))
        if properties is None:
            return Style()
        style = self._style(_value(properties.find(qn("w:pStyle"))))
        own = _outline_level(properties)
        if own is None or style.is_title or style.is_contents:
            return style
        level = 0 if own == BODY_LEVEL else own + 1
        return Style(style.name, level, numbering=style.numbering)

    def switches_on(self, element: Any, *names: str) -> bool:
        """Whether the style that a `w:pStyle` or `w:rStyle` names has one of these properties."""
        if element is None:
            return False
        style_id = _value(element)
        key = (style_id, names)
        if key not in self._switched:
            bases = self._bases(style_id)
            self._switched[key] = any(_is_on_in(bases, name) for name in names)
        return self._switched[key]

    def alignment(self, run: Any) -> str:
        """Whether a run is "superscript", "subscript", or something else."""
        own = alignment_of(run)
        style_id = _value(run.find(f"{qn('w:rPr')}/{qn('w:rStyle')}"))
        if own or not style_id:
            return own
        if style_id not in self._aligned:
            found = (alignment_of(base) for base in self._bases(style_id))
            self._aligned[style_id] = next(filter(None, found), "")
        return self._aligned[style_id]

    def list_of(self, paragraph: Any, style: Style) -> tuple[str, int, Level] | None:
        """The list it is an item of, how deep, and how that is numbered; None if it is in none."""
        own = paragraph.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
        numbering = style.numbering if own is None else own
        # "List Bullet 2" is a list of its own to Word, and to people one within another.
        by_name = _depth_of(style.name) if own is None else 0
        if numbering is None:
            if not _LIST.match(style.name) or _PARAGRAPH.search(style.name):
                return None
            return style.name, by_name, Level("decimal" if _NUMBERS.search(style.name) else "")
        list_id = _value(numbering.find(qn("w:numId")))
        depth = _number(_value(numbering.find(qn("w:ilvl"))), 0, 8)
        if list_id == "0":
            return None
        return list_id, max(depth, by_name), self._levels.get((list_id, depth), Level())

    def _style(self, style_id: str) -> Style:
        if style_id not in self._known:
            self._known[style_id] = self._make(style_id)
        return self._known[style_id]

    def _make(self, style_id: str) -> Style:
        """The style by its name or those of what it is based on; localised ids count too."""
        names, level, numbering = [], None, None
        for element in self._bases(style_id):
            names.append(_value(element.find(qn("w:name"))))
            properties = element.find(qn("w:pPr"))
            if properties is not None:
                numbering = _first(numbering, properties.find(qn("w:numPr")))
                level = _first(level, _outline_level(properties))
        names.append(style_id)
        headings = [found for name in names if (found := _HEADING.match(name))]
        if level is None and headings:
            level = int(headings[0][1]) - 1
        return Style(
            name=names[0],
            level=0 if level is None or level >= BODY_LEVEL else level + 1,
            is_title=bool(_TITLE.match(names[0])),
            is_contents=bool(_CONTENTS.match(names[0])),
            numbering=numbering,
        )

    def _bases(self, style_id: str) -> list[Any]:
        """The style and those it is based on; a chain may bite its own tail."""
        chain: list[Any] = []
        while (element := self._elements.get(style_id)) is not None and len(chain) < MOST_BASES:
            chain.append(element)
            style_id = _value(element.find(qn("w:basedOn")))
        return chain


def is_on(element: Any, name: str) -> bool:
    """Whether a run's or a style's own properties switch `name` on."""
    switch = element.find(f"{qn('w:rPr')}/{qn(name)}")
    return switch is not None and str(switch.get(qn("w:val"), "1")).lower() not in OFF


def _is_on_in(bases: Sequence[Any], name: str) -> bool:
    """Whether a style has a property, as the first of those it is based on says that says it."""
    saying = (base for base in bases if base.find(f"{qn('w:rPr')}/{qn(name)}") is not None)
    return next((is_on(base, name) for base in saying), False)


def alignment_of(element: Any) -> str:
    """What the own properties of a run or a style say of its height in the line."""
    aligned = _value(element.find(f"{qn('w:rPr')}/{qn('w:vertAlign')}"))
    moved = _value(element.find(f"{qn('w:rPr')}/{qn('w:position')}"))
    if aligned or not re.fullmatch(r"-?[0-9]{1,4}", moved) or abs(int(moved)) < LEAST_MOVED:
        return aligned
    return "superscript" if int(moved) > 0 else "subscript"


def _depth_of(name: str) -> int:
    digits = re.search(r"\d+$", name) if _LIST.match(name) else None
    return _number(digits[0], 1, 9) - 1 if digits else 0


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        written += letters * (number // value)
        number %= value
    return written


def _numbering_levels(document: Document) -> dict[tuple[str, int], Level]:
    """How each level of each list is numbered, by the list's id and the level."""
    try:
        root = document.part.numbering_part.element
    except (KeyError, NotImplementedError):
        return {}
    abstract: dict[str, dict[int, Level]] = {}
    for each in root.iter(qn("w:abstractNum")):
        abstract[str(each.get(qn("w:abstractNumId")))] = {
            _depth(level): Level(_value(level.find(qn("w:numFmt"))), _start(level, "w:start"))
            for level in each.iter(qn("w:lvl"))
        }
    levels: dict[tuple[str, int], Level] = {}
    for number in root.iter(qn("w:num")):
        list_id = str(number.get(qn("w:numId")))
        own = dict(abstract.get(_value(number.find(qn("w:abstractNumId"))), {}))
        for override in number.iter(qn("w:lvlOverride")):
            depth = _depth(override)
            if override.find(qn("w:startOverride")) is not None:
                start = _start(override, "w:startOverride")
                own[depth] = replace(own.get(depth, Level()), start=start)
        levels |= {(list_id, depth): level for depth, level in own.items()}
    return levels


def _depth(level: Any) -> int:
    return _number(str(level.get(qn("w:ilvl"))), 0, 8)


def _start(level: Any, name: str) -> int:
    found = level.find(qn(name))
    return 1 if found is None else _number(_value(found), 0, MOST_START)


def _outline_level(properties: Any) -> int | None:
    level = properties.find(qn("w:outlineLvl"))
    return None if level is None else _number(_value(level), 0, BODY_LEVEL)


def _value(element: Any) -> str:
    return "" if element is None else str(element.get(qn("w:val"), ""))


def _number(text: str, least: int, most: int) -> int:
    return min(most, max(least, int(text))) if text.isdecimal() else least


def _first(known: Any, found: Any) -> Any:
    return found if known is None else known
