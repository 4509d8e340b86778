"""Whole turns with a model that has no function calling, good and bad at its JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from app.assistant.models import Message
from app.db import Database
from tests.acceptance.asking import SAM, Reply, ask
from tests.acceptance.conftest import LanguageModel
from tests.acceptance.planned import PlannedModel
from tests.model_server import (
    InJson,
    RecordedCall,
    Say,
    Step,
    complaint_of,
    payload_of,
    scenario,
)

SEARCH = {"type": "tool_call", "tool": "search_manual_v2", "args": {"query": "raw chicken"}}
ANSWER = {"type": "answer", "content": "At most 2 hours. [1]"}


def asked_in_json(text: str, model: LanguageModel, *replies: Any, email: str = SAM) -> Reply:
    """Ask a model that writes these replies, a call each; objects are written as JSON."""
    written = [each if isinstance(each, str) else json.dumps(each) for each in replies]
    begin = len(model.server.calls)

    def is_meant(call: RecordedCall) -> bool:
        payload = payload_of(call)
        return payload is not None and payload["message"] == text

    class Replies:
        streams, byte_by_byte = True, False
        is_for = staticmethod(is_meant)

        def steps(self, call: RecordedCall) -> Sequence[Step]:
            number = sum(map(is_meant, model.server.calls[begin:])) - 1
            return [Say(written[min(number, len(written) - 1)], sizes=4)]

    model.server.script(Replies())
    return ask(model.app, email, text)


def notices(reply: Reply) -> list[str]:
    return [part["text"] for part in reply.body["parts"] if part["type"] == "notice"]


def test_the_request_carries_message_today_tools_and_history(json_model: LanguageModel) -> None:
    asked_in_json("how long may chicken stand", json_model, SEARCH, ANSWER)
    call = json_model.server.last_call
    payload = payload_of(call)
    assert payload is not None
    assert set(call.body) == {"model", "messages", "stream", "stream_options"}
    assert payload["message"] == "how long may chicken stand"
    assert payload["today"] == datetime.now(ZoneInfo("America/Chicago")).date().isoformat()
    assert {"search_manual_v2", "search_dishes"} <= {tool["name"] for tool in payload["tools"]}
    wanted, found = payload["history"]
    assert wanted["tool_calls"] == [{"tool": SEARCH["tool"], "args": SEARCH["args"]}]
    assert found["tool"] == "search_manual_v2"
    assert found["result"]["results"][0]["cite"] == 1


def test_a_question_back_is_the_reply(json_model: LanguageModel) -> None:
    question = {"type": "clarify", "question": "Raw or cooked chicken?"}
    reply = asked_in_json("what about the chicken", json_model, question)
    assert reply.text == "Raw or cooked chicken?"
    assert reply.status == "complete"
    assert reply.tools == []


def test_tools_are_called_one_after_the_other(json_model: LanguageModel) -> None:
    text = "the filet in json, then its wine"
    json_model.follow(text, [{"search_dishes": "filet mignon"}, {"search_wines": "{pairing}"}])
    reply = ask(json_model.app, SAM, text)
    assert reply.tools == ["search_dishes", "search_wines"]
    assert {"filet-8", "fern-hollow-pinot-noir"} <= set(reply.cited_slugs), reply


@pytest.mark.parametrize(
    "around",
    [("```json\n", "\n```"), ("```\n", "\n```\n"), ("Sure, here it is:\n\n", "\n\nAnything else?")],
    ids=["fence", "bare fence", "prose"],
)
def test_a_fence_or_talk_around_the_object_does_no_harm(
    json_model: LanguageModel, around: tuple[str, str]
) -> None:
    text = f"raw chicken, with {around[0].strip()!r}"
    plan = PlannedModel(text, [{"search_manual_v2": "raw chicken"}])
    json_model.server.script(InJson(plan, around=around))
    reply = ask(json_model.app, SAM, text)
    assert reply.status == "complete"
    assert reply.tools == ["search_manual_v2"]
    assert reply.numbers == [1]
    assert not re.search(r"[{}`]|Sure|Anything", reply.text), reply


def test_after_one_invalid_reply_the_model_is_told_why_and_goes_on(
    json_model: LanguageModel,
) -> None:
    begin = len(json_model.server.calls)
    reply = asked_in_json("chicken, once wrong", json_model, SEARCH, '{"type": "answ', ANSWER)
    first, wrong, again = json_model.server.calls[begin:]
    assert complaint_of(first) == complaint_of(wrong) == ""
    assert "not valid JSON: Unterminated string" in complaint_of(again)
    assert again.messages[:2] == wrong.messages
    assert again.messages[2] == {"role": "assistant", "content": '{"type": "answ'}
    assert reply.status == "complete"
    assert reply.text == "At most 2 hours. [1]"
    assert not notices(reply)


def test_after_two_it_ends_in_a_notice_and_nothing_is_lost(json_model: LanguageModel) -> None:
    dish = {"type": "tool_call", "tool": "search_dishes", "args": {"query": "ribeye"}}
    begin = len(json_model.server.calls)
    reply = asked_in_json("the ribeye, twice wrong", json_model, dish, "Juicy.", "Very juicy!")
    assert len(json_model.server.calls) - begin == 3
    assert reply.status == "failed"
    assert [card["slug"] for card in reply.cards][:1] == ["ribeye-16"]
    [notice] = notices(reply)
    assert notice.startswith("The language model gave an answer that could not be read.")
    assert "juicy" not in reply.everything.lower()
    assert reply.tools == ["search_dishes"]
    assert not reply.body["degraded"]


def test_an_unknown_tool_is_told_to_the_model(json_model: LanguageModel) -> None:
    unknown = {"type": "tool_call", "tool": "book_a_flight", "args": {"to": "Lima"}}
    reply = asked_in_json("fly me to lima", json_model, unknown, SEARCH, ANSWER)
    payload = payload_of(json_model.server.last_call)
    assert payload is not None
    refused = payload["history"][1]
    assert refused["tool"] == "book_a_flight"
    assert refused["result"]["error"] is True
    assert "There is no tool named 'book_a_flight'" in refused["result"]["message"]
    assert reply.tools == ["book_a_flight", "search_manual_v2"]
    assert [entry["ok"] for entry in reply.body["tool_trace"]] == [False, True]
    assert reply.status == "complete"


def test_arguments_that_are_no_object_are_asked_for_again(json_model: LanguageModel) -> None:
    begin = len(json_model.server.calls)
    reply = asked_in_json(
        "chicken, by list", json_model, SEARCH | {"args": ["raw chicken"]}, SEARCH, ANSWER
    )
    assert "tool_call.args" in complaint_of(json_model.server.calls[begin + 1])
    assert reply.tools == ["search_manual_v2"]
    assert reply.text == "At most 2 hours. [1]"


def test_arguments_that_do_not_fit_come_back_as_the_tools_error(json_model: LanguageModel) -> None:
    wrong = SEARCH | {"args": {"question": "raw chicken"}}
    reply = asked_in_json("chicken, by another name", json_model, wrong, SEARCH, ANSWER)
    assert [entry["ok"] for entry in reply.body["tool_trace"]] == [False, True]
    assert reply.status == "complete"


def test_a_suggested_confirmation_is_not_the_models_to_decide(json_model: LanguageModel) -> None:
    message = "Shall I really look that up?"
    suggesting = {"confirmationSuggested": True, "confirmationMessage": message}
    reply = asked_in_json("chicken, if I may", json_model, SEARCH | suggesting, ANSWER)
    assert reply.tools == ["search_manual_v2"]
    assert reply.text == "At most 2 hours. [1]"
    assert message not in reply.everything


def test_words_that_break_off_are_kept_with_a_notice(json_model: LanguageModel) -> None:
    cut = '{"type": "answer", "content": "At most two hours, and on a hot day'
    reply = asked_in_json("chicken, cut short", json_model, cut)
    assert reply.status == "interrupted"
    assert reply.text == "At most two hours, and on a hot day"
    assert notices(reply) == ["The answer was cut off here. Your question is saved; try again."]


def test_a_model_that_only_wants_tools_still_ends_in_words(json_model: LanguageModel) -> None:
    reply = asked_in_json("chicken for ever", json_model, SEARCH)
    assert reply.text == "I could not put an answer together. Ask again in other words."
    payload = payload_of(json_model.server.last_call)
    assert payload is not None
    assert payload["tools"] == []


def test_the_first_words_do_not_wait_for_the_last(
    json_model: LanguageModel, owner: Database
) -> None:
    text = "a slow answer in json"
    words = "".join(f"word{number} " for number in range(60))
    slow = json.dumps({"type": "answer", "content": words})

    def is_meant(call: RecordedCall) -> bool:
        payload = payload_of(call)
        return payload is not None and payload["message"] == text

    json_model.server.script(scenario(Say(slow, delay=0.02), when=is_meant))
    reply = ask(json_model.app, SAM, text)
    assert reply.text.split() == words.split()
    with owner.transaction() as session:
        stored = session.get_one(Message, UUID(reply.body["message_id"]))
    assert stored.first_token_ms is not None
    assert stored.latency_ms is not None
    assert stored.latency_ms >= 1200
    assert stored.first_token_ms < stored.latency_ms / 2
