"""Sums of money: read in texts and fields, and written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.currencies import CODES
from app.text.money import amount_words, find_amounts, format_amount, parse_amount

MARKED = [
    ("en", "£200", "200", "GBP"),
    ("en", "$ 1,234.50", "1234.50", "USD"),
    ("en", "1.234,50 €", "1234.50", "EUR"),
    ("es", "1.234,50 €", "1234.50", "EUR"),
    ("en", "12 dollars", "12", "USD"),
    ("en", "12 bucks", "12", "USD"),
    ("es", "doce dólares", "12", "USD"),
    ("es", "doce dolares", "12", "USD"),
    ("en", "twelve pounds", "12", "GBP"),
    ("en", "200 pesos", "200", "MXN"),
    ("es", "doscientos treinta y cinco pesos", "235", "MXN"),
    ("en", "two hundred and five euros", "205", "EUR"),
    ("en", "twelve hundred dollars", "1200", "USD"),
    ("en", "twenty five hundred and ten dollars", "2510", "USD"),
    ("en", "a hundred bucks", "100", "USD"),
    ("en", "MXN 200", "200", "MXN"),
    ("en", "USD 12", "12", "USD"),
    ("en", "12 usd", "12", "USD"),
    ("en", "$200 MXN", "200", "MXN"),
    ("en", "MX$200", "200", "MXN"),
    ("es", "20 euros con 50", "20.50", "EUR"),
    ("es", "20 euros con cincuenta", "20.50", "EUR"),
    ("es", "12 con 50 pesos", "12.50", "MXN"),
    ("en", "12 dollars and 50 cents", "12.50", "USD"),
    ("en", "twelve dollars and fifty cents", "12.50", "USD"),
    ("en", "50 cents", "0.50", ""),
    ("es", "cincuenta centavos", "0.50", ""),
    ("es", "2 mil pesos", "2000", "MXN"),
    ("en", "$.50", "0.50", "USD"),
    ("en", "€ 1 200,00", "1200.00", "EUR"),
    ("en", "CHF 3.20", "3.20", "CHF"),
    ("en", "25 canadian dollars", "25", "CAD"),
]
PLAIN = [
    ("en", "1,234.50", "1234.50"),
    ("es", "1,234.50", "1234.50"),
    ("en", "1.234,50", "1234.50"),
    ("en", "4.50", "4.50"),
    ("en", "paid .50 for the ice", "0.50"),
    ("es", "gasté .5 en sal", "0.5"),
    ("es", "4,50", "4.50"),
    ("en", "1.234", "1234"),
    ("es", "1,234", "1234"),
    ("en", "1.234.567,89", "1234567.89"),
    ("en", "1 200,00", "1200.00"),
    ("es", "3 con 20", "3.20"),
    ("es", "doce con cincuenta", "12.50"),
    ("en", "twelve fifty", "12.50"),
    ("en", "twelve", "12"),
    ("es", "treinta y uno", "31"),
    ("es", "mil doscientos", "1200"),
    ("en", "seven thousand five hundred", "7500"),
    ("en", "38.5", "38.5"),
]
NO_AMOUNTS = [
    "12k", "$12k", "12th", "12:30", "12/5", "12%", "512-555-0134", "12-pack", "1,2,3", "A-2", "#12",
    "once", "one", "a", "2 pounds of flour", "1 pound ground beef", "5 libras de harina", "x12",
    "5 million", "１２", "٣", "1.2345",
]  # fmt: skip


@pytest.mark.parametrize(("language", "said", "value", "currency"), MARKED)
def test_a_sign_or_a_word_says_that_it_is_money(
    language: str, said: str, value: str, currency: str
) -> None:
    [found] = find_amounts(f"taxi {said}", language)
    assert (str(found.value), found.currency, found.is_marked) == (value, currency, True)
    assert (found.start, found.end) == (5, 5 + len(said))


@pytest.mark.parametrize(("language", "said", "value"), PLAIN)
def test_a_number_alone_may_be_money(language: str, said: str, value: str) -> None:
    [found] = find_amounts(f"taxi {said}", language)
    assert (str(found.value), found.currency, found.is_marked) == (value, "", False)


@pytest.mark.parametrize("said", NO_AMOUNTS)
def test_a_number_that_is_part_of_something_else_is_no_sum(said: str) -> None:
    assert find_amounts(f"taxi {said}", "en") == []


def test_several_sums_are_found_in_their_order() -> None:
    found = find_amounts("coffee 4.50, taxi $12 and pan 20 pesos", "en")
    assert [(str(each.value), each.currency) for each in found] == [
        ("4.50", ""),
        ("12", "USD"),
        ("20", "MXN"),
    ]


@pytest.mark.parametrize(
    ("home", "said", "currency"),
    [
        ("MXN", "$12", "MXN"),
        ("CAD", "12 dollars", "CAD"),
        ("COP", "12 pesos", "COP"),
        ("GBP", "$12", "USD"),
        ("USD", "12 pesos", "MXN"),
        ("MXN", "US$12", "USD"),
    ],
)
def test_a_shared_sign_is_the_houses_own_where_it_is_written_so(
    home: str, said: str, currency: str
) -> None:
    assert find_amounts(said, "en", home)[0].currency == currency


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("1.234,50 €", "1234.50"),
        ("1,234.50", "1234.50"),
        ("12", "12"),
        ("12.5", "12.5"),
        (" $12.00 ", "12.00"),
        ("-3", "-3"),
        ("-$3.00", "-3.00"),
        ("$-3", "-3"),
        ("0", "0"),
        ("0.00", "0.00"),
        ("12usd", "12"),
        ("MXN 200", "200"),
        (".50", "0.50"),
        ("1.234", "1234"),
        ("99999999999999999999.99", "99999999999999999999.99"),
    ],
)
def test_a_field_takes_a_sum_and_keeps_it_exact(typed: str, value: str) -> None:
    assert str(parse_amount(typed)) == value


@pytest.mark.parametrize(
    "typed",
    [
        "", "NaN", "nan", "inf", "-Infinity", "twelve", "1e3", "1.2345", "0.123", "1234.567",
        "１２", "٣", "1_000", "1,23,4", "1,234,56", "--3", "-$-3", "12 apples", "abc 12", "$",
        "0x10", "1 2", "+", "1/2", "12%", "½", "5" * 60, "12\n13", "\u212aRW 5",
    ],
)  # fmt: skip
def test_a_field_refuses_what_is_no_plain_sum(typed: str) -> None:
    with pytest.raises(ValueError, match="not an amount"):
        parse_amount(typed)


@pytest.mark.parametrize(
    ("value", "currency", "language", "table", "prose"),
    [
        ("200", "GBP", "en", "£200.00", "£200"),
        ("200", "GBP", "es", "£200.00", "£200"),
        ("4.50", "USD", "es", "$4.50", "$4.50"),
        ("1234.5", "MXN", "en", "MX$1,234.50", "MX$1,234.50"),
        ("1234567", "EUR", "es", "€1,234,567.00", "€1,234,567"),
        ("-3", "USD", "en", "-$3.00", "-$3"),
        ("3", "CHF", "en", "CHF\u00a03.00", "CHF\u00a03"),
        ("3", "", "en", "3.00", "3"),
    ],
)
def test_sums_are_written_the_american_way_in_both_languages(
    value: str, currency: str, language: str, table: str, prose: str
) -> None:
    assert format_amount(Decimal(value), currency, language) == table
    assert amount_words(Decimal(value), currency, language) == prose


CENTS = st.decimals("-1000000", "1000000", places=2)


@given(CENTS, st.sampled_from(sorted(CODES)), st.sampled_from(["en", "es"]))
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_again(value: Decimal, currency: str, language: str) -> None:
    assert parse_amount(format_amount(value, currency, language)) == value
    assert parse_amount(amount_words(value, currency, language)) == value


@given(st.decimals("0", "1000000", places=2), st.sampled_from(["en", "es"]))
@settings(max_examples=200, deadline=None)
def test_both_decimal_signs_are_read_in_both_languages(value: Decimal, language: str) -> None:
    english = f"{value:,.2f}"
    spanish = english.translate(str.maketrans(",.", ".,"))
    for written in (english, spanish):
        assert [each.value for each in find_amounts(f"pan {written}", language)] == [value]
        assert parse_amount(written) == value


@given(st.text(max_size=80), st.sampled_from(["en", "es"]))
@settings(max_examples=300, deadline=None)
def test_no_text_is_an_error(text: str, language: str) -> None:
    ends = [(each.start, each.end) for each in find_amounts(text, language)]
    assert all(0 <= start < end <= len(text) for start, end in ends)
    assert ends == sorted(ends)
