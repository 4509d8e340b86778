"""Word documents: heading styles in any language, lists, tables, and what is refused."""

from __future__ import annotations

from typing import Any

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from tests.skills.knowledge.readers.files import (
    body,
    codes,
    docx_of,
    everything,
    fatal,
    lying_zip,
    outline,
    read,
    repacked,
    small_docx,
    told,
    zip_of,
)


def handbook() -> Any:
    document = docx.Document()
    document.add_heading("House handbook", 0)
    document.add_paragraph("Read it before your first shift.")
    document.add_heading("Opening", 1)
    paragraph = document.add_paragraph("Turn on the ")
    paragraph.add_run("hoods").bold = True
    paragraph.add_run(" first, ")
    paragraph.add_run("always").italic = True
    paragraph.add_run(" * both.")
    document.add_heading("Checklist", 3)
    document.add_paragraph("Lights", style="List Bullet")
    document.add_paragraph("Dimmed", style="List Bullet 2")
    document.add_paragraph("Fryer", style="List Bullet")
    document.add_paragraph("Keys", style="List Number")
    document.add_paragraph("Alarm", style="List Number")
    document.add_heading("Closing", 1)
    table = document.add_table(rows=0, cols=2)
    for cells in (("Station", "Who"), ("Bar | patio", "Ana")):
        for cell, text in zip(table.add_row().cells, cells, strict=True):
            cell.text = text
    return document


def test_heading_styles_become_a_tree() -> None:
    reading = read(docx_of(handbook()), "handbook.es.docx")
    assert outline(reading) == [
        ("House handbook", 0, None),
        ("Opening", 1, "House handbook"),
        ("Checklist", 2, "Opening"),
        ("Closing", 1, "House handbook"),
    ]
    assert codes(reading) == []
    assert reading.documents[0].source == "handbook"


def test_emphasis_lists_and_tables_become_markdown() -> None:
    reading = read(docx_of(handbook()), "handbook.docx")
    assert body(reading, "House handbook") == "Read it before your first shift."
    assert body(reading, "Opening") == "Turn on the **hoods** first, *always* \\* both."
    assert "- Lights\n    - Dimmed\n- Fryer" in body(reading, "Checklist")
    assert "1. Keys\n2. Alarm" in body(reading, "Checklist")
    assert body(reading, "Closing") == "| Station | Who |\n| --- | --- |\n| Bar \\| patio | Ana |"


@pytest.mark.parametrize("name", ["Título 1", "Titulo 1", "Encabezado 1", "Überschrift 1"])
def test_heading_styles_may_have_the_names_of_another_language(name: str) -> None:
    document = docx.Document()
    document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Apertura", style=name)
    document.add_paragraph("Prende las campanas.")
    assert outline(read(docx_of(document), "a.docx")) == [("Apertura", 0, None)]


def test_an_outline_level_and_a_style_based_on_a_heading_are_headings_too() -> None:
    document = docx.Document()
    style = document.styles.add_style("House chapter", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = document.styles["Heading 1"]
    document.add_paragraph("Bar", style="House chapter")
    paragraph = document.add_paragraph("Ice")
    properties = paragraph._p.get_or_add_pPr()
    properties.append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="1"/>'))
    document.add_paragraph("Large cubes.")
    assert outline(read(docx_of(document), "a.docx")) == [("Bar", 0, None), ("Ice", 1, "Bar")]


def test_tracked_additions_are_read_and_deletions_are_not() -> None:
    document = docx.Document()
    document.add_heading("Ice", 1)
    paragraph = document.add_paragraph("Use ")
    paragraph._p.append(parse_xml(f"<w:ins {nsdecls('w')}><w:r><w:t>large</w:t></w:r></w:ins>"))
    paragraph._p.append(
        parse_xml(f"<w:del {nsdecls('w')}><w:r><w:delText>small</w:delText></w:r></w:del>")
    )
    paragraph.add_run(" cubes.")
    assert body(read(docx_of(document), "a.docx"), "Ice") == "Use large cubes."


def test_what_stands_in_content_controls_is_read_and_printed_contents_are_not() -> None:
    document = docx.Document()
    document.add_heading("Bar", 1)
    text = "<w:sdtContent><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:sdtContent>"
    contents = (
        "<w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj>"
        "</w:sdtPr>"
    )
    for inner in (contents + text.format("Bar ... 1"), text.format("Ice at three.")):
        control = parse_xml(f"<w:sdt {nsdecls('w')}>{inner}</w:sdt>")
        document.element.body.insert(1, control)
    assert body(read(docx_of(document), "a.docx"), "Bar") == "Ice at three."


BOXES = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
)


