"""What the help page says is sent to a model's server, held against what requests carry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from app import create_app
from app.accounts.profile import update_profile
from app.assistant.tools.sent_data import is_sent_to
from app.config import Settings
from app.db import Database
from app.retrieval.embedder import OpenAIEmbedder, make_embedder
from app.skills.expenses.services.receipt_reader import read_picture
from app.skills.forms.builder.model_drafts import draft_with_model
from app.skills.forms.services.drafts import Change, change_fields
from tests.acceptance.service_requests.following import FollowingModel
from tests.acceptance.service_requests.talking import Talk, providers_of
from tests.factories import Member, make_contact, make_thread, make_user, sign_in
from tests.factories.expenses import make_expense
from tests.factories.library import make_section
from tests.factories.service_requests import make_request
from tests.model_server import Call, ModelServer, Say, scenario
from tests.skills.forms.talking import add_injury_report
from tests.skills.forms.talking import begin as begin_form

# What stands for each entry of the list, where it is kept or typed.
MARKS = {
    "messages": "zorilla one",
    "restaurant": "Emergency number: 911",
    "allergies": "Allergies: sesame",
    "proposal": "Open proposal, not done: add_expense",
    "expenses": "marmoset lunch",
    "receipts": "data:image/jpeg;base64,",
    "forms": "employee-injury-report",
    "form_values": "tapir kitchen",
    "form_wishes": "a log of quetzals",
    "passages": "Capybaras are weighed at noon",
    "requests": "SR-2026-",
    "texts": "okapi search",
}
# What no request carries, whatever is asked: besides, nobody's address.
KEPT = ("Marsupial of a colleague", "+12105550199")


@dataclass
class Sent:
    """All that the model's server was sent, and those who said it."""

    app: Flask
    server: ModelServer
    people: tuple[Member, ...]

    @property
    def bodies(self) -> str:
        chats = [call.body for call in self.server.calls]
        return json.dumps([*chats, *self.server.embedding_requests], ensure_ascii=False)


@pytest.fixture(scope="module")
def sent(demo: Flask, settings: Settings, owner: Database, database: Database) -> Iterator[Sent]:
    """A day of somebody whom a language model answers."""
    model = FollowingModel()
    with ModelServer(default=model, embedding_dimensions=64) as server:
        asking = {
            "openai_base_url": server.base_url,
            "openai_api_key": "none",
            "ai_vision_model": "eyes",
        }
        app = create_app(settings.model_copy(update=asking))
        person = make_user(owner, role="manager")
        add_injury_report(owner, person.group_id)
        make_contact(owner, person.group_id, "Ana Tapir", phone="+12105550199")
        make_section(
            owner, person.group_id, "capybaras", "Capybaras", "Capybaras are weighed at noon."
        )
        colleague = make_user(owner, person.group_id)
        make_thread(database, colleague, "Marsupial of a colleague")
        make_expense(database, person, "marmoset lunch")
        make_request(owner, person, "pangolin pump")
        with database.session(person.scope) as session:
            update_profile(session, allergens=["sesame"])
        converse(Talk(app, person, "en", model), server)
        fill_a_form(app, person)
        read_the_rest(app, server)
        yield Sent(app, server, (person, colleague))


def converse(talk: Talk, server: ModelServer) -> None:
    def ask(words: str, *calls: Call) -> None:
        rounds = [[each] for each in calls]
        server.script(scenario(*rounds, Say("Here it is."), when=f"^{words}$"))
        talk.send(words)

    ask("zorilla one")
    ask("capybaras", Call("search_manual_v2", {"query": "capybaras weighed"}))
    ask("my expenses", Call("list_expenses", {}))
    ask("which form", Call("search_forms", {"query": "injury report"}))
    ask("the pangolin pump leaks", Call("list_service_requests", {"words": "pangolin pump"}))
    ask("add axolotl feed", Call("add_expense", {"item": "axolotl feed", "amount": 9}))
    ask("and now something else")


def fill_a_form(app: Flask, person: Member) -> None:
    talker = begin_form(app, person)
    with talker.on.database.session(person.scope) as session:
        draft = session.merge(talker.draft, load=False)
        change_fields(session, draft, {"description": Change("tapir kitchen")}, "en")
        session.commit()
    talker.tell(providers_of(app)[0], "what is still missing?")


def read_the_rest(app: Flask, server: ModelServer) -> None:
    """What is sent outside of a conversation."""
    on = app.extensions["comanda"]
    draft_with_model(providers_of(app)[0], "a log of quetzals", "en")
    server.script(scenario(Say('{"item": "taxi"}'), when=lambda call: call.body["model"] == "eyes"))
    read_picture(on.settings, b"a photo", "image/jpeg")
    facts = {"embedding_model": "text-embedding-3-small", "embedding_dimensions": 64}
    embedder = make_embedder(on.settings.model_copy(update=facts))
    assert isinstance(embedder, OpenAIEmbedder)
    embedder.embed(["okapi search"])


def test_the_list_has_an_entry_for_all_that_these_conversations_send(sent: Sent) -> None:
    registry = sent.app.extensions["comanda"].registry
    assert {each.name for each in registry.sends} == MARKS.keys()
    assert len(registry.sends) == len(MARKS)


@pytest.mark.parametrize("name", MARKS)
def test_what_the_list_names_is_what_requests_carry(sent: Sent, name: str) -> None:
    assert MARKS[name] in sent.bodies


def test_nothing_else_of_people_leaves(sent: Sent) -> None:
    kept = [*KEPT, *(each.email for each in sent.people)]
    assert [each for each in kept if each in sent.bodies] == []


def test_each_tool_that_a_model_may_call_is_named_by_an_entry(sent: Sent) -> None:
    registry = sent.app.extensions["comanda"].registry
    shipped = {tool.name for skill in registry.skills if skill.sends for tool in skill.tools}
    named = [tool for each in registry.sends for tool in each.tools]
    assert sorted(named) == sorted(shipped)
    assert {"expenses", "forms", "knowledge", "service_requests"} <= {
        skill.name for skill in registry.skills if skill.sends
    }


@pytest.mark.parametrize(
    ("facts", "receivers"),
    [
        ({}, set()),
        ({"openai_api_key": "k"}, {"model"}),
        ({"openai_base_url": "http://here/v1", "ai_vision_model": "eyes"}, {"model", "vision"}),
        ({"openai_api_key": "k", "ai_provider": "builtin"}, set()),
        (
            {"openai_api_key": "k", "ai_provider": "builtin", "embedding_model": "m"},
            {"embeddings"},
        ),
        ({"ai_vision_model": "eyes"}, set()),
    ],
)
def test_what_is_sent_depends_on_how_the_server_is_set_up(
    facts: dict[str, Any], receivers: set[str]
) -> None:
    settings = Settings(**facts)
    every = ("model", "vision", "embeddings")
    assert {each for each in every if is_sent_to(each, settings)} == receivers


@pytest.mark.parametrize(("language", "words"), [("en", "allergies"), ("es", "alergias")])
def test_the_page_names_all_of_it(
    sent: Sent, demo: Flask, owner: Database, language: str, words: str
) -> None:
    member = make_user(owner, language=language)
    with_model = sign_in(sent.app, owner, member).page("/help")
    listed = with_model.find("ul", class_="sent-data").find_all("li")
    # All but the vectors, which are made here.
    assert len(listed) == len(MARKS) - 1
    assert words in with_model.find("ul", class_="sent-data").text
    alone = sign_in(demo, owner, member).page("/help")
    assert not alone.find_all("ul", class_="sent-data")
    assert words in alone.find("ul", class_="would-be-sent").text
