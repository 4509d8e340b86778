"""The demo houses, loaded once into this worker's database, and who works in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete, select

from app import create_app
from app.accounts.models import Group
from app.config import Settings
from app.db import Database
from app.demo import load_demo
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import ManualSection, Product
from app.skills.service_requests.models import RequestSettings
from tests.acceptance.asking import Visitor
from tests.acceptance.grounding import Papers
from tests.acceptance.planned import Plan, PlannedModel
from tests.acceptance.service_requests.conversation import Conversation
from tests.acceptance.service_requests.following import FollowingModel
from tests.factories import Member, make_user
from tests.factories.service_requests import ask_step_by_step
from tests.model_server import InJson, ModelServer, PlausibleAssistant


@pytest.fixture(scope="session")
def demo(app: Flask, owner: Database) -> Flask:
    """The app with both demo houses in its database; the built-in assistant answers."""
    services = app.extensions["comanda"]
    assert services.settings.provider == "builtin"
    with app.app_context():
        load_demo(services)
    ask_step_by_step(owner)
    return app


@pytest.fixture(scope="session")
def model_server() -> Iterator[ModelServer]:
    """A model that speaks OpenAI's format; unless a test plans it, the plausible assistant."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def demo_with_model(demo: Flask, settings: Settings, model_server: ModelServer) -> Flask:
    """A second app on the same houses, which asks the scripted server over HTTP."""
    asking = {"openai_base_url": model_server.base_url, "openai_api_key": "none"}
    return create_app(settings.model_copy(update=asking))


@dataclass(frozen=True)
class LanguageModel:
    """An app that asks a scripted model, which calls tools of its own or speaks JSON."""

    app: Flask
    server: ModelServer
    speaks_json: bool

    def follow(self, message: str, plan: Plan) -> None:
        """Go about this message in that way."""
        if self.speaks_json:
            one_by_one = [{tool: query} for round_ in plan for tool, query in round_.items()]
            self.server.script(InJson(PlannedModel(message, one_by_one)))
        else:
            self.server.script(PlannedModel(message, plan))


@pytest.fixture(scope="session")
def native_model(demo_with_model: Flask, model_server: ModelServer) -> LanguageModel:
    """A model with function calling."""
    return LanguageModel(demo_with_model, model_server, speaks_json=False)


@pytest.fixture(scope="session")
def json_model(demo: Flask, settings: Settings) -> Iterator[LanguageModel]:
    """A model without it: AI_TOOL_MODE=json."""
    with ModelServer() as server:
        server.script(InJson(PlausibleAssistant()))
        asking = {"openai_base_url": server.base_url, "openai_api_key": "none"}
        mode = {"ai_tool_mode": "json"}
        yield LanguageModel(create_app(settings.model_copy(update=asking | mode)), server, True)


@pytest.fixture(params=["native", "json"])
def language_model(request: pytest.FixtureRequest) -> LanguageModel:
    """Each of the two."""
    model: LanguageModel = request.getfixturevalue(f"{request.param}_model")
    return model


@pytest.fixture(scope="session")
def visitor(demo: Flask) -> Callable[[str], Visitor]:
    """Signs a demo person in, each of them once."""
    known: dict[str, Visitor] = {}

    def sign_in(email: str) -> Visitor:
        if email not in known:
            known[email] = Visitor(demo, email)
        return known[email]

    return sign_in


@pytest.fixture(scope="session")
def houses(demo: Flask, owner: Database) -> dict[str, UUID]:
    """The ids of the demo houses, by short name."""
    with owner.transaction() as session:
        rows = session.execute(select(Group.slug, Group.id)).all()
    return {slug: id_ for slug, id_ in rows if slug in ("alamo-prime", "casa-lucero")}


@pytest.fixture(scope="session")
def papers(houses: dict[str, UUID], owner: Database) -> dict[str, Papers]:
    """All that each house knows, by short name."""
    return {slug: read_papers(owner, group_id) for slug, group_id in houses.items()}


@pytest.fixture(scope="session")
def sources(houses: dict[str, UUID], owner: Database) -> dict[str, frozenset[str]]:
    """The ids of the documents that each house may cite, by short name."""
    found = {}
    with owner.transaction() as session:
        for slug, group_id in houses.items():
            query = select(SearchDocument.id).where(SearchDocument.group_id == group_id)
            found[slug] = frozenset(str(id_) for id_ in session.scalars(query))
    return found


def read_papers(owner: Database, group_id: UUID) -> Papers:
    """Everything a house has in writing: what is searched, and the steps of its recipes."""
    with owner.transaction() as session:
        documents = session.execute(
            select(SearchDocument.title, SearchDocument.text).where(
                SearchDocument.group_id == group_id
            )
        ).all()
        sections = session.execute(
            select(ManualSection.title_en, ManualSection.title_es).where(
                ManualSection.group_id == group_id
            )
        ).all()
        products = session.execute(
            select(Product.name_en, Product.name_es, Product.steps).where(
                Product.group_id == group_id
            )
        ).all()
    steps = [step[language] for *_, all_ in products for step in all_ for language in ("en", "es")]
    names = [name for row in (*sections, *((en, es) for en, es, _ in products)) for name in row]
    return Papers([text for _, text in documents] + steps, names)


@dataclass(frozen=True)
class Followed:
    """Two apps of the same houses that ask one model: with function calling, and in JSON."""

    native: Flask
    in_json: Flask
    model: FollowingModel
    server: ModelServer


@pytest.fixture(scope="session")
def followed(demo: Flask, settings: Settings) -> Iterator[Followed]:
    model = FollowingModel()
    with ModelServer(InJson(model, sizes=60), default=model) as server:
        asking = {"openai_base_url": server.base_url, "openai_api_key": "none"}
        native = create_app(settings.model_copy(update=asking))
        in_json = create_app(settings.model_copy(update=asking | {"ai_tool_mode": "json"}))
        yield Followed(native, in_json, model, server)


@pytest.fixture(scope="session")
def elsewhere(demo: Flask, settings: Settings) -> Flask:
    """Another process of the same house, which has seen nothing of a conversation."""
    return create_app(settings)


@pytest.fixture
def person(owner: Database, houses: dict[str, UUID]) -> Callable[[str], Member]:
    """Makes somebody new of the demo house."""
    return lambda language: make_user(owner, houses["alamo-prime"], "staff", language=language)


Solving = Callable[[Conversation], AbstractContextManager[None]]


@pytest.fixture
def solving(owner: Database, houses: dict[str, UUID]) -> Solving:
    """Sets whether the house proposes solutions, for the time of a conversation."""
    group_id = houses["alamo-prime"]

    def forget() -> None:
        with owner.transaction() as session:
            session.execute(delete(RequestSettings).where(RequestSettings.group_id == group_id))

    @contextmanager
    def set_up(conversation: Conversation) -> Iterator[None]:
        with owner.transaction() as session:
            session.add(
                RequestSettings(
                    group_id=group_id,
                    is_resolution_on=conversation.is_solving,
                    resolution_threshold=conversation.threshold,
                )
            )
        try:
            yield
        finally:
            forget()

    forget()
    return set_up
