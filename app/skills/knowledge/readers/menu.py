"""A table of products: its first row names the columns, each row below is one product."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from app.config import LANGUAGES
from app.skills.knowledge.readers.columns import FACT, WRITTEN, field_of, is_price
from app.skills.knowledge.readers.declarations import (
    ALLERGENS,
    NAMES,
    Declarations,
    is_footnote,
    remarks,
)
from app.skills.knowledge.readers.grid import MOST_COLUMNS, Grid, Sheet
from app.skills.knowledge.readers.result import (
    FileProblem,
    Limits,
    OnProgress,
    Reading,
    ReadRow,
    Unreadable,
)
from app.skills.knowledge.readers.values import (
    BadValue,
    read_flag,
    read_list,
    read_price,
)
from app.skills.knowledge.services import vocabulary
from app.skills.knowledge.services.import_changes import RECIPE_FACTS
from app.skills.knowledge.services.markdown_import import slugify
from app.skills.knowledge.services.products import (
    LONGEST_NAME,
    LONGEST_TEXT,
    LONGEST_WORD,
    MOST_ROWS,
)
from app.text.normalize import fold

# A title or a date may stand above the row that names the columns.
HEADER_WITHIN = 10
PROGRESS_EVERY = 500
LISTS = ("ingredients", "steps")
_NUMBERS = ("total_time_minutes", "servings")


def read_menu(
    sheet: Sheet, kind: str, language: str, on_progress: OnProgress, limits: Limits
) -> Reading:
    """The rows of a menu as products of `kind`.

    Raises:
        Unreadable: it has no rows, or no column for names.
    """
    grid = sheet.grid
    place = _header_place(grid, kind)
    body = grid[place + 1 :]
    if not body:
        raise Unreadable("no_rows")
    if any(len(cells) > MOST_COLUMNS for _line, cells in grid):
        raise Unreadable("too_many_columns")
    if len(body) > limits.rows:
        raise Unreadable("too_many_rows")
    reading = Reading()
    header = grid[place][1]
    fields, unknown = _fields(header, kind, _used(body), reading)
    notes = [*sheet.notes, *remarks(sheet, place, fields)]
    declarations = Declarations(header, fields, body, kind, reading, notes, sheet.elsewhere)
    # What says something of allergens is told of once.
    reading.problems += (
        FileProblem("", "unknown_column", header[place][:100])
        for place in unknown
        if place not in declarations.unread
    )
    items = 0
    for number, (line, cells) in enumerate(body):
        if number % PROGRESS_EVERY == 0:
            on_progress("reading", number, len(body))
        if is_footnote(cells, notes):
            continue
        row = _row(line, cells, fields, kind, language)
        try:
            declarations.write(row, cells)
        except BadValue as bad:
            row.problems.append(FileProblem(f"row {line}", bad.code, bad.detail))
        items += sum(len(row.values.get(field, ())) for field in LISTS)
        if items > limits.items:
            raise Unreadable("too_many_rows")
        reading.rows.append(row)
    _find_namesakes(reading.rows, reading.problems)
    return reading


def _header_place(grid: Grid, kind: str) -> int:
    if not grid:
        raise Unreadable("no_rows")
    known = [{field_of(cell, kind) for cell in cells} for _line, cells in grid[:HEADER_WITHIN]]
    names = [place for place, fields in enumerate(known) if fields & NAMES]
    if not names:
        raise Unreadable("no_name_column")
    # A title such as "Wine" names one column at most.
    return next((place for place in names if len(known[place] - {""}) > 1), names[0])


def _used(body: Grid) -> list[bool]:
    """Of each column, whether anything stands in it below the header."""
    used: list[bool] = []
    for _line, cells in body:
        used += [False] * (len(cells) - len(used))
        for place, cell in enumerate(cells):
            used[place] = used[place] or bool(cell)
    return used


def _fields(
    header: Sequence[str], kind: str, used: Sequence[bool], reading: Reading
) -> tuple[list[str], list[int]]:
    """The field of each column, "" for those that are left out, and the places of unknown ones.

    A column without a heading goes on with one for allergens that stands before it, as below one
    heading over several columns.
    """
    fields: list[str] = []
    unknown: list[int] = []
    last = ""
    is_priced = any(is_price(cell) for cell in header)
    for place, cell in enumerate(header):
        field = field_of(cell, kind)
        if is_priced and field == "price" and not is_price(cell):
            field = ""
        if not cell and place < len(used) and used[place]:
            field = "allergens" if last == "allergens" else ""
            if not field:
                problem = FileProblem("", "unnamed_column", str(place + 1))
                reading.problems.append(problem)
        last = field if cell else last
        if cell and not field:
            unknown.append(place)
        elif field and field in fields and field != "allergens":
            reading.problems.append(FileProblem("", "repeated_column", cell[:100]))
            field = ""
        fields.append(field)
    return fields, unknown


def _row(
    line: int, cells: Sequence[str], fields: Sequence[str], kind: str, language: str
) -> ReadRow:
    row = ReadRow(line)
    if any(cells[len(fields) :]):
        row.problems.append(FileProblem(f"row {line}", "too_many_cells"))
    said = {field: cell for field, cell in zip(fields, cells, strict=False) if field and cell}
    said.pop("allergens", None)
    _write_texts(row, said, language)
    for field, cell in said.items():
        try:
            _write(row.values, field, cell)
        except BadValue as bad:
            row.problems.append(FileProblem(f"row {line}", bad.code, bad.detail))
    _write_lists(row.values, said, language)
    row.problems += _find_long(row)
    if kind == "recipes" and "category" in row.values:
        # A recipe's category is its cuisine.
        row.values.setdefault("cuisine", row.values["category"])
    return row


def _write_texts(row: ReadRow, said: Mapping[str, str], language: str) -> None:
    """Names and descriptions in both languages; the one that is missing borrows the other."""
    for field in WRITTEN:
        own = f"{field}_{language}"
        texts = {each: said.get(f"{field}_{each}", "") for each in LANGUAGES}
        texts[language] = said.get(field) or texts[language]
        if field == "name" and not any(texts.values()):
            row.problems.append(FileProblem(f"row {row.line}", "name_missing"))
        first = texts[language] or next((text for text in texts.values() if text), "")
        if not first:
            continue
        for each, text in texts.items():
            row.values[f"{field}_{each}"] = text or first
            if not text:
                row.borrowed.append(f"{field}_{each}")
        longest = max(map(len, texts.values()))
        if longest > (LONGEST_NAME if field == "name" else LONGEST_TEXT):
            code = "name_too_long" if field == "name" else "text_too_long"
            row.problems.append(FileProblem(f"row {row.line}", code, own))
    name = row.values.get("name_en") if "name_en" not in row.borrowed else None
    slug = said.get("slug") or name or row.values.get("name_es") or ""
    if slug:
        row.values["slug"], row.is_coded = _slug(slug), "slug" in said


def _slug(name: str) -> str:
    """A product's slug; names in other scripts have no letters for one, but must differ."""
    if any(sign.isascii() and sign.isalnum() for sign in fold(name)):
        return slugify(name)
    return f"item-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _write(values: dict[str, Any], field: str, cell: str) -> None:
    """Put what a cell says into the product's values.

    Raises:
        BadValue: it does not say what its column is for.
    """
    readers = {"price": read_price, "is_active": read_flag}
    if field in readers:
        value = readers[field](cell)
        if value is not None:
            values[field] = value
    elif field == "tags":
        values["tags"] = [vocabulary.category_key(tag) for tag in read_list(cell)]
    elif field == "category":
        values["category"] = vocabulary.category_key(" ".join(cell.split()))
    elif field in RECIPE_FACTS:
        is_number = field in _NUMBERS and cell.isdecimal()
        values[field] = int(cell) if is_number else vocabulary.category_key(cell)
    elif field.startswith(FACT):
        values.setdefault("facts", {})[field.removeprefix(FACT)] = cell


