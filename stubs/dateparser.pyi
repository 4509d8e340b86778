"""The one function of dateparser that is used; the library has no types of its own."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

def parse(
    date_string: str,
    languages: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> datetime | None: ...
