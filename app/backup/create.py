"""Backing up: one consistent picture of the database while people go on working."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, make_url, text

from app.backup.archive import DUMP, FORMAT, BackupError, Manifest, Writer, new_archive
from app.backup.files import add_files
from app.backup.programs import Programs, find_programs, server_major
from app.config import Settings
from app.db import Database, owner_database, utc_now
from app.schema import MIGRATION_LOCK

# What stored data depends on, or an operator will want to see again. No address, no key.
TOLD = (
    "embedding_model",
    "embedding_dimensions",
    "ai_chat_model",
    "ai_tool_mode",
    "public_url",
    "mail_from",
    "trusted_proxies",
    "secure_cookies",
)
SECRETS = (
    "secret_key",
    "openai_api_key",
    "smtp_password",
    "metrics_token",
    "s3_access_key_id",
    "s3_secret_access_key",
)


def make_backup(settings: Settings, path: Path) -> Manifest:
    """Write the whole installation to `path`; people may go on working meanwhile.

    Raises:
        BackupError: it cannot be done; nothing is left behind.
    """
    owner = owner_database(settings)
    try:
        major = server_major(owner.engine)
        programs = find_programs(settings.migration_database_url or "", major)
        with new_archive(path) as archive, _no_migrations(owner) as connection:
            revision = _revision(connection)
            # In this order: what the database's picture names is in the storage by then.
            _add_dump(archive, programs)
            add_files(archive, settings)
            manifest = _describe(settings, archive, revision, major)
            archive.close_with(manifest)
    finally:
        owner.engine.dispose()
    return manifest


@contextmanager
def _no_migrations(owner: Database) -> Iterator[Connection]:
    """Keep the schema as it is for as long as the backup takes."""
    with owner.engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock_shared(:key)"), {"key": MIGRATION_LOCK})
        connection.commit()
        try:
            yield connection
        finally:
            key = {"key": MIGRATION_LOCK}
            connection.execute(text("SELECT pg_advisory_unlock_shared(:key)"), key)
            connection.commit()


def _revision(connection: Connection) -> str:
    heads = MigrationContext.configure(connection).get_current_heads()
    # An open transaction would hold back the clean-up of the whole database.
    connection.commit()
    if not heads:
        raise BackupError("There is nothing to back up yet: the database is empty")
    return heads[0]


def _add_dump(archive: Writer, programs: Programs) -> None:
    """pg_dump reads everything as it was at one moment."""
    arguments = ("--format=custom", "--schema=public", f"--dbname={programs.address}")
    with programs.start("pg_dump", *arguments, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        try:
            archive.add(DUMP, process.stdout)
        except BaseException:
            process.kill()
            raise
        complaint = process.stderr.read().decode(errors="replace")
    if process.returncode:
        lines = complaint.strip().splitlines() or ["it ended without a word"]
        raise BackupError(f"The database cannot be dumped: {lines[0]}")


def _describe(settings: Settings, archive: Writer, revision: str, major: int) -> Manifest:
    told: dict[str, Any] = settings.model_dump(mode="json", include=set(TOLD))
    return Manifest(
        format=FORMAT,
        made_at=utc_now().isoformat(timespec="seconds"),
        revision=revision,
        postgres=major,
        owner_role=make_url(settings.migration_database_url or "").username or "",
        app_role=make_url(settings.database_url or "").username or "",
        settings=told,
        secrets=[name.upper() for name in SECRETS if getattr(settings, name)],
        members=archive.members,
    )
