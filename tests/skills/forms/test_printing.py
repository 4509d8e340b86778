"""What a submission's PDF costs, and what it leaves out, whatever somebody has typed."""

from __future__ import annotations

import io
import tracemalloc

import pypdfium2
import pytest
from flask import Flask
from PIL import Image
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from app.skills.forms.services.pdf import MOST_LINES, make_pdf
from app.skills.forms.services.submission_sheet import Line, Sheet
from tests.growth import spent


def sheet_of(*texts: str) -> Sheet:
    lines = tuple(Line("textarea", "What happened", text) for text in texts)
    return Sheet("Test House", "Report", "R-1", "Ana", "today", 1, lines)


def print_text(app: Flask, *texts: str) -> str:
    with app.test_request_context():
        content = make_pdf(sheet_of(*texts), lambda _id: None)
    document = pypdfium2.PdfDocument(content)
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def seconds_to_print(app: Flask, text: str) -> float:
    with app.test_request_context():
        return spent(lambda: make_pdf(sheet_of(text), lambda _id: None))


@pytest.mark.fault(40)
@pytest.mark.parametrize(
    "piece", ["a\n", "\n", "&<", "& ", "x", "字", "\xa0", "W ", "<b>", "a b\t"]
)
def test_no_text_is_slow_to_print(app: Flask, piece: str) -> None:
    seconds_to_print(app, piece)  # the fonts are loaded
    # It took 20 to 60 seconds before, and more than four times as long for four times as much.
    assert seconds_to_print(app, piece * (10_000 // len(piece))) < 5


def test_signs_of_markup_and_empty_lines_are_printed_as_they_are(app: Flask) -> None:
    text = print_text(app, "<b>bold</b> & <br/>\n\n\n\n\nafter")
    assert "<b>bold</b> & <br/>" in text
    assert "after" in text


def test_a_long_word_is_broken_and_whole(app: Flask) -> None:
    text = print_text(app, "y" * 1_000)
    assert text.count("y") >= 1_000


def test_what_is_too_long_for_paper_says_how_much_is_left(app: Flask) -> None:
    text = print_text(app, "\n".join(f"line {n}" for n in range(MOST_LINES + 5)), "the last")
    assert f"line {MOST_LINES - 1}" in text
    assert f"line {MOST_LINES}\r" not in text
    assert "5 more lines are in Comanda." in text
    assert "the last" in text


@pytest.mark.fault(40)
def test_a_line_that_goes_on_over_many_lines_of_paper_counts_as_so_many(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred texts of 5,000 letters without a line's end took three seconds."""
    most = 300
    monkeypatch.setattr("app.skills.forms.services.pdf.MOST_LINES", most)
    whole, cut = "word " * 18 * most, "word " * 90
    text = print_text(app, whole, cut)
    assert abs(text.count("word") - len(whole) // 5) < len(whole) // 50 + 90
    assert "more lines are in Comanda." in text
    assert print_text(app, "word " * 17 * 20).count("word") == 17 * 20


def photos(count: int) -> Sheet:
    files = tuple({"id": str(number), "name": f"photo {number}.jpg"} for number in range(count))
    return Sheet(
        "Test House", "Report", "R-1", "Ana", "today", 1, (Line("photo", "It", "", files),)
    )


def photo(number: str) -> bytes:
    """1.2 million dots, no two alike."""
    output = io.BytesIO()
    Image.linear_gradient("L").rotate(int(number)).resize((1200, 1000)).save(output, "JPEG")
    return output.getvalue()


def test_photos_are_not_held_in_memory_dot_by_dot(app: Flask) -> None:
    """Thirty held 270 MB, until Python looked for garbage."""
    with app.test_request_context():
        make_pdf(photos(1), photo)
        tracemalloc.start()
        try:
            content = make_pdf(photos(20), photo)
            held = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert held < 20 * 1_000_000
    document = pypdfium2.PdfDocument(content)
    drawn = [found for page in document for found in page.get_objects((FPDF_PAGEOBJ_IMAGE,))]
    assert len(drawn) == 20


def test_of_very_many_photos_the_others_are_named(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.skills.forms.services.pdf.MOST_PICTURES", 2)
    with app.test_request_context():
        document = pypdfium2.PdfDocument(make_pdf(photos(3), photo))
    text = "".join(page.get_textpage().get_text_range() for page in document)
    assert "photo 2.jpg" in text and "photo 1.jpg" not in text


def test_each_page_says_how_many_there_are(app: Flask) -> None:
    with app.test_request_context():
        content = make_pdf(sheet_of("\n".join(["line"] * 100)), lambda _id: None)
    pages = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content)]
    assert len(pages) > 1
    for number, page in enumerate(pages, 1):
        assert f"Page {number} of {len(pages)}" in page
