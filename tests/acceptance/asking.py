"""Asking as a person would, and what came back: the path of `flask ask`, and the envelope."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.assistant.cli import find_asker, run_one
from app.assistant.turns.citations import cited_numbers
from app.assistant.turns.envelope import envelope
from app.demo import PASSWORD
from app.text.normalize import fold

HERE = Path(__file__).parent
SAM = "sam@alamoprime.example"
LUCIA = "lucia@alamoprime.example"
ROSA = "rosa@casalucero.example"
STAFF = {"en": SAM, "es": LUCIA}
FINISHED = "complete"


def read_lines(name: str) -> list[dict[str, Any]]:
    """The rows of a JSONL file beside this module."""
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@dataclass(frozen=True)
class Reply:
    """A finished reply: its envelope 1.0 and the tools that ran for it, in order."""

    asked: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        return str(self.body["message"])

    @property
    def language(self) -> str:
        return str(self.body["language"])

    @property
    def status(self) -> str:
        return str(self.body["status"])

    @property
    def mode(self) -> str:
        return str(self.body["mode"])

    @property
    def tools(self) -> list[str]:
        return [entry["tool"] for entry in self.body["tool_trace"]]

    @property
    def citations(self) -> list[dict[str, Any]]:
        citations: list[dict[str, Any]] = self.body["citations"]
        return citations

    @property
    def numbers(self) -> list[int]:
        """The numbers that its words cite."""
        return cited_numbers(self.text)

    @property
    def cards(self) -> list[dict[str, Any]]:
        return [part for part in self.body["parts"] if part["type"] == "product_card"]

    @property
    def cited_slugs(self) -> list[str]:
        """The sections and products it cites, by slug."""
        return [slug_of(citation["url"]) for citation in self.citations]

    @property
    def shown(self) -> str:
        """All that a person reads: the words, and the names and facts on the cards."""
        return f"{self.text}\n{json.dumps(self.cards, ensure_ascii=False)}"

    @property
    def everything(self) -> str:
        """All that leaves the house with this reply: words, citations, parts, chips, trace."""
        return json.dumps(self.body, ensure_ascii=False)

    def states(self, fact: str) -> bool:
        """Whether a fact is among what is shown, as words of their own, accents or not."""
        pattern = rf"(?<!\w){re.escape(fold(fact))}(?!\w)"
        return re.search(pattern, fold(self.shown)) is not None

    def __str__(self) -> str:
        where = ", ".join(self.cited_slugs) or "nothing"
        ran = ", ".join(self.tools) or "no tool"
        return f"{self.asked!r} -> {ran}; cites {where}; says {self.text[:160]!r}"


def slug_of(url: str) -> str:
    """The slug that a page of the library is addressed by."""
    return urlsplit(url).path.rstrip("/").rpartition("/")[2]


def ask(
    app: Flask,
    email: str,
    text: str,
    *,
    language: str | None = None,
    thread_id: UUID | None = None,
    domain: str | None = None,
    action: str | None = None,
) -> Reply:
    """One turn for the person with this e-mail; a new thread unless one is named."""
    with app.app_context():
        asker = find_asker(email)
        message = run_one(asker, text, language, thread_id, domain, action)
        with app.test_request_context():
            body = envelope(message).model_dump(mode="json")
    return Reply(text, body | {"tool_trace": message.tool_trace, "provider": message.provider})


def ask_batch(app: Flask, path: Path, email: str) -> tuple[list[Reply], str]:
    """Run a file through `flask ask --batch`; its replies, and what it said on stderr."""
    runner = app.test_cli_runner()
    result = runner.invoke(args=["ask", "--batch", str(path), "--user", email])
    assert result.exit_code in (0, 1), result.output
    bodies = [json.loads(line) for line in result.stdout.splitlines()]
    asked = [line["text"] for line in read_lines(path.name)]
    failed = [body for body in bodies if body.get("error")]
    assert not failed, failed
    pairs = zip(asked, bodies, strict=True)
    return [Reply(text, body) for text, body in pairs], result.stderr


class Visitor:
    """Somebody who is signed in with a browser and opens what a reply points at."""

    def __init__(self, app: Flask, email: str, password: str = PASSWORD) -> None:
        self.email = email
        self.client: FlaskClient = app.test_client()
        address = ".".join(str(secrets.randbelow(254) + 1) for _ in range(3))
        self.client.environ_base["REMOTE_ADDR"] = f"10.{address}"
        page = self.client.get("/sign-in").text
        token = re.search(r'<meta name="csrf-token" content="([^"]+)"', page)
        assert token, "the sign-in page carries no CSRF token"
        form = {"csrf_token": token[1], "email": email, "password": password}
        assert self.client.post("/sign-in", data=form).status_code == 303, email

    def get(self, path: str) -> TestResponse:
        return self.client.get(path)


def misses(rows: list[tuple[str, bool]]) -> Iterator[str]:
    """The descriptions of the rows that did not come out right."""
    return (description for description, is_right in rows if not is_right)


def assert_share(rows: list[tuple[str, bool]], bar: float, what: str) -> None:
    """At least this share of the rows is right; says how many are, and which are not."""
    right = sum(is_right for _, is_right in rows)
    verdict = f"{what}: {right} of {len(rows)} ({right / len(rows):.1%}); the bar is {bar:.0%}"
    print(verdict)
    assert right >= bar * len(rows), "\n  ".join([verdict, *misses(rows)])
