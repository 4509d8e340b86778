"""The search inspector: a search's own numbers, and why something is not among what it found."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import text, update

from app.admin.search_inspector import Inspection, find_subjects, inspect, load_subject, why_not
from app.db import Database, new_id
from app.errors import NotFound
from app.retrieval.embedder import WORDLLAMA
from app.retrieval.evidence import judge
from app.retrieval.hybrid_query import Mode
from app.retrieval.index import ChunkInput, index_source
from app.retrieval.models import Embedding, SearchDocument
from app.retrieval.search import search, unknown_words
from app.skills.knowledge.models import ManualSection, Product
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import (
    CheckedClient,
    Member,
    answer,
    ask,
    embed_library,
    make_product,
    make_section,
    make_user,
    sign_in,
)

MANUAL, DISHES, RECIPES = "search_manual_v2", "search_dishes", "search_recipes"
MODES: tuple[Mode, ...] = ("hybrid", "lexical", "semantic")


@pytest.fixture
def boss(owner: Database) -> Member:
    """The admin of a house with a small library."""
    boss = make_user(owner, role="admin")
    make_section(owner, boss.group_id)
    make_section(
        owner, boss.group_id, "pollo", "Pollo crudo", "El pollo crudo: dos horas.", language="es"
    )
    make_section(owner, boss.group_id, "tips", "Tips", "Tips are shared every night.")
    make_product(owner, boss.group_id)
    facts: dict[str, Any] = {"total_time_minutes": 90, "difficulty": "hard"}
    make_product(
        owner, boss.group_id, "recipes", "chicken-stew", name_en="Chicken stew", facts=facts
    )
    embed_library(owner, boss.group_id)
    return boss


@pytest.fixture
def browser(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    return sign_in(app, owner, boss)


class Desk:
    """The inspector's services, as the pages call them."""

    def __init__(self, app: Flask, member: Member) -> None:
        self.app, self.member = app, member
        self.on = app.extensions["comanda"]
        self.embedder = self.on.embedder

    def arguments(self, query: str, tool: str, **filters: Any) -> tuple[Any, Any]:
        found = self.on.registry.tools[tool]
        return found, found.arguments(query=query, **filters)

    def look(
        self, query: str, tool: str = MANUAL, mode: Mode = "hybrid", **more: Any
    ) -> Inspection:
        language = more.pop("language", "en")
        found, arguments = self.arguments(query, tool, **more)
        with self.on.database.transaction(self.member.scope) as session:
            return inspect(session, found, arguments, language, mode, self.embedder)

    def absent(
        self, source_id: UUID, query: str, tool: str = MANUAL, **more: Any
    ) -> dict[str, dict[str, Any]]:
        """What is said of this source, by code."""
        request = self.look(query, tool, **more).request
        with self.on.database.transaction(self.member.scope) as session:
            subject = load_subject(session, source_id)
            findings = why_not(session, request, self.embedder, subject)
        return {finding.code: finding.facts for finding in findings}


@pytest.fixture
def desk(app: Flask, boss: Member) -> Desk:
    return Desk(app, boss)


def change(owner: Database, statement: Any) -> None:
    with owner.transaction() as session:
        session.execute(statement)


# What a result scored


@pytest.mark.parametrize("mode", MODES)
def test_the_numbers_are_those_of_the_search_itself(desk: Desk, mode: Mode) -> None:
    query = "How long can raw chicken stay out?"
    looked = desk.look(query, mode=mode)
    with desk.on.database.transaction(desk.member.scope) as session:
        outcome = search(session, looked.request, desk.embedder)
        unknown = unknown_words(session, query, "en")
    limit = looked.request.limit
    seen = [row.hit for row in looked.rows[:limit]]
    assert [hit.document_id for hit in seen] == [hit.document_id for hit in outcome.hits]
    for ours, theirs in zip(seen, outcome.hits, strict=True):
        assert (ours.score, ours.semantic, ours.bm25, ours.lexical, ours.coverage) == (
            theirs.score,
            theirs.semantic,
            theirs.bm25,
            theirs.lexical,
            theirs.coverage,
        )
    assert looked.strength == judge(outcome, query, WORDLLAMA, unknown) == "good"
    assert looked.rows[0].use == "answer"
    legs = {"hybrid": ("words", "meaning"), "lexical": ("words",), "semantic": ("meaning",)}
    assert looked.rows[0].hit.legs == legs[mode]


