"""What tests leave behind in the database that they share, and how it is put away."""

from __future__ import annotations

from sqlalchemy import text

from app.db import Database


def end_waiting_turns(owner: Database) -> None:
    """End all turns that tests before this have left: a runner would answer them, too."""
    with owner.transaction() as session:
        session.execute(
            text(
                "UPDATE turns SET status = 'stopped', finished_at = now() WHERE finished_at IS NULL"
            )
        )
