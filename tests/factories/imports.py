"""Imports as a person makes them, with the jobs done in this process."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.db import Database
from app.skills.knowledge.models import LibraryImport
from app.skills.knowledge.readers import OnProgress, Reading, read_file
from app.skills.knowledge.services.import_jobs import TASKS
from app.skills.knowledge.services.imports import (
    apply_when_ready,
    load_import,
    receive_file,
    undo_import,
)
from tests.factories.people import Member


def read_in_this_process(
    content: bytes, filename: str, target: str, language: str, *, on_progress: OnProgress, **_: Any
) -> Reading:
    """What `read_apart` gives, without a process of its own."""
    return read_file(content, filename, target, language, on_progress)


def waiting_jobs(database: Database, group_id: UUID) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the group's jobs that may begin now, the oldest first."""
    with database.transaction() as session:
        rows = session.execute(
            text(
                "SELECT task_name, args FROM procrastinate_jobs WHERE status = 'todo'"
                " AND (scheduled_at IS NULL OR scheduled_at <= now())"
                " AND args->>'group_id' = :group ORDER BY id"
            ),
            {"group": str(group_id)},
        ).all()
    return [(row.task_name.removeprefix("comanda:"), row.args) for row in rows]


def do_jobs(database: Database, group_id: UUID) -> list[str]:
    """Do what the group's imports wait for, as a worker would; returns the tasks done."""
    done = []
    while True:
        waiting = [job for job in waiting_jobs(database, group_id) if job[0] in TASKS]
        if not waiting:
            return done
        for name, args in waiting:
            _take(database, name, args)
            TASKS[name](database, **args)
            done.append(name)


def _take(database: Database, name: str, args: dict[str, Any]) -> None:
    with database.transaction() as session:
        session.execute(
            text(
                "DELETE FROM procrastinate_jobs WHERE status = 'todo' AND task_name = :task"
                " AND args->>'import_id' = :id"
            ),
            {"task": f"comanda:{name}", "id": args["import_id"]},
        )


def bring_file(
    database: Database,
    member: Member,
    content: str | bytes,
    filename: str = "pay.md",
    *,
    target: str = "sop",
    language: str = "en",
) -> LibraryImport:
    """An import of this file, read and planned."""
    data = content.encode() if isinstance(content, str) else content
    with database.session(member.scope) as session:
        item, _is_new = receive_file(session, data, filename, target, language)
    do_jobs(database, member.group_id)
    return look_at(database, member, item.id)


def look_at(database: Database, member: Member, import_id: UUID) -> LibraryImport:
    """An import as it stands now."""
    with database.session(member.scope) as session:
        return load_import(session, import_id)


def apply_file(database: Database, member: Member, item: LibraryImport) -> LibraryImport:
    """Have an import that is ready applied."""
    with database.session(member.scope) as session:
        apply_when_ready(session, item.id, item.plan["signature"])
    do_jobs(database, member.group_id)
    return look_at(database, member, item.id)


def import_file(
    database: Database, member: Member, content: str | bytes, filename: str = "pay.md", **facts: str
) -> LibraryImport:
    """A file brought into the library."""
    return apply_file(database, member, bring_file(database, member, content, filename, **facts))


def undo_file(database: Database, member: Member, item: LibraryImport) -> LibraryImport:
    """Have an import undone."""
    with database.session(member.scope) as session:
        undo_import(session, item.id)
    do_jobs(database, member.group_id)
    return look_at(database, member, item.id)
