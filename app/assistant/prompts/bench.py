"""The test bench: sentences answered with the live rows and with unsaved ones, in the background.

A run works on a thread of the web process that was asked (a greenlet under gevent) and
keeps what it has so far in Redis for an hour, where any web process finds it. A person has
one run at a time: a key in Redis that is renewed with each sentence, so that a run whose
process died is over for everybody a little later.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

import redis
import structlog
from flask import Flask

from app.assistant.models import Prompt
from app.assistant.prompts.dry_run import Cancelled, Rehearsal, Sentence, rehearse
from app.assistant.providers.choice import make_provider
from app.db import Scope, new_id
from app.errors import Conflict, Unavailable
from app.extensions import Services

LONGEST_REST = 0.2
KEPT_SECONDS = 3600
# Two turns as long as turns may be, and some.
MARGIN_SECONDS = 30
log = structlog.get_logger()


@dataclass(frozen=True)
class Trial:
    """The unsaved state of a row that is tried."""

    prompt_id: str
    prompt_en: str
    prompt_es: str
    is_active: bool
    version: int  # that its form was opened with


@dataclass
class Run:
    """A run as it is kept; `status` is running, done, cancelled or broken."""

    id: str
    trial: Trial
    total: int
    status: str = "running"
    results: list[dict[str, Any]] = field(default_factory=list)

    def count(self, side: str, *, passed: bool) -> int:
        """How many of the sentences with an expectation met it, or did not, on one side."""
        judged = [each[side]["misses"] for each in self.results]
        return sum(1 for misses in judged if misses is not None and (not misses) is passed)


class Bench:
    """One person's place to try things out."""

    def __init__(self, services: Services, scope: Scope) -> None:
        self.services = services
        self.scope = scope
        whose = f"{scope.group_id}:{scope.user_id}"
        self._run_key, self._lock_key = f"bench:{whose}", f"bench-lock:{whose}"
        seconds = services.settings.ai_turn_timeout_seconds
        self._lease = round(seconds * 2 + MARGIN_SECONDS)

    def read(self) -> Run | None:
        """The latest run with what it has so far; None when there is none, or no Redis."""
        try:
            # At once: between two reads a run may end, and would look broken.
            kept, holder = self._redis.mget(self._run_key, self._lock_key)
        except redis.RedisError as error:
            log.warning("bench not readable", error=type(error).__name__)
            return None
        if kept is None:
            return None
        facts = json.loads(kept)
        run = Run(**{**facts, "trial": Trial(**facts["trial"])})
        if run.status == "running" and _text(holder) != run.id:
            run.status = "broken"
        return run

    def start(
        self, app: Flask, trial: Trial, rows: Sequence[Prompt], sentences: Sequence[Sentence]
    ) -> Run:
        """Begin to answer `sentences` with `rows` and with the trial in its row's place.

        Raises:
            Conflict: a run of this person's is under way.
            Unavailable: there is no Redis to keep it in.
        """
        run = Run(str(new_id()), trial, len(sentences))
        try:
            if not self._redis.set(self._lock_key, run.id, nx=True, ex=self._lease):
                raise Conflict("A test is already running. Wait for it to finish, or stop it.")
            self._keep(run)
        except redis.RedisError:
            raise Unavailable("Tests can't run right now. Try again in a moment.") from None
        work = threading.Thread(
            target=self._work, args=(app, run, list(rows), list(sentences)), daemon=True
        )
        work.start()
        return run

    def cancel(self) -> None:
        """Let the run that is under way end where it is."""
        run = self.read()
        if run is not None and run.status == "running":
            run.status = "cancelled"
            self._keep(run)

    def _work(self, app: Flask, run: Run, rows: list[Prompt], sentences: list[Sentence]) -> None:
        try:
            # Links in the replies are relative; the address of this context is never seen.
            with app.test_request_context("/"):
                self._try_all(run, rows, sentences)
            run.status = "done"
        except Cancelled:
            run.status = "cancelled"
        except Exception as error:
            log.exception("bench broke", error=type(error).__name__)
            run.status = "broken"
        finally:
            self._end(run)

    def _try_all(self, run: Run, rows: list[Prompt], sentences: list[Sentence]) -> None:
        provider = make_provider(self.services.settings, self.services.embedder)
        tried = [_in_place(run.trial, row) for row in rows]
        for sentence in sentences:
            sides = {}
            for side, each in (("live", rows), ("draft", tried)):
                began = time.monotonic()
                sides[side] = rehearse(
                    self.services, provider, self.scope, sentence, each, lambda: self._is_over(run)
                )
                # Others who wait for this process are served for as long as the turn has taken.
                time.sleep(min(time.monotonic() - began, LONGEST_REST))
            run.results.append(_result(sentence, **sides))
            self._renew(run)

    def _is_over(self, run: Run) -> bool:
        return _text(self._redis.get(self._lock_key)) != run.id

    def _renew(self, run: Run) -> None:
        if not self._keep(run):
            raise Cancelled

    def _end(self, run: Run) -> None:
        try:
            self._keep(run)
        except redis.RedisError as error:
            log.warning("bench not kept", error=type(error).__name__)

    def _keep(self, run: Run) -> bool:
        """Keep a run as it is now, unless it is over already; one that has ended makes room.

        Both keys change at once: what a stopped run has just found never hides that it was
        stopped.
        """

        def keep(pipe: Any) -> bool:
            is_under_way = _text(pipe.get(self._lock_key)) == run.id
            pipe.multi()
            if is_under_way:
                pipe.set(self._run_key, _as_kept(run), ex=KEPT_SECONDS)
                if run.status == "running":
                    pipe.expire(self._lock_key, self._lease)
                else:
                    pipe.delete(self._lock_key)
            return is_under_way

        kept: bool = self._redis.transaction(keep, self._lock_key, value_from_callable=True)
        return kept

    @property
    def _redis(self) -> Any:
        return self.services.redis


def _as_kept(run: Run) -> str:
    return json.dumps(asdict(run), default=str)


def _text(value: bytes | None) -> str:
    return value.decode() if value else ""


def _in_place(trial: Trial, row: Prompt) -> Prompt:
    """The row as it is tried; any other row as it is."""
    if str(row.id) != trial.prompt_id:
        return row
    return Prompt(
        id=UUID(trial.prompt_id),
        slug=row.slug,
        category=row.category,
        domain=row.domain,
        sort_order=row.sort_order,
        prompt_en=trial.prompt_en,
        prompt_es=trial.prompt_es,
        is_active=trial.is_active,
    )


def _result(sentence: Sentence, live: Rehearsal, draft: Rehearsal) -> dict[str, Any]:
    """Both sides of a sentence, as they are kept."""
    return {
        "text": sentence.text,
        "language": sentence.language,
        "domain": sentence.domain,
        "live": asdict(live),
        "draft": asdict(draft),
        "same_tools": _asked(live) == _asked(draft),
        "same_answer": live.answer == draft.answer,
    }


def _asked(rehearsal: Rehearsal) -> list[tuple[Any, Any]]:
    return [(call["tool"], call["args"]) for call in rehearsal.calls]
