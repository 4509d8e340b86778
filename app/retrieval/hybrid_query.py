"""The one SQL statement of a search, put together from its legs.

Scope and hard filters stand inside both legs, before anything is cut to the best fifty.
Postgres then computes both scores for every candidate of either leg.
"""

# What is put into the SQL here are names and numbers of this code, never a request's text.
# ruff: noqa: S608

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from app.text.synonyms import WORTH

Mode = Literal["hybrid", "lexical", "semantic"]

# The parameters of BM25; how many candidates a leg brings, and how far the lexical one
# looks for them at first (sorting all that have a word of the query would cost more).
K1, B = 1.2, 0.75
CANDIDATES = 50
FIRST_LOOK = 200

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}")


@dataclass(frozen=True)
class Equals:
    """The document's metadata has this value under `key`."""

    key: str
    value: str | int | float | bool


@dataclass(frozen=True)
class Contains:
    """The list under `key` holds every one of `values`."""

    key: str
    values: Sequence[str | int | float | bool]


@dataclass(frozen=True)
class AtMost:
    """The number under `key` is `maximum` or less; documents without one are left out."""

    key: str
    maximum: float


@dataclass(frozen=True)
class Lacks:
    """The list under `key` holds none of `values`; documents without a list are left out.

    Where nobody has listed anything, nothing is known to be lacking.
    """

    key: str
    values: Sequence[str | int | float | bool]


Filter = Equals | Contains | AtMost | Lacks


@dataclass(frozen=True)
class Shape:
    """What stands in the text of the statement itself; everything else is a parameter.

    The group, the language and the kinds stand there so that the server can keep a plan
    that fits them: a shelf of thirty wines is best read through, ten thousand sections
    are not, and planning anew takes as long as a quarter of the search.
    """

    mode: Mode
    group_id: UUID
    language: str | None = None
    source_types: tuple[str, ...] = ()
    model: str = ""
    dimensions: int = 0
    by_metadata: bool = False
    maximums: int = 0
    absences: int = 0
    per_source: bool = True
    one_source: bool = False
    explained: bool = False
    with_text: bool = True

    @property
    def by_words(self) -> bool:
        return self.mode != "semantic"

    @property
    def by_meaning(self) -> bool:
        return self.mode != "lexical"

    @property
    def group(self) -> str:
        return f"'{self.group_id}'::uuid"


