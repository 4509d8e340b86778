"""What writing types and writing teams have in common."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select

from app.db import ScopedSession
from app.errors import InvalidInput
from app.fields.definitions import Words
from app.text.normalize import fold, words

LONGEST_NAME, LONGEST_SLUG = 80, 60


def lock_alone(session: ScopedSession, what: str) -> None:
    """Until the transaction ends, nobody else in the group holds the same; nothing read is kept."""
    name = f"request {what} {session.scope.group_id}"
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
    session.expire_all()


def check_length(name: Words) -> None:
    """Refuse a name that is too long.

    Raises:
        InvalidInput: with the field.
    """
    for language, text in (("en", name.en), ("es", name.es)):
        if len(text) > LONGEST_NAME:
            raise InvalidInput(
                "A name can have up to %(limit)s characters.",
                field=f"name_{language}",
                limit=LONGEST_NAME,
            )


def is_called_like(name: Words, english: str, spanish: str) -> bool:
    """Whether people would take one for the other, by what they are called in any language."""
    called = {fold(text) for text in (name.en, name.es) if text}
    return bool(called & {fold(english), fold(spanish)})


def free_slug(wanted: str, taken: Collection[str], usual: str) -> str:
    """A slug that is like `wanted` and unlike those that are taken."""
    bare = "-".join(word for word in words(wanted) if word.isascii())[: LONGEST_SLUG - 4]
    bare = bare.strip("-") or usual
    slug, number = bare, 2
    while slug in taken:
        slug, number = f"{bare}-{number}", number + 1
    return slug
