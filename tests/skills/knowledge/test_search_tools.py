"""The six search tools: what they find, cite and draw, in one group and one language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask, url_for
from flask_babel import force_locale
from pydantic import ValidationError
from sqlalchemy import event, update

from app.assistant.models import Prompt
from app.assistant.tools.tool import CitationLedger, ToolContext, ToolResult
from app.db import Database
from app.extensions import Services
from app.retrieval.embedder import Vector as QueryVector
from app.retrieval.embedder import WordLlamaEmbedder
from app.retrieval.query_cache import EmbeddingUnavailable
from app.skills.knowledge.models import Product
from app.skills.knowledge.nlu.hints import find_hints, find_mentions
from app.skills.knowledge.services import kept_menus
from app.skills.knowledge.services.kept_menus import KeptMenus, fold_names
from app.skills.knowledge.tools.search_tools import TOOLS, RecipeArguments, SearchArguments
from app.text.allergens import ALLERGENS, FAMILIES
from app.web.urls import url_of
from tests.factories import Member, embed_library, make_product, make_section, make_user

RECIPES: tuple[dict[str, Any], ...] = (
    {"slug": "quick", "name_en": "Quick beans", "total_time_minutes": 15, "difficulty": "easy"},
    {"slug": "slow", "name_en": "Slow beans", "total_time_minutes": 180, "difficulty": "hard"},
    {"slug": "vegan", "name_en": "Vegan beans", "total_time_minutes": 20, "tags": ["vegan"]},
)


@pytest.fixture(scope="module")
def on(app: Flask) -> Services:
    services: Services = app.extensions["comanda"]
    return services


@pytest.fixture(scope="module")
def member(owner: Database, on: Services) -> Member:
    """Somebody in a group with a small library, embedded as a house's is."""
    member = make_user(owner)
    group_id = member.group_id
    make_section(owner, group_id)
    make_section(owner, group_id, "tips", "Tips", "Tips are pooled and paid every Friday by card.")
    make_section(
        owner, group_id, "greeting", "Greeting guests", "Smile within a minute.", kind="training"
    )
    make_product(owner, group_id)
    make_product(owner, group_id, "wines", "malbec", name_en="Malbec Alto", name_es="Malbec Alto")
    make_product(owner, group_id, "cocktails", "paloma", name_en="Paloma", name_es="Paloma")
    for recipe in RECIPES:
        make_product(owner, group_id, "recipes", **{"name_es": recipe["name_en"], **recipe})
    embed_library(owner, group_id)
    return member


@pytest.fixture
def run(app: Flask, on: Services, member: Member) -> Iterator[Any]:
    """Runs a tool by name, as a turn does."""
    ledger = CitationLedger()

    def tool(name: str, language: str = "en", scope: Any = None, **arguments: Any) -> ToolResult:
        found = on.registry.tools[name]
        whose = scope or member.scope
        context = ToolContext(
            whose,
            language,
            lambda: on.database.transaction(whose),
            ledger,
            services={"embedder": on.embedder},
        )
        with force_locale(language):
            return found.run(found.arguments.model_validate(arguments), context)

    with app.test_request_context("/"):
        tool.ledger = ledger  # type: ignore[attr-defined]
        yield tool


def test_a_question_finds_its_passage_with_a_number_and_its_place(run: Any) -> None:
    result = run("search_manual_v2", query="how long can raw chicken stay out")
    best = result.payload["results"][0]
    assert (best["cite"], best["title"]) == (1, "Raw chicken")
    assert "two hours" in best["text"]
    assert result.payload["weak"] is False
    [citation, *_] = run.ledger.citations
    assert citation.number == 1
    assert url_of(citation.url).startswith("/library/manual/raw-chicken?passage=")


def test_training_pages_are_searched_with_the_manual(run: Any) -> None:
    result = run("search_manual_v2", query="greeting guests smile")
    assert result.payload["results"][0]["title"] == "Greeting guests"
    assert {c.context for c in run.ledger.citations} <= {"manual", "training"}