def literal(name: str) -> str:
    """A name of this code's own (a model, a language, a kind of source) as an SQL literal.

    Raises:
        ValueError: it has characters that no such name has.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"not a name: {name[:40]!r}")
    return f"'{name}'"


def filter_parameters(filters: Sequence[Filter]) -> dict[str, Any]:
    """The parameters that `filters` become: all containments in one, a pair each of the rest."""
    contained: list[str] = []
    parameters: dict[str, Any] = {}
    number = lacked = 0
    for item in filters:
        if isinstance(item, AtMost):
            parameters[f"key_{number}"] = item.key
            parameters[f"maximum_{number}"] = item.maximum
            number += 1
        elif isinstance(item, Lacks):
            parameters[f"list_{lacked}"] = item.key
            parameters[f"lacked_{lacked}"] = [json.dumps(value) for value in item.values]
            lacked += 1
        else:
            wanted = item.value if isinstance(item, Equals) else list(item.values)
            contained.append(json.dumps({item.key: wanted}))
    if contained:
        parameters["contained"] = contained
    return parameters


def statement(shape: Shape) -> str:
    """The SQL of a search of this shape, with named parameters."""
    steps = []
    if shape.by_words:
        steps += [_scored(shape), *_lexical_legs(shape)]
    if shape.by_meaning:
        steps.append(_semantic_leg(shape))
    steps += [_candidates(shape), _measured(shape), _weighed(shape)]
    if shape.per_source:
        steps.append(_BEST_OF_SOURCE)
    return f"WITH {', '.join(steps)} {_found(shape)}"


_BEST_OF_SOURCE = """
best AS (
    SELECT DISTINCT ON (source_type, source_id) * FROM weighed
    ORDER BY source_type, source_id, score DESC, id
)"""


def _scope(shape: Shape) -> str:
    """Who may find a document, and the hard filters, as a condition on `d`."""
    conditions = [
        f"d.group_id = {shape.group}",
        "(d.owner_id IS NULL OR d.owner_id = :owner)",
        "d.is_published",
    ]
    if shape.language is not None:
        conditions.append(f"{literal(shape.language)} = ANY (d.serves)")
    if shape.source_types:
        kinds = ", ".join(map(literal, shape.source_types))
        conditions.append(f"d.source_type IN ({kinds})")
    if shape.one_source:
        conditions.append("d.source_id = :source")
    if shape.by_metadata:
        conditions.append("d.metadata @> ALL (CAST(:contained AS jsonb[]))")
    conditions += [
        f"CASE WHEN jsonb_typeof(d.metadata -> :key_{number}) = 'number'"
        f" THEN (d.metadata ->> :key_{number})::float8 <= :maximum_{number} ELSE false END"
        for number in range(shape.maximums)
    ]
    conditions += [
        f"CASE WHEN jsonb_typeof(d.metadata -> :list_{number}) = 'array'"
        f" THEN NOT (d.metadata -> :list_{number}) @> ANY (CAST(:lacked_{number} AS jsonb[]))"
        " ELSE false END"
        for number in range(shape.absences)
    ]
    return " AND ".join(conditions)


# What the legs tell of a candidate.
_PLACE = "d.id, d.doc_no, d.source_type, d.source_id"


def _scored(shape: Shape) -> str:
    return f"""
scored AS MATERIALIZED (
    SELECT doc_no, bm25, coverage
    FROM search_scores(:query, {shape.group}, :owner, {K1}, {B}, :said, :meant, {WORTH})
)"""


def _lexical_legs(shape: Shape) -> list[str]:
    """The best by words; a second, deeper look where filters leave too few of the first."""
    ranked = "SELECT doc_no, bm25 FROM scored ORDER BY bm25 DESC, doc_no"
    leg = f"""
    SELECT {_PLACE} FROM ({ranked} {{part}}) AS s JOIN search_documents AS d USING (doc_no)
    WHERE {{condition}}{_scope(shape)}
    ORDER BY s.bm25 DESC, s.doc_no LIMIT {CANDIDATES}
"""
    first = leg.format(part=f"LIMIT {FIRST_LOOK}", condition="")
    too_few = f"(SELECT count(*) FROM lexical) < {CANDIDATES} AND "
    second = leg.format(part=f"OFFSET {FIRST_LOOK}", condition=too_few)
    return [f"\nlexical AS MATERIALIZED ({first})", f"\ndeeper AS ({second})"]


def _distance(shape: Shape) -> str:
    return f"(e.embedding::halfvec({shape.dimensions})) <=> :vector"


def _of_model(shape: Shape) -> str:
    return f"e.model = {literal(shape.model)} AND e.dimensions = {shape.dimensions}"


def _semantic_leg(shape: Shape) -> str:
    return f"""
