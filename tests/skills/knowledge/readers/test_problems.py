"""What is wrong with a file is said in words, in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.skills.knowledge.readers import (
    STEPS,
    FileProblem,
    place_text,
    problem_text,
    problems,
    step_text,
)

PACKAGE = Path(problems.__file__).parent
RAISED = re.compile(
    r"(?:Unreadable|BadValue|Reading\.failed)\(\s*\"(\w+)\""
    r"|(?:FileProblem|_note)\([^()]*?(?:\([^()]*\))?,\s*\"(\w+)\""
)
# These are put together from what a library or the Markdown parser says.
INDIRECT = {
    "bad_front_matter", "duplicate_slug", "encrypted", "damaged", "no_text", "no_sections",
    "manual_as_menu", "menu_as_manual", "takes_too_long", "too_big_to_read", "could_not_be_read",
    "name_too_long", "text_too_long", "and_more", "manual_full", "manual_too_long",
    "menu_full", "too_many_tags", "too_many_categories", "product_too_long",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _request(app: Flask) -> Iterator[None]:
    with app.test_request_context("/"):
        yield


def test_every_problem_that_is_found_has_words_and_no_words_are_for_nothing() -> None:
    sources = " ".join(file.read_text("utf-8") for file in PACKAGE.glob("*.py"))
    raised = {first or second for first, second in RAISED.findall(sources)}
    assert raised - set(problems._TEXTS) == set()
    assert set(problems._TEXTS) - raised - INDIRECT == set()


def test_words_name_what_is_wrong_and_what_to_do() -> None:
    price = problem_text(FileProblem("row 3", "price_negative", "-5"))
    assert price == "The price -5 is below zero. Write it without the minus."
    allergen = problem_text(FileProblem("row 3", "allergen_unknown", "kryptonite"))
    assert "kryptonite" in allergen
    assert "tree nuts" in allergen
    full = problem_text(FileProblem("", "manual_too_long", "10000001"))
    assert "would have 10,000,001 characters" in full
    assert full.endswith("the limit is 10,000,000. Leave out what nobody looks up.")
    tags = problem_text(FileProblem("row 3", "too_many_items", "tags"))
    assert tags == "“tags” has more than 40 items. Shorten it."
    unknown = problem_text(FileProblem("", "of a later version"))
    assert unknown == problem_text(FileProblem("", "could_not_be_read"))


def test_places_and_steps_have_words_too() -> None:
    assert place_text(FileProblem("row 12", "x")) == "Row 12"
    assert place_text(FileProblem("page 3", "x")) == "Page 3"
    assert place_text(FileProblem("row of tables.html", "x")) == "row of tables.html"
    assert place_text(FileProblem("", "x")) == ""
    assert all(step_text(step) for step in STEPS)
    assert step_text("dancing") == ""
