"""Folding puts no long run of marks in order, which takes the square of its length.

Revision: 20261124_1930
Follows: 20261124_1900

What is stored stays as it was folded: of a word that people write nothing is left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from alembic import op

revision = "20261124_1930"
down_revision = "20261124_1900"
branch_labels = None
depends_on = None

# As `app.plain_text` does it; some characters are letters that come apart into marks.
MOST_MARKS = 8


def upgrade() -> None:
    marks = "".join(_ranges())
    _replace(f"regexp_replace(value, '([{marks}]{{{MOST_MARKS}}})[{marks}]+', '\\1', 'g')")


def downgrade() -> None:
    _replace("value")


def _replace(bounded: str) -> None:
    op.get_bind().exec_driver_sql(rf"""
        CREATE OR REPLACE FUNCTION fold_text(value text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN CASE WHEN value ~ '[^\x01-\x7f]' THEN
            replace(replace(replace(lower(
                regexp_replace(normalize({bounded}, NFD), '[\u0300-\u036f]+', '', 'g')),
                'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')
            ELSE lower(value) END
    """)


def _ranges() -> Iterator[str]:
    """The marks of Unicode as ranges of a pattern."""
    first = last = 0
    for number in range(0x300, 0x1F000):
        if 0xD800 <= number <= 0xDFFF or not _is_mark(chr(number)):
            continue
        if number > last + 1:
            yield _range(first, last)
            first = number
        last = number
    yield _range(first, last)


def _range(first: int, last: int) -> str:
    if not first:
        return ""
    return chr(first) if first == last else f"{chr(first)}-{chr(last)}"


def _is_mark(character: str) -> bool:
    return bool(unicodedata.combining(unicodedata.normalize("NFKD", character)[0]))
