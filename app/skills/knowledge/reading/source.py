"""What a file is called without its ending and its language, the same in both languages."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_LANGUAGE = re.compile(r"[._-](?:en|es)$", re.IGNORECASE)


def source_name(filename: str) -> str:
    """`manual/02-opening.es.html` is `02-opening`."""
    stem = PurePosixPath(filename.replace("\\", "/")).stem
    return _LANGUAGE.sub("", stem) or stem or "document"
