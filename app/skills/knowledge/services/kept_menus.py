"""The names of menus as they are looked for in messages, kept in each process for a while."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from app.db import ScopedSession
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.names import name_words

# Of a longer menu the names of the first ones are looked for; all of it is searched.
MOST_NAMED = 5_000
# Of all menus that a process keeps; a product takes some 5 KB.
MOST_KEPT = 20_000

# A product's kind and its names, as they stand in the database.
Naming = tuple[str, str, str]


@dataclass(frozen=True)
class NamedProduct:
    """A product as it may be named: its kind, its name, and the name's content words."""

    kind: str
    name: str
    words: frozenset[str]


@dataclass(frozen=True)
class Names:
    """All names of a menu, and how much each of their words says about which one is meant."""

    products: tuple[NamedProduct, ...]
    weight: Mapping[str, float]


class KeptMenus:
    """The menus that were asked for last, of so many products together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._menus: OrderedDict[UUID | None, tuple[Any, Names]] = OrderedDict()

    def load(self, session: ScopedSession) -> Names:
        """The names of the group's menu as it stands now.

        Whether it has changed the database says, without sending it: no change can be missed,
        whoever makes it. Fetching and folding all names is what takes long.
        """
        group_id = session.scope.group_id
        stands = _stands(session)
        known, names = self._menus.get(group_id, (None, None))
        if names is None or known != stands:
            names = fold_names(_load(session))
            self._menus[group_id] = stands, names
        self._menus.move_to_end(group_id)
        while len(self._menus) > 1 and self.size > self._most:
            self._menus.popitem(last=False)
        return names

    @property
    def size(self) -> int:
        """How many names are kept."""
        return sum(len(names.products) for _stands, names in self._menus.values())


def _named(session: ScopedSession) -> Any:
    return (
        select(Product.kind, Product.name_en, Product.name_es)
        .where(Product.group_id == session.scope.group_id, Product.is_active)
        .order_by(Product.id)
        .limit(MOST_NAMED)
    )


def _stands(session: ScopedSession) -> tuple[Any, ...]:
    """How many names there are, and a number that another name changes."""
    named = _named(session).subquery()
    said = func.concat_ws(chr(31), named.c.kind, named.c.name_en, named.c.name_es)
    query = select(func.count(), func.sum(func.hashtextextended(said, 0)))
    return tuple(session.execute(query.select_from(named)).one())


def _load(session: ScopedSession) -> tuple[Naming, ...]:
    return tuple(
        (kind, english, spanish) for kind, english, spanish in session.execute(_named(session))
    )


def fold_names(menu: tuple[Naming, ...]) -> Names:
    """The names of a menu, folded and weighed."""
    products = tuple(
        NamedProduct(kind, name, name_words(name))
        for kind, *names in menu
        for name in dict.fromkeys(names)
    )
    counts = Counter(word for product in products for word in product.words)
    weight = {word: math.log(1 + len(products) / count) for word, count in counts.items()}
    return Names(products, weight)
