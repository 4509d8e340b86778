"""The system prompt: rows of `ai_prompts`, edited by admins, put together for each turn."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import shorten
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.accounts.models import Group
from app.assistant.models import Prompt
from app.assistant.tools.registry import Registry
from app.db import ScopedSession, utc_now
from app.errors import InvalidInput
from app.text.bilingual import in_language
from app.text.yaml_file import read_yaml

# Of what a button on a card says.
LONGEST_BUTTON = 40
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
    is_required: bool = False

    @property
    def seed_digest(self) -> str:
        """What tells this text from that of another release."""
        return hashlib.sha256(f"{self.prompt_en}\0{self.prompt_es}".encode()).hexdigest()


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
    texts = (text_in(row, language) for row in chosen)
    return "\n\n".join([*texts, "\n".join(generated)]).strip()


def text_in(row: Prompt, language: str) -> str:
    """A row's text in `language`; where it has none, the other language's serves."""
    return in_language(language, row.prompt_en.strip(), row.prompt_es.strip())


def button_of(text: str) -> str:
    """What the button of a group's own action says: the first line of its row."""
    return text.strip().partition("\n")[0].strip()


def own_buttons(
    session: ScopedSession, domain: str, language: str, known: Collection[str]
) -> dict[str, str]:
    """The group's own actions of a domain with what their buttons say, in their order.

    Those that are `known` came with the assistant and have buttons of their own.
    """
    start = f"action-{domain}-"
    rows = session.scalars(
        select(Prompt)
        .where(
            Prompt.group_id == session.scope.group_id,
            Prompt.category == "action",
            Prompt.domain == domain,
            Prompt.is_active,
        )
        .order_by(Prompt.sort_order, Prompt.slug)
    )
    actions = {row.slug.removeprefix(start): row for row in rows if row.slug.startswith(start)}
    return {
        action: shorten(button_of(text_in(row, language)), LONGEST_BUTTON, placeholder="…")
        for action, row in actions.items()
        if action not in known
    }


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


@cache
def seeds_of(registry: Registry) -> Mapping[str, PromptRow]:
    """The rows that a new group starts with, by slug: the core's and each skill's."""
    files = [CORE_PROMPTS, *(skill.prompts for skill in registry.skills if skill.prompts)]
    rows = [_row(entry) for file in files for entry in read_yaml(file)]
    return {row.slug: row for row in rows}


def _row(entry: dict[str, Any]) -> PromptRow:
    return PromptRow(
        slug=entry["slug"],
        category=entry["category"],
        domain=entry.get("domain"),
        sort_order=entry["sort_order"],
        prompt_en=entry["en"].strip(),
        prompt_es=entry["es"].strip(),
        is_required=entry.get("required", False),
    )


def seed_prompts(session: ScopedSession, group_id: UUID, registry: Registry) -> int:
    """Give a group the rows it lacks and refresh those nobody has edited.

    Returns the number of rows added or refreshed. A row with an editor is left alone; it
    remembers the seed that the group saw last, so that a later one can be offered.
    """
    known = {
        row.slug: row for row in session.scalars(select(Prompt).where(Prompt.group_id == group_id))
    }
    touched = 0
    for seed in seeds_of(registry).values():
        row = known.get(seed.slug)
        if row is None:
            session.add(Prompt(group_id=group_id, seed_digest=seed.seed_digest, **vars(seed)))
            touched += 1
            continue
        row.is_required = seed.is_required
        is_untouched = row.edited_by is None and row.version == 1
        if is_untouched and _differs(row, seed):
            row.prompt_en, row.prompt_es = seed.prompt_en, seed.prompt_es
            row.sort_order, row.updated_at = seed.sort_order, utc_now()
            touched += 1
        if is_untouched or row.seed_digest is None:
            row.seed_digest = seed.seed_digest
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
