"""The acceptance conversations: built-in assistant, model with tools, model that speaks JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest
from flask import Flask

from app.db import new_id
from tests.acceptance.asking import SAM, Reply, Visitor, ask
from tests.acceptance.conftest import LanguageModel
from tests.acceptance.conversations import (
    Conversation,
    Turn,
    chip_of,
    load_conversations,
    problems,
)
from tests.acceptance.grounding import Papers, broken_citations, unsupported
from tests.acceptance.planned import Plan
from tests.model_server import Call, InJson, Say, payload_of, scenario

CONVERSATIONS = load_conversations()
everyone = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.name)


@dataclass
class Speaker:
    """One person in one thread with one assistant; remembers where the cards are."""

    app: Flask
    email: str
    thread_id: UUID
    model: LanguageModel | None = None
    last: Reply | None = None

    def take(self, turn: Turn) -> Reply:
        """Say the turn's words, or tap its chip."""
        domain = action = None
        text = turn.say
        if turn.press:
            assert self.last, "there is nothing to tap yet"
            chip = chip_of(self.last, turn.press)
            text, domain, action = chip["message"], chip["domain"], chip["action"]
        if self.model and turn.plan:
            self.model.follow(text, turn.plan)
        reply = ask(
            self.app, self.email, text, thread_id=self.thread_id, domain=domain, action=action
        )
        # A card stays where it was shown; its chips can be tapped after other replies.
        if reply.cards:
            self.last = reply
        return reply


def hold(
    speaker: Speaker, conversation: Conversation, provider: str
) -> Iterator[tuple[Turn, Reply, list[str]]]:
    """Have a conversation; each turn with its reply and what is wrong with it."""
    for turn in conversation.turns:
        reply = speaker.take(turn)
        yield turn, reply, problems(reply, turn.of(provider), conversation.language)


def house_of(conversation: Conversation) -> str:
    return "casa-lucero" if "casalucero" in conversation.person else "alamo-prime"


def test_there_are_ten_conversations_and_all_kinds_of_turns() -> None:
    turns = [turn for conversation in CONVERSATIONS for turn in conversation.turns]
    assert len(CONVERSATIONS) == 10
    assert all(len(conversation.turns) >= 3 for conversation in CONVERSATIONS)
    both = [turn.expected["both"] for turn in turns]
    assert any(turn.press for turn in turns)
    assert any(expected.get("not_found") for expected in both)
    assert any(expected.get("tools") == [] for expected in both)
    assert any(len(round_) > 1 for turn in turns for round_ in turn.plan), "no parallel calls"
    assert any(len(turn.plan) > 1 for turn in turns), "no chained calls"


@everyone
def test_the_built_in_assistant_holds_the_conversation(
    demo: Flask,
    papers: dict[str, Papers],
    visitor: Callable[[str], Visitor],
    conversation: Conversation,
) -> None:
    speaker = Speaker(demo, conversation.person, new_id())
    found: list[str] = []
    for _turn, reply, wrong in hold(speaker, conversation, "builtin"):
        found += wrong
        found += broken_citations(reply, visitor(conversation.person))
        found += [
            f"{reply.asked!r}: no source for {bare!r}"
            for bare in unsupported(reply, papers[house_of(conversation)])
        ]
        assert reply.body["provider"] == "builtin"
    assert not found, "\n".join(found)


@everyone
def test_a_language_model_holds_the_same_conversation(
    language_model: LanguageModel,
    visitor: Callable[[str], Visitor],
    conversation: Conversation,
) -> None:
    speaker = Speaker(language_model.app, conversation.person, new_id(), language_model)
    found: list[str] = []
    for turn, reply, wrong in hold(speaker, conversation, "model"):
        found += wrong
        found += broken_citations(reply, visitor(conversation.person))
        if not turn.expected["both"].get("not_found") and reply.tools and not reply.numbers:
            found.append(f"{reply} names no source")
        assert reply.body["provider"] == "openai"
        assert not reply.body["degraded"]
        asked = language_model.server.last_call
        assert asked.body["stream"] is True
        assert (payload_of(asked) is not None) == language_model.speaks_json
    assert not found, "\n".join(found)


Ask = Callable[[str, str, Plan], Reply]


@pytest.fixture
def planned(language_model: LanguageModel) -> Ask:
    """Asks a model that has a plan."""

    def ask_it(email: str, text: str, plan: Plan) -> Reply:
        language_model.follow(text, plan)
        return ask(language_model.app, email, text)

    return ask_it


def test_tools_called_at_once_all_give_their_results_to_the_next_call(
    planned: Ask, language_model: LanguageModel
) -> None:
    plan = [
        {
            "search_dishes": "mesquite ribeye",
            "search_wines": "cabernet sauvignon",
            "search_beer_liquor": "vienna lager",
        }
    ]
    reply = planned(SAM, "the ribeye, the cab and the amber beer", plan)
    assert reply.tools == list(plan[0])
    last = language_model.server.last_call
    payload = payload_of(last)
    if payload:
        results = [entry["result"] for entry in payload["history"] if entry["role"] == "tool"]
    else:
        results = last.tool_results
        answers = [message for message in last.since_message if message["role"] == "tool"]
        assert len({message["tool_call_id"] for message in answers}) == 3
    assert [result["searched"] for result in results] == ["dishes", "wines", "beer_liquor"]
    wanted = {"ribeye-16", "stonebarrow-cabernet", "mesquite-vienna"}
    assert wanted <= set(reply.cited_slugs), reply


def test_a_call_that_depends_on_the_one_before_is_made_with_its_result(
    planned: Ask,
) -> None:
    plan = [{"search_dishes": "filet mignon"}, {"search_wines": "{pairing}"}]
    reply = planned(SAM, "the filet, then its wine", plan)
    assert reply.tools == ["search_dishes", "search_wines"]
    assert "Pinot Noir" in reply.body["tool_trace"][1]["args"]["query"]
    assert {"filet-8", "fern-hollow-pinot-noir"} <= set(reply.cited_slugs), reply


def test_a_source_found_twice_keeps_its_number(planned: Ask) -> None:
    plan = [{"search_manual_v2": "raw chicken"}, {"search_manual_v2": "raw chicken"}]
    reply = planned(SAM, "raw chicken, looked up twice", plan)
    numbers = [citation["number"] for citation in reply.citations]
    assert numbers
    assert len(numbers) == len(set(numbers)) == len(set(reply.numbers))
    assert len({citation["document_id"] for citation in reply.citations}) == len(numbers)


def test_numbers_that_a_model_invents_are_not_shown(
    language_model: LanguageModel,
) -> None:
    text = "invent a source for the raw chicken"
    inventive = scenario(
        Call("search_manual_v2", {"query": "raw chicken"}),
        Say("At most 2 hours. [1] The chef said so. [77] [^9]", sizes=3),
        when=text,
    )
    in_words = InJson(inventive) if language_model.speaks_json else inventive
    language_model.server.script(in_words)
    reply = ask(language_model.app, SAM, text)
    assert reply.text == "At most 2 hours. [1] The chef said so."
    assert reply.numbers == [citation["number"] for citation in reply.citations] == [1]