def test_the_score_is_the_weighed_sum_that_is_shown(desk: Desk) -> None:
    looked = desk.look("raw chicken")
    best = looked.rows[0].hit
    assert best.semantic is not None
    assert best.lexical is not None
    expected = looked.calibration.semantic_weight * best.semantic
    expected += looked.calibration.lexical_weight * best.lexical
    assert best.score == pytest.approx(expected, abs=1e-5)


def test_the_query_is_shown_as_it_was_read(desk: Desk) -> None:
    looked = desk.look("How long can the raw chickens fly?")
    words = {term.word: term for term in looked.terms}
    assert words["the"].is_dropped
    assert words["the"].forms == ()
    [english] = [form for form in words["chickens"].forms if form.language == "en"]
    assert (english.lexeme, english.documents) == ("chicken", 1)
    assert "fly" in looked.unknown
    marked = {piece.lower() for piece, is_hit in looked.rows[0].text if is_hit}
    assert "chicken" in marked
    assert "the" not in marked


def test_a_page_shows_all_of_it(browser: CheckedClient) -> None:
    page = browser.page("/admin/search?q=the+raw+chicken&tool=search_manual_v2&language=en")
    assert [mark.text for mark in page.find_all("mark")][:2] == ["Raw", "chicken"]
    for words in ("Good evidence", "The answer uses it", "words and meaning", WORDLLAMA, "ms:"):
        assert words in page.text, words
    assert "the" in [each.text for each in page.find_all("s")]
    empty = browser.page("/admin/search")
    assert "Type a question" in empty.text
    assert not empty.find_all("ol")
    nothing = browser.page("/admin/search?q=the+of")
    assert "No word in this query says what it is about." in nothing.text


def test_what_is_shown_is_escaped_and_what_is_not_offered_counts_as_not_chosen(
    browser: CheckedClient,
) -> None:
    page = browser.page("/admin/search?q=%3Cscript%3E%00&tool=drop&language=xx&mode=%27")
    assert "<script>%" not in page.response.text
    chosen = [o for o in page.find_all("option") if "selected" in o.attributes]
    assert [o.attributes["value"] for o in chosen[:3]] == [MANUAL, "en", "hybrid"]


def test_filters_are_the_tools_own(desk: Desk, browser: CheckedClient) -> None:
    assert [row.hit.title for row in desk.look("stew", RECIPES).rows] == ["Chicken stew / Ribeye"]
    assert desk.look("stew", RECIPES, max_time_minutes=30).rows == []
    found = browser.page(f"/admin/search?q=stew&tool={RECIPES}&difficulty=hard")
    assert len(found.find_all("li", id="r-1")) == 1
    none = browser.page(f"/admin/search?q=stew&tool={RECIPES}&free_of=milk")
    assert "Nothing was found." in none.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (f"q={'x' * 201}", "A search can have up to 200 characters."),
        (f"q=stew&tool={RECIPES}&max_time_minutes=soon", "Choose one of the options."),
        (f"q=stew&tool={RECIPES}&difficulty=odd", "Choose one of the options."),
        (f"q=stew&tool={DISHES}&free_of=joy", "Choose one of the options."),
    ],
)
def test_what_no_search_takes_is_said_beside_its_field(
    browser: CheckedClient, query: str, said: str
) -> None:
    page = browser.page(f"/admin/search?{query}", 422)
    [error] = [p for p in page.find_all("p") if p.has_class("field-error")]
    assert error.text == said


# Why something is not there


def section_of(owner: Database, boss: Member, slug: str = "raw-chicken") -> UUID:
    with owner.transaction() as session:
        found = session.scalar(
            text("SELECT id FROM manual_sections WHERE group_id = :group AND slug = :slug"),
            {"group": boss.group_id, "slug": slug},
        )
    assert found is not None
    return UUID(str(found))


def test_what_is_there_is_said_to_be_there(desk: Desk, owner: Database, boss: Member) -> None:
    told = desk.absent(section_of(owner, boss), "raw chicken")
    assert told == {"found": {"place": 1, "score": desk.look("raw chicken").rows[0].hit.score}}


def test_what_is_not_published_is_not_searched(desk: Desk, owner: Database, boss: Member) -> None:
    source_id = section_of(owner, boss)
    change(
        owner, update(ManualSection).where(ManualSection.id == source_id).values(is_published=False)
    )
    change(
        owner,
        update(SearchDocument)
        .where(SearchDocument.source_id == source_id)
        .values(is_published=False),
    )
    assert desk.absent(source_id, "raw chicken") == {"unpublished": {}}


