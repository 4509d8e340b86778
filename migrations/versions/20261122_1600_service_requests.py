"""Service requests: types, teams, requests and their updates; notifications; steps of threads.

Revision: 20261122_1600
Follows: 20261122_1500
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from migrations.security import (
    GROUP,
    GROUP_OWNED,
    PERSONAL,
    ROLE,
    USER,
    USER_OWNED,
    definer,
    protect,
)

revision = "20261122_1600"
down_revision = "20261122_1500"
branch_labels = None
depends_on = None

EDITORS = f"{ROLE} IN ('manager', 'admin')"
ADMIN = f"{GROUP_OWNED} AND {ROLE} = 'admin'"
OF_MY_TEAM = f"team_id IN (SELECT m.team_id FROM service_team_members m WHERE m.user_id = {USER})"
# Whoever asked, the team that looks after it, and the house's editors.
SEES_REQUEST = f"{GROUP_OWNED} AND ({USER_OWNED} OR {EDITORS} OR {OF_MY_TEAM})"
# What is seen of the requests there is what their own policy lets through.
OF_A_SEEN_REQUEST = (
    f"{GROUP_OWNED} AND EXISTS (SELECT FROM service_requests r WHERE r.id = request_id"
    f" AND (NOT is_internal OR {EDITORS} OR r.{OF_MY_TEAM}))"
)
FILE_OF_A_SEEN_REQUEST = (
    f"{GROUP_OWNED} AND owner_kind = 'service_request'"
    " AND EXISTS (SELECT FROM service_requests r WHERE r.id = files.owner_id)"
)
FILES_BEFORE = (
    f"({GROUP_OWNED} AND ({USER_OWNED} OR {EDITORS})) OR ({GROUP_OWNED} AND owner_kind = 'expense'"
    " AND EXISTS (SELECT FROM expenses e WHERE e.file_id = files.id))"
)

# Who of a team has least to do; of several, whoever was given something longest ago.
LEAST_BUSY = f"""
    SELECT m.user_id
      FROM service_team_members m
      JOIN memberships s ON s.user_id = m.user_id AND s.group_id = m.group_id
      JOIN users u ON u.id = m.user_id AND u.is_active
      LEFT JOIN service_requests r ON r.assignee_id = m.user_id AND r.group_id = m.group_id
     WHERE m.team_id = team AND m.group_id = {GROUP}
     GROUP BY m.user_id
     ORDER BY count(*) FILTER (WHERE r.status IN ('new', 'in_progress', 'waiting')),
              max(r.submitted_at) NULLS FIRST, m.user_id
     LIMIT 1
"""
# Whom of the house something can be told, and in which language; profiles are their people's own.
LANGUAGE = f"""
    SELECT coalesce(p.language, 'en')
      FROM memberships m
      JOIN users u ON u.id = m.user_id AND u.is_active
      LEFT JOIN user_profiles p ON p.user_id = m.user_id
     WHERE m.user_id = person AND m.group_id = {GROUP}
"""
# Only who may work on the request puts words into the conversation that it came from.
REPLY = f"""
    DECLARE conversation record;
    BEGIN
      SELECT t.* INTO conversation
        FROM service_requests r JOIN threads t ON t.id = r.thread_id
       WHERE r.id = request AND r.group_id = {GROUP} AND t.group_id = {GROUP}
         AND t.user_id = r.user_id AND t.deleted_at IS NULL
         AND ({EDITORS} OR r.{OF_MY_TEAM})
         FOR UPDATE OF t;
      IF NOT FOUND THEN
        RETURN NULL;
      END IF;
      INSERT INTO messages (id, group_id, user_id, thread_id, parent_id, role, status, content,
                            internal_content, language, mode, parts, citations, suggestions,
                            actions, tool_trace, degraded, provider, model, tokens_in, tokens_out,
                            event_cursor, created_at)
      VALUES (message, conversation.group_id, conversation.user_id, conversation.id,
              conversation.head_id, 'agent', 'complete', words, internal, spoken, 'action',
              '[]', '[]', '[]', '[]', '[]', false, '', '', 0, 0, '', clock_timestamp());
      UPDATE threads SET head_id = message, last_message_at = clock_timestamp()
       WHERE id = conversation.id;
      RETURN conversation.id;
    END
