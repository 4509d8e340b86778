"""Taking the ledger along: what is listed and nothing else, as text and as a workbook."""

from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal

import openpyxl
import pytest
from sqlalchemy import text

from app.db import Database
from app.skills.expenses.services import workbook
from tests.factories import CheckedClient, Member
from tests.factories.expenses import ledger_of, make_expense
from tests.skills.expenses.looking import HOME


def table(browser: CheckedClient, query: str = "") -> list[list[str]]:
    answer = browser.get(f"{HOME}/export.csv?{query}")
    assert answer.status_code == 200
    assert answer.mimetype == "text/csv"
    assert answer.data.startswith(b"\xef\xbb\xbf"), "spreadsheets want the mark"
    return list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"), newline="")))


def test_the_text_has_exactly_the_rows_of_the_list_and_no_formula(
    database: Database,
    member: Member,
    boss: Member,
    manager: CheckedClient,
) -> None:
    today = ledger_of(database, member).today
    make_expense(database, member, "=1+1", amount="1234.5", note="@sum\nñandú", date=today)
    make_expense(database, boss, "Rent", category="fees", currency="MXN",
                 date=today - dt.timedelta(days=400))  # fmt: skip
    heads, *lines = table(manager)
    assert heads == ["Date", "Item", "Amount", "Currency", "Category", "Added by", "Note",
                     "Receipt"]  # fmt: skip
    assert lines[0] == [today.isoformat(), "'=1+1", "1234.50", "USD", "Transport", member.name,
                        "'@sum\nñandú", ""]  # fmt: skip
    assert lines[1][1:4] == ["Rent", "12.00", "MXN"]
    for query in (
        "currency=MXN",
        "category=fees",
        "who=mine",
        "q=rent",
        f"end={today - dt.timedelta(days=30)}",
    ):
        assert [line[1] for line in table(manager, query)[1:]] == ["Rent"], query
    assert table(manager, "q=zebra")[1:] == []


def test_the_workbook_has_numbers_dates_and_a_total_by_currency(
    database: Database,
    member: Member,
    boss: Member,
    manager: CheckedClient,
) -> None:
    today = ledger_of(database, member).today
    make_expense(database, member, "=1+1", amount="0.10", date=today)
    make_expense(database, member, "+49 30 1", amount="0.20", note="bell \a", date=today)
    make_expense(database, boss, "Rent", amount=900, currency="MXN", date=today)
    answer = manager.get(f"{HOME}/export.xlsx?range=today")
    assert answer.status_code == 200
    name = f"expenses-{today}-to-{today}.xlsx"
    assert name in answer.headers["Content-Disposition"]
    sheet = openpyxl.load_workbook(io.BytesIO(answer.data)).active
    assert sheet is not None
    found = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert [row[1] for row in found[1:4]] == ["Rent", "'+49 30 1", "'=1+1"]
    assert {cell.data_type for row in sheet.iter_rows(min_row=2) for cell in row} <= {
        "inlineStr",
        "s",
        "n",
        "d",
    }
    assert sheet["C2"].value == 900 and sheet["C2"].data_type == "n"
    assert sheet["A2"].is_date
    assert found[2][6] == "bell "
    assert [(row[1], Decimal(str(row[2])), row[3]) for row in found[4:]] == [
        ("Total in MXN", Decimal(900), "MXN"),
        ("Total in USD", Decimal("0.3"), "USD"),
    ]


def test_a_large_table_is_whole_and_in_order(
    database: Database,
    member: Member,
    owner: Database,
    manager: CheckedClient,
) -> None:
    expense = make_expense(database, member, "Number 0")
    with owner.transaction() as session:
        session.execute(
            text(
                "INSERT INTO expenses (id, group_id, user_id, item, amount, currency, date,"
                " category, note, version, created_at, updated_at)"
                " SELECT gen_random_uuid(), group_id, user_id, 'Number ' || n, amount, currency,"
                " date - n % 7, category, '', 1, created_at, updated_at"
                " FROM expenses, generate_series(1, 1203) AS n WHERE id = :id"
            ),
            {"id": expense.id},
        )
    lines = table(manager)[1:]
    assert len(lines) == 1204
    assert len({line[1] for line in lines}) == 1204
    assert [line[0] for line in lines] == sorted((line[0] for line in lines), reverse=True)
    week_ago = expense.date - dt.timedelta(days=3)
    some = table(manager, f"start={week_ago}&end={week_ago + dt.timedelta(days=1)}")[1:]
    assert {line[0] for line in some} == {str(week_ago), str(week_ago + dt.timedelta(days=1))}


def test_a_workbook_that_would_be_too_large_is_refused_in_words(
    database: Database, member: Member, manager: CheckedClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(workbook, "MOST_ROWS", 1)
    make_expense(database, member)
    assert manager.get(f"{HOME}/export.xlsx").status_code == 200
    make_expense(database, member)
    page = manager.page(f"{HOME}/export.xlsx", 422)
    assert (
        "That is more than fits in one workbook. Filter the list, or download the CSV." in page.text
    )


def test_staff_are_refused_and_other_houses_get_nothing_of_it(
    database: Database,
    member: Member,
    browser: CheckedClient,
    boss: Member,
) -> None:
    make_expense(database, member)
    for kind in ("csv", "xlsx"):
        assert browser.get(f"{HOME}/export.{kind}").status_code == 403
    assert workbook.MOST_ROWS >= 200_000
