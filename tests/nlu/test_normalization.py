"""Messages as people type them, in one form for comparing."""

from __future__ import annotations

import pytest
import yaml

from app.nlu.features import MOST_WORDS, count_features
from app.nlu.normalization import NUMBER, SPELLINGS, normalize
from tests.growth import check_growth


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Fryer 2 won't light", "fryer 2 wont light"),
        ("whats the rule w/ phones", "What's the rule with phones?"),
        ("Q onda con la cámara", "que onda con la camara"),
        ("holaaa, dnd está el formulario pls", "hola donde esta el formulario please"),
        ("spent $40 on limes", "spent $ 12.50 on limes"),
        ("table 12", "table 7"),
    ],
)
def test_what_means_the_same_reads_the_same(typed: str, meant: str) -> None:
    assert normalize(typed) == normalize(meant)


def test_money_and_other_numbers_are_told_apart() -> None:
    assert normalize("$12") != normalize("12")


@pytest.mark.parametrize("text", ["", "   ", "🙂🙂", "?!", "'"])
def test_what_has_no_words_is_nothing(text: str) -> None:
    assert normalize(text) == ""
    assert count_features("") == count_features(text)


def test_a_spelling_is_folded_and_leads_to_no_other_one() -> None:
    known = yaml.safe_load(SPELLINGS.read_text("utf-8"))
    # A number that is a word too is a number first.
    read = {short: normalize(short).removeprefix(f"{NUMBER} ") for short in known}
    assert read == known
    assert not {word for meant in known.values() for word in meant.split()} & set(known)


def test_of_a_pasted_menu_the_first_words_count() -> None:
    first = " ".join(
        f"dish{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}" for n in range(MOST_WORDS)
    )
    assert count_features(first + " ")[0] == count_features(first + " and more" * 9_000)[0]


@pytest.mark.parametrize("piece", ["1", "1,", "$1", "1 ", "a1", "aaa", "'"])
def test_no_message_is_slow_to_be_brought_into_one_form(piece: str) -> None:
    check_growth(lambda size: lambda: normalize(piece * size), 2_000)
