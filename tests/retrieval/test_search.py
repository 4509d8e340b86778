"""What a search finds, in which order, and what it says when it cannot do what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import event, text

from app.db import Database, Scope, new_id
from app.retrieval.embedder import Vector, Vectors, WordLlamaEmbedder, WrongVectorSize
from app.retrieval.index import ChunkInput, SourceInput, index_sources
from app.retrieval.query_cache import EmbeddingUnavailable
from app.retrieval.search import (
    AtMost,
    Contains,
    Equals,
    Lacks,
    SearchRequest,
    search,
    unknown_words,
)
from tests.factories import Member, make_user
from tests.retrieval.shelf import Shelf


class AwayEmbedder(WordLlamaEmbedder):
    """The model of a server that does not answer."""

    def embed_query(self, text: str) -> Vector:
        raise EmbeddingUnavailable("the server is away")


class ShrunkEmbedder(WordLlamaEmbedder):
    """A model that was exchanged for a smaller one behind our back."""

    def embed_query(self, text: str) -> Vector:
        raise WrongVectorSize(self.model, self.dimensions, 3)


class HastyEmbedder(WordLlamaEmbedder):
    """A model whose answer nobody checked."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 3), dtype=np.float32)


@pytest.fixture
def kitchen(shelf: Shelf) -> Shelf:
    shelf.put("Raw chicken may stay out for two hours at most.", "Raw chicken")
    shelf.put(
        "El pollo crudo puede estar fuera dos horas como máximo.", "Pollo crudo", language="es"
    )
    shelf.put("Tips are shared every night after closing.", "Tip policy")
    shelf.put("Las propinas se reparten cada noche.", "Política de propinas", language="es")
    shelf.put("Clean the slicer with the guard in place.", "Slicer")
    shelf.put(
        "# Margarita / Margarita\nIngredients: lime / limón, tequila", "Margarita", language="mul"
    )
    shelf.embed()
    return shelf


def titles(shelf: Shelf, query: str, **wishes: object) -> list[str]:
    return [hit.title for hit in shelf.search(query, **wishes).hits]


@pytest.mark.parametrize(
    ("query", "language", "title"),
    [
        ("How long can raw chicken stay out?", "en", "Raw chicken"),
        ("¿Cuánto tiempo puede estar fuera el pollo crudo?", "es", "Pollo crudo"),
        ("¿Cuál es la política de propinas?", "es", "Política de propinas"),
        ("who gets the tips", "en", "Tip policy"),
        ("a drink with lime", "en", "Margarita"),
        ("una bebida con limon", "es", "Margarita"),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_the_right_document_comes_first(
    kitchen: Shelf, query: str, language: str, title: str, mode: str
) -> None:
    assert titles(kitchen, query, language=language, mode=mode)[0] == title


@pytest.mark.fault(67)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
def test_without_their_texts_the_hits_are_the_same(kitchen: Shelf, mode: str) -> None:
    query = "How long can raw chicken stay out?"
    whole = kitchen.search(query, mode=mode).hits
    assert whole and all(hit.text for hit in whole)
    bare = kitchen.search(query, mode=mode, with_text=False).hits
    assert bare == tuple(replace(hit, text="") for hit in whole)


@pytest.mark.parametrize("query", ["política de propinas", "politica de propinas", "POLÍTICA"])
def test_accents_and_case_make_no_difference(kitchen: Shelf, query: str) -> None:
    assert titles(kitchen, query, mode="lexical", language="es") == ["Política de propinas"]


def test_words_are_found_in_their_other_forms(kitchen: Shelf) -> None:
    assert titles(kitchen, "cleaning slicers", mode="lexical") == ["Slicer"]
    assert titles(kitchen, "propina repartida", mode="lexical") == ["Política de propinas"]


def test_a_stop_word_of_the_other_language_finds_nothing(kitchen: Shelf) -> None:
    kitchen.put("Pollo a la brasa de la casa", "Brasa menu")
    assert titles(kitchen, "de la propina", mode="lexical") == ["Política de propinas"]


def test_a_reader_finds_what_serves_their_language(kitchen: Shelf) -> None:
    assert titles(kitchen, "tips propinas", language="en", mode="lexical") == ["Tip policy"]
    kitchen.put("Tips for the bar.", "Untranslated", serves=("en", "es"))
    assert "Untranslated" in titles(kitchen, "tips", language="es", mode="lexical")


def test_the_title_counts_more_than_the_text(shelf: Shelf) -> None:
    shelf.put("The fryer stands beside the oven in the kitchen.", "Stations")
    shelf.put("It stands beside the fryer in the kitchen.", "The oven")
    assert titles(shelf, "oven", mode="lexical")[0] == "The oven"


def test_rare_words_count_more_than_common_ones(shelf: Shelf) -> None:
    for number in range(8):
        shelf.put(f"The oven of station {number} is hot.")
    shelf.put("The salamander is cold.", "Salamander")
    assert titles(shelf, "oven salamander", mode="lexical")[0] == "Salamander"


def test_meaning_finds_what_words_do_not(kitchen: Shelf) -> None:
    assert titles(kitchen, "poultry left at room temperature", mode="lexical") == []
    outcome = kitchen.search("poultry left at room temperature")
    assert outcome.hits[0].title in ("Raw chicken", "Pollo crudo")
    assert outcome.hits[0].semantic


def test_every_score_can_be_explained(kitchen: Shelf) -> None:
    outcome = kitchen.search("raw chicken")
    best = outcome.hits[0]
    assert best.lexical == 1 and best.bm25 and best.semantic
    assert best.score == pytest.approx(0.5 * best.semantic + 0.5 * best.lexical, abs=1e-6)
    assert best.coverage == pytest.approx(1)
    assert set(outcome.timings) == {"embed_ms", "database_ms", "total_ms"}
    assert all(0 <= (hit.semantic or 0) <= 1 and 0 <= hit.score <= 1 for hit in outcome.hits)


def test_the_order_is_the_same_every_time_with_ties_by_id(shelf: Shelf) -> None:
    for _ in range(5):
        shelf.put("Exactly the same words.", "Twin")
    shelf.embed()
    first = shelf.search("same words").hits
    assert len({hit.score for hit in first}) == 1
    assert [hit.document_id for hit in first] == sorted(hit.document_id for hit in first)
    assert shelf.search("same words").hits == first


def test_a_source_is_found_once_by_its_best_chunk(shelf: Shelf) -> None:
    chunks = [
        ChunkInput("en", ("en",), "Oven", "The oven is hot.", chunk_no=number)
        for number in range(3)
    ]
    source, other = shelf.put_chunks(*chunks), shelf.put("The oven is beside the fryer.")
    assert shelf.find("hot oven", mode="lexical") == [source, other]
    assert len(shelf.find("hot oven", mode="lexical", per_source=False)) == 4


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (3, 3), (500, 50), (0, 1), (-4, 1)])
def test_the_number_of_hits_is_kept_within_reason(shelf: Shelf, asked: int, given: int) -> None:
    sources = [
        SourceInput("dishes", new_id(), [ChunkInput("en", ("en",), "Soup", f"Number {number}.")])
        for number in range(60)
    ]
    with shelf.database.transaction(shelf.scope) as session:
        index_sources(session, group_id=shelf.group_id, sources=sources)
    assert len(shelf.find("soup", limit=asked, mode="lexical")) == given


