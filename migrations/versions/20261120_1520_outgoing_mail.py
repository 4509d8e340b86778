"""Mail that waits to be sent, and sign-ins that end with the membership they are for.

Revision: 20261120_1520
Follows: 20261120_1500
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import definer, protect

revision = "20261120_1520"
down_revision = "20261120_1500"
branch_labels = None
depends_on = None

DOORS = ("claim_mail", "hand_over_mail", "mail_was_sent", "mail_failed", "forget_old_mail")


def upgrade() -> None:
    op.create_table(
        "outgoing_mail",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("to_address", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("handed_over_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outgoing_mail")),
    )
    op.create_index(
        "ix_outgoing_mail_waiting",
        "outgoing_mail",
        ["next_try_at"],
        unique=False,
        postgresql_where=sa.text("sent_at IS NULL"),
    )
    # The app may put a message in; reading it back (it may hold a reset link) is for the
    # sender's doors alone.
    protect("outgoing_mail", "false", write="true", grant="INSERT")
    open_mail_doors()
    end_sign_ins_with_membership()


def open_mail_doors() -> None:
    # The next two minutes of a claimed message belong to whoever claimed it.
    definer(
        "claim_mail(p_most integer)",
        "TABLE (id uuid, to_address text, subject text, body text, attempts integer)",
        """
        DELETE FROM outgoing_mail WHERE to_address = '';
        WITH due AS (
          SELECT o.id FROM outgoing_mail o
           WHERE o.sent_at IS NULL AND o.handed_over_at IS NULL
             AND o.next_try_at <= clock_timestamp()
           ORDER BY o.next_try_at LIMIT p_most
           FOR UPDATE SKIP LOCKED
        )
        UPDATE outgoing_mail o
           SET attempts = o.attempts + 1,
               next_try_at = clock_timestamp() + interval '2 minutes'
          FROM due WHERE o.id = due.id
        RETURNING o.id, o.to_address, o.subject, o.body, o.attempts
        """,
    )
    # True for one caller only, and not for one whose claim has lapsed.
    definer(
        "hand_over_mail(p_id uuid)",
        "boolean",
        """
        UPDATE outgoing_mail SET handed_over_at = clock_timestamp()
         WHERE id = p_id AND handed_over_at IS NULL AND sent_at IS NULL
           AND next_try_at > clock_timestamp()
        RETURNING true
        """,
    )
    definer(
        "mail_was_sent(p_id uuid)",
        "void",
        """
        UPDATE outgoing_mail
           SET sent_at = clock_timestamp(), next_try_at = NULL, body = '', last_error = ''
         WHERE id = p_id
        """,
    )
    definer(
        "mail_failed(p_id uuid, p_reason text, p_next_try timestamptz)",
        "void",
        """
        UPDATE outgoing_mail
           SET last_error = p_reason, next_try_at = p_next_try,
               handed_over_at = CASE WHEN p_next_try IS NULL THEN handed_over_at END,
               body = CASE WHEN p_next_try IS NULL THEN '' ELSE body END
         WHERE id = p_id AND sent_at IS NULL
        """,
    )
    definer(
        "forget_old_mail()",
        "void",
        "DELETE FROM outgoing_mail WHERE created_at < clock_timestamp() - interval '30 days'",
    )


def end_sign_ins_with_membership() -> None:
    """Somebody removed from a group is out of it everywhere, and stays out if asked back."""
    op.execute(
        "DELETE FROM sign_ins s WHERE NOT EXISTS (SELECT 1 FROM memberships m"
        " WHERE m.user_id = s.user_id AND m.group_id = s.group_id)"
    )
    op.create_foreign_key(
        op.f("fk_sign_ins_membership"),
        "sign_ins",
        "memberships",
        ["user_id", "group_id"],
        ["user_id", "group_id"],
        ondelete="CASCADE",
    )


def downgrade() -> None:
    op.drop_constraint(op.f("fk_sign_ins_membership"), "sign_ins", type_="foreignkey")
    for door in DOORS:
        op.execute(f"DROP FUNCTION {door}")
    op.drop_index("ix_outgoing_mail_waiting", table_name="outgoing_mail")
    op.drop_table("outgoing_mail")
