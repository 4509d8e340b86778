"""Looking into a search: what each result scored, and why something is not among them.

It asks the very tools that the assistant searches with; nothing is measured a second way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import select

from app.assistant.tools.registry import Registry
from app.config import LANGUAGES
from app.db import ScopedSession
from app.errors import NotFound
from app.retrieval.calibration import Calibration, calibration_of
from app.retrieval.chunks import plain_text
from app.retrieval.embedder import Embedder
from app.retrieval.evidence import Strength, odds_of, strength_of
from app.retrieval.explain import Finding, Term, explain_absence, matched_words, read_terms
from app.retrieval.hybrid_query import Mode
from app.retrieval.index import SourceInput, content_hash
from app.retrieval.models import SearchDocument
from app.retrieval.search import Hit, SearchOutcome, SearchRequest, search, unknown_words
from app.retrieval.team_words import load_meanings
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.services.search_sources import product_source, section_source
from app.skills.knowledge.tools.search_tools import SearchTool, odds_for
from app.text.free_text import has_words, limit_search
from app.text.normalize import split_marked
from app.text.normalize import words as folded_words
from app.text.plain_text import clean_line
from app.text.synonyms import restate

MODES: tuple[Mode, ...] = ("hybrid", "lexical", "semantic")
SHOWN = 20
MOST_SUBJECTS = 12
LONGEST_NAME = 100
# Of a passage, in characters: what is shown before the first word that matched, and in all.
LEAD, EXCERPT = 60, 260

Pieces = list[tuple[str, bool]]
Use = Literal["answer", "near", "no"]
Subject = ManualSection | Product


@dataclass(frozen=True)
class Row:
    """A result: its hit, what it is worth as evidence, and what the answer does with it."""

    rank: int
    hit: Hit
    place: tuple[str, ...]
    title: Pieces
    excerpt: Pieces
    text: Pieces
    odds: float
    strength: Strength
    use: Use


@dataclass(frozen=True)
class Inspection:
    """A search with all that is known of how it went."""

    request: SearchRequest
    outcome: SearchOutcome
    rows: list[Row]
    terms: tuple[Term, ...]
    unknown: tuple[str, ...]
    strength: Strength
    calibration: Calibration
    model: str


def search_tools(registry: Registry) -> dict[str, SearchTool]:
    """The tools that search the library, by name."""
    found = registry.tools.values()
    return {tool.name: tool for tool in found if isinstance(tool, SearchTool)}


def inspect(
    session: ScopedSession,
    tool: SearchTool,
    arguments: Any,
    language: str,
    mode: Mode,
    embedder: Embedder,
) -> Inspection:
    """Search as the tool does, with more results and everything told about them."""
    request = replace(tool.request(arguments, language), mode=mode)
    request = replace(request, text=restate(request.text, load_meanings(session)))
    outcome = search(session, replace(request, limit=SHOWN, explained=True), embedder)
    given = replace(outcome, hits=outcome.hits[: request.limit])
    strength = strength_of(odds_for(session, request.text, given, embedder.model, language))
    unknown = unknown_words(session, request.text, language)
    matched = matched_words(session, request.text, outcome.hits)
    rows = []
    for rank, hit in enumerate(outcome.hits, 1):
        odds = odds_of(hit, request.text, embedder.model, unknown)
        use = _use(strength) if rank <= request.limit else "no"
        rows.append(_row(rank, hit, matched.get(hit.document_id, frozenset()), odds, use))
    terms = read_terms(session, request.text)
    calibration = calibration_of(embedder.model)
    return Inspection(request, outcome, rows, terms, unknown, strength, calibration, embedder.model)


def _use(strength: Strength) -> Use:
    uses: dict[Strength, Use] = {"good": "answer", "thin": "near", "none": "no"}
    return uses[strength]


def _row(rank: int, hit: Hit, words: frozenset[str], odds: float, use: Use) -> Row:
    text = plain_text(hit.text)
    return Row(
        rank=rank,
        hit=hit,
        place=tuple(hit.details.get("path", ())[:-1]) or hit.headings,
        title=split_marked(hit.title, words.__contains__),
        excerpt=split_marked(_excerpt(text, words), words.__contains__),
        text=split_marked(text, words.__contains__),
        odds=odds,
        strength=strength_of(odds),
        use=use,
    )


def _excerpt(text: str, words: frozenset[str]) -> str:
    """The text around the first word that matched."""
    line = " ".join(text.split())
    pieces = split_marked(line, words.__contains__)
    first = len(pieces[0][0]) if pieces and not pieces[0][1] and len(pieces) > 1 else 0
    start = max(0, first - LEAD)
    if start:
        start = line.find(" ", start) + 1
    end = start + EXCERPT
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def find_subjects(session: ScopedSession, words: str) -> list[Subject]:
    """Sections and products of the group whose name has these words, unpublished ones too."""
    wanted = folded_words(clean_line(words)[:LONGEST_NAME])
    if not wanted:
        return []
    group_id = session.scope.group_id
    sections = (
        select(ManualSection)
        .where(ManualSection.group_id == group_id, has_words(ManualSection.title_words, wanted))
        .order_by(ManualSection.position, ManualSection.slug)
        .limit(MOST_SUBJECTS)
    )
    products = (
        select(Product)
        .where(Product.group_id == group_id, has_words(Product.name_words, wanted))
        .order_by(Product.name_en, Product.id)
        .limit(MOST_SUBJECTS)
    )
    with limit_search(session):
        found: list[Subject] = [*session.scalars(sections), *session.scalars(products)]
    return found[:MOST_SUBJECTS]


def load_subject(session: ScopedSession, source_id: UUID) -> Subject:
    """A section or product of the group, published or not.

    Raises:
        NotFound: there is none of this id.
    """
    group_id = session.scope.group_id
    section = session.scalar(
        select(ManualSection).where(
            ManualSection.id == source_id, ManualSection.group_id == group_id
        )
    )
    product = session.scalar(
        select(Product).where(Product.id == source_id, Product.group_id == group_id)
    )
    if section is not None:
        return section
    if product is not None:
        return product
    raise NotFound("That is no longer in the library.")


def why_not(
    session: ScopedSession, request: SearchRequest, embedder: Embedder, subject: Subject
) -> list[Finding]:
    """Why it is not among the results, or where it is; and whether the index is behind."""
    findings = explain_absence(session, request, embedder, subject.id)
    behind = [Finding("index_behind")] if _is_behind(session, subject) else []
    return [*findings, *behind]


def _is_behind(session: ScopedSession, subject: Subject) -> bool:
    """True when what is searched is not what the section or product says now."""
    source = _source(session, subject)
    rows = session.execute(
        select(
            SearchDocument.source_type,
            SearchDocument.language,
            SearchDocument.chunk_no,
            SearchDocument.content_hash,
            SearchDocument.is_published,
        ).where(
            SearchDocument.group_id == session.scope.group_id,
            SearchDocument.source_id == subject.id,
        )
    )
    wanted = {
        (source.source_type, chunk.language, chunk.chunk_no, content_hash(chunk))
        for chunk in source.chunks
    }
    return {(*row,) for row in rows} != {(*each, source.is_published) for each in wanted}


def _source(session: ScopedSession, subject: Subject) -> SourceInput:
    """The documents that it should have."""
    if isinstance(subject, Product):
        return product_source(subject)
    above = list(_above(session, subject))
    english, spanish = ([each.title(language) for each in above] for language in LANGUAGES)
    return section_source(subject, english, spanish)


def _above(session: ScopedSession, section: ManualSection) -> Iterable[ManualSection]:
    """The sections above this one, the topmost first."""
    found: list[ManualSection] = []
    parent_id = section.parent_id
    while parent_id is not None:
        parent = session.scalars(
            select(ManualSection).where(
                ManualSection.id == parent_id, ManualSection.group_id == session.scope.group_id
            )
        ).one()
        found.insert(0, parent)
        parent_id = parent.parent_id
    return found
