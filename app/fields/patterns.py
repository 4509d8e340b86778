"""Regular expressions that admins write for a field: RE2's, which know none that takes for ever.

Linear in the text is not enough: a pattern of a hundred letters may stand for a machine of many
megabytes, which is put together anew in each process. So its size is bounded too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

# Far more than any pattern for a telephone, a plate or a number needs, and made in milliseconds.
MOST_BYTES = 1 << 20
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = MOST_BYTES  # type: ignore[attr-defined]


class UnusablePattern(ValueError):
    """It is no pattern, or one that is too large."""


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Any:
    """The pattern, ready to be held against values.

    Raises:
        UnusablePattern
    """
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        raise UnusablePattern("this is no pattern that can be used") from error