def test_only_published_documents_are_found(shelf: Shelf) -> None:
    shelf.put("A secret soup.", is_published=False, embed=True)
    assert shelf.find("soup") == []


def test_only_the_wanted_kinds_are_found(kitchen: Shelf) -> None:
    kitchen.put("Chicken soup.", "Soup", source_type="dishes")
    assert titles(kitchen, "chicken", source_types=("dishes",)) == ["Soup"]


def test_private_documents_are_found_by_their_owner_alone(
    shelf: Shelf, owner: Database, member: Member
) -> None:
    shelf.put("My knee hurts.", "Mine", owner_id=member.user_id, embed=True)
    shelf.put("Knee exercises for everybody.", "Shared", embed=True)
    assert sorted(titles(shelf, "knee")) == ["Mine", "Shared"]
    colleague = make_user(owner, member.group_id)
    theirs = Shelf(shelf.database, colleague.scope, shelf.embedder)
    for mode in ("hybrid", "lexical", "semantic"):
        assert titles(theirs, "knee", mode=mode) == ["Shared"]


class TestFilters:
    @pytest.fixture
    def recipes(self, shelf: Shelf) -> Shelf:
        for title, details in {
            "Tacos": {"cuisine": "mexican", "diets": ["vegan", "halal"], "total_time_minutes": 20},
            "Mole": {"cuisine": "mexican", "diets": [], "total_time_minutes": 180},
            "Pasta": {"cuisine": "italian", "diets": ["vegan"], "total_time_minutes": 30},
            "Broth": {"cuisine": "mexican", "diets": ["vegan"], "total_time_minutes": "long"},
            "Bread": {},
        }.items():
            shelf.put("A good recipe.", title, source_type="recipes", details=details)
        shelf.embed()
        return shelf

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ([Equals("cuisine", "mexican")], {"Tacos", "Mole", "Broth"}),
            ([Contains("diets", ["vegan"])], {"Tacos", "Pasta", "Broth"}),
            ([Contains("diets", ["vegan", "halal"])], {"Tacos"}),
            ([AtMost("total_time_minutes", 30)], {"Tacos", "Pasta"}),
            ([Equals("cuisine", "mexican"), AtMost("total_time_minutes", 30)], {"Tacos"}),
            ([AtMost("total_time_minutes", 90), AtMost("total_time_minutes", 20)], {"Tacos"}),
            ([Equals("cuisine", "mexican"), Equals("cuisine", "italian")], set()),
            ([Equals("cuisine", "'; DROP TABLE postings; --")], set()),
        ],
    )
    @pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
    def test_a_filter_lets_through_what_satisfies_it_alone(
        self, recipes: Shelf, filters: list[object], found: set[str], mode: str
    ) -> None:
        assert set(titles(recipes, "recipe", filters=filters, mode=mode)) == found

    @pytest.fixture
    def dishes(self, shelf: Shelf) -> Shelf:
        for title, details in {
            "Mole": {"allergens": ["peanut", "tree_nut", "gluten"]},
            "Bread": {"allergens": ["gluten"], "price": 4},
            "Flan": {"allergens": ["milk", "egg"], "price": 9},
            "Fries": {"allergens": [], "price": 5},
            "Special": {"price": 3},
            "Stew": {"allergens": None},
            "Soup": {"allergens": "gluten"},
        }.items():
            shelf.put("A good dish.", title, source_type="dishes", details=details)
        shelf.embed()
        return shelf

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ([Lacks("allergens", ["gluten"])], {"Flan", "Fries"}),
            ([Lacks("allergens", ["milk"])], {"Mole", "Bread", "Fries"}),
            ([Lacks("allergens", ["peanut", "milk"])], {"Bread", "Fries"}),
            ([Lacks("allergens", ["gluten"]), Lacks("allergens", ["egg"])], {"Fries"}),
            ([Lacks("allergens", ["nut"])], {"Mole", "Bread", "Flan", "Fries"}),
            ([Lacks("allergens", [])], {"Mole", "Bread", "Flan", "Fries"}),
            ([Lacks("elsewhere", ["gluten"])], set()),
            ([Lacks("allergens", ["gluten"]), AtMost("price", 5)], {"Fries"}),
            ([Lacks("allergens", ["gluten"]), Contains("allergens", ["egg"])], {"Flan"}),
            (
                [Lacks("allergens", ["'); DROP TABLE postings; --"])],
                {"Mole", "Bread", "Flan", "Fries"},
            ),
        ],
    )
    @pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
    def test_what_is_unknown_is_never_taken_to_be_lacking(
        self, dishes: Shelf, filters: list[object], found: set[str], mode: str
    ) -> None:
        assert set(titles(dishes, "dish", filters=filters, mode=mode)) == found

    def test_a_filter_is_applied_before_the_best_are_chosen(self, shelf: Shelf) -> None:
        slow = [
            ChunkInput("en", ("en",), "Soup", "Soup soup.", details={"minutes": 60}, chunk_no=n)
            for n in range(70)
        ]
        shelf.put_chunks(*slow)
        wanted = shelf.put("A long story in which soup is named once.", details={"minutes": 5})
        shelf.embed()
        for mode in ("hybrid", "lexical", "semantic"):
            assert shelf.find("soup", filters=[AtMost("minutes", 5)], mode=mode) == [wanted]


