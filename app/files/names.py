"""What a file is called: as its owner called it, where that is safe on every system."""

from __future__ import annotations

import re

from app.files.kinds import ENDINGS
from app.text.plain_text import clean_line, compose, printable

LONGEST_STEM = 80
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_NOT_IN_NAMES = re.compile(r'[<>:"|?*/\\]')


def tidy_name(raw: str, media_type: str) -> str:
    """The last part of `raw` without what is unseen or has a meaning, its ending as it is."""
    last = re.split(r"[/\\]", raw)[-1]
    seen = printable(last)
    plain = _NOT_IN_NAMES.sub("_", compose(clean_line(seen)))
    ending = _ENDING.search(plain)
    stem = _ENDING.sub("", plain)[:LONGEST_STEM].strip(" .") or "file"
    known = ENDINGS[media_type]
    kept = ending[0].lower() if ending and ending[0].lower() in known else known[0]
    return stem + kept
