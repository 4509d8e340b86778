"""A browser over real HTTP: cookies, CSRF tokens, and an event stream that reconnects."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from flask import Flask

from app.db import Database
from tests.factories.browser import HTMX, issued_id
from tests.factories.people import Member, browser_token

TIMEOUT = 30.0


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    text: str


class WebClient:
    """One signed-in browser that talks to a server on this machine."""

    def __init__(self, app: Flask, owner: Database, member: Member, port: int) -> None:
        self.port = port
        self._app, self._member = app, member
        self.cookies = {"comanda": _session_cookie(app, browser_token(owner, member))}
        self._csrf_token = ""

    def new_id(self) -> UUID:
        """An id as this person's pages are issued them, to begin a conversation under."""
        return issued_id(self._app, self._member)

    @property
    def csrf_token(self) -> str:
        """The token of this person's forms, read from a page the first time."""
        if not self._csrf_token:
            page = self.get("/chat").text
            match = re.search(r'name="csrf_token" value="([^"]+)"', page)
            assert match, page[:500]
            self._csrf_token = match[1]
        return self._csrf_token

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)

    def cookie_header(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}

    def request(self, method: str, path: str, body: str | None = None, **headers: str) -> Response:
        connection = self.connection()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {**self.cookie_header(), **sent})
        answer = connection.getresponse()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.split(";")[0]
        response = Response(answer.status, dict(answer.getheaders()), answer.read().decode())
        connection.close()
        return response

    def get(self, path: str, **headers: str) -> Response:
        return self.request("GET", path, **headers)

    def post(self, path: str, **form: str) -> Response:
        """Send a form as htmx does, with the page's token."""
        body = urlencode({"csrf_token": self.csrf_token, **form})
        headers = {name.replace("-", "_"): value for name, value in HTMX.items()}
        headers["Content_Type"] = "application/x-www-form-urlencoded"
        return self.request("POST", path, body, **headers)

    def send(self, thread_id: UUID, message: str, **form: str) -> Response:
        return self.post(f"/chat/{thread_id}/messages", message=message, **form)


def _session_cookie(app: Flask, token: str) -> str:
    serializer = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    cookie: str = serializer.dumps({"_user_id": token, "_permanent": True, "_fresh": True})
    return cookie


@dataclass(frozen=True)
class Received:
    id: str
    type: str
    payload: dict[str, Any]


class StreamReader:
    """Follows a thread's events as a browser does: reconnecting with the last id it has seen."""

    def __init__(self, client: WebClient, thread_id: UUID, after: str = "") -> None:
        self.client = client
        self.path = f"/chat/{thread_id}/events" + (f"?after={after}" if after else "")
        self.received: list[Received] = []
        self.connects = 0
        self.comments = 0
        self.headers: dict[str, str] = {}
        self.local_port = 0
        self.changed = threading.Condition()
        self.stopping = False
        self._last_id = ""
        self._connection: http.client.HTTPConnection | None = None
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> StreamReader:
        self._thread.start()
        self.wait(lambda: self.connects > 0)
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping = True
        self.drop()
        self._thread.join(5)

    def drop(self) -> None:
        """Lose the connection, as a phone does."""
        connection = self._connection
        if connection and connection.sock:
            with suppress(OSError):
                connection.sock.shutdown(2)

    def wait(self, until: Callable[[], Any], seconds: float = 60.0) -> None:
        with self.changed:
            heard = [(event.id, event.type) for event in self.received[-5:]]
            assert self.changed.wait_for(until, seconds), f"heard {heard}"

    def wait_for(self, type_: str, count: int = 1, seconds: float = 60.0) -> None:
        self.wait(lambda: len(self.of(type_)) >= count, seconds)

    def wait_for_more(self, count: int) -> None:
        """Wait for so many events more."""
        wanted = len(self.received) + count
        self.wait(lambda: len(self.received) >= wanted)

    def wait_for_connects(self, count: int) -> None:
        self.wait(lambda: self.connects >= count)

    def of(self, type_: str) -> list[Received]:
        return [event for event in self.received if event.type == type_]

    def text(self, message_id: str = "") -> str:
        """What a page would show of a reply, by this stream alone."""
        shown = ""
        for event in self.received:
            if message_id and event.payload.get("message_id") != message_id:
                continue
            if event.type == "reset":
                shown = ""
            elif event.type == "token":
                shown += event.payload["text"]
        return shown

    def _follow(self) -> None:
        while not self.stopping:
            with suppress(OSError, http.client.HTTPException):
                self._connect_and_read()
            time.sleep(0.1)

    def _connect_and_read(self) -> None:
        headers = {"Accept": "text/event-stream", **self.client.cookie_header()}
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        connection = self._connection = self.client.connection()
        connection.request("GET", self.path, headers=headers)
        answer = connection.getresponse()
        if answer.status >= 500:
            return  # Too busy, or not up again: a browser comes back, too.
        assert answer.status == 200, answer.status
        self.headers = dict(answer.getheaders())
        self.local_port = connection.sock.getsockname()[1] if connection.sock else 0
        fields: dict[str, str] = {}
        while not self.stopping and (line := answer.readline()):
            self._read_line(line.decode().rstrip("\n"), fields)

    def _read_line(self, line: str, fields: dict[str, str]) -> None:
        with self.changed:
            if line.startswith(":"):
                self.comments += 1
                if "comanda" in line:
                    self.connects += 1
            elif line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
            elif "data" in fields:
                self._last_id = fields.get("id", self._last_id)
                payload = json.loads(fields["data"])
                event = Received(fields.get("id", ""), fields.get("event", "message"), payload)
                self.received.append(event)
                fields.clear()
            else:
                fields.clear()
            self.changed.notify_all()