@pytest.mark.parametrize("query", ["", "   ", "\0", "\n\t"])
def test_an_empty_query_finds_nothing_and_says_so(kitchen: Shelf, query: str) -> None:
    outcome = kitchen.search(query)
    assert (outcome.hits, outcome.reason) == ((), "empty_query")


@pytest.mark.parametrize("query", ["de la", "what is the", "¿qué?", "🍕", "?!"])
def test_a_query_of_stop_words_has_no_lexical_hit_and_says_so(kitchen: Shelf, query: str) -> None:
    outcome = kitchen.search(query, mode="lexical")
    assert (outcome.hits, outcome.reason) == ((), "only_stop_words")


@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE groups; --",
        "a" * 5_000,
        "%s %(x)s :y",
        "chicken " * 900,
        "\ud800 half",
        "NULL & | !",
    ],
)
def test_no_query_is_a_crash(kitchen: Shelf, query: str) -> None:
    for mode in ("hybrid", "lexical", "semantic"):
        kitchen.search(query, mode=mode)


def test_without_a_house_nothing_is_found(kitchen: Shelf) -> None:
    with kitchen.database.transaction(Scope()) as session:
        outcome = search(session, SearchRequest("chicken"), kitchen.embedder)
    assert (outcome.hits, outcome.reason) == ((), "no_group")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (AwayEmbedder(), "embedding_unavailable"),
        (ShrunkEmbedder(), "wrong_vector_size"),
        (HastyEmbedder(), "wrong_vector_size"),
    ],
    ids=["away", "exchanged", "wrong size"],
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_when_the_model_fails_words_answer(
    kitchen: Shelf, model: WordLlamaEmbedder, reason: str, mode: str
) -> None:
    outcome = Shelf(kitchen.database, kitchen.scope, model).search("raw chicken", mode=mode)
    assert (outcome.mode, outcome.degraded, outcome.reason) == ("lexical", True, reason)
    assert outcome.hits[0].title == "Raw chicken"