def test_another_search_another_language_and_no_index_at_all_are_told(
    desk: Desk, owner: Database, boss: Member
) -> None:
    source_id = section_of(owner, boss)
    assert desk.absent(source_id, "raw chicken", DISHES) == {"other_search": {"kinds": ["manual"]}}
    make_section(owner, boss.group_id, title="Pollo", body="El pollo crudo espera.", language="es")
    change(
        owner,
        text("DELETE FROM search_documents WHERE source_id = :id AND language = 'en'").bindparams(
            id=source_id
        ),
    )
    told = desk.absent(source_id, "raw chicken")
    assert told == {"other_language": {"languages": ["es"]}, "index_behind": {}}
    change(
        owner, text("DELETE FROM search_documents WHERE source_id = :id").bindparams(id=source_id)
    )
    assert desk.absent(source_id, "raw chicken") == {"not_indexed": {}, "index_behind": {}}


def test_filters_that_leave_it_out_are_told(desk: Desk, owner: Database, boss: Member) -> None:
    stew = make_product(
        owner, boss.group_id, "recipes", "stew", name_en="Stew", facts={"total_time_minutes": 90}
    )
    told = desk.absent(stew.id, "stew", RECIPES, max_time_minutes=10)
    assert told == {"filtered": {}}


def test_a_word_in_common_and_a_vector_are_what_it_takes(
    desk: Desk, owner: Database, boss: Member
) -> None:
    new = make_section(owner, boss.group_id, "ovens", "Ovens", "Ovens are lit at ten.")
    told = desk.absent(new.id, "raw chicken")
    assert told == {"no_common_word": {}, "not_embedded": {}}
    assert desk.absent(new.id, "raw chicken", mode="lexical") == {"no_common_word": {}}
    with owner.transaction() as session:
        document = session.scalars(
            text("SELECT id FROM search_documents WHERE source_id = :id"), {"id": new.id}
        ).one()
        vector = {"model": "another", "dimensions": 3, "embedding": [1, 2, 3], "content_hash": "x"}
        session.add(Embedding(document_id=document, group_id=boss.group_id, **vector))
    told = desk.absent(new.id, "raw chicken")
    assert told == {"no_common_word": {}, "other_model": {"models": ["another"]}}


def test_what_stands_behind_the_candidates_is_shown_beside_the_last_of_them(
    desk: Desk, owner: Database, boss: Member
) -> None:
    """Fifty come in by each leg; the house has more of them that are nearer than this one."""
    with owner.session() as session:
        for number in range(60):
            chunk = ChunkInput("en", ("en",), "Raw chicken", f"Raw chicken, raw chicken {number}.")
            index_source(
                session,
                group_id=boss.group_id,
                source_type="manual",
                source_id=new_id(),
                chunks=[chunk],
            )
        session.commit()
    words = "The roof has tiles, gutters and a chimney that is swept in spring. " * 8
    far = make_section(owner, boss.group_id, "roof", "The roof", f"{words} No chicken there.")
    embed_library(owner, boss.group_id)
    told = desk.absent(far.id, "raw chicken")
    assert set(told) == {"far_in_words", "far_in_meaning"}
    for facts in told.values():
        assert facts["rank"] > 50
        assert facts["score"] < facts["last"]
    assert set(desk.absent(far.id, "raw chicken", mode="semantic")) == {"far_in_meaning"}


def test_a_vector_of_an_earlier_text_and_an_index_that_is_behind_are_told(
    desk: Desk, owner: Database, boss: Member
) -> None:
    changed = make_section(owner, boss.group_id, body="Raw chicken may stay out for one hour.")
    told = desk.absent(changed.id, "raw chicken")
    assert set(told) == {"found", "stale_vector"}
    change(
        owner,
        update(ManualSection).where(ManualSection.id == changed.id).values(body_en="Unindexed."),
    )
    assert set(desk.absent(changed.id, "raw chicken")) == {"found", "stale_vector", "index_behind"}


def test_the_model_being_away_is_told(desk: Desk, owner: Database, boss: Member) -> None:
    class Away:
        model, dimensions = WORDLLAMA, 256

        def embed_query(self, _text: str) -> Any:
            from app.retrieval.query_cache import EmbeddingUnavailable

            raise EmbeddingUnavailable("it sleeps")

    desk.embedder = Away()  # type: ignore[assignment]
    told = desk.absent(section_of(owner, boss, "tips"), "raw chicken")
    assert told == {"no_common_word": {}, "model_away": {}}


