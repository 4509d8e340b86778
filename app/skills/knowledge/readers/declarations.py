"""What a table of products declares of allergens: all that it says, or nothing.

A dish that a file says has an allergen must never be shown without it. Whatever in a table may
say more of allergens than is read leaves what it belongs to undeclared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import zip_longest

from app.nlu.lexicon import allergens_in
from app.skills.knowledge.readers.columns import folded, is_of_traces
from app.skills.knowledge.readers.grid import Grid, Sheet
from app.skills.knowledge.readers.lexicon import compiled, either, named
from app.skills.knowledge.readers.omissions import left_out, listed
from app.skills.knowledge.readers.result import FileProblem, Reading, ReadRow
from app.skills.knowledge.readers.values import is_about_allergens, read_allergens
from app.skills.knowledge.services.named_in_words import names_any, undeclared
from app.text.allergens import expand_families
from app.text.normalize import fold, words

ALLERGENS, PRICE = "allergens", "price"
NAMES = frozenset(("name", "name_en", "name_es"))
# Fields that hold no words; what they say in words besides is compared with the list.
_WORDLESS = frozenset((PRICE, "is_active", "difficulty", "total_time_minutes", "servings", "slug"))
_CALLED_NOTES = frozenset(named("notes"))
# Headings that say nothing of allergens though they are as short as those that do.
_HARMLESS = frozenset(named("harmless"))
_QUANTITY = re.compile(r"[0-9][0-9 ]*")
_MARK = compiled("mark")
_SHORTEST_WORD = 3
# What a heading of a part, a size or a sum says in a row without a name.
_OF_A_BAND = frozenset(("category", "slug", "price", "is_active"))
_OF_DISHES = re.compile(rf"\b{either('of_dishes')}\b")
_OF_ALL = re.compile(rf"\b{either('of_all')}\b")
_OF_EVERYTHING = re.compile(rf"\b{either('of_everything')}\b")
_WORDS_OF_A_SENTENCE = 5
# "F = fish", "(N) nuts": what marks beside dishes stand for.
_LEGEND = re.compile(r"\(\w{1,3}\)|(?:^|[\s,;])\w{1,3}\s*[=:–-]\s*\w")
# The mark that a line below a table begins with, and may stand beside a dish: "*", "(1)", "¹".
_FOOTNOTE = re.compile(r"\s*(?:[*†‡§#^~•-]|\(\w{1,2}\)|[¹²³⁴-⁹])")
_OF_MAKING = re.compile(rf"\b{either('of_making')}\b")
_OF_ALLERGENS = re.compile(r"\bal+erg")


class Declarations:
    """The columns of one table that say something of allergens, and what its rows declare."""

    def __init__(
        self,
        header: Sequence[str],
        fields: Sequence[str],
        body: Grid,
        kind: str,
        reading: Reading,
        notes: Sequence[str] = (),
        elsewhere: Iterable[Sequence[str]] = (),
    ) -> None:
        """Note the columns for which no row declares anything.

        `fields` are those that the columns of `header` are read for, `body` the rows below; the
        products are of `kind`. `notes` stand beside the table, and `elsewhere` are the rows of
        tables that are not read.
        """
        self._kind = kind
        self._fields = fields
        self._reading = reading
        self._last: ReadRow | None = None
        self._names = [place for place, field in enumerate(fields) if field in NAMES]
        names = {name for _line, cells in body for name in self._names_of(cells)}
        self._elsewhere = _by_cell(elsewhere, names)
        self._places = [place for place, field in enumerate(fields) if field == ALLERGENS]
        headings = [header[place] for place in self._places if header[place]]
        # The places of columns that say something of allergens and are not read.
        self.unread = frozenset(
            place
            for place, (cell, field) in enumerate(zip(header, fields, strict=False))
            if cell and not field and (is_about_allergens(cell) or _is_sign(cell, body, place))
        )
        unread = [header[place] for place in sorted(self.unread)]
        noted = [note for note in notes if _declares(note)]
        if headings and all(map(is_of_traces, headings)):
            # What a dish may have traces of is not all that it has.
            unread += headings
        self._is_unread = bool(unread or noted)
        if unread:
            self._note("", "allergens_unread", ", ".join(unread))
        reading.problems += listed(FileProblem("", "allergens_noted", note[:100]) for note in noted)
        reading.problems += listed(left_out(note for note in notes if note not in noted))

    def write(self, row: ReadRow, cells: Sequence[str]) -> None:
        """Put what a row declares into its values, if it declares anything.

        Raises:
            BadValue: a cell does not say what it is for.
        """
        filled = [(cell, field) for cell, field in zip(cells, self._fields, strict=False) if cell]
        said = {field for _cell, field in filled if field}
        beside = [cell for cell, field in filled if not field]
        if not any(field.startswith("name") for field in said):
            self._belongs_to_another(row, said, beside)
            return
        self._last = row
        declared = [cells[place] for place in self._places if place < len(cells)]
        codes = self._read(declared)
        is_more_said = any(map(is_about_allergens, beside))
        if is_more_said or (self._is_unread and (any(declared) or beside)):
            # What is not read says more: nothing is declared.
            row.values[ALLERGENS] = None
        elif codes is not None:
            # A row that is left out, perhaps for a text of a megabyte, needs no comparing.
            beside += [cell for cell, field in filled if field in _WORDLESS]
            for name in self._names_of(cells):
                beside += self._elsewhere.get(name, ())
            is_so = bool(row.problems) or self._agrees(row, codes, beside)
            row.values[ALLERGENS] = codes if is_so else None

    def _names_of(self, cells: Sequence[str]) -> list[str]:
        return [folded(cells[place]) for place in self._names if place < len(cells)]

    def _belongs_to_another(self, row: ReadRow, said: Set[str], beside: Sequence[str]) -> None:
        """A row without a name may go on with the one above it, or name the columns once more."""
        is_about_them = ALLERGENS in said or any(map(is_about_allergens, beside))
        if not is_about_them and not said - _OF_A_BAND:
            return
        if self._last is not None:
            # Where nothing is said yet, what was declared before holds no longer either.
            if self._last.values.get(ALLERGENS, () if is_about_them else None) is not None:
                self._last.values[ALLERGENS] = None
                self._note(f"row {self._last.line}", "allergens_go_on", str(row.line))
        elif self._places and is_about_them:
            self._is_unread = True
            self._note(f"row {row.line}", "allergens_headed_twice")

    def _read(self, cells: Sequence[str]) -> list[str] | None:
        """All that the columns declare together; none only where each says none.

        Raises:
            BadValue: one of them does not say what it is for.
        """
        if len(self._places) > 1:
            # "No" may answer what stands above one of the columns: "gluten free?"
            cells = ["?" if folded(cell) == "no" else cell for cell in cells]
        read = [read_allergens(cell) for cell in cells]
        codes = [code for each in read for code in each or ()]
        if codes or (read and None not in read):
            return list(expand_families(codes))
        return None

    def _agrees(self, row: ReadRow, codes: Sequence[str], beside: Iterable[str]) -> bool:
        """Whether the words that are said of it name nothing else; what they name is noted."""
        more = undeclared(row.values, codes, self._kind, beside)
        if more:
            self._note(f"row {row.line}", "allergens_differ", ", ".join(more))
        return not more

    def _note(self, place: str, code: str, detail: str = "") -> None:
        self._reading.problems.append(FileProblem(place, code, detail[:100]))


def remarks(sheet: Sheet, header: int, fields: Sequence[str]) -> list[str]:
    """What says something of allergens beside the rows of products, for all of them.

    It stands above the row `header`, in a margin, or in a row that is no product's; or it is the
    name of a sheet that is not read. `fields` are those that the columns are read for.
    """
    body = [cells for _line, cells in sheet.grid[header + 1 :]]
    prices = [place for place, field in enumerate(fields) if field == PRICE]
    is_priced = sum(_has_any(cells, prices) for cells in body) * 2 > len(body)
    said = [cell for _line, cells in sheet.grid[:header] for cell in cells if cell]
    said += sheet.margins
    for cells in body:
        if _is_beside(cells):
            said += filter(None, cells)
        elif is_priced and not _has_any(cells, prices):
            # What the row has in the list itself is its own.
            said += [cell for cell, field in _filled(cells, fields) if field != ALLERGENS]
    found = [text for text in said if _declares_of_all(text)]
    return list(dict.fromkeys([*found, *filter(_is_called_after_allergens, sheet.sheets)]))


def _by_cell(rows: Iterable[Sequence[str]], names: Set[str]) -> dict[str, list[str]]:
    """What stands beside each of the names in the rows that have it in a cell."""
    found: dict[str, list[str]] = {}
    for cells in rows:
        for name in {*map(folded, cells)} & names - {""}:
            found.setdefault(name, []).extend(filter(None, cells))
    return found


def _filled(cells: Sequence[str], fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The cells that have something in them, each with its column's field."""
    return ((cell, field) for cell, field in zip_longest(cells, fields, fillvalue="") if cell)


