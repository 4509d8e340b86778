"""What this Unicode does not know counts as a mark: the database may know a newer one.

Revision: 20261125_0400
Follows: 20261124_1930

Python 3.11 knows Unicode 14 and Postgres 18 knows Unicode 16: marks that came between them were
in no class of the pattern, and 100,000 of them were put in order for minutes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

from alembic import op

revision = "20261125_0400"
down_revision = "20261124_1930"
branch_labels = None
depends_on = None

# As `app.plain_text` does it.
MOST_MARKS = 8


def upgrade() -> None:
    _replace("".join(_ranges(_may_be_mark)))


def downgrade() -> None:
    _replace("".join(_ranges(_is_mark)))


def _replace(marks: str) -> None:
    bounded = f"regexp_replace(value, '([{marks}]{{{MOST_MARKS}}})[{marks}]+', '\\1', 'g')"
    op.get_bind().exec_driver_sql(rf"""
        CREATE OR REPLACE FUNCTION fold_text(value text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN CASE WHEN value ~ '[^\x01-\x7f]' THEN
            replace(replace(replace(lower(
                regexp_replace(normalize({bounded}, NFD), '[\u0300-\u036f]+', '', 'g')),
                'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')
            ELSE lower(value) END
    """)


def _ranges(is_wanted: Callable[[str], bool]) -> Iterator[str]:
    """The characters of Unicode that are wanted, as ranges of a pattern."""
    first = last = 0
    for number in range(0x300, 0x1F000):
        if 0xD800 <= number <= 0xDFFF or not is_wanted(chr(number)):
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


def _may_be_mark(character: str) -> bool:
    return _is_mark(character) or unicodedata.category(character) == "Cn"
