"""Eighty more sentences, written by people who had not seen the code: routed as well."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from tests.acceptance.asking import STAFF, Reply, ask, assert_share, read_lines
from tests.acceptance.grounding import Papers, uncited, unsupported
from tests.acceptance.test_sentences import ROUTED, is_either, is_routed

SENTENCES = read_lines("more_sentences.jsonl")
Answered = tuple[dict[str, Any], Reply]


@pytest.fixture(scope="module")
def answered(demo: Flask) -> list[Answered]:
    return [(line, ask(demo, STAFF[line["language"]], line["text"])) for line in SENTENCES]


def test_nearly_all_reach_the_right_tool_or_none(answered: list[Answered]) -> None:
    rows = [(str(reply), is_routed(line, reply)) for line, reply in answered]
    assert_share(rows, ROUTED, "reached the right tool")


def test_off_topic_questions_are_answered_with_no_fact(answered: list[Answered]) -> None:
    off_topic = [reply for line, reply in answered if is_either(line)]
    assert len(off_topic) == 12
    assert not [str(reply) for reply in off_topic if reply.citations or reply.cards]


def test_nothing_is_stated_that_no_source_supports(
    answered: list[Answered], papers: dict[str, Papers]
) -> None:
    house = papers["alamo-prime"]
    found = [
        f"{reply}: {bare}"
        for _, reply in answered
        if (bare := [*unsupported(reply, house), *uncited(reply, house)])
    ]
    assert not found, "\n".join(found)