def _has_any(cells: Sequence[str], places: Iterable[int]) -> bool:
    return any(place < len(cells) and cells[place] for place in places)


def _is_beside(cells: Sequence[str]) -> bool:
    """Whether a row is a line of its own, or a mark and what it stands for."""
    filled = [cell for cell in cells if cell]
    return len(filled) == 1 or folded(filled[0]) in _CALLED_NOTES or len(folded(filled[0])) <= 1


def is_footnote(cells: Sequence[str], notes: Sequence[str]) -> bool:
    """Whether a row is one of `notes` alone and begins with a mark, as no product's name does."""
    filled = [cell for cell in cells if cell]
    return len(filled) == 1 and filled[0] in notes and _FOOTNOTE.match(filled[0]) is not None


def _declares_of_all(text: str) -> bool:
    said = fold(text)
    if _OF_ALL.search(said):
        return True
    is_sentence = len(words(said)) >= _WORDS_OF_A_SENTENCE
    patterns = (_OF_ALLERGENS, _OF_EVERYTHING, _LEGEND, _OF_MAKING)
    is_of_all = is_sentence or any(each.search(said) for each in patterns)
    return (is_of_all or _FOOTNOTE.match(text) is not None) and names_any(said)


def _is_called_after_allergens(sheet: str) -> bool:
    return _OF_DISHES.search(fold(sheet)) is not None or any(allergens_in(sheet))


def _declares(note: str) -> bool:
    """Whether a note at a cell says something of allergens."""
    return _OF_DISHES.search(fold(note)) is not None or names_any(note)


def _is_sign(heading: str, body: Grid, place: int) -> bool:
    """Whether a column is headed by a letter, a number or a picture, as tables of marks are.

    Below it stand marks, and no numbers but ones and zeros.
    """
    words = folded(heading)
    if len(re.sub(r"[^a-z]", "", words)) >= _SHORTEST_WORD or (words or heading) in _HARMLESS:
        return False
    below = [folded(cells[place]) or cells[place] for _line, cells in body if place < len(cells)]
    numbers = (cell for cell in below if _QUANTITY.fullmatch(cell))
    is_of_quantities = any(number not in ("0", "1") for number in numbers)
    return not is_of_quantities and any(cell and _MARK.fullmatch(cell) for cell in below)
