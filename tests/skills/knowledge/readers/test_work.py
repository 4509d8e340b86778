"""How the work of reading grows with the file: four times as much costs about four times."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import docx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from reportlab.pdfgen.canvas import Canvas

from app.retrieval.chunks import chunk_markdown
from app.retrieval.sentences import split_sentences
from app.skills.knowledge.readers import LIMITS, Reading, read_file
from app.skills.knowledge.services.documents import Library, prepare_documents
from app.skills.knowledge.web.presenters import anchor_blocks
from app.text.markdown import render_library_text
from app.text.slugs import UsedSlugs
from tests.growth import check_growth

# More than a file may have: what is measured is how it grows, not where it ends.
AMPLE = replace(LIMITS, sections=10**9, words=10**9, rows=10**9)
Make = Callable[[int], bytes]


def text(before: str, again: str, after: str = "") -> Make:
    return lambda size: f"{before}{again * size}{after}".encode()


def page(*again: str) -> Make:
    """An HTML page of so many of each, one kind after the other."""
    return lambda size: (
        f"<html><body>{''.join(e * size for e in again)}words</body></html>".encode()
    )


def nested(opening: str, again: str, closing: str) -> Make:
    return lambda size: (
        f"<html><body>{opening}{again * size}{closing}<p>words</p></body></html>".encode()
    )


def lists_of_one(size: int) -> bytes:
    """A Word document of so many numbered lists, each of one item."""
    document = docx.Document()
    for number in range(size):
        properties = document.add_paragraph("item")._p.get_or_add_pPr()
        numbering = OxmlElement("w:numPr")
        for name, value in (("w:ilvl", "0"), ("w:numId", str(number + 1))):
            element = OxmlElement(name)
            element.set(qn("w:val"), value)
            numbering.append(element)
        properties.append(numbering)
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def raised_and_charts(size: int) -> bytes:
    """A Word document of so many raised numbers and charts."""
    document = docx.Document()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart"
    for number in range(size):
        paragraph = document.add_paragraph("145")
        paragraph.add_run("1").font.superscript = True
        name = PackURI(f"/word/charts/chart{number}.xml")
        document.part.relate_to(Part(name, "application/xml", b"<chart/>", None), kind)
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def printed_table(size: int) -> bytes:
    """A PDF of so many rows of a table, with an empty cell and a raised number in each."""
    packed = io.BytesIO()
    canvas = Canvas(packed)
    for number in range(size):
        for left, words in ((72, f"Soup {number}"), (200 + number % 2 * 99, "145")):
            canvas.drawString(left, 700 - number % 40 * 16, words)
        canvas.setFontSize(7)
        canvas.drawString(220.1 + number % 2 * 99, 705 - number % 40 * 16, "1")
        canvas.setFontSize(12)
        if number % 40 == 39:
            canvas.showPage()
    canvas.save()
    return packed.getvalue()


@pytest.mark.parametrize(
    ("make", "name", "size"),
    [
        (text("", "# x\n", "words"), "same.md", 2_000),
        (text("", "# x\n## x\n### x\n###### x\n", "words"), "nested.md", 500),
        (text("# a", " ", "b\nwords"), "blanks.md", 400),
        (text("# b", " ", "{#\nwords"), "anchor.md", 400),
        (text("# a\n", "![", "\nwords"), "images.md", 4_000),
        (text("# a\n", "![](", "\nwords"), "addresses.md", 4_000),
        (page("<p>a</p>", "<h2>x</h2>"), "headings.html", 600),
        (page("<p>a</p>", "<script></script>"), "scripts.html", 2_000),
        (page("<p>a</p>", "<div class=toc>a</div>"), "contents.html", 1_000),
        (page("<p>a</p>", "<div class=note><p>a</p></div>"), "notes.html", 800),
        (nested("<ol>", "<li>a</li>", "</ol>"), "list.html", 2_000),
        (nested("<ol>", "<li><ol><li>a</li></ol></li>", "</ol>"), "lists.html", 600),
        (nested("<div>", "<p>a</p>", "<h2>x</h2>" * 2_000 + "</div>"), "first.html", 1_000),
        (
            nested("<table><thead>", "<tr><th>a</th></tr>", "</thead></table>"),
            "heads.html",
            500,
        ),
        (
            nested("<table>", "<tbody><tr><td>a</td></tr></tbody>", "</table>"),
            "bodies.html",
            500,
        ),
        (
            nested("<table>", "<tr><td rowspan=9 colspan=9>a<td>b</tr>", "</table>"),
            "spans.html",
            500,
        ),
        (
            nested("<table><tr>", "<td rowspan=65534 colspan=1000>a</td>", "</tr></table>"),
            "wide.html",
            500,
        ),
        (page("<td rowspan=65534>a</td>", "<tr>"), "loose.html", 1_000),
        (page("<aside><p>a b</p></aside>", "<button>a</button>"), "asides.html", 800),
        (page("<i title=a></i>", "<img alt=a>", "<s>a</s>"), "pictures.html", 1_000),
        (page("<p>a</p>", "1<sup>1</sup>/<sub>2</sub>"), "raised.html", 800),
        (page("<b>", "<p>a</p>"), "bold.html", 200),
        (nested("<del>", "a<p>b</p>", "</del>"), "struck.html", 1_000),
        (nested("<style>", ".a{text-decoration:line-through}", "</style>"), "style.html", 2_000),
        (nested("<style>", "/*a{", "</style>"), "comments.html", 10_000),
        (nested("<math>", "<mfrac><mn>1</mn><mn>2</mn></mfrac>", "</math>"), "maths.html", 800),
        (lists_of_one, "lists.docx", 500),
        (raised_and_charts, "charts.docx", 100),
        (printed_table, "table.pdf", 400),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_four_times_the_manual_is_about_four_times_the_work(
    make: Make, name: str, size: int
) -> None:
    def work(times: int) -> Callable[[], Reading]:
        content = make(times)
        return lambda: read_file(content, name, "sop", "en", limits=AMPLE)

    check_growth(work, size)


@pytest.mark.parametrize("cell", ["€", "$", " €", "1 ", "1,", "usd "])
def test_four_times_the_price_is_about_four_times_the_work(cell: str) -> None:
    def work(times: int) -> Callable[[], Reading]:
        content = f'name,price\nPozole,"1{cell * times}x"\n'.encode()
        return lambda: read_file(content, "menu.csv", "dishes", "en", limits=AMPLE)

    check_growth(work, 2_000)


@pytest.mark.parametrize("line", ["Pozole,95\n", 'Pozole,"9""5"\n', "Pozole,95,,,,,\n"])
def test_four_times_the_menu_is_about_four_times_the_work(line: str) -> None:
    def work(times: int) -> Callable[[], Reading]:
        content = f"name,price\n{line * times}".encode()
        return lambda: read_file(content, "menu.csv", "dishes", "en", limits=AMPLE)

    check_growth(work, 500)


def test_names_of_sections_are_made_sure_of_without_beginning_again() -> None:
    """What is read is compared with the library by the same names."""

    def work(times: int) -> Callable[[], object]:
        content = ("# x\n" * times + "words").encode()
        documents = read_file(content, "same.md", "sop", "en", limits=AMPLE).documents
        # Two documents of one file that call all their sections the same.
        again = [replace(documents[0]), replace(documents[0], source="again")]
        return lambda: prepare_documents(again, Library({}), kind="sop", language="en", chosen={})

    check_growth(work, 1_000)


@pytest.mark.parametrize(
    "work",
    [
        chunk_markdown,
        lambda body: anchor_blocks(render_library_text(body), "Link"),
        split_sentences,
    ],
    ids=["chunks", "anchors", "sentences"],
)
@pytest.mark.parametrize("again", ["# x\n", "# x\na b\n", "#\n", "A b. ", "1. a b\n"])
def test_four_times_the_section_is_about_four_times_the_work(
    work: Callable[[str], object], again: str
) -> None:
    check_growth(lambda times: lambda: work(again * times), 1_000)


def test_a_free_slug_is_the_first_that_is_not_taken() -> None:
    used = UsedSlugs(["a", "a-2", "a-4"])
    found = []
    for _ in range(3):
        found.append(used.free("a"))
        used.add(found[-1])
    assert found == ["a-3", "a-5", "a-6"]
    assert used.free("b") == "b"
    used.give_back(["a-3"])
    assert used.free("a") == "a-3"


def test_front_matter_that_is_endless_or_holds_itself_is_refused_or_ignored() -> None:
    long = b"---\ntitle: [" + b"a, " * 20_000 + b"]\n---\nwords"
    assert [p.code for p in read_file(long, "a.md", "sop", "en").problems] == ["bad_front_matter"]
    levels = "".join(
        f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9) if n else 'ha'}]\n" for n in range(12)
    )
    bomb = f"---\n{levels}title: *l11\n---\nwords".encode()
    [document] = read_file(bomb, "laughs.md", "sop", "en").documents
    assert document.sections[0].title == "Laughs"
