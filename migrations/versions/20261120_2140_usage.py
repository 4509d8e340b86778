"""Limits of messages, the facts of each turn, and their sums by day.

Revision: 20261120_2140
Follows: 20261120_2130
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.security import GROUP_OWNED, PERSONAL, ROLE, definer, protect

revision = "20261120_2140"
down_revision = "20261120_2130"
branch_labels = None
depends_on = None

ADMIN = f"{GROUP_OWNED} AND {ROLE} = 'admin'"
LIMITS = ("daily_message_limit", "monthly_message_limit")


def upgrade() -> None:
    for limit in LIMITS:
        op.add_column("groups", sa.Column(limit, sa.Integer(), nullable=True))
        op.create_check_constraint(op.f(f"ck_groups_{limit}"), "groups", f"{limit} >= 0")
    _create_counters()
    _create_facts()
    _create_sums()
    protect("daily_messages", PERSONAL, grant="SELECT, INSERT, UPDATE")
    protect("monthly_messages", GROUP_OWNED, grant="SELECT, INSERT, UPDATE")
    # What happened stays as it was noted: nobody changes a fact, and the sums follow by
    # themselves.
    protect("turn_facts", f"({PERSONAL}) OR ({ADMIN})", write=PERSONAL, grant="SELECT, INSERT")
    protect("usage_days", f"({PERSONAL}) OR ({ADMIN})", write="false", grant="SELECT")
    protect("usage_latencies", ADMIN, write="false", grant="SELECT")
    _keep_the_sums()
    _note_the_turns_so_far()


def downgrade() -> None:
    op.execute("DROP TRIGGER note_finished_turn ON turn_facts")
    for function in ("note_finished_turn", "forget_old_usage"):
        op.execute(f"DROP FUNCTION {function}")
    tables = ("usage_latencies", "usage_days", "turn_facts", "monthly_messages", "daily_messages")
    for table in tables:
        op.drop_table(table)
    for limit in LIMITS:
        op.drop_column("groups", limit)


def _owner(table: str, *columns: str) -> list[sa.ForeignKeyConstraint]:
    """The keys that take a table's rows along with the group, and with the person."""
    known = {"group_id": "groups.id", "user_id": "users.id"}
    return [
        sa.ForeignKeyConstraint(
            [column], [known[column]], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"
        )
        for column in columns
    ]


def _create_counters() -> None:
    op.create_table(
        "daily_messages",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        *_owner("daily_messages", "group_id", "user_id"),
        sa.PrimaryKeyConstraint("group_id", "user_id", "day", name=op.f("pk_daily_messages")),
    )
    op.create_table(
        "monthly_messages",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        *_owner("monthly_messages", "group_id"),
        sa.PrimaryKeyConstraint("group_id", "month", name=op.f("pk_monthly_messages")),
    )