semantic AS (
    SELECT {_PLACE} FROM embeddings AS e JOIN search_documents AS d ON d.id = e.document_id
    WHERE {_of_model(shape)} AND e.group_id = {shape.group}
        AND (e.owner_id IS NULL OR e.owner_id = :owner) AND {_scope(shape)}
    ORDER BY {_distance(shape)} LIMIT {CANDIDATES}
)"""


def _candidates(shape: Shape) -> str:
    legs = ["lexical", "deeper"] if shape.by_words else []
    legs += ["semantic"] if shape.by_meaning else []
    return f"\ncandidates AS ({' UNION '.join(f'SELECT * FROM {leg}' for leg in legs)})"


def _measured(shape: Shape) -> str:
    """Both scores of every candidate; null for what was not asked or is not there."""
    semantic = bm25 = coverage = "CAST(NULL AS float8)"
    joins = ""
    if shape.by_words:
        bm25, coverage = "coalesce(s.bm25, 0)", "coalesce(s.coverage, 0)"
        joins += " LEFT JOIN scored AS s USING (doc_no)"
    if shape.by_meaning:
        # least() and greatest() pass over nulls: without a vector they would say 1.
        semantic = (
            "CASE WHEN e.embedding IS NOT NULL"
            f" THEN greatest(0, least(1, 1 - ({_distance(shape)}))) END"
        )
        joins += f" LEFT JOIN embeddings AS e ON e.document_id = c.id AND {_of_model(shape)}"
    return f"""
measured AS (
    SELECT c.id, c.source_type, c.source_id,
        {semantic} AS semantic, {bm25} AS bm25, {coverage} AS coverage
    FROM candidates AS c{joins}
)"""


def _weighed(shape: Shape) -> str:
    """The final score.

    A document that awaits its vector is taken to be as near in meaning as it is in words,
    and where no document has a word of the query, meaning speaks for both legs.
    """
    cosine = "coalesce(semantic, nearest * lexical, 0)"
    score = {
        "lexical": "lexical",
        "semantic": "semantic",
        "hybrid": f":semantic_weight * {cosine} + :lexical_weight * coalesce(lexical, {cosine})",
    }[shape.mode]
    return f"""
weighed AS (
    SELECT *, round(CAST({score} AS numeric), 6) AS score
    FROM (
        SELECT *, bm25 / nullif(max(bm25) OVER (), 0) AS lexical,
            max(semantic) OVER () AS nearest
        FROM measured
    ) AS m
)"""


def _legs(shape: Shape) -> str:
    """Which leg brought a hit, for those who ask how it was found."""
    if not shape.explained:
        return ""
    words, meaning = "false", "false"
    if shape.by_words:
        words = "f.id IN (SELECT id FROM lexical UNION ALL SELECT id FROM deeper)"
    if shape.by_meaning:
        meaning = "f.id IN (SELECT id FROM semantic)"
    return f",\n    {words} AS by_words, {meaning} AS by_meaning"


def position_statement(shape: Shape) -> str:
    """The SQL that counts the documents which a leg ranks before the scores that are given."""
    steps, counts = "", []
    if shape.by_words:
        steps = f"WITH {_scored(shape)}"
        counts.append(
            "(SELECT count(*) FROM scored AS s JOIN search_documents AS d USING (doc_no)"
            f" WHERE s.bm25 > :bm25 AND {_scope(shape)}) AS before_by_words"
        )
    if shape.by_meaning:
        counts.append(
            "(SELECT count(*) FROM embeddings AS e JOIN search_documents AS d"
            f" ON d.id = e.document_id WHERE {_of_model(shape)} AND e.group_id = {shape.group}"
            " AND (e.owner_id IS NULL OR e.owner_id = :owner)"
            f" AND 1 - ({_distance(shape)}) > :cosine AND {_scope(shape)}) AS before_by_meaning"
        )
    return f"{steps} SELECT {', '.join(counts)}"


def _found(shape: Shape) -> str:
    """The best hits, with their texts where they are asked for."""
    ranked = "best" if shape.per_source else "weighed"
    said = "d.text" if shape.with_text else "'' AS text"
    return f"""
SELECT d.id, d.source_type, d.source_id, d.chunk_no, d.language, d.title, d.headings, {said},
    d.metadata, f.score, f.semantic, f.lexical, f.bm25, f.coverage{_legs(shape)}
FROM (SELECT * FROM {ranked} ORDER BY score DESC, id LIMIT :limit) AS f
JOIN search_documents AS d ON d.id = f.id
ORDER BY f.score DESC, f.id"""
