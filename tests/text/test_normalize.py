"""Folding in Python and in the database is the same folding."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.db import Database
from app.text.normalize import fold, spell_out, words

LATIN = st.text(st.characters(min_codepoint=1, max_codepoint=0x24F, exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Jalapeño", "jalapeno"),
        ("CRÈME BRÛLÉE", "creme brulee"),
        ("Œuf, Æbler, Weißwurst", "oeuf, aebler, weisswurst"),
        ("cafe\u0301", "cafe"),
        ("plain TEXT 165°F", "plain text 165°f"),
    ],
)
def test_case_and_accents_are_folded(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_words_are_letters_and_digits_without_signs() -> None:
    assert words("¿Qué? «Año» and/or don't: 165°F") == "que ano and or don t 165 f".split()


@given(written=st.lists(LATIN, min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_the_database_folds_as_python_does(database: Database, written: list[str]) -> None:
    with database.transaction() as session:
        folded = session.execute(
            text("SELECT fold_text(value) FROM unnest(CAST(:all AS text[])) AS value"),
            {"all": written},
        ).scalars()
        assert list(folded) == [fold(value) for value in written]


@pytest.mark.parametrize("word", ["the", "of", "de", "la", "más", "mas", "también", "cuánto", "él"])
def test_a_stop_word_of_either_language_is_one(database: Database, word: str) -> None:
    query = text("SELECT count(*) FROM search_terms(:word)")
    with database.transaction() as session:
        assert session.execute(query, {"word": word}).scalar_one() == 0


def test_signs_do_not_glue_words_together(database: Database) -> None:
    query = text("SELECT array(SELECT word FROM search_words(:written) ORDER BY place)")
    with database.transaction() as session:
        found = session.execute(
            query, {"written": "salt/pepper <b>bold</b> a.b@c.com gluten-free 3.5 chef’s"}
        ).scalar_one()
    assert found == "salt pepper b bold a c com gluten free 3 5 chef s".split()


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ("walkin isnt cooling", "walkin is not cooling"),
        ("it aint cold", "it is not cold"),
        ("Fryer wont light", "Fryer won't light"),
        ("it doesn’t drain", "it doesn't drain"),
        ("the giant pant", "the giant pant"),
    ],
)
def test_contractions_are_spelled_out_with_and_without_apostrophes(
    typed: str, spelled: str
) -> None:
    assert spell_out(typed) == spelled
