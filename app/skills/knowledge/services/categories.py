"""Categories and tags between how people write them and the codes that are stored."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from sqlalchemy import func, select

from app.config import LANGUAGES
from app.db import ScopedSession
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.menu_limits import MOST_CATEGORIES, MOST_TAGS_IN_ALL
from app.skills.knowledge.services.vocabulary import category_name, list_categories
from app.text.normalize import words


def tags_in_use(session: ScopedSession) -> dict[str, int]:
    """The tags of the group's products, as many as there may be, with how many have each."""
    tag = func.unnest(Product.tags).label("tag")
    each = select(tag).where(Product.group_id == session.scope.group_id).subquery()
    rows = session.execute(
        select(each.c.tag, func.count())
        .group_by(each.c.tag)
        .order_by(each.c.tag)
        .limit(MOST_TAGS_IN_ALL)
    )
    return {row[0]: row[1] for row in rows}


def categories_in_use(session: ScopedSession, kind: str) -> list[str]:
    """The categories of a kind's products, as many as there may be, by code."""
    query = (
        select(Product.category)
        .where(
            Product.group_id == session.scope.group_id, Product.kind == kind, Product.category != ""
        )
        .distinct()
        .order_by(Product.category)
        .limit(MOST_CATEGORIES)
    )
    return sorted(session.scalars(query))


class Codes:
    """The codes that are meant by words in either language.

    `known` are the codes in use, which count before those of the vocabulary. They are read once,
    however many words are looked up among them.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._by_words: dict[tuple[str, ...], str] = {}
        for code in known:
            for called in _called(code) if code in list_categories() else (words(code),):
                self._by_words.setdefault(tuple(called), code)

    def code_for(self, written: str) -> str:
        """The code of a word; a new word is its own code."""
        wanted = tuple(words(written))
        if not wanted:
            return ""
        code = self._by_words.get(wanted) or _vocabulary().get(wanted)
        return code or " ".join(written.split()).lower()


@cache
def _vocabulary() -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    for code in list_categories():
        for called in _called(code):
            found.setdefault(tuple(called), code)
    return found


def _called(code: str) -> list[list[str]]:
    """The code's own words and its names in both languages."""
    return [words(code), *(words(category_name(code, each)) for each in LANGUAGES)]
