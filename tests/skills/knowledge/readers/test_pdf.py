"""PDFs: the tree from the outline or the letters' sizes, the text without its furniture."""

from __future__ import annotations

import io
import time

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from app.skills.knowledge.readers import read_file
from tests.skills.knowledge.readers.files import (
    PROSE,
    Pdf,
    body,
    codes,
    everything,
    fatal,
    outline,
    read,
    told,
)


def manual(*, with_outline: bool) -> bytes:
    """Four pages with heads and feet, two chapters and a section that begins on a later page."""
    pdf = Pdf(title="House manual", head="Casa Lucero – internal")
    levels = (0, 1) if with_outline else (None, None)
    pdf.heading("1 Opening", 22, level=levels[0])
    pdf.prose()
    pdf.heading("1.1 The hoods", 15, level=levels[1])
    pdf.prose()
    pdf.page()
    pdf.prose(("because the fans need a min-", "ute before the burners are lit."))
    pdf.page()
    pdf.heading("2 Closing", 22, level=levels[0])
    pdf.line("• Lock the walk-in")
    pdf.line("• Count the drawer twice and write the number")
    pdf.line("on the sheet", left=84)
    pdf.gap()
    pdf.line("1. Lights")
    pdf.line("2. Alarm")
    pdf.gap()
    pdf.line("code = 4711", font="Courier")
    pdf.line("  wait 30", font="Courier", left=84)
    pdf.page()
    pdf.prose()
    return pdf.bytes()


@pytest.mark.parametrize("with_outline", [True, False], ids=["outline", "sizes"])
def test_the_tree_comes_from_the_outline_or_from_the_letters(with_outline: bool) -> None:
    reading = read(manual(with_outline=with_outline), "manual.en.pdf")
    assert outline(reading) == [
        ("House manual", 0, None),
        ("1 Opening", 1, "House manual"),
        ("1.1 The hoods", 2, "1 Opening"),
        ("2 Closing", 1, "House manual"),
    ]
    assert [(each.code, each.place) for each in reading.problems] == [("left_out", "page 1")]
    assert reading.facts["pages"] == 4
    assert reading.documents[0].source == "manual"


def test_paragraphs_are_put_together_again() -> None:
    reading = read(manual(with_outline=True), "m.pdf")
    assert body(reading, "1 Opening") == " ".join(PROSE)
    hoods = body(reading, "1.1 The hoods")
    assert hoods.endswith("because the fans need a minute before the burners are lit.")


def test_lists_and_code_keep_their_lines() -> None:
    text = body(read(manual(with_outline=True), "m.pdf"), "2 Closing")
    assert "- Lock the walk-in\n- Count the drawer twice and write the number" in text
    assert "on the sheet" in text.split("- Count")[1].split("1.")[0]
    assert "1. Lights\n2. Alarm" in text
    assert "```\ncode = 4711\n" in text


def test_running_heads_feet_and_page_numbers_are_dropped_and_told_once() -> None:
    reading = read(manual(with_outline=True), "m.pdf")
    assert "internal" not in everything(reading)
    assert "of 300" not in everything(reading)
    assert told(reading, "left_out") == ["Casa Lucero – internal"]


@pytest.mark.parametrize(
    "foot",
    [
        "All our fried dishes contain peanut and gluten.",
        "Never serve chicken below 165 degrees.",
        "Todas las frituras llevan cacahuate.",
        "Page {} of 300 – fried dishes have egg",
    ],
)
def test_a_foot_that_names_an_allergen_or_warns_is_read_once(foot: str) -> None:
    pdf = Pdf()
    for number in range(1, 5):
        pdf._y = 44
        pdf.line(foot.format(number), 9)
        pdf._y = 690
        pdf.heading(f"Chapter {number}", 20)
        pdf.prose()
        pdf.page()
    reading = read(pdf.bytes(), "m.pdf")
    assert everything(reading).count(foot.format(1)) == 1
    assert foot.format(3) == foot or foot.format(3) not in everything(reading)
    assert told(reading, "left_out") == []


def test_a_head_that_repeats_a_title_is_not_told() -> None:
    pdf = Pdf(head="Bar manual")
    for _ in range(3):
        pdf.prose()
        pdf.page()
    pdf.heading("Bar manual", 20)
    pdf.prose()
    assert told(read(pdf.bytes(), "m.pdf"), "left_out") == []


def test_printed_contents_go_but_for_what_stands_nowhere_else() -> None:
    pdf = Pdf()
    pdf.line("Contents")
    for number, title in enumerate(("Opening", "Nut allergies", "Ice", "Closing"), start=2):
        pdf.line(f"{number - 1}. {title} ........................ {number}")
    pdf.line("Satay with peanuts ........................ 9")
    pdf.line("Mole with lime ........................ 9")
    for title in ("Opening", "Nut allergies", "Ice", "Closing"):
        pdf.page()
        pdf.heading(title, 20)
        pdf.prose()
    reading = read(pdf.bytes(), "m.pdf")
    assert everything(reading).count("Nut allergies") == 1
    assert "Satay with peanuts" in everything(reading)
    assert told(reading, "left_out") == ["Mole with lime"]


