"""Finding a section or a product while one types: by its name, and by what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from markupsafe import Markup, escape
from sqlalchemy import text

from app.db import ScopedSession
from app.retrieval.as_typed import DocumentMatch, Typed, put_right, read_typed, search_as_typed
from app.skills.knowledge.models import PRODUCT_KINDS, Product
from app.skills.knowledge.services.library import load_products
from app.skills.knowledge.services.manual_tree import SectionLink, find_paths
from app.skills.knowledge.services.products import WITHOUT_RECIPES
from app.skills.knowledge.services.search_sources import SECTION_CONTEXTS
from app.text.free_text import limit_search
from app.text.markdown import plain_line_around
from app.text.normalize import fold

MOST_FOUND = 8
# Of a passage: what is shown before its first hit and in all.
BEFORE, EXCERPT = 60, 200
# A word counts as hit when it and what was typed begin with this much of the shorter one.
SHORTEST_HIT = 4
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class FoundSection:
    """A section, where it stands, and the passage that has the words (None: its title does)."""

    section: SectionLink
    path: Sequence[SectionLink]
    passage: DocumentMatch | None


@dataclass(frozen=True)
class FoundProduct:
    product: Product
    passage: DocumentMatch | None


@dataclass(frozen=True)
class Findings:
    """What was found for the words as they were typed, or as they were meant (`is_put_right`)."""

    typed: Typed
    sections: Sequence[FoundSection]
    products: Sequence[FoundProduct]
    is_put_right: bool = False

    @property
    def count(self) -> int:
        return len(self.sections) + len(self.products)


def find_in_library(session: ScopedSession, query: str, language: str) -> Findings:
    """Published sections and products whose names or words fit what was typed, best first.

    Raises:
        TooMany: that takes too long.
    """
    with limit_search(session):
        return _find_in_library(session, query, language)


def _find_in_library(session: ScopedSession, query: str, language: str) -> Findings:
    typed = read_typed(query)
    if not typed.everything:
        return Findings(typed, (), ())
    meant, passages = typed, _passages(session, typed, language)
    if not passages or passages[0].is_partial:
        meant = put_right(session, typed)
        if meant != typed:
            passages = _passages(session, meant, language)
    sections = _sections(session, meant, passages)
    products = _products(session, meant, passages)
    return Findings(meant, sections, products, is_put_right=meant != typed)


def _passages(session: ScopedSession, typed: Typed, language: str) -> list[DocumentMatch]:
    return search_as_typed(
        session,
        typed,
        language=language,
        source_types=(*SECTION_CONTEXTS, *PRODUCT_KINDS),
        limit=MOST_FOUND,
    )


_NAMED_SECTIONS = text("""
    SELECT id, parent_id, position, slug, title_en, title_es FROM manual_sections
    WHERE group_id = :group AND is_published
        AND title_words LIKE ALL (CAST(:patterns AS text[]))
    ORDER BY length(title_en || title_es), slug LIMIT :limit
""")
_NAMED_PRODUCTS = text("""
    SELECT id FROM products
    WHERE group_id = :group AND is_active
        AND name_words LIKE ALL (CAST(:patterns AS text[]))
    ORDER BY length(name_en || name_es), slug LIMIT :limit
""")
_SECTIONS = text("""
    SELECT id, parent_id, position, slug, title_en, title_es FROM manual_sections
    WHERE group_id = :group AND is_published AND id = ANY (:ids)
""")


def _name_parameters(session: ScopedSession, typed: Typed) -> dict[str, object]:
    # Folded words are letters and digits, and a name's stand between blanks.
    patterns = [f"% {word} %" for word in typed.words]
    patterns += [f"% {typed.beginning}%"] if typed.beginning else []
    return {"group": session.scope.group_id, "patterns": patterns, "limit": MOST_FOUND}


def _sections(
    session: ScopedSession, typed: Typed, passages: Sequence[DocumentMatch]
) -> list[FoundSection]:
    """Those with the words in their titles first."""
    rows = session.execute(_NAMED_SECTIONS, _name_parameters(session, typed))
    links = {row.id: SectionLink(*row) for row in rows}
    hits = {p.source_id: p for p in passages if p.entity == "section"}
    wanted = [id_ for id_ in hits if id_ not in links]
    if wanted:
        parameters = {"group": session.scope.group_id, "ids": wanted}
        said = {row.id: SectionLink(*row) for row in session.execute(_SECTIONS, parameters)}
        links |= {id_: said[id_] for id_ in wanted if id_ in said}
    shown = list(links)[:MOST_FOUND]
    paths = find_paths(session, shown)
    return [FoundSection(links[id_], paths[id_], hits.get(id_)) for id_ in shown]


def _products(
    session: ScopedSession, typed: Typed, passages: Sequence[DocumentMatch]
) -> list[FoundProduct]:
    named: list[UUID] = list(session.scalars(_NAMED_PRODUCTS, _name_parameters(session, typed)))
    hits = {p.source_id: p for p in passages if p.entity == "product"}
    ids = list(dict.fromkeys([*named, *hits]))[:MOST_FOUND]
    products = load_products(session, ids, *WITHOUT_RECIPES) if ids else []
    return [FoundProduct(product, hits.get(product.id)) for product in products]


def excerpt(words: str, typed: Typed) -> Markup:
    """A line of the passage around its first hit, its hits marked."""
    line, is_preceded, is_followed = plain_line_around(words, _first_hit(words, typed))
    start = _word_start(line, _first_hit(line, typed) - BEFORE)
    end = min(len(line), start + EXCERPT)
    shown = mark_hits(line[start:end], typed)
    before = "… " if start or is_preceded else ""
    after = " …" if end < len(line) or is_followed else ""
    return Markup("").join([before, shown, after])


def _first_hit(words: str, typed: Typed) -> int:
    """Where the first word that was typed stands; 0 where none does."""
    found = _WORD.finditer(words)
    return next((match.start() for match in found if _is_hit(fold(match[0]), typed)), 0)


def _word_start(line: str, place: int) -> int:
    return line.find(" ", place) + 1 if place > 0 else 0


def mark_hits(words: str, typed: Typed) -> Markup:
    """The words, escaped, with those that were typed marked."""
    pieces: list[Markup] = []
    done = 0
    for match in _WORD.finditer(words):
        if _is_hit(fold(match[0]), typed):
            pieces += [escape(words[done : match.start()]), Markup("<mark>%s</mark>") % match[0]]
            done = match.end()
    return Markup("").join([*pieces, escape(words[done:])])


def _is_hit(word: str, typed: Typed) -> bool:
    """Whether a word is one of those typed, in this or another form."""
    if typed.beginning and word.startswith(typed.beginning):
        return True
    return any(word == other or _are_forms(word, other) for other in typed.everything)


def _are_forms(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    stem = max(SHORTEST_HIT, len(shorter) - 2)
    return len(longer) - len(shorter) <= 4 and longer[:stem] == shorter[:stem]
