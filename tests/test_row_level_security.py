"""The second lock: what a query without its predicate still cannot see or change."""

from __future__ import annotations

from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import Select, Table, delete, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError, ProgrammingError
from sqlalchemy.orm import Session

import app.notifications.mail  # noqa: F401 (its table is one of them)
from app.accounts.models import AuditEntry, Invitation, PasswordReset
from app.assistant.models import (
    ChatExport,
    FeedbackHandling,
    Message,
    MessageFeedback,
    Prompt,
    PromptRevision,
    Proposal,
    SavedSentence,
    Thread,
    Turn,
)
from app.config import Settings
from app.db import Base, Database, Scope, new_id, utc_now
from app.files.models import StoredFile
from app.notifications.models import Notification
from app.retrieval.models import Embedding
from app.skills.expenses.models import Expense, ExpenseSettings
from app.skills.forms.models import (
    Contact,
    FormCounter,
    FormDraft,
    FormHandover,
    FormSubmission,
    FormTemplate,
    FormTemplateVersion,
)
from app.skills.knowledge.models import (
    LibraryImport,
    LibraryImportFile,
    LibraryRevision,
    ManualSection,
    Product,
)
from app.skills.service_requests.models import (
    RequestCounter,
    RequestSettings,
    RequestTeam,
    RequestType,
    RequestTypeVersion,
    RequestUpdate,
    ServiceRequest,
    TeamMember,
)
from app.web.idempotency import KeyedAnswer
from tests.factories import (
    Member,
    make_product,
    make_section,
    make_thread,
    make_turn_facts,
    make_user,
)
from tests.factories.people import browser_token

TABLES = sorted(Base.metadata.tables)
# Whom the rows of a table belong to: its group, one person, or nobody (no right at all).
NOBODYS = ("credentials", "password_resets", "outgoing_mail")
PERSONAL = (
    "user_profiles",
    "sign_ins",
    "threads",
    "messages",
    "turns",
    "daily_messages",
    "proposals",
    "form_drafts",
    "form_handovers",
    "keyed_answers",
    "notifications",
    "chat_exports",
)
EVERY_TABLE = [pytest.param(Base.metadata.tables[name], id=name) for name in TABLES]
READABLE_TABLES = [
    pytest.param(Base.metadata.tables[name], id=name) for name in TABLES if name not in NOBODYS
]


