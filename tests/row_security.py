"""A row in every table, found from the models, and what row-level security must keep of it.

`make_rows` fills any table of a metadata: foreign keys with the row that was made before in the
table they name, required columns by their type and by the check constraints of the database.
A new skill's tables need nothing here, unless one of their constraints cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice, product
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pgvector.sqlalchemy import HALFVEC
from psycopg.errors import CheckViolation, StringDataRightTruncation
from sqlalchemy import (
    ARRAY,
    Column,
    Connection,
    Select,
    Table,
    delete,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DBAPIError, ProgrammingError

from app.db import Database, Scope, new_id
from tests.factories import Member

POLICIES = Path(__file__).resolve().parent.parent / "docs" / "security.md"
# Whose a row is: its group's, or one person's where it has no group.
OWNERS = ("group_id", "user_id")
# One's own in all groups: a foreign key to one's memberships says which groups these may be.
BY_PERSON = ("sign_ins",)
# What neither types nor constraints say: here, that no process of another test takes these up.
EXCEPTIONS: Mapping[str, Mapping[str, Any]] = {
    "outgoing_mail": {"sent_at": datetime(2026, 11, 20, tzinfo=UTC)},
    "turns": {"status": "done", "finished_at": datetime(2026, 11, 20, tzinfo=UTC)},
}
# So many combinations of values are tried for a row, before its table needs an exception.
TRIES = 500
REFUSED = "row-level security|permission denied"


# Rows


def make_rows(owner: Database, member: Member, tables: Iterable[Table]) -> None:
    """At least one row that belongs to this person or their group in each of these tables.

    The tables come with those they refer to first, as in `MetaData.sorted_tables`.
    """
    made: dict[str, Mapping[str, Any]] = {}
    with owner.engine.begin() as connection:
        for table in tables:
            mine = owner_column(table) is not None and belongs_to(table, member)
            found = connection.execute(select(table).where(mine).limit(1)).mappings().first()
            made[table.name] = found or _make_row(connection, table, member, made)


def _make_row(
    connection: Connection, table: Table, member: Member, made: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Insert one row, with the first values that the table's check constraints take."""
    known = _owned(table, member) | _referred(table, made) | dict(EXCEPTIONS.get(table.name, {}))
    checks = [
        each["sqltext"]
        for each in inspect(connection).get_check_constraints(table.name, schema=table.schema)
    ]
    open_columns = [each for each in table.columns if each.name not in known and _is_required(each)]
    choices = [list(_values(each, checks)) for each in open_columns]
    names = [each.name for each in open_columns]
    for values in islice(product(*choices), TRIES):
        row = known | dict(zip(names, values, strict=True))
        try:
            with connection.begin_nested():
                statement = insert(table).values({table.c[name]: row[name] for name in row})
                return connection.execute(statement.returning(table)).mappings().one()
        except DBAPIError as refused:
            if not isinstance(refused.orig, CheckViolation | StringDataRightTruncation):
                raise
    raise LookupError(f"no row of {table.name} was found that {checks} take: add it to EXCEPTIONS")


def _owned(table: Table, member: Member) -> dict[str, Any]:
    whose = {"group_id": member.group_id, "user_id": member.user_id}
    return {name: value for name, value in whose.items() if name in table.c}


