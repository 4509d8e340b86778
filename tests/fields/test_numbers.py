"""Numbers as people write them, in either language, and as models and drafts give them."""

from __future__ import annotations

from typing import Any

import pytest

from app.fields.numbers import parse_number, plain_number


@pytest.mark.parametrize(
    ("written", "english", "spanish"),
    [
        ("38", "38", "38"),
        ("38.5", "38.5", "38.5"),
        ("38,5", "38.5", "38.5"),
        ("1,250", "1250", "1.25"),
        ("1.250", "1.25", "1250"),
        ("1,250.5", "1250.5", "1250.5"),
        ("1.250,5", "1250.5", "1250.5"),
        ("1 250 000", "1250000", "1250000"),
        ("-3", "-3", "-3"),
        # What is a number already is never taken apart by a language.
        (38.125, "38.125", "38.125"),
        (1250, "1250", "1250"),
    ],
)
def test_a_number_is_read_as_its_language_writes_it(
    written: Any, english: str, spanish: str
) -> None:
    for language, wanted in (("en", english), ("es", spanish)):
        number = parse_number(written, language)
        assert number is not None and plain_number(number) == wanted, language


@pytest.mark.parametrize("written", ["", "many", "1e5", "0x10", "1,2,3", True, None, [1]])
def test_anything_else_is_no_number(written: Any) -> None:
    assert parse_number(written) is None
