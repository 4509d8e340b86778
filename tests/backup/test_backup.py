"""A house in one file: whole, checked, and back again with everything in it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select, text

from app import create_app
from app.assistant.models import Message
from app.backup.archive import MANIFEST, new_archive
from app.backup.files import add_folder
from app.db import Database, app_database, owner_database
from app.embedded.supervisor import environment_of
from app.schema import downgrade, pending, upgrade
from tests.accounts.conftest import Browser
from tests.assistant.scripted import ScriptedProvider, say
from tests.backup.conftest import Found, House
from tests.factories import Member, make_user
from tests.factories.chat import answer, ask, make_thread
from tests.factories.people import PASSWORD

ROOT = Path(__file__).parents[2]


@dataclass
class Lived:
    """A house with somebody in it who has asked something."""

    house: House
    member: Member
    stranger: Member


@pytest.fixture
def lived(found: Found) -> Lived:
    house = found()
    upgrade(house.settings)
    owner, database = owner_database(house.settings), app_database(house.settings)
    member, stranger = make_user(owner), make_user(owner)
    make_thread(database, member, "Where is the salt?", reply="On the shelf.")
    owner.engine.dispose()
    database.engine.dispose()
    uploads = house.settings.comanda_data / "files" / "ab"
    uploads.mkdir(parents=True)
    (uploads / "menu.pdf").write_bytes(b"%PDF of a menu")
    return Lived(house, member, stranger)


@pytest.fixture
def backup(lived: Lived, tmp_path: Path) -> Path:
    file = tmp_path / "house.backup"
    code, said = lived.house.flask("backup", str(file))
    assert code == 0, said
    return file


def contents(database: Database, member: Member) -> list[str]:
    with database.session(member.scope) as session:
        return list(session.scalars(select(Message.content).order_by(Message.id)))


def ask_something(app: Flask, database: Database, member: Member) -> str:
    accepted = ask(database, member, "And the pepper?")
    return answer(app, member, accepted, ScriptedProvider(say("Beside it."))).content


def test_a_house_comes_back_with_everything_and_everybody(
    found: Found, lived: Lived, backup: Path
) -> None:
    house = found()
    # What a backup says of itself may be anybody's: no terminal obeys it.
    edit_manifest(backup, made_at="yesterday\x1b]0;owned\x07")
    code, said = house.flask("restore", str(backup))
    assert code == 0, said
    assert "yesterday" in said and "\x1b" not in said
    assert not pending(house.settings)
    database = app_database(house.settings)
    app = create_app(house.settings)
    assert Browser(app).sign_in(lived.member, PASSWORD).status_code == 303
    assert contents(database, lived.member) == ["Where is the salt?", "On the shelf."]
    assert ask_something(app, database, lived.member) == "Beside it."
    kept = house.settings.comanda_data / "files" / "ab" / "menu.pdf"
    assert kept.read_bytes() == b"%PDF of a menu"
    # Row-level security came back with the tables, and so did who may use the doors.
    assert contents(database, lived.stranger) == []
    with database.transaction() as session:
        assert session.scalars(select(Message)).all() == []
    with owner_database(house.settings).engine.connect() as connection:
        public = connection.execute(
            text(
                "SELECT proname FROM pg_proc p WHERE prosecdef AND pronamespace ="
                " 'public'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')"
            )
        ).all()
    assert public == []
    for each in (database, app.extensions["comanda"].database):
        each.engine.dispose()


def test_both_houses_have_the_same_schema(found: Found, lived: Lived, backup: Path) -> None:
    house = found()
    house.flask("restore", str(backup))

    def schema(of: House) -> set[str]:
        query = """
            SELECT concat('table ', relname, relkind, relrowsecurity)
                   || coalesce((SELECT string_agg(acl::text, ',' ORDER BY acl::text)
                                  FROM unnest(relacl) AS acl), '')
              FROM pg_class WHERE relnamespace = 'public'::regnamespace
            UNION SELECT 'function ' || oid::regprocedure || coalesce(proacl::text, '')
              FROM pg_proc WHERE pronamespace = 'public'::regnamespace
            UNION SELECT 'policy ' || polname || polrelid::regclass
                   || coalesce(pg_get_expr(polqual, polrelid), '') FROM pg_policy
            UNION SELECT 'trigger ' || tgname || tgrelid::regclass FROM pg_trigger
             WHERE NOT tgisinternal
        """
        owner = owner_database(of.settings)
        with owner.engine.connect() as connection:
            objects = set(connection.execute(text(query)).scalars())
        owner.engine.dispose()
        return objects

    assert schema(house) == schema(lived.house)


def test_it_is_made_while_the_house_is_at_work_and_read_by_its_owner_only(
    lived: Lived, backup: Path
) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert os.listdir(backup.parent).count(backup.name) == 1
    assert not list(backup.parent.glob(".*new"))
    with zipfile.ZipFile(backup) as archive:
        manifest = archive.read(MANIFEST).decode()
    told = json.loads(manifest)
    assert told["settings"]["embedding_model"] == "wordllama-256"
    assert "SECRET_KEY" in told["secrets"]
    for secret in (lived.house.settings.secret_key, lived.house.settings.database_url):
        assert secret not in manifest


def test_a_house_with_people_is_not_replaced_unless_asked_for(
    found: Found, lived: Lived, backup: Path
) -> None:
    house = found()
    upgrade(house.settings)
    owner = owner_database(house.settings)
    before = make_user(owner)
    owner.engine.dispose()
    code, said = house.flask("restore", str(backup))
    assert (code, len(said.strip().splitlines())) == (1, 1)
    assert "--replace" in said
    assert house.emails() == {before.email}
    code, said = house.flask("restore", str(backup), "--replace")
    assert code == 0, said
    assert house.emails() == {lived.member.email, lived.stranger.email}


def test_a_house_that_is_at_work_is_left_alone(lived: Lived, backup: Path) -> None:
    database = app_database(lived.house.settings)
    database.ping()
    code, said = lived.house.flask("restore", str(backup), "--replace")
    assert code == 1
    assert "stop web, runner and jobs first" in said
    database.engine.dispose()


def edit_manifest(file: Path, **changes: object) -> None:
    copy = file.with_name("copy")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == MANIFEST:
                data = json.dumps({**json.loads(data), **changes}).encode()
            new.writestr(name, data)
    copy.replace(file)


def nest_manifest(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as new:
        new.writestr(MANIFEST, "[" * 100_000)


def cut_short(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def change_a_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)


def replace_with_words(file: Path) -> None:
    file.write_text("These are the keys to the house.")


BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "cut short": (cut_short, "cut short"),
    "changed": (change_a_byte, "damaged"),
    "no backup": (replace_with_words, "not a whole backup"),
    "gone": (Path.unlink, "No such file"),
    "newer format": (lambda file: edit_manifest(file, format=99), "newer Comanda"),
    "newer schema": (lambda file: edit_manifest(file, revision="99990101_0000"), "newer Comanda"),
    "newer server": (lambda file: edit_manifest(file, postgres=99), "PostgreSQL 99"),
    "endless list": (lambda file: edit_manifest(file, spoiled=" " * 65 * 1024 * 1024), "too long"),
    "deep list": (nest_manifest, "list of contents is damaged"),
    "other contents": (lambda file: edit_manifest(file, members={}), "damaged"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_whole_backup_is_refused_in_one_line_and_changes_nothing(
    lived: Lived, backup: Path, kind: str
) -> None:
    spoil, reason = BAD[kind]
    spoil(backup)
    before = lived.house.emails()
    code, said = lived.house.flask("restore", str(backup), "--replace")
    assert (code, len(said.strip().splitlines())) == (1, 1), said
    assert reason in said
    assert lived.house.emails() == before


def test_a_restore_that_fails_in_the_middle_changes_nothing(
    found: Found, lived: Lived, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs are cut off after the tables were cleared, as by a full disk."""
    from app.backup import restore as restoring

    whole = restoring._rename_roles
    monkeypatch.setattr(restoring, "_rename_roles", lambda *given: whole(*given) + "\nSELECT 1/0;")
    before = lived.house.emails()
    code, said = lived.house.flask("restore", str(backup), "--replace")
    assert (code, len(said.strip().splitlines())) == (1, 1), said
    assert "division by zero" in said
    assert lived.house.emails() == before
    assert (lived.house.settings.comanda_data / "files" / "ab" / "menu.pdf").exists()
    assert not (lived.house.settings.comanda_data / "files.new").exists()


