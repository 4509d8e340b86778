"""Putting documents into a house's index and searching them, in a line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.db import Database, Scope, new_id
from app.retrieval.embedder import Embedder
from app.retrieval.index import ChunkInput, embed_missing, index_source
from app.retrieval.search import SearchOutcome, SearchRequest, search

WORDS_OF_DOCUMENTS = """
    SELECT d.language, w.lexeme, d.doc_no, sum(w.frequency)::integer AS frequency
    FROM search_documents AS d CROSS JOIN LATERAL (
        SELECT word_stem(d.language, word) AS lexeme, part.weight * s.frequency AS frequency
        FROM (VALUES (d.title, 3), (array_to_string(d.headings, ' '), 2), (d.text, 1))
            AS part (content, weight)
        CROSS JOIN LATERAL search_words(part.content) AS s
    ) AS w
    WHERE d.group_id = :group AND w.lexeme IS NOT NULL
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""


@dataclass(frozen=True)
class Shelf:
    """A house's index as one person sees it."""

    database: Database
    scope: Scope
    embedder: Embedder

    @property
    def group_id(self) -> UUID:
        assert self.scope.group_id
        return self.scope.group_id

    def put_chunks(self, *chunks: ChunkInput, source_id: UUID | None = None) -> UUID:
        """Index a section of these chunks; returns its id."""
        source_id = source_id or new_id()
        with self.database.transaction(self.scope) as session:
            index_source(
                session,
                group_id=self.group_id,
                source_type="manual",
                source_id=source_id,
                chunks=chunks,
            )
        return source_id

    def put(
        self,
        body: str,
        title: str = "",
        *,
        language: str = "en",
        serves: tuple[str, ...] | None = None,
        source_type: str = "manual",
        source_id: UUID | None = None,
        owner_id: UUID | None = None,
        is_published: bool = True,
        embed: bool = False,
        **more: Any,
    ) -> UUID:
        """Index a source of one chunk; returns its id."""
        source_id = source_id or new_id()
        both = ("en", "es")
        chunk = ChunkInput(
            language=language,
            serves=serves or (both if language == "mul" else (language,)),
            title=title,
            text=body,
            **more,
        )
        with self.database.transaction(self.scope) as session:
            index_source(
                session,
                group_id=self.group_id,
                source_type=source_type,
                source_id=source_id,
                chunks=[chunk],
                owner_id=owner_id,
                is_published=is_published,
            )
        if embed:
            self.embed()
        return source_id

    def embed(self) -> None:
        with self.database.session(self.scope) as session:
            embed_missing(session, self.embedder, group_id=self.group_id)

    def search(self, query: str, **wishes: Any) -> SearchOutcome:
        with self.database.transaction(self.scope) as session:
            return search(session, SearchRequest(query, **wishes), self.embedder)

    def find(self, query: str, **wishes: Any) -> list[UUID]:
        """The sources of the hits, best first."""
        return [hit.source_id for hit in self.search(query, **wishes).hits]


def assert_statistics_are_right(owner: Database, group_id: UUID) -> int:
    """Count everything anew from the documents; returns how many words that were."""
    with owner.transaction() as session:

        def rows(query: str) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in session.execute(text(query), {"group": group_id})]

        words = rows(WORDS_OF_DOCUMENTS)
        assert words == rows(
            "SELECT language, lexeme, doc_no, frequency FROM postings"
            " WHERE group_id = :group ORDER BY 1, 2, 3"
        )
        assert rows(
            "SELECT language, lexeme, documents FROM lexeme_statistics"
            " WHERE group_id = :group ORDER BY 1, 2"
        ) == rows(
            "SELECT language, lexeme, count(*) FROM postings"
            " WHERE group_id = :group GROUP BY 1, 2 ORDER BY 1, 2"
        )
        assert rows(
            "SELECT language, documents, total_length FROM language_statistics"
            " WHERE group_id = :group ORDER BY 1"
        ) == rows(
            "SELECT language, count(DISTINCT doc_no), sum(frequency) FROM postings"
            " WHERE group_id = :group GROUP BY 1 ORDER BY 1"
        )
    return len(words)
