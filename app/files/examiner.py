"""`python -m app.files.examiner`: the child of `app.files.sandbox`, which see.

What a file is, is told by its content: its name and what the browser says of it count nothing.
A file that could pass for two kinds at once is none.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import IO, Any

from app.files.child_process_limits import restrain, take_output
from app.files.documents import check_office, check_pdf, check_text, is_archive
from app.files.images import is_image, redraw
from app.files.kinds import MIB, Unfit
from app.files.result import Examined
from app.files.table_cells import read_cells

MEMORY_BYTES = 1024 * MIB
# The largest picture that is taken needs two on an old machine.
CPU_SECONDS = 8
ALARM_SECONDS = 40
_PDF = b"%PDF-"
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
# How far browsers, and readers of PDF, look for something that they know.
_HEAD_BYTES = 1024
_MARKUP = re.compile(rb"<(?:!doctype|html|head|body|svg|script|iframe|\?php|\?xml)\b", re.I)
# Long enough not to stand in a photo by chance.
_SCRIPT = re.compile(rb"<(?:script|html|iframe|\?php)[\s>/]", re.I)
_HEIC = re.compile(rb"....ftyp(?:hei[cfmsx]|hev[cmsx]|mif1|msf1|avi[fs])", re.S)
_SPACE = b"\xef\xbb\xbf \t\r\n"


def main() -> None:
    """Read a file from standard input; answer with a line of JSON.

    Of a table it has the cells. Else it is followed by the preview and, where the file is not kept
    as it came, by what is kept instead.
    """
    answer = _read_table if "table" in sys.argv[1:] else _examine
    with take_output() as answers:
        # What a library prints waits for nobody who reads it.
        os.set_blocking(2, False)
        content = sys.stdin.buffer.read()
        _load_what_reads(content)
        restrain(MEMORY_BYTES, CPU_SECONDS, ALARM_SECONDS)
        try:
            answer(content, answers)
        except Unfit as unfit:
            _write_head(answers, {"problem": unfit.code, "number": unfit.number})
        except (MemoryError, RecursionError):
            _write_head(answers, {"problem": "too_much", "number": 0})


def _read_table(content: bytes, answers: IO[bytes]) -> None:
    _write_head(answers, {"cells": read_cells(content)})


def _examine(content: bytes, answers: IO[bytes]) -> None:
    found = examine_content(content)
    head = {
        "kind": found.kind,
        "media_type": found.media_type,
        "preview": len(found.preview),
        "is_redrawn": found.content is not content,
    }
    _write_head(answers, head)
    answers.write(found.preview)
    if found.content is not content:
        answers.write(found.content)


def _write_head(answers: IO[bytes], head: Mapping[str, Any]) -> None:
    answers.write(json.dumps(head).encode() + b"\n")


def _load_what_reads(content: bytes) -> None:
    """Load what this file needs while the limits allow Python to keep what it compiles."""
    if content.startswith(b"%PDF-"):
        importlib.import_module("pypdfium2")
    elif is_image(content):
        for plugin in ("Gif", "Jpeg", "Mpo", "Png", "WebP"):
            importlib.import_module(f"PIL.{plugin}ImagePlugin")


def examine_content(content: bytes) -> Examined:
    """What this is, as it may be kept: pictures drawn anew, the rest as it came.

    Raises:
        Unfit: it is none of the kinds, two of them, broken, locked, or too much.
    """
    if not content.strip(b" \t\r\n\0"):
        raise Unfit("empty")
    if is_image(content):
        _refuse_passengers(content, content)
        return redraw(content)
    if content.startswith(_PDF):
        _refuse_passengers(content, content[:_HEAD_BYTES])
        check_pdf(content)
        return Examined("pdf", "application/pdf", content)
    if content.startswith(_ZIP):
        return Examined("office", check_office(content), content)
    if _PDF in content[:_HEAD_BYTES]:
        raise Unfit("two_kinds")
    if content.startswith(_OLE):
        raise Unfit("locked" if _ENCRYPTED_OFFICE in content else "old_office")
    if _HEIC.match(content):
        raise Unfit("heic")
    if _MARKUP.match(content.lstrip(_SPACE)) or _SCRIPT.search(content[:_HEAD_BYTES]):
        raise Unfit("markup")
    check_text(content)
    return Examined("text", "text/plain", content)


def _refuse_passengers(content: bytes, pages: bytes) -> None:
    """Nothing may ride along: no page in `pages`, no second document, no archive at the end."""
    is_pdf_too = content.find(_PDF, 1, _HEAD_BYTES) > 0
    if is_pdf_too or _SCRIPT.search(pages) or is_archive(content):
        raise Unfit("two_kinds")


if __name__ == "__main__":
    main()
