"""What the prompt pages show: rows with their sizes, words for codes, and who wrote what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from flask_babel import LazyString
from flask_babel import lazy_gettext as _
from flask_login import current_user

from app.accounts.form_pages import moment_in_words
from app.accounts.people import list_people
from app.admin import figures
from app.admin.search_inspector_words import kind_words
from app.assistant.models import Prompt
from app.assistant.prompts.editor import CATEGORIES, estimate_tokens, is_seeded
from app.assistant.prompts.history import offered_seed
from app.assistant.prompts.system_prompt import assemble, text_in
from app.assistant.tools.registry import Registry
from app.config import LANGUAGES
from app.db import ScopedSession
from app.extensions import services
from app.text.diff import Effort, compare

CATEGORY_NAMES: Mapping[str, LazyString] = {
    "system": _("Always"),
    "domain": _("In one place"),
    "skill": _("Skills"),
    "action": _("Buttons on cards"),
}
CATEGORY_NOTES: Mapping[str, LazyString] = {
    "system": _("Added before every message, whatever it is about."),
    "domain": _(
        "Ordinary questions in the chat get the row of the manual, and the assistant beside a form "
        "gets the row of forms. Each of the others is added when somebody taps a button on a card "
        "of its kind."
    ),
    "skill": _("Added before every message to explain what a skill can do."),
    "action": _(
        "Added when somebody taps that button on a card. The first line of a row of your own is "
        "what its button says."
    ),
}


@dataclass(frozen=True)
class Line:
    """A row as the list shows it."""

    row: Prompt
    tokens: Mapping[str, int]
    tools: tuple[str, ...]
    is_own: bool
    has_news: bool
    is_first: bool
    is_last: bool


def sections(registry: Registry, rows: list[Prompt]) -> dict[str, list[Line]]:
    """The rows by category, each category in the order in which they are put together."""
    return {
        category: _lines(registry, [row for row in rows if row.category == category])
        for category in CATEGORIES
    }


def _lines(registry: Registry, rows: list[Prompt]) -> list[Line]:
    return [
        Line(
            row,
            {language: estimate_tokens(text_in(row, language)) for language in LANGUAGES},
            tools_of(registry, row),
            not is_seeded(registry, row),
            offered_seed(registry, row) is not None,
            row is rows[0],
            row is rows[-1],
        )
        for row in rows
    ]


def tools_of(registry: Registry, row: Prompt) -> tuple[str, ...]:
    """The tools that are offered only while this row is on."""
    return tuple(name for name, tool in registry.tools.items() if tool.prompt_slug == row.slug)


def whole_sizes(rows: Iterable[Prompt], domain: str = "manual") -> dict[str, int]:
    """About how many tokens the whole prompt has in each language, without date and names."""
    known = list(rows)
    return {
        language: estimate_tokens(assemble(known, language=language, domain=domain))
        for language in LANGUAGES
    }


def domain_choices(registry: Registry) -> list[tuple[str, Any]]:
    """The places that one may ask in, as a choice."""
    return [(code, kind_words(code)) for code in registry.domains]


def names_of_people(session: ScopedSession) -> dict[UUID, str]:
    return {person.user_id: person.name for person in list_people(session)}


def in_common(session: ScopedSession) -> dict[str, Any]:
    """What all these pages draw with."""
    return {
        "names": names_of_people(session),
        "category_names": CATEGORY_NAMES,
        "category_notes": CATEGORY_NOTES,
        "kind_words": kind_words,
        "figures": figures,
        "ago": moment_in_words,
        "estimate": estimate_tokens,
        "word_diff": partial(compare, effort=Effort()),
        "budget": services().settings.prompt_budget_tokens,
        "has_model": services().settings.provider != "builtin",
        "zone": current_user.zone,
    }
