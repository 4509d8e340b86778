"""A small SMTP server that keeps what it is given, and misbehaves when told to."""

from __future__ import annotations

import email
import socketserver
import ssl
import threading
from email.message import EmailMessage
from email.policy import default
from typing import Any, Literal

Manners = Literal["polite", "refuses", "busy", "hangs up", "leaves early"]


class SmtpServer(socketserver.ThreadingTCPServer):
    """Listens on a free local port. `manners` decides how it answers:

    polite takes everything; refuses answers 550 to a recipient, busy 451; hangs up takes
    the whole message and goes away without a word, leaves early does so at its recipient.
    With a `secure` context it is spoken to over TLS: from the beginning where it `is_implicit`,
    else once it is asked to.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, secure: ssl.SSLContext | None = None, *, is_implicit: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.secure, self.is_implicit = secure, is_implicit
        self.manners: Manners = "polite"
        self.received: list[EmailMessage] = []
        self.recipients: list[str] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Conversation(socketserver.StreamRequestHandler):
    server: SmtpServer

    def handle(self) -> None:
        secure = self.server.secure
        if secure and self.server.is_implicit:
            self._encrypt(secure)
        self._say("220 ready")
        self._converse()

    def _encrypt(self, secure: ssl.SSLContext) -> None:
        self.request = secure.wrap_socket(self.request, server_side=True)
        self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", 0)

    def _converse(self) -> None:
        for line in iter(self.rfile.readline, b""):
            verb = line.split(b":")[0].strip().upper().split(b" ")[0]
            if verb == b"DATA":
                self._say("354 go on")
                self._take()
                if self.server.manners == "hangs up":
                    return
                self._say("250 taken")
            elif verb == b"EHLO":
                tls = "250-STARTTLS\r\n" if self.server.secure else ""
                self._say(f"250-here\r\n250-8BITMIME\r\n{tls}250 SMTPUTF8")
            elif verb == b"STARTTLS" and self.server.secure:
                self._say("220 go on")
                self._encrypt(self.server.secure)
                self._converse()
                return
            elif verb == b"RCPT" and self.server.manners == "leaves early":
                return
            elif verb == b"RCPT":
                self.server.recipients.append(line.decode().partition("<")[2].partition(">")[0])
                self._say({"refuses": "550 nobody", "busy": "451 later"}.get(
                    self.server.manners, "250 ok"
                ))  # fmt: skip
            else:
                self._say("221 bye" if verb == b"QUIT" else "250 ok")

    def _take(self) -> None:
        lines = iter(self.rfile.readline, b".\r\n")
        content = b"".join(line[1:] if line.startswith(b"..") else line for line in lines)
        message: Any = email.message_from_bytes(content, policy=default)
        self.server.received.append(message)

    def _say(self, words: str) -> None:
        self.wfile.write(words.encode() + b"\r\n")
