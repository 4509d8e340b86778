"""A submission as a PDF: the group's name, every field, pictures drawn, pages numbered."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from flask_babel import gettext as _
from PIL import Image, UnidentifiedImageError
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import inch
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    CondPageBreak,
    Flowable,
    HRFlowable,
    KeepTogether,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
)

from app.jobs.system_threads import RealThreads
from app.skills.forms.services.submission_sheet import Line, Sheet

INK, GREY, LINE = HexColor("#1f1b16"), HexColor("#5c544a"), HexColor("#e6ded1")
MARGIN = 0.8 * inch
# The largest box that a picture is drawn in, and how many dots are enough for it.
BOXES = {"photo": (4.5 * inch, 3.6 * inch), "signature": (3 * inch, 1.1 * inch)}
DOTS = 1200
# No label stands alone at the foot of a page.
LEAST = 0.6 * inch
MISSING = "?"
# So many lines of text are printed, some 70 pages; a line has about so many letters.
MOST_LINES = 3_000
LETTERS_A_LINE = 90
# A photo takes a tenth of a second to bring to the size of paper, and two of them fill a page.
MOST_PICTURES = 100
# A line of nothing keeps its height.
EMPTY = "\xa0"
_EMPTY = re.compile(r"\n(?:[^\S\n]*\n){2,}")
# What has no blank for longer than any word is broken, or laying it out takes minutes.
_LONG_WORD = re.compile(r"(\S{200})(?=\S)")
_PRINTERS = RealThreads(1, holds_nothing=True)

# Gives the bytes of a file by its id; None where they are gone.
ReadFile = Callable[[str], bytes | None]


def make_pdf(sheet: Sheet, read_file: ReadFile) -> bytes:
    """The submission on letter paper; a picture that cannot be read leaves its name.

    Of its text `MOST_LINES` lines are printed; what is left out is told. Of its pictures the first
    `MOST_PICTURES` are drawn, and the others named. It is made in a thread of
    the system, because pages of others wait for nothing here.
    """
    drawn = [each["id"] for line in sheet.lines if line.has_pictures for each in line.files]
    pictures = {
        each: _PRINTERS.run(partial(_shrunk, read_file(each))) for each in drawn[:MOST_PICTURES]
    }
    return _PRINTERS.run(partial(_make, sheet, pictures))


def _make(sheet: Sheet, pictures: Mapping[str, bytes | None]) -> bytes:
    output = io.BytesIO()
    document = SimpleDocTemplate(
        output,
        pagesize=letter,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        title=f"{sheet.title} · {sheet.reference}",
        author=sheet.group_name,
    )
    document.build(_story(sheet, pictures), canvasmaker=partial(_NumberedPages, sheet=sheet))
    return output.getvalue()


class _NumberedPages(Canvas):  # type: ignore[misc]
    """Keeps the pages until all are drawn: at the foot of each stands how many there are."""

    def __init__(self, *args: Any, sheet: Sheet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sheet = sheet
        self._drawn: list[dict[str, Any]] = []

    def showPage(self) -> None:  # noqa: N802 (reportlab's name)
        self._drawn.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        for number, page in enumerate(drawn := self._drawn, 1):
            self.__dict__.update(page)
            _draw_foot(self, self._sheet, number, len(drawn))
            super().showPage()
        super().save()


def _story(sheet: Sheet, pictures: Mapping[str, bytes | None]) -> list[Any]:
    sent = _(
        "Sent by %(name)s on %(moment)s",
        name=sheet.submitter or _("Former colleague"),
        moment=sheet.moment,
    )
    story: list[Any] = [
        _words(sheet.group_name, "group"),
        _words(sheet.title, "title"),
        _words(sheet.reference, "reference"),
        _words(sent, "label"),
        Spacer(1, 8),
        HRFlowable(width="100%", color=LINE, thickness=1),
    ]
    left = MOST_LINES
    for line in sheet.lines:
        text, left = _shortened(line.text, left)
        story += _line(replace(line, text=text), pictures)
    return story


def _shortened(text: str, left: int) -> tuple[str, int]:
    """As many lines of a text as may still be printed, empty ones at most one by one."""
    lines = _LONG_WORD.sub(r"\1\n", _EMPTY.sub("\n\n", text)).split("\n")
    # One that goes on over many lines of the paper counts as so many.
    sizes = [1 + len(line) // LETTERS_A_LINE for line in lines]
    printed: list[str] = []
    room = max(left, 1)
    for line, size in zip(lines, sizes, strict=True):
        if room <= 0:
            break
        printed.append(line if size <= room else f"{line[: room * LETTERS_A_LINE]}…")
        room -= size
    missing = max(sum(sizes) - max(left, 1), 0)
    if missing:
        printed.append(_("%(number)s more lines are in Comanda.", number=missing))
    return "\n".join(printed), left - sum(sizes) + missing - bool(missing)


def _line(line: Line, pictures: Mapping[str, bytes | None]) -> list[Any]:
    if line.is_heading:
        return [_words(line.label, "heading")]
    label = _words(line.label, "label")
    if not line.files:
        # Not kept together: a long text begins below its label and goes on over the pages.
        lines = (line.text or "—").split("\n")
        return [CondPageBreak(LEAST), label, *(_words(each, "value") for each in lines)]
    drawn: list[Any] = []
    for each in line.files:
        picture = pictures.get(each["id"])
        drawn.append(_Picture(picture, line.type) if picture else _words(each["name"], "value"))
        drawn.append(Spacer(1, 6))
    return [KeepTogether([label, drawn[0]]), *drawn[1:]]


class _Jpeg(ImageReader):  # type: ignore[misc]
    """A JPEG that goes into the file as it is: taken apart, each photo would hold 9 MB."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))
        self._content = content
        # What shines through has been laid on white.
        self._dataA = None

    def getRGBData(self) -> bytes:  # noqa: N802 (reportlab's name)
        """What the canvas tells pictures apart by, which is all that it wants it for."""
        return self._content


