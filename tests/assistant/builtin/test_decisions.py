"""What is done with a message: a reply at once, a question back, or calls of tools."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from app.assistant.providers.base import ModelRequest, TextDelta, ToolCall, ToolSpec
from app.assistant.providers.builtin import BuiltinProvider
from app.skills.expenses.tools.ledger_tools import AddExpense
from tests.assistant.builtin.conftest import MakeRequest


def respond(provider: BuiltinProvider, request: ModelRequest) -> tuple[str, list[ToolCall]]:
    """The words and the calls of one model call."""
    events = list(provider.stream(request))
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return text, [event for event in events if isinstance(event, ToolCall)]


def tools_for(provider: BuiltinProvider, request: ModelRequest) -> list[str]:
    return [call.name for call in respond(provider, request)[1]]


@pytest.mark.parametrize(
    ("message", "language", "begins"),
    [
        ("hi", "en", "Hello."),
        ("thanks a lot", "en", "You are welcome."),
        ("who are you?", "en", "I am Comanda's built-in assistant."),
        ("bye, see you tomorrow", "en", "Goodbye"),
        ("asdfghjkl", "en", "I did not understand that."),
        ("😀", "en", "I did not understand that."),
        (
            "what's the capital of France",
            "en",
            "I only know what this restaurant's own documents say",
        ),
        ("what's 12 times 8", "en", "I only know what this restaurant's own documents say"),
        ("write me a poem", "en", "I only know what this restaurant's own documents say"),
    ],
)
def test_what_asks_nothing_of_the_house_needs_no_tool(
    provider: BuiltinProvider, make_request: MakeRequest, message: str, language: str, begins: str
) -> None:
    text, calls = respond(provider, make_request(message, language=language))
    assert text.startswith(begins)
    assert calls == []
    assert "!" not in text


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("cancel", "en"), ("forget it", "en"), ("nvm", "en"), ("No.", "en"),
        ("leave it, thanks", "en"), ("cancela", "es"), ("olvídalo", "es"), ("déjalo así", "es"),
    ],
)  # fmt: skip
def test_who_calls_off_where_nothing_is_open_is_let_go(
    provider: BuiltinProvider, make_request: MakeRequest, message: str, language: str
) -> None:
    """Nothing is looked up, nor read out of it by a skill that is not going on with it."""
    read = {"wanted": {"search_forms": {"query": message}}, "odds": {"search_forms": 2.5}}
    for said in ((message,), ("the taxi", "Which one do you mean?", message)):
        request = make_request(*said, language=language, hints=read)
        text, calls = respond(provider, request)
        assert calls == [] and text == "All right. Ask me whenever you need something."
    going_on = replace(request, hints={**read, "goes_on": {"search_forms": True}})
    assert tools_for(provider, going_on) == ["search_forms"]


def test_an_emergency_says_to_call_for_help_where_nothing_can_be_looked_up(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    """Also where something else was asked for in the same breath, which follows."""
    form = ToolSpec("search_forms", "Finds a form.", {}, is_wished=True)
    request = replace(make_request("A man at table six is choking"), tools=(form,))
    for wanted in ({}, {"search_forms": {"query": "incident"}}):
        asked = replace(request, hints={"wanted": wanted})
        text, calls = respond(provider, asked)
        assert "911" in text
        assert [call.name for call in calls] == list(wanted)


def test_what_a_groups_own_documents_answer_is_its_topic(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    question = "How do I configure sudo on the office computer?"
    asked = make_request(question)
    found = {"score": 0.9, "coverage": 0.6}
    for odds, tools in ((-2.0, []), (0.5, ["search_manual_v2"])):
        hints = {"evidence": {"search_manual_v2": {**found, "odds": odds}}}
        assert tools_for(provider, replace(asked, hints=hints)) == tools


@pytest.mark.parametrize("title", [0, 2])
def test_whose_whole_title_is_said_is_meant(
    provider: BuiltinProvider, make_request: MakeRequest, title: int
) -> None:
    asked = make_request("¿Para qué sirve el paquete equivs?", language="es")
    found = {"score": 0.6, "coverage": 0.4, "odds": 0.5, "title": title}
    hints = {"evidence": {"search_manual_v2": found}}
    called = tools_for(provider, replace(asked, hints=hints))
    assert (called == ["search_manual_v2"]) == bool(title)


def test_what_can_be_asked_is_shown_by_the_tools_own_examples(
    provider: BuiltinProvider, make_request: MakeRequest, tools: tuple[ToolSpec, ...]
) -> None:
    text, _ = respond(provider, make_request("what can you do", language="es"))
    assert f"- {tools[0].examples['es'][0]}" in text
    assert f"- {tools[1].examples['es'][0]}" in text


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("How long can raw chicken stay out?", "search_manual_v2"),
        ("¿Cuál es la política de propinas?", "search_manual_v2"),
        ("which beers do we have on tap", "search_beer_liquor"),
        ("recomiéndame un vino tinto", "search_wines"),
        ("how do I make a margarita", "search_cocktails"),
        ("dame una receta de sopa", "search_recipes"),
        ("which desserts are on the menu", "search_dishes"),
    ],
)
def test_a_question_leads_to_its_tool_without_any_hint(
    provider: BuiltinProvider, make_request: MakeRequest, message: str, tool: str
) -> None:
    assert tools_for(provider, make_request(message)) == [tool]


def test_a_mentioned_product_tells_the_tool(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    hints = {
        "mentions": [{"tool": "search_cocktails", "names": ["Ranch Water"]}],
        "evidence": {"search_cocktails": {"score": 0.7, "coverage": 0.9, "lexical_best": True}},
    }
    assert tools_for(provider, make_request("the ranch water", hints=hints)) == ["search_cocktails"]


def test_evidence_rescues_a_question_unlike_any_example(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    hints = {
        "evidence": {
            "search_manual_v2": {"score": 0.9, "coverage": 1.0, "lexical_best": True},
            "search_recipes": {"score": 0.3, "coverage": 0.2},
        }
    }
    request = make_request("who signs the guild charter", hints=hints)
    assert tools_for(provider, request) == ["search_manual_v2"]


@pytest.mark.parametrize(
    "hints", [{"evidence": None}, {"mentions": []}, {"evidence": {}}, {"domain": "manual"}]
)
def test_hints_may_be_missing(
    provider: BuiltinProvider, make_request: MakeRequest, hints: dict[str, Any]
) -> None:
    assert tools_for(provider, make_request("tip policy", hints=hints)) == ["search_manual_v2"]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "what wine goes with the ribeye and how do we rest steaks?",
            ["search_wines", "search_manual_v2"],
        ),
        (
            "¿Qué lleva el negroni? ¿Y qué cervezas hay de barril?",
            ["search_cocktails", "search_beer_liquor"],
        ),
    ],
)
def test_two_questions_for_two_tools_are_asked_at_once(
    provider: BuiltinProvider, make_request: MakeRequest, message: str, expected: list[str]
) -> None:
    calls = respond(provider, make_request(message))[1]
    assert [call.name for call in calls] == expected
    assert len({call.id for call in calls}) == 2


def test_two_questions_for_one_tool_are_one_search(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("How do I swap a shift? And when do we get paid?")
    assert tools_for(provider, request) == ["search_manual_v2"]


def test_the_arguments_are_the_words_that_matter_and_the_filters(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("Give me an easy vegetarian recipe in under 30 minutes, please")
    (call,) = respond(provider, request)[1]
    arguments = json.loads(call.arguments)
    assert call.name == "search_recipes"
    assert arguments.pop("query") == "easy vegetarian"
    assert arguments == {"max_time_minutes": 30, "difficulty": "easy", "diet": "vegetarian"}


@pytest.mark.parametrize(
    ("before", "now", "tool", "query"),
    [
        ("How much is the ribeye?", "and the filet?", "search_dishes", "filet"),
        ("how do I clean the slicer", "tell me more", "search_manual_v2", "clean slicer"),
        ("¿qué vino va con el corte?", "¿y con el pescado?", "search_wines", "vino pescado"),
    ],
)
def test_a_follow_up_goes_where_the_question_before_went(
    provider: BuiltinProvider,
    make_request: MakeRequest,
    before: str,
    now: str,
    tool: str,
    query: str,
) -> None:
    (call,) = respond(provider, make_request(before, "…", now))[1]
    assert (call.name, json.loads(call.arguments)["query"]) == (tool, query)


def test_a_chip_goes_to_the_tool_of_the_product_it_names(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    hints = {
        "domain": "dishes",
        "mentions": [{"tool": "search_dishes", "names": ["Filet Mignon 8 oz"]}],
    }
    request = make_request("What goes with Filet Mignon 8 oz?", action="pairing", hints=hints)
    assert tools_for(provider, request) == ["search_dishes"]


def test_the_domain_that_was_asked_in_counts(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    assert tools_for(provider, make_request("something red", hints={"domain": "wines"})) == [
        "search_wines"
    ]


def test_it_asks_back_when_two_readings_are_as_likely(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    lamps = ToolSpec("lamps", "", _QUERY, {"en": ("Which lamps are broken?",)})
    pumps = ToolSpec("pumps", "", _QUERY, {"en": ("Which pumps are broken?",)})
    text, calls = respond(provider, make_request("broken", offered=(lamps, pumps)))
    assert calls == []
    assert text.startswith("What would you like to know about it?")
    assert "Which lamps are broken?" in text
    assert "Which pumps are broken?" in text


def test_without_tools_it_says_that_it_cannot_look(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    text, calls = respond(provider, make_request("what is the tip policy", offered=()))
    assert calls == []
    assert text.startswith("I have nowhere to look that up")


_QUERY = {"properties": {"query": {"type": "string"}}, "required": ["query"]}


def test_a_new_tool_with_examples_needs_no_line_of_provider_code(
    provider: BuiltinProvider, make_request: MakeRequest, tools: tuple[ToolSpec, ...]
) -> None:
    lockers = ToolSpec(
        "find_locker",
        "Find which locker is free.",
        {
            "properties": {
                "text": {"type": "string"},
                "size": {"enum": ["small", "large"], "type": "string"},
            },
            "required": ["text"],
        },
        {
            "en": ("Which locker is free?", "Give me a locker", "I lost my locker key"),
            "es": ("¿Qué casillero está libre?", "Dame un casillero"),
        },
    )
    request = make_request("is there a large locker free for me?", offered=(*tools, lockers))
    (call,) = respond(provider, request)[1]
    assert call.name == "find_locker"
    assert json.loads(call.arguments) == {"text": "large locker free", "size": "large"}


def test_the_same_messages_lead_to_the_same_decision(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("how much is the tomahawk, and who do I call if the fryer breaks?")
    assert respond(provider, request) == respond(provider, request)


LIST_NOTES = ToolSpec(
    "list_notes",
    "Lists the notes.",
    {"type": "object", "properties": {"query": {"type": "string"}}},
)
ADD_EXPENSE = AddExpense().spec()


def test_what_a_skill_says_weighs_more_than_all_that_was_learned_of_others(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    """A message that names a skill, and a colon, is its own: see the skeleton of a skill."""
    add_note = replace(LIST_NOTES, name="add_note", is_wished=True)
    offered = (ADD_EXPENSE, LIST_NOTES, add_note)
    arguments = {"query": "coffee 4.50 and taxi 12"}
    hints = {"wanted": {"add_note": arguments}, "odds": {"add_note": 20.0}}
    request = make_request("notes: coffee 4.50 and taxi 12", hints=hints, offered=offered)
    [made] = respond(provider, request)[1]
    assert (made.name, json.loads(made.arguments)) == ("add_note", arguments)


def test_what_a_skill_could_not_read_is_asked_for_anew_and_no_other_tool_runs(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    request = make_request("log the receipt from the taxi", offered=(LIST_NOTES, ADD_EXPENSE))
    text, calls = respond(provider, request)
    assert calls == []
    assert ADD_EXPENSE.examples["en"][0] in text


def test_the_question_of_a_tool_is_asked_as_its_call_would_be_made(
    provider: BuiltinProvider, make_request: MakeRequest
) -> None:
    """Of a tool of which nothing was learned without weighing; of one that is not offered never."""
    add_note = replace(LIST_NOTES, name="add_note", is_wished=True)
    hints = {"reply": "For which day?", "reply_for": "add_note"}
    asked = make_request("plan a large party", hints=hints, offered=(ADD_EXPENSE, add_note))
    assert respond(provider, asked) == ("For which day?", [])
    other = make_request("plan a large party", hints=hints, offered=(ADD_EXPENSE,))
    assert respond(provider, other)[0] != "For which day?"
