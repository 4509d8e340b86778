"""What is wrong with a file, in words that say what to do next."""

from __future__ import annotations

from collections.abc import Callable

from flask_babel import gettext, ngettext

from app.skills.knowledge.readers.result import FileProblem
from app.skills.knowledge.services.menu_limits import (
    MOST_CATEGORIES,
    MOST_LETTERS,
    MOST_PRODUCTS,
    MOST_TAGS,
    MOST_TAGS_IN_ALL,
)
from app.skills.knowledge.services.products import LONGEST_NAME, MOST_ROWS
from app.skills.knowledge.services.sections import (
    LONGEST_BODY,
    MOST_LETTERS_IN_ALL,
    MOST_SECTIONS,
)
from app.text.allergens import ALLERGENS, allergen_name
from app.text.bilingual import reader_language


def _allergens_named(detail: str) -> str:
    language = reader_language()
    return ", ".join(allergen_name(code, language) for code in detail.split(", "))


def _allergen_unknown(detail: str) -> str:
    language = reader_language()
    known = ", ".join(names[language] for names in ALLERGENS.values())
    return gettext(
        "“%(name)s” is not a known allergen. Use one of these: %(known)s; or “none”.",
        name=detail,
        known=known,
    )


_TEXTS: dict[str, Callable[[str], str]] = {
    # The whole file
    "empty_file": lambda _: gettext("The file is empty. Choose another one."),
    "too_big": lambda _: gettext(
        "The file is larger than 50 MB. Split it, or save it without pictures."
    ),
    "too_big_to_read": lambda _: gettext(
        "Reading this file needs too much memory. Split it into smaller files."
    ),
    "takes_too_long": lambda _: gettext(
        "Reading this file takes too long. Split it into smaller files."
    ),
    "cancelled": lambda _: gettext("Reading was canceled. Nothing has changed."),
    "could_not_be_read": lambda _: gettext(
        "The file could not be read. Open it on your computer, save it again, and try again."
    ),
    "damaged": lambda _: gettext(
        "The file is damaged or incomplete. Save it again, or download it again."
    ),
    "encrypted": lambda _: gettext(
        "The file is protected with a password. Save a copy without one and choose that."
    ),
    "no_text": lambda _: gettext(
        "There is no text in this file: its pages are pictures. Scan it with text recognition"
        " (OCR), or choose the file that it was made from."
    ),
    "no_sections": lambda _: gettext("There is no text in this file. Choose another one."),
    "has_macros": lambda _: gettext(
        "The file has macros, which are programs. Save it as .docx or .xlsx and choose that."
    ),
    "zip_bomb": lambda _: gettext(
        "The file unpacks to far more than it should. Save it again without attachments."
    ),
    "unsafe_xml": lambda _: gettext(
        "The file refers to other files in a way that is not safe. Save it again and choose that."
    ),
    "old_office": lambda _: gettext(
        "This file is from an old version of Office. Save it as .docx or .xlsx and choose that."
    ),
    "unknown_format": lambda _: gettext(
        "This kind of file cannot be read. Manuals are .md, .html, .zip, .pdf or .docx;"
        " menus are .csv or .xlsx."
    ),
    "menu_as_manual": lambda _: gettext(
        "This looks like a table of products. Import it as a menu, not as a manual."
    ),
    "manual_as_menu": lambda _: gettext(
        "This looks like a document. Import it as a manual, or save the menu as "
        "a table (.csv or .xlsx)."
    ),
    "bad_front_matter": lambda _: gettext(
        "The lines between the two --- at the top are not valid. Fix or remove them."
    ),
    "duplicate_slug": lambda detail: gettext(
        "Two sections are called “%(name)s”. Give one of them another name.", name=detail
    ),
    "too_many_sections": lambda _: gettext(
        "The file has more than 20,000 sections. Split it into smaller files."
    ),
    "manual_full": lambda detail: gettext(
        "With this file, the manual would have %(number)s sections; the limit is "
        "%(limit)s. Leave out what nobody looks up, or combine short sections.",
        number=f"{int(detail):,}",
        limit=f"{MOST_SECTIONS:,}",
    ),
    "menu_full": lambda detail: gettext(
        "With this file, the menus would have %(number)s products, including "
        "those that are off the menu; the limit is %(limit)s. Leave out what "
        "nobody orders.",
        number=f"{int(detail):,}",
        limit=f"{MOST_PRODUCTS:,}",
    ),
    "too_many_tags": lambda detail: gettext(
        "With this file, the menus would have %(number)s different tags; the "
        "limit is %(limit)s. Use the same tag for several products.",
        number=f"{int(detail):,}",
        limit=f"{MOST_TAGS_IN_ALL:,}",
    ),
    "too_many_categories": lambda detail: gettext(
        "With this file, this menu would have %(number)s different categories; "
        "the limit is %(limit)s. Use the same category for several products.",
        number=f"{int(detail):,}",
        limit=MOST_CATEGORIES,
    ),
    "manual_too_long": lambda detail: gettext(
        "With this file, the manual would have %(number)s characters in both "
        "languages together; the limit is %(limit)s. Leave out what nobody looks "
        "up.",
        number=f"{int(detail):,}",
        limit=f"{MOST_LETTERS_IN_ALL:,}",
    ),
    "section_too_long": lambda detail: gettext(
        "The section “%(name)s” is longer than %(longest)s characters. Divide it with headings.",
        name=detail,
        longest=f"{LONGEST_BODY:,}",
    ),
    "too_many_words": lambda _: gettext(
        "The file has more than 2 million words. Split it into smaller files."
    ),
    "too_many_rows": lambda _: gettext(
        "The table has more than 20,000 rows. Split it into smaller files."
    ),
    "too_many_columns": lambda _: gettext(
        "The table has more than 200 columns. Remove those that are not needed."
    ),
    "not_worked_out": lambda _: gettext(
        "The file has formulas whose results are not in it. Open it in a spreadsheet program,"
        " save it there, and choose it again."
    ),
    # A part of a document
    "page_unreadable": lambda _: gettext("This page could not be read and is left out."),
    "page_without_text": lambda _: gettext("This page has no text: it may be a picture."),
    "file_left_out": lambda _: gettext(
        "This file has no text that can be read, so it is left out."
    ),
    "not_in_a_zip": lambda _: gettext(
        "Only HTML and Markdown are read from a zip. This file is left out: upload it separately."
    ),
    "other_language": lambda detail: ngettext(
        "%(num)s page in the other language is left out. Import the file in that language too.",
        "%(num)s pages in the other language are left out. Import the file in that language too.",
        int(detail),
    ),
    "left_out": lambda detail: gettext("Left out: “%(text)s”.", text=detail),
    "pdf_table": lambda detail: gettext(
        "A PDF does not say where its table cells are. Check that each value in "
        "the table “%(name)s”, and in any other table on this page, is in the "
        "right column.",
        name=detail,
    ),
    "struck_unclear": lambda _: gettext(
        "Some text on this page may be crossed out by its style sheet but was "
        "read as valid. Check the text."
    ),
    "uneven_table": lambda detail: gettext(
        "The rows of the table “%(name)s” don't all have the same number of "
        "cells. Check that each value is in its column.",
        name=detail,
    ),
    "no_headings": lambda _: gettext(
        "No headings were found, so the text is one chapter. Headings make it easier to find."
    ),
    # A table
    "no_rows": lambda _: gettext(
        "The table has no rows. Its first row must name the columns, with one "
        "product per row below it."
    ),
    "no_name_column": lambda _: gettext(
        "No column is called “name” (or name_en, name_es). Name the columns in the first row."
    ),
    "unknown_column": lambda detail: gettext(
        "The column “%(name)s” is not recognized and is left out.", name=detail
    ),
    "repeated_column": lambda detail: gettext(
        "The column “%(name)s” appears twice; only the first is read.", name=detail
    ),
    "allergens_unread": lambda detail: gettext(
        "“%(name)s” mentions allergens in a way that cannot be read, so no row "
        "declares any. Put them all in one “allergens” column, separated by "
        "commas.",
        name=detail,
    ),
    "allergens_noted": lambda detail: gettext(
        "This is outside the rows and may say something about allergens, so no "
        "row declares any: “%(text)s”. Put it in the column “allergens” of the "
        "rows it is about, and delete it from where it is.",
        text=detail,
    ),
    "allergens_go_on": lambda detail: gettext(
        "Row %(row)s has no name and may belong to this one, so this one "
        "declares no allergens. Put everything about a product in one row.",
        row=detail,
    ),
    "allergens_told_twice": lambda detail: gettext(
        "Row %(row)s has the same name but declares other allergens, so this one "
        "declares none. Keep the one that is right.",
        row=detail,
    ),
    "allergens_headed_twice": lambda _: gettext(
        "This row has no name and may be a second row of column names, so no row "
        "declares any allergens. Name the columns in one row."
    ),
    "allergens_differ": lambda detail: gettext(
        "Its text mentions allergens that its list leaves out: %(names)s. So it "
        "counts as not declared. Compare the two.",
        names=_allergens_named(detail),
    ),
    "sheets_left_out": lambda detail: gettext(
        "Only one sheet is read. Left out: %(names)s. Upload each one as a separate file.",
        names=detail,
    ),
    "unnamed_column": lambda detail: gettext(
        "Column %(number)s has no heading and is left out. Name it in the first row.",
        number=detail,
    ),
    "too_many_cells": lambda _: gettext(
        "This row has more cells than there are columns. Check the separators."
    ),
    "name_missing": lambda _: gettext("The name is missing. Write one."),
    "name_too_long": lambda _: gettext(
        "The name is longer than %(longest)s characters. Shorten it.", longest=LONGEST_NAME
    ),
    "text_too_long": lambda detail: gettext(
        "The text of “%(name)s” is too long. Shorten it.", name=detail
    ),
    "too_many_items": lambda detail: gettext(
        "“%(name)s” has more than %(most)s items. Shorten it.",
        name=detail,
        most=MOST_TAGS if detail == "tags" else MOST_ROWS,
    ),
    "product_too_long": lambda _: gettext(
        "The texts of this product, including those it already has, add up to "
        "more than %(longest)s characters. Shorten them.",
        longest=f"{MOST_LETTERS:,}",
    ),
    "duplicate_name": lambda detail: gettext(
        "Row %(row)s has the same name and is the one used. Give this one another name.", row=detail
    ),
    "price_not_a_number": lambda detail: gettext(
        "“%(price)s” is not a price. Write a number such as 12.50.", price=detail
    ),
    "price_negative": lambda detail: gettext(
        "The price %(price)s is below zero. Write it without the minus.", price=detail
    ),
    "price_too_high": lambda detail: gettext(
        "The price %(price)s is too high. Check it.", price=detail
    ),
    "allergen_unknown": _allergen_unknown,
    "and_more": lambda detail: ngettext(
        "%(num)s more is not listed here.", "%(num)s more are not listed here.", int(detail)
    ),
    "allergens_contradict": lambda _: gettext(
        "“Allergens” says “none” along with others. Keep one or the other."
    ),
    "not_yes_or_no": lambda detail: gettext(
        "“%(value)s” is neither yes nor no. Write yes or no.", value=detail
    ),
}

_STEPS: dict[str, Callable[[], str]] = {
    "opening": lambda: gettext("Opening the file"),
    "reading": lambda: gettext("Reading"),
    "sorting": lambda: gettext("Putting sections in order"),
}


def problem_text(problem: FileProblem) -> str:
    """The problem in the reader's language, without its place; a sentence or two."""
    return _TEXTS.get(problem.code, _TEXTS["could_not_be_read"])(problem.detail)


def place_text(problem: FileProblem) -> str:
    """Where it is in the reader's language: Page 3, Row 12, or the file's name as it is."""
    word, _, number = problem.place.partition(" ")
    if word == "page" and number.isdecimal():
        return gettext("Page %(number)s", number=number)
    if word == "row" and number.isdecimal():
        return gettext("Row %(number)s", number=number)
    return problem.place


def step_text(step: str) -> str:
    """What is being done, in the reader's language; "" for what is none of the steps."""
    return _STEPS[step]() if step in _STEPS else ""
