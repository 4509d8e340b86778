"""The fields of a PDF's forms: what is written in them becomes text, what is ticked is named."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as raw

MOST_FIELDS = 2_000
LONGEST_NAME = 200  # in letters


def open_page(document: pdfium.PdfDocument, number: int) -> tuple[pdfium.PdfPage, list[str]]:
    """A page with what its fields hold as part of its text, and its boxes: "☒ gluten".

    Boxes are drawn and have no letters.

    Raises:
        pdfium.PdfiumError: the page is damaged.
    """
    page = document[number]
    if not document.formenv or not raw.FPDFPage_GetAnnotCount(page):
        return page, []
    boxes = [*_boxes(document.formenv, page)]
    page.flatten()
    # What was flattened is there when the page is opened anew.
    page.close()
    return document[number], boxes


def _boxes(form: pdfium.PdfFormEnv, page: pdfium.PdfPage) -> Iterator[str]:
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_FIELDS)):
        field = raw.FPDFPage_GetAnnot(page, number)
        if not field:
            continue
        kind = raw.FPDFAnnot_GetFormFieldType(form, field)
        if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
            is_ticked = raw.FPDFAnnot_IsChecked(form, field)
            yield f"{'☒' if is_ticked else '☐'} {_name(form, field)}"
        raw.FPDFPage_CloseAnnot(field)


def _name(form: pdfium.PdfFormEnv, field: raw.FPDF_ANNOTATION) -> str:
    letters = (ctypes.c_ushort * LONGEST_NAME)()
    size = raw.FPDFAnnot_GetFormFieldName(form, field, letters, ctypes.sizeof(letters))
    return bytes(letters)[: max(0, size - 2)].decode("utf-16-le", "replace")
