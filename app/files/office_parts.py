"""The parts of an Office document: read to their end, with nothing in them that acts by itself.

Refused are programs (macros), files inside the file (OLE objects, ActiveX, packages; but not the
plain table behind a chart), and what makes a reader load something or start another program:
external relationships but links, data connections, formulas and fields that fetch, add-ins, DDE,
declarations of a document type. A part is known by its name, by the type that the package declares
for it, and by how it begins; what it holds, by the local names of elements, whatever their prefix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html import unescape
from itertools import chain
from typing import IO
from xml.parsers import expat
from zipfile import ZipFile, ZipInfo

from app.files.kinds import MIB, Unfit
from app.files.office_refusals import (
    check_field,
    check_formula,
    check_link,
    check_name,
    check_type,
    is_elsewhere,
    is_workbook,
    plain_name,
)

CONTENT_TYPES = "[content_types].xml"
PIECE_BYTES = MIB
# Excel writes no longer ones.
LONGEST_FORMULA = 16_384
_ENCODINGS = ("utf-8", "utf-16", "utf-16le", "utf-16be", "us-ascii")
# Drawings of these kinds are often not well-formed, and every reader bears that.
_LENIENT = (".vml", ".svg")
_LOOKS_LIKE_XML = re.compile(rb"<[?!A-Za-z_]")
_MARKS = b"\xef\xbb\xbf\xfe\xff \t\r\n"
_RELATIONSHIPS = re.compile(r"^(?:(.*)/)?_rels/([^/]*)\.rels$")

_ACTIONS = ("ppaction://program", "ppaction://macro", "ppaction://ole")
# Elements that a person follows, or whose values are kept: no other may name what lies elsewhere.
_LINKS = frozenset(
    ("hyperlink", "hlinkClick", "externalBook", "alternateUrls", "absoluteUrl", "relativeUrl")
)
# Where the picture of a drawing lies, in VML and SVG.
_SOURCES = ("src", "href", "althref")
# Within the document, or in the mail that it was copied from.
_AT_HAND = ("cid:", "data:")
_SOURCE = re.compile(r"""(?:src|href)=["']?(?!cid:|data:)(?:[a-z][a-z0-9+.-]*:|//|\\)""", re.I)
# What a reader passes over between and within the signs of an attribute.
_BETWEEN = b"\0 \t\r\n\x0b\x0c"
_OVERLAP = 4_096
_FORMULAS = ("formula", "refersTo", "textlink", "fmlaRange", "fmlaLink", "fmlaTxbx", "fmlaGroup")

Attributes = Mapping[str, str]


CheckWorkbook = Callable[[IO[bytes]], None]


def check_names(members: Iterable[ZipInfo], takes_workbooks: bool) -> None:
    """Judge by the list of the parts alone; nothing is unpacked yet.

    Raises:
        Unfit
    """
    for member in members:
        check_name(plain_name(member.filename), takes_workbooks)


def check_parts(
    archive: ZipFile, members: Iterable[ZipInfo], check_workbook: CheckWorkbook | None
) -> None:
    """Read every part to its end; pieces of one are in memory, never the whole.

    `check_workbook` reads a table behind a chart, and refuses it; None where there may be none.

    Raises:
        Unfit: one of them holds what is refused, or is no whole XML where it should be.
    """
    package = _Package(takes_workbooks=check_workbook is not None)
    for member in sorted(members, key=_order):
        name = plain_name(member.filename)
        with archive.open(member) as part:
            if check_workbook is not None and is_workbook(name):
                check_workbook(part)
            else:
                _check_part(part, name, package)


def _order(member: ZipInfo) -> int:
    """What the parts are is declared in the first; what they link to, in the next ones."""
    name = plain_name(member.filename)
    return 0 if name == CONTENT_TYPES else 1 if name.endswith(".rels") else 2


def _check_part(part: IO[bytes], name: str, package: _Package) -> None:
    piece = part.read(PIECE_BYTES)
    begins = piece[:1024].replace(b"\0", b"").lstrip(_MARKS)
    is_named = name.endswith((".xml", ".rels")) or package.is_xml(name)
    if not is_named and not _LOOKS_LIKE_XML.match(begins):
        # Nothing is looked for in a picture, but it is whole: its checksum is at its end.
        while part.read(PIECE_BYTES):
            continue
        return
    reader = _PartReader(name, package)
    try:
        while piece:
            reader.feed(piece)
            piece = part.read(PIECE_BYTES)
        reader.close()
    except expat.ExpatError as error:
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]:
            raise Unfit("too_much") from None
        if is_named or (begins.startswith(b"<?xml") and not name.endswith(_LENIENT)):
            raise Unfit("broken") from None
        _check_drawing(chain((piece,), iter(lambda: part.read(PIECE_BYTES), b"")))