def test_the_same_passage_keeps_its_number(run: Any) -> None:
    first = run("search_manual_v2", query="raw chicken hours").payload["results"][0]["cite"]
    again = run("search_manual_v2", query="chicken out of the cooler").payload["results"]
    assert first in [result["cite"] for result in again]
    numbers = [citation.number for citation in run.ledger.citations]
    assert numbers == list(range(1, len(numbers) + 1))


def test_an_action_of_the_restaurants_own_has_its_button_on_each_card(
    owner: Database, member: Member, run: Any
) -> None:
    texts = {"prompt_en": "Plating\nSay how it is plated.", "prompt_es": "Montaje\nDi cómo."}
    plating = Prompt(
        group_id=member.group_id, slug="action-dishes-plating", category="action",
        domain="dishes", sort_order=99, **texts,
    )  # fmt: skip
    of_wines = Prompt(
        group_id=member.group_id, slug="action-wines-decanting", category="action",
        domain="wines", sort_order=99, prompt_en="Decanting\nSay how.", prompt_es="",
    )  # fmt: skip
    with owner.transaction() as session:
        session.add_all([plating, of_wines])
    for language, label in (("en", "Plating"), ("es", "Montaje")):
        [card] = run("search_dishes", language, query="ribeye").parts
        assert [chip.action for chip in card.chips] == ["pairing", "allergens", "plating"]
        chip = card.chips[-1]
        assert (chip.label, chip.message, chip.domain) == (label, f"{label}: Ribeye", "dishes")
    with owner.transaction() as session:
        session.execute(
            update(Prompt).where(Prompt.slug == "action-dishes-plating").values(is_active=False)
        )
    [card] = run("search_dishes", query="ribeye").parts
    assert [chip.action for chip in card.chips] == ["pairing", "allergens"]


def test_what_no_source_says_is_weak_and_draws_no_card(run: Any) -> None:
    result = run("search_dishes", query="quantum chromodynamics lecture")
    assert result.payload["weak"] is True
    assert list(result.parts) == []


def test_a_dish_is_found_in_spanish_and_drawn_in_spanish(run: Any) -> None:
    result = run("search_dishes", "es", query="ribeye a la parrilla")
    assert result.payload["results"][0]["ingredients"] == ["res", "mantequilla"]
    [card] = result.parts
    assert card.allergens == ["milk"]
    assert url_of(card.url).split("?")[0] == url_for(
        "knowledge.product", kind="dishes", slug="ribeye"
    )
    assert [chip.action for chip in card.chips] == ["pairing", "allergens"]
    assert all(chip.domain == "dishes" for chip in card.chips)
    assert (
        card.chips[1].message == "¿Qué alérgenos tiene Ribeye?" or "Ribeye" in card.chips[1].message
    )


def test_each_tool_searches_only_its_own_domain(run: Any, on: Services) -> None:
    for tool in TOOLS:
        before = len(run.ledger.citations)
        run(tool.name, query="Paloma ribeye Malbec beans raw chicken tips")
        assert {c.context for c in run.ledger.citations[before:]} <= set(tool.source_types)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"max_time_minutes": 30}, {"Quick beans", "Vegan beans"}),
        ({"difficulty": "hard"}, {"Slow beans"}),
        ({"diet": "vegan"}, {"Vegan beans"}),
        ({"max_time_minutes": 10}, set()),
        ({"cuisine": "Martian"}, set()),
        ({"max_time_minutes": 16, "difficulty": "easy"}, {"Quick beans"}),
    ],
)
def test_recipes_are_filtered_hard(run: Any, filters: dict[str, Any], found: set[str]) -> None:
    result = run("search_recipes", query="beans", **filters)
    assert {each["name"] for each in result.payload["results"]} == found


