"""What a mail server may answer: so much, and in so much time, in all of one letter.

The library waits for each piece by itself, and keeps each line of an answer: a server that sends a
byte now and then, or lines without end, would hold the one that sends letters for ever.
"""

from __future__ import annotations

import io
import smtplib
import socket
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIECE_SECONDS = 20.0
# Of all that is said about one letter.
LETTER_SECONDS = 60.0
MOST_BYTES = 64 * 1024


class BoundedAnswers(io.RawIOBase):
    """The answers that come over a connection, as long as they keep to the bounds."""

    def __init__(self, connection: socket.socket, until: float) -> None:
        self._connection = connection
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
        self._connection.settimeout(min(PIECE_SECONDS, left))
        received = self._connection.recv_into(buffer)
        self._left -= received
        return received


class BoundedReplies(smtplib.SMTP):
    """A connection to a mail server, whose answers are bounded."""

    _until = 0.0

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self._until = self._until or monotonic() + LETTER_SECONDS
            self.file = io.BufferedReader(BoundedAnswers(self.sock, self._until))
        return super().getreply()


class BoundedRepliesOverTls(BoundedReplies, smtplib.SMTP_SSL):
    """The same over a connection that is encrypted from its beginning."""
