"""What a restaurant is called, and where it is: an admin's to change.

Its clock, its money and its country are read by everything that shows a time, a price or a phone
number, from the next request on; what is stored stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import phonenumbers
from babel import Locale
from babel.core import get_global
from babel.dates import get_timezone_location
from sqlalchemy import bindparam, select, text

from app.accounts.audit import record
from app.accounts.choices import LANGUAGE_NAMES
from app.accounts.models import Group
from app.accounts.names_and_emails import clean_name
from app.config import LANGUAGES
from app.db import ScopedSession
from app.errors import Forbidden, InvalidInput
from app.text.currencies import CODES
from app.text.edits import merge_edit
from app.text.normalize import fold
from app.text.yaml_file import read_yaml

FIELDS = ("name", "language", "timezone", "currency", "region", "emergency_number")
LONGEST_NUMBER = 15
_NUMBER = re.compile(r"[0-9][0-9 ()-]*")
_PLACE = select(Group.timezone, Group.region).where(Group.id == bindparam("group_id"))
_HELP = select(Group.region, Group.emergency_number).where(Group.id == bindparam("group_id"))
_CRISIS_LINES = Path(__file__).with_name("crisis_lines.yaml")


def load_zone_and_region(session: ScopedSession) -> tuple[ZoneInfo, str]:
    """The time zone of the session's group, and its country: the code of two letters."""
    zone, region = session.execute(_PLACE, {"group_id": session.scope.group_id}).one()
    return ZoneInfo(zone), region


def load_region_and_emergency_number(session: ScopedSession) -> tuple[str, str]:
    """The country of the session's group, and the number that is called in an emergency there."""
    region, number = session.execute(_HELP, {"group_id": session.scope.group_id}).one()
    return region, number


def load_group_settings(session: ScopedSession) -> dict[str, str]:
    """The fields of the session's group, as their form writes them."""
    group = session.get_one(Group, session.scope.group_id)
    return {name: getattr(group, name) for name in FIELDS}


def update_group_settings(
    session: ScopedSession, *, was: Mapping[str, str], typed: Mapping[str, str]
) -> None:
    """Change what differs from what the form `was`; what somebody else has changed stays. Commits.

    Raises:
        InvalidInput: with the field.
        Overtaken: both have changed the same field; nothing is written.
        Forbidden: no admin.
    """
    # What was not changed here is not checked: a group may hold what is offered to nobody.
    wanted = {
        name: said if said == was.get(name) else _check(session, name, said)
        for name, said in ((name, typed.get(name, "")) for name in FIELDS)
    }
    query = select(Group).where(Group.id == session.scope.group_id)
    query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    # The database gives the row to admins alone when it is to be changed.
    if (group := session.scalar(query)) is None:
        raise Forbidden("Only admins can change this.")
    now = {name: getattr(group, name) for name in FIELDS}
    merged = merge_edit({name: was.get(name, "") for name in FIELDS}, wanted, now)
    changed = [name for name in FIELDS if merged[name] != now[name]]
    for name in changed:
        setattr(group, name, merged[name])
    if changed:
        record(session, "restaurant_changed", ", ".join(changed))
    session.commit()


def _check(session: ScopedSession, name: str, typed: str) -> str:
    if name == "name":
        return clean_name(typed)
    value = typed.strip()
    if name == "emergency_number":
        if len(value) > LONGEST_NUMBER or not _NUMBER.fullmatch(value):
            raise InvalidInput("Enter the number as it is dialed, such as 911.", field=name)
        return value
    if value not in _known(name) or (name == "timezone" and not _is_clock(session, value)):
        raise InvalidInput("Choose from the list.", field=name)
    return value


def _known(name: str) -> Collection[str]:
    """The values that a field offers."""
    if name == "timezone":
        return _zones()
    if name == "region":
        return phonenumbers.SUPPORTED_REGIONS
    return CODES if name == "currency" else LANGUAGES


@cache
def _zones() -> frozenset[str]:
    """The time zones of places."""
    return frozenset(available_timezones() & get_global("zone_territories").keys())


def _is_clock(session: ScopedSession, zone: str) -> bool:
    """Whether the database knows a time zone, too: it counts days in it."""
    known = text("SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = :zone)")
    return bool(session.scalar(known, {"zone": zone}))


def choices_of(name: str, language: str, held: str) -> list[tuple[str, str]]:
    """What a field of the form offers: a code and what it is called, by that.

    What is `held` is among them, whether it is offered otherwise or not.
    """
    locale = Locale.parse(language)
    if name == "language":
        return list(LANGUAGE_NAMES.items())
    if name == "timezone":
        places = [(each, _place_of(each, locale)) for each in _zones() | {held}]
        return sorted(places, key=lambda each: fold(each[1]))
    if name == "currency":
        return sorted(
            (each, f"{each} · {locale.currencies.get(each, each)}") for each in CODES | {held}
        )
    named = [(each, locale.territories.get(each, each)) for each in _known(name)]
    return sorted(named, key=lambda each: fold(each[1]))


def _place_of(zone: str, locale: Locale) -> str:
    """Country and city of a time zone; the zone's own name where it is of no place."""
    country = locale.territories.get(get_global("zone_territories").get(zone, ""), "")
    return f"{country} · {get_timezone_location(zone, locale, True)}" if country else zone


@cache
def crisis_lines() -> Mapping[str, Mapping[str, str]]:
    """Whom somebody in despair can call, by country and language."""
    lines: Mapping[str, Mapping[str, str]] = read_yaml(_CRISIS_LINES)
    return lines
