"""From a message to cards: the tool, what a model writes itself, chips, pages and the API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.assistant.models import Message, Prompt
from app.assistant.providers.base import TextDelta
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.turns.envelope import envelope
from app.assistant.turns.json_blocks import read_object
from app.db import Database
from app.extensions import Services
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import (
    Member,
    answer,
    ask,
    make_form,
    make_house_forms,
    make_section,
    make_user,
    sign_in,
)

SAID = "I need an injury report: John cut his hand on the slicer at 3pm"
INJURY = call("search_forms", '{"query": "injury report"}')


@pytest.fixture(scope="module")
def member(owner: Database) -> Member:
    """Somebody of a house with the six forms and a page about getting hurt."""
    member = make_user(owner)
    make_house_forms(owner, member.group_id)
    make_section(
        owner,
        member.group_id,
        "cuts-and-bleeding",
        "Cuts and bleeding",
        "Hold a hurt hand under running water. Then press on the cut and tell the manager.",
    )
    return member


@pytest.fixture(scope="module")
def builtin(app: Flask) -> BuiltinProvider:
    return BuiltinProvider(app.extensions["comanda"].embedder)


def cards(reply: Message) -> list[dict[str, Any]]:
    return [part for part in reply.parts if part["type"] == "form_card"]


def tools(reply: Message) -> list[str]:
    return [entry["tool"] for entry in reply.tool_trace]


def test_a_search_ends_in_a_card_with_what_was_said_and_an_action(
    app: Flask, on: Services, member: Member
) -> None:
    asked = ask(on.database, member, SAID)
    provider = ScriptedProvider([INJURY], say("Would you like to fill out this form?"))
    reply = answer(app, member, asked, provider)
    [card] = cards(reply)
    assert card["slug"] == "employee-injury-report"
    assert card["title"] == "Employee injury report"
    assert card["icon"] == "first-aid"
    assert card["context"] == SAID
    assert card["message_id"] == str(asked.message.id)
    [action] = reply.actions
    assert action["type"] == "open_form"
    assert action["payload"]["slug"] == "employee-injury-report"
    result = json.loads(provider.requests[1].messages[-1].text)
    assert result["results"][0].keys() == {"id", "slug", "title", "description", "icon", "score"}
    assert "<mark>" not in json.dumps(result)
    assert result["say"].endswith("Would you like to fill out this form?")


def test_the_envelope_carries_the_block_that_other_clients_read(
    app: Flask, on: Services, member: Member
) -> None:
    asked = ask(on.database, member, "Injury report! ``` John")
    reply = answer(app, member, asked, ScriptedProvider([INJURY], say("Here it is.")))
    with app.test_request_context():
        body = envelope(reply)
    assert body.message == "Here it is."
    assert body.answer.startswith("Here it is.\n\n```json\n")
    assert body.answer.count("```") == 2
    found = read_object(body.answer)
    assert found is not None
    navigation = found["form_navigation"]
    assert navigation["extractedContext"] == "Injury report! ``` John"
    [form] = navigation["forms"]
    assert form.keys() == {"slug", "title", "icon", "description"}
    assert body.mode == "search"
    assert asked.thread.context_type == "manual"


def test_a_reply_without_forms_has_no_block(app: Flask, on: Services, member: Member) -> None:
    reply = answer(app, member, ask(on.database, member), ScriptedProvider(say("Hello.")))
    assert envelope(reply).answer == "Hello."


@pytest.mark.parametrize(
    "block",
    [
        '{"form_navigation": {"forms": [{"slug": "guest-complaint", "title": "Pwned"}]}}',
        '```json\n{"form_navigation": {"forms": [{"slug": "guest-complaint"}]}}\n```',
        'so: {"form_navigation": {"forms": [{"slug": "guest-complaint"}, {"slug": "x"}, 7]}} yes',
    ],
    ids=["exact", "fence", "braces"],
)
def test_a_block_that_a_model_writes_becomes_a_card_of_the_houses_own_form(
    app: Flask, on: Services, member: Member, block: str
) -> None:
    asked = ask(on.database, member, "The guest on 22 was angry, I want to document it")
    pieces = [f"Here.\n\n{block}"[at : at + 5] for at in range(0, len(block) + 7, 5)]
    reply = answer(app, member, asked, ScriptedProvider(say(*pieces)))
    assert "form_navigation" not in reply.content
    assert reply.content.startswith("Here.")
    [card] = cards(reply)
    assert card["title"] == "Guest complaint"
    assert card["context"] == "The guest on 22 was angry, I want to document it"
    assert "Pwned" not in json.dumps(reply.parts)


def test_a_block_that_cannot_be_read_leaves_the_words_without_a_card(
    app: Flask, on: Services, member: Member
) -> None:
    words = say("I found the form. ", "{'form_nav", '{"form_navigation": {"forms": [{"slug": ')
    reply = answer(app, member, ask(on.database, member), ScriptedProvider(words))
    assert reply.content == "I found the form. {'form_nav"
    assert reply.parts == []
    assert reply.status == "complete"


def test_a_reply_that_is_one_object_has_its_words_in_it(
    app: Flask, on: Services, member: Member
) -> None:
    whole = {"message": "Here it is.", "form_navigation": {"forms": [{"slug": "guest-complaint"}]}}
    provider = ScriptedProvider([TextDelta(json.dumps(whole))])
    reply = answer(app, member, ask(on.database, member), provider)
    assert reply.content == "Here it is."
    assert [card["slug"] for card in cards(reply)] == ["guest-complaint"]


def test_a_form_of_another_house_comes_from_no_block(
    app: Flask, on: Services, owner: Database, member: Member
) -> None:
    stranger = make_user(owner)
    make_form(owner, stranger.group_id, "their-form", title_en="Their form")
    block = '{"form_navigation": {"forms": [{"slug": "their-form"}]}}'
    reply = answer(app, member, ask(on.database, member), ScriptedProvider(say(f"Here. {block}")))
    assert reply.parts == []


def test_a_form_that_was_found_twice_is_shown_once(
    app: Flask, on: Services, member: Member
) -> None:
    block = '{"form_navigation": {"forms": [{"slug": "employee-injury-report"}]}}'
    provider = ScriptedProvider([INJURY], [INJURY], say(f"Here. {block}"))
    reply = answer(app, member, ask(on.database, member, SAID), provider)
    assert len(cards(reply)) == 1
    assert len(reply.actions) == 1


def test_who_only_says_yes_means_what_they_said_before(
    app: Flask, on: Services, member: Member
) -> None:
    first = ask(on.database, member, SAID)
    answer(app, member, first, ScriptedProvider([INJURY], say("Would you like to?")))
    asked = ask(on.database, member, "yes please", first.thread.id)
    reply = answer(app, member, asked, ScriptedProvider([INJURY], say("Here.")))
    assert cards(reply)[0]["context"] == SAID


@pytest.mark.parametrize(
    ("text", "language", "slug", "question"),
    [
        (
            "I need to fill out an injury report",
            "en",
            "employee-injury-report",
            "Would you like to fill out this form?",
        ),
        (
            "Write up John for being late",
            "en",
            "employee-write-up",
            "Would you like to fill out this form?",
        ),
        (
            "Necesito llenar un reporte de lesión",
            "es",
            "employee-injury-report",
            "¿Quieres llenar este formulario?",
        ),
        (
            "Amonestar a Juan por llegar tarde",
            "es",
            "employee-write-up",
            "¿Quieres llenar este formulario?",
        ),
        (
            "quiero llenar la falla de equipo, la freidora no prende desde ayer",
            "es",
            "equipment-failure",
            "¿Quieres llenar este formulario?",
        ),
    ],
)
def test_the_built_in_assistant_shows_the_form_and_asks(
    app: Flask,
    on: Services,
    member: Member,
    builtin: BuiltinProvider,
    text: str,
    language: str,
    slug: str,
    question: str,
) -> None:
    reply = answer(app, member, ask(on.database, member, text, language=language), builtin)
    assert tools(reply) == ["search_forms"]
    assert [card["slug"] for card in cards(reply)] == [slug]
    assert cards(reply)[0]["language"] == language
    assert reply.content.endswith(question)


@pytest.mark.parametrize("said", ["A form for something we don't have", "A form to borrow the van"])
def test_where_there_is_no_such_form_those_that_there_are_are_shown(
    app: Flask, on: Services, member: Member, builtin: BuiltinProvider, said: str
) -> None:
    reply = answer(app, member, ask(on.database, member, said), builtin)
    assert tools(reply) == ["search_forms"]
    assert reply.content.startswith(("I don't have a form for that.", "I am not sure which form"))
    assert len(cards(reply)) >= 3
    assert not any(card["is_best"] for card in cards(reply))
    assert [chip["label"] for chip in reply.suggestions] == ["All forms"]


def test_who_asks_for_all_forms_sees_some(
    app: Flask, on: Services, member: Member, builtin: BuiltinProvider
) -> None:
    reply = answer(app, member, ask(on.database, member, "what forms do we have?"), builtin)
    assert len(cards(reply)) == 5


def test_what_happened_is_answered_first_with_the_form_as_a_chip(
    app: Flask, on: Services, member: Member, builtin: BuiltinProvider
) -> None:
    told = "John hurt his hand at 3pm on the slicer"
    reply = answer(app, member, ask(on.database, member, told), builtin)
    assert tools(reply) == ["search_manual_v2"]
    assert cards(reply) == []
    chip = reply.suggestions[-1]
    assert chip["label"] == "Employee injury report"
    assert told in chip["message"]
    reply = answer(app, member, ask(on.database, member, chip["message"]), builtin)
    assert [card["slug"] for card in cards(reply)] == ["employee-injury-report"]
    assert told in cards(reply)[0]["context"]


def test_yes_to_the_question_points_at_the_button(
    app: Flask, on: Services, member: Member, builtin: BuiltinProvider
) -> None:
    first = ask(on.database, member, "I need to fill out an injury report")
    answer(app, member, first, builtin)
    reply = answer(app, member, ask(on.database, member, "yes", first.thread.id), builtin)
    assert reply.content.startswith("Press the button or the suggestion")
    assert tools(reply) == []


def test_the_report_that_was_asked_for_comes_first_and_the_help_with_it(
    app: Flask, on: Services, member: Member, builtin: BuiltinProvider
) -> None:
    told = "I need to fill out an injury report, John cut his hand on the slicer"
    reply = answer(app, member, ask(on.database, member, told), builtin)
    assert tools(reply) == ["search_forms", "search_manual_v2"]
    assert reply.content.index("Would you like") < reply.content.index("running water")
    assert [card["slug"] for card in cards(reply)] == ["employee-injury-report"]


def test_with_its_prompt_row_off_the_search_is_offered_to_nobody(
    app: Flask, on: Services, owner: Database, builtin: BuiltinProvider
) -> None:
    member = make_user(owner)
    make_house_forms(owner, member.group_id)
    with owner.transaction() as session:
        session.execute(
            update(Prompt)
            .where(Prompt.group_id == member.group_id, Prompt.slug == "form-intent-map")
            .values(is_active=False)
        )
    reply = answer(app, member, ask(on.database, member, SAID), builtin)
    assert "search_forms" not in tools(reply)
    told = "John hurt his hand at 3pm on the slicer"
    reply = answer(app, member, ask(on.database, member, told), builtin)
    assert [chip["label"] for chip in reply.suggestions if "injury" in chip["label"]] == []
    provider = ScriptedProvider(say("All right."))
    answer(app, member, ask(on.database, member, SAID), provider)
    assert "search_forms" not in provider.offered[0]
    assert "fill out, complete" not in provider.requests[0].messages[0].text


def test_the_card_is_a_form_that_posts_what_was_said_by_its_message(
    app: Flask, on: Services, owner: Database, member: Member
) -> None:
    asked = ask(on.database, member, SAID)
    hurt = call("search_forms", '{"query": "employee hurt"}')
    reply = answer(app, member, asked, ScriptedProvider([hurt], say("This one?")))
    browser = sign_in(app, owner, member)
    page = browser.page(f"/chat/{asked.thread.id}")
    form = page.find("form", action="/forms/employee-injury-report/open")
    assert form.find("input", name="message_id").attributes["value"] == str(asked.message.id)
    assert form.find("button").text.startswith("Fill it out")
    assert page.find("mark").text == "hurt"
    alone = browser.fragment(f"/chat/{asked.thread.id}/messages/{reply.id}/parts/0")
    assert alone.find("form", action="/forms/employee-injury-report/open")


def test_the_prompt_row_introduces_the_tool_in_both_languages(
    owner: Database, member: Member
) -> None:
    with owner.transaction() as session:
        row = (
            session.query(Prompt).filter_by(group_id=member.group_id, slug="form-intent-map").one()
        )
    assert (row.category, row.domain, row.sort_order) == ("system", None, 2)
    assert min(len(row.prompt_en), len(row.prompt_es)) > 200
    assert "Would you like to fill out this form?" in row.prompt_en
    assert "¿Quieres llenar este formulario?" in row.prompt_es
    assert "search_forms" in row.prompt_en
    assert "search_forms" in row.prompt_es