def _check_drawing(pieces: Iterable[bytes]) -> None:
    """Look for pictures elsewhere in what is no whole XML, and is read by some as far as it goes.

    Raises:
        Unfit
    """
    end = b""
    for piece in pieces:
        seen = end + piece.translate(None, _BETWEEN)
        if _SOURCE.search(unescape(seen.decode("latin-1"))):
            raise Unfit("loads")
        end = seen[-_OVERLAP:]


class _Package:
    """What a package says that its parts are, and what of them lies elsewhere."""

    def __init__(self, takes_workbooks: bool) -> None:
        self.takes_workbooks = takes_workbooks
        self._by_name: dict[str, str] = {}
        self._by_ending: dict[str, str] = {}
        # By the part that links to it, the names that it has there.
        self.outside: dict[str, set[str]] = {}

    def add_type(self, attributes: Attributes, kind: str) -> None:
        if name := attributes.get("PartName"):
            self._by_name[plain_name(name)] = kind
        if ending := attributes.get("Extension"):
            self._by_ending[plain_name(ending)] = kind

    def add_outside(self, relationships: str, known_as: str) -> None:
        if found := _RELATIONSHIPS.match(relationships):
            part = "/".join(filter(None, found.groups()))
            self.outside.setdefault(part, set()).add(known_as)

    def is_xml(self, name: str) -> bool:
        """Whether it must be well-formed, however it begins."""
        ending = name.rpartition(".")[2]
        kind = self._by_name.get(name) or self._by_ending.get(ending, "")
        return kind.endswith(("+xml", "/xml")) and not kind.startswith("image/")


class _PartReader:
    """Reads one part of XML and raises Unfit at the first thing in it that is refused."""

    def __init__(self, name: str, package: _Package) -> None:
        self._name, self._package = name, package
        self._outside = package.outside.get(name)
        self._fields = [""]
        # Of the elements whose text is being heard: how many are open, and what takes it.
        self._open = 0
        self._text: list[str] = []
        self._length = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = _refuse_doctype
        self._parser.XmlDeclHandler = _check_encoding
        self._parser.StartElementHandler = self._begin
        # By the name with its prefix, so that each name is taken apart once.
        self._known: dict[str, Callable[[_PartReader, Attributes], None] | None] = {}

    def feed(self, piece: bytes) -> None:
        self._parser.Parse(piece)

    def close(self) -> None:
        self._parser.Parse(b"", True)

    def _begin(self, name: str, attributes: Attributes) -> None:
        try:
            check = self._known[name]
        except KeyError:
            check = self._known[name] = _CHECKS.get(name.rpartition(":")[2])
        if check is not None:
            check(self, attributes)
        if self._outside and name.rpartition(":")[2] not in _LINKS:
            self._check_names(attributes, self._outside)

    # What is looked for, by element.

    def _check_type(self, attributes: Attributes) -> None:
        kind = attributes.get("ContentType", "").partition(";")[0].strip().lower()
        name = plain_name(attributes.get("PartName", ""))
        check_type(kind, name, self._package.takes_workbooks)
        if self._name == CONTENT_TYPES:
            self._package.add_type(attributes, kind)

    def _check_relationship(self, attributes: Attributes) -> None:
        kind = attributes.get("Type", "").rstrip("/").rpartition("/")[2].lower()
        lies_outside = attributes.get("TargetMode", "").strip().lower() == "external"
        target = attributes.get("Target", "")
        if check_link(self._name, kind, target, lies_outside, self._package.takes_workbooks):
            self._package.add_outside(self._name, attributes.get("Id", ""))

    def _check_names(self, attributes: Attributes, outside: set[str]) -> None:
        """What a link leads to is no picture: readers do not look at what a relationship is for."""
        if any(":" in name and value in outside for name, value in attributes.items()):
            raise Unfit("loads")

    def _check_simple_field(self, attributes: Attributes) -> None:
        check_field(_value(attributes, "instr"))

    def _check_action(self, attributes: Attributes) -> None:
        if _value(attributes, "action").strip().lower().startswith(_ACTIONS):
            raise Unfit("loads")

    def _check_picture(self, attributes: Attributes) -> None:
        if _value(attributes, "link"):
            raise Unfit("loads")

    def _check_source(self, attributes: Attributes) -> None:
        for name, value in attributes.items():
            target = value.strip().lower()
            is_source = name.rpartition(":")[2] in _SOURCES and not target.startswith(_AT_HAND)
            if is_source and is_elsewhere(target):
                raise Unfit("loads")

    def _check_cache(self, attributes: Attributes) -> None:
        if _value(attributes, "type").strip().lower() == "external":
            raise Unfit("loads")

    def _check_formulas(self, attributes: Attributes) -> None:
        for name, value in attributes.items():
            if name.rpartition(":")[2] in _FORMULAS:
                check_formula(value)

    def _check_limit(self, attributes: Attributes) -> None:
        check_formula(_value(attributes, "val"))

    def _refuse(self, _attributes: Attributes) -> None:
        raise Unfit("loads")

    # A field's instruction is what stands between its begin and its result, in any number of
    # pieces; one within it is another field.

    def _mark_field(self, attributes: Attributes) -> None:
        mark = _value(attributes, "fldCharType").strip().lower()
        if mark == "end" and len(self._fields) > 1:
            self._fields.pop()
        elif mark == "begin":
            self._fields.append("")
        else:
            self._fields[-1] = ""

    def _begin_paragraph(self, _attributes: Attributes) -> None:
        if len(self._fields) == 1:
            self._fields[0] = ""

    def _begin_instruction(self, _attributes: Attributes) -> None:
        self._hear(self._hear_instruction)

    def _hear_instruction(self, text: str) -> None:
        self._fields[-1] = check_field(self._fields[-1] + text)

    def _begin_formula(self, attributes: Attributes) -> None:
        self._check_formulas(attributes)
        if not self._open:
            self._text, self._length = [], 0
        self._hear(self._hear_formula)

    def _hear_formula(self, text: str) -> None:
        self._length += len(text)
        if self._length > LONGEST_FORMULA:
            raise Unfit("too_much")
        self._text.append(text)

    def _hear(self, take: Callable[[str], None]) -> None:
        """Have the text up to the end of this element taken."""
        self._open += 1
        self._parser.CharacterDataHandler = take
        self._parser.EndElementHandler = self._end

    def _end(self, name: str) -> None:
        if name.rpartition(":")[2] not in _HEARD:
            return
        self._open -= 1
        if self._open:
            return
        self._parser.CharacterDataHandler = self._parser.EndElementHandler = None
        if self._text:
            check_formula("".join(self._text))
        self._text = []


