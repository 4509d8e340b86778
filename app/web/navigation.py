"""The places that the menu leads to: the core's, and those that skills declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from flask import request, url_for
from flask_babel import LazyString
from flask_babel import lazy_gettext as _
from flask_login import current_user

from app.db import ScopedSession
from app.extensions import services

Role = Literal["staff", "manager", "admin"]
RANKS: dict[str, int] = {"staff": 0, "manager": 1, "admin": 2}
# More is shown as this many and a plus.
MOST_COUNTED = 99


@dataclass(frozen=True)
class Work:
    """What a place has to do for those who look after it: they are led there instead.

    `count_open` gives how much is open, counted up to a bound; None for whoever looks after
    nothing. `words` puts such a number into words, with how it is shown ("99+"). `opens_for`
    are the roles whose first page it is.
    """

    endpoint: str
    count_open: Callable[[ScopedSession, int], int | None]
    words: Callable[[int, str], str]
    opens_for: tuple[Role, ...] = ()


@dataclass(frozen=True)
class NavEntry:
    """A place of the menu: its first page, an icon of the sprite, and its name.

    `role` is the least that sees it; `order` its place from the top, a hundred a group of
    places; `blueprints` are those whose pages are parts of it; `work` what it has for those
    who look after it.
    """

    endpoint: str
    icon: str
    label: LazyString
    order: int
    role: Role = "staff"
    blueprints: tuple[str, ...] = ()
    work: Work | None = None

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


@dataclass(frozen=True)
class NavLink:
    """A place as the menu draws it; `count` is "" where nothing is open."""

    endpoint: str
    icon: str
    label: LazyString
    is_current: bool
    count: str = ""
    count_in_words: str = ""


def nav_links(session: ScopedSession | None) -> list[NavLink]:
    """The places that the person who is signed in may see, from the top; None counts nothing."""
    return [_link(session, entry) for entry in _visible_entries()]


def first_page(session: ScopedSession) -> str:
    """Where the person who is signed in begins: at their work, or in the chat."""
    for entry in _visible_entries():
        work = entry.work
        is_first = work and current_user.role in work.opens_for
        if work and is_first and work.count_open(session, 1) is not None:
            return url_for(work.endpoint)
    return url_for("chat.new")


def _visible_entries() -> Sequence[NavEntry]:
    rank = RANKS[current_user.role]
    entries = (*CORE, *services().registry.navigation)
    visible = (entry for entry in entries if RANKS[entry.role] <= rank)
    return sorted(visible, key=lambda entry: entry.order)


def _link(session: ScopedSession | None, entry: NavEntry) -> NavLink:
    link = NavLink(entry.endpoint, entry.icon, entry.label, entry.is_current)
    if session is None or entry.work is None:
        return link
    is_open = entry.work.count_open(session, MOST_COUNTED + 1)
    if is_open is None:
        return link
    link = replace(link, endpoint=entry.work.endpoint)
    if not is_open:
        return link
    count = str(is_open) if is_open <= MOST_COUNTED else f"{MOST_COUNTED}+"
    return replace(link, count=count, count_in_words=entry.work.words(is_open, count))
