"""A house with a team that looks after one type of request, which asks for everything."""

from __future__ import annotations

import pytest

from app.db import Database
from app.skills.service_requests.models import RequestType
from tests.factories import Member, make_user
from tests.skills.service_requests.building import make_type, short_fields


@pytest.fixture
def fixer(owner: Database, member: Member) -> Member:
    """Somebody of the staff who looks after requests."""
    return make_user(owner, member.group_id)


@pytest.fixture
def wide(owner: Database, member: Member, fixer: Member) -> RequestType:
    """A type with a field of each kind."""
    return make_type(owner, member.group_id, team=[fixer])


@pytest.fixture
def short(owner: Database, member: Member, fixer: Member) -> RequestType:
    """A type that asks for little."""
    return make_type(owner, member.group_id, short_fields(), team=[fixer])
