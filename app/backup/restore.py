"""Restoring: all of a backup in one transaction, or nothing of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

import redis
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, make_url, text

from app.backup.archive import DUMP, BackupError, Manifest, open_archive
from app.backup.files import unpack_files
from app.backup.programs import Programs, find_programs, server_major
from app.config import Settings
from app.db import Database, owner_database
from app.schema import MIGRATIONS

# What the operator has made already, as the superuser that the owner is not.
_NOT_OURS = re.compile(r"^\d+; \d+ \d+ (?:EXTENSION|SCHEMA|COMMENT - (?:EXTENSION|SCHEMA)) ")
_RIGHTS = re.compile(r"^\d+; \d+ \d+ (?:DEFAULT )?ACL ")
_SCHEMA_RIGHTS = re.compile(r" ACL - SCHEMA ")
# One statement of rights on things of Comanda, with no sign that ends it or leads out of it.
_GRANT = re.compile(r'(?:GRANT|REVOKE) [\w ,()."\[\]@-]+;')
_ROLE = re.compile(r'\b(TO|FROM) ("(?:[^"]|"")+"|\w+);$')

# Everything in the way: whatever belongs to the owner and to no extension.
_CLEAR = """
DO $clear$
DECLARE thing text;
BEGIN
  -- Each list is made before its first entry is dropped: what goes with another has no name.
  FOREACH thing IN ARRAY coalesce((
    SELECT array_agg(
             format('DROP %s IF EXISTS %s CASCADE',
                    CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                         WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass)
             ORDER BY c.relkind = 'S')
      FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'i'))
  ), '{}') LOOP EXECUTE thing; END LOOP;
  FOREACH thing IN ARRAY coalesce((
    SELECT array_agg(format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure))
      FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  ), '{}') LOOP EXECUTE thing; END LOOP;
  FOREACH thing IN ARRAY coalesce((
    SELECT array_agg(format('DROP TYPE IF EXISTS %s CASCADE', t.oid::regtype))
      FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
     WHERE t.typnamespace = 'public'::regnamespace
       AND (t.typtype IN ('e', 'd', 'r') OR c.relkind = 'c')
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e')
  ), '{}') LOOP EXECUTE thing; END LOOP;
