"""Words typed with a slip of the finger: "chiken" is looked for as "chicken".

Only a word that the house has in no form is put right, only by one letter, and never its
first: what is no word at all finds nothing.
"""

from __future__ import annotations

from string import ascii_lowercase

from sqlalchemy import text

from app.db import ScopedSession
from app.retrieval.as_typed import LAST, Typed
from app.retrieval.endings import stems_of

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
    nearest = {word: _nearest(session, word) for word in _lacking(session, typed)}
    if not any(nearest.values()):
        return typed
    words = tuple(nearest.get(word) or word for word in typed.words)
    if instead := nearest.get(typed.beginning):
        return Typed((*words, instead), "")
    return Typed(words, typed.beginning)


def _lacking(session: ScopedSession, typed: Typed) -> list[str]:
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
