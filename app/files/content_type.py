"""What a file is, told by its content: its name and what the browser says of it count nothing.

A file that could pass for two kinds at once is none.
"""

from __future__ import annotations

import re

from app.files.documents import check_office, check_pdf, check_text, is_archive
from app.files.images import is_image, redraw
from app.files.kinds import Unfit
from app.files.result import Examined

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
