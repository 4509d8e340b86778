"""Files as pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from babel.lists import format_list
from flask_babel import format_decimal, get_locale, gettext

from app.files.kinds import KIB, KINDS, MIB
from app.files.models import StoredFile
from app.files.uploads import list_own_files
from app.web import db_session


class FileView(NamedTuple):
    """A file with its size in words."""

    id: UUID
    name: str
    size: str
    is_image: bool


def file_view(file: StoredFile) -> FileView:
    return FileView(file.id, file.name, size_in_words(file.size), file.kind == "image")


def uploaded_files(held: Any) -> list[FileView]:
    """The files that a field of one's own draft holds, as ids; others are left out."""
    given: Sequence[Any] = held if isinstance(held, list | tuple) else ()
    ids = [file_id for each in given if (file_id := _as_id(each))]
    return [file_view(file) for file in list_own_files(db_session(), ids)] if ids else []


def kinds_in_words(kinds: Sequence[str]) -> str:
    """What may be added, as a sentence: "Pictures, PDF." """
    words = {
        "image": gettext("pictures"),
        "pdf": "PDF",
        "text": gettext("texts"),
        "office": gettext("Office documents"),
    }
    said = format_list([words[kind] for kind in KINDS if kind in kinds], "or-short", get_locale())
    return gettext("Takes %(kinds)s.", kinds=said)


def size_in_words(size: int) -> str:
    """A size as people say it: 340 KB, 2.4 MB."""
    if size < MIB:
        return gettext("%(size)s KB", size=max(1, round(size / KIB)))
    return gettext("%(size)s MB", size=format_decimal(round(size / MIB, 1)))


def _as_id(text: Any) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None
