"""What a reply asked in the product's own words, as its last words: a yes answers that alone.

Revision: 20261123_1000
Follows: 20261123_0900

What is proposed while a house is upgraded can still be answered by a yes, where the built-in
assistant proposed it: its replies end in the question. A model's may end in words of its own, so
those proposals are answered with the buttons of their cards.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261123_1000"
down_revision = "20261123_0900"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("asked", sa.Text(), nullable=True))
    op.execute(
        """
        UPDATE messages SET asked = 'proposal ' || p.id
          FROM proposals p
         WHERE p.message_id = messages.id AND p.state = 'pending'
           AND messages.provider = 'builtin' AND messages.content LIKE '%?'
        """
    )


def downgrade() -> None:
    op.drop_column("messages", "asked")
