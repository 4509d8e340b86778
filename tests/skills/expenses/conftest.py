"""Who looks after the ledger of the member's house."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db import Database
from tests.factories import CheckedClient, Member, make_user, sign_in


@pytest.fixture
def boss(owner: Database, member: Member) -> Member:
    """A manager of the member's house."""
    return make_user(owner, member.group_id, "manager", name="Max Boss")


@pytest.fixture
def manager(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    return sign_in(app, owner, boss)