def _create_facts() -> None:
    op.create_table(
        "turn_facts",
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("model_calls", sa.Integer(), nullable=True),
        sa.Column("queued_ms", sa.Integer(), nullable=False),
        sa.Column("first_token_ms", sa.Integer(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.Column("search_ms", sa.Integer(), nullable=True),
        sa.Column("lexical_only", sa.Boolean(), nullable=True),
        sa.Column("tools", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        *_owner("turn_facts", "group_id", "user_id"),
        sa.PrimaryKeyConstraint("turn_id", name=op.f("pk_turn_facts")),
    )
    op.create_index("ix_turn_facts_recent", "turn_facts", ["group_id", "at"])
    op.create_index("ix_turn_facts_person", "turn_facts", ["group_id", "user_id", "at"])


def _create_sums() -> None:
    counts = ("turns", "failed", "degraded", "searches", "lexical_only")
    op.create_table(
        "usage_days",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        *_owner("usage_days", "group_id", "user_id"),
        sa.PrimaryKeyConstraint(
            "group_id", "day", "user_id", "provider", name=op.f("pk_usage_days")
        ),
    )
    op.create_table(
        "usage_latencies",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("turns", postgresql.ARRAY(sa.Integer()), nullable=False),
        *_owner("usage_latencies", "group_id"),
        sa.PrimaryKeyConstraint("group_id", "day", "kind", name=op.f("pk_usage_latencies")),
    )


def _keep_the_sums() -> None:
    # Bucket n of 0 to 119 counts what took about e^(n/10) ms: each is a tenth wider than the
    # one before, and the last begins at two minutes. Two turns that end at once take their
    # rows in one order, that of the kinds.
    definer(
        "note_finished_turn()",
        "trigger",
        """
        DECLARE
          on_day date := (
            SELECT (NEW.at AT TIME ZONE timezone)::date FROM groups WHERE id = NEW.group_id);
          took record;
        BEGIN
          INSERT INTO usage_days AS known (group_id, day, user_id, provider, turns, failed,
                 degraded, searches, lexical_only, tokens_in, tokens_out)
          VALUES (NEW.group_id, on_day, NEW.user_id, NEW.provider, 1,
                 (NEW.status IN ('failed', 'interrupted'))::int, NEW.degraded::int,
                 (NEW.search_ms IS NOT NULL)::int, coalesce(NEW.lexical_only, false)::int,
                 NEW.tokens_in, NEW.tokens_out)
          ON CONFLICT (group_id, day, user_id, provider) DO UPDATE SET
                 turns = known.turns + 1,
                 failed = known.failed + excluded.failed,
                 degraded = known.degraded + excluded.degraded,
                 searches = known.searches + excluded.searches,
                 lexical_only = known.lexical_only + excluded.lexical_only,
                 tokens_in = known.tokens_in + excluded.tokens_in,
                 tokens_out = known.tokens_out + excluded.tokens_out;
          FOR took IN
            SELECT kind, least(119, round(ln(greatest(ms, 0) + 1) * 10))::int + 1 AS place
              FROM (VALUES ('first_token', NEW.first_token_ms), ('latency', NEW.latency_ms),
                           ('search', NEW.search_ms)) AS known (kind, ms)
             WHERE ms IS NOT NULL ORDER BY kind
          LOOP
            INSERT INTO usage_latencies (group_id, day, kind, turns)
            VALUES (NEW.group_id, on_day, took.kind, array_fill(0, ARRAY[120]))
            ON CONFLICT (group_id, day, kind) DO NOTHING;
            UPDATE usage_latencies SET turns[took.place] = turns[took.place] + 1
             WHERE group_id = NEW.group_id AND day = on_day AND kind = took.kind;
          END LOOP;
          RETURN NULL;
        END
        """,
        language="plpgsql",
    )
    op.execute(
        "CREATE TRIGGER note_finished_turn AFTER INSERT ON turn_facts"
        " FOR EACH ROW EXECUTE FUNCTION note_finished_turn()"
    )
    definer(
        "forget_old_usage(p_days integer)",
        "void",
        """
        DELETE FROM turn_facts WHERE at < clock_timestamp() - make_interval(days => p_days);
        DELETE FROM usage_days WHERE day < current_date - p_days;
        DELETE FROM usage_latencies WHERE day < current_date - p_days;
        DELETE FROM daily_messages WHERE day < current_date - p_days;
        DELETE FROM monthly_messages WHERE month < current_date - p_days;
        """,
    )


def _note_the_turns_so_far() -> None:
    op.execute(
        """
        INSERT INTO turn_facts (turn_id, group_id, user_id, thread_id, at, language, status,
               error_code, provider, model, degraded, attempts, tokens_in, tokens_out,
               queued_ms, first_token_ms, latency_ms, tools)
        SELECT t.id, t.group_id, t.user_id, t.thread_id, t.created_at, m.language, m.status,
               t.error_code, m.provider, m.model, m.degraded, t.attempts, m.tokens_in,
               m.tokens_out,
               greatest(0, round(extract(epoch FROM
                 coalesce(t.started_at, t.created_at) - t.created_at) * 1000)),
               m.first_token_ms, m.latency_ms,
               coalesce((SELECT jsonb_agg(jsonb_build_object(
                   'tool', step->'tool', 'ok', step->'ok', 'ms', step->'ms') ORDER BY place)
                 FROM jsonb_array_elements(m.tool_trace) WITH ORDINALITY AS s (step, place)), '[]')
          FROM turns t JOIN messages m ON m.id = t.reply_message_id
         WHERE t.finished_at IS NOT NULL
        """
    )
