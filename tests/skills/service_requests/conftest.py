"""A house where somebody asks, a team looks after it, and a manager sees all of it."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db import Database
from app.skills.service_requests.models import RequestType
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.service_requests import make_team
from tests.skills.service_requests.building import make_type, short_fields


@pytest.fixture
def boss(owner: Database, member: Member) -> Member:
    """A manager of the member's house."""
    return make_user(owner, member.group_id, "manager", name="Max Boss")


@pytest.fixture
def technician(owner: Database, member: Member) -> Member:
    """Somebody of the staff, who is in a team."""
    return make_user(owner, member.group_id, name="Tina Tech")


@pytest.fixture
def colleague(owner: Database, member: Member) -> Member:
    """Somebody of the same house who is in no team."""
    return make_user(owner, member.group_id, name="Carl Colleague")


@pytest.fixture
def stranger(owner: Database) -> Member:
    """A manager of another house."""
    return make_user(owner, role="manager", name="Sam Stranger")


@pytest.fixture
def team(owner: Database, technician: Member) -> object:
    """The team of the technician; its id."""
    return make_team(owner, technician.group_id, [technician])


@pytest.fixture
def manager(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    """The browser of the manager."""
    return sign_in(app, owner, boss)


@pytest.fixture
def at_work(app: Flask, owner: Database, technician: Member) -> CheckedClient:
    """The browser of the technician."""
    return sign_in(app, owner, technician)


@pytest.fixture
def wide(owner: Database, member: Member, technician: Member) -> RequestType:
    """A type with a field of each kind."""
    return make_type(owner, member.group_id, team=[technician])


@pytest.fixture
def short(owner: Database, member: Member, technician: Member) -> RequestType:
    """A type that asks for little."""
    return make_type(owner, member.group_id, short_fields(), team=[technician])
