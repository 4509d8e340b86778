"""What becomes of the tools' results: an answer, an honest no, or one more search."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.assistant.providers.base import ChatMessage, ModelRequest, TextDelta, ToolCall
from app.assistant.providers.builtin import BuiltinProvider
from app.retrieval.quotes.lines import Line
from tests.assistant.builtin.conftest import MakeRequest
from tests.assistant.builtin.payloads import answered_by, found, products, sections

MANUAL, DISHES, WINES = "search_manual_v2", "search_dishes", "search_wines"
FAILED = {"error": True, "message": "It broke.", "recoverable": True, "suggestion": "Retry."}


def passage(slug: str, language: str = "en") -> dict[str, Any]:
    return sections(language)[slug]


def dish(name: str) -> dict[str, Any]:
    return next(one for one in products("dishes").values() if one["name"] == name)


def reply(provider: BuiltinProvider, request: ModelRequest) -> str:
    return "".join(e.text for e in provider.stream(request) if isinstance(e, TextDelta))


def calls(provider: BuiltinProvider, request: ModelRequest) -> list[ToolCall]:
    return [event for event in provider.stream(request) if isinstance(event, ToolCall)]


def test_a_passage_is_quoted_with_its_number(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("How long can raw chicken stay out?")
    payload = found([passage("raw-chicken")], first=4)
    told = reply(provider, answered_by(request, (MANUAL, {"query": "raw chicken"}, payload)))
    assert told.startswith("At most 2 hours in total, or 1 hour")
    assert told.endswith("[4]")


def test_a_weak_search_says_what_was_searched_and_what_comes_near(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("what is our policy on parrots")
    payload = found([passage("gas-smell")], weak=True, near=["Gas smell", "Tip policy"])
    told = reply(provider, answered_by(request, (MANUAL, {"query": "policy parrots"}, payload)))
    assert told == (
        "I searched the manual for “policy parrots” and found nothing that answers it."
        " These are close: “Gas smell” and “Tip policy”. Should I look there?"
    )


def test_an_empty_search_says_so(provider: BuiltinProvider, make_request: MakeRequest) -> None:
    request = make_request("what is our policy on parrots")
    told = reply(provider, answered_by(request, (MANUAL, {"query": "parrots"}, found([]))))
    assert "found nothing that answers it. Try other words" in told


def test_what_only_comes_close_is_called_that(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("How long can smoked chicken liver stay out?")
    payload = found([passage("raw-chicken")])
    told = reply(provider, answered_by(request, (MANUAL, {"query": "smoked liver"}, payload)))
    assert told.startswith(
        "I found nothing that answers this for certain. The closest is “Raw chicken”:\n\n"
    )


@pytest.mark.parametrize(
    ("question", "is_sure"),
    [
        ("what is the dress code", True),
        ("what is the dress code for cooks", True),
        ("what is the dress code for guests", False),
        ("what is the dress code for kids", False),
    ],
)
def test_a_rule_for_the_team_answers_nothing_for_sure_about_guests(
    provider: BuiltinProvider, make_request: MakeRequest, question: str, is_sure: bool
) -> None:
    payload = found([passage("dress-code")])
    told = reply(
        provider, answered_by(make_request(question), (MANUAL, {"query": "dress code"}, payload))
    )
    assert told.startswith("I found nothing that answers this for certain.") is not is_sure, told


def test_what_else_comes_near_stands_under_its_own_title(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("How long can smoked chicken liver stay out on a break?")
    payload = found(
        [passage("raw-chicken"), passage("breaks-and-staff-meal"), passage("tip-policy")]
    )
    told = reply(provider, answered_by(request, (MANUAL, {"query": "smoked liver"}, payload)))
    first, _, near = told.partition("These are also close:\n\n")
    assert first.startswith("I found nothing that answers this for certain. The closest is “")
    assert near and all(line.startswith("- **") for line in near.splitlines())


def test_what_nobody_wrote_about_is_not_answered_from_something_else(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("How long can smoked tuna stay out?")
    payload = found([passage("raw-chicken")], near=["Raw chicken"])
    told = reply(provider, answered_by(request, (MANUAL, {"query": "smoked tuna"}, payload)))
    assert told.startswith("I searched the manual for “smoked tuna stay” and found nothing")
    assert "“Raw chicken”" in told


def test_passages_in_the_persons_language_come_first(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("¿Cuánto puede estar fuera el pollo crudo?", language="es")
    payload = found([passage("raw-chicken"), passage("raw-chicken", "es")])
    told = reply(provider, answered_by(request, (MANUAL, {"query": "pollo crudo"}, payload)))
    assert "Máximo 2 horas en total" in told
    assert "[2]" in told
    assert "[1]" not in told


def test_a_text_in_the_other_language_alone_is_announced(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("pollo crudo fuera", language="es")
    payload = found([passage("raw-chicken")])
    told = reply(provider, answered_by(request, (MANUAL, {"query": "pollo crudo"}, payload)))
    assert told.startswith("The library has this in English only:\n\n")
    assert told.endswith("[1]")


def test_two_questions_get_two_answers_with_their_own_numbers(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("How much is the filet, and how long do I wash my hands?")
    told = reply(
        provider,
        answered_by(
            request,
            (DISHES, {"query": "filet"}, found([dish("Filet Mignon 8 oz")], searched="dishes")),
            (MANUAL, {"query": "wash hands"}, found([passage("hand-washing")], first=2)),
        ),
    )
    menu, manual = told.split("\n\n")
    assert menu.startswith("**Filet Mignon 8 oz**: Price: $52.00. [1]")
    assert "The whole wash takes at least 20 seconds. [2]" in manual
    assert "[1]" not in manual


def test_of_two_questions_the_one_without_an_answer_is_told_so(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("How much is the filet, and what is our policy on parrots?")
    told = reply(
        provider,
        answered_by(
            request,
            (DISHES, {"query": "filet"}, found([dish("Filet Mignon 8 oz")], searched="dishes")),
            (MANUAL, {"query": "policy parrots"}, found([])),
        ),
    )
    assert "$52.00. [1]" in told
    assert "I searched the manual for “policy parrots”" in told


def test_another_tool_with_better_evidence_is_tried_first(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    hints = {
        "evidence": {DISHES: {"score": 0.4, "coverage": 0.2}, MANUAL: {"score": 0.9, "coverage": 1}}
    }
    request = make_request("how long is guacamole good for", hints=hints)
    first = answered_by(request, (DISHES, {"query": "guacamole"}, found([], searched="dishes")))
    (again,) = calls(provider, first)
    assert again.name == MANUAL
    second = answered_by(first, (MANUAL, {"query": "guacamole"}, found([passage("date-labels")])))
    assert "guacamole: 2 days [1]" in reply(provider, second)


def test_after_two_rounds_it_says_that_there_is_nothing(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    hints = {
        "evidence": {tool: {"score": 0.9, "coverage": 1.0} for tool in (DISHES, MANUAL, WINES)}
    }
    request = make_request("what about parrots", hints=hints)
    for tool in (DISHES, MANUAL):
        request = answered_by(request, (tool, {"query": "parrots"}, found([], searched=tool)))
    assert calls(provider, request) == []
    assert "found nothing" in reply(provider, request)


def test_a_tool_that_says_no_place_is_not_named_by_its_name_in_code(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("is there a parrot")
    for tool in ("find_locker", "list_lockers"):
        request = answered_by(request, (tool, {}, {"results": []}))
    assert reply(provider, request).startswith("I looked for “parrot” and found nothing")


def test_a_search_whose_filters_leave_nothing_is_made_without_them(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("an easy vegan stew")
    arguments = {"query": "vegan stew", "diet": "vegan", "difficulty": "easy"}
    empty = answered_by(request, ("search_recipes", arguments, found([], searched="recipes")))
    (again,) = calls(provider, empty)
    assert (again.name, again.arguments) == ("search_recipes", '{"query": "vegan stew"}')


def test_a_product_that_is_named_is_told_of_even_in_a_weak_search(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("how many people does the tomahawk feed")
    known = products("dishes")
    slugs = [slug for slug in known if known[slug]["category"] == "steak"]
    payload = found([known[slug] for slug in slugs], searched="dishes", weak=True)
    told = reply(provider, answered_by(request, (DISHES, {"query": "tomahawk"}, payload)))
    assert told.startswith("**Tomahawk for Two 36 oz**")


@pytest.mark.parametrize(
    ("recoverable", "told"),
    [
        (True, "That search did not work. Ask again in other words."),
        (False, "The library cannot be reached at the moment. Try again in a minute."),
    ],
)
def test_an_error_is_said_in_words_with_the_way_on(
    provider: BuiltinProvider, make_request: MakeRequest, recoverable: bool, told: str
) -> None:
    payload = {**FAILED, "recoverable": recoverable}
    request = answered_by(make_request("the tip policy"), (MANUAL, {"query": "tips"}, payload))
    assert reply(provider, request) == told


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"truncated": true, "beginning": "{"}'])
def test_a_result_that_cannot_be_read_is_no_answer(
    provider: BuiltinProvider, make_request: MakeRequest, text: str
) -> None:
    asked = make_request("the tip policy")
    call = ToolCall("call_1_1", MANUAL, '{"query": "tips"}')
    messages = (
        *asked.messages,
        ChatMessage("assistant", "", (call,)),
        ChatMessage("tool", text, tool_call_id=call.id, tool_name=MANUAL),
    )
    told = reply(provider, ModelRequest(messages, asked.tools, "en"))
    assert "found nothing that answers it" in told


def test_more_brings_what_was_not_said_yet(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    question, payload = "what's the tip policy", found([passage("tip-policy")])
    first = reply(
        provider, answered_by(make_request(question), (MANUAL, {"query": "tip"}, payload))
    )
    request = make_request(question, first, "tell me more")
    more = reply(provider, answered_by(request, (MANUAL, {"query": "tip"}, payload)))
    assert more.endswith("[1]")
    assert not {s for s in first.split(" [1]") if s.strip()} & set(more.split(" [1]"))


def test_more_ends_where_the_text_ends(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    text = "Parrots stay outside."
    payload = found([{"title": "Parrots", "path": [], "text": text, "language": "en"}])
    request = make_request("parrots", f"{text} [1]", "tell me more")
    told = reply(provider, answered_by(request, (MANUAL, {"query": "parrots"}, payload)))
    assert told == "That is all it says about it."


class LockerAnswers:
    """A skill's own way to tell its records."""

    def describe(
        self,
        question: str,
        results: Sequence[Mapping[str, Any]],
        named: Collection[str],
        action: str,
    ) -> list[Line]:
        return [Line("It is free.", int(one["cite"]), title=one["name"]) for one in results]

    def describe_none(self, payload: Mapping[str, Any]) -> list[Line]:
        return [Line("All lockers are taken.")]

    def names_one(
        self, question: str, results: Sequence[Mapping[str, Any]], named: Collection[str]
    ) -> bool:
        return any(one["name"].lower() in question for one in results)

    def is_only_near(self, question: str, results: Sequence[Mapping[str, Any]]) -> bool:
        return not self.names_one(question, results, ())


