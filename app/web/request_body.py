"""How much of a request is taken in: files go to the disk, and what is typed is bounded.

A body is waited for for a while and no longer. Without a limit whoever sends half a body and stops
keeps a connection for as long as they like, and a thousand of them keep everybody else out.
gunicorn's worker for gevent has a limit for the headers alone (`keepalive` in gunicorn.conf.py).
"""

from __future__ import annotations

import re
import time
from binascii import a2b_qp
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from io import BytesIO
from typing import IO, Any, Protocol
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import gevent
from flask import Request, current_app
from flask.json.provider import DefaultJSONProvider
from gevent import monkey
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, RequestTimeout
from werkzeug.formparser import FormDataParser

from app.errors import InvalidInput
from app.files.kinds import KIB, MIB
from app.files.spool import PIECE_BYTES, Spool
from app.text.json_text import parse_json
from app.web.fair_queue import Pace

# A form of a hundred fields, with all of a hundred choices in each.
MOST_PARTS = 11_000
# Of a form with files that has few fields of its own, and of what stands above each part.
FEW_PARTS, LONGEST_PART_HEADER = 100, 4 * KIB
# What one person may add in a minute (app.files.upload_limits) is not sent at once either.
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
_END_OF_HEADER = b"\r\n\r\n"
_BARE = re.compile(rb"%(?![0-9a-fA-F]{2})")
# A history of 200 messages, or a form, has a few hundred.
MOST_VALUES_OF_A_BODY = 10_000
# Somebody's slow line; each second's worth that came is waited for a second longer.
SLOWEST_BYTES_PER_SECOND = 16 * 1024
STEP_BYTES = 64 * 1024
# A body that is there already is worked on for so long in one go; then others go on for as long.
STRETCH_SECONDS = 0.01
# The parts of a form are told apart in small pieces; after each stretch of that all forms of a
# process wait for a turn, so that however many come they take a quarter of its time.
PARTS_PIECE_BYTES, PARTS_STRETCH_SECONDS = 8 * KIB, 0.003
_parts_turns = Pace(4 * PARTS_STRETCH_SECONDS, longest=0.5)


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
        if mimetype not in ("application/x-www-form-urlencoded", "multipart/form-data"):
            # No form: whoever wants it reads the stream.
            return super().parse(stream, mimetype, content_length, options)
        if mimetype == "multipart/form-data":
            boundary = (options or {}).get("boundary", "")
            parts: Any = _Parts(stream, boundary.encode(errors="replace"))
            parsed = super().parse(parts, mimetype, content_length, options)
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
        # Called when the form has been read, before anybody has seen it.
        self.when_read: Callable[[], None] | None = None

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
                "Too many files were sent at once, so none were accepted. Choose fewer."
            )
            error.status, error.code = 413, "too_many_files"
            raise error
        return self._spool.add(current_app.config.get("SPOOL_FOLDER"))

    def _load_form_data(self) -> None:
        is_first = "form" not in self.__dict__
        super()._load_form_data()
        if is_first and self.when_read:
            self.when_read()

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


class _Parts:
    """The stream of a form in parts, read in small pieces; others go on after each stretch.

    What stands above a part is read in one go, however long it is.
    """

    def __init__(self, stream: IO[bytes], boundary: bytes) -> None:
        self._stream, self._boundary = stream, b"--" + boundary
        self._unread, self._is_header = b"", False
        # For how long others have not gone on, and since when the last piece is worked on.
        self._worked, self._since = 0.0, time.monotonic()

    def read(self, size: int = -1) -> bytes:
        """The next piece.

        Raises:
            RequestEntityTooLarge: what stands above a part is longer than any browser writes.
        """
        self._worked += time.monotonic() - self._since
        if self._worked > PARTS_STRETCH_SECONDS:
            _parts_turns.wait(turns=self._worked / PARTS_STRETCH_SECONDS)
            self._worked = 0.0
        piece = self._stream.read(PARTS_PIECE_BYTES if size < 0 else min(size, PARTS_PIECE_BYTES))
        self._since = time.monotonic()
        self._check_headers(piece)
        return piece

    def _check_headers(self, piece: bytes) -> None:
        self._unread += piece
        while True:
            mark = _END_OF_HEADER if self._is_header else self._boundary
            before, found, after = self._unread.partition(mark)
            if self._is_header and len(before) > LONGEST_PART_HEADER:
                raise RequestEntityTooLarge
            if not found:
                break
            self._unread, self._is_header = after, not self._is_header
        if not self._is_header:
            self._unread = self._unread[-len(self._boundary) :]


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
    # So does one that is no body, or whose sender has gone.
    with suppress(RequestTimeout, BadRequest):
        while left > 0 and time.monotonic() < until and (piece := body.read(PIECE_BYTES)):
            left -= len(piece)
            time.sleep(DRAIN_PAUSE_SECONDS)


class BoundedJSONProvider(DefaultJSONProvider):
    """Flask's JSON, whose bodies of requests are read within bounds: what is not is 400."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a request's body.

        Raises:
            ValueError: it is no JSON, nested too deeply, or of more values than anybody sends.
        """
        text = s if isinstance(s, str) else s.decode("utf-8-sig")
        return parse_json(text, most_values=MOST_VALUES_OF_A_BODY)


class Source(Protocol):
    """What a WSGI server gives as `wsgi.input`."""

    def read(self, size: int = -1, /) -> bytes: ...
    def readline(self, size: int = -1, /) -> bytes: ...


class TimedBody:
    """A body whose reads raise RequestTimeout once it was waited for too long in all.

    They raise BadRequest where it is no body, as in chunks without a size, or breaks off. `seconds`
    are what it may take, and one more for each 16 KiB that came.
    """

    def __init__(self, source: Source, seconds: float) -> None:
        self._source = source
        self._left = seconds
        self._since = time.monotonic()

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size >= 0:
            return self._wait(lambda: self._source.read(size))
        steps = iter(lambda: self._wait(lambda: self._source.read(STEP_BYTES)), b"")
        return b"".join(steps)

    def readline(self, size: int | None = -1) -> bytes:
        return self._wait(lambda: self._source.readline(-1 if size is None else size))

    def readlines(self, _hint: int = -1) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def _wait(self, read: Callable[[], bytes]) -> bytes:
        if self._left <= 0:
            raise RequestTimeout
        began = time.monotonic()
        if began - self._since >= STRETCH_SECONDS:
            gevent.sleep(STRETCH_SECONDS)
            began = self._since = time.monotonic()
        try:
            with gevent.Timeout(self._left, RequestTimeout()):
                data = read()
        except (OSError, ParseException) as error:
            raise BadRequest from error
        finally:
            self._left -= time.monotonic() - began
        self._left += len(data) / SLOWEST_BYTES_PER_SECOND
        return data


def limit_waiting(app: WSGIApplication, seconds: float) -> WSGIApplication:
    """`app`, whose requests' bodies keep it waiting for `seconds` at most, where gevent serves."""

    def limited(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if monkey.is_module_patched("socket"):
            source: Any = environ["wsgi.input"]
            environ["wsgi.input"] = TimedBody(source, seconds)
        return app(environ, start_response)

    return limited
