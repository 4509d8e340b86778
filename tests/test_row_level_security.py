"""The second lock: what a query without its predicate still cannot see or change.

Every table of the models is covered, with the rows that `tests/row_security.py` makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import (
    CheckConstraint,
    Column,
    Date,
    ForeignKey,
    Integer,
    MetaData,
    Numeric,
    Table,
    Text,
    Uuid,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.exc import DBAPIError, ProgrammingError

import app.notifications.mail  # noqa: F401 (its table is one of them)
from app.accounts.models import AuditEntry
from app.assistant.models import Message, Prompt, Thread, Turn
from app.config import Settings
from app.db import Base, Database, Scope, new_id, utc_now
from app.skills.knowledge.models import ManualSection
from tests.factories import Member, make_user
from tests.fridge_log import TABLE as FRIDGE_LOG
from tests.fridge_log import make_table
from tests.row_security import (
    belongs_to,
    check_not_moved,
    check_not_planted,
    check_policies,
    check_roles,
    check_unchanged,
    check_unseen,
    check_unseen_by_colleagues,
    count,
    counting,
    make_rows,
    owner_column,
    tables_ruled,
)

TABLES = sorted(Base.metadata.tables)
# Whom nobody has a right to read.
NOBODYS = tables_ruled("nobody")


def each_of(*names: str) -> list[Any]:
    return [pytest.param(Base.metadata.tables[name], id=name) for name in names]


EVERY_TABLE = each_of(*TABLES)
READABLE_TABLES = each_of(*(name for name in TABLES if name not in NOBODYS))
# What has no owner takes rows of anybody.
OWNED_TABLES = each_of(
    *(name for name in TABLES if owner_column(Base.metadata.tables[name]) is not None)
)


@pytest.fixture(scope="module")
def ours(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture(scope="module")
def theirs(owner: Database, ours: Member) -> Member:
    """An admin of another group; both have a row in every table."""
    member = make_user(owner, role="admin")
    for each in (member, ours):
        make_rows(owner, each, Base.metadata.sorted_tables)
    return member


@pytest.mark.fault(24)
@pytest.mark.parametrize("table", READABLE_TABLES)
def test_without_the_predicate_no_row_of_another_group_is_seen(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    check_unseen(database, owner, ours, theirs, table)


@pytest.mark.parametrize("table", each_of(*NOBODYS))
def test_what_is_reached_through_doors_alone_can_be_read_by_nobody(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    assert count(owner, Scope(), table, belongs_to(table, theirs)) > 0, "there is no row to hide"
    with pytest.raises(ProgrammingError, match="permission denied"):
        count(database, ours.scope, table)


@pytest.mark.parametrize("table", EVERY_TABLE)
def test_without_a_scope_nothing_is_seen(database: Database, theirs: Member, table: Table) -> None:
    if table.name in NOBODYS:
        with pytest.raises(ProgrammingError, match="permission denied"):
            count(database, Scope(), table)
    else:
        assert count(database, Scope(), table) == 0


@pytest.mark.parametrize("table", READABLE_TABLES)
def test_a_pooled_connection_keeps_no_scope(
    database: Database, ours: Member, theirs: Member, table: Table
) -> None:
    with database.engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT set_config('comanda.group_id', %s, true)", (str(ours.group_id),)
        )
        connection.commit()
        # The setting is an empty text by now, not the group and not an error.
        assert connection.execute(counting(table)).scalar_one() == 0


@pytest.mark.fault(24)
@pytest.mark.parametrize("table", each_of(*tables_ruled("one's own rows")))
def test_a_colleagues_personal_rows_are_not_seen(
    database: Database, owner: Database, theirs: Member, table: Table
) -> None:
    boss = make_user(owner, theirs.group_id, "admin")
    check_unseen_by_colleagues(database, owner, theirs, boss, table)


@pytest.mark.fault(24)
@pytest.mark.parametrize("table", EVERY_TABLE)
def test_without_the_predicate_no_row_of_another_group_is_changed_or_removed(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    check_unchanged(database, owner, ours, theirs, table)


@pytest.mark.parametrize("table", OWNED_TABLES)
def test_nothing_can_be_planted_in_another_group(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    check_not_planted(database, owner, ours, theirs, table)


@pytest.mark.parametrize("table", OWNED_TABLES)
def test_a_row_cannot_be_moved_to_another_group(
    database: Database, ours: Member, theirs: Member, table: Table
) -> None:
    check_not_moved(database, ours, theirs, table)


@pytest.mark.parametrize("table", each_of(*tables_ruled("the group reads, ")))
def test_a_role_may_write_only_what_it_is_trusted_with(
    database: Database, owner: Database, theirs: Member, table: Table
) -> None:
    is_managers = table.name in tables_ruled("the group reads, managers")
    roles = ["staff"] if is_managers else ["staff", "manager"]
    people = [make_user(owner, theirs.group_id, role) for role in roles]
    check_roles(database, owner, people, table)


@pytest.mark.parametrize(("role", "model"), [("manager", ManualSection), ("admin", Prompt)])
def test_a_role_may_write_what_it_is_trusted_with(
    database: Database, owner: Database, theirs: Member, role: str, model: Any
) -> None:
    member = make_user(owner, theirs.group_id, role)
    with database.transaction(member.scope) as session:
        assert session.execute(update(model).values(updated_at=utc_now())).rowcount > 0  # type: ignore[attr-defined]


def test_every_table_of_the_database_is_under_row_level_security(owner: Database) -> None:
    """A table that somebody adds without it fails here, whether or not it has a model."""
    check_policies(owner, TABLES)


def test_the_tests_own_skill_is_held_like_any_other(
    database: Database, owner: Database, settings: Settings, ours: Member, theirs: Member
) -> None:
    make_table(owner, settings.database_url or "")
    for member in (ours, theirs):
        make_rows(owner, member, [FRIDGE_LOG])
    check_unseen(database, owner, ours, theirs, FRIDGE_LOG)
    check_unchanged(database, owner, ours, theirs, FRIDGE_LOG)
    check_not_planted(database, owner, ours, theirs, FRIDGE_LOG)
    check_not_moved(database, ours, theirs, FRIDGE_LOG)
    boss = make_user(owner, theirs.group_id, "admin")
    check_unseen_by_colleagues(database, owner, theirs, boss, FRIDGE_LOG)


# What a table without a policy, or with one that is too wide, does to these tests

PLANTED = MetaData()
PLANTED_SHELVES = Table(
    "planted_shelves",
    PLANTED,
    Column("id", Uuid, primary_key=True, default=new_id),
    Column("group_id", Uuid, nullable=False),
    Column("name", Text, nullable=False),
)
# Constraints of every kind that rows are made for.
PLANTED_JARS = Table(
    "planted_jars",
    PLANTED,
    Column("id", Uuid, primary_key=True, default=new_id),
    Column("group_id", Uuid, nullable=False),
    Column("user_id", Uuid, nullable=False),
    Column("shelf_id", ForeignKey(PLANTED_SHELVES.c.id), nullable=False),
    Column("state", Text, CheckConstraint("state IN ('open', 'shut')"), nullable=False),
    Column("code", Text, CheckConstraint("length(code) BETWEEN 1 AND 4"), nullable=False),
    Column("grams", Integer, CheckConstraint("grams BETWEEN 50 AND 5000"), nullable=False),
    Column("price", Numeric(8, 2), CheckConstraint("price > 2.5"), nullable=False),
    Column("filled_on", Date, nullable=False),
    Column("labels", ARRAY(Text), CheckConstraint("cardinality(labels) > 0"), nullable=False),
    Column("facts", JSONB, CheckConstraint("jsonb_typeof(facts) = 'array'"), nullable=False),
)
MINE = "(SELECT nullif(current_setting('comanda.{0}', true), '')::uuid)"
OF_GROUP = f"group_id = {MINE.format('group_id')}"
OF_PERSON = f"{OF_GROUP} AND user_id = {MINE.format('user_id')}"


@pytest.fixture
def planted(owner: Database, settings: Settings, ours: Member, theirs: Member) -> Iterator[Table]:
    """A table as a migration would make it that forgets to protect it; both groups have a row."""
    role = make_url(settings.database_url or "").username
    with owner.engine.begin() as connection:
        PLANTED.create_all(connection)
        for table in PLANTED.tables:
            connection.exec_driver_sql(f'GRANT ALL ON {table} TO "{role}"')
    try:
        for member in (ours, theirs):
            make_rows(owner, member, PLANTED.sorted_tables)
        yield PLANTED_JARS
    finally:
        with owner.engine.begin() as connection:
            PLANTED.drop_all(connection)


def protect(owner: Database, using: str, with_check: str) -> None:
    with owner.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE planted_jars ENABLE ROW LEVEL SECURITY")
        rules = f"USING ({using}) WITH CHECK ({with_check})"
        connection.exec_driver_sql(f"CREATE POLICY planted ON planted_jars {rules}")


def broken_rules(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> set[str]:
    """Which of the checks a table fails."""
    boss = make_user(owner, theirs.group_id, "admin")
    checks = {
        "seen": lambda: check_unseen(database, owner, ours, theirs, table),
        "seen by colleagues": lambda: check_unseen_by_colleagues(
            database, owner, theirs, boss, table
        ),
        "planted": lambda: check_not_planted(database, owner, ours, theirs, table),
        "moved": lambda: check_not_moved(database, ours, theirs, table),
        "changed": lambda: check_unchanged(database, owner, ours, theirs, table),
    }
    failed = set()
    for name, check in checks.items():
        try:
            check()
        except (AssertionError, pytest.fail.Exception):
            failed.add(name)
    return failed


@pytest.mark.parametrize(
    ("using", "with_check", "failed"),
    [
        (OF_PERSON, OF_PERSON, set()),
        (OF_GROUP, OF_GROUP, {"seen by colleagues"}),
        (OF_PERSON, "true", {"planted", "moved"}),
        ("true", OF_PERSON, {"seen", "seen by colleagues", "changed"}),
    ],
    ids=["its person's", "its group's", "anybody may write", "anybody may read"],
)
def test_a_planted_table_fails_by_what_its_policy_lets_through(
    database: Database, owner: Database, ours: Member, theirs: Member, planted: Table,
    using: str, with_check: str, failed: set[str],
) -> None:  # fmt: skip
    protect(owner, using, with_check)
    assert broken_rules(database, owner, ours, theirs, planted) == failed


def test_a_planted_table_without_a_policy_fails_every_rule(
    database: Database, owner: Database, ours: Member, theirs: Member, planted: Table
) -> None:
    with pytest.raises(AssertionError, match="planted_jars"):
        check_policies(owner, TABLES)
    with pytest.raises(AssertionError, match="planted_jars"):
        check_policies(owner, [*TABLES, *PLANTED.tables])
    everything = {"seen", "seen by colleagues", "planted", "moved", "changed"}
    assert broken_rules(database, owner, ours, theirs, planted) == everything


def test_a_planted_table_that_everybody_of_the_group_writes_fails_for_its_roles(
    database: Database, owner: Database, theirs: Member, planted: Table
) -> None:
    protect(owner, OF_GROUP, OF_GROUP)
    staff = make_user(owner, theirs.group_id, "staff")
    with pytest.raises(AssertionError, match="staff"):
        check_roles(database, owner, [staff], planted)


def test_a_row_that_no_value_satisfies_asks_for_an_exception(
    owner: Database, ours: Member, planted: Table
) -> None:
    rule = (
        "ALTER TABLE planted_shelves ADD CONSTRAINT odd CHECK (name = reverse('7fles')) NOT VALID"
    )
    with owner.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM planted_jars")
        connection.exec_driver_sql("DELETE FROM planted_shelves")
        connection.exec_driver_sql(rule)
    with pytest.raises(LookupError, match="planted_shelves"):
        make_rows(owner, ours, PLANTED.sorted_tables)


def test_no_view_reads_with_its_makers_rights(owner: Database) -> None:
    query = text(
        "SELECT relname, reloptions FROM pg_class WHERE relkind IN ('v', 'm')"
        " AND relnamespace = 'public'::regnamespace"
    )
    with owner.engine.connect() as connection:
        views = connection.execute(query).all()
    assert [v.relname for v in views if "security_invoker=true" not in (v.reloptions or [])] == []


def test_the_apps_role_is_an_ordinary_one_that_owns_nothing(database: Database) -> None:
    query = text(
        """
        SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication,
               (SELECT count(*) FROM pg_class WHERE relowner = r.oid) AS owned,
               has_schema_privilege(rolname, 'public', 'CREATE') AS may_create,
               (SELECT count(*) FROM pg_auth_members WHERE member = r.oid) AS memberships
          FROM pg_roles r WHERE rolname = current_user
        """
    )
    with database.engine.connect() as connection:
        assert tuple(connection.execute(query).one()) == (False,) * 5 + (0, False, 0)


def test_every_door_has_a_fixed_search_path_and_is_closed_to_the_public(owner: Database) -> None:
    query = text(
        """
        SELECT p.oid::regprocedure::text AS name, p.proconfig,
               has_function_privilege('public', p.oid, 'EXECUTE') AS is_public
          FROM pg_proc p WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace
        """
    )
    with owner.engine.connect() as connection:
        doors = connection.execute(query).all()
    assert len(doors) > 10
    for door in doors:
        # Temporary tables come last; unnamed they would come first.
        assert "search_path=pg_catalog, public, pg_temp" in (door.proconfig or []), door.name
        assert not door.is_public, door.name


def test_a_temporary_table_does_not_take_a_tables_place_in_a_door(settings: Settings) -> None:
    """Whoever could run SQL as the app's role would else invite themselves to any house."""
    address = (settings.database_url or "").replace("+psycopg", "")
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TEMPORARY TABLE invitations (LIKE invitations)")
        connection.execute(
            "INSERT INTO invitations VALUES (gen_random_uuid(), gen_random_uuid(), 'a@b.example',"
            " 'admin', 'forged', NULL, now(), now() + interval '1 day', NULL)"
        )
        connection.execute("GRANT ALL ON invitations TO PUBLIC")
        found = connection.execute("SELECT * FROM find_invitation('forged')").fetchall()
        accepted = connection.execute(
            "SELECT accept_invitation('forged', gen_random_uuid(), 'Forger', 'x')"
        ).fetchone()
        connection.rollback()
    assert (found, accepted) == ([], (None,))


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_log SET action = 'x'", "DELETE FROM audit_log"]
)
def test_the_audit_log_can_only_grow(database: Database, theirs: Member, statement: str) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        database.transaction(theirs.scope) as session,
    ):
        session.execute(text(statement))


