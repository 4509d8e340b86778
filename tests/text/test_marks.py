"""Marks on letters: however many there are, a text is read in the time that its length takes."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import text

from app.accounts.names_and_emails import clean_name, fold_email
from app.accounts.passwords import hash_password, verify_password
from app.assistant.threads.threads import clean_message
from app.db import Database
from app.errors import InvalidInput
from app.retrieval.query_cache import normalise_query
from app.text.normalize import fold
from app.text.plain_text import (
    LONGEST_LINE,
    MOST_MARKS,
    clean_line,
    clean_lines,
    compose,
    shorten_marks,
)
from tests.growth import counted

# Marks of two classes in the wrong order, which have to be put in order.
MARKS = "\u0315\u0300"
# Seconds; the square of so many marks took minutes.
SOON = 2.0
# All readers of a book together; one took nearly two.
BOOK_SECONDS = 0.5


@pytest.mark.fault(38)
@pytest.mark.parametrize("read", [fold, fold_email, compose, normalise_query, clean_name])
def test_a_letter_with_a_hundred_thousand_marks_is_read_soon(read: Callable[[str], str]) -> None:
    with counted() as cost:
        read("a" + MARKS * 100_000)
    assert cost.seconds < SOON


def test_a_message_of_marks_is_read_soon() -> None:
    with counted() as cost:
        clean_message("a" + MARKS * 1_900)
    assert cost.seconds < SOON


# Of each of these a million was read sign by sign, for seconds, before it was found too long.
BOOKS = ("a\u200d", "e\u0301", "\U0001f600\u200d", "a")


@pytest.mark.fault(46)
@pytest.mark.parametrize("repeated", BOOKS)
def test_what_is_far_too_long_is_refused_before_it_is_read(repeated: str) -> None:
    book = repeated * (2_000_000 // len(repeated))
    with counted() as cost:
        with pytest.raises(InvalidInput, match="a message can have"):
            clean_message(book)
        with pytest.raises(InvalidInput, match="at most"):
            clean_name(book)
        assert fold_email(book) == ""
        assert len(clean_line(book)) <= LONGEST_LINE
    assert cost.seconds < BOOK_SECONDS


@pytest.mark.fault(50)
def test_no_character_makes_a_text_slow_to_compose() -> None:
    """Some are letters, and come apart into marks, which have to be put in order."""
    every = (chr(n) for n in (*range(0x300, 0xD800), *range(0xE000, 0x110000)))
    apart = [
        each
        for each in every
        if unicodedata.combining(unicodedata.normalize("NFKD", each)[-1])
        and not unicodedata.normalize("NFKD", each)[0].isalnum()
    ]
    assert "\u0f73" in apart
    runs = {each: shorten_marks("a" + each * 1_000) for each in apart}
    # Where a run is left as it is, each begins with a sign that is no mark.
    kept = [each for each, run in runs.items() if len(run) > 1 + MOST_MARKS]
    assert not [
        each for each in kept if unicodedata.combining(unicodedata.normalize("NFKD", each)[0])
    ]


@pytest.mark.fault(50)
def test_a_password_that_is_no_password_is_refused_before_it_is_read(app: Flask) -> None:
    stored = hash_password("correct horse battery")
    with counted() as cost, app.app_context():
        for wrong in ("a" + "\u0f73" * 95_000, "x" * 1_000_000):
            assert not verify_password(stored, wrong)
            assert not verify_password(None, wrong)
    assert cost.seconds < SOON


@pytest.mark.fault(50)
@pytest.mark.parametrize("marks", [MARKS * 75_000, "\u0315" * 75_000 + "\u0300" * 75_000,
                                   "\u0f73" * 60_000])  # fmt: skip
def test_the_database_folds_a_book_of_marks_soon(owner: Database, marks: str) -> None:
    with owner.transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = '5s'"))
        began = time.monotonic()
        # Other than Python's, it drops the marks alone that Latin letters have.
        folded = session.scalar(text("SELECT fold_text(:said)"), {"said": f"Café a{marks} ß"})
        assert time.monotonic() - began < SOON
    assert folded.startswith("cafe a")
    assert folded.endswith(" ss")
    assert len(folded) < 40


# What the database's own Unicode moves behind or before other marks is a mark to it.
MARKS_OF_THE_DATABASE = text("""
    SELECT number
    FROM generate_series(768, 1114111) AS number,
        LATERAL (SELECT CASE WHEN number NOT BETWEEN 55296 AND 57343
                             THEN left(normalize(chr(number), NFD), 1) END AS first)
    WHERE normalize('a' || first || U&'\\0334', NFD) <> 'a' || first || U&'\\0334'
       OR normalize(U&'a\\0315' || first, NFD) <> U&'a\\0315' || first
""")


@pytest.mark.fault(50)
def test_what_is_a_mark_to_the_database_alone_is_shortened_as_well(owner: Database) -> None:
    """Its Unicode may be newer than Python's."""
    with owner.transaction() as session:
        marks = list(session.scalars(MARKS_OF_THE_DATABASE))
        assert {0x300, 0x301, 0x5B0} <= set(marks)
        folded = text("SELECT length(fold_text('a' || repeat(chr(:number), 200)))")
        long = [n for n in marks if session.scalar(folded, {"number": n}) > 5 * MOST_MARKS]
    assert [hex(n) for n in long] == []
    assert [hex(n) for n in marks if len(shorten_marks("a" + chr(n) * 200)) > 1 + MOST_MARKS] == []


def test_what_is_sent_with_runs_of_blanks_and_marks_is_a_message_all_the_same() -> None:
    assert len(clean_message("word " * 790 + "\n" * 9_000 + "!")) < 4_000


def test_of_the_marks_that_people_write_none_is_lost() -> None:
    for said in ("Jalapeño", "Nguyễn", "à̧", "שָׁלוֹם", "e" + "\u0301" * MOST_MARKS):
        assert shorten_marks(said) == said
    assert shorten_marks("e" + "\u0301" * 50) == "e" + "\u0301" * MOST_MARKS


@pytest.mark.fault(38)
@pytest.mark.parametrize("clean", [clean_line, clean_lines])
def test_what_cannot_be_seen_keeps_no_marks_apart(clean: Callable[[str], str]) -> None:
    stacked = "Sam" + ("\u0301" * MOST_MARKS + "\u200b") * 9
    assert clean(stacked) == "Sam" + "\u0301" * MOST_MARKS


@pytest.mark.fault(38)
def test_signing_in_with_a_book_of_marks_costs_little(app: Flask) -> None:
    client = app.test_client()
    with counted() as cost:
        answer = client.post("/sign-in", data={"email": "a" + MARKS * 5_000, "password": "x" * 12})
        assert answer.status_code in (400, 422)
    assert cost.seconds < SOON
