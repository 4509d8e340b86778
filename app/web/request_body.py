"""How much of a request is taken in: files go to the disk, and what is typed is bounded."""

from __future__ import annotations

import re
import time
from binascii import a2b_qp
from contextlib import ExitStack, suppress
from io import BytesIO
from typing import IO, Any

from flask import Request, current_app
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, RequestTimeout
from werkzeug.formparser import FormDataParser

from app.errors import InvalidInput
from app.files.kinds import KIB, MIB
from app.files.spool import PIECE_BYTES, Spool

# A form of a hundred fields, with all of a hundred choices in each.
MOST_PARTS = 11_000
# What one person may add in a minute (app.files.posted_files) is not sent at once either.
MOST_FILES = 60
# The longest text of a field of a form; pages for longer ones name their own.
LONGEST_FIELD = MIB
# Any request, of somebody who is signed in and of somebody who is not.
LARGEST_BODY, LARGEST_SIGNED_OUT = 2 * MIB, 64 * KIB
# What is read of a body that was refused, so that its sender hears why.
DRAINED_BYTES, DRAIN_SECONDS = 128 * MIB, 20
# After each piece of it: nobody waits for what is thrown away.
DRAIN_PAUSE_SECONDS = 0.005
# What a parser has read and not told apart yet.
_UNDECIDED = 2 * PIECE_BYTES + 4 * KIB


# What begins no escaped byte. Browsers send none at all, and programs few.
MOST_BARE = 1000
_BARE = re.compile(rb"%(?![0-9a-fA-F]{2})")


class FormParser(FormDataParser):
    """Reads forms as Werkzeug does, with its limit of parts for those without files too.

    Of those it makes a string for each escape: 2 MiB of them keep a process busy for a second.
    Here they cost no more than other text, and what is no text becomes U+FFFD.
    """

    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> tuple[IO[bytes], MultiDict[str, str], MultiDict[str, FileStorage]]:
        """The stream, the fields and the files of a body.

        Raises:
            RequestEntityTooLarge, BadRequest: it has too many fields, or one without a name, or
                is not escaped.
        """
        if mimetype != "application/x-www-form-urlencoded":
            parsed = super().parse(stream, mimetype, content_length, options)
            if None in parsed[1] or None in parsed[2]:
                raise BadRequest
            return parsed
        body = stream.read()
        if self.max_form_parts is not None and body.count(b"&") >= self.max_form_parts:
            raise RequestEntityTooLarge
        named = (pair.partition(b"=") for pair in body.split(b"&") if pair)
        items = [(_unescape(name), _unescape(value)) for name, _, value in named]
        return stream, self.cls(items), self.cls()


def _unescape(typed: bytes) -> str:
    """The text of a name or a value.

    An escape differs from one of mail's quoted text by its first sign alone, and those are read in
    one go however many there are; a "%" that begins no escape stands for itself.

    Raises:
        BadRequest: most of it is such signs.
    """
    spaced = typed.replace(b"+", b" ")
    if b"%" in spaced:
        whole, bare = _BARE.subn(b"%25", spaced, MOST_BARE)
        if bare == MOST_BARE:
            raise BadRequest
        spaced = a2b_qp(whole.replace(b"=", b"=3D").replace(b"%", b"="))
    return spaced.decode(errors="replace")


class BodyRequest(Request):
    """A request whose form brings `most_files` files, and `most_text` bytes besides them.

    Without `most_text` all of it is bounded by `max_content_length` alone. What `held` closes is
    kept until the request is over.
    """

    form_data_parser_class = FormParser
    most_files = 0
    most_text: int | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.held = ExitStack()
        self._spool = self.held.enter_context(Spool())

    def _get_file_stream(
        self,
        total_content_length: int | None,
        content_type: str | None,
        filename: str | None = None,
        content_length: int | None = None,
    ) -> IO[bytes]:
        """A file on the disk; nothing is kept of one more than may be sent.

        Raises:
            InvalidInput
        """
        if not filename:
            return NotChosen()
        if self._spool.count >= self.most_files:
            error = InvalidInput(
                "Too many files were sent at once, so none was taken. Choose fewer."
            )
            error.status, error.code = 413, "too_many_files"
            raise error
        return self._spool.add(current_app.config.get("SPOOL_FOLDER"))

    def _get_stream_for_parsing(self) -> IO[bytes]:
        stream = super()._get_stream_for_parsing()
        if self.most_text is None:
            return stream
        return _Bounded(stream, self.most_text + _UNDECIDED, self._spool)  # type: ignore[return-value]

    @property
    def is_read(self) -> bool:
        """Whether all of the body has been read, as a form or as bytes."""
        return "form" in self.__dict__ or "_cached_data" in self.__dict__

    def close(self) -> None:
        """Let go of its files, those too of a form that was refused half-read."""
        super().close()
        self.held.close()


class NotChosen(BytesIO):
    """No file was chosen in a field: browsers send one without a name and without bytes."""

    def write(self, content: Any) -> int:
        if content:
            raise BadRequest
        return 0


class _Bounded:
    """A stream of which no more may be read than goes to files, and `most` bytes besides."""

    def __init__(self, stream: IO[bytes], most: int, spool: Spool) -> None:
        self._stream, self._most, self._spool = stream, most, spool
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        # What has come already is read without a pause, however much it is.
        time.sleep(0)
        self._read += len(piece)
        if self._read - self._spool.size > self._most:
            raise RequestEntityTooLarge
        return piece


def drain(request: BodyRequest) -> None:
    """Read what is left of a body that was refused.

    A connection that is closed with something unread is reset, and the answer is lost with it.
    """
    if request.is_read or not request.environ.get("wsgi.input_terminated"):
        return
    left, until = DRAINED_BYTES, time.monotonic() + DRAIN_SECONDS
    body = request.environ["wsgi.input"]
    # One that was waited for too long already gets its answer without being read to the end.
    with suppress(RequestTimeout):
        while left > 0 and time.monotonic() < until and (piece := body.read(PIECE_BYTES)):
            left -= len(piece)
            time.sleep(DRAIN_PAUSE_SECONDS)
