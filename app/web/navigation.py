"""The places that the menu leads to: the core's, and those that skills declare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flask import request
from flask_babel import LazyString
from flask_babel import lazy_gettext as _
from flask_login import current_user

from app.extensions import services

Role = Literal["staff", "manager", "admin"]
RANKS: dict[str, int] = {"staff": 0, "manager": 1, "admin": 2}


@dataclass(frozen=True)
class NavEntry:
    """A place of the menu: its first page, an icon of the sprite, and its name.

    `role` is the least that sees it; `order` its place from the top, a hundred a group of
    places; `blueprints` are those whose pages are parts of it.
    """

    endpoint: str
    icon: str
    label: LazyString
    order: int
    role: Role = "staff"
    blueprints: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        return request.endpoint == self.endpoint or request.blueprint in self.blueprints


CORE = (
    NavEntry("accounts.people", "people", _("People"), 120, "manager"),
    NavEntry(
        "prompts.index", "pencil", _("Prompts"), 200, "admin", ("prompts", "sentences", "bench")
    ),
    NavEntry("admin.usage", "chart", _("Usage"), 210, "admin", ("admin", "inbox", "inspector")),
    NavEntry("group_settings.settings", "globe", _("Restaurant"), 220, "admin"),
)


def nav_entries() -> Sequence[NavEntry]:
    """The places that the person who is signed in may see, from the top."""
    rank = RANKS[current_user.role]
    entries = (*CORE, *services().registry.navigation)
    visible = (entry for entry in entries if RANKS[entry.role] <= rank)
    return sorted(visible, key=lambda entry: entry.order)
