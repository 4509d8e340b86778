"""Carries a running turn to its readers: events at once, the snapshot once a second.

Text is gathered and sent at most twenty times a second, and less often while many speak.
Whenever a Markdown block is finished it is sent once more as safe HTML, so that the page
never renders the whole text at every token. Every write names the turn's fence; a runner
that lost its lease finds out here, with `LeaseLost`, and writes nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, takewhile
from typing import Any, cast
from uuid import UUID
from weakref import WeakSet

import structlog
from markupsafe import Markup
from redis import RedisError
from sqlalchemy import Table, bindparam, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from app.assistant.models import Message, Turn, own
from app.assistant.tools.tool import CitationLedger
from app.assistant.turns.events import RESET, EventLog
from app.assistant.turns.outcome import TurnOutcome, record
from app.assistant.web.presenters import cite_html
from app.db import ScopedSession
from app.text.markdown import BlockSplitter, is_slow_to_draw

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 0.05
# With more who speak at once, each waits longer, so that first words need not wait for others'
# hundredth; nobody waits longer than this.
SPEAKERS_AT_FULL_PACE = 10
SLOWEST_FLUSH_SECONDS = 0.25
# Left for reading what has come until it is sent.
READ_SECONDS = 0.01
SNAPSHOT_SECONDS = 1.0
# With many, the first snapshot lets others' first words go before.
FIRST_SNAPSHOT_SECONDS = 0.4
# How long words are gathered, untold, after Redis could not be reached.
AWAY_SECONDS = 2.0
_replies = cast(Table, Message.__table__)
# Made once: a running reply is written each second. Which columns, its values say.
_WRITE_REPLY = (
    update(_replies)
    .where(
        _replies.c.id == bindparam("reply"),
        _replies.c.group_id == bindparam("group"),
        _replies.c.user_id == bindparam("person"),
    )
    .returning(_replies.c.language)
)
_HOLD_TURN = (
    select(Turn.id)
    .where(
        Turn.id == bindparam("turn"),
        Turn.group_id == bindparam("group"),
        Turn.user_id == bindparam("person"),
        Turn.fence == bindparam("fence"),
        Turn.status == "running",
    )
    .with_for_update()
)
# So many characters of finished blocks are drawn and told together.
DRAWN_TOGETHER = 1_000
# Without these a reader would have another text than the one that is stored.
MUST_ARRIVE = ("token", "block", RESET)


class LeaseLost(BaseException):
    """Another runner has taken this turn; nothing more may be written for it.

    A BaseException, so that no tool or provider takes it for one of its own failures.
    """


@dataclass(frozen=True)
class Claim:
    """A turn that this process may write for, and its fence."""

    turn_id: UUID
    thread_id: UUID
    reply_id: UUID
    fence: int


_speaking: WeakSet[ReplyWriter] = WeakSet()


def flush_seconds(speakers: int) -> float:
    """How long words are gathered while so many replies are being said in this process."""
    slower = FLUSH_SECONDS * speakers / SPEAKERS_AT_FULL_PACE
    return min(max(FLUSH_SECONDS, slower), SLOWEST_FLUSH_SECONDS)


@dataclass(repr=False, eq=False)
class ReplyWriter:
    """The reply of one turn, as it grows. Its words never stand in a log, hence no repr."""

    claim: Claim
    transaction: Callable[[], AbstractContextManager[ScopedSession]]
    events: EventLog
    ledger: CitationLedger
    clock: Callable[[], float] = time.monotonic
    parts: list[dict[str, Any]] = field(default_factory=list)
    trace: list[dict[str, Any]] = field(default_factory=list)
    # The same tools without what was asked of them, and when each began (outcome.tool_step).
    steps: list[dict[str, Any]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    first_token_at: float | None = None
    cursor: str = ""
    # Whether a model has words in it: what they claim is held against what was done.
    is_a_models: bool = False
    # Calls something after some seconds; without it, words wait for the next ones.
    later: Callable[[float, Callable[[], None]], object] | None = None
    # Lets others go on for some seconds.
    rest: Callable[[float], object] | None = None
    # The text and what of it is unsent, in the pieces that it came in.
    _pieces: list[str] = field(default_factory=list)
    _unsent: list[str] = field(default_factory=list)
    _is_due: bool = False
    # What is on its way goes out in order, though a timer sends some of it.
    _lock: Any = field(default_factory=threading.RLock)
    _splitter: BlockSplitter = field(default_factory=BlockSplitter)
    # Blocks that are finished and not yet sent as such.
    _finished: list[str] = field(default_factory=list)
    _flushed_at: float = 0.0
    _saved_at: float = 0.0

    @property
    def text(self) -> str:
        """All that was said so far."""
        return "".join(self._pieces)

    @text.setter
    def text(self, text: str) -> None:
        self._pieces = [text]

    def publish(self, type_: str, payload: dict[str, Any]) -> None:
        """Send an event about this reply; while Redis is away, most go unheard.

        Raises:
            LeaseLost: another runner has spoken for this turn since.
            RedisError: of an event that must arrive.
        """
        body = {"message_id": str(self.claim.reply_id), **payload}
        fence = (self.claim.turn_id, self.claim.fence)
        try:
            event_id = self.events.publish(self.claim.thread_id, type_, body, fence=fence)
        except RedisError as error:
            if type_ in MUST_ARRIVE:
                raise
            # Readers find out when they ask again: what counts is written.
            log.warning("not told", kind=type_, error=type(error).__name__)
            return
        if event_id is None:
            raise LeaseLost
        self.cursor = event_id

    def clear(self) -> None:
        """Forget everything, what is still on its way to be sent too."""
        with self._lock:
            self._pieces, self._unsent, self._finished = [], [], []
            self.parts, self.trace, self.steps = [], [], []
            self._splitter = BlockSplitter()
        self.ledger.citations.clear()

    def add_text(self, text: str) -> None:
        """More of the reply; the first words go out at once, later ones gathered."""
        if self.first_token_at is None:
            self.first_token_at = self.clock()
            _speaking.add(self)
            if len(_speaking) > SPEAKERS_AT_FULL_PACE:
                # Who reloads before the first snapshot gets all of it from the log.
                self._saved_at = self.first_token_at - SNAPSHOT_SECONDS + FIRST_SNAPSHOT_SECONDS
        self._pieces.append(text)
        self._unsent.append(text)
        wait = flush_seconds(len(_speaking)) - (self.clock() - self._flushed_at)
        if wait <= 0:
            self.flush()
        elif self.later and not self._is_due:
            self._is_due = True
            # What runs later needs the application's context too: blocks have addresses in them.
            self.later(wait, partial(copy_context().run, self._flush_late))
            if self.rest and len(_speaking) > SPEAKERS_AT_FULL_PACE:
                # Words that come meanwhile wait with the system. To read many at once costs a
                # tenth of reading each as it comes, which many first words would wait for.
                self.rest(max(0.0, wait - READ_SECONDS))

    def _flush_late(self) -> None:
        """Send words that no later ones came to push.

        What fails here is tried again with the next words, where the turn finds out.
        """
        self._is_due = False
        with suppress(LeaseLost, RedisError, SQLAlchemyError):
            if self._unsent:
                self.flush()

    def flush(self) -> None:
        """Send what was gathered, and save the snapshot when the last one is a second old."""
        with self._lock:
            self._flushed_at = self.clock()
            try:
                if self._unsent:
                    self._send_words()
                    self._send_finished_blocks()
            except RedisError as error:
                # The turn goes on, and its words wait here.
                log.warning("words not told", error=type(error).__name__)
                self._flushed_at = self.clock() + AWAY_SECONDS
            if self.clock() - self._saved_at >= SNAPSHOT_SECONDS:
                self._save_if_possible()

    @property
    def _told(self) -> str:
        """The text that readers have been sent, which is what `cursor` reaches up to."""
        text = self.text
        return text[: len(text) - sum(map(len, self._unsent))]

    def _send_words(self) -> None:
        count = len(self._unsent)
        words = "".join(self._unsent)
        self.publish("token", {"text": words})
        # More may have come while these were on their way.
        del self._unsent[:count]
        self._finished += self._splitter.feed(words)

    def _send_finished_blocks(self) -> None:
        # Words that came meanwhile are told by the next token: here they would come twice.
        while self._finished:
            count = self._count_small()
            html = self._draw("\n".join(self._finished[:count]))
            tail = self._splitter.tail if len(self._finished) == count else ""
            self.publish("block", {"html": html, "tail": tail})
            del self._finished[:count]

    def _count_small(self) -> int:
        """How many of the blocks that wait are drawn and told together: thousands may be."""
        lengths = accumulate(map(len, self._finished))
        return max(1, sum(1 for _ in takewhile(lambda length: length <= DRAWN_TOGETHER, lengths)))

    def _draw(self, block: str) -> str:
        # It is shown as plain words until the reply is done.
        if is_slow_to_draw(block):
            return str(Markup("<p>{}</p>").format(Markup("<br>").join(block.split("\n"))))
        citations = [citation.model_dump(mode="json") for citation in self.ledger.citations]
        return str(cite_html(block, citations, self.claim.reply_id))

    def _save_if_possible(self) -> None:
        """Save now, or else with a later flush: the words go on, and the end is written anyway."""
        try:
            self.save()
        except SQLAlchemyError as error:
            log.warning("snapshot not written", error=type(error).__name__)
            self._saved_at = self.clock()

    def save(self) -> None:
        """Write the snapshot: the text so far and the event it reaches up to."""
        with self.transaction() as session:
            self.lock_turn(session)
            self._write(session, status="streaming", **self._snapshot())
        self._saved_at = self.clock()

    def _write(self, session: ScopedSession, **columns: Any) -> str:
        """Write these columns of the reply; returns the language that it is in."""
        scope = session.scope
        whose = {"reply": self.claim.reply_id, "group": scope.group_id, "person": scope.user_id}
        return str(session.execute(_WRITE_REPLY, {**whose, **columns}).scalar() or "")

    def _snapshot(self) -> dict[str, Any]:
        return {
            "content": self._told,
            "parts": self.parts,
            "citations": [c.model_dump(mode="json") for c in self.ledger.citations],
            "tool_trace": self.trace,
            "event_cursor": self.cursor,
        }

    def lock_turn(self, session: ScopedSession) -> None:
        """Keep the turn for this transaction, or find out that it is somebody else's.

        Raises:
            LeaseLost
        """
        claim, scope = self.claim, session.scope
        whose = {"group": scope.group_id, "person": scope.user_id}
        if (
            session.scalar(_HOLD_TURN, {"turn": claim.turn_id, "fence": claim.fence, **whose})
            is None
        ):
            raise LeaseLost

    def finish(self, outcome: TurnOutcome) -> None:
        """Write the reply's last state and the turn's, together, then tell the readers."""
        _speaking.discard(self)
        with self._lock, suppress(RedisError):
            # The reply is whole in the database even if nobody can be told just now.
            if self._unsent:
                self._send_words()
        ended = {"complete": "done", "stopped": "stopped"}.get(outcome.status, "failed")
        with self.transaction() as session:
            self.lock_turn(session)
            last = {**self._snapshot(), "content": self.text, **outcome.columns()}
            language = self._write(session, status=outcome.status, **last)
            turn = session.scalars(
                update(Turn)
                .where(Turn.id == self.claim.turn_id, *own(session, Turn))
                .values(status=ended, error_code=outcome.code, finished_at=func.clock_timestamp())
                .returning(Turn)
            ).one()
            record(session, turn, outcome.status, language, outcome.facts(), self.steps)
        type_ = "error" if ended == "failed" else "done"
        self.publish(type_, {"status": outcome.status, "code": outcome.code})