def test_the_audit_log_cannot_be_written_in_somebody_elses_name(
    database: Database, ours: Member, theirs: Member
) -> None:
    entry = AuditEntry(group_id=ours.group_id, user_id=theirs.user_id, action="framed")
    with (
        pytest.raises(DBAPIError, match="row-level security"),
        database.transaction(ours.scope) as session,
    ):
        session.add(entry)


def test_a_password_hash_is_readable_through_no_table(database: Database, ours: Member) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        database.transaction(ours.scope) as session,
    ):
        session.execute(text("SELECT password_hash FROM credentials"))


def test_a_scope_lasts_as_long_as_its_session_through_commits(
    database: Database, ours: Member, theirs: Member
) -> None:
    with database.session(ours.scope) as session:
        for _ in range(3):
            groups = set(session.scalars(select(Thread.group_id)))
            assert groups == {ours.group_id}
            session.commit()


def test_rescoping_takes_effect_within_the_transaction(
    database: Database, ours: Member, theirs: Member
) -> None:
    with database.session(ours.scope) as session:
        assert set(session.scalars(select(Thread.group_id))) == {ours.group_id}
        session.rescope(theirs.scope)
        assert set(session.scalars(select(Thread.group_id))) == {theirs.group_id}


def test_claiming_turns_tells_the_role_and_nothing_of_the_message(
    database: Database, theirs: Member
) -> None:
    with database.transaction() as session:
        columns = session.execute(text("SELECT * FROM claim_turns('nobody', 1.0, 0)")).keys()
    assert set(columns) == {"turn_id", "fence", "attempts", "group_id", "user_id", "role"}


def test_a_claim_gives_no_right_to_read_a_turn(database: Database, theirs: Member) -> None:
    with database.transaction() as session:
        assert session.scalars(select(Turn)).all() == []
        assert session.scalars(select(Message)).all() == []
