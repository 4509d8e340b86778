"""What an editor of fields has on the page: its rows, and what the buttons do to them.

Pure: nothing is stored here, and each button gives a new `FieldWork`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from app.errors import InvalidInput
from app.fields.definitions import MOST_CHARACTERS, MOST_FIELDS, MOST_OPTIONS_IN_ALL
from app.fields.editor.rows import MOST_ROWS, NEW, Form, Row, load_row, new_row, read_open_row
from app.fields.editor.types import EVERYTHING, Kit


@dataclass(frozen=True, kw_only=True)
class FieldWork:
    """Fields while they are being worked on; `open_key` is the row whose settings are shown.

    `focus` says where the page should put the focus.
    """

    rows: tuple[Row, ...] = ()
    open_key: str = ""
    focus: str = field(default="", compare=False)

    @property
    def open_row(self) -> Row | None:
        return next((row for row in self.rows if row.key == self.open_key), None)

    @property
    def kept(self) -> tuple[Row, ...]:
        """The rows that were not removed."""
        return tuple(row for row in self.rows if not row.is_removed)


Work = TypeVar("Work", bound=FieldWork)


def read_rows(form: Form, kit: Kit = EVERYTHING) -> tuple[Row, ...]:
    """The rows that stand on the page.

    Raises:
        InvalidInput: they are not what the page sends, or more than a form holds.
    """
    carried = form.getlist("row")
    if len(carried) > MOST_ROWS:
        raise InvalidInput("A form has at most %(limit)s fields.", limit=MOST_FIELDS)
    _check_length(carried)
    rows = [load_row(text, kit) for text in carried]
    if len({row.key for row in rows}) < len(rows):
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    open_key = form.get("open", "")
    rows = [read_open_row(row, form, kit) if row.key == open_key else row for row in rows]
    # The open row stands in fields of the page, and is as long as these are.
    _check_length([row.dumped() if row.key == open_key else text
                   for row, text in zip(rows, carried, strict=True)])  # fmt: skip
    if sum(len(row.options) for row in rows if not row.is_removed) > MOST_OPTIONS_IN_ALL:
        raise InvalidInput(
            "The fields of a form can have at most %(limit)s choices in total. "
            "Remove some, or make two forms.",
            limit=f"{MOST_OPTIONS_IN_ALL:,}",
        )
    return tuple(rows)


def _check_length(carried: Sequence[str]) -> None:
    if sum(map(len, carried)) > MOST_CHARACTERS:
        raise InvalidInput(
            "The texts of a form can have at most %(limit)s characters in total. "
            "Shorten them, or make two forms.",
            limit=f"{MOST_CHARACTERS:,}",
        )


def act(work: Work, do: str, kit: Kit = EVERYTHING) -> Work:
    """The work after a button was pressed: "add:number", "up:KEY"; others change nothing.

    Raises:
        InvalidInput: there is no more room.
    """
    verb, _, about = do.partition(":")
    if verb == "add" and about in kit.types:
        return _add(work, new_row(about, _free_number(work)), len(work.rows))
    if verb == "more":
        return replace(work, focus=verb)
    if verb == "close":
        return replace(work, open_key="", focus=f"open-{work.open_key}")
    place = next((n for n, row in enumerate(work.rows) if row.key == about), None)
    if place is None:
        return work
    if verb == "open":
        return replace(work, open_key=about, focus="editor")
    if about in kit.fixed:
        return work
    if verb == "copy":
        copied = replace(work.rows[place], key=f"{NEW}{_free_number(work)}")
        return _add(work, copied, place + 1)
    if verb in ("up", "down"):
        return _move(work, place, -1 if verb == "up" else 1, kit)
    if verb in ("remove", "undo"):
        return _remove(work, place, verb == "remove")
    return work


def _add(work: Work, row: Row, place: int) -> Work:
    if len(work.kept) >= MOST_FIELDS or len(work.rows) >= MOST_ROWS:
        raise InvalidInput("A form has at most %(limit)s fields.", limit=MOST_FIELDS)
    rows = (*work.rows[:place], row, *work.rows[place:])
    return replace(work, rows=rows, open_key=row.key, focus="editor")


def _free_number(work: Work) -> int:
    numbers = [int(row.key.removeprefix(NEW)) for row in work.rows if row.key.startswith(NEW)]
    return max(numbers, default=0) + 1


def _move(work: Work, place: int, step: int, kit: Kit) -> Work:
    """One place up or down, past the rows that were removed; at the end nothing happens."""
    other = place + step
    while 0 <= other < len(work.rows) and work.rows[other].is_removed:
        other += step
    focus = f"{'up' if step < 0 else 'down'}-{work.rows[place].key}"
    if not 0 <= other < len(work.rows) or work.rows[other].key in kit.fixed:
        return replace(work, focus=focus)
    rows = list(work.rows)
    rows.insert(other, rows.pop(place))
    return replace(work, rows=tuple(rows), focus=focus)


def _remove(work: Work, place: int, is_removed: bool) -> Work:
    row = replace(work.rows[place], is_removed=is_removed)
    open_key = "" if is_removed and work.open_key == row.key else work.open_key
    focus = f"{'undo' if is_removed else 'open'}-{row.key}"
    rows = (*work.rows[:place], row, *work.rows[place + 1 :])
    return replace(work, rows=rows, open_key=open_key, focus=focus)
