"""Finding a form by what it is about: by every word that matters, else by all that it says."""

# Statements are put together from constants; what was asked is always bound.
# ruff: noqa: S608
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.config import LANGUAGES
from app.db import ScopedSession
from app.retrieval.form_and_type_search import Described, Relevant, rank_described
from app.skills.forms.services.lexicon import FORM_WORDS, VAGUE_WORDS
from app.text.bilingual import in_language

MOST_FOUND = 5

# Which forms somebody may find: published ones, and of a group that exists its own and the
# shared ones; of one address the group's own alone.
_PUBLISHED = "form_templates.status = 'published'"
_OWN_OR_SHARED = """
    EXISTS (SELECT FROM groups WHERE id = :group)
    AND (form_templates.group_id = :group OR form_templates.group_id IS NULL AND NOT EXISTS (
        SELECT FROM form_templates AS own
        WHERE own.group_id = :group AND own.status = 'published' AND own.slug = form_templates.slug
    ))
"""
# Not the fields: nobody who looks for a form needs to know what it asks for.
_COLUMNS = "id, slug, title_en, title_es, description_en, description_es, icon"
# What is asked stands in a part of its own, so that it is read once and not for each row.
_SEARCH = """
    WITH asked AS MATERIALIZED (
        SELECT array_agg(stem) AS stems,
            plainto_tsquery('pg_catalog.simple', string_agg(stem, ' ')) AS query
        FROM (
            SELECT word_stem('mul', word) AS stem FROM search_words(:query)
            WHERE word <> ALL (:dropped)
        ) AS said
        WHERE stem IS NOT NULL
    ), best AS MATERIALIZED (
        SELECT {columns}, ts_rank({words}, (SELECT query FROM asked)) AS rank
        FROM form_templates
        WHERE {words} @@ (SELECT query FROM asked) AND {may_be_found}
        ORDER BY rank DESC, slug, id LIMIT :limit
    )
    SELECT best.*, ARRAY(
        SELECT word FROM search_words(coalesce(nullif({first}, ''), {second}))
        WHERE word_stem('mul', word) = ANY ((SELECT stems FROM asked)::text[])
    ) AS hits
    FROM best ORDER BY rank DESC, slug, id
"""


@dataclass(frozen=True)
class FoundForm:
    """A form that was found, in one language.

    `hits` are the words of its description that were looked for, folded.
    """

    id: UUID
    slug: str
    title: str
    description: str
    icon: str
    score: float = 0.0
    hits: tuple[str, ...] = ()


def search_forms(
    session: ScopedSession, query: str, language: str, limit: int = MOST_FOUND
) -> list[FoundForm]:
    """The published forms that have every content word of the query, the best first.

    Those of the session's group and the shared ones; a group that does not exist finds none.
    Without a group, every group's: for the command line and for tests, as the owner.
    """
    other = LANGUAGES[1 - LANGUAGES.index(language)]
    may_be_found, whose = which_forms(session)
    statement = _SEARCH.format(
        columns=_COLUMNS,
        words=f"search_{language}",
        may_be_found=may_be_found,
        first=f"description_{language}",
        second=f"description_{other}",
    )
    asked: dict[str, Any] = {"query": query, "dropped": [*FORM_WORDS, *VAGUE_WORDS], "limit": limit}
    rows = session.execute(text(statement), asked | whose)
    return [_found(row, language, row.rank, row.hits) for row in rows]


def rank_by_content(session: ScopedSession, said: str) -> list[Relevant]:
    """The published forms by how much of what they say of themselves was said, the best first."""
    may_be_found, whose = which_forms(session)
    statement = f"SELECT {_COLUMNS}, words_en, words_es, asked FROM form_templates WHERE"
    rows = session.execute(text(f"{statement} {may_be_found} ORDER BY id"), whose).all()
    return rank_described(said, [_text_of(row) for row in rows])


def _text_of(row: Row[Any]) -> Described:
    return Described(
        row.slug,
        f"{row.title_en} {row.title_es}",
        f"{row.words_en} {row.words_es}",
        f"{row.description_en} {row.description_es}",
        row.asked,
    )


def find_by_slugs(
    session: ScopedSession, slugs: Sequence[str], language: str, limit: int = MOST_FOUND
) -> list[FoundForm]:
    """The published forms of these addresses, in their order; others are left out."""
    by_slug = {row.slug: row for row in published_forms(session)}
    known = [by_slug[slug] for slug in dict.fromkeys(slugs) if slug in by_slug]
    return [_found(row, language) for row in known[:limit]]


def published_forms(session: ScopedSession) -> Sequence[Row[Any]]:
    """The titles, descriptions and icons of the forms that may be found, in no order of note."""
    may_be_found, whose = which_forms(session)
    statement = f"SELECT {_COLUMNS} FROM form_templates WHERE {may_be_found} ORDER BY id"
    return session.execute(text(statement), whose).all()


def which_forms(session: ScopedSession) -> tuple[str, dict[str, Any]]:
    """The condition on `form_templates` for what this session's person may find, and its values."""
    group_id = session.scope.group_id
    if group_id is None:
        return _PUBLISHED, {}
    return f"{_PUBLISHED} AND {_OWN_OR_SHARED}", {"group": group_id}


def _found(row: Row[Any], language: str, score: float = 0.0, hits: Sequence[str] = ()) -> FoundForm:
    """A form as a reader of `language` finds it, in the other one where there is only that."""
    title = in_language(language, row.title_en, row.title_es)
    description = in_language(language, row.description_en, row.description_es)
    return FoundForm(row.id, row.slug, title, description, row.icon, round(score, 4), (*hits,))
