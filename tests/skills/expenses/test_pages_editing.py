"""Correcting the ledger on its pages: rows that turn into forms, conflicts, deleting, undo."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.accounts.models import Group
from app.db import Database, new_id, utc_now
from app.skills.expenses.models import Expense, ExpenseSettings
from app.skills.expenses.services.settings import default_categories
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.expenses import make_expense
from tests.skills.expenses.looking import HOME, audited, items, rows, typed


@pytest.fixture
def expense(database: Database, member: Member) -> Expense:
    return make_expense(database, member, "Taxi", amount=12)


def path(expense: Expense, act: str = "") -> str:
    return f"{HOME}/{expense.id}" + (f"/{act}" if act else "")


def sent(expense: Expense, **changes: Any) -> dict[str, Any]:
    """What the form of this expense would send."""
    return {
        "item": expense.item,
        "amount": str(expense.amount),
        "currency": expense.currency,
        "date": expense.date.isoformat(),
        "category": expense.category,
        "note": expense.note,
        "version": expense.version,
        **changes,
    }


def test_a_row_turns_into_its_form_and_back_with_what_was_changed(
    owner: Database,
    boss: Member,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    form = manager.fragment(path(expense, "edit"))
    row = form.find("tr", id=f"expense-{expense.id}")
    assert row.find("input", name="item").attributes["value"] == "Taxi"
    assert "autofocus" in row.find("input", name="item").attributes
    changes = {"item": "Cab", "amount": "1.234,50", "category": "fees", "note": "Airport"}
    saved = manager.post_fragment(path(expense, "edit"), **sent(expense, **changes))
    assert "ledger-changed" in saved.response.headers["HX-Trigger"]
    assert items(saved) == ["Cab"] and "$1,234.50" in saved.text and "Airport" in saved.text
    assert "autofocus" in saved.find("a", title="Edit").attributes
    [kept] = rows(owner, boss)
    assert (kept.item, str(kept.amount), kept.category) == ("Cab", "1234.50", "fees")
    assert kept.user_id == expense.user_id, "it stays whose it was"
    assert audited(owner, boss) == ["expense.change"]
    assert items(manager.fragment(path(expense))) == ["Cab"]


def test_without_scripts_it_is_a_page_that_leads_back_to_the_list_as_it_was(
    owner: Database,
    boss: Member,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    listed = manager.page(f"{HOME}?category=transport")
    page = manager.page(listed.find("a", title="Edit").attributes["href"])
    assert page.find("h1").text == "Edit: Taxi"
    form = next(each for each in page.find_all("form") if each.has_class("expense-form"))
    answer = manager.post(form.attributes["action"], **sent(expense, amount="13"))
    assert answer.status_code == 303
    assert answer.location == f"{HOME}?category=transport&changed={expense.id}"
    back = manager.page(answer.location)
    assert "Saved: Taxi $13.00." in back.text
    [edit] = [link for link in back.find_all("a") if "autofocus" in link.attributes]
    assert edit.attributes["aria-label"] == "Edit: Taxi", "one goes on from where one was"
    assert manager.get(path(expense)).status_code == 303


def test_what_is_the_same_is_no_change(
    owner: Database,
    boss: Member,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    manager.post_fragment(path(expense, "edit"), **sent(expense))
    assert rows(owner, boss)[0].version == 1
    assert audited(owner, boss) == []


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("amount", "0", "more than zero"),
        ("amount", "NaN", "in numbers"),
        ("item", "", "Say what"),
        ("category", "yachts", "does not exist"),
        ("date", "2999-01-01", "in the future"),
    ],
)
def test_what_is_wrong_is_told_in_the_row_and_kept(
    owner: Database, boss: Member, manager: CheckedClient, expense: Expense,
    field: str, value: str, told: str,
) -> None:  # fmt: skip
    changes = {"note": "Kept", field: value}
    row = manager.post_fragment(path(expense, "edit"), 422, **sent(expense, **changes))
    assert told in row.text and "Kept" in row.text
    page = manager._page(manager.post(path(expense, "edit"), **sent(expense, **changes)), 422)
    assert told in page.text
    assert rows(owner, boss)[0].version == 1


def test_a_conflict_shows_what_is_there_now_and_keeps_what_was_typed(
    owner: Database,
    boss: Member,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    manager.post(path(expense, "edit"), **sent(expense, item="Cab", amount="15"))
    late = manager.post_fragment(
        path(expense, "edit"), 409, **sent(expense, item="Bus", amount="2")
    )
    assert "Somebody else changed this in the meantime." in late.text
    assert "Cab · $15.00" in late.text
    assert late.find("input", name="item").attributes["value"] == "Bus"
    again = typed(late, category="transport")
    assert again["version"] == "2"
    assert manager.post(path(expense, "edit"), **again).status_code == 303
    assert rows(owner, boss)[0].item == "Bus"
    page = manager._page(manager.post(path(expense, "edit"), **sent(expense, item="Van")), 409)
    assert "Bus · $2.00" in page.text


@pytest.mark.parametrize(
    "wrong", [{"item": ""}, {"amount": "abc"}, {"date": "2031-01-01"}], ids=["item", "sum", "day"]
)
def test_a_mistake_on_a_form_that_was_overtaken_hides_nothing_that_somebody_else_saved(
    owner: Database, boss: Member, manager: CheckedClient, expense: Expense, wrong: dict[str, str]
) -> None:
    manager.post(path(expense, "edit"), **sent(expense, item="Cab", note="Theirs"))
    shown = manager.post_fragment(path(expense, "edit"), 422, **sent(expense, **wrong))
    put_right = typed(shown, item="Bus", amount="2", date=expense.date.isoformat())
    assert put_right["version"] == "1"
    late = manager.post_fragment(path(expense, "edit"), 409, **put_right)
    assert "Now it says: Cab" in late.text
    [row] = rows(owner, boss)
    assert (row.item, row.note) == ("Cab", "Theirs")


def test_a_category_or_currency_that_is_not_offered_any_more_stays_until_it_is_changed(
    owner: Database,
    boss: Member,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    with owner.transaction() as session:
        old = {"category": "old-times", "currency": "JPY"}
        session.execute(update(Expense).where(Expense.id == expense.id).values(**old))
    form = sent(expense, category="old-times", currency="JPY", amount="13")
    assert manager.post(path(expense, "edit"), **form).status_code == 422, (
        "the house has it no more"
    )
    with owner.transaction() as session:
        session.execute(
            update(Expense).where(Expense.id == expense.id).values(category="transport")
        )
    form["category"] = "transport"
    assert manager.post(path(expense, "edit"), **form).status_code == 303
    assert rows(owner, boss)[0].currency == "JPY"


def in_currency(owner: Database, boss: Member, code: str, *others: str) -> None:
    """The restaurant counts in this currency; its ledger takes `others` besides."""
    with owner.transaction() as session:
        session.execute(update(Group).where(Group.id == boss.group_id).values(currency=code))
        said = session.get(ExpenseSettings, boss.group_id)
        if said is None:
            session.add(
                ExpenseSettings(
                    group_id=boss.group_id, currencies=[], categories=list(default_categories())
                )
            )
            session.flush()
        session.execute(
            update(ExpenseSettings)
            .where(ExpenseSettings.group_id == boss.group_id)
            .values(currencies=list(others))
        )


def test_an_expense_stays_in_its_currency_whatever_the_restaurant_counts_in_since(
    owner: Database, boss: Member, manager: CheckedClient, expense: Expense
) -> None:
    in_currency(owner, boss, "USD")
    page = manager.page(path(expense, "edit"))
    assert page.find_all("select", name="currency") == [] and "In USD." in page.text
    in_currency(owner, boss, "EUR")
    form = typed(page, category=expense.category, note="for the line")
    assert manager.post(path(expense, "edit"), **form).status_code == 303
    [row] = rows(owner, boss)
    assert (row.currency, row.note) == ("USD", "for the line")
    # Nor does a program change it that does not say one.
    form |= {"version": str(row.version), "note": "x"}
    del form["currency"]
    assert manager.post(path(expense, "edit"), **form).status_code == 303
    assert rows(owner, boss)[0].currency == "USD"


def test_a_new_expense_is_written_in_the_currency_that_its_page_told_or_not_at_all(
    owner: Database, boss: Member, manager: CheckedClient
) -> None:
    in_currency(owner, boss, "USD")
    page = manager.page(f"{HOME}/new")
    in_currency(owner, boss, "EUR")
    again = manager._page(manager.post(f"{HOME}/new", **typed(page, item="Pans", amount="50")), 422)
    assert "USD is not used here. Use one of: EUR." in again.text
    assert rows(owner, boss) == []
    # What comes back says what it would be in now.
    assert typed(again)["currency"] == "EUR"
    assert manager.post(f"{HOME}/new", **typed(again)).status_code == 303
    assert [row.currency for row in rows(owner, boss)] == ["EUR"]


def test_what_is_deleted_can_be_taken_back_at_once_and_later(
    owner: Database,
    boss: Member,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    gone = manager.post_fragment(path(expense, "delete"), version=1)
    assert "Deleted: Taxi $12.00." in gone.text
    assert "ledger-changed" in gone.response.headers["HX-Trigger"]
    assert items(manager.page(HOME)) == []
    [form] = gone.find_all("form")
    back = manager._fragment(manager.press(gone, form.attributes["action"], htmx=True), 200)
    assert items(back) == ["Taxi"]
    plain = manager.post(path(expense, "delete"), version=3)
    assert plain.status_code == 303
    page = manager.page(plain.location)
    assert "Deleted: Taxi $12.00." in page.text
    deleted = manager.page(f"{HOME}/deleted")
    assert items(deleted) == ["Taxi"]
    answer = manager.press(deleted, path(expense, "restore"))
    assert "Restored: Taxi $12.00." in manager.page(answer.location).text
    assert manager.press(deleted, path(expense, "restore")).status_code == 303, (
        "twice is the same as once"
    )
    assert items(manager.page(HOME)) == ["Taxi"]
    acts = audited(owner, boss)
    assert acts[:4] == ["expense.delete", "expense.restore", "expense.delete", "expense.restore"]


def test_what_has_changed_meanwhile_is_not_deleted_unseen(
    owner: Database,
    boss: Member,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    manager.post(path(expense, "edit"), **sent(expense, amount="15"))
    answer = manager.post(path(expense, "delete"), version=1, htmx=True)
    assert answer.status_code == 409
    assert rows(owner, boss)[0].deleted_at is None


def test_after_thirty_days_it_is_too_late(
    owner: Database,
    manager: CheckedClient,
    expense: Expense,
) -> None:
    with owner.transaction() as session:
        long_ago = utc_now() - timedelta(days=31)
        session.execute(update(Expense).where(Expense.id == expense.id).values(deleted_at=long_ago))
    assert "Nothing was deleted" in manager.page(f"{HOME}/deleted").text
    assert manager.post(path(expense, "restore")).status_code == 409


WRITES = ("edit", "delete", "restore")


def test_staff_have_no_buttons_and_are_refused(
    owner: Database, member: Member, browser: CheckedClient, expense: Expense
) -> None:
    assert not browser.page(HOME).find_all("td", class_="expense-acts")
    for act in WRITES:
        assert browser.post(path(expense, act), **sent(expense)).status_code == 403, act
    assert browser.get(path(expense, "edit")).status_code == 403
    assert browser.get(f"{HOME}/deleted").status_code == 403
    assert browser.get(f"{HOME}/deleted?deleted={expense.id}").status_code == 403
    assert rows(owner, member)[0].version == 1


def test_another_house_finds_nothing(app: Flask, owner: Database, expense: Expense) -> None:
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    for act in WRITES:
        assert stranger.post(path(expense, act), **sent(expense)).status_code == 404, act
    for act in ("", "edit", "receipt", "receipt/preview"):
        assert stranger.get(path(expense, act)).status_code == 404, act
    told = stranger.page(f"{HOME}?added={expense.id}&changed={expense.id}&deleted=x")
    assert "Taxi" not in told.text


def test_a_colleague_finds_nothing_either(
    app: Flask, owner: Database, member: Member, expense: Expense
) -> None:
    colleague = sign_in(app, owner, make_user(owner, member.group_id))
    assert colleague.get(path(expense)).status_code == 404
    assert colleague.get(path(expense, "receipt")).status_code == 404
    assert "Taxi" not in colleague.page(f"{HOME}?added={expense.id}").text


def test_an_unknown_one_is_not_there_and_nothing_is_written_without_a_token(
    manager: CheckedClient,
    expense: Expense,
) -> None:
    for act in WRITES:
        assert manager.post(f"{HOME}/{new_id()}/{act}", item="x").status_code == 404, act
        assert manager.post(path(expense, act), token=False).status_code == 400, act
    assert manager.get(f"{HOME}/{new_id()}/edit").status_code == 404