@pytest.mark.fault(68)
def test_while_the_vector_is_made_the_page_holds_no_connection(
    app: Flask, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six pages of a slow server of embeddings were all connections that a worker has."""
    on = app.extensions["comanda"]
    embed, held = on.embedder.embed_query, list[int]()

    def look(text: str) -> Any:
        held.append(on.database.engine.pool.checkedout())
        return embed(text)

    monkeypatch.setattr(on.embedder, "embed_query", look)
    assert "chicken" in browser.page("/admin/search?q=raw+chicken").text
    assert held[0] == 0


def test_private_documents_of_others_are_not_there_and_ones_own_are_marked(
    desk: Desk, owner: Database, boss: Member
) -> None:
    source_id = section_of(owner, boss, "tips")
    make_private = text("UPDATE search_documents SET owner_id = :owner WHERE source_id = :id")
    change(owner, make_private.bindparams(owner=new_id(), id=source_id))
    assert desk.look("tips").rows == [] or all(
        row.hit.source_id != source_id for row in desk.look("tips").rows
    )
    assert "not_indexed" in desk.absent(source_id, "tips")
    change(owner, make_private.bindparams(owner=boss.user_id, id=source_id))
    assert "private" in desk.absent(source_id, "tips", mode="semantic")


def test_one_is_led_from_a_name_to_the_reason(browser: CheckedClient) -> None:
    page = browser.page("/admin/search?q=raw+chicken&why=TIPS")
    [link] = [a for a in page.find_all("a") if "source=" in a.attributes.get("href", "")]
    assert link.text == "Tips Manual"
    told = browser.page(link.attributes["href"])
    assert told.find_all("li", data_code="found") or told.find_all("li", data_code="no_common_word")
    assert (
        "Nothing in the library has this name."
        in browser.page("/admin/search?q=x&why=heliport").text
    )


def test_every_reason_has_its_sentence(app: Flask) -> None:
    from typing import get_args

    from app.admin.search_inspector_words import finding_words
    from app.retrieval.explain import Code, Finding

    facts = {"place": 9, "score": 0.5, "rank": 70, "last": None, "kinds": ["wines"]}
    facts |= {"languages": ["es"], "models": ["another"]}
    with app.test_request_context("/"):
        told = {code: finding_words(Finding(code, facts), 6)[1] for code in get_args(Code)}
    assert all(told.values())
    assert len(set(told.values())) == len(told)
    assert not [code for code, sentence in told.items() if re.search(r"%\(", sentence)]


def test_unpublished_things_are_found_by_name_and_others_houses_are_not(
    desk: Desk, owner: Database, boss: Member
) -> None:
    other = make_user(owner, role="admin")
    theirs = make_section(owner, other.group_id, "secret", "Secret sauce")
    mine = make_product(owner, boss.group_id, "dishes", "sauce", name_en="Plain sauce")
    change(owner, update(Product).where(Product.id == mine.id).values(is_active=False))
    with desk.on.database.transaction(boss.scope) as session:
        assert [each.id for each in find_subjects(session, "SÁUCE")] == [mine.id]
        assert find_subjects(session, "  ") == []
        for id_ in (theirs.id, new_id()):
            with pytest.raises(NotFound):
                load_subject(session, id_)


# Who may look


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_only_admins_may_look(app: Flask, owner: Database, boss: Member, role: str) -> None:
    colleague = sign_in(app, owner, make_user(owner, boss.group_id, role))
    colleague.page("/admin/search?q=raw+chicken", 403)


def test_an_admin_of_another_house_finds_nothing_of_it(
    app: Flask, owner: Database, boss: Member
) -> None:
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    assert "Nothing was found." in stranger.page("/admin/search?q=raw+chicken").text
    stranger.page(f"/admin/search?q=raw&source={section_of(owner, boss)}", 404)


def test_the_address_only_reads_and_asks_strangers_to_sign_in(
    app: Flask, browser: CheckedClient
) -> None:
    assert browser.post("/admin/search", q="x").status_code == 405
    assert app.test_client().get("/admin/search").status_code == 303


def test_ones_own_turn_leads_an_admin_to_its_search(
    app: Flask, owner: Database, database: Database, boss: Member
) -> None:
    cook = make_user(owner, boss.group_id)
    wanted = '{"query": "raw chicken", "difficulty": "hard"}'
    for member, links in ((boss, 1), (cook, 0)):
        accepted = ask(database, member, "How long?")
        answer(app, member, accepted, ScriptedProvider([call(RECIPES, wanted)], say("Two hours.")))
        page = sign_in(app, owner, member).page(f"/admin/turns/{accepted.turn.id}")
        found = [a for a in page.find_all("a") if a.text == "Inspect this search"]
        assert len(found) == links
        if found:
            address = found[0].attributes["href"]
            assert address.endswith("difficulty=hard&q=raw+chicken&tool=search_recipes&language=en")
