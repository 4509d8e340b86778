"""How a search read its query, and why something is not among what it found.

Everything is asked of the search itself and of the tables it reads: what is told here is
what happened there. Documents of other people are as absent here as they are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import select, text

from app.db import ScopedSession
from app.retrieval.embedder import Embedder
from app.retrieval.models import Embedding, SearchDocument
from app.retrieval.search import (
    MOST_CANDIDATES,
    Hit,
    SearchOutcome,
    SearchRequest,
    position,
    search,
)

Code = Literal[
    "found",  # it is there; `place` among the sources, `score`
    "not_indexed",
    "unpublished",
    "other_search",  # `kinds` it is searched as
    "other_language",  # `languages` whose readers find it
    "private",  # only its owner finds it
    "filtered",
    "no_common_word",
    "far_in_words",  # `rank`, `score`, and `last`: the score of the last that came in
    "far_in_meaning",  # the same
    "model_away",
    "not_embedded",
    "other_model",  # `models` that have embedded it
    "stale_vector",
    "index_behind",
]


@dataclass(frozen=True)
class Form:
    """A word as documents of one language have it, and in how many of them it stands."""

    language: str
    lexeme: str
    documents: int


@dataclass(frozen=True)
class Term:
    """A word of a query: dropped because it says nothing, or searched in these forms."""

    word: str
    is_dropped: bool
    forms: tuple[Form, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One thing that is to be said of a source in a search; `facts` as `Code` lists them."""

    code: Code
    facts: dict[str, Any] = field(default_factory=dict)


_TERMS = text(
    "SELECT asked.word, is_stop_word(asked.word) AS is_dropped, kind.language,"
    " word_stem(kind.language, asked.word) AS lexeme, coalesce(known.documents, 0) AS documents"
    " FROM search_words(:query) AS asked"
    " CROSS JOIN (VALUES ('en', 1), ('es', 2), ('mul', 3)) AS kind (language, place)"
    " LEFT JOIN lexeme_statistics AS known ON known.group_id = :group"
    " AND known.language = kind.language"
    " AND known.lexeme = word_stem(kind.language, asked.word)"
    " ORDER BY asked.place, asked.word, kind.place"
)

_MATCHED = text(
    "SELECT d.id, array_agg(DISTINCT said.word) FROM search_documents AS d"
    " CROSS JOIN LATERAL search_words(concat_ws(' ', d.title,"
    " array_to_string(d.headings, ' '), d.text)) AS said"
    " JOIN search_terms(:query) AS t ON t.language = d.language"
    " AND t.lexeme = word_stem(d.language, said.word)"
    " WHERE d.group_id = :group AND d.id = ANY (:ids) GROUP BY d.id"
)


def read_terms(session: ScopedSession, query: str) -> tuple[Term, ...]:
    """The words of the query in their order, as the search by words takes them."""
    rows = session.execute(_TERMS, {"query": query, "group": session.scope.group_id})
    dropped: dict[str, bool] = {}
    forms: dict[str, list[Form]] = {}
    for row in rows:
        dropped[row.word] = row.is_dropped
        if row.lexeme and not row.is_dropped:
            forms.setdefault(row.word, []).append(Form(row.language, row.lexeme, row.documents))
    return tuple(Term(word, is_, tuple(forms.get(word, ()))) for word, is_ in dropped.items())


def matched_words(
    session: ScopedSession, query: str, hits: Sequence[Hit]
) -> dict[UUID, frozenset[str]]:
    """The folded words of each hit, by document, that are a form of a word of the query."""
    ids = [hit.document_id for hit in hits]
    parameters = {"query": query, "group": session.scope.group_id, "ids": ids}
    return {id_: frozenset(words) for id_, words in session.execute(_MATCHED, parameters)}


def explain_absence(
    session: ScopedSession, request: SearchRequest, embedder: Embedder | None, source_id: UUID
) -> list[Finding]:
    """Why this source is not among what `request` finds, the first cause first.

    What keeps it out altogether is told alone; else each leg tells why it did not bring it.
    """
    documents = _documents(session, source_id)
    if not documents:
        return [Finding("not_indexed")]
    barred = _barred(request, documents)
    if barred:
        return barred
    notes = [*_notes(documents), *_stale(session, documents, embedder)]
    everything = replace(
        request, limit=MOST_CANDIDATES, per_source=False, explained=True, vector=None
    )
    outcome = search(session, everything, embedder)
    place = _place(outcome, source_id)
    if place is not None:
        return [place, *notes]
    return [*_left_out(session, everything, embedder, source_id, outcome, documents), *notes]