@pytest.fixture(scope="module")
def wary(owner: Database) -> Member:
    """Somebody in a house whose dishes have declared their allergens, but for one."""
    member = make_user(owner)
    for slug, allergens in {
        "mole": ["peanut", "tree_nut", "gluten"],
        "bread": ["gluten"],
        "flan": ["milk", "egg"],
        "fries": [],
        "special": None,
        "ceviche": ["mollusc"],
    }.items():
        name = f"Dish {slug}"
        for kind in ("dishes", "recipes"):
            names = {"name_en": name, "name_es": name, "allergens": allergens}
            make_product(owner, member.group_id, kind, slug, **names)
    embed_library(owner, member.group_id)
    return member


@pytest.mark.parametrize(
    ("free_of", "found"),
    [
        (["gluten"], {"flan", "fries", "ceviche"}),
        (["peanut"], {"bread", "flan", "fries", "ceviche"}),
        (["nuts"], {"bread", "flan", "fries", "ceviche"}),
        (["shellfish", "gluten"], {"flan", "fries"}),
        (["milk", "egg"], {"mole", "bread", "fries", "ceviche"}),
    ],
)
@pytest.mark.parametrize("tool", ["search_dishes", "search_recipes"])
def test_only_what_is_listed_without_it_is_found(
    run: Any, wary: Member, tool: str, free_of: list[str], found: set[str]
) -> None:
    result = run(tool, scope=wary.scope, query="dish", free_of=free_of)
    names = {each["name"] for each in result.payload["results"]}
    assert names == {f"Dish {slug}" for slug in found}
    assert {card.name for card in result.parts} <= names
    assert "Dish special" not in str(result.payload)


def test_the_payload_says_what_was_left_out_in_the_readers_language(run: Any, wary: Member) -> None:
    result = run("search_dishes", "es", scope=wary.scope, query="dish", free_of=["nuts"])
    assert result.payload["free_of"] == ["frutos secos", "cacahuates"]
    assert "free_of" not in run("search_dishes", scope=wary.scope, query="dish").payload


def test_a_record_that_says_more_than_its_document_is_left_out(run: Any, owner: Database) -> None:
    member = make_user(owner)
    product = make_product(owner, member.group_id, "dishes", "soup", allergens=[])
    embed_library(owner, member.group_id)
    for allergens in (["gluten"], None):
        with owner.session() as session:
            changed = update(Product).where(Product.id == product.id).values(allergens=allergens)
            session.execute(changed)
            session.commit()
        result = run("search_dishes", scope=member.scope, query="ribeye", free_of=["gluten"])
        assert (result.payload["results"], list(result.parts)) == ([], [])


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS if tool.domain != "manual"])
def test_every_product_search_names_the_allergens_it_can_leave_out(on: Services, name: str) -> None:
    schema = on.registry.tools[name].spec().parameters["properties"]["free_of"]
    [options] = [one["items"]["enum"] for one in schema["anyOf"] if one["type"] == "array"]
    assert options == [*ALLERGENS, *FAMILIES]
    with pytest.raises(ValidationError):
        on.registry.tools[name].arguments.model_validate({"query": "x", "free_of": ["kryptonite"]})


def test_another_group_finds_nothing_of_it(run: Any, owner: Database) -> None:
    stranger = make_user(owner, role="admin")
    for tool in TOOLS:
        result = run(tool.name, scope=stranger.scope, query="Paloma ribeye Malbec chicken tips")
        assert result.payload["results"] == []
        assert result.payload["weak"] is True
    assert run.ledger.citations == []


@pytest.mark.parametrize(
    "query", ["'; DROP TABLE products; --", "%_\\", "((()))", "🌮", "a & b | !c", "<->", "\t x \n"]
)
def test_no_query_breaks_a_search(run: Any, query: str) -> None:
    for tool in TOOLS:
        run(tool.name, query=query)


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": "   "},
        {"query": "x" * 201},
        {},
        {"query": "x", "group_id": "another"},
        {"query": "x", "owner_id": "another"},
        {"query": "x", "limit": 500},
    ],
)
def test_arguments_a_model_should_not_send_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchArguments.model_validate(arguments)


