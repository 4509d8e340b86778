"""What a deleted chat leaves behind goes with it; letters take turns; lines of forms are hidden.

Revision: 20261129_0300
Follows: 20261129_0010

An answer that is kept for a program which asks twice, and what somebody said on its way to a form,
held the words of a chat after it was gone; so did a form that its person had thrown away.

Letters of one person's doing waited in one line with those of everybody else.

The bell named forms that its person may not open any more, as it once did with requests.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from migrations.security import PERSONAL, definer, redefine

revision = "20261129_0300"
down_revision = "20261129_0010"
branch_labels = None
depends_on = None

FORGET_BEFORE = """
        DELETE FROM keyed_answers WHERE created_at < clock_timestamp() - interval '24 hours';
        WITH gone AS (
          DELETE FROM threads WHERE id IN (
            SELECT id FROM threads
             WHERE deleted_at < clock_timestamp() - make_interval(mins => p_minutes)
             ORDER BY deleted_at LIMIT p_most FOR UPDATE SKIP LOCKED)
          RETURNING 1)
        SELECT count(*)::integer FROM gone;
"""
# An answer names its conversation: {"sessionId": …}.
FORGET = """
        DELETE FROM keyed_answers WHERE created_at < clock_timestamp() - interval '24 hours';
        WITH gone AS (
          DELETE FROM threads WHERE id IN (
            SELECT id FROM threads
             WHERE deleted_at < clock_timestamp() - make_interval(mins => p_minutes)
             ORDER BY deleted_at LIMIT p_most FOR UPDATE SKIP LOCKED)
          RETURNING id, user_id),
        told AS (
          DELETE FROM keyed_answers k USING gone
           WHERE k.user_id = gone.user_id AND k.body ->> 'sessionId' = gone.id::text)
        SELECT count(*)::integer FROM gone;
"""
# What was handed over stands in its draft; a link that has run out leads nowhere.
FORGET_FORMS = """
        UPDATE form_handovers SET context = ''
         WHERE context <> ''
           AND (used_at IS NOT NULL OR expires_at < clock_timestamp() - interval '30 minutes');
        WITH gone AS (
          DELETE FROM form_drafts WHERE id IN (
            SELECT id FROM form_drafts
             WHERE status = 'discarded' AND updated_at < clock_timestamp() - interval '24 hours'
             LIMIT 1000 FOR UPDATE SKIP LOCKED)
          RETURNING thread_id)
        DELETE FROM threads WHERE id IN (SELECT thread_id FROM gone);
"""
CLAIM = """
DELETE FROM outgoing_mail WHERE to_address = '';
WITH {served}due AS (
  SELECT o.id FROM outgoing_mail o{joined}
   WHERE o.sent_at IS NULL AND o.handed_over_at IS NULL
     AND o.next_try_at <= clock_timestamp()
   ORDER BY o.is_awaited DESC, {order}o.next_try_at LIMIT p_most
   FOR UPDATE OF o SKIP LOCKED
)
UPDATE outgoing_mail o
   SET attempts = o.attempts + 1,
       next_try_at = clock_timestamp() + interval '2 minutes'
  FROM due WHERE o.id = due.id
RETURNING o.id, o.to_address, o.subject, o.body, o.attempts
"""
# How many of a person's letters left lately: whoever had the fewest is next.
SERVED = """served AS (
  SELECT sender_id, count(*) AS letters FROM outgoing_mail
   WHERE handed_over_at > clock_timestamp() - interval '10 minutes'
   GROUP BY sender_id
),
"""
JOINED = " LEFT JOIN served s ON s.sender_id = o.sender_id"
RETURNED = "TABLE (id uuid, to_address text, subject text, body text, attempts integer)"
HANDED_OVER = "ix_outgoing_mail_handed_over"


def _id_behind(path: str) -> str:
    """The id in the address of a page below `path`; null for any other page."""
    start = len(path) + 1
    return f"""
        CASE WHEN starts_with(url, '{path}') AND pg_input_is_valid(substr(url, {start}), 'uuid')
             THEN substr(url, {start})::uuid END
    """


# As of requests in 20261126_1120: what is found is what the table's own policy lets through.
def _of_what_is_seen(table: str, path: str) -> str:
    found = _id_behind(path)
    return f"(({found}) IS NULL OR (SELECT r.id FROM {table} r WHERE r.id = {found}) IS NOT NULL)"


OF_A_SEEN_REQUEST = _of_what_is_seen("service_requests", "/requests/")
OF_A_SEEN_FORM = _of_what_is_seen("form_submissions", "/forms/submissions/")


def upgrade() -> None:
    redefine("forget_deleted_chats(p_minutes integer, p_most integer)", "integer", "sql", FORGET)
    definer("forget_discarded_forms()", "void", FORGET_FORMS)
    op.add_column("outgoing_mail", sa.Column("sender_id", sa.Uuid()))
    op.create_index(
        HANDED_OVER,
        "outgoing_mail",
        ["handed_over_at"],
        postgresql_where=sa.text("handed_over_at IS NOT NULL"),
    )
    _claim(served=SERVED, joined=JOINED, order="coalesce(s.letters, 0), ")
    op.execute(
        f"ALTER POLICY reading ON notifications"
        f" USING ({PERSONAL} AND {OF_A_SEEN_REQUEST} AND {OF_A_SEEN_FORM})"
    )


def downgrade() -> None:
    op.execute(f"ALTER POLICY reading ON notifications USING ({PERSONAL} AND {OF_A_SEEN_REQUEST})")
    _claim(served="", joined="", order="")
    op.drop_index(HANDED_OVER, "outgoing_mail")
    op.drop_column("outgoing_mail", "sender_id")
    op.execute("DROP FUNCTION forget_discarded_forms")
    redefine(
        "forget_deleted_chats(p_minutes integer, p_most integer)", "integer", "sql", FORGET_BEFORE
    )


def _claim(**parts: str) -> None:
    redefine("claim_mail(p_most integer)", RETURNED, "sql", CLAIM.format(**parts))
