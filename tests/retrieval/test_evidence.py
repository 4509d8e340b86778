"""Whether what a search found is enough to answer from."""

from __future__ import annotations

from typing import Any

import pytest

from app.db import new_id
from app.retrieval.embedder import WORDLLAMA
from app.retrieval.evidence import Strength, judge
from app.retrieval.search import Hit, SearchOutcome, unknown_words
from tests.retrieval.shelf import Shelf


@pytest.fixture
def kitchen(shelf: Shelf) -> Shelf:
    shelf.put("Raw chicken may stay out for two hours at most.", "Raw chicken")
    shelf.put(
        "El pollo crudo puede estar fuera dos horas como máximo.", "Pollo crudo", language="es"
    )
    shelf.put("Tips are shared every night after closing. The pool is counted twice.", "Tip policy")
    shelf.put("Las propinas se reparten cada noche.", "Política de propinas", language="es")
    shelf.put("The staff entrance opens at nine; staff park behind the house.", "Arriving")
    shelf.put("# Margarita / Margarita\nlime / limón, tequila", "Margarita", language="mul")
    shelf.embed()
    return shelf


def strength(shelf: Shelf, query: str, model: str = WORDLLAMA, **more: str) -> Strength:
    outcome = shelf.search(query, **more)
    with shelf.database.transaction(shelf.scope) as session:
        return judge(outcome, query, model, unknown_words(session, query))


@pytest.mark.parametrize("query", ["How long can raw chicken stay out?", "politica de propinas"])
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
def test_what_a_document_says_is_good_evidence(kitchen: Shelf, query: str, mode: str) -> None:
    assert strength(kitchen, query, mode=mode) == "good"


@pytest.mark.parametrize(
    "query",
    [
        "Who won the game last night?",
        "asdf qwerty",
        "¿Quién ganó el partido anoche?",
        "",
        "de la",
        "when does the staff swimming pool open",
    ],
)
def test_what_no_document_says_is_no_evidence(kitchen: Shelf, query: str) -> None:
    assert strength(kitchen, query) == "none"


def found(**facts: Any) -> SearchOutcome:
    """One hit that says just enough of what was asked."""
    id_ = new_id()
    known: dict[str, Any] = {
        "document_id": id_, "source_type": "manual", "source_id": id_, "chunk_no": 0,
        "language": "en", "title": "Receiving", "headings": (), "text": "", "details": {},
        "score": 0.5, "semantic": 0.3, "lexical": 1.0, "bm25": 8.0, "coverage": 0.6,
    }  # fmt: skip
    return SearchOutcome((Hit(**{**known, **facts}),), "hybrid")


def test_words_that_no_document_has_take_from_what_the_others_found() -> None:
    query = "trout delivery temperature probe"
    assert judge(found(), query, WORDLLAMA) == "good"
    assert judge(found(), query, WORDLLAMA, unknown=["probe"]) == "thin"
    assert judge(found(), query, WORDLLAMA, unknown=["trout", "probe"]) == "none"


def test_a_title_that_is_named_adds_to_it() -> None:
    little = {"coverage": 0.35, "semantic": 0.2}
    assert judge(found(**little), "who takes deliveries", WORDLLAMA) == "none"
    assert judge(found(**little), "who does the receiving", WORDLLAMA) == "good"
    bilingual = found(**little, title="Receiving / Recepción de mercancía")
    assert judge(bilingual, "quién hace la recepción de mercancía", WORDLLAMA) == "good"


def test_a_model_that_nobody_calibrated_is_judged_more_carefully() -> None:
    assert judge(found(), "trout delivery", "text-embedding-3-large") == "thin"


@pytest.mark.parametrize(
    ("facts", "strength"),
    [
        ({"semantic": None, "coverage": 0.5}, "good"),
        ({"semantic": None, "coverage": 0.3}, "none"),
        ({"coverage": None, "semantic": 0.6}, "good"),
        ({"coverage": None, "semantic": 0.3}, "none"),
    ],
)
def test_one_leg_alone_has_its_own_measure(facts: dict[str, float], strength: Strength) -> None:
    assert judge(found(**facts), "trout delivery", WORDLLAMA) == strength
