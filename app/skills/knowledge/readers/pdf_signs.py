"""The signs of one printed line with their places: what is raised, and what stands apart."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from app.skills.knowledge.readers.superscripts import END, LOWERED, RAISED

# Parts of the letters' size: how much smaller, and how far above the line, raised text is at
# least; and how wide a gap is that parts two columns, where a justified line's blanks are narrower.
SMALLER, SHIFTED, WIDE = 0.92, 0.08, 1.2
# A line that a raised sign broke off goes on this near, and beside it.
NEAR, BESIDE, BLANK = 0.6, 0.3, 0.12


@dataclass(slots=True)
class Sign:
    """A sign and its box, in points from the page's lower left corner; `index` is the library's."""

    text: str
    index: int
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a line that stand apart from the others, and where."""

    text: str
    left: float
    right: float


def read_signs(text_page: pdfium.PdfTextPage, text: str, start: int) -> list[Sign]:
    """The signs of a line that begins at `start` of the page's text, in 16-bit units."""
    first = raw.FPDFText_GetCharIndexFromTextIndex(text_page, start)
    last = raw.FPDFText_GetCharIndexFromTextIndex(text_page, start + len(text) - 1)
    is_even = last - first == len(text) - 1
    signs, place = [], start
    for number, sign in enumerate(text):
        index = first + number
        if not is_even:
            index = raw.FPDFText_GetCharIndexFromTextIndex(text_page, place)
        signs.append(Sign(sign, index, *_box(text_page, index)))
        place += 1 + (sign > "\uffff")
    return signs


def goes_on(before: Sequence[Sign], line: Sequence[Sign]) -> bool:
    """Whether a line goes on where the one before it ends: the library breaks at raised signs."""
    last, first = before[-1], line[0]
    least = min(last.height, first.height)
    if least <= 0:
        return False
    shared = min(last.top, first.top) - max(last.bottom, first.bottom)
    gap = first.left - last.right
    return shared > BESIDE * least and -0.2 * least < gap < NEAR * least


def between(before: Sequence[Sign], line: Sequence[Sign]) -> list[Sign]:
    """A blank, where a line that goes on does so behind a gap: many programs print no blanks."""
    last, first = before[-1], line[0]
    is_apart = first.left - last.right > BLANK * min(last.height, first.height)
    return [Sign(" ", first.index, 0.0, 0.0, 0.0, 0.0)] if is_apart else []


def base_of(signs: Sequence[Sign]) -> Sign:
    """A sign that stands on the line, in the size of most."""
    counts = Counter((round(each.height), round(each.bottom)) for each in signs if is_word(each))
    if not counts:
        return signs[0]
    usual = counts.most_common(1)[0][0]
    return next(
        each
        for each in signs
        if is_word(each) and (round(each.height), round(each.bottom)) == usual
    )


def is_word(sign: Sign) -> bool:
    return not sign.text.isspace() and sign.height > 0


def marked(text_page: pdfium.PdfTextPage, signs: Sequence[Sign], base: Sign) -> list[str]:
    """Each sign's text, with the marks of `raised` around what is raised or lowered."""
    size, line = size_of(text_page, base.index), _baseline(text_page, base.index)
    texts = [each.text for each in signs]
    place = 0
    for mark, run in groupby(signs, key=lambda each: _mark(text_page, each, base, size, line)):
        count = sum(1 for _ in run)
        if mark:
            texts[place] = mark + texts[place]
            texts[place + count - 1] += END
        place += count
    return texts


def _mark(text_page: pdfium.PdfTextPage, sign: Sign, base: Sign, size: float, line: float) -> str:
    is_moved = abs(sign.bottom - base.bottom) > SHIFTED * base.height
    if not is_word(sign) or not (is_moved or sign.height < SMALLER * base.height):
        return ""
    if size_of(text_page, sign.index) > SMALLER * size:
        return ""
    shift = _baseline(text_page, sign.index) - line
    if abs(shift) <= SHIFTED * size:
        return ""
    return RAISED if shift > 0 else LOWERED


def starts_of_pieces(signs: Sequence[Sign], size: float) -> list[int]:
    """The places of the signs before which a wide gap is, the first sign among them."""
    starts = [0]
    last: Sign | None = None
    for place, sign in enumerate(signs):
        if not is_word(sign):
            continue
        if last is not None and sign.left - last.right > WIDE * size:
            starts.append(place)
        last = sign
    return starts


def size_of(text_page: pdfium.PdfTextPage, index: int) -> float:
    """The letter's size in points, as it is printed: many programs scale a size of 1."""
    matrix = raw.FS_MATRIX()
    scale = 1.0
    if raw.FPDFText_GetMatrix(text_page, index, matrix):
        scale = math.hypot(matrix.c, matrix.d) or 1.0
    return float(raw.FPDFText_GetFontSize(text_page, index)) * scale


def _baseline(text_page: pdfium.PdfTextPage, index: int) -> float:
    left, bottom = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text_page, index, left, bottom)
    return bottom.value


def _box(text_page: pdfium.PdfTextPage, index: int) -> tuple[float, float, float, float]:
    rect = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text_page, index, rect):
        return 0.0, 0.0, 0.0, 0.0
    return rect.left, rect.bottom, rect.right, rect.top
