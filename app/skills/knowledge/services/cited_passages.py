"""A cited passage as it stood then, and what has become of it since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal

from sqlalchemy import select

from app.accounts.models import Group
from app.assistant.threads.cited import CitedThen
from app.assistant.tools.parts import Citation
from app.config import LANGUAGES
from app.db import ScopedSession
from app.jobs.system_threads import RealThreads
from app.skills.knowledge.models import LibraryRevision, ManualSection, Product
from app.skills.knowledge.services.display import QUOTE_LENGTH, product_quote
from app.skills.knowledge.services.revisions import Entity, restore
from app.text.diff import Change, compare_within

# withdrawn: its words are in the library no more; unpublished: they are, out of sight.
State = Literal["same", "changed", "unpublished", "withdrawn"]
# How far back it is looked for when a passage changed.
MOST_REVISIONS = 50
_LOOKING = RealThreads(1, holds_nothing=True)


@dataclass(frozen=True)
class CitedPassage:
    """What was cited when, what it is now, and how and since when that differs.

    `entity` is None where what it was a passage of does not exist any more.
    """

    citation: Citation
    cited_at: datetime
    entity: Entity | None
    state: State
    changed_at: datetime | None = None
    changes: Sequence[Change] = ()


def look_up(session: ScopedSession, cited: CitedThen) -> CitedPassage:
    """Compare a citation with the library as it is now."""
    citation = cited.citation
    entity = _load(session, citation)
    language = citation.language if citation.language in LANGUAGES else "en"
    currency = session.get_one(Group, session.scope.group_id).currency
    now = _words(entity, language, currency) if entity else ""
    state = _state(entity, citation.quote, now)
    if state == "same":
        return CitedPassage(citation, cited.at, entity, state)
    changed_at = _changed_at(session, cited, entity, language, currency) if entity else None
    changes = compare_within(citation.quote, now) if state == "changed" else []
    return CitedPassage(citation, cited.at, entity, state, changed_at, changes)


def _load(session: ScopedSession, citation: Citation) -> Entity | None:
    """What was cited, whether it is published or not."""
    group, source = session.scope.group_id, citation.source_id
    section = select(ManualSection).where(
        ManualSection.group_id == group, ManualSection.id == source
    )
    product = select(Product).where(Product.group_id == group, Product.id == source)
    return session.scalar(section) or session.scalar(product)


def _words(entity: Entity, language: str, currency: str) -> str:
    """What a citation of it would be taken from, in that language."""
    if isinstance(entity, Product):
        return product_quote(entity, language, currency)
    return entity.body_es if language == "es" else entity.body_en


def _state(entity: Entity | None, quote: str, now: str) -> State:
    if entity is None or not now.strip():
        return "withdrawn"
    is_shown = entity.is_active if isinstance(entity, Product) else entity.is_published
    if not is_shown:
        return "unpublished"
    return "same" if _stands_in(entity, now, quote) else "changed"


def _stands_in(entity: Entity, words: str, quote: str) -> bool:
    """Whether it says still what was quoted; how lines are broken does not count.

    A product is quoted whole: one that says more by now, such as another allergen, has changed.
    """
    if isinstance(entity, Product):
        # The description alone is what older answers kept.
        told = (words[:QUOTE_LENGTH], entity.description_en, entity.description_es)
        return quote.split() in [each.split() for each in told]
    return " ".join(quote.split()) in " ".join(words.split())


def _changed_at(
    session: ScopedSession, cited: CitedThen, entity: Entity, language: str, currency: str
) -> datetime:
    """When the quoted words went: the last change before which they were there."""
    # One at a time, and looked at in a thread: each may be as long as a section.
    revisions = session.scalars(
        select(LibraryRevision.id)
        .where(
            LibraryRevision.group_id == session.scope.group_id,
            LibraryRevision.entity_id == entity.id,
            LibraryRevision.created_at >= cited.at,
            LibraryRevision.snapshot.is_not(None),
        )
        .order_by(LibraryRevision.version.desc())
        .limit(MOST_REVISIONS)
    ).all()

    def stood_in(snapshot: dict[str, Any]) -> bool:
        was = type(entity)()
        restore(was, snapshot)
        return _stands_in(was, _words(was, language, currency), cited.citation.quote)

    for id_ in revisions:
        snapshot, changed_at = session.execute(
            select(LibraryRevision.snapshot, LibraryRevision.created_at).where(
                LibraryRevision.group_id == session.scope.group_id, LibraryRevision.id == id_
            )
        ).one()
        if _LOOKING.run(partial(stood_in, snapshot or {})):
            return changed_at
    return entity.updated_at
