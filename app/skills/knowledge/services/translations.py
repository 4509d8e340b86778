"""Which sections and products lack one language, or say less in one than in the other.

Nobody marks a text as outdated: it follows from the revisions. Who changes one language
alone leaves the other behind; who then changes the other has caught up. A revision in
which nothing changed says that somebody looked and found both the same.
"""

# What is put into the SQL here are names of this module, never a request's text.
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from app.accounts.audit import record
from app.config import LANGUAGES
from app.db import ScopedSession
from app.errors import InvalidInput
from app.skills.knowledge.models import LibraryRevision
from app.skills.knowledge.services.products import load_product_to_edit
from app.skills.knowledge.services.revisions import PRODUCT_FIELDS, SECTION_FIELDS, Entity, snapshot
from app.skills.knowledge.services.sections import load_section_to_edit
from app.text.edits import check_same


@dataclass(frozen=True)
class _Watched:
    """A table, what names its rows, and its texts that stand in both languages.

    What is written of `texts` in one language and not in the other is missing there; what
    is the `name` can lag behind, but is often the same word in both. So it is in `lists`, whose
    items say themselves which language was `borrowed` from the other.
    """

    table: str
    shown: str
    name: str
    texts: tuple[str, ...]
    lists: tuple[str, ...] = ()


_WATCHED = {
    "section": _Watched("manual_sections", "is_published", "title", ("title", "body")),
    "product": _Watched(
        "products", "is_active", "name", ("description", "pairing_notes"), ("ingredients", "steps")
    ),
}
# A letter for each change: E and S for one language alone, R where none is behind any more.
_EVENT = """CASE
    WHEN later.whole = earlier.whole OR (later.en <> earlier.en AND later.es <> earlier.es) THEN 'R'
    WHEN earlier.en = '' OR earlier.es = '' THEN ''
    WHEN later.en <> earlier.en THEN 'E'
    WHEN later.es <> earlier.es THEN 'S'
    ELSE ''
END"""
# The letters after which a language is behind: a change of the one that was, and no more, made
# both even again.
_EVEN = "(^|R)(E+S|S+E)*"
BEHIND = {"es": f"{_EVEN}E+$", "en": f"{_EVEN}S+$"}
# Whatever was before these letters, it says no more: both were even, or one was changed again.
_DECIDED = "^(R|EE|SS)"
_NONE = "''"
PAGE = 50


@dataclass(frozen=True)
class TranslationGap:
    """A section or product whose `language` is missing, or older than the other one."""

    entity: str
    id: UUID
    version: int
    names: dict[str, str]
    language: str
    is_missing: bool

    def name(self, language: str) -> str:
        """Its title or name in `language`, else in the one there is."""
        return self.names[language] or next(filter(None, self.names.values()), "")


@dataclass(frozen=True)
class GapPage:
    """Some of the gaps of one kind, the last changed first, and how many there are in all."""

    gaps: Sequence[TranslationGap]
    total: int
    page: int

    @property
    def has_more(self) -> bool:
        return self.page * PAGE < self.total


def list_gaps(session: ScopedSession, *, is_missing: bool, page: int = 1) -> GapPage:
    """What readers see and what lacks a language, or else lags behind in one."""
    rows = session.execute(
        text(
            "SELECT entity, id, version, en, es, language, count(*) OVER () AS total"
            f" FROM ({_gaps(is_missing)}) AS gaps"
            " ORDER BY entity DESC, updated_at DESC, id, language LIMIT :size OFFSET :first"
        ),
        {"group": session.scope.group_id, "size": PAGE, "first": (page - 1) * PAGE},
    ).all()
    gaps = [
        TranslationGap(
            row.entity, row.id, row.version, {"en": row.en, "es": row.es}, row.language, is_missing
        )
        for row in rows
    ]
    # Beyond the last page nothing is found that could tell.
    is_known = bool(rows) or page == 1
    total = sum(row.total for row in rows[:1]) if is_known else _count(session, is_missing)
    return GapPage(gaps, total, page)


def count_gaps(session: ScopedSession) -> int:
    """How much of what readers see wants translating."""
    return _count(session, True) + _count(session, False)


def confirm_same(session: ScopedSession, entity: str, entity_id: UUID, version: int) -> Entity:
    """Note that both languages say the same, though only one was changed last.

    Raises:
        NotFound
        InvalidInput: neither a section nor a product.
        Conflict: it has changed since `version`.
    """
    found: Entity
    if entity == "section":
        found = load_section_to_edit(session, entity_id, lock=True)
    elif entity == "product":
        found = load_product_to_edit(session, entity_id, lock=True)
    else:
        raise InvalidInput("Choose from the list.", field="entity")
    check_same(version, found.version)
    session.add(
        LibraryRevision(
            group_id=session.scope.group_id,
            entity=entity,
            entity_id=entity_id,
            version=version,
            snapshot=snapshot(found),
            author_id=session.scope.user_id,
        )
    )
    found.version += 1
    record(session, "translation_confirmed", f"{entity} {found.slug}")
    session.commit()
    return found


def _count(session: ScopedSession, is_missing: bool) -> int:
    counted = f"SELECT count(*) FROM ({_gaps(is_missing)}) AS gaps"
    return int(session.scalar(text(counted), {"group": session.scope.group_id}) or 0)