def _referred(table: Table, made: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the required foreign keys hold."""
    return {
        key.parent.name: made[key.column.table.name][key.column.name]
        for key in table.foreign_keys
        if not key.parent.nullable and key.parent.name not in OWNERS
    }


def _is_required(column: Column[Any]) -> bool:
    has_default = column.default is not None or column.server_default is not None
    return not (column.nullable or has_default or column.identity or column.computed)


def _values(column: Column[Any], checks: Iterable[str]) -> Iterator[Any]:
    """What may stand in a column: what its check constraints name, then what its type takes."""
    own = [check for check in checks if re.search(rf'\b"?{re.escape(column.name)}\b', check)]
    if isinstance(column.type, HALFVEC):
        yield [1.0] * (column.type.dim or 3)
    elif isinstance(column.type, ARRAY):
        yield from ([], list(islice(_values(Column(column.name, column.type.item_type), own), 1)))
    elif isinstance(column.type, JSONB):
        yield from ({}, [])
    elif column.type.python_type is str:
        yield from (literal for check in own for literal in re.findall(r"'([^']*)'", check))
        yield new_id().hex[: -(getattr(column.type, "length", None) or 32) - 1 : -1]
        yield from ("x", "")
    elif column.type.python_type in (int, float, Decimal):
        yield 1
        yield from (int(number) for check in own for number in re.findall(r"\b\d+\b", check))
    else:
        yield _PLAIN[column.type.python_type]()


_PLAIN: Mapping[type, Any] = {
    UUID: new_id,
    bool: bool,
    bytes: bytes,
    date: lambda: datetime.now(UTC).date(),
    datetime: lambda: datetime.now(UTC),
}


# Whose they are


def owner_column(table: Table) -> Column[Any] | None:
    """The column that says whose a row is; None for a table of nobody's."""
    if table.name in ("groups", "users"):
        return table.c.id
    if table.name in BY_PERSON:
        return table.c.user_id
    return next((table.c[name] for name in OWNERS if name in table.c), None)


def owner_of(table: Table, member: Member) -> UUID:
    """What stands in that column for this person."""
    column = owner_column(table)
    of_person = table.name == "users" or (column is not None and column.name == "user_id")
    return member.user_id if of_person else member.group_id


def belongs_to(table: Table, member: Member) -> Any:
    """The predicate that finds this person's rows, as the owner would ask."""
    column = owner_column(table)
    return text("true") if column is None else column == owner_of(table, member)


def counting(table: Table) -> Select[int]:
    """How many rows there are of groups; what belongs to none of them is shared by all."""
    rows = select(func.count()).select_from(table)
    return rows.where(table.c.group_id.is_not(None)) if "group_id" in table.c else rows


def count(database: Database, scope: Scope, table: Table, *where: Any) -> int:
    with database.transaction(scope) as session:
        return session.execute(counting(table).where(*where)).scalar_one()


def tables_ruled(rule: str) -> list[str]:
    """The tables of which docs/security.md says that their rule begins with these words."""
    section = POLICIES.read_text("utf-8").split("### Named policies\n", 1)[1].split("\n#", 1)[0]
    rows = re.findall(rf"^\| {re.escape(rule)}[^|]*\|([^|]+)\|", section, re.MULTILINE)
    return sorted({name for row in rows for name in re.findall(r"`(\w+)`", row)})


# What is held of each table


def check_unseen(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    """Without its predicate a query sees its own group's rows and no other's."""
    theirs_only = belongs_to(table, theirs)
    assert count(owner, Scope(), table, theirs_only) > 0, "the test has no row to hide"
    assert count(database, ours.scope, table, theirs_only) == 0
    mine = count(database, ours.scope, table, belongs_to(table, ours))
    assert mine == count(database, ours.scope, table) > 0


def check_unseen_by_colleagues(
    database: Database, owner: Database, theirs: Member, colleague: Member, table: Table
) -> None:
    """Somebody else of the same group sees none of a person's rows."""
    rows = table.c.user_id == theirs.user_id
    assert count(owner, Scope(), table, rows) > 0, "the test has no row to hide"
    assert count(database, colleague.scope, table, rows) == 0


def check_unchanged(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    """Without its predicate a statement changes and removes none of another group's rows."""
    theirs_only = belongs_to(table, theirs)
    before = count(owner, Scope(), table, theirs_only)
    key = next(iter(table.primary_key.columns))
    for statement in (update(table).values({key.name: key}), delete(table)):
        assert _changed(database, ours.scope, statement.where(theirs_only)) == 0
    assert count(owner, Scope(), table, theirs_only) == before


def check_not_planted(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    """No row can be added in another group's name."""
    with owner.engine.connect() as connection:
        query = select(table).where(belongs_to(table, theirs)).limit(1)
        row = dict(connection.execute(query).mappings().one())
    # Its own id: a refusal because the row is there already would prove nothing.
    row |= {column.name: new_id() for column in table.primary_key if column.default is not None}
    kept = {column: row[column.name] for column in table.columns if not column.computed}
    with (
        pytest.raises(DBAPIError, match=REFUSED),
        database.transaction(ours.scope) as session,
    ):
        session.execute(insert(table).values(kept))


def check_not_moved(database: Database, ours: Member, theirs: Member, table: Table) -> None:
    """No row of one's own can be made another group's."""
    column = owner_column(table)
    assert column is not None
    # Without a WHERE: a statement that reads what it changes is held by the rule of reading too.
    moved = update(table).values({column: owner_of(table, theirs)})
    assert _changed(database, ours.scope, moved) == 0


def check_roles(
    database: Database, owner: Database, untrusted: Iterable[Member], table: Table
) -> None:
    """People of these roles change and remove nothing of their own group's."""
    key = next(iter(table.primary_key.columns))
    for member in untrusted:
        before = count(owner, Scope(), table, belongs_to(table, member))
        assert before > 0, "the test has no row to protect"
        for statement in (update(table).values({key.name: key}), delete(table)):
            mine = statement.where(belongs_to(table, member))
            assert _changed(database, member.scope, mine) == 0, member.role


def _changed(database: Database, scope: Scope, statement: Any) -> int:
    """How many rows a statement changes as the app's role; 0 where it has no right to."""
    try:
        with database.transaction(scope) as session:
            return int(session.execute(statement).rowcount)  # type: ignore[attr-defined]
    except ProgrammingError as refused:
        assert re.search(REFUSED, str(refused)), refused  # noqa: PT017
        return 0


def check_policies(owner: Database, tables: Iterable[str]) -> None:
    """Each table of the database is one of these, and row-level security holds for it."""
    query = text(
        """
        SELECT c.relname, c.relrowsecurity,
               (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) AS policies
          FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
        """
    )
    with owner.engine.connect() as connection:
        rows = connection.execute(query).all()
    ours = {
        row.relname: row
        for row in rows
        if row.relname != "alembic_version" and not row.relname.startswith("procrastinate_")
    }
    assert set(ours) == set(tables)
    assert [name for name, row in ours.items() if not row.relrowsecurity] == []
    assert [name for name, row in ours.items() if not row.policies] == []
