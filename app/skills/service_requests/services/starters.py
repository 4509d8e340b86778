"""The types of request that a group begins with, as they are written in the files beside this."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from app.accounts.models import Membership, User
from app.db import ScopedSession, new_id
from app.fields.definitions import Words
from app.skills.service_requests.models import RequestTeam, RequestType, TeamMember
from app.skills.service_requests.services.definitions import (
    dump_request_fields,
    main_fields,
    read_questions,
    read_request_fields,
)
from app.text.yaml_file import read_yaml

FOLDER = Path(__file__).parents[1] / "starters"
TEAMS = "teams.yaml"
NO_WORDS = Words()


@dataclass(frozen=True)
class Starter:
    """A type as its file has it, or, where it is in no `category`, a category.

    `fields` are what a type asks for besides its title and priority, without their ids.
    """

    slug: str
    name: Words
    icon: str
    order: int
    category: str = ""
    description: Words = NO_WORDS
    team: str = ""
    priority: str = "normal"
    sla_hours: int = 24
    is_guided: bool = False
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    questions: tuple[Mapping[str, Any], ...] = ()
    fields: tuple[Mapping[str, Any], ...] = ()


@cache
def read_starters(folder: Path = FOLDER) -> dict[str, Starter]:
    """All categories and types by slug, each category before its types.

    Raises:
        ValueError: a file does not hold what can be stored.
    """
    files = [file for file in sorted(folder.glob("*.yaml")) if file.name != TEAMS]
    categories = [read_yaml(file) for file in files]
    found: dict[str, Starter] = {}
    for written in sorted(categories, key=lambda each: each.get("order", len(files))):
        for starter in _read_category(written, len(found)):
            if starter.slug in found:
                raise ValueError(f"two starters are called {starter.slug}")
            found[starter.slug] = starter
    return found


@cache
def read_teams(folder: Path = FOLDER) -> dict[str, Words]:
    """What the usual teams are called, by slug."""
    written = read_yaml(folder / TEAMS)
    return {each["slug"]: Words.model_validate(each["name"]) for each in written}


def _read_category(written: Mapping[str, Any], place: int) -> list[Starter]:
    name = Words.model_validate(written["name"])
    category = Starter(written["slug"], name, written["icon"], place)
    types = enumerate(written["types"], start=place + 1)
    return [category, *(_read_type(each, written["slug"], order) for order, each in types)]


def _read_type(written: Mapping[str, Any], category: str, order: int) -> Starter:
    starter = Starter(
        written["slug"],
        Words.model_validate(written["name"]),
        written["icon"],
        order,
        category,
        Words.model_validate(written.get("description", {})),
        written.get("team", ""),
        written.get("priority", "normal"),
        written.get("sla_hours", 24),
        written.get("is_guided", False),
        {language: tuple(map(str, said)) for language, said in written.get("words", {}).items()},
        tuple(
            each.model_dump(mode="json", exclude_defaults=True)
            for each in read_questions(written.get("questions", ()))
        ),
        tuple(written["fields"]),
    )
    fields_of(starter)
    return starter


def fields_of(starter: Starter) -> list[dict[str, Any]]:
    """What a type asks for, as it is stored, with ids of its own; nothing for a category."""
    if not starter.category:
        return []
    own = ({"field_id": str(new_id()), **each} for each in starter.fields)
    return dump_request_fields(read_request_fields([*main_fields(new_id(), new_id()), *own]))


def add_starters(
    session: ScopedSession,
    group_id: UUID,
    slugs: Iterable[str] | None = None,
    teams: Mapping[str, Collection[str]] | None = None,
    *,
    folder: Path = FOLDER,
) -> int:
    """Add these types (all of them where none are named), their categories and their teams.

    What is there stays as it is: the group may have made it its own. `teams` says, by e-mail,
    who is on a team that is new. Returns how many types are new. Never commits.

    Raises:
        KeyError: there is no starter of such a slug.
    """
    starters = read_starters(folder)
    types = [starters[slug] for slug in (starters if slugs is None else slugs)]
    types = [each for each in types if each.category]
    wanted = {each.slug for each in types} | {each.category for each in types}
    team_ids = _add_teams(session, group_id, {each.team for each in types}, teams or {}, folder)
    known = _ids_by_slug(session, RequestType, group_id)
    added = 0
    for starter in starters.values():
        if starter.slug in wanted and starter.slug not in known:
            made = _as_type(starter, group_id, known.get(starter.category))
            made.team_id = team_ids.get(starter.team)
            session.add(made)
            known[made.slug] = made.id
            # A category is there before what stands in it.
            session.flush()
            added += bool(starter.category)
    return added


def _ids_by_slug(
    session: ScopedSession, model: type[RequestType | RequestTeam], group_id: UUID
) -> dict[str, UUID]:
    rows = session.execute(select(model.slug, model.id).where(model.group_id == group_id))
    return {row[0]: row[1] for row in rows}


def _as_type(starter: Starter, group_id: UUID, parent_id: UUID | None) -> RequestType:
    return RequestType(
        id=new_id(),
        group_id=group_id,
        parent_id=parent_id,
        slug=starter.slug,
        name_en=starter.name.en,
        name_es=starter.name.es,
        description_en=starter.description.en,
        description_es=starter.description.es,
        icon=starter.icon,
        is_submittable=bool(starter.category),
        priority=starter.priority,
        sla_hours=starter.sla_hours,
        is_guided=starter.is_guided,
        words={language: list(said) for language, said in starter.words.items()},
        fields=fields_of(starter),
        questions=[dict(each) for each in starter.questions],
        sort_order=starter.order,
    )


def _add_teams(
    session: ScopedSession,
    group_id: UUID,
    slugs: Collection[str],
    members: Mapping[str, Collection[str]],
    folder: Path,
) -> dict[str, UUID]:
    """The ids of these teams by slug; those that are new begin with these members."""
    known = _ids_by_slug(session, RequestTeam, group_id)
    for slug, name in read_teams(folder).items():
        if slug in slugs and slug not in known:
            team = RequestTeam(
                id=new_id(), group_id=group_id, slug=slug, name_en=name.en, name_es=name.es
            )
            session.add(team)
            session.flush()
            known[slug] = team.id
            _add_members(session, team, members.get(slug, ()))
    return known


def _add_members(session: ScopedSession, team: RequestTeam, emails: Collection[str]) -> None:
    """Those of the group who have one of these e-mails."""
    people = (
        select(User.id)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.group_id == team.group_id,
            func.lower(User.email).in_([email.lower() for email in emails]),
        )
    )
    session.add_all(
        TeamMember(team_id=team.id, user_id=user_id, group_id=team.group_id)
        for user_id in session.scalars(people)
    )
    session.flush()
