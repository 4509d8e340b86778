"""The system prompt: rows of `ai_prompts`, edited by admins, put together for each turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from sqlalchemy import select

from app.accounts.models import Group
from app.assistant.models import Prompt
from app.assistant.registry import Registry
from app.db import ScopedSession
from app.errors import InvalidInput

CORE_PROMPTS = Path(__file__).with_name("prompts.yaml")


@dataclass(frozen=True)
class PromptRow:
    """A row as it is seeded; see the table `ai_prompts` for the fields."""

    slug: str
    category: str
    domain: str | None
    sort_order: int
    prompt_en: str
    prompt_es: str


def load_prompts(session: ScopedSession) -> list[Prompt]:
    """All of the group's rows, active or not, in the order they are put together."""
    return list(
        session.scalars(
            select(Prompt)
            .where(Prompt.group_id == session.scope.group_id)
            .order_by(Prompt.sort_order, Prompt.slug)
        )
    )


def assemble(
    rows: Iterable[Prompt],
    *,
    language: str,
    domain: str,
    action: str = "",
    generated: Sequence[str] = (),
) -> str:
    """The system prompt for one turn, in `language`.

    System rows and skill rows always count, a domain's row in its domain, an action's row
    when that action was asked for; the generated block (date, language, hints) comes last.
    """
    wanted_action = f"action-{domain}-{action}" if action else ""
    chosen = [
        row
        for row in rows
        if row.is_active
        and (
            row.category in ("system", "skill")
            or (row.category == "domain" and row.domain == domain)
            or row.slug == wanted_action
        )
    ]
    texts = [row.prompt_es if language == "es" else row.prompt_en for row in chosen]
    return "\n\n".join([*(text.strip() for text in texts), "\n".join(generated)]).strip()


def inactive_slugs(rows: Iterable[Prompt]) -> set[str]:
    """The rows that are switched off; tools they introduce are not offered."""
    return {row.slug for row in rows if not row.is_active}


def check_action(session: ScopedSession, domain: str, action: str) -> None:
    """Refuse an action that the group has no row for.

    Raises:
        InvalidInput: names the field `action`.
    """
    slug = f"action-{domain}-{action}"
    known = session.scalar(
        select(Prompt.id).where(
            Prompt.group_id == session.scope.group_id,
            Prompt.slug == slug,
            Prompt.category == "action",
        )
    )
    if known is None:
        raise InvalidInput("There is no such action here.", field="action")


def prompt_rows(registry: Registry) -> list[PromptRow]:
    """The rows that a new group starts with: the core's and each skill's."""
    files = [CORE_PROMPTS, *(skill.prompts for skill in registry.skills if skill.prompts)]
    return [_row(entry) for file in files for entry in yaml.safe_load(file.read_text("utf-8"))]


def _row(entry: dict[str, Any]) -> PromptRow:
    return PromptRow(
        slug=entry["slug"],
        category=entry["category"],
        domain=entry.get("domain"),
        sort_order=entry["sort_order"],
        prompt_en=entry["en"].strip(),
        prompt_es=entry["es"].strip(),
    )


def seed_prompts(session: ScopedSession, group_id: UUID, registry: Registry) -> int:
    """Give a group the rows it lacks and refresh those nobody has edited.

    Returns the number of rows added or refreshed. A row with an editor is left alone.
    """
    known = {
        row.slug: row for row in session.scalars(select(Prompt).where(Prompt.group_id == group_id))
    }
    touched = 0
    for seed in prompt_rows(registry):
        row = known.get(seed.slug)
        if row is None:
            session.add(Prompt(group_id=group_id, **vars(seed)))
            touched += 1
        elif row.edited_by is None and row.version == 1 and _differs(row, seed):
            row.prompt_en, row.prompt_es = seed.prompt_en, seed.prompt_es
            row.sort_order = seed.sort_order
            touched += 1
    session.flush()
    return touched


def refresh_prompts(session: ScopedSession, registry: Registry) -> None:
    """Seed the prompts of every group there is; the session is the owner's."""
    for group_id in session.scalars(select(Group.id)):
        seed_prompts(session, group_id, registry)


def _differs(row: Prompt, seed: PromptRow) -> bool:
    return (row.prompt_en, row.prompt_es, row.sort_order) != (
        seed.prompt_en,
        seed.prompt_es,
        seed.sort_order,
    )