END $clear$;
"""


def restore_backup(settings: Settings, path: Path, *, replace: bool) -> Manifest:
    """Make this installation what it was when the backup was made.

    Raises:
        BackupError: it cannot be done, and nothing has changed.
    """
    with open_archive(path) as backup, tempfile.TemporaryDirectory(prefix="comanda-") as folder:
        owner = owner_database(settings)
        try:
            programs = _check_target(settings, owner, backup.manifest, path, replace=replace)
            dump = Path(folder) / DUMP
            backup.extract(DUMP, dump)
            files = unpack_files(backup, settings)
            try:
                _load(programs, dump, settings, backup.manifest)
            except BaseException:
                files.forget()
                raise
            files.take_over()
        finally:
            owner.engine.dispose()
    _forget_events(settings)
    return backup.manifest


def _check_target(
    settings: Settings, owner: Database, manifest: Manifest, path: Path, *, replace: bool
) -> Programs:
    """Refuse before anything is touched."""
    known = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
    if manifest.revision not in known:
        raise BackupError(f"{path} was made by a newer Comanda; restore it with that one")
    major = server_major(owner.engine)
    if manifest.postgres > major:
        raise BackupError(
            f"{path} comes from PostgreSQL {manifest.postgres} and this server is {major}"
        )
    with owner.engine.connect() as connection:
        _check_idle(connection, make_url(settings.database_url or "").username or "")
        if not replace and _has_people(connection):
            raise BackupError(
                "There is data here already; --replace deletes it and puts the backup there"
            )
        vectors = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')"
        if not connection.execute(text(vectors)).scalar_one():
            raise BackupError("There is no pgvector: as a superuser, CREATE EXTENSION vector")
    programs = find_programs(settings.migration_database_url or "", max(major, manifest.postgres))
    _check_restricted(programs)
    return programs


def _check_restricted(programs: Programs) -> None:
    """What a dump says must not be obeyed by psql as a command: older programs let it."""
    told = subprocess.run(
        programs.command("pg_restore", "--help"),
        env=programs.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "--restrict-key" not in told.stdout:
        raise BackupError(
            f"The pg_restore in {programs.folder} is from before August 2025, when a dump could"
            " still run commands; update the PostgreSQL client"
        )


def _check_idle(connection: Connection, app_role: str) -> None:
    """Nobody may be at work: they would see the data change under them."""
    count = connection.execute(
        text(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = :role"
        ),
        {"role": app_role},
    ).scalar_one()
    if count:
        raise BackupError("Comanda is running on this database; stop web, runner and jobs first")


def _has_people(connection: Connection) -> bool:
    if connection.execute(text("SELECT to_regclass('public.users')")).scalar() is None:
        return False
    return bool(connection.execute(text("SELECT EXISTS (SELECT FROM users)")).scalar())


def _load(programs: Programs, dump: Path, settings: Settings, manifest: Manifest) -> None:
    """Clear the database and fill it, as its owner, in one transaction."""
    contents, rights = _contents(programs, dump)
    roles = {
        manifest.owner_role: make_url(settings.migration_database_url or "").username or "",
        manifest.app_role: make_url(settings.database_url or "").username or "",
    }
    grants = _rename_roles(_rights(programs, rights, dump), roles)
    with tempfile.TemporaryFile(dir=dump.parent) as said:
        flags = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--dbname={programs.address}")
        with programs.start(
            "psql", *flags, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said
        ) as psql:
            assert psql.stdin
            # A program that stops listening has said why.
            with suppress(BrokenPipeError):
                _write_all(programs, contents, dump, grants, psql.stdin)
            with suppress(BrokenPipeError):
                psql.stdin.close()
        said.seek(0)
        complaint = said.read().decode(errors="replace")
    if psql.returncode:
        raise BackupError(f"The database cannot be restored: {_first_error(complaint)}")


def _write_all(
    programs: Programs, contents: Path, dump: Path, grants: str, target: IO[bytes]
) -> None:
    """One transaction as SQL. Its last line comes only when all the others have."""
    quiet = "SET LOCAL client_min_messages = warning; SET LOCAL lock_timeout = '4s';"
    target.write(f"BEGIN;\n{quiet}\n{_CLEAR}".encode())
    target.flush()
    flags = ("--no-owner", "--no-privileges", f"--use-list={contents}", str(dump))
    _pour(programs, flags, target)
    target.write(f"\n{grants}\nCOMMIT;\n".encode())


def _pour(programs: Programs, flags: Iterable[str], target: IO[bytes]) -> None:
    """Send a dump as SQL into `target`.

    Raises:
        BackupError: it did not come whole.
    """
    with programs.start("pg_restore", *flags, "--file=-") as process:
        assert process.stdout
        assert process.stderr
        try:
            shutil.copyfileobj(process.stdout, target)
        except BaseException:
            process.kill()
            raise
        complaint = process.stderr.read().decode(errors="replace")
    if process.returncode:
        raise BackupError(f"The backup cannot be read: {_first_error(complaint)}")


def _contents(programs: Programs, dump: Path) -> tuple[Path, Path]:
    """Two lists for pg_restore: what is to be made, and who may do what with it."""
    listing = subprocess.run(
        programs.command("pg_restore", "--list", str(dump)),
        env=programs.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        raise BackupError(f"The backup cannot be read: {_first_error(listing.stderr)}")
    lines = [line for line in listing.stdout.splitlines() if not line.startswith(";")]
    made = [line for line in lines if not _NOT_OURS.match(line) and not _RIGHTS.match(line)]
    rights = [line for line in lines if _RIGHTS.match(line) and not _SCHEMA_RIGHTS.search(line)]
    lists = dump.with_name("contents"), dump.with_name("rights")
    for file, entries in zip(lists, (made, rights), strict=True):
        file.write_text("\n".join(entries) + "\n")
    return lists


def _rights(programs: Programs, rights: Path, dump: Path) -> str:
    with tempfile.TemporaryFile(dir=dump.parent) as file:
        _pour(programs, ("--no-owner", f"--use-list={rights}", str(dump)), file)
        file.seek(0)
        return file.read().decode()


def _rename_roles(grants: str, roles: dict[str, str]) -> str:
    """The grants of the dump, for the roles of this installation; nothing but grants is kept.

    Raises:
        BackupError: a line that begins as one is more than that. What stands in a backup never
            reaches a program that obeys it: psql takes a backslash anywhere for a command.
    """
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in roles.values()}

    def rename(match: re.Match[str]) -> str:
        name = match[2].strip('"').replace('""', '"')
        return f"{match[1]} {quoted[roles[name]] if name in roles else match[2]};"

    lines = [line for line in grants.splitlines() if line.startswith(("GRANT ", "REVOKE "))]
    if any(not _GRANT.fullmatch(line) or "--" in line for line in lines):
        raise BackupError("The backup cannot be read: its rights are none that a backup has")
    return "\n".join(_ROLE.sub(rename, line) for line in lines)


def _first_error(complaint: str) -> str:
    """The first line of a program's complaint, without what the row had in it."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line.lower()]
    return (errors or lines or ["it ended without a word"])[0]


def _forget_events(settings: Settings) -> None:
    """What Redis remembers of threads is of another time; without it pages read what is stored."""
    with suppress(redis.RedisError), redis.Redis.from_url(settings.redis_url or "") as connection:
        for key in connection.scan_iter("events:*", count=1000):
            connection.delete(key)
