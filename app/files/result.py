"""What is known of a file once it was examined."""

from __future__ import annotations

from typing import IO, NamedTuple


class Examined(NamedTuple):
    """A file as it may be kept; `preview` is a small JPEG or PNG of a picture, else empty.

    What is not drawn anew is kept as it came: then `content` is what was examined, itself.
    """

    kind: str
    media_type: str
    content: bytes
    preview: bytes = b""


class ExaminedFile(NamedTuple):
    """The same where the content is in a file, which is as it is to be kept."""

    kind: str
    media_type: str
    file: IO[bytes]
    preview: bytes = b""