def _documents(session: ScopedSession, source_id: UUID) -> Sequence[SearchDocument]:
    return session.scalars(
        select(SearchDocument).where(
            SearchDocument.group_id == session.scope.group_id,
            SearchDocument.source_id == source_id,
            SearchDocument.owner_id.is_(None) | (SearchDocument.owner_id == session.scope.user_id),
        )
    ).all()


def _barred(request: SearchRequest, documents: Sequence[SearchDocument]) -> list[Finding]:
    """What no score can make good: the search does not look there at all."""
    findings = []
    if not any(document.is_published for document in documents):
        findings.append(Finding("unpublished"))
    kinds = {document.source_type for document in documents}
    if request.source_types and not kinds & set(request.source_types):
        findings.append(Finding("other_search", {"kinds": sorted(kinds)}))
    served = {language for document in documents for language in document.serves}
    if request.language is not None and request.language not in served:
        findings.append(Finding("other_language", {"languages": sorted(served)}))
    return findings


def _notes(documents: Sequence[SearchDocument]) -> list[Finding]:
    is_private = any(document.owner_id is not None for document in documents)
    return [Finding("private")] if is_private else []


def _stale(
    session: ScopedSession, documents: Sequence[SearchDocument], embedder: Embedder | None
) -> list[Finding]:
    """Whether it is found by the meaning of what it said before."""
    hashes = {document.id: document.content_hash for document in documents}
    vectors = _vectors(session, documents)
    model = embedder.model if embedder else None
    is_stale = any(kept.model == model and kept.hash != hashes[kept.id] for kept in vectors)
    return [Finding("stale_vector")] if is_stale else []


def _vectors(session: ScopedSession, documents: Sequence[SearchDocument]) -> Sequence[Any]:
    """Model, size and content hash of each vector there is, without the vectors."""
    return session.execute(
        select(
            Embedding.document_id.label("id"),
            Embedding.model,
            Embedding.dimensions,
            Embedding.content_hash.label("hash"),
        ).where(
            Embedding.group_id == session.scope.group_id,
            Embedding.document_id.in_([document.id for document in documents]),
        )
    ).all()


def _place(outcome: SearchOutcome, source_id: UUID) -> Finding | None:
    """Where it is among the sources that were found."""
    sources = list(dict.fromkeys(hit.source_id for hit in outcome.hits))
    if source_id not in sources:
        return None
    best = max(hit.score for hit in outcome.hits if hit.source_id == source_id)
    return Finding("found", {"place": sources.index(source_id) + 1, "score": best})


def _left_out(
    session: ScopedSession,
    request: SearchRequest,
    embedder: Embedder | None,
    source_id: UUID,
    outcome: SearchOutcome,
    documents: Sequence[SearchDocument],
) -> list[Finding]:
    """Why neither leg brought it: what each knows of it, beside the last that it brought."""
    alone = search(session, replace(request, source_id=source_id), embedder).hits
    if not alone and request.filters:
        unfiltered = replace(request, source_id=source_id, filters=())
        if search(session, unfiltered, embedder).hits:
            return [Finding("filtered")]
    bm25 = max((hit.bm25 or 0 for hit in alone), default=0.0)
    cosine = max((hit.semantic or 0 for hit in alone), default=0.0)
    stands = position(session, request, embedder, bm25=bm25, cosine=cosine)
    findings = []
    if outcome.mode != "semantic":
        last = _last(outcome, "words")
        facts = {"rank": (stands.by_words or 0) + 1, "score": bm25, "last": last}
        findings.append(Finding("far_in_words", facts) if bm25 else Finding("no_common_word"))
    if outcome.degraded:
        findings.append(Finding("model_away"))
    elif outcome.mode != "lexical":
        missing = _unembedded(session, documents, embedder)
        last = _last(outcome, "meaning")
        facts = {"rank": (stands.by_meaning or 0) + 1, "score": cosine, "last": last}
        findings.append(missing or Finding("far_in_meaning", facts))
    return findings


def _last(outcome: SearchOutcome, leg: str) -> float | None:
    """The score of the last that this leg brought; None where it brought nothing."""
    scores = [
        (hit.bm25 if leg == "words" else hit.semantic) or 0.0
        for hit in outcome.hits
        if leg in hit.legs
    ]
    return min(scores, default=None)


def _unembedded(
    session: ScopedSession, documents: Sequence[SearchDocument], embedder: Embedder | None
) -> Finding | None:
    """That nothing of it has a vector of the model that searches, where that is so."""
    vectors = _vectors(session, documents)
    if embedder is None or any(
        (kept.model, kept.dimensions) == (embedder.model, embedder.dimensions) for kept in vectors
    ):
        return None
    models = sorted({kept.model for kept in vectors})
    return Finding("other_model", {"models": models}) if models else Finding("not_embedded")
