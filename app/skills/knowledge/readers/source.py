"""What a file is called without its ending and its language, the same in both languages."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_LANGUAGE = re.compile(r"[._-](?:en|es)$", re.IGNORECASE)


def source_name(filename: str) -> str:
    """`manual/02-opening.es.html` is `02-opening`."""
    stem = PurePosixPath(filename.replace("\\", "/")).stem
    return _LANGUAGE.sub("", stem) or stem or "document"


def language_of(filename: str) -> str:
    """The language that a file's name is marked with: `en`, `es`, or "" for none."""
    found = _LANGUAGE.search(PurePosixPath(filename).stem)
    return found[0][1:].lower() if found else ""
