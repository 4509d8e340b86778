"""The ledger keeps what is right, says what is wrong, and shows nobody another's rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import IntegrityError, ProgrammingError

from app.db import Database, ScopedSession, new_id, utc_now
from app.errors import ComandaError, Conflict, Forbidden, InvalidInput, NotFound, TooMany
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import (
    Filters,
    Row,
    add_expenses,
    change_expense,
    check_row,
    delete_expense,
    find_expenses,
    list_deleted,
    load_expense,
    put_back,
    restore_expense,
    take_back_added,
    values_of,
)
from app.skills.expenses.services.settings import load_ledger
from tests.factories import Member
from tests.factories.expenses import ledger_of, make_expense

Do = Callable[[ScopedSession], Any]


def items(database: Database, who: Member, **filters: Any) -> list[str]:
    with database.transaction(who.scope) as session:
        return [each.item for each in find_expenses(session, Filters(**filters))]


def refused(database: Database, who: Member, do: Do) -> ComandaError:
    """The error that it ends in; nothing of it is kept."""
    with pytest.raises(ComandaError) as caught, database.transaction(who.scope) as session:
        do(session)
    return caught.value


def row(database: Database, member: Member, **facts: Any) -> Row:
    ledger = ledger_of(database, member)
    known: dict[str, Any] = {
        "item": "Taxi",
        "amount": Decimal(12),
        "currency": ledger.currency,
        "date": ledger.today,
        "category": "transport",
    }
    return check_row(ledger, Row(**{**known, **facts}))


# What is right


def test_an_amount_is_kept_to_the_cent_and_an_item_without_loose_blanks(
    database: Database, member: Member
) -> None:
    checked = row(database, member, item="  printer   paper ", amount=Decimal("4.5"))
    assert (checked.item, str(checked.amount)) == ("printer paper", "4.50")
    assert row(database, member, amount=Decimal("1000000")).amount == 1_000_000
    assert row(database, member, amount=Decimal("0.01")).amount == Decimal("0.01")


def test_tomorrow_is_taken_because_the_house_may_be_ahead(
    database: Database, member: Member
) -> None:
    tomorrow = ledger_of(database, member).today + timedelta(days=1)
    assert row(database, member, date=tomorrow).date == tomorrow


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"amount": Decimal(0)}, "amount"),
        ({"amount": Decimal("-3")}, "amount"),
        ({"amount": Decimal("1000000.01")}, "amount"),
        ({"amount": Decimal(10) ** 12}, "amount"),
        ({"amount": Decimal("1.005")}, "amount"),
        ({"amount": Decimal("NaN")}, "amount"),
        ({"amount": Decimal("Infinity")}, "amount"),
        ({"item": "   "}, "item"),
        ({"item": "x" * 201}, "item"),
        ({"note": "x" * 1001}, "note"),
        ({"currency": "JPY"}, "currency"),
        ({"category": "yachts"}, "category"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field(
    database: Database, member: Member, facts: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        row(database, member, **facts)
    assert caught.value.field == field


@pytest.mark.parametrize("days", [2, 365, -20_000])
def test_a_date_that_has_not_come_or_is_long_gone_is_refused(
    database: Database, member: Member, days: int
) -> None:
    today = ledger_of(database, member).today
    with pytest.raises(InvalidInput) as caught:
        row(database, member, date=today + timedelta(days=days))
    assert caught.value.field == "date"


def test_the_database_itself_takes_no_amount_that_the_ledger_refuses(
    database: Database, member: Member
) -> None:
    good = row(database, member)
    for amount in (Decimal(0), Decimal(-1), Decimal("1000000.01")):
        with pytest.raises(IntegrityError), database.transaction(member.scope) as session:
            add_expenses(session, [Row(**{**good.__dict__, "amount": amount})])


# Who sees what, and who may what


def test_staff_see_their_own_and_managers_the_groups(
    database: Database, member: Member, colleague: Member, boss: Member, stranger: Member
) -> None:
    make_expense(database, member, "Taxi")
    make_expense(database, colleague, "Napkins")
    make_expense(database, stranger, "Yacht")
    assert items(database, member) == ["Taxi"]
    assert items(database, colleague) == ["Napkins"]
    assert set(items(database, boss)) == {"Taxi", "Napkins"}
    assert items(database, boss, user_id=member.user_id) == ["Taxi"]
    assert items(database, stranger) == ["Yacht"]


def test_without_the_predicates_the_database_shows_the_same(
    database: Database, member: Member, colleague: Member, boss: Member, stranger: Member
) -> None:
    for who in (member, colleague, stranger):
        make_expense(database, who, f"Of {who.name}")

    def all_rows(who: Member) -> int:
        with database.transaction(who.scope) as session:
            assert session.scalar(text("SELECT count(*) FROM expense_months")) in (1, 2)
            return session.scalar(select(func.count()).select_from(Expense)) or 0

    assert [all_rows(who) for who in (member, colleague, boss, stranger)] == [1, 1, 2, 1]


def test_nobody_can_write_in_anothers_name_or_house(
    database: Database, member: Member, colleague: Member, stranger: Member
) -> None:
    good = row(database, member)

    def write_as(whose: Member) -> None:
        owned = {"group_id": whose.group_id, "user_id": whose.user_id}
        with database.transaction(member.scope) as session:
            session.add(Expense(**owned, **vars(good)))

    for whose in (colleague, stranger):
        with pytest.raises(ProgrammingError):
            write_as(whose)


@pytest.mark.parametrize("act", ["change", "delete", "restore"])
def test_staff_may_neither_change_nor_delete(database: Database, member: Member, act: str) -> None:
    expense = make_expense(database, member)
    doing: dict[str, Do] = {
        "change": lambda s: change_expense(s, load_ledger(s), expense.id, {"item": "Bus"}),
        "delete": lambda s: delete_expense(s, expense.id, 1),
        "restore": lambda s: restore_expense(s, expense.id),
    }
    error = refused(database, member, doing[act])
    assert isinstance(error, Forbidden)
    assert items(database, member) == ["Taxi"]


@pytest.mark.parametrize("act", ["change", "delete", "restore"])
def test_what_is_in_another_house_is_not_there(
    database: Database, member: Member, stranger: Member, act: str
) -> None:
    expense = make_expense(database, member)
    doing: dict[str, Do] = {
        "change": lambda s: change_expense(s, load_ledger(s), expense.id, {"item": "Bus"}),
        "delete": lambda s: delete_expense(s, expense.id, 1),
        "restore": lambda s: restore_expense(s, expense.id),
    }
    assert isinstance(refused(database, stranger, doing[act]), NotFound)
    assert items(database, member) == ["Taxi"]


def test_an_id_that_nobody_has_is_not_found(database: Database, boss: Member) -> None:
    assert isinstance(refused(database, boss, lambda s: load_expense(s, new_id())), NotFound)


# Changing, deleting and taking back


def test_a_manager_changes_what_a_colleague_wrote_and_it_stays_the_colleagues(
    database: Database, member: Member, boss: Member
) -> None:
    expense = make_expense(database, member)
    with database.transaction(boss.scope) as session:
        changed, before = change_expense(
            session, load_ledger(session), expense.id, {"amount": Decimal(15), "category": "other"}
        )
        assert (changed.amount, changed.category, changed.version) == (15, "other", 2)
        assert before["amount"] == 12
        assert changed.user_id == member.user_id
    assert items(database, member, category="other") == ["Taxi"]


def test_a_change_is_refused_whole_and_says_the_field(
    database: Database, member: Member, boss: Member
) -> None:
    expense = make_expense(database, member)
    changes = {"item": "Bus", "amount": Decimal(-1)}
    error = refused(
        database, boss, lambda s: change_expense(s, load_ledger(s), expense.id, changes)
    )
    assert error.field == "amount"
    assert items(database, member) == ["Taxi"]


def test_nobody_writes_over_what_they_have_not_seen(
    database: Database, member: Member, boss: Member
) -> None:
    expense = make_expense(database, member)

    def change(session: ScopedSession) -> None:
        change_expense(session, load_ledger(session), expense.id, {"item": "Bus"}, version=1)

    with database.transaction(boss.scope) as session:
        change(session)
    assert isinstance(refused(database, boss, change), Conflict)
    assert isinstance(refused(database, boss, lambda s: delete_expense(s, expense.id, 1)), Conflict)


def test_what_is_deleted_can_be_restored_for_thirty_days(
    database: Database, owner: Database, member: Member, boss: Member
) -> None:
    expense = make_expense(database, member)
    with database.transaction(boss.scope) as session:
        delete_expense(session, expense.id, 1)
        assert [each.item for each in list_deleted(session)] == ["Taxi"]
    assert items(database, member) == []
    assert isinstance(refused(database, boss, lambda s: load_expense(s, expense.id)), NotFound)
    with database.transaction(boss.scope) as session:
        restore_expense(session, expense.id)
        # Twice is the same as once.
        assert restore_expense(session, expense.id).item == "Taxi"
        delete_expense(session, expense.id, 3)
    with owner.transaction() as session:
        long_ago = utc_now() - timedelta(days=31)
        session.get_one(Expense, expense.id).deleted_at = long_ago
    assert isinstance(refused(database, boss, lambda s: restore_expense(s, expense.id)), Conflict)
    assert items(database, member) == []


def test_a_change_is_put_back_unless_it_was_changed_again(
    database: Database, member: Member, boss: Member
) -> None:
    expense = make_expense(database, member)
    before = values_of(expense)
    with database.transaction(boss.scope) as session:
        change_expense(session, load_ledger(session), expense.id, {"item": "Bus"})
        put_back(session, expense.id, before, 2)
    assert items(database, member) == ["Taxi"]
    error = refused(database, boss, lambda s: put_back(s, expense.id, before, 2))
    assert isinstance(error, Conflict)


def test_what_was_added_is_taken_back_by_its_own_person_while_nobody_changed_it(
    database: Database, member: Member, boss: Member
) -> None:
    first, second = make_expense(database, member, "Taxi"), make_expense(database, member, "Bus")
    with database.transaction(member.scope) as session:
        take_back_added(session, [first.id])
        take_back_added(session, [first.id])
    assert items(database, member) == ["Bus"]
    with database.transaction(boss.scope) as session:
        change_expense(session, load_ledger(session), second.id, {"item": "Train"})
    error = refused(database, member, lambda s: take_back_added(s, [second.id]))
    assert isinstance(error, Conflict)
    assert items(database, member) == ["Train"]


# Finding


def test_words_are_found_without_accents_and_by_their_beginning(
    database: Database, member: Member
) -> None:
    make_expense(database, member, "Jitomate bola")
    make_expense(database, member, "Café de olla", note="for the meeting")
    assert items(database, member, words="cafe") == ["Café de olla"]
    assert items(database, member, words="JITO") == ["Jitomate bola"]
    assert items(database, member, words="meeting") == ["Café de olla"]
    assert items(database, member, words="50%") == []
    assert items(database, member, words="%") == ["Café de olla", "Jitomate bola"]


def test_filters_are_half_open_and_the_latest_comes_first(
    database: Database, member: Member
) -> None:
    today = ledger_of(database, member).today
    for days in (0, 1, 2, 3):
        make_expense(database, member, f"{days} days ago", date=today - timedelta(days=days))
    start, end = today - timedelta(days=2), today
    assert items(database, member, start=start, end=end) == ["1 days ago", "2 days ago"]
    assert items(database, member)[0] == "0 days ago"


def test_nobody_adds_more_in_a_day_than_others_can_look_through(
    database: Database, owner: Database, member: Member, boss: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """In whatever way: on the page, in the chat, and by programs."""
    monkeypatch.setattr("app.skills.expenses.services.expenses.MOST_A_DAY", 3)
    for _ in range(3):
        make_expense(database, member)
    with pytest.raises(TooMany, match="that is the limit\\. Add more tomorrow"):
        make_expense(database, member)
    make_expense(database, boss)
    with owner.transaction() as session:
        yesterday = utc_now() - timedelta(hours=25)
        session.execute(
            update(Expense).where(Expense.user_id == member.user_id).values(created_at=yesterday)
        )
    make_expense(database, member)
