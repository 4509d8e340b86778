"""Runs the migrations as the owner, one process at a time, never waiting long for a lock."""

from __future__ import annotations

from typing import Any

from alembic import context
from sqlalchemy import create_engine, text

import app.accounts.models
import app.assistant.models
import app.assistant.turns.outcome
import app.assistant.usage.message_quotas
import app.files.models
import app.notifications.mail
import app.notifications.services
import app.retrieval.models
import app.skills.expenses.models
import app.skills.forms.models
import app.skills.knowledge.models
import app.skills.service_requests.models
import app.web.idempotency  # noqa: F401
from app.db import Base
from app.schema import MIGRATION_LOCK


def include_object(_: Any, name: str | None, kind: str, *__: Any) -> bool:
    """Leave out what no model declares: the job queue's tables, an index for each model."""
    made_elsewhere = {"table": "procrastinate_", "index": "hnsw_"}
    return not (name or "").startswith(made_elsewhere.get(kind, "\0"))


def run() -> None:
    engine = create_engine(context.config.attributes["url"])
    with engine.connect() as connection:
        # One process migrates; the others wait here and then find nothing to do.
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
        connection.commit()
        # A migration that cannot have its lock gives up instead of blocking the house.
        connection.execute(text("SET lock_timeout = '4s'"))
        connection.execute(text("SET statement_timeout = '15min'"))
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            include_object=include_object,
            compare_type=True,
            transaction_per_migration=True,
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
        connection.commit()
    engine.dispose()


run()
