"""What no Office document may hold, told by short texts alone.

A part is known by its name, its type, and by what links to it; a formula of a table and a field of
a text by what they would fetch.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from app.files.kinds import Unfit

_PROGRAM_NAMES = re.compile(r"vbaproject|vbadata|(?:^|/)(?:intl)?macrosheets/")
_EMBEDDED_NAMES = re.compile(r"(?:^|/)(?:embeddings|activex)/|oleobject|(?:^|/)activex\d*\.")
# Data of servers, add-ins, and pictures that lie elsewhere.
_LOADING_NAMES = re.compile(
    r"(?:^|/)(?:connections\d*\.xml$|volatiledependencies\d*\.xml$|querytables/|webextensions/)"
    r"|rdrichvaluewebimage"
)
_PROGRAM_TYPES = re.compile(r"vbaproject|vbadata|macroenabled|macrosheet|x-msdownload")
# Whole packages and files of old versions; the types of parts go on: `…sheet.main+xml`.
_EMBEDDED_TYPES = re.compile(
    r"oleobject|activex"
    r"|officedocument\.(?:package|\w+\.(?:document|sheet|presentation|slideshow|slide|template))$"
    r"|^application/(?:msword|vnd\.ms-(?:excel|powerpoint|word|package)|rtf|x-rtf)$|^text/rtf$"
)
_LOADING_TYPES = re.compile(
    r"\.(?:connections|querytable|volatiledependencies)\+xml|webextension|rdrichvaluewebimage"
)
_PROGRAM_LINKS = re.compile(r"vba|macrosheet")
_EMBEDDED_LINKS = frozenset(
    ("oleobject", "package", "control", "activexcontrolbinary", "afchunk", "subdocument")
)
_LOADING_LINKS = re.compile(
    r"^(?:connections|querytable|volatiledependencies)$|webextension|rdrichvaluewebimage"
)
# What may lie elsewhere: where a link leads, and workbooks whose values are kept in this one.
_FOLLOWED = frozenset(
    ("hyperlink", "externallinkpath", "externallinklongpath", "xlpathmissing", "xlstartup",
     "xlalternatestartup", "xllibrary")
)  # fmt: skip
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|\\", re.I)
# The table behind a chart.
_WORKBOOK = re.compile(r"(?:^|/)embeddings/[^/]+\.xlsx$")
_WORKBOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_LINKS_OF_A_CHART = re.compile(r"(?:^|/)charts/_rels/[^/]+\.rels$")
_DDE_FORMULA = re.compile(
    r"""\|\s*(?:'(?:[^']|'')*'|[^\s'"!|&]+)\s*!|\bDDE\s*\(""", re.I
)  # name|'topic'!item
# What asks a server or a program, in Excel, LibreOffice or Google Sheets; links are followed by a
# person. `_xlfn.` and the like stand before some; `_xleta.` is a function that is given to another.
_ASKING = (
    r"(?:WEBSERVICE|IMAGE|RTD|CALL|REGISTER(?:\.ID)?|EXEC|EXECUTE|EVALUATE|FOPEN|INITIATE|REQUEST"
    r"|SQL\.REQUEST|STOCKHISTORY|TRANSLATE|DETECTLANGUAGE|COPILOT|PY"
    r"|IMPORT(?:DATA|FEED|HTML|RANGE|XML)|GOOGLE(?:FINANCE|TRANSLATE))"
)
_ASKS = re.compile(rf"\b{_ASKING}\s*\(|\b_xleta\.{_ASKING}\b", re.I)
# Texts, the names of columns (where a quote is a sign like another behind a quote), and the names
# of sheets.
_NO_FUNCTION = re.compile(r""""[^"]*"|\[(?:'.|[^\[\]'])*+\]|'(?:[^']|'')*+'(!?)""", re.S)
# Google Sheets writes what only it knows as the text of this one, and reads it from there.
_WRAPPER = "DUMMYFUNCTION"

# Of each, no other field begins so: INCLUDEPICTURE, INCLUDETEXT, DATABASE, DDEAUTO too.
_LOADING_FIELDS = ("DDE", "LINK", "INCLUDE", "IMPORT", "DATA", "RD", "HTMLCONTROL", "SUBSCRIBER")
_BEFORE_FIELD = ' \t\r\n\x0b\x0c\xa0\u200b\ufeff"'


def plain_name(name: str) -> str:
    """The name of a part as readers compare it."""
    return unquote(name).replace("\\", "/").lstrip("/").lower()


def is_elsewhere(target: str) -> bool:
    """Whether an address leads out of the document."""
    return _ELSEWHERE.match(target.strip()) is not None


def is_workbook(name: str) -> bool:
    """Whether a part of this plain name is to be the table behind a chart."""
    return _WORKBOOK.search(name) is not None


def check_name(name: str, takes_workbooks: bool) -> None:
    """Refuse by its plain name alone what holds programs or other files, or is to load something.

    Raises:
        Unfit
    """
    if _PROGRAM_NAMES.search(name):
        raise Unfit("programs")
    if _EMBEDDED_NAMES.search(name) or name.endswith(".xlsx"):
        if not (takes_workbooks and is_workbook(name)):
            raise Unfit("embedded")
    elif _LOADING_NAMES.search(name):
        raise Unfit("loads")


def check_type(kind: str, name: str, takes_workbooks: bool) -> None:
    """Refuse a type that the package declares; `name` is its part's, or "" for an ending's.

    Raises:
        Unfit
    """
    if _PROGRAM_TYPES.search(kind):
        raise Unfit("programs")
    is_table = kind == _WORKBOOK_TYPE and (not name or is_workbook(name))
    if _EMBEDDED_TYPES.search(kind) and not (takes_workbooks and is_table):
        raise Unfit("embedded")
    if _LOADING_TYPES.search(kind):
        raise Unfit("loads")


def check_link(
    part: str, kind: str, target: str, lies_outside: bool, takes_workbooks: bool
) -> bool:
    """Refuse what a part of this plain name links to; whether that lies elsewhere.

    Raises:
        Unfit
    """
    if _PROGRAM_LINKS.search(kind):
        raise Unfit("programs")
    is_outside = lies_outside or is_elsewhere(target)
    if kind in _EMBEDDED_LINKS:
        is_table = kind == "package" and is_workbook(plain_name(target)) and not is_outside
        if not (takes_workbooks and is_table and _LINKS_OF_A_CHART.search(part)):
            raise Unfit("embedded")
    if _LOADING_LINKS.search(kind) or (is_outside and kind not in _FOLLOWED):
        raise Unfit("loads")
    return is_outside


def check_formula(formula: str) -> None:
    """Refuse a formula that asks a server or another program.

    Raises:
        Unfit
    """
    if _DDE_FORMULA.search(formula):
        raise Unfit("loads")
    # Most have nothing in them that even looks so.
    if not _ASKS.search(formula):
        return
    if _WRAPPER in formula.upper() or _ASKS.search(_NO_FUNCTION.sub(_left_out, formula)):
        raise Unfit("loads")


def _left_out(found: re.Match[str]) -> str:
    """Nothing in the place of what is no function; what is quoted and is no sheet stays."""
    is_sheet = not found[0].startswith("'") or found[1]
    return ' "" ' if is_sheet else found[0]


def check_field(instruction: str) -> str:
    """The first signs of a field's instruction, by which it is known.

    Raises:
        Unfit: it loads something.
    """
    begins = instruction.lstrip(_BEFORE_FIELD)[:16]
    if begins.upper().startswith(_LOADING_FIELDS):
        raise Unfit("loads")
    return begins