def test_a_model_without_vectors_yet_leaves_the_words(kitchen: Shelf) -> None:
    class NewEmbedder(WordLlamaEmbedder):
        model = "another-model"

    outcome = Shelf(kitchen.database, kitchen.scope, NewEmbedder()).search("raw chicken")
    assert outcome.hits[0].title == "Raw chicken"
    assert outcome.hits[0].semantic is None


def test_a_document_without_a_vector_yet_is_not_punished(kitchen: Shelf) -> None:
    kitchen.put("Raw chicken goes on the lowest shelf. Raw chicken!", "Raw chicken, raw chicken")
    best = kitchen.search("raw chicken").hits[0]
    assert (best.title, best.semantic) == ("Raw chicken, raw chicken", None)


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("Can the raw chickens stay out?", ()),
        ("pollo crudo", ()),
        ("raw chicken and swimming robots", ("swimming", "robots")),
        ("¿Pollo volador del 44?", ("volador",)),
        ("", ()),
    ],
)
def test_words_that_no_document_has_are_told(
    kitchen: Shelf, query: str, unknown: tuple[str, ...]
) -> None:
    with kitchen.database.transaction(kitchen.scope) as session:
        assert unknown_words(session, query) == unknown


def test_another_houses_words_are_unknown_here(kitchen: Shelf, owner: Database) -> None:
    other = make_user(owner)
    with kitchen.database.transaction(other.scope) as session:
        assert unknown_words(session, "raw chicken") == ("raw", "chicken")


def test_a_reading_that_stands_nowhere_takes_nothing_from_what_was_found(kitchen: Shelf) -> None:
    plain, with_reading = (
        kitchen.search(query, mode="lexical").hits[0].coverage
        for query in ("raw chicken", "raw chicken 4417")
    )
    assert plain == with_reading == 1


def test_a_caller_may_bring_the_vector(kitchen: Shelf) -> None:
    vector = kitchen.embedder.embed_query("raw chicken")
    away = Shelf(kitchen.database, kitchen.scope, AwayEmbedder())
    outcome = away.search("", vector=vector, mode="semantic")
    assert (outcome.mode, outcome.hits[0].title) == ("semantic", "Raw chicken")


def test_one_search_is_one_statement_after_its_settings(kitchen: Shelf) -> None:
    statements: list[str] = []

    def note(*args: object) -> None:
        statements.append(str(args[2]))

    event.listen(kitchen.database.engine, "before_cursor_execute", note)
    try:
        kitchen.search("raw chicken")
    finally:
        event.remove(kitchen.database.engine, "before_cursor_execute", note)
    assert len([s for s in statements if "set_config" not in s]) == 1


def test_a_document_may_have_another_word_for_what_is_asked(kitchen: Shelf) -> None:
    kitchen.put("The schedule goes up on Friday.", "Posting")
    asked = "when is the sched up"
    found = kitchen.search(asked, language="en", mode="lexical").hits
    assert [hit.title for hit in found] == ["Posting"]
    with kitchen.database.transaction(kitchen.scope) as session:
        assert unknown_words(session, asked, "en") == ()
        assert unknown_words(session, asked) == ("sched",)


def test_the_word_itself_is_worth_more_than_another_for_it(kitchen: Shelf) -> None:
    kitchen.put("Shifts are posted on Friday, for everybody to see.", "Other word")
    kitchen.put("The schedule is posted on Friday, for everybody.", "The word")
    kitchen.put("The schedule, the roster and the rota are one thing on Friday.", "Many words")
    hits = kitchen.search("schedule", language="en", mode="lexical").hits
    by_title = {hit.title: hit.coverage or 0 for hit in hits}
    assert by_title["The word"] == by_title["Many words"] == pytest.approx(1)
    assert by_title["Other word"] == pytest.approx(0.75)


def test_a_question_without_other_words_is_scored_as_ever(kitchen: Shelf) -> None:
    statement = (
        "SELECT doc_no, bm25, coverage FROM search_scores(:query, :group, NULL, 1.2, 0.75{})"
        " ORDER BY doc_no"
    )
    with kitchen.database.transaction(kitchen.scope) as session:
        asked = {"query": "raw chicken tips 44", "group": kitchen.group_id}
        rows = [
            session.execute(text(statement.format(more)), asked).all()
            for more in ("", ", '{}', '{}', 0.75", ", '{never}', '{asked}', 0.75")
        ]
    assert rows[0] and rows[0] == rows[1]
    for ours, theirs in zip(rows[2], rows[0], strict=True):
        assert list(ours) == pytest.approx(list(theirs))