def test_large_numbered_lines_at_the_head_of_pages_are_headings() -> None:
    pdf = Pdf()
    for number in range(1, 5):
        pdf._y = 745
        pdf.heading(f"Station {number}", 20)
        pdf.prose()
        pdf.page()
    titles = [title for title, *_ in outline(read(pdf.bytes(), "stations.pdf"))]
    assert titles == ["Stations", "Station 1", "Station 2", "Station 3", "Station 4"]


def test_a_pdf_without_headings_is_one_chapter() -> None:
    pdf = Pdf()
    pdf.prose()
    reading = read(pdf.bytes(), "07_bar-setup.pdf")
    assert outline(reading) == [("Bar setup", 0, None)]
    assert codes(reading) == ["no_headings"]


def test_a_number_above_a_title_is_part_of_it_and_labels_are_no_headings() -> None:
    pdf = Pdf()
    for number, title in enumerate(("Opening", "Closing"), start=1):
        pdf.heading(f"Chapter {number}", 16)
        pdf.heading(title, 22)
        for _ in range(3):
            pdf.prose()
            pdf.gap()
            pdf.line("Note", font="Helvetica-Bold")
            pdf.prose()
        pdf.gap()
        pdf.line("The hoods", font="Helvetica-Bold")
        pdf.prose()
        pdf.page()
    assert outline(read(pdf.bytes(), "m.pdf")) == [
        ("M", 0, None),
        ("Chapter 1 Opening", 1, "M"),
        ("The hoods", 2, "Chapter 1 Opening"),
        ("Chapter 2 Closing", 1, "M"),
        ("The hoods", 2, "Chapter 2 Closing"),
    ]


def test_pictures_of_pages_are_refused_and_one_among_others_is_named() -> None:
    assert fatal(read(scanned(pages=2, with_text=False), "scan.pdf")) == "no_text"
    reading = read(scanned(pages=1, with_text=True), "scan.pdf")
    assert [(each.code, each.place) for each in reading.problems if each.place] == [
        ("page_without_text", "page 1")
    ]


def scanned(*, pages: int, with_text: bool) -> bytes:
    from PIL import Image

    content = io.BytesIO()
    canvas = Canvas(content)
    picture = ImageReader(Image.new("RGB", (60, 80), "gray"))
    for _ in range(pages):
        canvas.drawImage(picture, 0, 0, 600, 800)
        canvas.showPage()
    if with_text:
        canvas.drawString(72, 700, "Turn on the hoods.")
    canvas.save()
    return content.getvalue()


def test_a_protected_pdf_is_refused() -> None:
    pdf = Pdf(password="sesame")
    pdf.prose()
    assert fatal(read(pdf.bytes(), "m.pdf")) == "encrypted"


@pytest.mark.parametrize("part", [0.05, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_pdf_is_refused(part: float) -> None:
    whole = manual(with_outline=True)
    assert fatal(read(whole[: int(len(whole) * part)], "m.pdf")) == "damaged"


def test_a_pdf_that_is_none_inside_is_refused() -> None:
    assert fatal(read(b"%PDF-1.7\n%%EOF", "m.pdf")) == "damaged"
    assert fatal(read(b"%PDF-1.7\n" + b"\x00\xff" * 5000 + b"%%EOF", "m.pdf")) == "damaged"


def test_three_hundred_pages_take_seconds_and_tell_how_far_they_are() -> None:
    pdf = Pdf(head="Casa Lucero")
    for number in range(1, 301):
        if number % 10 == 1:
            pdf.heading(f"Chapter {number // 10 + 1}", 20, level=0)
        for _ in range(9):
            pdf.prose()
        pdf.page()
    content = pdf.bytes()
    steps: list[tuple[str, int, int]] = []
    started = time.monotonic()
    reading = read_file(content, "m.pdf", "sop", "en", lambda *step: steps.append(step))
    assert time.monotonic() - started < 30
    assert len(reading.documents[0].sections) == 31
    assert ("reading", 150, 301) in steps
    assert steps[0][0] == "opening"
    assert steps[-1][0] == "sorting"


def drawn(*pieces: tuple[float, float, float, str], left: float = 72) -> bytes:
    """A page with a line of these pieces, each at its place: right of, above, size, words."""
    content = io.BytesIO()
    canvas = Canvas(content)
    canvas.setFont("Helvetica", 11)
    canvas.drawString(
        72, 740, "Keep cold food at or below 41 degrees while it waits for the guest."
    )
    for right, above, size, words in pieces:
        canvas.setFont("Helvetica", size)
        canvas.drawString(left + right, 700 + above, words)
    canvas.setFont("Helvetica", 11)
    canvas.drawString(72, 640, "Write both numbers on the sheet that hangs beside the door.")
    canvas.save()
    return content.getvalue()


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([(0, 0, 11, "Cook to 145"), (57.6, 5, 7, "1"), (64, 0, 11, "F.")], "Cook to 145¹ F."),
        ([(0, 0, 11, "Cook to 145"), (57.6, 5, 7, "1")], "Cook to 145¹"),
        ([(0, 0, 11, "CO"), (16.5, -2, 7, "2"), (21, 0, 11, "gas")], "CO₂gas"),
        (
            [(0, 0, 11, "Add 1"), (31, 5, 7, "1"), (35, 0, 11, "/"), (38, -2, 7, "2"),
             (45, 0, 11, "cups")],
            "Add 1 1/2 cups",
        ),
        ([(0, 0, 11, "Serve at 140"), (61.8, 0, 7, "F")], "Serve at 140F"),
        ([(0, 5, 7, "1"), (4, 0, 11, "In the thickest part.")], "¹In the thickest part."),
    ],
)  # fmt: skip
def test_raised_and_lowered_signs_join_no_number(
    pieces: list[tuple[float, float, float, str]], text: str
) -> None:
    said = everything(read(drawn(*pieces), "m.pdf"))
    assert text in said
    assert "1451" not in said
    assert "112" not in said


