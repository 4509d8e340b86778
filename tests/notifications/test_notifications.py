"""What people are told: at the bell, in the list, theirs alone."""

from __future__ import annotations

from uuid import UUID

import pytest
from flask import Flask

from app.db import Database, new_id
from app.notifications.services import count_unread, notify
from tests.factories import CheckedClient, Member, Page, make_user, sign_in
from tests.html_checks import Element

TEXTS = {"en": "SR-2026-000001 is yours now", "es": "SR-2026-000001 ahora es tuya"}


@pytest.fixture
def colleague(owner: Database, member: Member) -> Member:
    return make_user(owner, member.group_id, language="es")


def tell(database: Database, teller: Member, person: Member, url: str = "/forms/") -> None:
    with database.transaction(teller.scope) as session:
        notify(session, person.user_id, TEXTS, url)


def unread(database: Database, person: Member) -> int:
    with database.session(person.scope) as session:
        return count_unread(session)


def lines_of(page: Page) -> list[Element]:
    return page.find_all("a", **{"class": "notification is-unread"})


def first_id(client: CheckedClient) -> UUID:
    link = lines_of(client.page("/notifications"))[0]
    return UUID(link.attributes["href"].rsplit("/", 1)[1])


def test_somebody_is_told_in_their_language_and_nobody_else(
    app: Flask, owner: Database, database: Database, browser: CheckedClient, member: Member,
    colleague: Member,
) -> None:  # fmt: skip
    tell(database, member, colleague)
    theirs = sign_in(app, owner, colleague)
    assert "SR-2026-000001 ahora es tuya" in theirs.page("/notifications").text
    assert "We'll notify you here" in browser.page("/notifications").text
    assert (unread(database, colleague), unread(database, member)) == (1, 0)


def test_nobody_of_another_house_can_be_told_or_looks_in(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    stranger = make_user(owner, role="admin")
    tell(database, member, member)
    theirs = sign_in(app, owner, stranger)
    mine = first_id(sign_in(app, owner, member))
    theirs.page(f"/notifications/{mine}", status=404)
    theirs.page(f"/notifications/{new_id()}", status=404)
    theirs.post("/notifications/read", until=new_id())
    assert unread(database, member) == 1


def test_the_bell_counts_what_is_not_read(
    database: Database, browser: CheckedClient, member: Member
) -> None:
    assert browser.page("/forms/").find_all("span", **{"class": "bell-count"}) == []
    for _ in range(3):
        tell(database, member, member)
    page = browser.page("/forms/")
    assert page.find("span", **{"class": "bell-count"}).text == "3"
    assert page.find("a", id="bell").attributes["aria-label"] == "3 unread notifications"


def test_the_bell_says_nothing_where_nothing_is_new(
    database: Database, browser: CheckedClient, member: Member
) -> None:
    assert browser.get("/notifications/bell?known=0").status_code == 204
    tell(database, member, member)
    bell = browser.fragment("/notifications/bell?known=0")
    assert bell.find("span", **{"class": "bell-count"}).text == "1"
    assert "known=1" in bell.find("a", id="bell").attributes["data-asks"]
    assert browser.get("/notifications/bell?known=1").status_code == 204
    assert browser.get("/notifications/bell").status_code == 200


def test_so_many_are_not_counted(
    database: Database, browser: CheckedClient, member: Member
) -> None:
    for _ in range(103):
        tell(database, member, member)
    bell = browser.fragment("/notifications/bell")
    assert bell.find("span", **{"class": "bell-count"}).text == "99+"
    page = browser.page("/notifications")
    assert len(lines_of(page)) == 30
    [older] = [link for link in page.find_all("a") if link.text == "Older ones"]
    assert len(lines_of(browser.page(older.attributes["href"]))) == 30


def test_opening_a_line_leads_there_and_marks_it_as_read(
    database: Database, browser: CheckedClient, member: Member
) -> None:
    tell(database, member, member)
    response = browser.get(f"/notifications/{first_id(browser)}")
    assert (response.status_code, response.location) == (303, "/forms/")
    assert unread(database, member) == 0
    assert browser.page("/notifications").find_all("a", **{"class": "notification"})


def test_all_are_read_at_once_by_a_button_with_a_token(
    app: Flask, database: Database, browser: CheckedClient, member: Member
) -> None:
    tell(database, member, member)
    assert browser.post("/notifications/read", token=False).status_code == 400
    assert browser.get("/notifications/read").status_code == 405
    assert app.test_client().post("/notifications/read").status_code == 303
    for until in ("", "nonsense"):
        assert browser.post("/notifications/read", until=until).status_code == 422
    assert unread(database, member) == 1
    page = browser.page("/notifications")
    assert browser.press(page, "/notifications/read").status_code == 303
    assert unread(database, member) == 0


@pytest.mark.parametrize("url", ["https://evil.example/", "//evil.example", "requests"])
def test_a_line_leads_to_a_page_of_this_site(database: Database, member: Member, url: str) -> None:
    with pytest.raises(ValueError, match="this site"):
        tell(database, member, member, url)
