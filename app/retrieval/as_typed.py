"""Searching by words while they are typed: the last one may be the beginning of any.

It reads the same postings as the lexical leg of a search and scores by the same BM25, but
wants every word that says something, and takes the last for all that it may become. Both
languages are searched, whatever the reader's.

A slip of the finger is put right: "chiken" is looked for as "chicken". Only a word that the group
has in no form is, only by one letter, and never its first: what is no word at all finds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.db import JsonObject, ScopedSession
from app.retrieval.hybrid_query import K1, B
from app.retrieval.search import tune
from app.text.normalize import words

MOST_WORDS = 12
LONGEST_TYPED = 200
# A single letter begins too many words to say anything.
SHORTEST_BEGINNING = 2
LAST = "\U0010ffff"


@dataclass(frozen=True)
class DocumentMatch:
    """A document that has the words; `entity` is what it is a passage of.

    `is_partial` is of all that were found together: none of them has every word.
    """

    document_id: UUID
    source_type: str
    source_id: UUID
    entity: str
    language: str
    title: str
    headings: tuple[str, ...]
    text: str
    details: JsonObject
    is_partial: bool


@dataclass(frozen=True)
class Typed:
    """What stands in the search field: whole words, and the one that is being typed."""

    words: tuple[str, ...]
    beginning: str

    @property
    def everything(self) -> tuple[str, ...]:
        return (*self.words, self.beginning) if self.beginning else self.words


def read_typed(query: str) -> Typed:
    """The folded words of what was typed; the last one is open until a blank follows it."""
    cut = query[:LONGEST_TYPED]
    found = words(cut)[:MOST_WORDS]
    if not found or not cut[-1].isalnum():
        return Typed(tuple(found), "")
    return Typed(tuple(found[:-1]), found[-1])


_STATEMENT = text(r"""
WITH kinds (language) AS (VALUES ('en'), ('es'), ('mul')),
whole AS (
    -- The stem of "camarones" is "camaron", but that of "camaron" is "cam".
    SELECT w.place, k.language, l.lexeme
    FROM unnest(CAST(:words AS text[])) WITH ORDINALITY AS w (word, place) CROSS JOIN kinds AS k
    CROSS JOIN LATERAL (VALUES (w.word), (word_stem(k.language, w.word))) AS l (lexeme)
    WHERE NOT is_stop_word(w.word)
), open AS (
    -- Beside other words, one that says nothing is taken for itself: "paloma the" is not about
    -- thermometers. Alone it is the beginning of something.
    SELECT :is_open AND (NOT is_stop_word(:beginning) OR NOT EXISTS (SELECT FROM whole)) AS is_open
), longer AS (
    SELECT k.language, s.lexeme FROM kinds AS k CROSS JOIN LATERAL (
        SELECT lexeme FROM lexeme_statistics AS s
        WHERE s.group_id = :group AND s.language = k.language
            AND s.lexeme ~>=~ :beginning AND s.lexeme ~<~ :beyond
        ORDER BY documents DESC, lexeme LIMIT 8
    ) AS s WHERE (SELECT is_open FROM open)
), shorter AS (
    SELECT DISTINCT ON (k.language) k.language, s.lexeme FROM kinds AS k
    JOIN lexeme_statistics AS s ON s.group_id = :group AND s.language = k.language
        AND s.lexeme = ANY (CAST(:stems AS text[]))
    WHERE (SELECT is_open FROM open)
    ORDER BY k.language, length(s.lexeme) DESC
), terms AS MATERIALIZED (
    SELECT place, language, lexeme FROM whole WHERE lexeme IS NOT NULL
    UNION SELECT 0, language, lexeme FROM longer
    UNION SELECT 0, language, word_stem(language, :beginning) FROM kinds
    WHERE :is_open AND NOT is_stop_word(:beginning)
    UNION SELECT 0, s.language, s.lexeme FROM shorter AS s
    WHERE NOT EXISTS (SELECT FROM longer AS l WHERE l.language = s.language)
), weighed AS MATERIALIZED (
    SELECT t.place, t.language, t.lexeme, :k1 * (1 - :b) AS fixed,
        :k1 * :b * s.documents / greatest(s.total_length, 1) AS per_length,
        (:k1 + 1) * ln(1 + (s.documents - f.documents + 0.5)::float8
            / (f.documents + 0.5)) AS most
    FROM terms AS t
    JOIN language_statistics AS s ON s.group_id = :group AND s.language = t.language
    JOIN lexeme_statistics AS f ON f.group_id = :group AND f.language = t.language
        AND f.lexeme = t.lexeme
), scored AS (
    SELECT doc_no, count(*) AS words, sum(best) AS bm25 FROM (
        SELECT p.doc_no, w.place,
            max(w.most * p.frequency / (p.frequency + w.fixed + w.per_length * p.length)) AS best
        FROM weighed AS w JOIN postings AS p ON p.group_id = :group
            AND p.language = w.language AND p.lexeme = w.lexeme
            AND (p.owner_id IS NULL OR p.owner_id = :owner)
        GROUP BY p.doc_no, w.place
    ) AS by_word GROUP BY doc_no
), nearest AS (
    SELECT doc_no, bm25 FROM scored WHERE words = (SELECT max(words) FROM scored)
    ORDER BY bm25 DESC, doc_no LIMIT 100
), sources AS (
    SELECT DISTINCT ON (d.source_type, d.source_id) d.id, n.bm25,
        d.metadata ->> 'entity' AS entity
    FROM nearest AS n JOIN search_documents AS d USING (doc_no)
    WHERE d.group_id = :group AND d.is_published
        AND (d.owner_id IS NULL OR d.owner_id = :owner)
        AND d.source_type = ANY (CAST(:source_types AS text[]))
    ORDER BY d.source_type, d.source_id, (d.language = :language) DESC, n.bm25 DESC, d.id
), ranked AS (
    SELECT id, bm25, entity,
        row_number() OVER (PARTITION BY entity ORDER BY bm25 DESC, id) AS rank
    FROM sources
)
SELECT d.id, d.source_type, d.source_id, r.entity, d.language, d.title, d.headings, d.text,
    d.metadata,
    (SELECT count(DISTINCT place) FROM terms) > (SELECT max(words) FROM scored) AS is_partial