@pytest.fixture(scope="module")
def ours(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture(scope="module")
def theirs(owner: Database, database: Database, ours: Member) -> Member:
    """An admin of another group, which has a row in every table."""
    member = make_user(owner, role="admin")
    fill(owner, database, member)
    fill(owner, database, ours)
    return member


def fill(owner: Database, database: Database, member: Member) -> None:
    """At least one row in every table that belongs to this person or their group."""
    group_id, user_id = member.group_id, member.user_id
    browser_token(owner, member)
    thread_id = make_thread(database, member)
    make_turn_facts(database, member, latency_ms=1200, search_ms=30)
    make_section(owner, group_id)
    make_product(owner, group_id)
    with owner.transaction() as session:
        session.add_all(
            [
                AuditEntry(group_id=group_id, user_id=user_id, action="test"),
                Invitation(
                    group_id=group_id,
                    email=f"{new_id()}@example.com",
                    role="staff",
                    token_hash=str(new_id()),
                    expires_at=utc_now(),
                ),
                PasswordReset(user_id=user_id, token_hash=str(new_id()), expires_at=utc_now()),
            ]
        )
        session.add(proposal_in(session, thread_id, member))
        feedback = feedback_in(session, thread_id, member)
        session.add(feedback)
        session.flush()
        session.add(FeedbackHandling(feedback_id=feedback.id, group_id=group_id))
        session.add_all(library_rows_of(member))
        session.add_all([form_template_of(member), file_of(member)])
        session.flush()
        session.add_all(form_rows_of(session, member))
        session.add_all(ledger_rows_of(member))
        add_request_rows(session, member)
        session.add_all(rows_of_skills(member))
        session.add(SavedSentence(group_id=group_id, text="How long?", language="en"))
        prompt = session.scalars(select(Prompt).where(Prompt.group_id == group_id)).first()
        assert prompt is not None
        session.add(
            PromptRevision(
                group_id=group_id,
                prompt_id=prompt.id,
                version=1,
                prompt_en="",
                prompt_es="",
                sort_order=0,
                is_active=True,
            )
        )
        add_embedding(session, group_id)


def rows_of_skills(member: Member) -> list[Base]:
    """What the tests of skills bring for this test: `rows_of` in tests/skills/<name>/rows.py."""
    files = sorted((Path(__file__).parent / "skills").glob("*/rows.py"))
    modules = (import_module(f"tests.skills.{file.parent.name}.rows") for file in files)
    return [row for module in modules for row in module.rows_of(member)]


def add_embedding(session: Session, group_id: UUID) -> None:
    """A vector of one of the group's documents."""
    document_id = session.scalar(
        text("SELECT id FROM search_documents WHERE group_id = :group LIMIT 1"),
        {"group": group_id},
    )
    session.execute(
        insert(Embedding).values(
            document_id=document_id,
            model="test",
            dimensions=3,
            group_id=group_id,
            content_hash="x",
            embedding=[1, 2, 3],
        )
    )


def proposal_in(session: Session, thread_id: UUID, member: Member) -> Proposal:
    """Something proposed in that thread."""
    reply = session.scalars(select(Message).where(Message.thread_id == thread_id)).first()
    assert reply is not None
    return Proposal(
        group_id=member.group_id,
        user_id=member.user_id,
        thread_id=thread_id,
        message_id=reply.id,
        tool="test",
        arguments={},
        digest="",
        summary={},
        details={},
        expires_at=utc_now(),
    )


def library_rows_of(member: Member) -> list[Any]:
    """An import with its file, and what it has changed."""
    of_group = {"group_id": member.group_id}
    brought = LibraryImport(
        **of_group,
        id=new_id(),
        user_id=member.user_id,
        role=member.role,
        target="sop",
        language="en",
        filename="manual.md",
        digest="",
    )
    file = LibraryImportFile(**of_group, import_id=brought.id, content=b"# Manual")
    revision = LibraryRevision(**of_group, entity="section", entity_id=new_id(), version=0)
    return [brought, file, revision]


def form_template_of(member: Member) -> FormTemplate:
    """A form of this person's house."""
    return FormTemplate(group_id=member.group_id, slug="spill", title_en="Spill")


def ledger_rows_of(member: Member) -> list[Base]:
    """An expense, whose month the database adds up, the ledger's settings and a keyed answer."""
    whose = {"group_id": member.group_id, "user_id": member.user_id}
    return [
        Expense(
            **whose,
            item="Taxi",
            amount=12,
            currency="USD",
            date=date(2026, 11, 20),
            category="other",
        ),
        ExpenseSettings(group_id=member.group_id, currencies=["USD"], categories=[]),
        KeyedAnswer(**whose, key="k", digest="d"),
        ChatExport(**whose, key="k", letterhead={}),
    ]


def add_request_rows(session: Session, member: Member) -> None:
    """A type of request with its team, a request with what was said of it, and who is told."""
    of_group: dict[str, Any] = {"group_id": member.group_id}
    team = RequestTeam(**of_group, id=new_id(), slug="fixers", name_en="Fixers")
    type_ = RequestType(**of_group, id=new_id(), slug="leak", name_en="Leak")
    asked = ServiceRequest(
        **of_group,
        id=new_id(),
        user_id=member.user_id,
        requester=member.name,
        begun_at=new_id(),
        type_version=1,
        form={},
        values={},
        title="A leak",
        priority="normal",
        language="en",
        year=2026,
        number=1,
        due_at=utc_now(),
    )
    session.add_all([team, type_, asked])
    session.flush()
    told = {"user_id": member.user_id, "text_en": "Done", "text_es": "Listo", "url": "/requests"}
    session.add_all(
        [
            TeamMember(**of_group, team_id=team.id, user_id=member.user_id),
            RequestTypeVersion(**of_group, type_id=type_.id, version=1, content={}),
            RequestUpdate(**of_group, request_id=asked.id, kind="note", is_internal=True),
            RequestCounter(**of_group, year=2026, last=1),
            RequestSettings(**of_group),
            Notification(**of_group, **told),
        ]
    )


def form_rows_of(session: Session, member: Member) -> list[Any]:
    """A form's past, one that is being filled in, one that was sent, and whom it names."""
    ours = FormTemplate.group_id == member.group_id
    template_id = session.scalars(select(FormTemplate.id).where(ours)).one()
    of_group: dict[str, Any] = {"group_id": member.group_id}
    of_form = {**of_group, "template_id": template_id}
    whose = {**of_form, "user_id": member.user_id}
    return [
        FormTemplateVersion(**of_form, version=1, content={}),
        FormDraft(**whose, template_version=1),
        FormHandover(**whose, context="", language="en", expires_at=utc_now()),
        FormSubmission(
            **whose,
            submitter=member.name,
            template_version=1,
            form={},
            values={},
            year=2026,
            number=1,
            language="en",
        ),
        FormCounter(**of_group, year=2026, last=1),
        Contact(**of_group, name="John Doe"),
    ]


def file_of(member: Member) -> StoredFile:
    """A file that this person has uploaded."""
    return StoredFile(
        group_id=member.group_id,
        user_id=member.user_id,
        key=new_id().hex,
        name="photo.jpg",
        kind="image",
        media_type="image/jpeg",
        size=1,
        sha256="",
    )


def feedback_in(session: Session, thread_id: UUID, member: Member) -> MessageFeedback:
    """A thumb under the reply of this thread."""
    reply_id = session.scalars(
        select(Message.id).where(Message.thread_id == thread_id, Message.role == "assistant")
    ).one()
    return MessageFeedback(
        group_id=member.group_id,
        user_id=member.user_id,
        thread_id=thread_id,
        message_id=reply_id,
        rating="up",
    )


def belongs_to(table: Table, member: Member) -> Any:
    """The predicate that finds this person's rows, as the owner would ask."""
    if table.name == "groups":
        return table.c.id == member.group_id
    if table.name == "users":
        return table.c.id == member.user_id
    if "group_id" in table.c:
        return table.c.group_id == member.group_id
    if "user_id" in table.c:
        return table.c.user_id == member.user_id
    return text("true")


def count(database: Database, scope: Scope, table: Table, *where: Any) -> int:
    with database.transaction(scope) as session:
        return session.execute(counting(table).where(*where)).scalar_one()


def counting(table: Table) -> Select[int]:
    """How many rows there are of groups; what belongs to none of them is shared by all."""
    rows = select(func.count()).select_from(table)
    return rows.where(table.c.group_id.is_not(None)) if "group_id" in table.c else rows


@pytest.mark.fault(24)
@pytest.mark.parametrize("table", EVERY_TABLE)
def test_without_the_predicate_no_row_of_another_group_is_seen(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    theirs_only = belongs_to(table, theirs)
    if table.name not in ("outgoing_mail",):
        assert count(owner, Scope(), table, theirs_only) > 0, "the test has no row to hide"
    if table.name in NOBODYS:
        with pytest.raises(ProgrammingError, match="permission denied"):
            count(database, ours.scope, table)
    else:
        assert count(database, ours.scope, table, theirs_only) == 0
        mine = count(database, ours.scope, table, belongs_to(table, ours))
        assert mine == count(database, ours.scope, table) > 0


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
@pytest.mark.parametrize("name", PERSONAL)
def test_a_colleagues_personal_rows_are_not_seen(
    database: Database, owner: Database, theirs: Member, name: str
) -> None:
    table = Base.metadata.tables[name]
    boss = make_user(owner, theirs.group_id, "admin")
    assert count(owner, Scope(), table, table.c.user_id == theirs.user_id) > 0
    assert count(database, boss.scope, table, table.c.user_id == theirs.user_id) == 0


@pytest.mark.fault(24)
@pytest.mark.parametrize("table", EVERY_TABLE)
def test_without_the_predicate_no_row_of_another_group_is_changed_or_removed(
    database: Database, owner: Database, ours: Member, theirs: Member, table: Table
) -> None:
    theirs_only = belongs_to(table, theirs)
    before = count(owner, Scope(), table, theirs_only)
    key = next(iter(table.primary_key.columns))
    for statement in (update(table).values({key.name: key}), delete(table)):
        try:
            with database.transaction(ours.scope) as session:
                assert session.execute(statement.where(theirs_only)).rowcount == 0  # type: ignore[attr-defined]
        except ProgrammingError as refused:
            assert "permission denied" in str(refused)  # noqa: PT017
    assert count(owner, Scope(), table, theirs_only) == before


@pytest.mark.parametrize(
    "row",
    [
        lambda them: Thread(group_id=them.group_id, user_id=them.user_id),
        lambda them: ManualSection(group_id=them.group_id, slug="planted", title_en="x"),
        lambda them: Product(
            group_id=them.group_id, kind="dishes", slug="planted", name_en="x", name_es="x"
        ),
        lambda them: Prompt(
            group_id=them.group_id, slug="planted", category="system", prompt_en="", prompt_es=""
        ),
        lambda them: AuditEntry(group_id=them.group_id, user_id=them.user_id, action="planted"),
        file_of,
        lambda them: RequestTeam(group_id=them.group_id, slug="planted"),
        lambda them: RequestType(group_id=them.group_id, slug="planted"),
    ],
    ids=["thread", "section", "product", "prompt", "audit entry", "file", "team", "type"],
)
def test_nothing_can_be_planted_in_another_group(
    database: Database, ours: Member, theirs: Member, row: Any
) -> None:
    with (
        pytest.raises(DBAPIError, match="row-level security"),
        database.transaction(ours.scope) as session,
    ):
        session.add(row(theirs))


def test_a_row_cannot_be_moved_to_another_group(
    database: Database, ours: Member, theirs: Member
) -> None:
    with (
        pytest.raises(DBAPIError, match="row-level security"),
        database.transaction(ours.scope) as session,
    ):
        session.execute(update(Thread).values(group_id=theirs.group_id))


@pytest.mark.parametrize("role", ["staff", "manager"])
@pytest.mark.parametrize(
    "model",
    [Prompt, ManualSection, RequestType, RequestSettings],
    ids=["prompts", "manual", "types of requests", "settings of requests"],
)
def test_a_role_may_write_only_what_it_is_trusted_with(
    database: Database, owner: Database, theirs: Member, role: str, model: Any
) -> None:
    member = make_user(owner, theirs.group_id, role)
    allowed = model is ManualSection and role == "manager"
    with database.transaction(member.scope) as session:
        changed = session.execute(update(model).values(updated_at=utc_now())).rowcount  # type: ignore[attr-defined]
    assert (changed > 0) is allowed


def test_every_table_of_the_database_is_under_row_level_security(owner: Database) -> None:
    """A table that somebody adds without it fails here, whether or not it has a model."""
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
    assert set(ours) == set(TABLES)
    assert [name for name, row in ours.items() if not row.relrowsecurity] == []
    assert [name for name, row in ours.items() if not row.policies] == []


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
