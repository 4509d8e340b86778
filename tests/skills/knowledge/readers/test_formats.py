"""The kind of a file is found in its content; what fits nothing says what would."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.skills.knowledge.readers import Limits, Reading, read_file
from app.skills.knowledge.readers.formats import format_of
from app.skills.knowledge.readers.result import LIMITS
from tests.skills.knowledge.readers.files import (
    Pdf,
    body,
    fatal,
    outline,
    read,
    small_docx,
    xlsx_of,
    zip_of,
)

CSV = b"name,price\nTaco,5\n"


def small_pdf() -> bytes:
    pdf = Pdf()
    pdf.prose()
    return pdf.bytes()


@pytest.mark.parametrize("name", ["x", "x.md", "x.csv", "x.pdf", "x.docx"])
def test_content_decides_and_not_the_name(name: str) -> None:
    found = [
        format_of(content, name, LIMITS)
        for content in (
            small_pdf(), small_docx(), xlsx_of([["name"], ["Taco"]]), zip_of({"a.html": "<p>x"}),
            b"<!DOCTYPE html><p>x</p>", CSV,
        )
    ]  # fmt: skip
    assert found == ["pdf", "docx", "xlsx", "site", "html", "csv"]


def test_the_ending_breaks_ties() -> None:
    assert format_of(b"name\nTaco\n", "menu.csv", LIMITS) == "csv"
    assert format_of(b"name\nTaco\n", "menu.md", LIMITS) == "markdown"
    assert format_of(b"Two hours, at most.\nThen out.", "a.md", LIMITS) == "markdown"


@pytest.mark.parametrize(
    ("content", "name"), [(CSV, "m.csv"), (xlsx_of([["name"], ["Taco"]]), "m.xlsx")]
)
def test_a_menu_is_no_manual(content: bytes, name: str) -> None:
    assert fatal(read(content, name, "sop")) == "menu_as_manual"


@pytest.mark.parametrize("content", [small_pdf(), small_docx(), b"# Opening\nHoods."])
def test_a_manual_is_no_menu(content: bytes) -> None:
    assert fatal(read(content, "m.pdf", "dishes")) == "manual_as_menu"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"), (b" \n\0", "empty_file"), (b"\x89PNG\r\n\x1a\n123", "unknown_format"),
        (b"{\\rtf1 x}", "unknown_format"), (bytes(range(1, 32)) * 30, "unknown_format"),
        (zip_of({"a.exe": b"MZ"}), "unknown_format"), (zip_of({}), "unknown_format"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(content: bytes, code: str) -> None:
    assert fatal(read(content, "x.pdf")) == code


def test_a_file_over_the_limits_is_refused() -> None:
    def limited(content: str, **most: int) -> Reading:
        return read_file(content.encode(), "a.md", "sop", "en", limits=Limits(**most))

    assert fatal(limited("# A\n" + "word " * 50, file_bytes=100)) == "too_big"
    assert fatal(limited("# A\nx\n## B {#b}\nx\n## C {#c}\ny", sections=2)) == "too_many_sections"
    assert fatal(limited("# A\n" + "word " * 50, words=20)) == "too_many_words"


MARKDOWN = """---
title: Opening
---
## Hoods {#hoods}
Turn them on.\0

#### Filters {#filters}
Clean them.
## Lights {#lights}
Dim them.
"""


def test_markdown_is_read_as_ever_and_named_slugs_are_told() -> None:
    reading = read(MARKDOWN, "03-opening.es.md")
    assert outline(reading) == [
        ("Opening", 0, None),
        ("Hoods", 1, "Opening"),
        ("Filters", 2, "Hoods"),
        ("Lights", 1, "Opening"),
    ]
    sections = reading.documents[0].sections
    assert [(each.slug, each.is_named) for each in sections] == [
        ("03-opening", False),
        ("hoods", True),
        ("filters", True),
        ("lights", True),
    ]
    assert body(reading, "Hoods") == "Turn them on."
    assert reading.documents[0].source == "03-opening"


@pytest.mark.parametrize(
    ("text", "code", "detail"),
    [
        ("# A\n## B {#b}\nx\n## C {#b}\ny", "duplicate_slug", "b"),
        ("---\ntitle: [\n---\nx", "bad_front_matter", ""),
        ("# A\n", "no_sections", ""),
    ],
)
def test_markdown_that_is_wrong_says_where(text: str, code: str, detail: str) -> None:
    reading = read(text, "a.md")
    assert fatal(reading) == code
    assert reading.problems[0].detail == detail


def test_nothing_that_the_database_cannot_keep_is_left() -> None:
    page = "<h1>A&#0;\x01</h1><p>b\ud800\ufffe\ufdd0[1]</p>".encode("utf-8", "surrogatepass")
    reading = read(b"<html>" + page, "x.html")
    text = str(reading.to_json())
    assert not set("\0\x01\ud800\ufffe") & set(text)
    text.encode()


@pytest.fixture(scope="module")
def seeds() -> list[bytes]:
    return [small_pdf(), small_docx(), xlsx_of([["name"], ["Taco"]]), CSV, MARKDOWN.encode()]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_damage_whatever_raises(seeds: list[bytes], data: st.DataObject) -> None:
    """In the process itself; what kills that is for the process apart."""
    content = bytearray(data.draw(st.sampled_from(seeds)))
    for _ in range(data.draw(st.integers(1, 12))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    target = data.draw(st.sampled_from(["sop", "dishes"]))
    reading = read_file(bytes(content), "x.pdf", target, "en")
    assert reading.to_json() == Reading.from_json(reading.to_json()).to_json()
