"""Pages that stood open: what a form does, it does to what its page showed, or it says so.

Two people change the same thing; the second one's page is from before the first one's change.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import Invitation, Membership
from app.db import Database, new_id
from app.errors import Conflict
from app.notifications.services import count_unread, notify
from app.skills.expenses.models import Expense
from app.skills.forms.models import Contact
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.menu_upkeep import rename_tag, sign_tags
from app.skills.service_requests.models import RequestType
from tests.factories import CheckedClient, Member, Page, make_contact, make_user, sign_in
from tests.factories.expenses import make_expense
from tests.factories.form_fields import CARRIED, NEED_NONE
from tests.factories.library import make_product
from tests.factories.service_requests import make_request, make_type, read_request, read_updates
from tests.html_checks import parse_html
from tests.skills.forms.filling import sent_by


def test_every_form_carries_what_its_page_showed_or_is_known_to_need_nothing(app: Flask) -> None:
    """A new route that changes something belongs into one of the two lists."""
    posting = {rule.endpoint for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    assert CARRIED.keys() & NEED_NONE.keys() == set()
    assert posting == CARRIED.keys() | NEED_NONE.keys()


def test_a_form_without_what_it_should_carry_is_noticed(browser: CheckedClient) -> None:
    """Each page that a test looks at is checked like this one."""
    form = f'<form method="post" action="/expenses/{new_id()}/restore"><input name="%s"></form>'
    response = browser.get("/notifications")
    browser._check_fields(Page(response, parse_html(form % "version")))
    with pytest.raises(AssertionError, match="version"):
        browser._check_fields(Page(response, parse_html(form % "other")))


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


@pytest.fixture
def other(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    """Another admin's browser."""
    return sign_in(app, owner, make_user(owner, admin.group_id, role="admin"))


def press_both(
    browser: CheckedClient, page: Page, path: str, unchanged: Callable[[], bool], **form: str
) -> None:
    """The stale form is refused and nothing is written; that of the page shown then is taken."""
    stale = browser.press(page, path, **form)
    assert stale.status_code == 409, stale.text
    assert unchanged()
    assert browser.press(browser._page(stale, 409), path, **form).status_code == 303
    assert not unchanged()


def test_a_role_that_another_admin_has_changed_is_not_changed_unseen(
    owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient
) -> None:
    cook = make_user(owner, admin.group_id)
    who = str(cook.user_id)

    def is_admin() -> bool:
        with owner.session() as session:
            found = session.get(Membership, (cook.user_id, cook.group_id))
            return found is not None and found.role == "admin"

    page = browser.page("/people")
    theirs = {"action": "role", "user_id": who, "role": "admin"}
    assert other.press(other.page("/people"), "/people", **theirs).status_code == 303
    for form in ({"action": "remove"}, {"action": "role", "role": "manager"}):
        stale = browser.press(page, "/people", **{**form, "user_id": who})
        assert stale.status_code == 409 and is_admin()
        assert "Somebody gave them another role in the meantime. Nothing was changed." in stale.text
    # Pressed twice, or by two, the same change is made once and no mistake.
    assert browser.press(page, "/people", **theirs).status_code == 303
    now = browser._page(stale, 409)
    assert browser.press(now, "/people", action="remove", user_id=who).status_code == 303
    assert not is_admin()


def test_an_invitation_that_was_made_anew_is_not_taken_back_unseen(
    owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient
) -> None:
    email = f"new-{admin.user_id}@example.com"

    def find() -> Invitation | None:
        with owner.session() as session:
            return session.scalar(select(Invitation).where(Invitation.email == email))

    invite = {"action": "invite", "email": email, "role": "staff"}
    browser.post("/people", **invite)
    page = browser.page("/people")
    other.post("/people", **{**invite, "role": "manager"})
    made = find()
    assert made
    take_back = {"action": "revoke", "invitation_id": str(made.id)}
    press_both(browser, page, "/people", lambda: find() is not None, **take_back)


def test_a_line_that_came_after_the_page_is_not_read_by_reading_all(
    database: Database, admin: Member, browser: CheckedClient
) -> None:
    def tell(line: str) -> None:
        with database.transaction(admin.scope) as session:
            notify(session, admin.user_id, {"en": line, "es": line}, "/forms/")

    tell("The lamp is fixed")
    page = browser.page("/notifications")
    tell("The fryer is out")
    assert browser.press(page, "/notifications/read").status_code == 303
    with database.session(admin.scope) as session:
        assert count_unread(session) == 1
    unread = browser.page("/notifications").find_all("a", **{"class": "notification is-unread"})
    assert ["The fryer is out" in each.text for each in unread] == [True]


def test_an_expense_comes_back_as_the_page_showed_it_or_not_at_all(
    owner: Database, database: Database, admin: Member, browser: CheckedClient, other: CheckedClient
) -> None:
    expense = make_expense(database, admin, "Taxi", amount=12)
    path = f"/expenses/{expense.id}"

    def is_deleted() -> bool:
        with owner.session() as session:
            return session.get_one(Expense, expense.id).deleted_at is not None

    browser.post(f"{path}/delete", version=1)
    page = browser.page("/expenses/deleted")
    other.press(other.page("/expenses/deleted"), f"{path}/restore")
    typed = {"item": "Taxi", "amount": "1200", "currency": expense.currency, "version": "3"}
    typed |= {"date": expense.date.isoformat(), "category": expense.category, "note": ""}
    assert other.post(f"{path}/edit", **typed).status_code == 303
    gone = other.page(other.post(f"{path}/delete", version="4").location)
    stale = browser.press(page, f"{path}/restore")
    assert stale.status_code == 409 and is_deleted()
    assert "It has been changed again since" in stale.text
    assert "$1,200.00" in browser.page("/expenses/deleted").text
    assert other.press(gone, f"{path}/restore").status_code == 303, "its own Undo goes on working"
    assert not is_deleted()