@pytest.mark.parametrize(
    ("question", "weak", "told"),
    [
        ("who has locker 12", False, "**Locker 12**: It is free. [1]"),
        ("who has locker 12", True, "**Locker 12**: It is free. [1]"),
        ("who has the parrot's cage", False, "The closest is “Locker 12”:"),
        ("who has the parrot's cage", True, "found nothing that answers it"),
    ],
)
def test_records_are_told_by_the_skill_that_found_them(
    provider: BuiltinProvider, make_request: MakeRequest, question: str, weak: bool, told: str
) -> None:
    payload = found([{"name": "Locker 12"}], searched="lockers", weak=weak)
    request = answered_by(make_request(question), ("find_locker", {}, payload))
    assert told in reply(provider, replace(request, records={"find_locker": LockerAnswers()}))
    assert "Locker 12**" not in reply(provider, request)


def test_that_there_is_none_is_told_by_the_skill_that_looked(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = answered_by(make_request("is a locker free"), ("find_locker", {}, found([])))
    told = reply(provider, replace(request, records={"find_locker": LockerAnswers()}))
    assert told == "All lockers are taken."


def test_numbers_of_an_earlier_reply_are_not_taken_for_this_ones(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("the tip policy", "Managers share nothing. [9]", "and overtime?")
    payload = found([passage("overtime")])
    told = reply(provider, answered_by(request, (MANUAL, {"query": "overtime"}, payload)))
    assert "[1]" in told
    assert "[9]" not in told


def test_asked_again_a_search_keeps_what_somebody_must_not_eat(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("an easy dessert recipe without gluten")
    wished = {"query": "dessert", "difficulty": "easy", "free_of": ["gluten"]}
    [again] = calls(provider, answered_by(request, ("search_recipes", wished, FAILED)))
    assert json.loads(again.arguments) == {"query": "dessert", "free_of": ["gluten"]}


def test_a_search_for_what_is_free_of_something_is_not_made_again_without_it(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("which dishes are gluten free")
    asked = {"query": "dishes", "free_of": ["gluten"]}
    again = calls(provider, answered_by(request, (DISHES, asked, FAILED)))
    assert not [call for call in again if call.name == DISHES]
