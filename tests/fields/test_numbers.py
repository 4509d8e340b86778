"""Numbers as people write them, in either language, and as models and drafts give them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.fields.numbers import parse_number, plain_number


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("38", "38"),
        ("38.5", "38.5"),
        ("38,5", "38.5"),
        ("1,250", "1250"),
        ("1.250", "1.25"),
        ("0.125", "0.125"),
        ("0,500", "0.5"),
        ("-0,250", "-0.25"),
        ("01,250", "1.25"),
        ("1,250.5", "1250.5"),
        ("1.250,5", "1250.5"),
        ("1.250.000", "1250000"),
        ("1 250", "1250"),
        ("1 250 000", "1250000"),
        ("-3", "-3"),
        # What is a number already is never taken apart as somebody's writing.
        (38.125, "38.125"),
        (1250, "1250"),
    ],
)
def test_a_number_is_read_as_it_is_written(written: Any, wanted: str) -> None:
    number = parse_number(written)
    assert number is not None and plain_number(number) == wanted


@given(st.decimals(min_value=-(10**11), max_value=10**11, places=4))
def test_a_stored_number_is_read_as_itself(number: Decimal) -> None:
    assert parse_number(plain_number(number)) == number


@pytest.mark.parametrize("written", ["", "many", "1e5", "0x10", "1,2,3", True, None, [1]])
def test_anything_else_is_no_number(written: Any) -> None:
    assert parse_number(written) is None
