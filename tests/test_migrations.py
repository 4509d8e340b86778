"""The migrations: up, all the way down, up again, and in step with the models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import IntegrityError

import app.notifications.mail
import app.skills.knowledge.models  # noqa: F401
from app.config import Settings
from app.db import Base
from app.errors import ConfigurationError
from app.schema import MIGRATIONS, alembic_config, downgrade, pending, upgrade
from tests.services import RunningServices, empty_database

PUT_ON_TEAM = (
    "INSERT INTO service_team_members (team_id, user_id, group_id) VALUES (:team, :gone, :group)"
)
# A group with a team of two, one of whom has left the group.
FOUND_A_TEAM = (
    "INSERT INTO groups (id, slug, name, timezone, currency, language, created_at)"
    " VALUES (:group, 'alamo', 'Alamo', 'UTC', 'USD', 'en', now())",
    "INSERT INTO users (id, email, name, is_active, created_at) VALUES"
    " (:member, 'here@example.com', '', true, now()), (:gone, 'gone@example.com', '', true, now())",
    "INSERT INTO memberships (user_id, group_id, role, created_at)"
    " VALUES (:member, :group, 'staff', now())",
    "INSERT INTO service_teams (id, group_id, slug, name_en, name_es, created_at)"
    " VALUES (:team, :group, 'fixers', 'Fixers', '', now())",
    PUT_ON_TEAM,
    PUT_ON_TEAM.replace(":gone", ":member"),
)
VERSIONS = sorted((MIGRATIONS / "versions").glob("*.py"))


@pytest.fixture(scope="module")
def empty(
    services: RunningServices, worker: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """Settings for an empty database, with the extension that an operator makes."""
    with empty_database(services, f"migrations_{worker}") as name:
        yield services.settings(name, 0, tmp_path_factory.mktemp("migrations"))


def objects(settings: Settings) -> set[str]:
    """Everything that migrations may leave behind, by kind and name."""
    engine = create_engine(settings.migration_database_url or "")
    query = text(
        """
        SELECT 'relation ' || relname FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S', 'm')
        UNION SELECT 'function ' || proname FROM pg_proc p
         WHERE pronamespace = 'public'::regnamespace AND NOT EXISTS
               (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
        UNION SELECT 'type ' || typname FROM pg_type t
         WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd') AND NOT EXISTS
               (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e')
        UNION SELECT 'policy ' || polname || ' on ' || polrelid::regclass FROM pg_policy
        """
    )
    with engine.connect() as connection:
        found = set(connection.execute(query).scalars())
    engine.dispose()
    return found


def test_up_down_and_up_again_on_an_empty_database(empty: Settings) -> None:
    assert pending(empty)
    upgrade(empty)
    assert not pending(empty)
    there = objects(empty)
    assert "relation messages" in there
    downgrade(empty, "base")
    assert objects(empty) == {"relation alembic_version"}
    upgrade(empty)
    assert objects(empty) == there


def test_each_revision_goes_down_and_up_alone(empty: Settings) -> None:
    upgrade(empty)
    script = ScriptDirectory.from_config(alembic_config(empty))
    for revision in script.walk_revisions():
        before = objects(empty)
        downgrade(empty, str(revision.down_revision or "base"))
        upgrade(empty, revision.revision)
        assert objects(empty) == before, revision.revision
        downgrade(empty, str(revision.down_revision or "base"))
    upgrade(empty)


def test_who_was_on_a_team_of_a_group_they_had_left_is_on_it_no_more(empty: Settings) -> None:
    upgrade(empty)
    downgrade(empty, "20261126_0400")
    engine = create_engine(empty.migration_database_url or "")
    member, gone, group, team = (str(uuid4()) for _ in range(4))
    there = "SELECT count(*) FROM service_team_members WHERE team_id = :team AND user_id = :user_id"

    def is_there(person: str) -> bool:
        with engine.connect() as connection:
            found = connection.execute(text(there), {"team": team, "user_id": person})
            return found.scalar_one() == 1

    with engine.begin() as connection:
        for statement in FOUND_A_TEAM:
            values = {"member": member, "gone": gone, "group": group, "team": team}
            connection.execute(text(statement), values)
    upgrade(empty)
    assert (is_there(member), is_there(gone)) == (True, False)
    with engine.begin() as connection:
        values = {"gone": gone, "group": group, "team": team}
        with pytest.raises(IntegrityError), connection.begin_nested():
            connection.execute(text(PUT_ON_TEAM), values)
        leave = text("DELETE FROM memberships WHERE user_id = :member")
        connection.execute(leave, {"member": member})
    assert not is_there(member)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM groups WHERE id = :group"), {"group": group})
        connection.execute(text("DELETE FROM users"))
    engine.dispose()


def test_a_second_upgrade_does_nothing(empty: Settings) -> None:
    upgrade(empty)
    before = objects(empty)
    upgrade(empty)
    assert objects(empty) == before


def is_ours(_thing: Any, name: str | None, kind: str, *_: Any) -> bool:
    """The job queue's tables are procrastinate's own."""
    return not (kind == "table" and (name or "").startswith("procrastinate_"))


def test_models_and_migrations_agree(empty: Settings) -> None:
    upgrade(empty)
    engine = create_engine(empty.migration_database_url or "")
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_object": is_ours}
        )
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_comparing_with_the_models_looks_at_all_of_them() -> None:
    compared = (MIGRATIONS / "env.py").read_text("utf-8")
    modules = {mapper.class_.__module__ for mapper in Base.registry.mappers}
    missing = [
        module for module in modules if not re.search(rf"^import {module}\b", compared, re.M)
    ]
    assert missing == []


def test_there_is_one_line_of_revisions_without_branches(settings: Settings) -> None:
    script = ScriptDirectory.from_config(alembic_config(settings))
    assert len(script.get_heads()) == 1
    assert len(script.get_bases()) == 1


@pytest.mark.parametrize("file", VERSIONS, ids=lambda file: file.stem)
def test_a_migration_is_dated_explained_and_reversible(file: Path) -> None:
    source = file.read_text("utf-8")
    assert re.fullmatch(r"\d{8}_\d{4}_[a-z_]+", file.stem)
    assert f'revision = "{file.stem[:13]}"' in source
    assert source.startswith('"""')
    assert re.search(r"^def downgrade\(\) -> None:\n(?!    pass)", source, re.MULTILINE)


def test_a_role_that_could_bypass_row_level_security_is_refused(
    empty: Settings, services: RunningServices
) -> None:
    name = make_url(empty.database_url or "").database
    mighty = empty.model_copy(update={"database_url": services.superuser_url(name or "")})
    with pytest.raises(ConfigurationError, match="row-level security"):
        upgrade(mighty)