def xml(text: str) -> Any:
    """An element of Word's, with the names of its parts known."""
    end = next(place for place, sign in enumerate(text) if sign in " />" and place)
    return parse_xml(f"{text[:end]} {nsdecls('w')} {BOXES}{text[end:]}")


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"


def word_table(*rows: str) -> bytes:
    document = docx.Document()
    document.add_heading("Menu", 1)
    inside = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    document.element.body.insert(1, xml(f"<w:tbl>{inside}</w:tbl>"))
    return docx_of(document)


HEAD = cell("Kind") + cell("Dish") + cell("Milk") + cell("Peanuts")


def test_places_that_a_row_leaves_out_move_no_value() -> None:
    reading = read(
        word_table(
            HEAD,
            '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
            + cell("Satay") + cell("no") + cell("yes"),
            '<w:trPr><w:gridAfter w:val="1"/></w:trPr>'
            + cell("Soup") + cell("Pho") + cell("no"),
        ),
        "m.docx",
    )  # fmt: skip
    assert body(reading, "Menu").split("\n")[2:] == [
        "|  | Satay | no | yes |",
        "| Soup | Pho | no |  |",
    ]
    assert codes(reading) == []


def test_merged_cells_say_the_same_in_each_place() -> None:
    down = '<w:vMerge w:val="restart"/>'
    reading = read(
        word_table(
            HEAD,
            cell("Roll", down) + cell("Spring roll") + cell("no") + cell("yes", down),
            cell("", "<w:vMerge/>") + cell("Satay") + cell("no") + cell("", "<w:vMerge/>"),
            cell("Soup") + cell("Pho") + cell("ask", '<w:gridSpan w:val="2"/>'),
        ),
        "m.docx",
    )
    assert body(reading, "Menu").split("\n")[2:] == [
        "| Roll | Spring roll | no | yes |",
        "| Roll | Satay | no | yes |",
        "| Soup | Pho | ask | ask |",
    ]


def test_a_table_whose_rows_are_not_of_one_width_is_told() -> None:
    reading = read(word_table(HEAD, cell("Roll") + cell("Satay")), "m.docx")
    assert body(reading, "Menu").endswith("| Roll | Satay |  |  |")
    assert told(reading, "uneven_table") == ["Kind, Dish, Milk, Peanuts"]


def test_a_long_text_in_a_thousand_merged_rows_is_written_once() -> None:
    first = cell("word " * 2_000, '<w:vMerge w:val="restart"/>') + cell("yes")
    rows = [cell("", "<w:vMerge/>") + cell(f"no {number}") for number in range(1_000)]
    text = body(read(word_table(HEAD, first, *rows), "m.docx"), "Menu")
    assert text.count("word") == 2_000
    assert "no 999" in text