def test_an_older_backup_is_brought_up_to_date_afterwards(
    found: Found, lived: Lived, tmp_path: Path
) -> None:
    downgrade(lived.house.settings, "20261120_1530")
    file = tmp_path / "older.backup"
    lived.house.flask("backup", str(file))
    house = found()
    code, said = house.flask("restore", str(file))
    assert (code, pending(house.settings)) == (0, True)
    assert "flask db upgrade" in said
    code, said = house.flask("db", "upgrade")
    assert (code, pending(house.settings)) == (0, False), said
    assert house.emails() == {lived.member.email, lived.stranger.email}


def test_a_full_disk_leaves_nothing_behind(lived: Lived, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: writing fails just so."""
    folder = tmp_path / "full"
    folder.mkdir()

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    result = subprocess.run(
        [sys.executable, "-m", "flask", "backup", str(folder / "house.backup")],
        cwd=ROOT,
        # Python would leave half a file of bytecode behind, for everybody after it.
        env={**environment_of(lived.house.settings), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=small_disk,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert "cannot be written: File too large" in result.stderr
    assert "Traceback" not in result.stderr
    assert list(folder.iterdir()) == []


def test_programs_older_than_the_server_are_passed_over(
    lived: Lived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pg_dump", "pg_restore", "psql"):
        program = tmp_path / "old" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 11.2'\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'old'}:{os.environ['PATH']}")
    assert shutil.which("pg_dump") == str(tmp_path / "old" / "pg_dump")
    code, said = lived.house.flask("backup", str(tmp_path / "house.backup"))
    assert code == 0, said


def test_a_file_that_is_removed_while_the_backup_is_made_is_left_out(tmp_path: Path) -> None:
    class Folder:
        """One file is there still when the list is made, and gone when it is opened."""

        def __fspath__(self) -> str:
            return str(tmp_path)

        def is_dir(self) -> bool:
            return True

        def rglob(self, _pattern: str) -> list[Path]:
            return [going, kept]

    class Going(type(tmp_path)):  # type: ignore[misc]
        def is_file(self) -> bool:
            return True

    kept, going = tmp_path / "kept", Going(tmp_path / "going")
    kept.write_bytes(b"bytes")
    with new_archive(tmp_path / "house.backup") as archive:
        add_folder(archive, Folder())  # type: ignore[arg-type]
        assert [member.bytes for member in archive.members.values()] == [5]