def _gaps(is_missing: bool) -> str:
    of_one = _missing if is_missing else _outdated
    return " UNION ALL ".join(of_one(entity) for entity in _WATCHED)


def _missing(entity: str) -> str:
    """SQL for what is shown of one kind and lacks a language, a row for each that it lacks."""
    watched = _WATCHED[entity]
    return " UNION ALL ".join(
        f"SELECT {_columns(entity)}, '{language}' AS language FROM {watched.table} AS t"
        f" WHERE t.group_id = :group AND t.{watched.shown} AND {_lacks(watched, language)}"
        for language in LANGUAGES
    )


def _columns(entity: str) -> str:
    name = _WATCHED[entity].name
    return (
        f"'{entity}' AS entity, t.id, t.version, t.updated_at, t.{name}_en AS en, t.{name}_es AS es"
    )


def _lacks(watched: _Watched, language: str) -> str:
    """SQL: some text, or an item of a list, is written in the other language alone."""
    other = next(each for each in LANGUAGES if each != language)
    texts = [f"(t.{name}_{language} = '' AND t.{name}_{other} <> '')" for name in watched.texts]
    lists = [_is_borrowed(f"t.{name}", language) for name in watched.lists]
    return f"({' OR '.join([*texts, *lists])})"


def _is_borrowed(items: str, language: str) -> str:
    """SQL: some item of a list has its words in that language from the other one."""
    return f"jsonb_path_exists({items}, '$[*] ? (@.borrowed == \"{language}\")')"


def _outdated(entity: str) -> str:
    """SQL for what is shown of one kind, in both languages, one of which was left behind.

    Of what each was before, the latest first, no more is read than says so: a version holds all of
    its texts.
    """
    watched = _WATCHED[entity]
    lacking = " OR ".join(_lacks(watched, language) for language in LANGUAGES)
    both = " AND ".join(_any([f"t.{x}_{each}" for x in watched.texts]) for each in LANGUAGES)
    behind = " ".join(
        f"WHEN e.events ~ '{pattern}' THEN '{language}'" for language, pattern in BEHIND.items()
    )
    return f"""
        SELECT {_columns(entity)}, e.language FROM (
            WITH RECURSIVE later AS (
                -- OFFSET 0: a long text is unpacked once, however often it is asked for.
                SELECT r.id, r.version, {_marks(entity, "r.said")}, '' AS events FROM (
                    SELECT t.id, t.version, to_jsonb(t) AS said FROM {watched.table} AS t
                    WHERE t.group_id = :group AND t.{watched.shown} AND {both} AND NOT ({lacking})
                        AND EXISTS ({_earlier("t")}) OFFSET 0
                ) AS r
                UNION ALL
                SELECT later.id, earlier.version, earlier.en, earlier.es, earlier.whole,
                    {_EVENT} || later.events
                FROM later CROSS JOIN LATERAL (
                    SELECT r.version, {_marks(entity, "r.said")} FROM (
                        SELECT r.version, r.snapshot || '{{}}' AS said FROM (
                            {_earlier("later")} ORDER BY r.version DESC LIMIT 1
                        ) AS r OFFSET 0
                    ) AS r
                ) AS earlier
                WHERE later.events !~ '{_DECIDED}'
            ), told AS (
                SELECT DISTINCT ON (id) id, events FROM later ORDER BY id, version
            )
            SELECT id, CASE {behind} END AS language FROM told AS e
        ) AS e JOIN {watched.table} AS t ON t.id = e.id
        WHERE t.group_id = :group AND e.language IS NOT NULL"""


def _earlier(than: str) -> str:
    """SQL for the kept versions of the same thing before that one."""
    return f"""SELECT r.version, r.snapshot FROM library_revisions AS r
        WHERE r.group_id = :group AND r.entity_id = {than}.id AND r.version < {than}.version
            AND r.snapshot IS NOT NULL"""


def _written(watched: _Watched, language: str, json: str) -> str:
    """SQL: any text of that language is written."""
    return _any([f"{json}->>'{each}_{language}'" for each in watched.texts])


def _any(texts: Sequence[str]) -> str:
    return f"({' OR '.join(f'{each} <> {_NONE}' for each in texts)})"


def _marks(entity: str, json: str) -> str:
    """SQL for what is said in each language, and in all, as hashes.

    It is empty where nothing is, or where a list is not translated: who writes that catches up.
    """
    watched = _WATCHED[entity]
    marks = []
    for language in LANGUAGES:
        texts = [f"{json}->>'{each}_{language}'" for each in watched.texts]
        lists = [
            f"jsonb_path_query_array({json}->'{each}', '$[*].{language}')" for each in watched.lists
        ]
        said = ", ".join([f"{json}->>'{watched.name}_{language}'", *texts, *lists])
        borrowed = [_is_borrowed(f"{json}->'{each}'", language) for each in watched.lists]
        is_own = " AND ".join(
            [_written(watched, language, json), *(f"NOT {each}" for each in borrowed)]
        )
        hashed = f"md5(jsonb_build_array({said})::text)"
        marks.append(f"CASE WHEN {is_own} THEN {hashed} ELSE '' END AS {language}")
    fields = SECTION_FIELDS if entity == "section" else PRODUCT_FIELDS
    whole = ", ".join(f"{json}->>'{name}'" for name in fields)
    return ", ".join([*marks, f"md5(jsonb_build_array({whole})::text) AS whole"])
