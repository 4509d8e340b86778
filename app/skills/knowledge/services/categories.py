"""Categories and tags between how people write them and the codes that are stored."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import func, select

from app.config import LANGUAGES
from app.db import ScopedSession
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.vocabulary import category_name, list_categories
from app.text.normalize import words


def tags_in_use(session: ScopedSession) -> dict[str, int]:
    """Every tag of the group's products with how many have it, by code."""
    tag = func.unnest(Product.tags).label("tag")
    each = select(tag).where(Product.group_id == session.scope.group_id).subquery()
    rows = session.execute(
        select(each.c.tag, func.count()).group_by(each.c.tag).order_by(each.c.tag)
    )
    return {row[0]: row[1] for row in rows}


def categories_in_use(session: ScopedSession, kind: str) -> list[str]:
    """The categories that products of a kind have, by code."""
    query = (
        select(Product.category)
        .where(
            Product.group_id == session.scope.group_id, Product.kind == kind, Product.category != ""
        )
        .distinct()
    )
    return sorted(session.scalars(query))


def code_for(written: str, known: Iterable[str]) -> str:
    """The code that is meant by a word in either language; a new word is its own code.

    `known` are the codes in use, which count before those of the vocabulary.
    """
    wanted = words(written)
    if not wanted:
        return ""
    for code in (*known, *list_categories()):
        if wanted in (words(code), *(words(category_name(code, each)) for each in LANGUAGES)):
            return code
    return " ".join(written.split()).lower()
