"""The menu: what each role is led to, and which place a page belongs to."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.accounts.models import ROLES
from app.db import Database
from app.extensions import Services
from app.web.navigation import CORE, RANKS
from tests.factories import make_group, make_user, sign_in

STAFF = ["Manual and menu", "Requests", "Forms", "Expenses"]
MANAGER = [*STAFF, "Form builder", "Types of requests", "People", "Contacts"]
ADMIN = [*MANAGER, "Prompts", "Usage", "Restaurant"]
# Those lists are the core's places and these skills'; one that was added since has its own tests.
SHIPPED = {"knowledge", "service_requests", "forms", "expenses"}
PLACES = re.compile(r'<nav class="rail-places".*?</nav>', re.S)
LINK = re.compile(r'<a class="rail-link" href="([^"]+)"([^>]*)>.*?<span>([^<]+)</span>', re.S)


def places(app: Flask, owner: Database, role: str, url: str) -> list[tuple[str, str, str]]:
    """Address, marks and name of each place that the page's menu leads to."""
    member = make_user(owner, make_group(owner), role)
    client = sign_in(app, owner, member)
    page = client.get(url, follow_redirects=True)
    assert page.status_code == 200
    menu = PLACES.search(page.text)
    assert menu
    return LINK.findall(menu[0])


def names_of_added_places(app: Flask) -> set[str]:
    services: Services = app.extensions["comanda"]
    added = (skill for skill in services.registry.skills if skill.name not in SHIPPED)
    with app.test_request_context():
        return {str(entry.label) for skill in added for entry in skill.navigation}


@pytest.mark.parametrize(
    ("role", "expected"), [("staff", STAFF), ("manager", MANAGER), ("admin", ADMIN)]
)
def test_each_role_is_led_to_what_it_may_see(
    app: Flask, owner: Database, role: str, expected: list[str]
) -> None:
    found = places(app, owner, role, "/forms")
    added = names_of_added_places(app)
    assert [name for _, _, name in found if name not in added] == expected
    member = make_user(owner, make_group(owner), role)
    client = sign_in(app, owner, member)
    assert {client.get(url, follow_redirects=True).status_code for url, _, _ in found} == {200}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("/library", "Manual and menu"),
        ("/library/imports", "Manual and menu"),
        ("/requests/queue", "Requests"),
        ("/admin/requests/teams", "Types of requests"),
        ("/admin/feedback", "Usage"),
        ("/people", "People"),
        ("/restaurant", "Restaurant"),
        ("/profile", None),
    ],
)
def test_a_page_marks_the_place_that_it_belongs_to(
    app: Flask, owner: Database, url: str, name: str | None
) -> None:
    found = places(app, owner, "admin", url)
    assert [place for _, marks, place in found if "aria-current" in marks] == [
        each for each in [name] if each
    ]


def test_places_are_known_and_no_two_stand_on_one_spot(app: Flask) -> None:
    services: Services = app.extensions["comanda"]
    entries = [*CORE, *services.registry.navigation]
    assert set(RANKS) == set(ROLES)
    assert len({entry.order for entry in entries}) == len(entries)
    assert {entry.endpoint for entry in entries} <= set(app.view_functions)
    named = {name for entry in entries for name in entry.blueprints}
    assert named <= set(app.blueprints)