@pytest.mark.parametrize(
    "more", [{"max_time_minutes": 0}, {"difficulty": "mortal"}, {"diet": "air"}, {"meal": "tea"}]
)
def test_filters_that_do_not_exist_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RecipeArguments.model_validate({"query": "beans", **more})


# What the house's names say


NAMES = fold_names(
    (
        ("dishes", "Chicken Fried Steak", "Chicken Fried Steak"),
        ("dishes", "Grilled Chicken", "Grilled Chicken"),
        ("dishes", "Chicken Tortilla Soup", "Chicken Tortilla Soup"),
        ("dishes", "Chimichurri", "Chimichurri"),
        ("cocktails", "Paloma", "Paloma"),
        ("cocktails", "Pepino Paloma", "Pepino Paloma"),
        ("wines", "Malbec Alto", "Malbec Alto"),
        ("recipes", "Sopa de Lima", "Sopa de Lima"),
    )
)


def mentioned(message: str) -> dict[str, list[str]]:
    return {entry["domain"]: entry["names"] for entry in find_mentions(message, NAMES)}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("What is in the Paloma?", {"cocktails": ["Paloma"]}),
        ("¿qué lleva la PALOMA?", {"cocktails": ["Paloma"]}),
        ("tell me about the chicken tortilla soup", {"dishes": ["Chicken Tortilla Soup"]}),
        ("how long can chicken stay out", {}),
        ("which wine goes with chimichurri", {"dishes": ["Chimichurri"]}),
        ("sopa de lima, por favor", {"recipes": ["Sopa de Lima"]}),
        ("", {}),
        ("🌮", {}),
    ],
)
def test_a_name_counts_when_most_of_its_weight_is_there(
    message: str, found: dict[str, list[str]]
) -> None:
    assert mentioned(message) == found


def test_each_mention_names_the_tool_that_knows_it() -> None:
    [entry] = find_mentions("malbec alto", NAMES)
    assert (entry["tool"], entry["domain"]) == ("search_wines", "wines")


def test_a_house_without_products_mentions_nothing() -> None:
    assert find_mentions("paloma", fold_names(())) == []


def test_hints_tell_what_is_named_and_which_library_would_answer(
    app: Flask, on: Services, member: Member
) -> None:
    with app.app_context(), on.database.transaction(member.scope) as session:
        hints, lines = find_hints(session, "How do I build a Paloma?", "en")
        spanish = find_hints(session, "¿Cómo se hace la Paloma?", "es")[1]
    assert hints["mentions"][0]["tool"] == "search_cocktails"
    assert "search_cocktails" in hints["evidence"]
    assert lines == ["Named in the message: Paloma (cocktails)."]
    assert spanish == ["Se nombra: Paloma (cocktails)."]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("¿Dónde está el registro de la actividad de los paquetes?", 3),
        ("¿Dónde está el registro de paquetes?", 0),
        # Of much else it is a part and not the whole.
        ("Registro: la actividad de los paquetes bajó anoche por el turno de limpieza del bar", 0),
    ],
)
def test_a_whole_title_says_that_its_section_is_meant(
    app: Flask, on: Services, owner: Database, message: str, words: int
) -> None:
    member = make_user(owner)
    title = "2.2.9. Registro de la actividad de los paquetes"
    make_section(owner, member.group_id, "logs", title, "Están en /var/log.", language="es")
    embed_library(owner, member.group_id)
    with app.app_context(), on.database.transaction(member.scope) as session:
        hints, _lines = find_hints(session, message, "es")
    assert hints["evidence"]["search_manual_v2"]["title"] == words


