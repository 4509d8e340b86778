"""How a turn ended, and what is kept of it: timings, tools, tokens, who answered. Never words.

A row is written together with the reply's last state, once a turn; the database sums the
rows up by day as they come (`usage_days`, `usage_latencies`), so that no page has to.
"""

from __future__ import annotations

import math
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import BigInteger, ForeignKey, Index, Integer, text
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Mapped, mapped_column

from app.assistant.models import Turn
from app.assistant.providers.base import Provider
from app.assistant.turns.loop import Finished, ToolFinished
from app.db import Base, Database, JsonList, JsonObject, ScopedSession

KEEP_DAYS = 400
# How much wider, in natural logarithms, each bucket of `usage_latencies` is.
BUCKETS_PER_E = 10
# A model may ask for a tool by any words; those that are no tool's name are not kept.
UNKNOWN_TOOL = "unknown"
NOTHING: Mapping[str, Any] = MappingProxyType({})
log = structlog.get_logger()


class TurnFacts(Base):
    """One finished turn.

    `at` is when it was asked, `queued_ms` how long it waited to be claimed; the other
    times count from then on, over all attempts. `tools` has {tool, ok, ms, at} each, `at`
    being when it began. What is not known is None: a turn without a search has no `search_ms`.
    """

    __tablename__ = "turn_facts"
    __table_args__ = (
        Index("ix_turn_facts_recent", "group_id", "at"),
        Index("ix_turn_facts_person", "group_id", "user_id", "at"),
    )

    turn_id: Mapped[UUID] = mapped_column(primary_key=True)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    thread_id: Mapped[UUID]
    at: Mapped[datetime]
    language: Mapped[str]
    status: Mapped[str]  # the reply's: complete, stopped, interrupted or failed
    error_code: Mapped[str] = mapped_column(default="")
    provider: Mapped[str] = mapped_column(default="")
    model: Mapped[str] = mapped_column(default="")
    degraded: Mapped[bool] = mapped_column(default=False)
    attempts: Mapped[int] = mapped_column(default=1)
    tokens_in: Mapped[int] = mapped_column(default=0)
    tokens_out: Mapped[int] = mapped_column(default=0)
    model_calls: Mapped[int | None]
    queued_ms: Mapped[int] = mapped_column(default=0)
    first_token_ms: Mapped[int | None]
    latency_ms: Mapped[int | None]
    search_ms: Mapped[int | None]
    lexical_only: Mapped[bool | None]
    tools: Mapped[JsonList] = mapped_column(default=list)
    # What the built-in assistant took the message for (`providers.base.Explained`).
    explanation: Mapped[JsonObject | None]


class UsageDay(Base):
    """The sums of a person's turns on a day of the group's, by who answered."""

    __tablename__ = "usage_days"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[date] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    provider: Mapped[str] = mapped_column(primary_key=True)
    turns: Mapped[int]
    failed: Mapped[int]
    degraded: Mapped[int]
    searches: Mapped[int]
    lexical_only: Mapped[int]
    tokens_in: Mapped[int] = mapped_column(BigInteger)
    tokens_out: Mapped[int] = mapped_column(BigInteger)