FROM ranked AS r JOIN search_documents AS d ON d.id = r.id
WHERE r.rank <= :limit ORDER BY r.bm25 DESC, r.id
""")


def search_as_typed(
    session: ScopedSession,
    typed: Typed,
    *,
    language: str,
    source_types: Sequence[str],
    limit: int = 8,
) -> list[DocumentMatch]:
    """The best passage of each source that has the words, at most `limit` of each entity.

    A source that has a passage in the reader's `language` is shown in that one. Published
    documents of the session's group only.
    """
    is_open = len(typed.beginning) >= SHORTEST_BEGINNING
    if session.scope.group_id is None or not (typed.words or is_open):
        return []
    tune(session)
    beginning = typed.beginning if is_open else ""
    parameters = {
        "group": session.scope.group_id,
        "owner": session.scope.user_id,
        "words": list(typed.words),
        "is_open": is_open,
        "beginning": beginning,
        "beyond": beginning + LAST,
        "stems": stems_of(beginning),
        "language": language,
        "source_types": list(source_types),
        "limit": limit,
        "k1": K1,
        "b": B,
    }
    return [_match(row) for row in session.execute(_STATEMENT, parameters)]


def _match(row: Row[Any]) -> DocumentMatch:
    return DocumentMatch(
        document_id=row.id,
        source_type=row.source_type,
        source_id=row.source_id,
        entity=row.entity or "",
        language=row.language,
        title=row.title,
        headings=tuple(row.headings),
        text=row.text,
        details=row.metadata,
        is_partial=row.is_partial,
    )


# Slips of the finger

# One letter makes too many others of a shorter word, and no word of what is longer.
SHORTEST_SLIP, LONGEST_SLIP = 5, 24
MOST_SLIPS = 3

_LACKING = text("""
WITH forms AS MATERIALIZED (
    SELECT w.word, k.language, f.lexeme FROM unnest(CAST(:words AS text[])) AS w (word)
    CROSS JOIN (VALUES ('en'), ('es'), ('mul')) AS k (language)
    CROSS JOIN LATERAL (VALUES (w.word), (word_stem(k.language, w.word))) AS f (lexeme)
    UNION SELECT :beginning, k.language, f.lexeme FROM unnest(CAST(:stems AS text[])) AS f (lexeme)
    CROSS JOIN (VALUES ('en'), ('es'), ('mul')) AS k (language)
), known AS (
    SELECT f.word FROM forms AS f JOIN lexeme_statistics AS s
        ON s.group_id = :group AND s.language = f.language AND s.lexeme = f.lexeme
    UNION SELECT :beginning WHERE EXISTS (
        SELECT FROM lexeme_statistics AS s WHERE s.group_id = :group
            AND s.language = ANY (ARRAY['en', 'es', 'mul'])
            AND s.lexeme ~>=~ :beginning AND s.lexeme ~<~ :beyond
    )
)
SELECT w.word FROM unnest(CAST(:words AS text[])) AS w (word)
WHERE NOT is_stop_word(w.word) AND w.word NOT IN (SELECT word FROM known)
""")
_NEAREST = text("""
WITH forms AS MATERIALIZED (
    SELECT DISTINCT v.word, k.language, f.lexeme
    FROM unnest(CAST(:variants AS text[])) AS v (word)
    CROSS JOIN (VALUES ('en'), ('es'), ('mul')) AS k (language)
    CROSS JOIN LATERAL (VALUES (v.word), (word_stem(k.language, v.word))) AS f (lexeme)
), known AS MATERIALIZED (
    SELECT f.word, f.lexeme, s.documents FROM forms AS f JOIN lexeme_statistics AS s
        ON s.group_id = :group AND s.language = f.language AND s.lexeme = f.lexeme
)
-- "chilen" has the stem of "chile", but loses more of itself to it than "chicken" does.
SELECT word FROM known WHERE NOT is_stop_word(word) AND length(lexeme) * 3 >= length(word) * 2
ORDER BY length(word) - length(lexeme), documents DESC, word LIMIT 1
""")


def put_right(session: ScopedSession, typed: Typed) -> Typed:
    """`typed` with each word that the group has not replaced by the likest of its own.

    The same where all words are known, or nothing is like them.
    """
    nearest = {word: _nearest(session, word) for word in _unknown_words(session, typed)}
    if not any(nearest.values()):
        return typed
    words = tuple(nearest.get(word) or word for word in typed.words)
    if instead := nearest.get(typed.beginning):
        return Typed((*words, instead), "")
    return Typed(words, typed.beginning)


def _unknown_words(session: ScopedSession, typed: Typed) -> list[str]:
    """The words that are long enough to be put right, and that no document has."""
    long = [
        word
        for word in typed.everything
        if SHORTEST_SLIP <= len(word) <= LONGEST_SLIP and word.isalpha()
    ]
    if not long:
        return []
    parameters = {
        "group": session.scope.group_id,
        "words": long,
        "beginning": typed.beginning,
        "beyond": typed.beginning + LAST,
        "stems": stems_of(typed.beginning),
    }
    return list(session.scalars(_LACKING, parameters))[:MOST_SLIPS]


def _nearest(session: ScopedSession, word: str) -> str | None:
    parameters = {"group": session.scope.group_id, "variants": sorted(slips_of(word))}
    found: str | None = session.scalar(_NEAREST, parameters)
    return found


def slips_of(word: str) -> set[str]:
    """All that differs from `word` by one letter: more, fewer, other, or two that changed places.

    The first letter stays: nobody mistypes it as often as all others together.
    """
    found = set()
    for at in range(1, len(word) + 1):
        start, rest = word[:at], word[at:]
        found |= {start + letter + rest for letter in ascii_lowercase}
        if rest:
            found |= {start + letter + rest[1:] for letter in ascii_lowercase}
            found |= {start + rest[1:], start + rest[1:2] + rest[0] + rest[2:]}
    return found - {word}


# What a stem may go on with

SHORTEST_STEM, LONGEST_ENDING = 3, 5

_ENGLISH = (
    "able ably al ally ance ances ant ants ate ated ates ating ation ational ations ative"
    " ator ators ed ence ences ency ent ents er ers ery es est ey ful fully ial ible ibly ic"
    " ical ie ied ier ies iest ily ing ings ion ional ions ious ish ism ist ists ities ity ive"
    " ives ization ize ized izer izes izing less ly ment ments ness nesses or ors ory ous ously s"
    " ure ures y"
)
_SPANISH = (
    "a aba aban able ables ad ada adas ado ador adora adoras adores ados aje ajes al ales"
    " amente amiento amientos amos an ancia ancias ando ano anos ante antes anza anzas ar aria"
    " arias ario arios aron arse as ativa ativo acion aciones dad dades e emos en encia encias"
    " er era eras eria erias ero eros es ia ian ible ibles ica icas icion iciones ico icos ida"
    " idad idades idas ido idos iendo iente ientes ieron illa illas illo illos imiento"
    " imientos in ina inas ino inos io ion iones ios ir ismo ista istas ita itas ito itos iva"
    " ivas ivo ivos izar mente o on ona ones os osa osas oso osos ura uras"
)
# Those before which English doubles a letter: "cutting" is of "cut".
_DOUBLING = "able ed er ers est ing ings y"


def _beginnings(endings: str) -> frozenset[str]:
    """All that these endings begin with: nothing, and each as a whole too."""
    each = endings.split()
    return frozenset(ending[:end] for ending in each for end in range(len(ending) + 1))


_BEGUN = _beginnings(f"{_ENGLISH} {_SPANISH}")
_BEGUN_DOUBLED = _beginnings(_DOUBLING)


def stems_of(beginning: str) -> list[str]:
    """What may be the stem of a word that begins so: itself, and without an ending begun.

    Words are kept by their stems, so that of "refrigerato" only "refriger" is known. The rest must
    be the beginning of an ending in either language, else any word would be one that begins like
    another.
    """
    shortest = max(SHORTEST_STEM, len(beginning) - LONGEST_ENDING)
    cuts = range(shortest, len(beginning) + 1)
    return [beginning[:cut] for cut in cuts if _may_go_on(beginning[:cut], beginning[cut:])]


def _may_go_on(stem: str, rest: str) -> bool:
    is_doubled = rest[:1] == stem[-1]
    return rest in _BEGUN or (is_doubled and rest[1:] in _BEGUN_DOUBLED)