class _Picture(Flowable):  # type: ignore[misc]
    """A picture as large as its box allows, and never larger than it is."""

    def __init__(self, content: bytes, type_: str) -> None:
        super().__init__()
        self._jpeg = _Jpeg(content)
        wide, high = self._jpeg.getSize()
        width, height = BOXES[type_]
        scale = min(width / wide, height / high, 1)
        self.width, self.height = wide * scale, high * scale

    def draw(self) -> None:
        self.canv.drawImage(self._jpeg, 0, 0, self.width, self.height)


def _shrunk(content: bytes | None) -> bytes | None:
    """A picture with no more dots than paper shows, on white; None where it is none."""
    if content is None:
        return None
    try:
        with Image.open(io.BytesIO(content)) as picture:
            picture.thumbnail((DOTS, DOTS))
            bare = picture.convert("RGBA")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError):
        return None
    paper = Image.new("RGB", bare.size, "white")
    paper.paste(bare, mask=bare.getchannel("A"))
    output = io.BytesIO()
    paper.save(output, "JPEG", quality=80)
    return output.getvalue()


def _draw_foot(canvas: Canvas, sheet: Sheet, number: int, count: int) -> None:
    fonts, width = _fonts(), letter[0]
    canvas.setFont(fonts["plain"], 8)
    canvas.setFillColor(GREY)
    canvas.drawString(MARGIN, MARGIN / 2, _drawable(f"{sheet.group_name} · {sheet.reference}"))
    told = _("Page %(number)s of %(count)s", number=number, count=count)
    canvas.drawRightString(width - MARGIN, MARGIN / 2, told)


def _words(text: str, style: str) -> Paragraph:
    """One line of text as it stands: nothing in it is read as markup, which takes long too."""
    paragraph = Paragraph("x", _styles()[style])
    paragraph.frags[0].text = _drawable(text) or EMPTY
    return paragraph


def _drawable(text: str) -> str:
    """A text without what the font has no drawing of."""
    known = pdfmetrics.getFont(_fonts()["plain"]).face.charToGlyph
    return "".join(sign if ord(sign) in known else MISSING for sign in text)


@cache
def _fonts() -> dict[str, str]:
    """Fonts that come with the PDF maker and are put into the file: any reader has the accents."""
    for name, file in (("Vera", "Vera.ttf"), ("Vera-Bold", "VeraBd.ttf")):
        pdfmetrics.registerFont(TTFont(name, file))
    return {"plain": "Vera", "bold": "Vera-Bold"}


@cache
def _styles() -> dict[str, ParagraphStyle]:
    fonts = _fonts()

    def style(name: str, font: str, size: float, color: Any = INK, **more: Any) -> ParagraphStyle:
        return ParagraphStyle(
            name, fontName=fonts[font], fontSize=size, leading=size * 1.4, textColor=color, **more
        )

    return {
        "group": style("group", "plain", 10, GREY, spaceAfter=4),
        "title": style("title", "bold", 17, spaceAfter=2),
        "reference": style("reference", "bold", 11, spaceAfter=2),
        "heading": style("heading", "bold", 12, spaceBefore=16, keepWithNext=1),
        "label": style("label", "plain", 8.5, GREY, spaceBefore=9),
        "value": style("value", "plain", 10.5),
    }
