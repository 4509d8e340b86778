"""What formulas of tables and fields of documents would fetch, told by their text alone."""

from __future__ import annotations

import re

from app.files.kinds import Unfit

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
