"""Whom and what most tests begin with."""

from __future__ import annotations

import pytest
from flask import Flask

from app.db import Database
from app.extensions import Services
from tests.factories.browser import CheckedClient, sign_in
from tests.factories.people import Member, make_user


@pytest.fixture
def member(owner: Database) -> Member:
    """Somebody of the staff, in a house of their own."""
    return make_user(owner)


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    """Their browser, signed in; its pages are checked as they come."""
    return sign_in(app, owner, member)


@pytest.fixture
def on(app: Flask) -> Services:
    """The services on which the app stands."""
    found: Services = app.extensions["comanda"]
    return found