def _write_lists(values: dict[str, Any], said: Mapping[str, str], language: str) -> None:
    """Ingredients and steps: the file has them once, so both languages show the same."""
    [other] = [each for each in LANGUAGES if each != language]
    for field in LISTS:
        if field in said:
            items = read_list(said[field])
            values[field] = [{"en": item, "es": item, "borrowed": other} for item in items]


def _find_long(row: ReadRow) -> list[FileProblem]:
    """What could not be saved again in the browser."""
    problems = []
    for field in ("category", "cuisine", "tags"):
        value = row.values.get(field, [])
        if any(len(word) > LONGEST_WORD for word in ([value] if isinstance(value, str) else value)):
            problems.append(FileProblem(f"row {row.line}", "text_too_long", field))
    for field in LISTS:
        items = row.values.get(field, [])
        if len(items) > MOST_ROWS:
            problems.append(FileProblem(f"row {row.line}", "too_many_items", field))
        elif any(len(item["en"]) > LONGEST_TEXT for item in items):
            problems.append(FileProblem(f"row {row.line}", "text_too_long", field))
    return problems


def _find_namesakes(rows: Sequence[ReadRow], problems: list[FileProblem]) -> None:
    """Two rows of one name would be one product: the first that can be used is.

    Where another one declares other allergens, it declares none.
    """
    used: dict[str, ReadRow] = {}
    for row in rows:
        if not row.problems:
            first = used.setdefault(row.values["slug"], row)
            if first is not row:
                problem = FileProblem(f"row {row.line}", "duplicate_name", str(first.line))
                row.problems.append(problem)
    for row in rows:
        kept = used.get(row.values.get("slug", ""), row)
        told = row.values.get(ALLERGENS, kept.values.get(ALLERGENS))
        if told != kept.values.get(ALLERGENS):
            kept.values[ALLERGENS] = None
            problems.append(FileProblem(f"row {kept.line}", "allergens_told_twice", str(row.line)))
