"""The ledger's pages: who sees what, adding once, bad input, narrowing, the sums and charts."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from app.db import Database, new_id
from app.skills.expenses.services.expenses import PAGE
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.expenses import ledger_of, make_expense
from tests.skills.expenses.looking import HOME, audited, items, rows, typed


def add(browser: CheckedClient, **changes: str) -> Any:
    return browser.post(f"{HOME}/new", **typed(browser.page(f"{HOME}/new"), **changes))


# Adding


def test_an_expense_is_added_and_told_of(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    added = add(browser, item="  printer   paper ", amount="$1,234.50")
    assert added.status_code == 303
    [row] = rows(owner, member)
    assert (row.item, str(row.amount), row.currency) == ("printer paper", "1234.50", "USD")
    assert row.category == "office", "the category is guessed"
    page = browser.page(added.location)
    assert "Added: printer paper $1,234.50." in page.text
    assert items(page) == ["printer paper"]
    assert audited(owner, member) == ["expense.add"]


def test_a_form_that_is_sent_twice_counts_once_and_one_that_was_changed_twice(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    form = typed(browser.page(f"{HOME}/new"), item="Taxi", amount="12")
    for _time in range(3):
        assert browser.post(f"{HOME}/new", **form).status_code == 303
    assert len(rows(owner, member)) == 1
    for _time in range(2):
        assert browser.post(f"{HOME}/new", **{**form, "amount": "13"}).status_code == 303
    assert sorted(str(each.amount) for each in rows(owner, member)) == ["12.00", "13.00"]
    assert audited(owner, member) == ["expense.add"] * 2


def test_a_form_that_is_sent_again_adds_nothing_where_its_expense_was_changed_or_deleted_since(
    app: Flask, owner: Database, boss: Member
) -> None:
    browser = sign_in(app, owner, boss)
    form = typed(browser.page(f"{HOME}/new"), item="Taxi", amount="12")
    browser.post(f"{HOME}/new", **form)
    [row] = rows(owner, boss)
    edit = typed(browser.page(f"{HOME}/{row.id}/edit"), amount="15")
    assert browser.post(f"{HOME}/{row.id}/edit", **edit).status_code == 303
    assert browser.post(f"{HOME}/new", **form).status_code == 303
    [row] = rows(owner, boss)
    assert (str(row.amount), row.version) == ("15.00", 2)
    assert browser.post(f"{HOME}/{row.id}/delete", version=row.version).status_code == 303
    again = browser.post(f"{HOME}/new", **form)
    assert again.status_code == 303
    assert "added before and deleted since" in browser.get(again.location).text
    assert [each.deleted_at is None for each in rows(owner, boss)] == [False]


def test_nobody_writes_over_anothers_expense_by_its_key(
    owner: Database, database: Database, boss: Member, browser: CheckedClient, member: Member
) -> None:
    theirs = make_expense(database, boss, "Rent")
    # A key is its person's own: that of somebody else is as free as any, and tells nothing.
    answer = browser.post(f"{HOME}/new", item="Taxi", amount="12", key=str(theirs.id))
    assert answer.status_code == 303
    assert sorted(each.item for each in rows(owner, member)) == ["Rent", "Taxi"]


BAD = [
    ("amount", "0", "The amount must be more than zero."),
    ("amount", "-3", "The amount must be more than zero."),
    ("amount", "1000000000000", "The amount can be at most 1,000,000."),
    ("amount", "1000000.01", "The amount can be at most 1,000,000."),
    ("amount", "twelve", "Enter the amount in numbers, like 12.50."),
    ("amount", "NaN", "Enter the amount in numbers, like 12.50."),
    ("amount", "1e3", "Enter the amount in numbers, like 12.50."),
    ("amount", "", "Say how much it was."),
    ("item", "   ", "Say what the expense was for."),
    ("item", "x" * 201, "at most 200 characters"),
    ("note", "x" * 1001, "up to 1000 characters"),
    ("date", "next year", "Choose a date"),
    ("date", "1999-12-31", "The date is too far in the past. Check the year."),
    ("category", "yachts", "This category does not exist."),
    ("currency", "JPY", "JPY is not used here."),
    ("currency", "XXX", "XXX is not used here."),
]


@pytest.mark.parametrize(("field", "value", "told"), BAD)
def test_what_is_wrong_is_told_at_its_field_and_kept(
    owner: Database, member: Member, browser: CheckedClient, field: str, value: str, told: str
) -> None:
    form = {"item": "Taxi", "amount": "12", "note": "Late", field: value}
    page = browser._page(add(browser, **form), 422)
    key = page.find("input", name="key").attributes["value"]
    place = next(each for each in page.root if each.attributes.get("id") == f"f-{key}-{field}")
    assert place.attributes["aria-invalid"] == "true"
    assert f"e-{key}-{field}" in place.attributes["aria-describedby"]
    assert told in page.text
    if place.tag == "input":
        assert place.attributes["value"] == value
    assert rows(owner, member) == []


def test_all_that_is_wrong_is_told_at_once(browser: CheckedClient) -> None:
    page = browser._page(add(browser, item="", amount="twelve", date="2199-01-01"), 422)
    for told in ("Say what the expense was for.", "in numbers", "The date is in the future."):
        assert told in page.text


def test_a_date_next_year_is_refused(browser: CheckedClient) -> None:
    next_year = dt.date(dt.date.today().year + 1, 12, 31).isoformat()  # noqa: DTZ011
    page = browser._page(add(browser, item="Taxi", amount="12", date=next_year), 422)
    assert "The date is in the future." in page.text


@pytest.mark.parametrize(
    ("amount", "currency", "wanted"),
    [
        ("1.234,50 €", "USD", ("1234.50", "EUR")),
        ("1,234.50", "USD", ("1234.50", "USD")),
        ("1.234,50", "MXN", ("1234.50", "MXN")),
        ("$12", "MXN", ("12.00", "MXN")),
        ("12 GBP", "GBP", ("12.00", "GBP")),
        (" 4,5 ", "", ("4.50", "USD")),
    ],
)
def test_amounts_are_read_in_either_style_with_the_sign_that_was_typed(
    owner: Database, member: Member, browser: CheckedClient,
    amount: str, currency: str, wanted: tuple[str, str],
) -> None:  # fmt: skip
    assert add(browser, item="Taxi", amount=amount, currency=currency).status_code == 303
    [row] = rows(owner, member)
    assert (str(row.amount), row.currency) == wanted


def test_a_sign_that_contradicts_the_chosen_currency_is_asked_about(browser: CheckedClient) -> None:
    page = browser._page(add(browser, item="Taxi", amount="12 €", currency="MXN"), 422)
    assert "The amount says EUR and the currency MXN." in page.text


def test_what_no_database_takes_is_no_error_of_ours(browser: CheckedClient) -> None:
    assert add(browser, item="Ta\0xi", amount="12").status_code == 303
    assert browser.post(f"{HOME}/new", item="Taxi", amount="12", key="x").status_code == 422
    assert browser.post(f"{HOME}/new", key=str(new_id())).status_code == 422


# The list


def test_staff_see_their_own_and_managers_the_groups_with_the_sums_that_say_so(
    app: Flask, owner: Database, database: Database, member: Member, boss: Member,
    browser: CheckedClient, manager: CheckedClient,
) -> None:  # fmt: skip
    make_expense(database, member, "Taxi", amount=12)
    make_expense(database, boss, "Rent", amount=900)
    page = browser.page(HOME)
    assert items(page) == ["Taxi"]
    assert "Your expenses" in page.text
    assert "$12.00" in page.text and "$900.00" not in page.text
    assert not page.find_all("a", title="Edit")
    assert "Deleted" not in page.text and "CSV" not in page.text
    page = manager.page(HOME)
    assert set(items(page)) == {"Taxi", "Rent"}
    assert "Everybody's expenses" in page.text and "$912.00" in page.text
    assert member.name in page.text
    colleague = sign_in(app, owner, make_user(owner, member.group_id))
    outsider = sign_in(app, owner, make_user(owner, role="admin"))
    assert items(colleague.page(HOME)) == items(outsider.page(HOME)) == []
    assert "Nothing has been logged yet." in outsider.page(HOME).text


def test_the_list_is_narrowed_by_time_category_person_currency_and_words(
    database: Database, member: Member, boss: Member, manager: CheckedClient
) -> None:
    today = ledger_of(database, member).today
    last_month = today.replace(day=1) - dt.timedelta(days=1)
    make_expense(database, member, "Taxi", date=today)
    make_expense(database, member, "Jalapeños", date=last_month, category="ingredients")
    make_expense(database, boss, "Rent", date=last_month, category="fees", currency="MXN")
    for query, wanted in {
        "": {"Taxi", "Jalapeños", "Rent"},
        "range=today": {"Taxi"},
        "range=last+month": {"Jalapeños", "Rent"},
        "range=el+mes+pasado": {"Jalapeños", "Rent"},
        "range=when+hell+freezes": {"Taxi", "Jalapeños", "Rent"},
        f"start={last_month}&end={last_month}": {"Jalapeños", "Rent"},
        f"start={today}": {"Taxi"},
        f"end={last_month}": {"Jalapeños", "Rent"},
        f"range=today&start={last_month}": {"Taxi"},
        "category=ingredients": {"Jalapeños"},
        f"who={member.user_id}": {"Taxi", "Jalapeños"},
        "who=mine": {"Rent"},
        "who=x": {"Taxi", "Jalapeños", "Rent"},
        "currency=MXN": {"Rent"},
        "currency=%00": {"Taxi", "Jalapeños", "Rent"},
        "q=jalapeno": {"Jalapeños"},
        "q=JAL": {"Jalapeños"},
        "q=%25": {"Taxi", "Jalapeños", "Rent"},
        "q=zebra": set(),
        "category=fees&q=rent&currency=MXN&range=last+month": {"Rent"},
        "start=x&end=9999-12-31&page=x": {"Taxi", "Jalapeños", "Rent"},
    }.items():
        assert set(items(manager.page(f"{HOME}?{query}"))) == wanted, query
        assert set(items(manager.fragment(f"{HOME}?{query}"))) == wanted, query
    assert (
        "I could not read “when hell freezes”"
        in manager.page(f"{HOME}?range=when+hell+freezes").text
    )
    assert "No expenses match these filters." in manager.page(f"{HOME}?q=zebra").text


def test_staff_cannot_look_at_anothers_by_asking_for_them(
    database: Database, boss: Member, browser: CheckedClient
) -> None:
    make_expense(database, boss, "Rent")
    page = browser.page(f"{HOME}?who={boss.user_id}")
    assert items(page) == []
    assert "Your expenses" in page.text


def test_the_quick_times_lead_to_their_words_and_keep_what_else_was_chosen(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    make_expense(database, member, "Taxi")
    page = browser.page(f"{HOME}?category=transport&range=this+month")
    quick = next(each for each in page.find_all("nav") if each.has_class("quick"))
    links = {each.text: each.attributes["href"] for each in quick.find_all("a")}
    assert list(links) == ["any time", "today", "this week", "this month", "last month"]
    asked = parse_qs(urlsplit(links["last month"]).query)
    assert asked == {"category": ["transport"], "range": ["last month"]}
    assert quick.find("a", aria_current="true").text == "this month"
    assert items(browser.page(links["today"])) == ["Taxi"]
    assert items(browser.page(links["last month"])) == []


def test_a_long_list_comes_in_pages_the_latest_first(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    for number in range(PAGE + 2):
        make_expense(database, member, f"Taxi {number}")
    first = browser.page(HOME)
    assert items(first)[0] == f"Taxi {PAGE + 1}"
    assert len(items(first)) == PAGE
    [older] = first.find_all("a", rel="next")
    second = browser.page(older.attributes["href"])
    assert items(second) == ["Taxi 1", "Taxi 0"]
    assert "There are no more." in browser.page(f"{HOME}?page=9").text


def test_each_currency_has_its_own_sum_charts_and_table(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    today = ledger_of(database, member).today
    earlier = (today.replace(day=1) - dt.timedelta(days=40)).replace(day=10)
    make_expense(database, member, "Taxi", amount=10, date=today)
    make_expense(database, member, "Fish", amount=30, date=earlier, category="ingredients")
    make_expense(database, member, "Tacos", amount=7, currency="MXN")
    page = browser.page(HOME)
    sums = page.find("section", id="sums")
    totals = [each.text for each in sums.find_all("span", class_="sums-total")]
    assert totals == ["$40.00", "MX$7.00"]
    captions = [each.text for each in sums.find_all("figcaption")]
    assert captions == ["By category · USD", "By month · USD", "By category · MXN"]
    tables = [
        [[cell.text for cell in row if cell.tag in ("th", "td")] for row in table.find_all("tr")]
        for table in sums.find_all("table")
    ]
    assert tables[0][1:] == [["Ingredients", "$30.00"], ["Transport", "$10.00"]]
    assert len(tables[1]) in (3, 4), "a month without any has its place"
    assert tables[1][1][1] == "$10.00" and tables[1][-1][1] == "$30.00"
    assert any(row[1] == "$0.00" for row in tables[1][1:]) == (len(tables[1]) == 4)
    assert sums.find("svg", role="img").attributes["aria-label"].endswith("$30.00 a month")


def test_the_sums_alone_are_drawn_anew_for_a_page_that_is_open(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    make_expense(database, member, "Taxi")
    address = browser.page(HOME).find("section", id="sums").attributes["hx-get"]
    headers = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "section#sums"}
    text = browser.get(address, headers=headers).text
    assert 'id="sums"' in text and 'id="ledger"' not in text


def test_the_pages_speak_spanish(app: Flask, owner: Database, database: Database) -> None:
    person = make_user(owner, language="es")
    make_expense(database, person, "Taxi", amount="1234.5")
    page = sign_in(app, owner, person).page(f"{HOME}?range=este+mes")
    assert items(page) == ["Taxi"]
    assert "$1,234.50" in page.text


# Methods and strangers


@pytest.mark.parametrize(
    "path", ["", "/new", "/deleted", "/settings", "/export.csv", "/export.xlsx"]
)
def test_nobody_gets_in_without_signing_in(app: Flask, path: str) -> None:
    answer = app.test_client().get(HOME + path)
    assert answer.status_code == 303
    assert "/sign-in" in answer.location


def test_what_has_another_method_has_only_that(
    database: Database, boss: Member, manager: CheckedClient
) -> None:
    expense = make_expense(database, boss)
    one = f"{HOME}/{expense.id}"
    for path in ("", "/deleted", "/export.csv", "/export.xlsx", f"/{expense.id}/receipt",
                 f"/{expense.id}/receipt/preview", f"/{expense.id}"):  # fmt: skip
        assert manager.post(HOME + path).status_code == 405, path
    for path in (f"{one}/delete", f"{one}/restore", f"{HOME}/receipt-readings"):
        assert manager.get(path).status_code == 405, path


def test_the_menu_leads_here(browser: CheckedClient) -> None:
    place = browser.page(HOME).find("a", href=HOME, aria_current="page")
    assert place.text == "Expenses"
    assert re.search(r'href="#i-receipt"', browser.get(HOME).text)


def test_who_has_added_too_many_today_is_told_and_keeps_what_they_typed(
    member: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.skills.expenses.services.expenses.MOST_A_DAY", 0)
    page = browser.page(f"{HOME}/new")
    form = typed(page, item="Forty limes", amount="4")
    answer = browser._page(browser.post(f"{HOME}/new", **form), 429)
    assert "expenses in one day, and that is the limit. Add more tomorrow." in answer.text
    assert answer.find("input", name="item").attributes["value"] == "Forty limes"