"""

# All that the numbers of requests are made of, and the policy looks at.
MEASURED = (
    "type_id", "status", "due_at", "responded_at", "resolved_at", "closed_at", "user_id", "team_id",
    "is_ai_resolution_attempted", "is_ai_resolution_successful",
)  # fmt: skip
OF_GROUP, OF_USER, BY_USER = ("groups", "CASCADE"), ("users", "CASCADE"), ("users", "SET NULL")
OF_TYPE, OF_TEAM = ("service_request_types", "CASCADE"), ("service_teams", "SET NULL")


def ids(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Uuid(), nullable=nullable) for name in names]


def texts(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def counts(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=nullable) for name in names]


def flags(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Boolean(), nullable=False) for name in names]


def documents(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, JSONB(), nullable=False) for name in names]


def moments(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.DateTime(timezone=True), nullable=nullable) for name in names]


def keys(table: str, *primary: str, **references: tuple[str, str]) -> list[sa.Constraint]:
    """The primary key (`id` where none is named), and what each of these columns refers to."""
    return [
        *(
            sa.ForeignKeyConstraint(
                [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete=gone
            )
            for column, (target, gone) in references.items()
        ),
        sa.PrimaryKeyConstraint(*(primary or ("id",)), name=op.f(f"pk_{table}")),
    ]


def unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=op.f(f"uq_{table}_{'_'.join(columns)}"))


def check(table: str, name: str, rule: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}"))


def known_priority(table: str) -> sa.CheckConstraint:
    return check(table, "priority", "priority IN ('low', 'normal', 'high', 'urgent')")


def upgrade() -> None:
    create_teams()
    create_types()
    create_requests()
    create_settings()
    create_notifications()
    protect("service_teams", GROUP_OWNED, write=ADMIN)
    protect("service_team_members", GROUP_OWNED, write=ADMIN)
    protect("service_request_types", GROUP_OWNED, write=ADMIN)
    protect("service_request_type_versions", GROUP_OWNED, write=ADMIN, grant="SELECT, INSERT")
    protect("service_requests", SEES_REQUEST, grant="SELECT, INSERT, UPDATE")
    protect("service_request_updates", OF_A_SEEN_REQUEST, grant="SELECT, INSERT")
    protect("service_request_counters", GROUP_OWNED, grant="SELECT, INSERT, UPDATE")
    protect("service_request_settings", GROUP_OWNED, write=ADMIN, grant="SELECT, INSERT, UPDATE")
    protect("notifications", PERSONAL)
    # Anybody may tell somebody of the house something; what is told is that person's.
    op.execute(f"ALTER POLICY adding ON notifications WITH CHECK ({GROUP_OWNED})")
    op.execute(
        f"ALTER POLICY reading ON files USING ({FILES_BEFORE} OR ({FILE_OF_A_SEEN_REQUEST}))"
    )
    definer("least_busy_member(team uuid)", "uuid", LEAST_BUSY)
    definer("language_of_colleague(person uuid)", "text", LANGUAGE)
    definer(
        "reply_in_thread(request uuid, message uuid, words text, spoken text, internal jsonb)",
        "uuid",
        REPLY,
        language="plpgsql",
    )
    # What a conversation has collected is read from the few messages that are steps of it.
    op.create_index(
        "ix_messages_steps",
        "messages",
        ["user_id", "thread_id"],
        postgresql_where=sa.text("internal_content IS NOT NULL"),
    )


def create_teams() -> None:
    op.create_table(
        "service_teams",
        *ids("id", "group_id"),
        *texts("slug", "name_en", "name_es"),
        *moments("created_at"),
        *keys("service_teams", group_id=OF_GROUP),
        unique("service_teams", "group_id", "slug"),
    )
    op.create_table(
        "service_team_members",
        *ids("team_id", "user_id", "group_id"),
        *keys(
            "service_team_members",
            "team_id",
            "user_id",
            group_id=OF_GROUP,
            team_id=("service_teams", "CASCADE"),
            user_id=OF_USER,
        ),
    )


def create_types() -> None:
    op.create_table(
        "service_request_types",
        *ids("id", "group_id"),
        *ids("parent_id", nullable=True),
        *texts("slug", "name_en", "name_es", "description_en", "description_es", "icon"),
        *flags("is_submittable", "is_active"),
        *ids("team_id", nullable=True),
        *texts("priority"),
        *counts("sla_hours"),
        *documents("words", "fields", "questions"),
        *counts("sort_order", "version"),
        *ids("edited_by", nullable=True),
        *moments("created_at", "updated_at"),
        known_priority("service_request_types"),
        check("service_request_types", "sla_hours", "sla_hours BETWEEN 1 AND 8760"),
        *keys(
            "service_request_types",
            edited_by=BY_USER,
            group_id=OF_GROUP,
            parent_id=("service_request_types", "RESTRICT"),
            team_id=OF_TEAM,
        ),
        unique("service_request_types", "group_id", "slug"),
    )
    op.create_index(
        "ix_service_request_types_tree",
        "service_request_types",
        ["group_id", "parent_id", "sort_order"],
    )
    op.create_table(
        "service_request_type_versions",
        *ids("id", "group_id", "type_id"),
        *counts("version"),
        *documents("content"),
        *ids("author_id", nullable=True),
        *moments("created_at"),
        *keys(
            "service_request_type_versions", author_id=BY_USER, group_id=OF_GROUP, type_id=OF_TYPE
        ),
        unique("service_request_type_versions", "type_id", "version"),
    )


def create_requests() -> None:
    table = "service_requests"
    op.create_table(
        table,
        *ids("id", "group_id"),
        *ids("user_id", nullable=True),
        *texts("requester"),
        *ids("thread_id", nullable=True),
        *ids("begun_at"),
        *ids("type_id", nullable=True),
        *counts("type_version"),
        *documents("form", "values", "origins"),
        *texts("title", "priority", "status", "language"),
        sa.Column(
            "folded", sa.Text(), sa.Computed("fold_text(title || ' ' || requester)", persisted=True)
        ),
        *ids("team_id", "assignee_id", nullable=True),
        *counts("year", "number"),
        *flags("is_ai_resolution_attempted", "is_ai_resolution_successful"),
        *counts("ai_resolution_confidence_score", nullable=True),
        *moments("due_at", "submitted_at"),
        *moments("responded_at", "resolved_at", "closed_at", nullable=True),
        *moments("updated_at"),
        *counts("version"),
        known_priority(table),
        check(table, "status", "status IN ('new', 'in_progress', 'waiting', 'resolved', 'closed')"),
        check(table, "confidence", "ai_resolution_confidence_score BETWEEN 0 AND 100"),
        *keys(
            table,
            assignee_id=BY_USER,
            group_id=OF_GROUP,
            team_id=OF_TEAM,
            thread_id=("threads", "SET NULL"),
            type_id=("service_request_types", "SET NULL"),
            user_id=BY_USER,
        ),
        unique(table, "group_id", "year", "number"),
        unique(table, "thread_id", "begun_at"),
    )
    for name, columns in (
        ("queue", ("status", "due_at")),
        ("own", ("user_id", "submitted_at")),
        ("assigned", ("assignee_id", "status")),
        ("due", ("due_at", "id")),
    ):
        op.create_index(f"ix_service_requests_{name}", table, ["group_id", *columns])
    op.create_index(
        "ix_service_requests_open",
        table,
        ["group_id", "due_at", "id"],
        postgresql_where=sa.text("status IN ('new', 'in_progress', 'waiting')"),
    )
    op.create_index(
        "ix_service_requests_submitted",
        table,
        ["group_id", "submitted_at"],
        postgresql_include=[*MEASURED],
    )
    op.create_table(
        "service_request_counters",
        *ids("group_id"),
        *counts("year"),
        sa.Column("last", sa.Integer(), server_default=sa.text("0"), nullable=False),
        *keys("service_request_counters", "group_id", "year", group_id=OF_GROUP),
    )
    create_updates("service_request_updates")


def create_updates(table: str) -> None:
    op.create_table(
        table,
        *ids("id", "group_id", "request_id"),
        *ids("author_id", nullable=True),
        *texts("author", "kind"),
        *flags("is_internal"),
        *texts("question", "body", "before", "after"),
        *texts("message_key", nullable=True),
        *moments("created_at"),
        check(
            table,
            "kind",
            "kind IN ('answer', 'resolution', 'reply', 'note', 'status', 'assignment', 'priority')",
        ),
        *keys(
            table,
            author_id=BY_USER,
            group_id=OF_GROUP,
            request_id=("service_requests", "CASCADE"),
        ),
        unique(table, "message_key"),
    )
    op.create_index("ix_service_request_updates_request", table, ["request_id", "id"])


def create_settings() -> None:
    table = "service_request_settings"
    op.create_table(
        table,
        *ids("group_id"),
        *flags("is_resolution_on"),
        *counts("resolution_threshold", "version"),
        *ids("edited_by", nullable=True),
        *moments("updated_at"),
        check(table, "resolution_threshold", "resolution_threshold BETWEEN 0 AND 100"),
        *keys(table, "group_id", edited_by=BY_USER, group_id=OF_GROUP),
    )


def create_notifications() -> None:
    op.create_table(
        "notifications",
        *ids("id", "group_id", "user_id"),
        *texts("text_en", "text_es", "url"),
        *moments("created_at"),
        *moments("read_at", nullable=True),
        *keys("notifications", group_id=OF_GROUP, user_id=OF_USER),
    )
    op.create_index("ix_notifications_person", "notifications", ["group_id", "user_id", "id"])
    op.create_index(
        "ix_notifications_unread",
        "notifications",
        ["group_id", "user_id"],
        postgresql_where=sa.text("read_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_messages_steps", table_name="messages")
    op.execute("DROP FUNCTION reply_in_thread(uuid, uuid, text, text, jsonb)")
    op.execute("DROP FUNCTION language_of_colleague(uuid)")
    op.execute("DROP FUNCTION least_busy_member(uuid)")
    op.execute(f"ALTER POLICY reading ON files USING ({FILES_BEFORE})")
    for table in (
        "notifications", "service_request_settings", "service_request_updates",
        "service_request_counters", "service_requests", "service_request_type_versions",
        "service_request_types", "service_team_members", "service_teams",
    ):  # fmt: skip
        op.drop_table(table)
