"""What the tests of the pages on which requests are set up begin with."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db import Database
from app.skills.service_requests.models import RequestType
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.skills.service_requests.making import OPTIONS, field, put_type


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin", name="Ada Boss")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


@pytest.fixture
def other(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    """Another admin of the same house."""
    return sign_in(app, owner, make_user(owner, group_id=admin.group_id, role="admin", name="Bea"))


@pytest.fixture
def type_(owner: Database, admin: Member) -> RequestType:
    """A type that asks where, and of what, in this order."""
    where = field("select", "where", options=OPTIONS, step="where")
    what = field("textarea", "what", required=True, show_if={"field": "where", "values": ["bar"]})
    return put_type(owner, admin.group_id, where, what)
