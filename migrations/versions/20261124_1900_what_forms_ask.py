"""What a form asks for is kept as one text, so that finding a form reads no fields.

Revision: 20261124_1900
Follows: 20261124_0900

The table is written anew for that. Of each form so many characters are kept as describe it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261124_1900"
down_revision = "20261124_0900"
branch_labels = None
depends_on = None

# The labels of the fields and of their options, in both languages.
FUNCTION = r"""
CREATE FUNCTION form_asked(fields jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(
    jsonb_path_query_array(fields, '$[*].label.*')::text
    || jsonb_path_query_array(fields, '$[*].options[*].label.*')::text,
    4000);
"""


def upgrade() -> None:
    op.execute(FUNCTION)
    op.add_column(
        "form_templates",
        sa.Column("asked", sa.Text(), sa.Computed("form_asked(fields)", persisted=True)),
    )


def downgrade() -> None:
    op.drop_column("form_templates", "asked")
    op.execute("DROP FUNCTION form_asked(jsonb)")
