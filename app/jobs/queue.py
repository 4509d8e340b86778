"""The queue of background jobs, from the side of those who ask for one.

A job is deferred inside the transaction of the work that needs it, so it exists if and
only if that work was committed. Arguments are ids; contents stay in their tables. What
becomes of it stands in app.jobs.tasks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, text

from app.db import ScopedSession

DEFAULT, VECTORS = "default", "vectors"
_WAITING = text(
    """
    SELECT id FROM procrastinate_jobs WHERE lock = :lock AND status = 'todo'
        AND task_name = :task AND args = CAST(:args AS jsonb) FOR SHARE
    """
)
_DEFER = text(
    """
    SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(
        :queue, :task, 0, CAST(:lock AS text), NULL, CAST(:args AS jsonb),
        CAST(:at AS timestamptz)
    )::procrastinate_job_to_defer_v1])
    """
)


def defer(
    session: ScopedSession,
    task: str,
    *,
    lock: str | None = None,
    at: datetime | None = None,
    queue: str = DEFAULT,
    **args: Any,
) -> None:
    """Queue a job in this transaction, for a later moment if `at` says so.

    What waits for servers of others has a queue of its own: `VECTORS`.

    Jobs of one `lock` never run at once, and of two equal ones that wait one is enough.
    """
    job = {
        "task": f"comanda:{task}",
        "lock": lock,
        "args": json.dumps(args, default=str),
        "at": at,
        "queue": queue,
    }
    if lock is not None and _is_waiting(session, job):
        return
    session.execute(_DEFER, job)


def _is_waiting(session: ScopedSession, job: Mapping[str, Any]) -> bool:
    """Whether an equal job waits, and will not begin before this transaction has ended.

    Those who ask for the same take turns, or each would find none waiting. The job that was
    found is held, because a worker that began it now would not see what is not committed.
    The queue's own lock against equals is no help: it fails the work of who comes second,
    and a job that is to be tried again while its equal waits.
    """
    session.execute(
        select(func.pg_advisory_xact_lock(func.hashtextextended(f"job {job['lock']}", 0)))
    )
    return session.execute(_WAITING, job).first() is not None
