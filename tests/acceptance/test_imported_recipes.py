"""Real input: 308 recipes of other people's hands, imported as documents and asked about."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.accounts.new_people import create_group, create_user
from app.assistant.prompts.system_prompt import seed_prompts
from app.db import Database
from app.retrieval.models import Embedding, SearchDocument
from app.skills.knowledge.models import ManualSection
from tests.acceptance.asking import FINISHED, Reply, Visitor, ask, assert_share, read_lines
from tests.acceptance.conftest import read_papers
from tests.acceptance.grounding import broken_citations, unsupported

RECIPES = Path(__file__).parents[3] / "shared" / "data" / "recipes"
PASSWORD = "flour, water and salt"
QUESTIONS = read_lines("recipe_questions.jsonl")
REPORT = re.compile(r"(\d+) documents: (\d+) sections added, (\d+) changed, (\d+) unchanged")
Answered = tuple[dict[str, Any], Reply]

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not RECIPES.is_dir(),
        reason="the 308 recipes are not part of the project: ../shared/data/recipes is absent",
    ),
]


@dataclass(frozen=True)
class ScratchHouse:
    """A house that has nothing but the recipes."""

    slug: str
    group_id: UUID
    email: str


@pytest.fixture(scope="module")
def scratch(app: Flask, owner: Database) -> ScratchHouse:
    mark = secrets.token_hex(4)
    email = f"cook-{mark}@example.com"
    with owner.transaction() as session:
        group = create_group(session, f"recipes-{mark}", f"Recipes {mark}")
        create_user(session, email, "Cook", PASSWORD, {group.id: "admin"})
        seed_prompts(session, group.id, app.extensions["comanda"].registry)
        return ScratchHouse(group.slug, group.id, email)


def import_recipes(app: Flask, group: str, *options: str) -> tuple[int, ...]:
    """Run the import; returns the documents, and the sections added, changed, unchanged."""
    arguments = ["import", "manual", "--kind", "recipe", "--group", group, *options, str(RECIPES)]
    result = app.test_cli_runner().invoke(args=arguments)
    assert result.exit_code == 0, result.output
    report = REPORT.search(result.stdout)
    assert report, result.stdout
    return tuple(map(int, report.groups()))


@pytest.fixture(scope="module")
def first_import(app: Flask, scratch: ScratchHouse) -> tuple[int, ...]:
    return import_recipes(app, scratch.slug)


def contents(owner: Database, group_id: UUID) -> dict[str, Any]:
    """What an import leaves behind: how much of it, and when it was last written."""
    with owner.transaction() as session:

        def count(model: type[Any]) -> int:
            query = select(func.count()).select_from(model)
            return session.scalars(query.where(model.group_id == group_id)).one()

        documents = select(SearchDocument.id, SearchDocument.updated_at)
        rows = session.execute(documents.where(SearchDocument.group_id == group_id)).all()
        return {
            "sections": count(ManualSection),
            "embeddings": count(Embedding),
            "documents": {row.id: row.updated_at for row in rows},
        }


@pytest.fixture(scope="module")
def answered(app: Flask, scratch: ScratchHouse, first_import: tuple[int, ...]) -> list[Answered]:
    return [(line, ask(app, scratch.email, line["text"])) for line in QUESTIONS]


@pytest.fixture(scope="module")
def cook(app: Flask, scratch: ScratchHouse) -> Visitor:
    return Visitor(app, scratch.email, PASSWORD)


def test_a_dry_run_reports_and_stores_nothing(
    app: Flask, scratch: ScratchHouse, owner: Database
) -> None:
    before = contents(owner, scratch.group_id)
    documents, *_ = import_recipes(app, scratch.slug, "--dry-run")
    assert documents == 308
    assert contents(owner, scratch.group_id) == before


def test_every_recipe_is_imported_and_can_be_searched(
    first_import: tuple[int, ...], scratch: ScratchHouse, owner: Database
) -> None:
    documents, added, changed, unchanged = first_import
    assert (documents, changed, unchanged) == (308, 0, 0)
    found = contents(owner, scratch.group_id)
    assert found["sections"] == added >= 308
    assert len(found["documents"]) == found["embeddings"] >= 308


def test_importing_the_same_again_changes_nothing(
    app: Flask, first_import: tuple[int, ...], scratch: ScratchHouse, owner: Database
) -> None:
    before = contents(owner, scratch.group_id)
    assert import_recipes(app, scratch.slug) == (308, 0, 0, first_import[1])
    assert contents(owner, scratch.group_id) == before


def test_the_recipes_are_cited_as_recipes(answered: list[Answered]) -> None:
    contexts = {citation["context"] for _, reply in answered for citation in reply.citations}
    assert contexts == {"recipes"}


def test_the_questions_are_answered_from_the_right_recipe(answered: list[Answered]) -> None:
    assert all(reply.status == FINISHED for _, reply in answered)
    rows = [
        (f"wanted {line['cites']}: {reply}", bool(set(line["cites"]) & set(reply.cited_slugs)))
        for line, reply in answered
    ]
    assert_share(rows, 0.90, "cited the right recipe")


def test_the_answers_state_what_stands_there(answered: list[Answered]) -> None:
    rows = [
        (f"wanted {line['fact']}: {reply}", any(reply.states(fact) for fact in line["fact"]))
        for line, reply in answered
    ]
    assert_share(rows, 0.80, "stated what the recipe says")


def test_nothing_is_stated_that_no_recipe_says(
    answered: list[Answered], scratch: ScratchHouse, owner: Database
) -> None:
    papers = read_papers(owner, scratch.group_id)
    found = [f"{reply}: {bare}" for _, reply in answered if (bare := unsupported(reply, papers))]
    assert not found, "\n".join(found)


def test_every_citation_opens_at_what_it_quotes(answered: list[Answered], cook: Visitor) -> None:
    broken = [problem for _, reply in answered for problem in broken_citations(reply, cook)]
    assert not broken, "\n".join(broken)


def test_other_houses_cannot_open_the_recipes(
    demo: Flask, first_import: tuple[int, ...], answered: list[Answered]
) -> None:
    stranger = Visitor(demo, "sam@alamoprime.example")
    for _, reply in answered:
        for citation in reply.citations:
            assert stranger.get(citation["url"]).status_code == 404
