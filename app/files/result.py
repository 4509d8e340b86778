"""What is known of a file once it was examined."""

from __future__ import annotations

from typing import NamedTuple


class Examined(NamedTuple):
    """A file as it may be kept; `preview` is a small JPEG or PNG of a picture, else empty."""

    kind: str
    media_type: str
    content: bytes
    preview: bytes = b""
