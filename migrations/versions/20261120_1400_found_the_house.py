"""People and groups, threads and turns, prompts, the manual and the products.

Every table is under row-level security from its first day. The functions at the end
are the few doors through it: signing in, invitations, resets and claiming turns have no
group yet, or serve all of them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

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

revision = "20261120_1400"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_tables()
    protect_tables()
    open_doors()


def create_tables() -> None:
    op.create_table(
        "groups",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("slug", name=op.f("uq_groups_slug")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "ai_prompts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=True),
        sa.Column("prompt_en", sa.Text(), nullable=False),
        sa.Column("prompt_es", sa.Text(), nullable=False),
        sa.Column("sort_order", sa.Integer(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("edited_by", sa.Uuid(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["edited_by"], ["users.id"], name=op.f("fk_ai_prompts_edited_by"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_ai_prompts_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ai_prompts")),
        sa.UniqueConstraint("group_id", "slug", name=op.f("uq_ai_prompts_group_id_slug")),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_audit_log_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_audit_log_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_at"), "audit_log", ["at"], unique=False)
    op.create_table(
        "credentials",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_credentials_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_credentials")),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("invited_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_invitations_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["invited_by"],
            ["users.id"],
            name=op.f("fk_invitations_invited_by"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("group_id", "email", name=op.f("uq_invitations_group_id_email")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
    op.create_table(
        "manual_sections",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("title_en", sa.Text(), nullable=False),
        sa.Column("title_es", sa.Text(), nullable=False),
        sa.Column("body_en", sa.Text(), nullable=False),
        sa.Column("body_es", sa.Text(), nullable=False),
        sa.Column("is_published", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_manual_sections_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"],
            ["manual_sections.id"],
            name=op.f("fk_manual_sections_parent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_manual_sections")),
        sa.UniqueConstraint("group_id", "slug", name=op.f("uq_manual_sections_group_id_slug")),
    )
    op.create_index(
        op.f("ix_manual_sections_parent_id"), "manual_sections", ["parent_id"], unique=False
    )
    op.create_table(
        "memberships",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_memberships_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_memberships_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "group_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_group_id"), "memberships", ["group_id"], unique=False)
    op.create_table(
        "password_resets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_password_resets_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_password_resets")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_password_resets_token_hash")),
    )
    op.create_index(
        op.f("ix_password_resets_user_id"), "password_resets", ["user_id"], unique=False
    )
    op.create_table(
        "products",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name_en", sa.Text(), nullable=False),
        sa.Column("name_es", sa.Text(), nullable=False),
        sa.Column("description_en", sa.Text(), nullable=False),
        sa.Column("description_es", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("price", sa.Numeric(precision=10, scale=2), nullable=True),
        sa.Column("allergens", postgresql.ARRAY(sa.TEXT()), nullable=True),
        sa.Column("ingredients", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("steps", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("tags", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("pairing_notes_en", sa.Text(), nullable=False),
        sa.Column("pairing_notes_es", sa.Text(), nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_products_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_products")),
        sa.UniqueConstraint(
            "group_id", "kind", "slug", name=op.f("uq_products_group_id_kind_slug")
        ),
    )
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_sign_ins_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_sign_ins_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sign_ins_token_hash")),
    )
    op.create_index(op.f("ix_sign_ins_user_id"), "sign_ins", ["user_id"], unique=False)
    op.create_table(
        "threads",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("context_type", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_message_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_threads_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_threads_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_threads")),
    )
    op.create_index(
        "ix_threads_owner_recent",
        "threads",
        ["group_id", "user_id", "last_message_at"],
        unique=False,
    )
    op.create_table(
        "user_profiles",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("theme", sa.Text(), nullable=False),
        sa.Column("units", sa.Text(), nullable=False),
        sa.Column("allergens", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("diets", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("cuisines", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_profiles_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_user_profiles")),
    )
    op.create_table(
        "ai_prompt_revisions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("prompt_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("prompt_en", sa.Text(), nullable=False),
        sa.Column("prompt_es", sa.Text(), nullable=False),
        sa.Column("sort_order", sa.Integer(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("author_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"],
            ["users.id"],
            name=op.f("fk_ai_prompt_revisions_author_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["groups.id"],
            name=op.f("fk_ai_prompt_revisions_group_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["prompt_id"],
            ["ai_prompts.id"],
            name=op.f("fk_ai_prompt_revisions_prompt_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ai_prompt_revisions")),
        sa.UniqueConstraint(
            "prompt_id", "version", name=op.f("uq_ai_prompt_revisions_prompt_id_version")
        ),
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("turn_id", sa.Uuid(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("internal_content", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("message_key", sa.Text(), nullable=True),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("parts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("citations", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("suggestions", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("actions", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("tool_trace", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("first_token_ms", sa.Integer(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.Column("event_cursor", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_messages_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_messages_thread_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_messages_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sa.UniqueConstraint(
            "thread_id", "message_key", name=op.f("uq_messages_thread_id_message_key")
        ),
    )
    op.create_index("ix_messages_thread_recent", "messages", ["thread_id", "id"], unique=False)
    op.create_index(op.f("ix_messages_turn_id"), "messages", ["turn_id"], unique=False)
    op.create_table(
        "turns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("user_message_id", sa.Uuid(), nullable=False),
        sa.Column("reply_message_id", sa.Uuid(), nullable=False),
        sa.Column("request", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("runner_id", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stop_requested", sa.Boolean(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_turns_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["reply_message_id"],
            ["messages.id"],
            name=op.f("fk_turns_reply_message_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_turns_thread_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_turns_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_message_id"],
            ["messages.id"],
            name=op.f("fk_turns_user_message_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
    )
    for column in ("thread_id", "user_message_id", "reply_message_id"):
        op.create_index(op.f(f"ix_turns_{column}"), "turns", [column], unique=False)
    op.create_index(
        "ix_turns_waiting",
        "turns",
        ["created_at"],
        unique=False,
        postgresql_where=sa.text("finished_at IS NULL"),
    )
    op.create_index(
        "uq_turns_running_thread",
        "turns",
        ["thread_id"],
        unique=True,
        postgresql_where=sa.text("status = 'running'"),
    )


ADMIN = f"{GROUP_OWNED} AND {ROLE} = 'admin'"
EDITOR = f"{GROUP_OWNED} AND {ROLE} IN ('manager', 'admin')"
MY_GROUPS = f"SELECT m.group_id FROM memberships m WHERE m.user_id = {USER}"
COLLEAGUES = f"SELECT m.user_id FROM memberships m WHERE m.group_id = {GROUP}"


def protect_tables() -> None:
    protect(
        "groups",
        f"id = {GROUP} OR id IN ({MY_GROUPS})",
        write=f"id = {GROUP} AND {ROLE} = 'admin'",
        grant="SELECT, UPDATE",
    )
    protect(
        "users",
        f"id = {USER} OR id IN ({COLLEAGUES})",
        write=f"id = {USER}",
        grant="SELECT, UPDATE",
    )
    # No rights at all: only the doors below read or write a password's hash or a reset.
    protect("credentials", "false", grant=None)
    protect("password_resets", "false", grant=None)
    protect("memberships", f"{USER_OWNED} OR {GROUP_OWNED}", write=ADMIN)
    protect("user_profiles", USER_OWNED)
    protect("sign_ins", USER_OWNED)
    protect("invitations", ADMIN)
    # Append-only: the app's role may neither change nor remove what it wrote.
    protect(
        "audit_log",
        f"{USER_OWNED} OR ({ADMIN})",
        write=f"{USER_OWNED} AND (group_id IS NULL OR {GROUP_OWNED})",
        grant="SELECT, INSERT",
    )
    for table in ("threads", "messages", "turns"):
        protect(table, PERSONAL)
    for table in ("ai_prompts", "ai_prompt_revisions"):
        protect(table, GROUP_OWNED, write=ADMIN)
    for table in ("manual_sections", "products"):
        protect(table, GROUP_OWNED, write=EDITOR)


def open_doors() -> None:
    open_sign_in_doors()
    open_invitation_doors()
    open_reset_doors()
    open_turn_doors()


def open_sign_in_doors() -> None:
    definer(
        "find_credentials(p_email text)",
        "TABLE (user_id uuid, password_hash text, group_id uuid)",
        """
        SELECT u.id, c.password_hash,
               (SELECT m.group_id FROM memberships m WHERE m.user_id = u.id
                 ORDER BY m.created_at, m.group_id LIMIT 1)
          FROM users u JOIN credentials c ON c.user_id = u.id
         WHERE u.email = lower(p_email) AND u.is_active
        """,
    )
    # The one question each request begins with: whose is this token, and where are they?
    definer(
        "find_sign_in(p_token_hash text)",
        "TABLE (sign_in_id uuid, kind text, last_seen_at timestamptz, user_id uuid, email text,"
        " name text, language text, theme text, group_id uuid, group_name text,"
        " timezone text, role text, group_count bigint)",
        """
        SELECT s.id, s.kind, s.last_seen_at, u.id, u.email, u.name,
               coalesce(p.language, g.language), coalesce(p.theme, 'system'),
               g.id, g.name, g.timezone, m.role,
               (SELECT count(*) FROM memberships o WHERE o.user_id = u.id)
          FROM sign_ins s
          JOIN users u ON u.id = s.user_id AND u.is_active
          JOIN memberships m ON m.user_id = s.user_id AND m.group_id = s.group_id
          JOIN groups g ON g.id = s.group_id
          LEFT JOIN user_profiles p ON p.user_id = u.id
         WHERE s.token_hash = p_token_hash AND s.expires_at > clock_timestamp()
        """,
    )
    definer(
        "set_password(p_password_hash text)",
        "void",
        f"""
        UPDATE credentials SET password_hash = p_password_hash, changed_at = clock_timestamp()
         WHERE user_id = {USER}
        """,
    )
    definer(
        "forget_expired_sign_ins()",
        "void",
        """
        DELETE FROM sign_ins WHERE expires_at < clock_timestamp();
        DELETE FROM password_resets WHERE expires_at < clock_timestamp() - interval '7 days';
        """,
    )


def open_invitation_doors() -> None:
    definer(
        "find_invitation(p_token_hash text)",
        "TABLE (id uuid, group_id uuid, group_name text, language text, email text, role text,"
        " has_account boolean)",
        """
        SELECT i.id, i.group_id, g.name, g.language, i.email, i.role,
               EXISTS (SELECT 1 FROM users u WHERE u.email = i.email)
          FROM invitations i JOIN groups g ON g.id = i.group_id
         WHERE i.token_hash = p_token_hash AND i.accepted_at IS NULL
           AND i.expires_at > clock_timestamp()
        """,
    )
    # A new person brings a name and a password; somebody known joins as who they are,
    # and only while signed in as the invited address.
    definer(
        "accept_invitation(p_token_hash text, p_user_id uuid, p_name text, p_password_hash text)",
        "uuid",
        f"""
        DECLARE
          invited invitations;
          person uuid;
        BEGIN
          SELECT * INTO invited FROM invitations i
           WHERE i.token_hash = p_token_hash AND i.accepted_at IS NULL
             AND i.expires_at > clock_timestamp() FOR UPDATE;
          IF NOT FOUND THEN RETURN NULL; END IF;
          SELECT u.id INTO person FROM users u WHERE u.email = invited.email;
          IF person IS NULL THEN
            INSERT INTO users (id, email, name, is_active, created_at)
            VALUES (p_user_id, invited.email, p_name, true, clock_timestamp());
            INSERT INTO credentials (user_id, password_hash, changed_at)
            VALUES (p_user_id, p_password_hash, clock_timestamp());
            person := p_user_id;
          ELSIF person IS DISTINCT FROM {USER} THEN
            RETURN NULL;
          END IF;
          INSERT INTO memberships (user_id, group_id, role, created_at)
          VALUES (person, invited.group_id, invited.role, clock_timestamp())
          -- An old link takes from nobody what they were given since.
          ON CONFLICT (user_id, group_id) DO NOTHING;
          UPDATE invitations SET accepted_at = clock_timestamp() WHERE id = invited.id;
          RETURN person;
        END
        """,
        language="plpgsql",
    )


def open_reset_doors() -> None:
    definer(
        "start_password_reset(p_id uuid, p_email text, p_token_hash text, p_expires timestamptz)",
        "TABLE (name text, language text)",
        """
        WITH person AS (
          SELECT u.id, u.name, coalesce(p.language, 'en') AS language
            FROM users u LEFT JOIN user_profiles p ON p.user_id = u.id
           WHERE u.email = lower(p_email) AND u.is_active
        ), reset AS (
          INSERT INTO password_resets (id, user_id, token_hash, created_at, expires_at)
          SELECT p_id, person.id, p_token_hash, clock_timestamp(), p_expires FROM person
        )
        SELECT person.name, person.language FROM person
        """,
    )
    definer(
        "finish_password_reset(p_token_hash text, p_password_hash text)",
        "uuid",
        """
        DECLARE
          person uuid;
        BEGIN
          UPDATE password_resets SET used_at = clock_timestamp()
           WHERE token_hash = p_token_hash AND used_at IS NULL
             AND expires_at > clock_timestamp() RETURNING user_id INTO person;
          IF person IS NULL THEN RETURN NULL; END IF;
          UPDATE credentials SET password_hash = p_password_hash, changed_at = clock_timestamp()
           WHERE user_id = person;
          -- Whoever had the old password is signed out everywhere.
          DELETE FROM sign_ins WHERE user_id = person;
          RETURN person;
        END
        """,
        language="plpgsql",
    )
    definer(
        "password_reset_is_open(p_token_hash text)",
        "boolean",
        """
        SELECT EXISTS (SELECT 1 FROM password_resets WHERE token_hash = p_token_hash
                       AND used_at IS NULL AND expires_at > clock_timestamp())
        """,
    )


def open_turn_doors() -> None:
    # Queued turns, and running ones whose lease ran out, oldest first, one a thread.
    definer(
        "claim_turns(p_runner text, p_lease_seconds double precision, p_most integer)",
        "TABLE (turn_id uuid, fence integer, attempts integer, group_id uuid, user_id uuid,"
        " role text)",
        """
        WITH due AS (
          SELECT t.id FROM turns t
           WHERE t.finished_at IS NULL
             AND (t.status = 'queued'
                  OR (t.status = 'running' AND t.lease_until < clock_timestamp()))
             AND NOT EXISTS (
               SELECT 1 FROM turns o
                WHERE o.thread_id = t.thread_id AND o.finished_at IS NULL AND o.id <> t.id
                  AND (o.status = 'running' OR o.id < t.id))
           ORDER BY t.created_at LIMIT p_most
           FOR UPDATE SKIP LOCKED
        ), claimed AS (
          UPDATE turns t
             SET status = 'running', fence = t.fence + 1, attempts = t.attempts + 1,
                 runner_id = p_runner, started_at = coalesce(t.started_at, clock_timestamp()),
                 lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
            FROM due WHERE t.id = due.id
          RETURNING t.id, t.fence, t.attempts, t.group_id, t.user_id
        )
        SELECT c.id, c.fence, c.attempts, c.group_id, c.user_id, coalesce(m.role, '')
          FROM claimed c
          LEFT JOIN memberships m ON m.user_id = c.user_id AND m.group_id = c.group_id
        """,
    )
    # Returns the turns that are still the runner's own; the others it must drop.
    definer(
        "renew_turns(p_runner text, p_turns uuid[], p_lease_seconds double precision)",
        "TABLE (turn_id uuid, fence integer, stop_requested boolean)",
        """
        UPDATE turns t
           SET lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds)
         WHERE t.id = ANY (p_turns) AND t.runner_id = p_runner AND t.status = 'running'
        RETURNING t.id, t.fence, t.stop_requested
        """,
    )


DOORS = (
    "find_credentials",
    "find_sign_in",
    "set_password",
    "forget_expired_sign_ins",
    "find_invitation",
    "accept_invitation",
    "start_password_reset",
    "finish_password_reset",
    "password_reset_is_open",
    "claim_turns",
    "renew_turns",
)


def downgrade() -> None:
    for door in DOORS:
        op.execute(f"DROP FUNCTION {door}")
    # These two rules look at memberships, which goes before them.
    op.execute("DROP POLICY reading ON groups")
    op.execute("DROP POLICY reading ON users")
    op.drop_index(
        "uq_turns_running_thread",
        table_name="turns",
        postgresql_where=sa.text("status = 'running'"),
    )
    op.drop_index(
        "ix_turns_waiting", table_name="turns", postgresql_where=sa.text("finished_at IS NULL")
    )
    for column in ("reply_message_id", "user_message_id", "thread_id"):
        op.drop_index(op.f(f"ix_turns_{column}"), table_name="turns")
    op.drop_table("turns")
    op.drop_index(op.f("ix_messages_turn_id"), table_name="messages")
    op.drop_index("ix_messages_thread_recent", table_name="messages")
    op.drop_table("messages")
    op.drop_table("ai_prompt_revisions")
    op.drop_table("user_profiles")
    op.drop_index("ix_threads_owner_recent", table_name="threads")
    op.drop_table("threads")
    op.drop_index(op.f("ix_sign_ins_user_id"), table_name="sign_ins")
    op.drop_table("sign_ins")
    op.drop_table("products")
    op.drop_index(op.f("ix_password_resets_user_id"), table_name="password_resets")
    op.drop_table("password_resets")
    op.drop_index(op.f("ix_memberships_group_id"), table_name="memberships")
    op.drop_table("memberships")
    op.drop_index(op.f("ix_manual_sections_parent_id"), table_name="manual_sections")
    op.drop_table("manual_sections")
    op.drop_table("invitations")
    op.drop_table("credentials")
    op.drop_index(op.f("ix_audit_log_at"), table_name="audit_log")
    op.drop_table("audit_log")
    op.drop_table("ai_prompts")
    op.drop_table("users")
    op.drop_table("groups")