def test_an_expense_is_deleted_only_by_a_page_that_says_which(
    owner: Database, database: Database, admin: Member, browser: CheckedClient
) -> None:
    expense = make_expense(database, admin, "Taxi", amount=12)
    for form in ({}, {"version": "x"}, {"version": "7"}):
        assert browser.post(f"/expenses/{expense.id}/delete", **form).status_code == 409
    with owner.session() as session:
        assert session.get_one(Expense, expense.id).deleted_at is None


def test_a_contact_that_is_somebody_else_by_now_is_not_taken_off_the_list_unseen(
    owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient
) -> None:
    contact = make_contact(owner, admin.group_id, "Ann Lee")
    path = f"/admin/contacts/{contact.id}"

    def is_listed() -> bool:
        with owner.session() as session:
            return session.get_one(Contact, contact.id).is_active

    page = browser.page(path)
    other.press(other.page(path), path, name="Ben Sosa", job="", phone="", email="")
    press_both(browser, page, f"{path}/switch", is_listed, to="off")


def test_a_tag_is_not_made_one_with_another_that_was_not_listed(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    dish = make_product(owner, admin.group_id, tags=["hot"])
    page = browser.page("/library/edit/tags")
    make_product(owner, admin.group_id, slug="other", tags=["fiery"])

    def is_apart() -> bool:
        with owner.session() as session:
            return session.get_one(Product, dish.id).tags == ["hot"]

    press_both(browser, page, "/library/edit/tags", is_apart, tag="hot", name="Fiery")


def test_a_category_is_archived_only_with_what_its_page_knew_of(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    category = make_type(owner, admin.group_id, name_en="Kitchen", is_submittable=False)
    path = f"/admin/requests/{category.id}"
    page = browser.page(path)
    make_type(owner, admin.group_id, parent_id=category.id, name_en="Fryer")

    def is_offered() -> bool:
        with owner.session() as session:
            return session.get_one(RequestType, category.id).is_active

    press_both(browser, page, f"{path}/archive", is_offered, to="archived")
    assert "Bringing it back brings back what is in it, too: Fryer." in browser.page(path).text


def test_a_type_that_was_saved_meanwhile_is_not_archived_by_a_page_that_shows_the_one_before(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    """A page of a builder is drawn anew with each button; what it works on stays what it was."""
    type_ = make_type(owner, admin.group_id)
    path = f"/admin/requests/{type_.id}"
    form = sent_by(browser.page(path).find("form", id="builder"))
    with owner.transaction() as session:
        session.get_one(RequestType, type_.id).version = 2
    drawn = browser.post_fragment(path, **{**form, "do": "look"})
    stale = browser.press(drawn, f"{path}/archive", to="archived")
    assert stale.status_code == 409
    with owner.session() as session:
        assert session.get_one(RequestType, type_.id).is_active


def test_a_tag_that_comes_while_another_is_renamed_is_not_made_one_with_it(
    owner: Database, database: Database, admin: Member
) -> None:
    dish = make_product(owner, admin.group_id, tags=["hot"])
    other = make_product(owner, admin.group_id, slug="other")

    def add(_done: int, _total: int) -> None:
        with owner.transaction() as theirs:
            theirs.get_one(Product, other.id).tags = ["fiery"]

    with database.session(admin.scope) as session, pytest.raises(Conflict):
        rename_tag(session, "hot", "Fiery", sign_tags(["hot"]), add)
    with owner.session() as session:
        assert session.get_one(Product, dish.id).tags == ["hot"]


@pytest.mark.parametrize("said", ["replies", "notes"])
def test_a_request_is_not_closed_over_what_somebody_has_said_meanwhile(
    owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient, said: str
) -> None:
    request = make_request(owner, make_user(owner, admin.group_id))
    path = f"/requests/{request.id}"
    page = browser.page(path)
    other.post(f"{path}/{said}", words="It leaks again", message_key="k")
    stale = browser.press(page, f"{path}/status", status="closed")
    assert stale.status_code == 409
    assert read_request(owner, request).status == "new"
    assert "wrote something in the meantime. Read it, then press the button again." in stale.text
    assert "It leaks again" in stale.text
    page = browser._page(stale, 409)
    assert browser.press(page, f"{path}/status", status="closed").status_code == 303
    # A button pressed twice is one change, whatever was said in between.
    other.post(f"{path}/{said}", words="It does not", message_key="l")
    assert browser.press(page, f"{path}/status", status="closed").status_code == 303
    assert [each.kind for each in read_updates(owner, request)].count("status") == 1


def test_what_one_has_said_oneself_and_notes_that_one_may_not_read_hold_nothing_up(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient
) -> None:
    asker = make_user(owner, admin.group_id)
    request = make_request(owner, asker)
    path = f"/requests/{request.id}"
    page = browser.page(path)
    browser.post(f"{path}/replies", words="Done", message_key="k")
    assert browser.press(page, f"{path}/status", status="resolved").status_code == 303
    own = sign_in(app, owner, asker)
    page = own.page(path)
    other.post(f"{path}/notes", words="He breaks it each week", message_key="k")
    assert own.press(page, f"{path}/status", status="closed").status_code == 303
