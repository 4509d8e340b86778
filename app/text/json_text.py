"""JSON that others wrote (models, clients), read within bounds.

Python's own parser takes any depth up to the interpreter's limit; what comes out near that
limit then fails in whatever handles it next: validation, a trace, a database column.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

# Far more than any argument, form or reply has.
MOST_LEVELS = 64
_MARK = re.compile(r'["{}]')
_WITHIN_STRING = re.compile(r'[^"\\]*')


class TooMuch(ValueError):
    """It is JSON perhaps, but longer or deeper than is read; the message says which."""


def _finite(text: str) -> float:
    """A number as JSON has it; NaN, Infinity and 1e999 are none."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


_STRICT = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
# Weak models put line breaks into strings as they are; what they mean is plain.
_LENIENT = json.JSONDecoder(parse_float=_finite, parse_constant=_finite, strict=False)
# What a server counts may be wrong in any way, and is not worth losing what it says.
_ANY_NUMBER = json.JSONDecoder(parse_int=lambda text: int(text) if len(text) < 20 else float(text))


def parse_json(
    text: str,
    *,
    lenient: bool = False,
    any_number: bool = False,
    most_values: int | None = None,
) -> Any:
    """The value of a JSON text; `lenient` takes line breaks and tabs in strings as they are.

    With `any_number` NaN and what is too large for a number are read too, as floats.

    Raises:
        ValueError: it is no JSON, or has numbers that JSON has not.
        TooMuch: it is nested more than 64 levels deep, or has more than `most_values` values.
    """
    decoder = _ANY_NUMBER if any_number else _LENIENT if lenient else _STRICT
    try:
        value = decoder.decode(text)
    except RecursionError:
        raise _too_deep() from None
    _check_levels(value, most_values)
    return value


def parse_json_at(text: str, start: int, *, most_values: int | None = None) -> tuple[Any, int]:
    """The value that begins at `start`, whatever follows it, and the place behind it; lenient.

    Raises:
        ValueError, TooMuch: as `parse_json`.
    """
    try:
        value, end = _LENIENT.raw_decode(text, start)
    except RecursionError:
        raise _too_deep() from None
    _check_levels(value, most_values)
    return value, end


def _too_deep() -> TooMuch:
    return TooMuch(f"nested more than {MOST_LEVELS} levels deep")


def _check_levels(value: Any, most_values: int | None = None) -> None:
    """Level by level and not by recursion, which is what has to be kept from happening."""
    level, depth, left = [value], 0, most_values
    while level := [each for each in level if isinstance(each, dict | list) and each]:
        depth += 1
        if depth > MOST_LEVELS:
            raise _too_deep()
        if left is not None:
            left -= sum(map(len, level))
            if left < 0:
                raise TooMuch(f"more than {most_values} values")
        level = [
            child for each in level for child in (each.values() if isinstance(each, dict) else each)
        ]


class ObjectScanner:
    """Finds the end of a JSON object whose text comes in pieces; each character is read once."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_in_string = self._is_escaped = False

    def feed(self, text: str, at: int = 0) -> int | None:
        """Read on in `text` from `at`; the place behind the last brace, None while it goes on."""
        while at < len(text):
            if self._is_escaped:
                self._is_escaped, at = False, at + 1
            elif self._is_in_string:
                at = self._read_string(text, at)
            else:
                mark = _MARK.search(text, at)
                if mark is None:
                    return None
                at = mark.end()
                self._is_in_string = mark[0] == '"'
                self._depth += {"{": 1, "}": -1}.get(mark[0], 0)
                if mark[0] == "}" and self._depth <= 0:
                    return at
        return None

    def _read_string(self, text: str, at: int) -> int:
        """Go on within a string, behind the next sign in it that means something."""
        plain = _WITHIN_STRING.match(text, at)
        at = plain.end() if plain else at
        mark = text[at : at + 1]
        self._is_in_string = mark != '"'
        self._is_escaped = mark == "\\"
        return at + 1
