"""The queue of background jobs, from the side of those who ask for one.

A job is deferred inside the transaction of the work that needs it, so it exists if and
only if that work was committed. Arguments are ids; contents stay in their tables. What
becomes of it stands in app.jobs.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import text

from app.db import ScopedSession


def defer(session: ScopedSession, task: str, *, lock: str | None = None, **args: Any) -> None:
    """Queue a job in this transaction. With `lock`, an equal waiting job is enough."""
    job = {
        "queue": "default",
        "task": f"comanda:{task}",
        "lock": lock,
        "args": json.dumps(args, default=str),
    }
    statement = """
        SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(
            :queue, :task, 0, CAST(:lock AS text), CAST(:lock AS text), CAST(:args AS jsonb), NULL
        )::procrastinate_job_to_defer_v1])
        WHERE NOT EXISTS (
            SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = :lock AND status = 'todo')
    """
    session.execute(text(statement), job)
