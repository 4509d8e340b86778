"""What a cell of an exported table is, for the person who reads it and for the program."""

from __future__ import annotations

import ast
import csv
import io
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.files.spreadsheets import csv_lines, neutral
from tests.growth import check_growth

SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\u2212")
UNSEEN = (
    "", " ", "\t", "\r\n", "\u00a0", "\u200b", "\u2060", "\ufeff", "\u202e", "\x00", "\u3164",
    "\u17b4", "\u17b5", "\ufffc", "\ufff9", "\u034f", "\u180b", "\ufe0f", "\u0301", "\u0488",
    "\u20dd", "\u0903", "\U000e0041", "\U000e0100", "\u2800",
)  # fmt: skip


@pytest.mark.parametrize("text", ["=1", "+a", "-a", "@a", "\ta", "\ra", "-", "+1-1", "=1+1\n"])
def test_what_a_spreadsheet_would_run_is_neutral(text: str) -> None:
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_is_neutral_in_every_width_and_behind_what_cannot_be_seen(sign: str) -> None:
    for unseen in UNSEEN:
        for before in (unseen, unseen * 3, f" {unseen}\ufeff"):
            text = f"{before}{sign}cmd|' /C calc'!A0"
            assert neutral(text) == f"'{text}"


@pytest.mark.parametrize(
    "text",
    ["a=1", "-3", "+3.5", "-12.50", "", "1-2", "ñ", " ", "\u200b", " é", "e\u0301=1", "\u0301"],
)
def test_what_it_would_not_run_stays(text: str) -> None:
    assert neutral(text) == text


@pytest.mark.parametrize("text", ["+1 555 123 4567", "+15551234567", "+1-555-123-4567", "+52 55 1"])
def test_a_phone_number_keeps_its_plus(text: str) -> None:
    """As a number it would be a sum, or lose the plus; behind the apostrophe it is read whole."""
    assert neutral(text) == f"'{text}"


def test_the_lines_of_a_table_are_neutral_cell_by_cell() -> None:
    lines = [["Item", "\uff1d1+1"], ["\ufeff@sum", "-3"]]
    read = list(csv.reader(io.StringIO(csv_lines(lines), newline="")))
    assert read == [["Item", "'\uff1d1+1"], ["'\ufeff@sum", "-3"]]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x;=cmd", "x;'=cmd"),
        ("x|@cmd", "x|'@cmd"),
        ("x\t\uff1dcmd", "x\t'\uff1dcmd"),
        ("x\r\n- cmd", "x\r\n'- cmd"),
        ('x; "" \u200b+cmd;=a', "x; \"\" \u200b'+cmd;'=a"),
        ("\t=cmd", "'\t'=cmd"),
        ("x; -5", "x; '-5"),
        ("a; b", "a; b"),
        ("2 - 3", "2 - 3"),
        ("a;b=c", "a;b=c"),
        ("a | b - c", "a | b - c"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("-3", "-3"),
    ],
)
def test_a_cell_is_neutral_behind_every_sign_that_parts_cells(text: str, written: str) -> None:
    read = list(csv.reader(io.StringIO(csv_lines([["Item", text]]), newline="")))
    assert read == [["Item", written]]


def test_a_number_at_the_beginning_of_a_line_is_no_formula_with_what_follows_it() -> None:
    """Where a comma is a decimal sign, -3,1+cmd is one cell."""
    assert csv_lines([["-3", "1+cmd|' /C calc'!A0"]]).startswith("'-3,")
    assert csv_lines([["3", "-3"]]) == "3,-3\r\n"


_PIECES = st.sampled_from(
    [
        *SIGNS,
        *UNSEEN,
        ";",
        "|",
        ",",
        '"',
        "'",
        '""',
        '";"',
        "\n",
        "\r",
        "a",
        "b c",
        "-3",
        "+4.5",
        "2",
    ]
)
_CELLS = st.lists(_PIECES, max_size=8).map("".join)


@given(st.lists(st.lists(_CELLS, min_size=1, max_size=4), min_size=1, max_size=4))
@example([["", "\n"], ["-3"]])
@example([["a", 'x";"=cmd'], ["-3", "=1"]])
@example([['"', ";=cmd"], ['a"', '\n"=cmd']])
def test_no_cell_begins_with_a_sign_however_the_cells_are_parted(lines: list[list[str]]) -> None:
    text = csv_lines(lines)
    for separator in ",;\t|":
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            for cell in row:
                seen = re.sub(rf"^(?:{'|'.join(filter(None, UNSEEN))}|\s)+", "", cell)
                is_number = re.fullmatch(r"[+-]\d+(?:\.\d+)?", seen)
                first = unicodedata.normalize("NFKC", seen[:1])
                assert first not in [*"=+-@", "\u2212"] or is_number, (separator, cell)


def test_every_table_is_written_in_this_one_place() -> None:
    """Who writes CSV or a workbook makes its cells neutral: by csv_lines, or by neutral."""
    for path in Path("app").rglob("*.py"):
        source = path.read_text("utf-8")
        called = {
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Call)
        }
        if "import csv" in source and path != Path("app/files/spreadsheets.py"):
            assert not called & {"writer", "DictWriter"}, path
        if "Workbook" in called or "WriteOnlyCell" in called:
            assert "neutral" in called, path


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("a;=1", "a;'=1"),
        ("a; \ufeff=1|+2", "a; \ufeff'=1|'+2"),
        ('a;"@x', "a;\"'@x"),
        ("a;;\t-1", "a;;\t'-1"),
        ("a;b=1", "a;b=1"),
        ("a; ", "a; "),
    ],
)
def test_a_formula_behind_another_separator_is_neutral(cell: str, written: str) -> None:
    read = next(csv.reader(io.StringIO(csv_lines([[cell]]), newline="")))
    assert read == [written]


@given(st.text(alphabet=';|\t\r\n" =+-@a1\x00\x7f', max_size=30))
@example(';"= 1|-2')
def test_a_text_of_ascii_is_made_neutral_as_any_other_is(text: str) -> None:
    """They are told by two ways, of which one is quicker."""
    other = f"ñ{text}"
    quick, general = (
        list(csv.reader(io.StringIO(csv_lines([["", cell]]), newline="")))
        for cell in (f"n{text}", other)
    )
    assert [[cell.replace("n", "ñ", 1) for cell in line] for line in quick] == general


@pytest.mark.fault(44)
@pytest.mark.parametrize("piece", [";=", ";", ';"', "|a", " ;"])
def test_no_cell_is_slow_to_be_made_neutral(piece: str) -> None:
    check_growth(lambda size: lambda: csv_lines([[piece * size]]), 20_000)
