"""Forty sentences as people on shift write them reach the right tool, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.demo import HOUSES
from tests.acceptance.asking import (
    FINISHED,
    HERE,
    SAM,
    STAFF,
    Reply,
    Visitor,
    ask_batch,
    assert_share,
    read_lines,
)
from tests.acceptance.grounding import Papers, broken_citations, uncited, unsupported, written_in

ROUTED = 0.95
SAID = 0.89
SENTENCES = read_lines("sentences.jsonl")
Answered = tuple[dict[str, Any], Reply]


@pytest.fixture(scope="session")
def batch(demo: Flask) -> tuple[list[Answered], str]:
    """The file through `flask ask --batch`, and what the command said on stderr."""
    replies, said = ask_batch(demo, HERE / "sentences.jsonl", SAM)
    return list(zip(SENTENCES, replies, strict=True)), said


@pytest.fixture(scope="session")
def answered(batch: tuple[list[Answered], str]) -> list[Answered]:
    return batch[0]


def is_either(line: dict[str, Any]) -> bool:
    """Off-topic: any tool may run or none, as long as nothing that it finds is shown."""
    return "tools" not in line["expect"]


def is_routed(line: dict[str, Any], reply: Reply) -> bool:
    """The tools that were wanted ran, and none of the unwanted ones."""
    expect = line["expect"]
    if is_either(line):
        return not reply.citations and not reply.cards
    wanted, unwanted = expect["tools"], expect.get("not_tools", [])
    if not wanted:
        return not reply.tools
    return all(tool in reply.tools for tool in wanted) and not set(unwanted) & set(reply.tools)


def test_there_are_forty_sentences_twenty_in_each_language() -> None:
    assert len(SENTENCES) == 40
    assert sum(line["language"] == "es" for line in SENTENCES) == 20
    assert len({line["text"] for line in SENTENCES}) == 40
    known = {user.email for house in HOUSES for user in house.users}
    assert {line.get("user", SAM) for line in SENTENCES} <= known
    assert sum(is_either(line) for line in SENTENCES) == 4


def test_every_sentence_gets_a_finished_reply_with_words(answered: list[Answered]) -> None:
    unfinished = [str(r) for _, r in answered if r.status != FINISHED or not r.text.strip()]
    assert not unfinished, "\n".join(unfinished)


def test_nearly_all_reach_the_right_tool_or_none(answered: list[Answered]) -> None:
    rows = [(str(reply), is_routed(line, reply)) for line, reply in answered]
    assert_share(rows, ROUTED, "reached the right tool")


@pytest.mark.parametrize("language", ["en", "es"])
def test_neither_language_is_worse_off(answered: list[Answered], language: str) -> None:
    mine = [(line, reply) for line, reply in answered if line["language"] == language]
    rows = [(str(reply), is_routed(line, reply)) for line, reply in mine]
    assert_share(rows, 0.90, f"reached the right tool ({language})")


def test_what_must_be_said_is_said(answered: list[Answered]) -> None:
    rows = [
        (f"{fact!r} is missing: {reply}", reply.states(fact))
        for line, reply in answered
        for fact in line["expect"].get("contains", ())
    ]
    assert_share(rows, SAID, "facts said")


def test_off_topic_questions_are_answered_with_no_fact(answered: list[Answered]) -> None:
    stated = [
        str(reply)
        for line, reply in answered
        if is_either(line) and (reply.citations or reply.cards or reply.numbers)
    ]
    assert not stated, "\n".join(stated)


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
        for problem in broken_citations(reply, visitor(line.get("user", SAM)))
    ]
    assert not broken, "\n".join(broken)


def test_each_is_answered_in_its_own_language(answered: list[Answered]) -> None:
    wrong = [
        str(reply)
        for line, reply in answered
        if reply.language != line["language"]
        or (len(reply.text.split()) > 3 and written_in(reply.text) != line["language"])
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_comes_from_another_house(
    answered: list[Answered], sources: dict[str, frozenset[str]]
) -> None:
    mine = sources["alamo-prime"]
    cited = {c["document_id"] for _, reply in answered for c in reply.citations}
    assert cited <= mine


def test_the_command_counts_what_passed(batch: tuple[list[Answered], str]) -> None:
    answered, said = batch
    passed = sum(bool(reply.body["passed"]) for _, reply in answered)
    assert f"{passed} passed, {40 - passed} failed" in said


def test_the_persons_of_the_file_speak_its_languages() -> None:
    assert {line.get("user", SAM) for line in SENTENCES if line["language"] == "es"} == {
        STAFF["es"]
    }
