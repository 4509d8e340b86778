"""What sent forms and products say is folded once, so that searching them folds nothing.

Revision: 20261124_0900
Follows: 20261123_1400

Both tables are written anew for that. Of each row so much is folded as a person writes; what a
program wrote may be some MB. The address and the titles of a sent form stand beside its fields,
so that a list need not read those.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "20261124_0900"
down_revision = "20261123_1400"
branch_labels = None
depends_on = None

# Of a sent form the texts of all values, at whatever depth; neither their names nor the ids of
# what they name.
FUNCTIONS = r"""
CREATE FUNCTION submission_words(
    year integer, number integer, submitter text, form jsonb, answers jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN fold_text(left(
    'F-' || year || '-' || lpad(number::text, greatest(6, length(number::text)), '0')
    || E'\n' || submitter
    || E'\n' || coalesce(form ->> 'title_en', '') || E'\n' || coalesce(form ->> 'title_es', '')
    || E'\n' || jsonb_path_query_array(answers, 'strict $.** ? (@.type() == "string"'
        ' && !(@ like_regex "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"))')::text,
    16000));

CREATE FUNCTION product_words(
    name_en text, name_es text, description_en text, description_es text, ingredients jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN fold_text(left(
    name_en || ' ' || name_es || ' ' || description_en || ' ' || description_es
    || ' ' || jsonb_path_query_array(ingredients, '$[*].en')::text
    || ' ' || jsonb_path_query_array(ingredients, '$[*].es')::text,
    16000));
"""
SAID = 'submission_words(year, number, submitter, form, "values")'
OF_PRODUCT = "product_words(name_en, name_es, description_en, description_es, ingredients)"


def upgrade() -> None:
    op.execute(FUNCTIONS)
    op.add_column(
        "form_submissions", sa.Column("folded", sa.Text(), sa.Computed(SAID, persisted=True))
    )
    op.add_column(
        "form_submissions",
        sa.Column("head", JSONB(), sa.Computed("form - 'fields'", persisted=True)),
    )
    op.add_column(
        "products", sa.Column("folded", sa.Text(), sa.Computed(OF_PRODUCT, persisted=True))
    )


def downgrade() -> None:
    op.drop_column("products", "folded")
    op.drop_column("form_submissions", "head")
    op.drop_column("form_submissions", "folded")
    op.execute("DROP FUNCTION product_words(text, text, text, text, jsonb)")
    op.execute("DROP FUNCTION submission_words(integer, integer, text, jsonb, jsonb)")
