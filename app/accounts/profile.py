"""What a person tells the group about themselves; nothing of it is ever guessed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.choices import ALLERGENS, CUISINES, DIETS, THEMES, UNITS
from app.accounts.models import Group, User, UserProfile
from app.accounts.names_and_emails import clean_name
from app.config import LANGUAGES
from app.db import ScopedSession, utc_now
from app.errors import InvalidInput

CHOICES = {
    "language": LANGUAGES,
    "theme": THEMES,
    "units": UNITS,
    "allergens": ALLERGENS,
    "diets": DIETS,
    "cuisines": CUISINES,
}


def load_profile(session: ScopedSession) -> UserProfile:
    """The person's profile; the group's language and the usual units before they have one."""
    profile = session.get(UserProfile, session.scope.user_id)
    if profile is not None:
        return profile
    language = session.scalar(select(Group.language).where(Group.id == session.scope.group_id))
    return UserProfile(
        user_id=session.scope.user_id,
        language=language or LANGUAGES[0],
        theme="system",
        units="us",
        allergens=[],
        diets=[],
        cuisines=[],
    )


def update_profile(session: ScopedSession, *, name: str | None = None, **changes: Any) -> None:
    """Change the given facts of the person's profile and leave the others.

    `changes` are any of language, theme, units (codes), allergens, diets and cuisines
    (lists of codes).

    Raises:
        InvalidInput: a code that does not exist, or no name; `field` says which.
    """
    for field, value in changes.items():
        _check_choice(field, value)
    if name is not None:
        user = session.get_one(User, session.scope.user_id)
        user.name = clean_name(name)
    if changes:
        profile = load_profile(session)
        facts = {field: getattr(profile, field) for field in CHOICES}
        session.execute(
            insert(UserProfile)
            .values(user_id=session.scope.user_id, **(facts | changes))
            .on_conflict_do_update(
                index_elements=["user_id"], set_={**changes, "updated_at": utc_now()}
            )
        )
    session.commit()


def keep_first_language(session: ScopedSession, language: str) -> None:
    """Somebody who chose a language before signing in for the first time keeps it.

    Whoever has a profile said what they want already, and on a shared tablet the choice
    may be a colleague's.
    """
    if language in LANGUAGES and session.get(UserProfile, session.scope.user_id) is None:
        update_profile(session, language=language)


def _check_choice(field: str, value: str | list[str]) -> None:
    given = {value} if isinstance(value, str) else set(value)
    if not given <= set(CHOICES[field]):
        raise InvalidInput("Choose from the list.", field=field)
