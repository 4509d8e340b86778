"""The index follows its sources: what changed and nothing else, counted right throughout."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from app.db import Database, new_id
from app.retrieval.index import (
    ChunkInput,
    IndexReport,
    SourceInput,
    content_hash,
    index_source,
    index_sources,
    remove_source,
)
from tests.factories import Member, make_group, make_user
from tests.retrieval.shelf import Shelf, assert_statistics_are_right


def chunk(body: str, number: int = 0, **more: Any) -> ChunkInput:
    return ChunkInput(
        language="en", serves=("en",), title="Cleaning", text=body, chunk_no=number, **more
    )


def put_chunks(shelf: Shelf, source_id: Any, *chunks: ChunkInput, **more: Any) -> IndexReport:
    with shelf.database.transaction(shelf.scope) as session:
        return index_source(
            session,
            group_id=shelf.group_id,
            source_type="manual",
            source_id=source_id,
            chunks=chunks,
            **more,
        )


def document_ids(owner: Database, source_id: Any) -> dict[int, Any]:
    with owner.transaction() as session:
        rows = session.execute(
            text("SELECT chunk_no, id FROM search_documents WHERE source_id = :id"),
            {"id": source_id},
        )
        return {row.chunk_no: row.id for row in rows}


def test_indexing_the_same_again_changes_nothing(shelf: Shelf) -> None:
    source = new_id()
    chunks = (chunk("Wash."), chunk("Rinse.", 1))
    assert put_chunks(shelf, source, *chunks) == IndexReport(added=2)
    assert put_chunks(shelf, source, *chunks) == IndexReport(unchanged=2)


def test_only_what_changed_is_replaced(shelf: Shelf, owner: Database) -> None:
    source = new_id()
    put_chunks(shelf, source, chunk("Wash."), chunk("Rinse.", 1), chunk("Dry.", 2))
    before = document_ids(owner, source)
    report = put_chunks(shelf, source, chunk("Wash."), chunk("Rinse twice.", 1))
    assert report == IndexReport(changed=1, removed=1, unchanged=1)
    after = document_ids(owner, source)
    assert after == {0: before[0], 1: before[1]}
    assert shelf.find("twice", mode="lexical") == [source]
    assert shelf.find("dry", mode="lexical") == []


@pytest.mark.parametrize(
    "changed",
    [{"details": {"a": 1}}, {"headings": ("Bar",)}],
    ids=["metadata", "headings"],
)
def test_a_change_beside_the_text_is_a_change(shelf: Shelf, changed: dict[str, Any]) -> None:
    source = new_id()
    put_chunks(shelf, source, chunk("Wash."))
    assert put_chunks(shelf, source, chunk("Wash.", **changed)) == IndexReport(changed=1)


def test_metadata_alone_leaves_the_vector_valid(shelf: Shelf) -> None:
    assert content_hash(chunk("Wash.", details={"a": 1})) == content_hash(chunk("Wash."))
    assert content_hash(chunk("Wash.")) != content_hash(chunk("Rinse."))


def test_with_another_owner_it_is_another_document(
    shelf: Shelf, owner: Database, member: Member
) -> None:
    source = new_id()
    put_chunks(shelf, source, chunk("Wash."))
    before = document_ids(owner, source)
    report = put_chunks(shelf, source, chunk("Wash."), owner_id=member.user_id)
    assert report == IndexReport(added=1, removed=1)
    assert document_ids(owner, source) != before


def test_a_removed_source_is_gone(shelf: Shelf, owner: Database) -> None:
    source = shelf.put("Wash the slicer.")
    with shelf.database.transaction(shelf.scope) as session:
        removed = remove_source(
            session, group_id=shelf.group_id, source_type="manual", source_id=source
        )
    assert removed == 1
    assert shelf.find("slicer", mode="lexical") == []
    assert assert_statistics_are_right(owner, shelf.group_id) == 0


def test_two_chunks_in_one_place_are_refused(shelf: Shelf) -> None:
    with pytest.raises(ValueError, match="same place"):
        put_chunks(shelf, new_id(), chunk("Wash."), chunk("Rinse."))


def test_an_unknown_language_is_refused(shelf: Shelf) -> None:
    with pytest.raises(ValueError, match="language"):
        put_chunks(shelf, new_id(), ChunkInput("fr", ("fr",), "", "Laver."))


def test_what_postgres_cannot_store_is_left_out(shelf: Shelf) -> None:
    source = new_id()
    put_chunks(shelf, source, chunk("Wash\0 \ud800slicer.", details={"a": ["\0b"]}))
    (hit,) = shelf.search("slicer", mode="lexical").hits
    assert (hit.text, hit.details) == ("Wash slicer.", {"a": ["b"]})


def test_a_word_without_end_is_no_obstacle(shelf: Shelf) -> None:
    source = shelf.put("slicer " + "x" * 3_000 + " " + "ñ" * 1_500 + " " + "y" * 2_040)
    assert shelf.find("slicer", mode="lexical") == [source]


def test_the_words_are_counted_right_through_every_kind_of_change(
    shelf: Shelf, owner: Database
) -> None:
    source, other = new_id(), new_id()
    put_chunks(shelf, source, chunk("Wash, wash and dry.", headings=("Knives",)), chunk("Dry.", 1))
    assert assert_statistics_are_right(owner, shelf.group_id) > 0
    shelf.put("Lavar y secar los cuchillos.", "Limpieza", language="es", source_id=other)
    shelf.put("Pizza, dough / masa", "Pizza", language="mul", source_id=other)
    assert_statistics_are_right(owner, shelf.group_id)
    put_chunks(shelf, source, chunk("Sharpen."), chunk("Dry.", 1, details={"a": 1}))
    assert_statistics_are_right(owner, shelf.group_id)
    with owner.transaction() as session:
        session.execute(
            text("UPDATE search_documents SET language = 'es' WHERE group_id = :g"),
            {"g": shelf.group_id},
        )
    assert_statistics_are_right(owner, shelf.group_id)
    put_chunks(shelf, source)
    assert_statistics_are_right(owner, shelf.group_id)


def test_a_rollback_leaves_the_counts_as_they_were(shelf: Shelf, owner: Database) -> None:
    shelf.put("Wash the slicer.")
    before = assert_statistics_are_right(owner, shelf.group_id)
    with shelf.database.session(shelf.scope) as session:
        index_source(
            session,
            group_id=shelf.group_id,
            source_type="manual",
            source_id=new_id(),
            chunks=[chunk("Dry the slicer.")],
        )
        session.rollback()
    assert assert_statistics_are_right(owner, shelf.group_id) == before


def test_a_group_that_is_deleted_leaves_no_word_behind(
    database: Database, owner: Database, shelf: Shelf
) -> None:
    shelf.put("Wash the slicer.")
    with owner.transaction() as session:
        session.execute(text("DELETE FROM groups WHERE id = :id"), {"id": shelf.group_id})
        for table in ("postings", "lexeme_statistics", "language_statistics"):
            left = session.execute(
                text(f"SELECT count(*) FROM {table} WHERE group_id = :id"), {"id": shelf.group_id}
            )
            assert left.scalar_one() == 0


def test_writers_at_the_same_time_count_right(shelf: Shelf, owner: Database) -> None:
    failures: list[SQLAlchemyError] = []
    sources = [new_id() for _ in range(6)]

    def write(writer: int) -> None:
        # Each in another order, and all of them the same sources.
        order = sources[writer:] + sources[:writer]
        try:
            for round_number in range(3):
                for source in order:
                    put_chunks(shelf, source, chunk(f"Slicer oven fryer {writer} {round_number}"))
        except SQLAlchemyError as failure:
            failures.append(failure)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert_statistics_are_right(owner, shelf.group_id)
    assert len(shelf.find("slicer", mode="lexical", limit=50)) == len(sources)


def test_thousands_of_documents_go_in_at_once(shelf: Shelf, owner: Database) -> None:
    words = [f"word{n}" for n in range(500)]
    sources = [
        SourceInput(
            "manual", new_id(), [chunk(" ".join(words[n % 400 : n % 400 + 60]) + f" only{n}")]
        )
        for n in range(2_000)
    ]
    with shelf.database.transaction(shelf.scope) as session:
        report = index_sources(session, group_id=shelf.group_id, sources=sources)
    assert report == IndexReport(added=2_000)
    assert assert_statistics_are_right(owner, shelf.group_id) == 2_000 * 62
    assert shelf.find("only1234", mode="lexical") == [sources[1234].source_id]


def test_another_houses_source_cannot_be_written(
    shelf: Shelf, owner: Database, database: Database
) -> None:
    foreign = make_group(owner)
    with (
        pytest.raises(Exception, match="row-level security"),
        database.transaction(shelf.scope) as session,
    ):
        index_source(
            session,
            group_id=foreign,
            source_type="manual",
            source_id=new_id(),
            chunks=[chunk("Planted.")],
        )


def test_nobody_can_take_a_colleagues_private_place(
    shelf: Shelf, owner: Database, member: Member
) -> None:
    source = shelf.put("Mine.", owner_id=member.user_id)
    colleague = make_user(owner, member.group_id)
    with pytest.raises(IntegrityError):
        Shelf(shelf.database, colleague.scope, shelf.embedder).put("Theirs.", source_id=source)
