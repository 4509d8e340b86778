"""`flask` at the terminal: wrong settings, and the demo that is loaded and removed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import func, select, text

from app import create_app
from app.accounts.models import Group, Membership, User
from app.accounts.new_people import create_group, set_membership
from app.config import Settings
from app.db import Base, Database, owner_database
from app.demo import EMAILS, HOUSES, PASSWORD
from app.retrieval.models import Posting, SearchDocument
from tests.services import RunningServices, make_database

ROOT = Path(__file__).resolve().parents[2]
MARCUS = "marcus@alamoprime.example"
ELENA = "elena@alamoprime.example"


# Wrong settings


def run(settings: Settings, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A program of ours with these settings, to its end."""
    names = {name.upper() for name in Settings.model_fields}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    given = {
        "COMANDA_DATA": str(settings.comanda_data),
        "DATABASE_URL": settings.database_url or "",
        "MIGRATION_DATABASE_URL": settings.migration_database_url or "",
        "REDIS_URL": settings.redis_url or "",
        "SECRET_KEY": settings.secret_key or "",
    }
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**environment, **given, **more},
        capture_output=True,
        text=True,
        timeout=110,
    )


WRONG = [
    ("PORT", "abc", "PORT: Input should be a valid integer"),
    ("AI_PROVIDER", "foo", "AI_PROVIDER: Input should be 'openai' or 'builtin'"),
    ("EMBEDDING_MODEL", "foo", "EMBEDDING_MODEL: foo needs OPENAI_API_KEY"),
]

ONCE = [("doctor", WRONG[1]), ("--help", WRONG[2])]


# Each starts a program, which takes seconds: each value once; `make soak` tries all with each.
@pytest.mark.parametrize(
    ("command", "name", "value", "told"),
    [
        pytest.param(command, *wrong, marks=[] if (command, wrong) in ONCE else pytest.mark.soak)
        for wrong in WRONG
        for command in ("doctor", "--help")
    ],
)
def test_a_wrong_setting_is_told_without_a_traceback(
    settings: Settings, command: str, name: str, value: str, told: str
) -> None:
    result = run(settings, "flask", command, **{name: value})
    assert result.returncode == 1
    assert told in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2
    assert "Traceback" not in result.stderr + result.stdout


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [WRONG[0], *(pytest.param(*wrong, marks=pytest.mark.soak) for wrong in WRONG[1:])],
)
def test_a_web_server_stops_at_a_wrong_setting(
    settings: Settings, name: str, value: str, told: str
) -> None:
    given = {"PORT": "0", name: value} if name == "PORT" else {name: value}
    result = run(settings, "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app", **given)
    assert result.returncode != 0
    assert told in result.stderr


# The demo


@dataclass(frozen=True)
class Demo:
    """An app whose database is this module's own, with its owner's view of it."""

    app: Flask
    owner: Database

    def flask(self, *arguments: str, typed: str | None = None) -> str:
        result = self.app.test_cli_runner().invoke(args=[*arguments], input=typed)
        assert result.exit_code == 0, result.output
        return result.output

    def count(self, what: type[Base]) -> int:
        with self.owner.transaction() as session:
            return session.scalar(select(func.count()).select_from(what)) or 0

    def people(self) -> set[str]:
        with self.owner.transaction() as session:
            return set(session.scalars(select(User.email).where(User.email.in_(EMAILS))))

    def rows_of_groups(self) -> dict[str, int]:
        """How many rows each table has that belong to some group, the empty ones left out."""
        tables = [table for table in Base.metadata.sorted_tables if "group_id" in table.columns]
        with self.owner.transaction() as session:
            counts = {
                table.name: session.scalar(
                    select(func.count()).where(table.c.group_id.is_not(None))
                )
                or 0
                for table in tables
            }
        return {name: count for name, count in counts.items() if count}


@pytest.fixture(scope="module")
def demo_settings(
    services: RunningServices, pytestconfig: pytest.Config, settings: Settings, worker: str
) -> Settings:
    """A database where the demo can come and go unseen by other tests."""
    from tests.conftest import FOLDER

    name = f"comanda_{worker}_cli_{uuid4().hex[:8]}"
    make_database(services, pytestconfig.stash[FOLDER], name)
    own = services.settings(name, 0, settings.comanda_data)
    return own.model_copy(update={"redis_url": settings.redis_url})


@pytest.fixture(scope="module")
def app_with_demo(demo_settings: Settings) -> Iterator[Demo]:
    owner = owner_database(demo_settings)
    yield Demo(create_app(demo_settings), owner)
    owner.engine.dispose()


@pytest.fixture
def demo(app_with_demo: Demo) -> Demo:
    """The demo, loaded."""
    app_with_demo.flask("seed")
    return app_with_demo


def found_group(owner: Database, *emails: str) -> UUID:
    """A group that is not the demo's, with these people in it."""
    with owner.transaction() as session:
        group = create_group(session, f"own-{uuid4().hex[:8]}", "Our Own")
        for user in session.scalars(select(User).where(User.email.in_(emails))):
            set_membership(session, user.id, group.id, "staff")
        return group.id


