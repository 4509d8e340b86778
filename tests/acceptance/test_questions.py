"""Thirty questions whose answer stands in the house's papers: the right one is cited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.acceptance.asking import (
    FINISHED,
    STAFF,
    Reply,
    Visitor,
    ask,
    assert_share,
    read_lines,
)
from tests.acceptance.grounding import Papers, broken_citations, uncited, unsupported, written_in

RIGHT = 0.90
QUESTIONS = read_lines("questions.jsonl")
Answered = tuple[dict[str, Any], Reply]


@pytest.fixture(scope="session")
def answered(demo: Flask) -> list[Answered]:
    """Every question, asked by somebody who speaks its language; nobody says which it is."""
    return [(line, ask(demo, STAFF[line["language"]], line["text"])) for line in QUESTIONS]


def test_there_are_thirty_questions_fifteen_in_each_language() -> None:
    assert len(QUESTIONS) == 30
    assert sum(line["language"] == "es" for line in QUESTIONS) == 15


def test_the_papers_really_say_what_is_asked(papers: dict[str, Papers]) -> None:
    house = papers["alamo-prime"]
    unknown = [line for line in QUESTIONS if not any(map(house.mention, line["fact"]))]
    assert not unknown


def test_nearly_all_cite_the_section_or_product_that_answers(answered: list[Answered]) -> None:
    rows = [
        (f"wanted {line['cites']}: {reply}", bool(set(line["cites"]) & set(reply.cited_slugs)))
        for line, reply in answered
    ]
    assert_share(rows, RIGHT, "cited the right source")


def test_nearly_all_state_the_fact_that_was_asked_for(answered: list[Answered]) -> None:
    rows = [
        (f"wanted {line['fact']}: {reply}", any(reply.states(fact) for fact in line["fact"]))
        for line, reply in answered
    ]
    assert_share(rows, RIGHT, "stated the fact")


def test_all_are_finished(answered: list[Answered]) -> None:
    assert [str(reply) for _, reply in answered if reply.status != FINISHED] == []


def test_nothing_is_stated_that_no_source_supports(
    answered: list[Answered], papers: dict[str, Papers]
) -> None:
    house = papers["alamo-prime"]
    found = [f"{reply}: {bare}" for _, reply in answered if (bare := unsupported(reply, house))]
    assert not found, "\n".join(found)


def test_every_factual_sentence_names_its_source(
    answered: list[Answered], papers: dict[str, Papers]
) -> None:
    house = papers["alamo-prime"]
    found = [f"{reply}: {bare}" for _, reply in answered if (bare := uncited(reply, house))]
    assert not found, "\n".join(found)


def test_every_citation_opens_at_what_it_quotes(
    answered: list[Answered], visitor: Callable[[str], Visitor]
) -> None:
    broken = [
        problem
        for line, reply in answered
        for problem in broken_citations(reply, visitor(STAFF[line["language"]]))
    ]
    assert not broken, "\n".join(broken)


def test_a_source_that_is_cited_is_named_in_the_words_and_the_other_way_round(
    answered: list[Answered],
) -> None:
    uneven = [
        str(reply)
        for _, reply in answered
        if set(reply.numbers) != {citation["number"] for citation in reply.citations}
    ]
    assert not uneven, "\n".join(uneven)


def test_each_is_answered_in_the_language_it_was_asked_in(answered: list[Answered]) -> None:
    wrong = [
        str(reply)
        for line, reply in answered
        if reply.language != line["language"] or written_in(reply.text) != line["language"]
    ]
    assert not wrong, "\n".join(wrong)


def test_spanish_answers_quote_the_spanish_papers(answered: list[Answered]) -> None:
    foreign = [
        f"{reply} quotes {citation['url']}"
        for line, reply in answered
        if line["language"] == "es"
        for citation in reply.citations
        if citation["language"] != "es"
    ]
    assert not foreign, "\n".join(foreign)


def test_who_reports_something_and_asks_what_to_do_is_told_that_too(demo: Flask) -> None:
    reply = ask(demo, STAFF["es"], "vi una cucaracha en la linea q hago")
    assert "compañía de plagas" in reply.text
    assert [part["type"] for part in reply.body["parts"]][:1] == ["type_selector"]
