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
from itertools import groupby, pairwise
from uuid import UUID

from sqlalchemy import text

from app.accounts.audit import record
from app.config import LANGUAGES
from app.db import ScopedSession
from app.errors import Conflict, InvalidInput
from app.skills.knowledge.editing import load_section_to_edit
from app.skills.knowledge.models import LibraryRevision
from app.skills.knowledge.products_editing import load_product_to_edit
from app.skills.knowledge.revisions import PRODUCT_FIELDS, SECTION_FIELDS, Entity, snapshot


@dataclass(frozen=True)
class _Watched:
    """A table, what names its rows, and its texts that stand in both languages.

    What is written of `texts` in one language and not in the other is missing there; what
    is in `lists` or is the `name` can lag behind, but is often the same word in both.
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
# What the text was in English, in Spanish (empty where there was none), and all of it, as hashes.
Marks = tuple[str, str, str]


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


def list_gaps(session: ScopedSession) -> list[TranslationGap]:
    """Everything that readers see and that wants translating: what is missing first."""
    missing = [gap for entity in _WATCHED for gap in _list_missing(session, entity)]
    known = {gap.id for gap in missing}
    outdated = [gap for entity in _WATCHED for gap in _list_outdated(session, entity)]
    return [*missing, *(gap for gap in outdated if gap.id not in known)]


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
    if found.version != version:
        raise Conflict("Somebody has changed this meanwhile. Look at it again first.")
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


def outdated_language(history: Sequence[Marks]) -> str:
    """The language that was left behind, given the marks of each version in order; or nothing.

    `[("a", "x", "1"), ("b", "x", "2")]` leaves `es` behind.
    """
    behind = ""
    for then, now in pairwise(history):
        changed = [place for place in (0, 1) if then[place] != now[place]]
        if then == now or len(changed) == len(LANGUAGES):
            behind = ""
        elif changed and then[0] and then[1]:
            language, other = LANGUAGES[changed[0]], LANGUAGES[1 - changed[0]]
            behind = "" if behind == language else other
    is_in_both = bool(history and history[-1][0] and history[-1][1])
    return behind if is_in_both else ""


def _list_missing(session: ScopedSession, entity: str) -> list[TranslationGap]:
    watched = _WATCHED[entity]
    gaps = []
    for language, other in (("es", "en"), ("en", "es")):
        lacking = " OR ".join(
            f"({name}_{language} = '' AND {name}_{other} <> '')" for name in watched.texts
        )
        gaps += _load(session, entity, language, f"({lacking})", is_missing=True)
    return gaps


def _list_outdated(session: ScopedSession, entity: str) -> list[TranslationGap]:
    behind: dict[str, list[UUID]] = {language: [] for language in LANGUAGES}
    for entity_id, history in _load_histories(session, entity).items():
        language = outdated_language(history)
        if language:
            behind[language].append(entity_id)
    return [
        gap
        for language, ids in behind.items()
        for gap in _load(session, entity, language, "id = ANY(:ids)", is_missing=False, ids=ids)
    ]


def _load(
    session: ScopedSession,
    entity: str,
    language: str,
    condition: str,
    *,
    is_missing: bool,
    ids: Sequence[UUID] = (),
) -> list[TranslationGap]:
    watched = _WATCHED[entity]
    rows = session.execute(
        text(
            f"SELECT id, version, {watched.name}_en AS en, {watched.name}_es AS es"
            f" FROM {watched.table} WHERE group_id = :group AND {watched.shown} AND {condition}"
            " ORDER BY updated_at DESC, id"
        ),
        {"group": session.scope.group_id, "ids": list(ids)},
    )
    return [
        TranslationGap(
            entity, row.id, row.version, {"en": row.en, "es": row.es}, language, is_missing
        )
        for row in rows
    ]


def _load_histories(session: ScopedSession, entity: str) -> dict[UUID, list[Marks]]:
    """The marks of each version, the present one last, of everything that ever changed."""
    watched = _WATCHED[entity]
    rows = session.execute(
        text(
            f"SELECT entity_id, version, {_marks(entity, 'snapshot')} FROM library_revisions"
            " WHERE group_id = :group AND entity = :entity AND snapshot IS NOT NULL"
            f" UNION ALL SELECT id, version, {_marks(entity, 'to_jsonb(t)')}"
            f" FROM {watched.table} AS t WHERE group_id = :group AND EXISTS (SELECT 1"
            "  FROM library_revisions AS r WHERE r.group_id = :group AND r.entity_id = t.id"
            "  AND r.snapshot IS NOT NULL)"
            " ORDER BY 1, 2"
        ),
        {"group": session.scope.group_id, "entity": entity},
    )
    grouped = groupby(rows, key=lambda row: row[0])
    return {id_: [(row[2], row[3], row[4]) for row in of_one] for id_, of_one in grouped}


def _marks(entity: str, json: str) -> str:
    """SQL for a text of each language and for the whole of a section or product, as hashes."""
    watched = _WATCHED[entity]
    marks = []
    for language in LANGUAGES:
        texts = [f"{json}->>'{each}_{language}'" for each in watched.texts]
        lists = [
            f"jsonb_path_query_array({json}->'{each}', '$[*].{language}')" for each in watched.lists
        ]
        said = ", ".join([f"{json}->>'{watched.name}_{language}'", *texts, *lists])
        written = f"concat({', '.join(texts)})"
        marks.append(
            f"CASE WHEN {written} = '' THEN '' ELSE md5(jsonb_build_array({said})::text) END"
        )
    fields = SECTION_FIELDS if entity == "section" else PRODUCT_FIELDS
    whole = ", ".join(f"{json}->>'{name}'" for name in fields)
    return ", ".join([*marks, f"md5(jsonb_build_array({whole})::text)"])
