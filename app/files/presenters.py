"""Files as pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from babel.lists import format_list
from flask_babel import get_locale, gettext

from app.db import ScopedSession, read_id
from app.files.kinds import KIB, KINDS, MIB
from app.files.models import StoredFile
from app.files.uploads import list_own_files
from app.text.numbers import figures


class FileView(NamedTuple):
    """A file with its size in words."""

    id: UUID
    name: str
    size: str
    is_image: bool


def file_view(file: StoredFile) -> FileView:
    return FileView(file.id, file.name, size_in_words(file.size), file.kind == "image")


def view_own_files(session: ScopedSession, held: Iterable[str]) -> dict[str, FileView]:
    """One's own files by their ids; what is no file, or not there any more, is left out."""
    ids = list(filter(None, map(read_id, held)))
    found = list_own_files(session, ids) if ids else []
    return {str(file.id): file_view(file) for file in found}


def kinds_in_words(kinds: Sequence[str]) -> str:
    """What may be added, as a sentence: "Pictures, PDF." """
    words = {
        "image": gettext("pictures"),
        "pdf": "PDF",
        "text": gettext("texts"),
        "office": gettext("Office documents"),
    }
    said = format_list([words[kind] for kind in KINDS if kind in kinds], "or-short", get_locale())
    return gettext("Accepts %(kinds)s.", kinds=said)


def size_in_words(size: int) -> str:
    """A size as people say it: 340 KB, 2.4 MB."""
    if size < MIB:
        return gettext("%(size)s KB", size=max(1, round(size / KIB)))
    return gettext("%(size)s MB", size=figures(round(size / MIB, 1)))