class UsageLatency(Base):
    """How long a day's turns took; `kind` is first_token, latency or search.

    `turns` has 120 buckets, each a tenth wider than the one before (`bucket_ms`).
    """

    __tablename__ = "usage_latencies"

    group_id: Mapped[UUID] = mapped_column(
        ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[date] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    turns: Mapped[list[int]] = mapped_column(ARRAY(Integer))


def bucket_ms(bucket: int) -> int:
    """The time that a bucket stands for, within 5 %."""
    return round(math.exp(bucket / BUCKETS_PER_E) - 1)


@dataclass(frozen=True)
class TurnOutcome:
    """How a turn ended: who answered, what came of it, and how long it took, in milliseconds.

    `status` is the message's: complete, stopped, interrupted or failed; `code` says why it was not
    completed. `finished` is what the reply came to, where it did. `degraded` says that another
    answered than should have.
    """

    mode: str
    provider: str = ""
    model: str = ""
    degraded: bool = False
    status: str = "complete"
    code: str = ""
    finished: Finished | None = None
    first_token_ms: int | None = None
    latency_ms: int = 0

    def by(self, provider: Provider, *, degraded: bool = False) -> TurnOutcome:
        """The same, answered by this provider."""
        return replace(self, provider=provider.name, model=provider.model, degraded=degraded)

    def columns(self) -> dict[str, Any]:
        """What the reply keeps of it, by the message's columns; what is not known is left out."""
        known: dict[str, Any] = {
            "mode": self.mode,
            "provider": self.provider,
            "model": self.model,
            "degraded": self.degraded,
            "latency_ms": self.latency_ms,
        }
        if self.first_token_ms is not None:
            known["first_token_ms"] = self.first_token_ms
        if self.finished is not None:
            known |= {
                "tokens_in": self.finished.tokens_in,
                "tokens_out": self.finished.tokens_out,
                "suggestions": [each.model_dump(mode="json") for each in self.finished.suggestions],
                "asked": self.finished.asked or None,
                "actions": [each.model_dump(mode="json") for each in self.finished.actions],
            }
        return known

    def facts(self) -> dict[str, Any]:
        """What is kept of the turn for usage and the inspector."""
        ended = self.finished
        explained = asdict(ended.explained) if ended and ended.explained else None
        calls = ended.model_calls if ended else None
        return {**self.columns(), "model_calls": calls, "explanation": explained}


# What the end of a turn tells of itself under these very names.
_TOLD = ("provider", "model", "degraded", "tokens_in", "tokens_out", "model_calls", "explanation")


def record(
    session: ScopedSession,
    turn: Turn,
    status: str,
    language: str,
    told: Mapping[str, Any] = NOTHING,
    steps: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Keep the facts of a turn that ends in this transaction; twice is once.

    Where the database does not take them they are not kept, and the reply is.

    `told` is what its runner knows of its end, its times counted from the last claim;
    `steps` are its tools, as `tool_step` makes them.
    """
    searches = [step for step in steps if step["search"]]
    lost = _earlier_ms(turn, told)
    values = {
        "turn_id": turn.id,
        "group_id": turn.group_id,
        "user_id": turn.user_id,
        "thread_id": turn.thread_id,
        "at": turn.created_at,
        "language": language,
        "status": status,
        "error_code": turn.error_code,
        "attempts": turn.attempts,
        "queued_ms": _queued_ms(turn),
        "first_token_ms": _later(told.get("first_token_ms"), lost),
        "latency_ms": _later(told.get("latency_ms"), lost),
        "search_ms": sum(step["ms"] for step in searches) if searches else None,
        "lexical_only": any(step["by_words"] for step in searches) if searches else None,
        "tools": [
            {"tool": s["tool"], "ok": s["ok"], "ms": s["ms"], "at": s["at"] + lost} for s in steps
        ],
        **{name: told[name] for name in _TOLD if name in told},
    }
    try:
        with session.begin_nested():
            session.execute(insert(TurnFacts).values(**values).on_conflict_do_nothing())
    except SQLAlchemyError as error:
        # Of a connection that is lost the reply's own transaction will tell.
        log.error("facts not kept", turn=str(values["turn_id"]), error=type(error).__name__)


def tool_step(finished: ToolFinished, tools: Container[str], began: float) -> dict[str, Any]:
    """A tool call without its arguments, in a turn that was claimed at `began` (monotonic)."""
    since = round((time.monotonic() - began) * 1000)
    outcome, took = finished.outcome, finished.milliseconds
    step = _step(finished.call.name, tools, outcome.ok, took, max(0, since - took))
    return {**step, "search": outcome.is_search, "by_words": outcome.by_words_alone}


def steps_of(trace: Sequence[Mapping[str, Any]], tools: Container[str]) -> list[dict[str, Any]]:
    """The tool calls that another runner has made, as far as its trace tells."""
    return [_step(entry["tool"], tools, entry["ok"], entry["ms"], 0) for entry in trace]


def _step(tool: str, tools: Container[str], ok: bool, ms: int, at: int) -> dict[str, Any]:
    name = tool if tool in tools else UNKNOWN_TOOL
    return {"tool": name, "ok": ok, "ms": ms, "at": at, "search": False, "by_words": False}


def forget_old_facts(database: Database) -> None:
    """Let go of what is older than 400 days, of every group."""
    with database.transaction() as session:
        session.execute(text("SELECT forget_old_usage(:days)"), {"days": KEEP_DAYS})


def _milliseconds(since: datetime, until: datetime) -> int:
    return max(0, round((until - since).total_seconds() * 1000))


def _queued_ms(turn: Turn) -> int:
    """How long it waited; one that was stopped before it was claimed waited to its end."""
    claimed = turn.started_at or (turn.created_at if turn.attempts else turn.finished_at)
    return _milliseconds(turn.created_at, claimed or turn.created_at)


def _earlier_ms(turn: Turn, told: Mapping[str, Any]) -> int:
    """What the attempts before the last one took, of which its runner knows nothing."""
    if turn.attempts < 2 or not (turn.started_at and turn.finished_at):
        return 0
    took = _milliseconds(turn.started_at, turn.finished_at)
    return max(0, took - (told.get("latency_ms") or 0))


def _later(milliseconds: int | None, lost: int) -> int | None:
    return None if milliseconds is None else milliseconds + lost