def rows(*lines: dict[int, str], size: float = 11) -> bytes:
    """A page with a title, and lines of words that begin so many points from the left."""
    pdf = Pdf()
    pdf.heading("Holding", 20)
    pdf.prose()
    for line in lines:
        for left, words in line.items():
            pdf.line(words, size, left=72 + left)
            pdf._y += size * 1.25
        pdf._y -= 18
    pdf.prose()
    return pdf.bytes()


def test_an_empty_cell_of_a_table_moves_no_value() -> None:
    lines = (
        {0: "Food", 100: "Hot", 200: "Cold"}, {0: "Soup", 100: "140"}, {0: "Salad", 200: "41"},
        {0: "Rice"}, {0: "Beans", 100: "135", 200: "41"},
    )  # fmt: skip
    reading = read(rows(*lines), "m.pdf")
    text = body(reading, "Holding")
    assert (
        "| Food | Hot | Cold |\n| --- | --- | --- |\n| Soup | 140 |  |\n| Salad |  | 41 |\n"
        "| Rice |  |  |\n| Beans | 135 | 41 |"
    ) in text
    assert text.startswith(PROSE[0])
    assert text.endswith(PROSE[2])
    assert told(reading, "pdf_table") == ["Food, Hot, Cold"]
    assert [each.place for each in reading.problems if each.code == "pdf_table"] == ["page 1"]


def test_a_title_above_two_columns_makes_no_one_column_of_them() -> None:
    lines = (
        {0: "Food", 100: "Temperature while it is held"}, {0: "of guests", 100: "Hot", 200: "Cold"},
        {0: "Soup", 100: "140"}, {0: "Salad", 200: "41"},
    )  # fmt: skip
    text = body(read(rows(*lines), "m.pdf"), "Holding")
    assert "| Salad |  | 41 |" in text
    assert "| Soup | 140 |  |" in text


def test_lists_and_single_lines_with_gaps_are_no_tables() -> None:
    lists = rows({0: "•", 30: "Lock the walk-in"}, {0: "•", 30: "Count the drawer"})
    reading = read(lists, "m.pdf")
    assert "- Lock the walk-in\n- Count the drawer" in body(reading, "Holding")
    single = read(rows({0: "Signed by", 200: "Date"}), "m.pdf")
    assert "Signed by Date" in body(single, "Holding")
    assert told(reading, "pdf_table") == told(single, "pdf_table") == []


def test_tables_of_one_page_are_told_once() -> None:
    pdf = Pdf()
    for _ in range(3):
        pdf.prose()
        for number in range(2):
            pdf.line(f"Soup {number}")
            pdf._y += 11 * 1.25
            pdf.line("140", left=200)
        pdf.gap()
    assert told(read(pdf.bytes(), "m.pdf"), "pdf_table") == ["Soup 0, 140"]


def test_a_cell_that_is_set_higher_is_in_its_row() -> None:
    pdf = Pdf()
    pdf.prose()
    for number in range(6):
        top = pdf._y
        for left, words, above in ((0, f"Food {number}", 0), (200 - number % 2 * 100, "41", 0),
                                   (300, "Stir often", 4)):  # fmt: skip
            pdf._y = top + above
            pdf.line(words, left=72 + left)
        pdf._y = top - 22
    pdf.prose()
    said = everything(read(pdf.bytes(), "m.pdf"))
    assert "| Food 0 |  | 41 | Stir often |" in said
    assert "| Food 5 | 41 |  | Stir often |" in said


def test_what_stands_in_the_fields_of_a_form_is_read_and_its_boxes_are_named() -> None:
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=(600, 800))
    canvas.drawString(50, 760, "Allergen sheet of the terrace")
    canvas.acroForm.checkbox(name="gluten", checked=True, x=200, y=698, size=12)
    canvas.acroForm.checkbox(name="nuts", checked=False, x=300, y=698, size=12)
    canvas.acroForm.textfield(name="note", value="contains milk", x=50, y=640, width=200, height=20)
    canvas.showPage()
    canvas.save()
    reading = read(content.getvalue(), "m.pdf")
    assert "contains milk" in everything(reading)
    assert told(reading, "left_out") == ["☒ gluten", "☐ nuts"]
