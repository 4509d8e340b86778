"""One's own conversations to take along: Markdown to read, JSON to go on with, a zip of all.

Everything is written piece by piece, a few messages at a time and each in a transaction of
its own, so that neither memory nor a connection is held for as long as somebody downloads.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from babel.dates import format_datetime
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import aliased

from app.assistant.feedback.feedback import feedback_on
from app.assistant.models import AGENT, Message, MessageFeedback, Thread, own
from app.assistant.proposals.proposals import part_as_of_now, proposals_of
from app.assistant.threads.threads import load_thread, own_threads
from app.assistant.tools.parts import words_of_part
from app.db import ScopedSession, utc_now
from app.errors import N_, NotFound
from app.text.markdown import escape_loading, open_fence
from app.text.normalize import words
from app.text.translation import translated
from app.web.urls import with_urls

CHUNK = 50
NAME_LENGTH = 60
FORMAT = {"format": "comanda-chat", "version": 1}

Transaction = Callable[[], AbstractContextManager[ScopedSession]]


@dataclass(frozen=True)
class Letterhead:
    """Where an export comes from, its address without a slash, and whose language it speaks.

    Nothing is looked up in the request: an export may also be written long after it. What its
    links lead to is made URLs of by the app, which its writer must be in.
    """

    house: str
    zone: ZoneInfo
    site: str
    language: str = "en"

    def text(self, text: str, **values: str) -> str:
        return translated(text, self.language, **values)

    def moment(self, moment: datetime) -> str:
        return format_datetime(moment, "medium", tzinfo=self.zone, locale=self.language)


@dataclass(frozen=True)
class Said:
    """A message as it is exported, with what stands around it."""

    message: Message
    parts: list[dict[str, Any]]
    feedback: MessageFeedback | None
    is_shown: bool


@dataclass(frozen=True)
class ExportedThread:
    """A thread and the way to read its messages, oldest first."""

    thread: Thread
    shown: frozenset[UUID]
    transaction: Transaction

    def messages(self) -> Iterator[Said]:
        """All of its messages, those of branches that are not shown among them."""
        after: UUID | None = None
        while chunk := self._read(*([Message.id > after] if after else [])):
            yield from chunk
            after = chunk[-1].message.id

    def shown_messages(self) -> Iterator[Said]:
        """Those of the branch that is shown; no others are read, however many there are."""
        ids = sorted(self.shown)
        for start in range(0, len(ids), CHUNK):
            yield from self._read(Message.id.in_(ids[start : start + CHUNK]))

    def _read(self, *which: ColumnElement[bool]) -> list[Said]:
        with self.transaction() as session:
            query = (
                select(Message)
                .where(
                    Message.thread_id == self.thread.id,
                    *own(session, Message),
                    *which,
                )
                .order_by(Message.id)
                .limit(CHUNK)
            )
            found = session.scalars(query).all()
            proposals, given = proposals_of(session, found), feedback_on(session, found)
            return [
                Said(
                    message,
                    [dict(part_as_of_now(part, proposals)) for part in message.parts],
                    given.get(message.id),
                    message.id in self.shown,
                )
                for message in found
            ]


def open_conversation(transaction: Transaction, thread_id: UUID) -> ExportedThread:
    """One's own conversation, ready to be written.

    Raises:
        NotFound: there is none, it is somebody else's, or it is deleted.
    """
    with transaction() as session:
        thread = load_thread(session, thread_id)
        return ExportedThread(thread, _shown(session, thread), transaction)


def _shown(session: ScopedSession, thread: Thread) -> frozenset[UUID]:
    """The ids of the branch that is shown: of a long thread too, they are but numbers."""
    path = (
        select(Message.id, Message.parent_id)
        .where(Message.id == thread.head_id, *own(session, Message))
        .cte("path", recursive=True)
    )
    parent = aliased(Message)
    path = path.union_all(
        select(parent.id, parent.parent_id)
        .join(path, parent.id == path.c.parent_id)
        .where(*own(session, parent))
    )
    return frozenset(session.scalars(select(path.c.id)))


def file_name(thread: Thread, zone: ZoneInfo, extension: str) -> str:
    """A name that every system takes: the day, the title in plain letters, and what tells
    two of them apart."""
    day = thread.created_at.astimezone(zone).date().isoformat()
    title = "-".join(re.findall("[a-z0-9]+", " ".join(words(thread.title))))[:NAME_LENGTH]
    return "-".join(filter(None, (day, title.strip("-"), thread.id.hex[-6:]))) + f".{extension}"


# Markdown: the conversation as it is shown.


def as_markdown(conversation: ExportedThread, letterhead: Letterhead) -> Iterator[str]:
    """The shown branch, for people; in the language and zone of the letterhead."""
    thread = conversation.thread
    title = thread.title or letterhead.text(N_("New chat"))
    yield f"# {_line(title)}\n\n"
    when, zone = letterhead.moment(utc_now()), letterhead.zone.key
    # Texts are looked up outside of f-strings: the catalog's tool does not see into those.
    exported = letterhead.text(N_("Exported %(when)s (%(zone)s)"), when=when, zone=zone)
    yield f"{_line(letterhead.house)} · {exported}\n"
    for said in conversation.shown_messages():
        yield from _markdown_message(said, letterhead)


def _markdown_message(said: Said, letterhead: Letterhead) -> Iterator[str]:
    message = said.message
    author = _line(_author(message, letterhead))
    yield f"\n## {author} · {letterhead.moment(message.created_at)}\n\n"
    # Whoever wrote it: a colleague's reply stands in the file of somebody else, too.
    content = escape_loading(message.content.strip())
    if message.role in ("user", AGENT):
        # Quoted, so that what somebody typed is no heading or list of this document.
        yield _quoted(content)
        return
    if content:
        # What it leaves open would take in what stands below.
        yield "\n".join(filter(None, (content, open_fence(content)))) + "\n"
    for part in said.parts:
        if told := words_of_part(part, message.language):
            yield f"\n_{_line(told)}_\n"
    if message.citations:
        sources = letterhead.text(N_("Sources"))
        yield f"\n**{sources}**\n"
    for citation in with_urls(message.citations):
        yield _markdown_source(citation, letterhead.site)


def _author(message: Message, letterhead: Letterhead) -> str:
    if message.role == AGENT:
        written = message.internal_content or {}
        return f"{written.get('author', '')} · {written.get('reference', '')}"
    return letterhead.text(N_("You")) if message.role == "user" else "Comanda"


def _markdown_source(citation: Mapping[str, Any], site: str) -> str:
    path = citation.get("path") or []
    place = " › ".join([path] if isinstance(path, str) else path)
    title = _line(citation["title"]) + (f" ({_line(place)})" if place else "")
    quote = "".join(f"    {line}\n" for line in _quoted(citation["quote"]).splitlines())
    return f"\n[{citation['number']}] {title}  \n    <{site}{citation['url']}>\n\n{quote}"


def _line(text: str) -> str:
    """Text on one line, its Markdown signs as they are written."""
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(text.split()))


def _quoted(text: str) -> str:
    return "".join(f"> {line}".rstrip() + "\n" for line in text.strip().splitlines())


# JSON: all that there is, branches too.


def as_json(conversation: ExportedThread, letterhead: Letterhead) -> Iterator[str]:
    """Every message with its sources, for programs; times with the zone's offset."""
    thread, zone = conversation.thread, letterhead.zone
    head = {
        **FORMAT,
        "house": letterhead.house,
        "time_zone": zone.key,
        "exported_at": _stamp(utc_now(), zone),
        "id": str(thread.id),
        "title": thread.title,
        "created_at": _stamp(thread.created_at, zone),
        "last_message_at": _stamp(thread.last_message_at, zone),
    }
    yield json.dumps(head, ensure_ascii=False, indent=2).removesuffix("\n}") + ',\n  "messages": ['
    separator = "\n"
    for said in conversation.messages():
        yield separator + json.dumps(_json_message(said, letterhead), ensure_ascii=False)
        separator = ",\n"
    yield "\n]}\n"


