"""Behind the predicates of a search stands row-level security: it is tried without them."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.db import Database, Scope
from tests.factories import Member, make_user
from tests.retrieval.shelf import Shelf

TABLES = (
    "search_documents",
    "embeddings",
    "postings",
    "lexeme_statistics",
    "language_statistics",
)
OWNED = ("search_documents", "embeddings", "postings")


@pytest.fixture
def theirs(database: Database, owner: Database, shelf: Shelf) -> Shelf:
    """Another house's index; both have something in it."""
    stranger = make_user(owner)
    other = Shelf(database, stranger.scope, shelf.embedder)
    other.put("Their secret sauce has anchovies.", "Secret sauce", embed=True)
    shelf.put("Our sauce has capers.", "Sauce", embed=True)
    return other


def count(shelf: Shelf, table: str, where: str = "true") -> int:
    with shelf.database.transaction(shelf.scope) as session:
        return session.execute(text(f"SELECT count(*) FROM {table} WHERE {where}")).scalar_one()


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
def test_a_search_sees_its_own_house_alone(shelf: Shelf, theirs: Shelf, mode: str) -> None:
    titles = [hit.title for hit in shelf.search("secret sauce anchovies", mode=mode).hits]
    assert titles == ["Sauce"]


@pytest.mark.parametrize("table", TABLES)
def test_without_the_predicate_no_row_of_another_house_is_seen(
    shelf: Shelf, theirs: Shelf, table: str
) -> None:
    assert count(shelf, table) > 0
    assert count(shelf, table, f"group_id = '{theirs.group_id}'") == 0
    assert count(shelf, table, f"group_id <> '{shelf.group_id}'") == 0


@pytest.mark.parametrize("table", OWNED)
def test_without_the_predicate_a_colleagues_private_rows_are_not_seen(
    shelf: Shelf, owner: Database, member: Member, table: str
) -> None:
    shelf.put("My knee hurts.", owner_id=member.user_id, embed=True)
    assert count(shelf, table, "owner_id IS NOT NULL") > 0
    colleague = make_user(owner, member.group_id)
    assert count(Shelf(shelf.database, colleague.scope, shelf.embedder), table) == 0


@pytest.mark.parametrize("table", TABLES)
def test_without_a_scope_there_are_no_rows(shelf: Shelf, theirs: Shelf, table: str) -> None:
    assert count(Shelf(shelf.database, Scope(), shelf.embedder), table) == 0


def test_the_scores_of_another_house_cannot_be_asked_for(shelf: Shelf, theirs: Shelf) -> None:
    query = text(
        "SELECT count(*) FROM search_scores('secret sauce', :group, NULL::uuid, 1.2, 0.75)"
    )
    with shelf.database.transaction(shelf.scope) as session:
        assert session.execute(query, {"group": theirs.group_id}).scalar_one() == 0
        assert session.execute(query, {"group": shelf.group_id}).scalar_one() == 1


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM postings",
        "UPDATE postings SET frequency = 9",
        "INSERT INTO lexeme_statistics VALUES (gen_random_uuid(), 'en', 'x', 1)",
        "UPDATE language_statistics SET documents = 0",
        "UPDATE search_documents SET owner_id = NULL",
        "UPDATE search_documents SET group_id = gen_random_uuid()",
        "UPDATE embeddings SET owner_id = NULL",
        "SELECT post_documents(ARRAY[1::bigint])",
        "SELECT unpost_documents(ARRAY[1::bigint])",
    ],
)
def test_what_the_triggers_keep_is_not_the_apps_to_change(shelf: Shelf, statement: str) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        shelf.database.transaction(shelf.scope) as session,
    ):
        session.execute(text(statement))
