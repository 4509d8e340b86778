"""A connection to the mail server, which may answer so much, and in so much time, for one letter.

The library waits for each piece by itself, and keeps each line of an answer: a server that sends a
byte now and then, or lines without end, would hold whoever sends letters for ever.
"""

from __future__ import annotations

import io
import smtplib
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from app.config import Settings

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

IMPLICIT_TLS_PORT = 465
PIECE_SECONDS = 20.0
# Of all that is said about one letter.
LETTER_SECONDS = 60.0
MOST_BYTES = 64 * 1024


@contextmanager
def connect(settings: Settings, host: str, seconds: float = PIECE_SECONDS) -> Iterator[MailServer]:
    """The mail server, encrypted and signed in as the settings say; a piece may take `seconds`.

    Raises:
        OSError: smtplib's own errors are among them.
        UnicodeError: the host, user or password has letters that the protocol cannot carry.
    """
    secure = ssl.create_default_context()
    if settings.smtp_tls and settings.smtp_port == IMPLICIT_TLS_PORT:
        server: MailServer = _EncryptedServer(
            host, settings.smtp_port, timeout=seconds, context=secure
        )
    else:
        server = MailServer(host, settings.smtp_port, timeout=seconds)
    try:
        server.ehlo_or_helo_if_needed()
        if settings.smtp_tls and settings.smtp_port != IMPLICIT_TLS_PORT:
            server.starttls(context=secure)
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password or "")
        yield server
    finally:
        # How the goodbye goes says nothing about the message.
        with suppress(OSError):
            server.quit()
        server.close()


class _Answers(io.RawIOBase):
    """What comes over a connection, as long as it keeps to the bounds."""

    def __init__(self, connection: socket.socket, seconds: float, until: float) -> None:
        self._connection = connection
        self._seconds = seconds
        self._until = until
        self._left = MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError("the mail server takes too long")
        if self._left <= 0:
            raise OSError("the mail server says too much")
        self._connection.settimeout(min(self._seconds, left))
        received = self._connection.recv_into(buffer)
        self._left -= received
        return received


class MailServer(smtplib.SMTP):
    """A server whose answers are bounded, and that is given a letter's text by leave."""

    _until = 0.0
    before_text: Callable[[], None] = staticmethod(lambda: None)

    def data(self, msg: Any) -> tuple[int, bytes]:
        """Give it the text of a letter, whose people it has taken; `before_text` may raise."""
        self.before_text()
        return super().data(msg)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self._until = self._until or monotonic() + LETTER_SECONDS
            self.file = io.BufferedReader(_Answers(self.sock, self.timeout, self._until))
        return super().getreply()


class _EncryptedServer(MailServer, smtplib.SMTP_SSL):
    """One that is encrypted from the beginning."""