def _json_message(said: Said, letterhead: Letterhead) -> dict[str, Any]:
    message, feedback = said.message, said.feedback
    return {
        "id": str(message.id),
        "parent_id": str(message.parent_id) if message.parent_id else None,
        "shown": said.is_shown,
        "role": message.role,
        "status": message.status,
        "language": message.language,
        "created_at": _stamp(message.created_at, letterhead.zone),
        "text": message.content,
        "citations": [
            {**citation, "url": letterhead.site + citation["url"]}
            for citation in with_urls(message.citations)
        ],
        "parts": with_urls(said.parts),
        "provider": message.provider,
        "model": message.model,
        "feedback": feedback
        and {"rating": feedback.rating, "reason": feedback.reason, "comment": feedback.comment},
    }


def _stamp(moment: datetime, zone: ZoneInfo) -> str:
    return moment.astimezone(zone).isoformat(timespec="seconds")


Writer = Callable[[ExportedThread, Letterhead], Iterator[str]]
FORMATS: dict[str, tuple[str, Writer]] = {
    "md": ("text/markdown; charset=utf-8", as_markdown),
    "json": ("application/json", as_json),
}


# All of them.


class _Sink:
    """What a zip file is written to: a place that gives away what it has."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """What was not taken yet can be taken still."""

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def as_zip(
    transaction: Transaction,
    letterhead: Letterhead,
    on_chat: Callable[[], None] = lambda: None,
) -> Iterator[bytes]:
    """Each conversation as Markdown and as JSON, in a zip that is written while it is sent.

    `on_chat` is called when another one is written, and may raise to stop it.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for thread_id in _thread_ids(transaction):
            try:
                conversation = open_conversation(transaction, thread_id)
            except NotFound:
                # Deleted a moment ago, in another window.
                continue
            for extension, (_type, write) in FORMATS.items():
                name = file_name(conversation.thread, letterhead.zone, extension)
                with archive.open(_entry(name, conversation.thread), "w") as file:
                    for piece in write(conversation, letterhead):
                        file.write(piece.encode())
                        if ready := sink.take():
                            yield ready
            on_chat()
    yield sink.take()


def _entry(name: str, thread: Thread) -> zipfile.ZipInfo:
    """The file in the zip, dated in UTC: what a zip says of a time has no zone."""
    used = thread.last_message_at.astimezone(UTC)
    entry = zipfile.ZipInfo(name, used.timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _thread_ids(transaction: Transaction) -> Iterator[UUID]:
    """The person's conversations, the oldest first."""
    after: UUID | None = None
    while True:
        with transaction() as session:
            query = own_threads(session).order_by(None).order_by(Thread.id).limit(CHUNK)
            if after is not None:
                query = query.where(Thread.id > after)
            found = [thread.id for thread in session.scalars(query)]
        yield from found
        if len(found) < CHUNK:
            return
        after = found[-1]
