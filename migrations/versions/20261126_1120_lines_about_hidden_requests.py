"""The bell names no request that its person may not open any more.

Revision: 20261126_1120
Follows: 20261126_1110

A line keeps the number and the title of its request, and was read long after its person had lost
the role or the team that let them open it.
"""

from __future__ import annotations

from alembic import op

from migrations.security import PERSONAL

revision = "20261126_1120"
down_revision = "20261126_1110"
branch_labels = None
depends_on = None

# The id in the address of a request's page; null for any other page.
REQUEST_ID = """
    CASE WHEN starts_with(url, '/requests/') AND pg_input_is_valid(substr(url, 11), 'uuid')
         THEN substr(url, 11)::uuid END
"""
# What is found of the requests there is what their own policy lets through. As a value, and not
# as EXISTS, the request is looked up by its id for each line: all of them are never collected.
OF_A_SEEN_REQUEST = (
    f"(({REQUEST_ID}) IS NULL"
    f" OR (SELECT r.id FROM service_requests r WHERE r.id = {REQUEST_ID}) IS NOT NULL)"
)


def upgrade() -> None:
    op.execute(f"ALTER POLICY reading ON notifications USING ({PERSONAL} AND {OF_A_SEEN_REQUEST})")


def downgrade() -> None:
    op.execute(f"ALTER POLICY reading ON notifications USING ({PERSONAL})")