_HEARD: Mapping[str, Callable[[_PartReader, Attributes], None]] = {
    **dict.fromkeys(("instrText", "delInstrText"), _PartReader._begin_instruction),
    **dict.fromkeys(
        ("f", "definedName", "formula", "formula1", "formula2", "oldFormula",
         "calculatedColumnFormula", "totalsRowFormula", "FmlaRange", "FmlaLink", "FmlaPict",
         "FmlaTxbx", "FmlaGroup"),
        _PartReader._begin_formula,
    ),
}  # fmt: skip
_CHECKS: Mapping[str, Callable[[_PartReader, Attributes], None]] = {
    "Default": _PartReader._check_type,
    "Override": _PartReader._check_type,
    "Relationship": _PartReader._check_relationship,
    # Other programs; the data of letters in series, of servers and of add-ins; videos of pages.
    **dict.fromkeys(
        ("ddeLink", "oleLink", "mailMerge", "queryTable", "DataMashup", "webImageSrd",
         "webVideoPr", "webextension", "taskpanes", "volTypes"),
        _PartReader._refuse,
    ),
    **dict.fromkeys(("blip", "svgBlip"), _PartReader._check_picture),
    **dict.fromkeys(
        ("imagedata", "image", "fill", "stroke", "background", "feImage", "use", "script"),
        _PartReader._check_source,
    ),
    "cacheSource": _PartReader._check_cache,
    "cfvo": _PartReader._check_limit,
    **dict.fromkeys(
        ("cacheField", "calculatedItem", "formControlPr", "sp", "cxnSp", "pic", "graphicFrame"),
        _PartReader._check_formulas,
    ),
    "hlinkClick": _PartReader._check_action,
    "hlinkHover": _PartReader._check_action,
    "hlinkMouseOver": _PartReader._check_action,
    "fldSimple": _PartReader._check_simple_field,
    "fldChar": _PartReader._mark_field,
    "p": _PartReader._begin_paragraph,
    **_HEARD,
}  # fmt: skip


def _refuse_doctype(*_declaration: object) -> None:
    raise Unfit("unsafe")


def _check_encoding(_version: str, encoding: str | None, _standalone: int) -> None:
    # Readers differ in which others they know, and so in what stands there.
    if encoding is not None and encoding.lower() not in _ENCODINGS:
        raise Unfit("broken")


def _value(attributes: Attributes, name: str) -> str:
    """The attribute of this local name, whatever its prefix."""
    found = (value for each, value in attributes.items() if each.rpartition(":")[2] == name)
    return next(found, "")
