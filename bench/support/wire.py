"""A lean HTTP client for load: what it costs is what the benchmarks cannot see.

Streams are asked for in HTTP/1.0, whose body has no chunks to take apart.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import uuid4

# The server closes a connection that is idle for longer; a browser would open another.
KEPT_SECONDS = 2.0
HTMX = "HX-Request: true\r\nHX-Request-Type: partial\r\n"


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


@dataclass(frozen=True)
class Guest:
    """Somebody signed in, as their browser presents them."""

    cookie: str
    csrf: str
    thread: str = ""

    @property
    def header(self) -> str:
        return f"Cookie: comanda={self.cookie}\r\n"


class Line:
    """One kept-alive connection to a server on this machine."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._used_at = 0.0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, headers: str = "") -> Answer:
        return await self.send("GET", path, headers)

    async def post(self, path: str, guest: Guest, **form: str) -> Answer:
        """Send a form as htmx does."""
        body = urlencode({"csrf_token": guest.csrf, **form}).encode()
        headers = guest.header + HTMX + "Content-Type: application/x-www-form-urlencoded\r\n"
        return await self.send("POST", path, headers, body)

    async def send(self, method: str, path: str, headers: str = "", body: bytes = b"") -> Answer:
        if time.monotonic() - self._used_at > KEPT_SECONDS:
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}{length}\r\n"
        writer.write(head.encode() + body)
        try:
            answer, keeps = await read_answer(reader)
        except (OSError, EOFError, asyncio.IncompleteReadError):
            self.close()
            raise
        self._used_at = time.monotonic()
        if not keeps:
            self.close()
        return answer

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None


def multipart(
    fields: Mapping[str, str], files: Sequence[tuple[str, str, bytes]]
) -> tuple[str, bytes]:
    """A form with files (field, name, content) as browsers send it: its header and its body."""
    mark = f"----{uuid4().hex}"
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    for field, name, content in files:
        head = (
            f'--{mark}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        parts += [head.encode(), content, b"\r\n"]
    parts.append(f"--{mark}--\r\n".encode())
    return f"Content-Type: multipart/form-data; boundary={mark}\r\n", b"".join(parts)


async def read_answer(reader: asyncio.StreamReader) -> tuple[Answer, bool]:
    """An answer, and whether the server keeps the connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict(_header(line) for line in lines[1:] if line)
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(lines[0].split()[1]), body), headers.get("connection", "") != "close"


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip().lower()


async def follow(
    port: int, path: str, headers: Mapping[str, str] | str, hear: Callable[[bytes], object]
) -> None:
    """Read a stream to its end, handing on each piece as it comes.

    Raises:
        ConnectionError: the server did not open it.
    """
    given = (
        headers
        if isinstance(headers, str)
        else "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n{given}\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise ConnectionError(head[:60])
        while piece := await reader.read(65536):
            hear(piece)
    finally:
        writer.close()
