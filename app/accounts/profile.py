"""What a person tells the group about themselves; nothing of it is ever guessed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
LISTS = ("allergens", "diets", "cuisines")


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


def update_profile(session: ScopedSession, **changes: Any) -> None:
    """Change the given facts of the person's profile and leave the others. Commits.

    `changes` are any of language, theme, units (codes), allergens, diets and cuisines
    (lists of codes).

    Raises:
        InvalidInput: a code that does not exist; `field` says which.
    """
    for field, value in changes.items():
        _check_choice(field, value)
    _write(session, changes)
    session.commit()


def save_profile(
    session: ScopedSession, *, was: Mapping[str, Any], typed: Mapping[str, Any]
) -> None:
    """Change what differs from what the profile `was`, as the page showed it. Commits.

    Both are any of name, language, theme, units (codes), allergens, diets and cuisines (lists of
    codes). What was added or removed elsewhere meanwhile stays so; what `was` does not have was
    not shown, and is not taken away.

    Raises:
        InvalidInput: a code that does not exist, or no name; `field` says which.
    """
    for field in CHOICES.keys() & typed.keys():
        _check_choice(field, typed[field])
    # Of two that come at once the second waits here for the first.
    own = select(User.id).where(User.id == session.scope.user_id)
    session.execute(own.with_for_update(key_share=True))
    session.expire_all()
    changed = {field: value for field, value in typed.items() if value != was.get(field)}
    if "name" in changed:
        user = session.get_one(User, session.scope.user_id)
        user.name = clean_name(changed.pop("name"))
    now = load_profile(session)
    for field in changed.keys() & set(LISTS):
        changed[field] = _merged(getattr(now, field), was.get(field, ()), changed[field])
    _write(session, changed)
    session.commit()


def _merged(now: Collection[str], was: Collection[str], typed: Collection[str]) -> list[str]:
    """The codes of now, without those removed from what was shown, with those added to it."""
    kept = [code for code in now if code in typed or code not in was]
    return [*kept, *(code for code in typed if code not in was and code not in kept)]


def _write(session: ScopedSession, changes: Mapping[str, Any]) -> None:
    """Change these facts; who has no profile has one with the others as they are shown."""
    profile = load_profile(session)
    facts = {field: getattr(profile, field) for field in CHOICES}
    session.execute(
        insert(UserProfile)
        .values(user_id=session.scope.user_id, **{**facts, **changes})
        .on_conflict_do_update(
            index_elements=["user_id"], set_={**changes, "updated_at": utc_now()}
        )
    )


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