def test_hints_know_nothing_of_another_group(
    app: Flask, on: Services, member: Member, owner: Database
) -> None:
    stranger = make_user(owner)
    with app.app_context(), on.database.transaction(stranger.scope) as session:
        hints, lines = find_hints(session, "Paloma", "en")
    assert (hints["mentions"], lines) == ([], [])


def test_a_new_name_is_known_at_once(app: Flask, on: Services, owner: Database) -> None:
    member = make_user(owner)

    def mentions() -> list[Any]:
        with app.app_context(), on.database.transaction(member.scope) as session:
            return list(find_hints(session, "How do I build a Michelada?", "en")[0]["mentions"])

    make_product(owner, member.group_id, "cocktails", "drink", name_en="Paloma", name_es="Paloma")
    assert mentions() == mentions() == []
    names = {"name_en": "Michelada", "name_es": "Michelada"}
    make_product(owner, member.group_id, "cocktails", "drink", **names)
    assert [entry["names"] for entry in mentions()] == [["Michelada"]]
    make_product(owner, member.group_id, "cocktails", "drink", is_active=False, **names)
    assert mentions() == []


@pytest.mark.fault(65)
def test_a_menu_that_has_not_changed_is_neither_fetched_nor_folded_and_few_are_kept(
    on: Services, owner: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_menus, "MOST_NAMED", 3)
    menus = KeptMenus(most=8)

    def load(member: Member) -> kept_menus.Names:
        with on.database.transaction(member.scope) as session:
            return menus.load(session)

    members = [make_user(owner) for _ in range(4)]
    for member in members:
        for number in range(5):
            names = {"name_en": f"Taco {number}", "name_es": f"Taco número {number}"}
            make_product(owner, member.group_id, "dishes", f"taco-{number}", **names)
        first = load(member)
        assert [each.name for each in first.products][::2] == ["Taco 0", "Taco 1", "Taco 2"]
        assert load(member) is first
        assert menus.size <= 8
    with owner.transaction() as session:
        session.execute(
            update(Product).where(Product.group_id == member.group_id, Product.slug == "taco-1")
            .values(name_es="Taco de la casa")
        )  # fmt: skip
    assert "Taco de la casa" in {each.name for each in load(member).products}


class WatchedEmbedder(WordLlamaEmbedder):
    """Notes how many statements were sent before each query was embedded."""

    def __init__(self, statements: list[str], *, is_away: bool = False) -> None:
        self.statements, self.is_away = statements, is_away
        self.sent_before: list[int] = []

    def embed_query(self, text: str) -> QueryVector:
        self.sent_before.append(len(self.statements))
        if self.is_away:
            raise EmbeddingUnavailable("away")
        return super().embed_query(text)


@pytest.mark.parametrize("is_away", [False, True])
def test_hints_ask_the_model_once_and_before_the_database(
    app: Flask, on: Services, member: Member, monkeypatch: pytest.MonkeyPatch, is_away: bool
) -> None:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        statements.append(statement)

    embedder = WatchedEmbedder(statements, is_away=is_away)
    monkeypatch.setitem(app.extensions, "comanda", replace(on, embedder=embedder))
    event.listen(on.database.engine, "before_cursor_execute", note)
    try:
        with app.app_context(), on.database.transaction(member.scope) as session:
            hints, _ = find_hints(session, "How do I build a Paloma?", "en")
    finally:
        event.remove(on.database.engine, "before_cursor_execute", note)
    assert embedder.sent_before == [0]
    assert statements
    assert set(hints["evidence"]["search_cocktails"]) == {
        "score", "coverage", "odds", "title",
    }  # fmt: skip


def test_a_cited_number_opens_the_passage_it_was_found_in(run: Any, app: Flask) -> None:
    run("search_manual_v2", query="tips paid friday")
    for citation in run.ledger.citations:
        assert UUID(str(citation.document_id))
        assert str(citation.document_id) in url_of(citation.url)