def drop_group(owner: Database, group_id: UUID) -> None:
    with owner.transaction() as session:
        session.delete(session.get_one(Group, group_id))


def test_removing_leaves_nothing_of_the_demo_in_any_table(demo: Demo) -> None:
    before = demo.rows_of_groups()
    assert {"search_documents", "embeddings", "postings", "lexeme_statistics"} <= set(before)
    said = demo.flask("seed", "--remove", "--yes")
    assert all(house.name in said for house in HOUSES)
    assert demo.rows_of_groups() == {}
    assert demo.people() == set()
    assert "no demo here" in demo.flask("seed", "--remove")


def test_another_house_keeps_its_words_when_the_demo_goes(demo: Demo) -> None:
    group_id = found_group(demo.owner)
    document = SearchDocument(
        group_id=group_id,
        source_type="manual",
        source_id=uuid4(),
        language="en",
        serves=["en"],
        title="Chicken",
        text="Raw chicken stays out two hours.",
        content_hash="x",
    )
    with demo.owner.transaction() as session:
        session.add(document)
    demo.flask("seed", "--remove", "--yes")
    with demo.owner.transaction() as session:
        lexemes = set(session.scalars(select(Posting.lexeme)))
        counted = session.execute(
            text("SELECT group_id, documents FROM language_statistics WHERE language = 'en'")
        ).all()
    assert "chicken" in lexemes
    assert counted == [(group_id, 1)]
    drop_group(demo.owner, group_id)


def test_what_is_removed_can_be_loaded_again(demo: Demo) -> None:
    documents = demo.count(SearchDocument)
    demo.flask("seed", "--remove", "--yes")
    said = demo.flask("seed")
    assert PASSWORD in said
    assert all(email in said for email in EMAILS)
    assert demo.count(SearchDocument) == documents


def test_somebody_who_works_elsewhere_too_stays_and_the_operator_is_told(demo: Demo) -> None:
    group_id = found_group(demo.owner, MARCUS)
    said = demo.flask("seed", "--remove", "--yes")
    assert f"flask users password {MARCUS}" in said
    assert demo.people() == {MARCUS}
    with demo.owner.transaction() as session:
        assert set(session.scalars(select(Membership.group_id))) == {group_id}
    drop_group(demo.owner, group_id)


def test_without_yes_it_asks_and_a_no_removes_nothing(demo: Demo) -> None:
    runner = demo.app.test_cli_runner()
    for typed in ("n\n", ""):
        result = runner.invoke(args=["seed", "--remove"], input=typed)
        assert result.exit_code == 1
        assert "Delete Alamo Prime" in result.stderr
        assert demo.people() == set(EMAILS)
    demo.flask("seed", "--remove", typed="y\n")
    assert demo.people() == set()


def test_only_sign_ins_with_the_published_password_are_printed(demo: Demo) -> None:
    demo.flask("users", "password", ELENA, typed="nine purple onions\nnine purple onions\n")
    said = demo.flask("seed")
    assert ELENA not in said
    assert MARCUS in said
    for email in EMAILS:
        demo.flask("users", "password", email, typed="nine purple onions\nnine purple onions\n")
    said = demo.flask("seed")
    assert PASSWORD not in said
    assert "passwords of their own" in said
    demo.flask("seed", "--remove", "--yes")


# What the doctor says of it


def finding(demo: Demo, name: str = "demo") -> list[str]:
    """The doctor's lines about one thing, its mark first."""
    lines = demo.app.test_cli_runner().invoke(args=["doctor"]).output.splitlines()
    [place] = [place for place, line in enumerate(lines) if line[5:].startswith(f"{name} ")]
    fix = lines[place + 1] if lines[place + 1 : place + 2] else ""
    return [lines[place], *([fix.strip()] if fix.startswith("     ") else [])]


def test_the_doctor_finds_a_demo_in_a_house_that_does_not_load_it(demo: Demo) -> None:
    found, fix = finding(demo)
    assert found.startswith("FIX ")
    assert MARCUS in found
    assert fix == "Run `flask seed --remove`."
    demo.flask("seed", "--remove", "--yes")
    [found] = finding(demo)
    assert found.startswith("ok ")


def test_the_doctor_finds_somebody_who_stayed_with_the_published_password(demo: Demo) -> None:
    group_id = found_group(demo.owner, MARCUS)
    demo.flask("seed", "--remove", "--yes")
    found, fix = finding(demo)
    assert found.startswith("FIX ")
    assert fix == f"Run `flask users password {MARCUS}`."
    demo.flask("users", "password", MARCUS, typed="nine purple onions\nnine purple onions\n")
    assert finding(demo)[0].startswith("ok ")
    drop_group(demo.owner, group_id)
    demo.flask("seed", "--remove", "--yes")


def test_where_the_demo_is_loaded_on_purpose_the_doctor_is_content(
    demo: Demo, demo_settings: Settings
) -> None:
    wanted = Demo(create_app(demo_settings.model_copy(update={"demo": True})), demo.owner)
    assert finding(wanted)[0].startswith("ok ")
    assert "DEMO=false" in wanted.flask("seed", "--remove", "--yes")
