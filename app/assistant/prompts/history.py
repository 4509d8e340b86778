"""What a prompt row was before, what it was seeded as, and going back to either."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from app.accounts.audit import record
from app.accounts.edit_history import VERSIONS_A_PAGE, Versions
from app.assistant.models import Prompt, PromptRevision
from app.assistant.prompts.editor import Texts, keep, load_prompt, texts_of
from app.assistant.prompts.system_prompt import PromptRow, seeds_of
from app.assistant.tools.registry import Registry
from app.db import ScopedSession
from app.errors import N_, Conflict, NotFound
from app.text.edits import check_same

REVISIONS = Versions(PromptRevision, PromptRevision.prompt_id, N_("This version does not exist."))


@dataclass(frozen=True)
class PromptVersion:
    """A row as somebody left it; `number` is 0 for how it was seeded."""

    number: int
    texts: Texts
    is_active: bool
    sort_order: int
    author_id: UUID | None
    at: datetime | None


@dataclass(frozen=True)
class PromptChange:
    """A version and the one before it, if that is known; what changed is the difference."""

    after: PromptVersion
    before: PromptVersion | None


def list_changes(
    session: ScopedSession, row: Prompt, page: int = 1
) -> tuple[list[PromptChange], bool]:
    """A page of a row's versions, the present one first, each with the one before it.

    Also tells whether there are more.
    """
    first = VERSIONS_A_PAGE * (page - 1)
    kept = session.scalars(
        select(PromptRevision)
        .where(
            PromptRevision.prompt_id == row.id, PromptRevision.group_id == session.scope.group_id
        )
        .order_by(PromptRevision.version.desc())
        .offset(max(first - 1, 0))
        .limit(VERSIONS_A_PAGE + 1)
    ).all()
    # The present one is kept nowhere yet, and is the first of all.
    versions = [*([_present(row)] if page == 1 else []), *map(_kept, kept)]
    changes = [PromptChange(*pair) for pair in zip(versions, [*versions[1:], None], strict=False)]
    return changes[:VERSIONS_A_PAGE], len(changes) > VERSIONS_A_PAGE


def _present(row: Prompt) -> PromptVersion:
    return PromptVersion(
        row.version, texts_of(row), row.is_active, row.sort_order, row.edited_by, row.updated_at
    )


def _kept(row: PromptRevision) -> PromptVersion:
    return PromptVersion(
        row.version, texts_of(row), row.is_active, row.sort_order, row.author_id, row.created_at
    )


def restore(session: ScopedSession, prompt_id: UUID, number: int, opened: int) -> Prompt:
    """Give a row the texts of an earlier version; that is a new version like any other.

    Raises:
        NotFound: the row or the version is not there.
        Conflict: somebody changed the row since the version `opened`.
    """
    row = load_prompt(session, prompt_id, lock=True)
    kept = REVISIONS.find(session, row.id, number)
    _replace(session, row, texts_of(kept), opened, f"{row.slug} to version {number}")
    session.commit()
    return row


def _replace(session: ScopedSession, row: Prompt, texts: Texts, opened: int, what: str) -> None:
    if row.version != opened:
        raise Conflict(
            "Somebody changed this row in the meantime. This is how it is now; try again."
        )
    if texts_of(row) != texts:
        keep(session, row)
        row.prompt_en, row.prompt_es = texts
        record(session, "prompt_restored", what)


def seed_of(registry: Registry, row: Prompt) -> PromptRow | None:
    """How the row comes with this release; None for one that the group added itself."""
    return seeds_of(registry).get(row.slug)


def seed_texts(seed: PromptRow) -> Texts:
    return Texts(seed.prompt_en, seed.prompt_es)


def offered_seed(registry: Registry, row: Prompt) -> PromptRow | None:
    """A seed that is new since the group edited the row and last looked; None without one."""
    seed = seed_of(registry, row)
    is_news = seed is not None and row.seed_digest not in (None, seed.seed_digest)
    return seed if seed and is_news and seed_texts(seed) != texts_of(row) else None


def take_seed(session: ScopedSession, registry: Registry, prompt_id: UUID, opened: int) -> Prompt:
    """Go back to the row as it comes with this release.

    Raises:
        NotFound: it does not come with it.
        Conflict: somebody changed the row since the version `opened`.
    """
    row, seed = _with_seed(session, registry, prompt_id)
    _replace(session, row, seed_texts(seed), opened, f"{row.slug} as seeded")
    row.seed_digest = seed.seed_digest
    session.commit()
    return row


def decline_seed(
    session: ScopedSession, registry: Registry, prompt_id: UUID, digest: str
) -> Prompt:
    """Keep the group's text and do not offer the seed of this digest again.

    Raises:
        NotFound. Conflict: a newer release has come with another one.
    """
    row, seed = _with_seed(session, registry, prompt_id)
    check_same(digest, seed.seed_digest)
    row.seed_digest = seed.seed_digest
    record(session, "prompt_seed_declined", row.slug)
    session.commit()
    return row


def _with_seed(
    session: ScopedSession, registry: Registry, prompt_id: UUID
) -> tuple[Prompt, PromptRow]:
    row = load_prompt(session, prompt_id, lock=True)
    seed = seed_of(registry, row)
    if seed is None:
        raise NotFound("This row is your restaurant's own; it did not come with the assistant.")
    return row, seed
