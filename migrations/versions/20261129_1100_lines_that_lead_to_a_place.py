"""A line of the bell may lead to a place on a page, and is hidden with that page all the same.

Revision: 20261129_1100
Follows: 20261129_0400

The policies of 20261126_1120 and 20261129_0300 read the id of a request, or of a form, to the end
of the address: with `#event-…` behind it, or a query, it was none, and the line was shown.
"""

from __future__ import annotations

from alembic import op

from migrations.security import PERSONAL

revision = "20261129_1100"
down_revision = "20261129_0400"
branch_labels = None
depends_on = None

PAGE = "split_part(split_part(url, '#', 1), '?', 1)"
PLACES = (("service_requests", "/requests/"), ("form_submissions", "/forms/submissions/"))


def upgrade() -> None:
    _hide_by(PAGE)


def downgrade() -> None:
    _hide_by("url")


def _hide_by(address: str) -> None:
    """Hide the lines whose address is of a row that the table's own policy does not let through."""
    seen = " AND ".join(_of_what_is_seen(table, path, address) for table, path in PLACES)
    op.execute(f"ALTER POLICY reading ON notifications USING ({PERSONAL} AND {seen})")


def _of_what_is_seen(table: str, path: str, address: str) -> str:
    behind = f"substr({address}, {len(path) + 1})"
    found = f"""
        CASE WHEN starts_with({address}, '{path}') AND pg_input_is_valid({behind}, 'uuid')
             THEN {behind}::uuid END
    """
    return f"(({found}) IS NULL OR (SELECT r.id FROM {table} r WHERE r.id = {found}) IS NOT NULL)"
