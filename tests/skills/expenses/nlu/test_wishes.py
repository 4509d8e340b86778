"""Sentences in both languages, and what of the ledger they want."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from app.assistant.turns.language import detect_language
from app.skills.expenses.nlu import Command, default_categories, read_wish
from app.skills.expenses.nlu.sentence import ReadingContext, Sentence
from tests.growth import check_growth

HERE = Path(__file__).parent
TODAY = date(2026, 11, 20)
CATEGORIES = default_categories()
LANGUAGES = {"en": "english", "es": "spanish"}


def table(language: str) -> dict[str, Any]:
    """All values as text: "4.50" stays what was said."""
    source = (HERE / f"{LANGUAGES[language]}.yaml").read_text("utf-8")
    read: dict[str, Any] = yaml.load(source, yaml.BaseLoader)
    return read


def expected() -> Iterator[Any]:
    for language in LANGUAGES:
        for tool, sentences in table(language).items():
            if tool != "nothing":
                for said, arguments in sentences.items():
                    yield language, said, tool, arguments


def not_about_it() -> Iterator[Any]:
    for language in LANGUAGES:
        for said in table(language)["nothing"]:
            yield language, said


def test_a_sentence_says_what_to_do_and_with_what() -> None:
    wrong = dict[str, Any]()
    for language, said, tool, arguments in expected():
        missing = tuple(arguments.get("missing", ()))
        told = {name: value for name, value in arguments.items() if name != "missing"}
        read = read_wish(said, language, TODAY, CATEGORIES)
        if read != Command(tool, told, missing):
            wrong[said] = read
    assert wrong == {}


def test_a_day_is_read_in_either_language_whatever_the_sentence_is_taken_for() -> None:
    for language, said, item in (
        ("es", "Add electricity bill £200 yesterday", "electricity bill"),
        ("en", "gasté 30 en servilletas ayer", "servilletas"),
        ("es", "gasté 20 en sal de mar ayer", "sal de mar"),
        ("en", "add mayo $5 yesterday", "mayo"),
    ):
        command = read_wish(said, language, TODAY, CATEGORIES)
        assert command is not None
        assert (command.arguments["item"], command.arguments["date"]) == (item, "2026-11-19")


def test_a_sentence_about_something_else_is_none_of_the_ledgers_business() -> None:
    read = {said: read_wish(said, language, TODAY, CATEGORIES) for language, said in not_about_it()}
    assert {said: wish for said, wish in read.items() if wish is not None} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_sentences_enough_of_both_kinds(language: str) -> None:
    sentences = table(language)
    assert sum(len(each) for tool, each in sentences.items() if tool != "nothing") >= 120
    assert len(sentences["nothing"]) >= 60


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each)


def other_texts() -> set[str]:
    """What is said to the other skills, and what the demonstration house's papers say."""
    root = HERE.parents[3]
    found: set[str] = set()
    for file in (*root.glob("tests/**/*.yaml"), *root.glob("app/**/*.yaml")):
        # Of what is no request, some is an expense.
        if not {"expenses", "service_requests"} & set(file.relative_to(root).parts):
            found |= set(texts_of([*yaml.load_all(file.read_text("utf-8"), yaml.CBaseLoader)]))
    for file in root.glob("tests/acceptance/**/*.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            sentence = json.loads(line)
            tools = str(sentence.get("expect", ""))
            if "expense" not in tools and "balance" not in tools:
                found |= set(texts_of(sentence))
    return {text for text in found if 3 < len(text) <= 400}


def test_hardly_anything_that_is_said_to_the_other_skills_is_taken_for_an_expense() -> None:
    texts = sorted(other_texts())
    taken = [
        text for text in texts if read_wish(text, detect_language(text, "en"), TODAY, CATEGORIES)
    ]
    assert len(texts) > 10_000
    assert len(taken) <= 3, taken


def test_a_dollar_sign_is_the_houses_own_money() -> None:
    command = read_wish("agrega taxi $200", "es", TODAY, CATEGORIES, "MXN")
    assert command == Command("add_expense", {"item": "taxi", "amount": "200", "currency": "MXN"})


def test_a_price_in_a_foreign_sign_keeps_it() -> None:
    command = read_wish("taxi €12", "en", TODAY, CATEGORIES, "USD")
    assert command is not None
    assert command.arguments["currency"] == "EUR"


@pytest.mark.parametrize(
    "said", ["", " ", "?", "¿", "...", "¤† ‡", "x" * 5000, "12 " * 200, "!" * 400]
)
def test_what_says_nothing_wants_nothing(said: str) -> None:
    assert read_wish(said, "en", TODAY, CATEGORIES) is None


PIECES = st.sampled_from(
    "add log paid spent gasté anota agrega change cambia delete borra how much did we spend"
    " cuánto gastamos show gastos expenses the last one el último taxi coffee café 4.50 $12 12"
    " £200 1.234,50 yesterday ayer on Friday and y , . ? not no to a for de in cash table 12"
    " (limpieza) under cleaning from doce dólares twelve con 50 ; : - \n".split(" ")
)


@given(st.lists(PIECES, max_size=14).map(" ".join), st.sampled_from(["en", "es"]))
@settings(max_examples=400, deadline=None)
def test_no_order_of_such_words_is_an_error(said: str, language: str) -> None:
    command = read_wish(said, language, TODAY, CATEGORIES)
    if command is not None:
        json.dumps(command.arguments)
        assert not set(command.missing) & set(command.arguments)


@given(st.text(max_size=120), st.sampled_from(["en", "es"]))
@settings(max_examples=300, deadline=None)
def test_no_text_is_an_error(said: str, language: str) -> None:
    command = read_wish(said, language, TODAY, CATEGORIES)
    assert command is None or command.tool


@given(
    st.sampled_from(["taxi", "light bulbs", "jabón", "printer paper", "plumber"]),
    st.decimals("0.01", "1000000", places=2),
    st.sampled_from(["add {} £{}", "{} £{}", "I paid £{1} for the {0}", "log £{1} for {0}"]),
)
@settings(max_examples=150, deadline=None)
def test_a_sum_is_kept_to_the_cent(item: str, amount: Any, form: str) -> None:
    command = read_wish(form.format(item, f"{amount:,.2f}"), "en", TODAY, CATEGORIES)
    expected = {"item": item, "amount": f"{amount:.2f}", "currency": "GBP"}
    assert command == Command("add_expense", expected)


@pytest.mark.fault(64)
@pytest.mark.parametrize("again", ["1 ", "1.5 ", "1 invoice 200 $3 ", "taxi 1 "])
def test_four_times_the_numbers_are_about_four_times_the_work(again: str) -> None:
    around = ReadingContext("en", TODAY, (), "USD")

    def work(times: int) -> Callable[[], Sentence]:
        message = again * times
        return lambda: Sentence.of(message, around)

    check_growth(work, 2000)