def text_box(text: str) -> str:
    content = f"<w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent>"
    return (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:wsp><wps:txbx>"
        f"{content}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape>"
        f"<v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )


def test_text_boxes_are_read_once() -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    paragraph = document.add_paragraph("Satay.")
    paragraph._p.append(xml(text_box("Contains peanuts.")))
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text = "Pho"
    table.cell(0, 1).paragraphs[0]._p.append(xml(text_box("Contains fish.")))
    text = body(read(docx_of(document), "m.docx"), "Menu")
    assert text.startswith("Satay.\n\nContains peanuts.\n\n| Pho | Contains fish. |")


@pytest.mark.parametrize(
    ("run", "sign"),
    [
        ('<w:sym w:font="Wingdings" w:char="F0FC"/>', "✓"),
        ('<w:sym w:font="Wingdings" w:char="F0FB"/>', "✗"),
        ('<w:sym w:font="Wingdings 2" w:char="F050"/>', "✓"),
        ('<w:sym w:font="Wingdings 2" w:char="F04F"/>', "✗"),
        ('<w:sym w:font="Wingdings" w:char="F0AF"/>', "■"),
        ('<w:sym w:font="Symbol" w:char="F0B3"/>', "≥"),
        ('<w:sym w:font="Arial" w:char="2713"/>', "✓"),
        ('<w:sym w:font="Arial" w:char="zz"/>', "■"),
        ('<w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr><w:t>ü</w:t>', "✓"),
        ("<w:t>\uf0fc</w:t>", "■"),
        (
            "<mc:AlternateContent><mc:Choice Requires='w16se'/><mc:Fallback><w:t>⚠</w:t>"
            "</mc:Fallback></mc:AlternateContent>",
            "⚠",
        ),
        ("<w:drawing><wp:inline><wp:docPr descr='contains'/></wp:inline></w:drawing>", "contains"),
    ],
)
def test_signs_and_pictures_say_what_they_show(run: str, sign: str) -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    document.add_paragraph("Satay: ")._p.append(xml(f"<w:r>{run}</w:r>"))
    text = body(read(docx_of(document), "m.docx"), "Menu")
    assert " ".join(text.split()) == f"Satay: {sign}"


def test_what_is_struck_out_stays_so() -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    style = document.styles.add_style("Void", WD_STYLE_TYPE.CHARACTER)
    style.font.strike = True
    paragraph = document.add_paragraph("Has ")
    paragraph.add_run("no ").font.strike = True
    bold = paragraph.add_run("peanuts")
    bold.bold = bold.font.double_strike = True
    paragraph.add_run(" soy and ")
    paragraph.add_run("egg", style="Void")
    paragraph.add_run(" ~~fish~~")
    heading = document.add_heading("Without ", 2)
    heading.add_run("milk").font.strike = True
    reading = read(docx_of(document), "m.docx")
    expected = "Has ~~no **peanuts**~~ soy and ~~egg~~ \\~\\~fish\\~\\~"
    assert body(reading, "Menu") == expected
    assert outline(reading)[1][0] == "Without ~~milk~~"


def test_heads_and_feet_are_read_if_they_warn_and_else_told() -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    document.add_paragraph("Satay.").add_run("An old rule.").font.hidden = True
    section = document.sections[0]
    section.header.paragraphs[0].text = "Casa Lucero"
    section.footer.paragraphs[0].text = "All our fried dishes contain peanut."
    section.footer.add_paragraph("Page 1 of 3")
    reading = read(docx_of(document), "m.docx")
    assert everything(reading) == "Menu Satay.\n\nAll our fried dishes contain peanut."
    assert told(reading, "left_out") == ["Casa Lucero", "An old rule."]
    assert reading.is_usable


def test_notes_stand_where_they_are_referred_to() -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    paragraph = document.add_paragraph("Satay")
    paragraph._p.append(xml('<w:r><w:footnoteReference w:id="2"/></w:r>'))
    paragraph.add_run(" with rice")
    paragraph._p.append(xml('<w:r><w:footnoteReference w:id="2"/></w:r>'))
    notes = (
        f"<w:footnotes {nsdecls('w')}><w:footnote w:id='2'><w:p><w:r><w:footnoteRef/><w:t>"
        "Contains peanuts.</w:t><w:footnoteReference w:id='2'/></w:r></w:p></w:footnote>"
        "</w:footnotes>"
    )
    part = Part(PackURI("/word/footnotes.xml"), "application/xml", notes.encode(), None)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    text = body(read(docx_of(document), "m.docx"), "Menu")
    assert text == "Satay (Contains peanuts.) with rice"


def test_a_document_without_headings_is_one_chapter() -> None:
    document = docx.Document()
    document.core_properties.title = "Closing duties"
    document.add_paragraph("Lock the door.")
    reading = read(docx_of(document), "c.docx")
    assert outline(reading) == [("Closing duties", 0, None)]
    assert codes(reading) == ["no_headings"]


def test_macros_are_refused_by_what_is_in_the_file_not_by_its_name() -> None:
    with_macros = repacked(small_docx(), {"word/vbaProject.bin": b"\xd0\xcf"})
    assert fatal(read(with_macros, "innocent.docx")) == "has_macros"
    types = (
        '<Types><Override PartName="/word/document.xml" '
        'ContentType="application/vnd.ms-word.document.macroEnabled.main+xml"/></Types>'
    )
    assert fatal(read(repacked(small_docx(), {"[Content_Types].xml": types}), "a.docx")) == (
        "has_macros"
    )


def test_corrupt_documents_are_refused() -> None:
    whole = small_docx()
    assert fatal(read(whole[: len(whole) // 2], "a.docx")) == "damaged"
    assert fatal(read(repacked(whole, {"word/document.xml": "<w:document"}), "a.docx")) == "damaged"
    assert fatal(read(b"PK\x03\x04" + b"\0" * 500, "a.docx")) == "damaged"
    broken = bytearray(whole)
    place = whole.index(b"word/document.xml") + 40
    broken[place : place + 40] = b"\xff" * 40
    assert fatal(read(bytes(broken), "a.docx")) == "damaged"


def test_declared_entities_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
    assert (
        fatal(read(repacked(small_docx(), {"word/document.xml": bomb}), "a.docx")) == "unsafe_xml"
    )
    wide = bomb.encode("utf-16")
    assert fatal(read(repacked(small_docx(), {"word/styles.xml": wide}), "a.docx")) == "unsafe_xml"


def test_zip_bombs_are_refused_before_anything_is_unpacked() -> None:
    bomb = repacked(small_docx(), {"word/media/image1.bmp": b"\0" * 60_000_000})
    assert len(bomb) < 200_000
    assert fatal(read(bomb, "a.docx")) == "zip_bomb"
    assert fatal(read(zip_of({f"{n}.html": "x" for n in range(5001)}), "a.zip")) == "zip_bomb"


def test_a_zip_file_that_lies_about_a_size_gives_no_more_than_it_said() -> None:
    lying = lying_zip("a.html", b"<h1>Bar</h1>" + b"<p>ice</p>" * 100_000, says=1000)
    assert fatal(read(lying, "a.zip")) in ("no_sections", "damaged")


def test_old_and_protected_office_files_say_what_to_do() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    assert fatal(read(ole, "a.doc")) == "old_office"
    protected = ole + "EncryptedPackage".encode("utf-16-le")
    assert fatal(read(protected, "a.docx")) == "encrypted"


MATHS = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (["145", "^1", " F"], "145¹ F"),
        (["Add 1", "^1", "/", "_2", " cups"], "Add 1 1/2 cups"),
        (["1", "^1/2", " cups"], "1 1/2 cups"),
        (["CO", "_2"], "CO₂"),
        (["the 1", "^s", "^t", " of May"], "the 1st of May"),
        (["145", "^a", "F"], "145 (a) F"),
    ],
)
def test_raised_and_lowered_runs_join_no_word_and_no_number(runs: list[str], text: str) -> None:
    document = docx.Document()
    for paragraph in (document.add_heading("", 1), document.add_paragraph()):
        for each in runs:
            run = paragraph.add_run(each.lstrip("^_"))
            if each.startswith("^"):
                run.font.superscript = True
            elif each.startswith("_"):
                run.font.subscript = True
    assert outline(read(docx_of(document), "m.docx"))[0][0] == text
    assert body(read(docx_of(document), "m.docx"), text) == text


def test_a_style_raises_too() -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    document.styles.add_style("Note mark", WD_STYLE_TYPE.CHARACTER).font.superscript = True
    paragraph = document.add_paragraph("Cook to 145")
    paragraph.add_run("1", style="Note mark")
    assert body(read(docx_of(document), "m.docx"), "Menu") == "Cook to 145¹"


def maths(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("equation", "text"),
    [
        (
            f"{maths('3')}<m:f><m:num>{maths('1')}</m:num><m:den>{maths('2')}</m:den></m:f>",
            "Water: 3 1/2 l",
        ),
        (
            f"<m:f><m:num>{maths('a+b')}</m:num><m:den>{maths('c')}</m:den></m:f>",
            "Water: ((a+b)/c) l",
        ),
        (f"<m:sSup><m:e>{maths('10')}</m:e><m:sup>{maths('2')}</m:sup></m:sSup>", "Water: 10² l"),
        (f"<m:sSub><m:e>{maths('x')}</m:e><m:sub>{maths('1')}</m:sub></m:sSub>", "Water: x₁ l"),
    ],
)
def test_equations_keep_their_numbers_apart(equation: str, text: str) -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    paragraph = document.add_paragraph("Water: ")
    paragraph._p.append(parse_xml(f"<m:oMath {MATHS}>{equation}</m:oMath>"))
    paragraph.add_run(" l")
    said = body(read(docx_of(document), "m.docx"), "Menu")
    assert " ".join(said.split()) == text


OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
DIAGRAM = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'


def attach(document: Any, kind: str, name: str, content: str | bytes) -> str:
    """The id of the relation to a part of the document."""
    blob = content.encode() if isinstance(content, str) else content
    part = Part(PackURI(f"/word/{name}"), "application/octet-stream", blob, document.part.package)
    return str(document.part.relate_to(part, f"{OFFICE}/{kind}"))


def drawn(*texts: str) -> str:
    return "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)


def with_diagram(*texts: str) -> Any:
    document = docx.Document()
    document.add_heading("Bleach", 1)
    data = f"<dgm:dataModel {DIAGRAM} {DRAWING}><dgm:t>{drawn(*texts)}</dgm:t></dgm:dataModel>"
    relation = attach(document, "diagramData", "diagrams/data1.xml", data)
    ids = f"<dgm:relIds {DIAGRAM} xmlns:r='{OFFICE}' r:dm='{relation}'/>"
    run = xml(f"<w:r><w:drawing>{ids}</w:drawing></w:r>")
    document.add_paragraph("Follow the chart.")._p.append(run)
    document.add_heading("Ice", 1)
    document.add_paragraph("Large cubes.")
    return document


def test_a_diagram_is_read_where_it_warns_and_else_told() -> None:
    reading = read(docx_of(with_diagram("Never mix with ammonia", "Step one")), "m.docx")
    assert body(reading, "Bleach") == "Follow the chart.\n\nNever mix with ammonia"
    assert told(reading, "left_out") == ["Step one"]


def test_charts_and_comments_are_read_where_they_warn_and_else_told() -> None:
    document = docx.Document()
    document.add_heading("Menu", 1)
    chart = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    data = "<c:ser><c:v>Soup</c:v><c:v>140</c:v></c:ser>"
    whole = f"<c:chartSpace {chart} {DRAWING}>{drawn('Heat')}{data}</c:chartSpace>"
    attach(document, "chart", "charts/chart1.xml", whole)
    comment = "<w:comment><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:comment>"
    comments = comment.format("Contains peanuts!") + comment.format("Ask Ana")
    attach(
        document, "comments", "comments.xml", f"<w:comments {nsdecls('w')}>{comments}</w:comments>"
    )
    reading = read(docx_of(document), "m.docx")
    assert body(reading, "Menu") == "Contains peanuts!"
    assert sorted(told(reading, "left_out")) == ["Ask Ana", "Heat", "Soup, 140"]


@pytest.mark.parametrize(
    ("name", "content", "left"),
    [
        ("a.html", "<p>Shellfish <b>stock</b>.</p><p>Stir it.</p><script>x</script>", "Stir it."),
        ("a.txt", "Shellfish stock.\r\nStir it.\r\n", "Stir it."),
        ("a.rtf", "{\\rtf1 Shellfish}", "a.rtf"),
        ("a.docx", b"PK broken", "a.docx"),
        ("a.docx", small_docx(), "Opening"),
    ],
)
def test_a_file_that_is_put_in_whole_is_read_or_told(
    name: str, content: str | bytes, left: str
) -> None:
    document = docx.Document()
    document.add_heading("Ramen", 1)
    relation = attach(document, "aFChunk", name, content)
    document.element.body.insert(1, xml(f"<w:altChunk xmlns:r='{OFFICE}' r:id='{relation}'/>"))
    document.add_heading("Ice", 1)
    document.add_paragraph("Large cubes.")
    reading = read(docx_of(document), "m.docx")
    assert left in told(reading, "left_out")
    if name in ("a.html", "a.txt"):
        assert "Shellfish" in body(reading, "Ramen")


def test_a_file_that_lies_outside_the_document_is_not_asked_for() -> None:
    document = docx.Document()
    document.add_heading("Ramen", 1)
    document.add_paragraph("Stir it.")
    document.part.relate_to("http://127.0.0.1/a.html", f"{OFFICE}/aFChunk", is_external=True)
    assert codes(read(docx_of(document), "m.docx")) in ([], ["unsafe_xml"])


def numbered(document: Any, *levels: str) -> str:
    """A list of its own whose first level is numbered so; its id."""
    numbering = document.part.numbering_part.element
    numbering.insert(
        0,
        parse_xml(
            f'<w:abstractNum {nsdecls("w")} w:abstractNumId="95"><w:lvl w:ilvl="0">'
            f"{''.join(levels)}</w:lvl></w:abstractNum>"
        ),
    )
    numbering.append(
        parse_xml(f'<w:num {nsdecls("w")} w:numId="195"><w:abstractNumId w:val="95"/></w:num>')
    )
    return "195"


@pytest.mark.parametrize(
    ("start", "kind", "signs"),
    [
        (7, "decimal", ["7.", "8."]),
        (1, "upperLetter", ["- A.", "- B."]),
        (26, "lowerLetter", ["- z.", "- aa."]),
        (4, "upperRoman", ["- IV.", "- V."]),
        (1, "bullet", ["-", "-"]),
    ],
)
def test_a_legend_keeps_the_numbers_and_letters_that_it_is_shown_with(
    start: int, kind: str, signs: list[str]
) -> None:
    document = docx.Document()
    document.add_heading("Legend", 1)
    level = f'<w:start w:val="{start}"/>', f'<w:numFmt w:val="{kind}"/>'
    list_id = numbered(document, *level)
    for text in ("Milk", "Nuts"):
        properties = document.add_paragraph(text)._p.get_or_add_pPr()
        properties.append(
            parse_xml(
                f'<w:numPr {nsdecls("w")}><w:ilvl w:val="0"/><w:numId w:val="{list_id}"/></w:numPr>'
            )
        )
    shown = body(read(docx_of(document), "m.docx"), "Legend").splitlines()
    assert [line for line in shown if line] == [f"{signs[0]} Milk", f"{signs[1]} Nuts"]


def test_what_a_style_hides_is_not_read_and_is_named() -> None:
    """ "Made with no peanuts" is what was read where Word shows "made with peanuts"."""
    document = docx.Document()
    document.add_heading("Wok", 1)
    document.styles.add_style("Former", WD_STYLE_TYPE.CHARACTER).font.hidden = True
    document.styles.add_style("Gone", WD_STYLE_TYPE.PARAGRAPH).font.hidden = True
    paragraph = document.add_paragraph("The wok is made with ")
    paragraph.add_run("no ", style="Former")
    paragraph.add_run("peanuts.")
    document.add_paragraph("An old recipe", style="Gone").add_run(" shown").font.hidden = False
    seen = document.styles.add_style("Seen", WD_STYLE_TYPE.PARAGRAPH)
    seen.base_style = document.styles["Gone"]
    seen.font.hidden = False
    document.add_paragraph("Seen again", style="Seen")
    reading = read(docx_of(document), "m.docx")
    assert body(reading, "Wok") == "The wok is made with peanuts.\n\nshown\n\nSeen again"
    assert {"no", "An old recipe"} <= {detail.strip() for detail in told(reading, "left_out")}


def test_boxes_and_lists_of_older_forms_say_what_they_are_set_to() -> None:
    document = docx.Document()
    document.add_heading("Sheet", 1)
    fields = (
        '<w:checkBox><w:default w:val="1"/></w:checkBox>',
        '<w:checkBox><w:default w:val="0"/></w:checkBox>',
        '<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>',
        '<w:ddList><w:result w:val="1"/><w:listEntry w:val="none"/><w:listEntry w:val="nuts"/>'
        "</w:ddList>",
    )
    paragraph = document.add_paragraph("Praline: ")
    for field in fields:
        paragraph._p.append(
            parse_xml(
                f'<w:r {nsdecls("w")}><w:fldChar w:fldCharType="begin"><w:ffData>{field}</w:ffData>'
                "</w:fldChar></w:r>"
            )
        )
    assert body(read(docx_of(document), "m.docx"), "Sheet") == "Praline: ☒☐☒nuts"


def test_what_is_moved_up_or_down_by_hand_joins_no_number() -> None:
    document = docx.Document()
    document.add_heading("Ramen", 1)
    paragraph = document.add_paragraph("Take 1")
    paragraph._p.append(
        parse_xml(f'<w:r {nsdecls("w")}><w:rPr><w:position w:val="10"/></w:rPr><w:t>2</w:t></w:r>')
    )
    paragraph.add_run(" litres")
    moved = document.add_paragraph("Keep it at ")
    moved._p.append(
        parse_xml(f'<w:r {nsdecls("w")}><w:rPr><w:position w:val="2"/></w:rPr><w:t>165</w:t></w:r>')
    )
    shown = body(read(docx_of(document), "m.docx"), "Ramen")
    assert shown == "Take 1² litres\n\nKeep it at 165"
