"""Messages a day and a month: counted once, refused in words, and by the house's clock."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import func, select, update

from app.accounts.models import AuditEntry, Group
from app.assistant.models import Message, Thread, Turn
from app.assistant.usage.message_quotas import (
    DailyMessages,
    MonthlyMessages,
    count_message,
    read_own_limits,
    read_standing,
    set_own_limits,
)
from app.db import Database
from app.errors import Forbidden, InvalidInput, LimitReached
from tests.assistant.answering import Answering
from tests.factories import CheckedClient, Member, api_token, ask, make_group, make_user, sign_in
from tests.factories.browser import issued_id

KEY = "a-key-of-a-page"


# What the page of a group shows that has no limits of its own.
NONE = {"daily": "", "monthly": ""}


def limit(owner: Database, member: Member, **limits: int | None) -> None:
    """Give the member's group limits: daily, monthly."""
    values = {f"{name}_message_limit": number for name, number in limits.items()}
    with owner.transaction() as session:
        session.execute(update(Group).where(Group.id == member.group_id).values(**values))


def count(owner: Database, member: Member, model: type) -> int:
    with owner.transaction() as session:
        query = select(func.count()).select_from(model)
        return session.scalar(query.where(model.group_id == member.group_id)) or 0  # type: ignore[attr-defined]


def used(database: Database, member: Member) -> tuple[int, int]:
    """What is counted: the person's day, the group's month."""
    with database.transaction(member.scope) as session:
        standing = read_standing(session)
    return standing.daily.used, standing.monthly.used


@contextmanager
def clients(app: Flask, owner: Database, *members: Member) -> Iterator[list[CheckedClient]]:
    """A browser for each, which knows its token already."""
    browsers = [sign_in(app, owner, member) for member in members]
    assert all(browser.csrf_token for browser in browsers)
    yield browsers


def post(browser: CheckedClient, **form: Any) -> int:
    return browser.post(
        f"/chat/{browser.new_id()}/messages", htmx=True, message="Hi", **form
    ).status_code


def test_forty_parallel_posts_against_a_limit_of_twenty_leave_twenty(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    limit(owner, member, daily=20)
    with clients(app, owner, *[member] * 8) as browsers, ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda n: post(browsers[n % 8]), range(40)))
    assert sorted(statuses) == [200] * 20 + [429] * 20
    assert used(database, member) == (20, 20)
    assert count(owner, member, Turn) == count(owner, member, Thread) == 20
    assert count(owner, member, Message) == 40


def test_parallel_people_share_their_houses_month(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    limit(owner, member, monthly=11)
    team = [member, *(make_user(owner, member.group_id) for _ in range(3))]
    with clients(app, owner, *team * 2) as browsers, ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda n: post(browsers[n % 8]), range(32)))
    assert sorted(statuses) == [200] * 11 + [429] * 21
    days = [used(database, person)[0] for person in team]
    assert (sum(days), used(database, member)[1]) == (11, 11)
    assert count(owner, member, Turn) == 11


def test_a_repeated_message_is_counted_once(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    limit(owner, member, daily=1)
    address = f"/chat/{issued_id(app, member)}/messages"
    with clients(app, owner, *[member] * 4) as browsers, ThreadPoolExecutor(4) as pool:
        sent = pool.map(
            lambda browser: browser.post(address, htmx=True, message="Hi", message_key=KEY),
            browsers,
        )
        assert {response.status_code for response in sent} <= {200, 204}
    assert used(database, member) == (1, 1)


def test_a_refused_message_leaves_nothing_behind(
    owner: Database, database: Database, member: Member
) -> None:
    limit(owner, member, monthly=1)
    ask(database, member)
    with pytest.raises(LimitReached) as refused:
        ask(database, member, "One more")
    assert refused.value.message.startswith(
        "The restaurant has used all its messages for this month ("
    )
    assert used(database, member) == (1, 1), "the day was counted although the month was full"
    assert (count(owner, member, Turn), count(owner, member, Message)) == (1, 2)


def test_without_limits_everything_is_counted_and_nothing_refused(
    owner: Database, database: Database, member: Member
) -> None:
    limit(owner, member, daily=0, monthly=0)
    for _ in range(3):
        ask(database, member)
    with database.transaction(member.scope) as session:
        nearest = read_standing(session).nearest
    assert (nearest.used, nearest.limit) == (3, None)


def test_the_settings_hold_where_a_group_has_no_limits_of_its_own(
    owner: Database, database: Database, member: Member
) -> None:
    with database.transaction(member.scope) as session:
        standing = read_standing(session)
    assert (standing.daily.limit, standing.monthly.limit) == (500, 50_000)
    limit(owner, member, daily=7)
    with database.transaction(member.scope) as session:
        assert read_standing(session).nearest.limit == 7


def test_the_limit_that_is_reached_first_is_told(
    owner: Database, database: Database, member: Member
) -> None:
    limit(owner, member, daily=10, monthly=4)
    ask(database, member)
    with database.transaction(member.scope) as session:
        nearest = read_standing(session).nearest
    assert (nearest.used, nearest.limit) == (1, 4)


@pytest.mark.parametrize(
    ("zone", "now", "day", "month"),
    [
        ("America/Chicago", "2026-11-21T05:59:59", "2026-11-21T06:00", "2026-12-01T06:00"),
        ("America/Chicago", "2026-11-21T06:00:00", "2026-11-22T06:00", "2026-12-01T06:00"),
        # The clocks go back, and the day has 25 hours.
        ("America/Chicago", "2026-11-01T05:00:00", "2026-11-02T06:00", "2026-12-01T06:00"),
        ("Asia/Kolkata", "2026-12-31T18:30:00", "2027-01-01T18:30", "2027-01-31T18:30"),
        # A midnight that the clocks skip.
        ("America/Santiago", "2026-09-05T12:00:00", "2026-09-06T04:00", "2026-10-01T03:00"),
    ],
)
def test_day_and_month_are_those_of_the_house(
    owner: Database, database: Database, zone: str, now: str, day: str, month: str
) -> None:
    member = make_user(owner, make_group(owner, timezone=zone))
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    with database.transaction(member.scope) as session:
        count_message(session, moment)
        standing = read_standing(session, moment)
    assert standing.daily.as_json()["resets_at"] == f"{day}:00+00:00"
    assert standing.monthly.as_json()["resets_at"] == f"{month}:00+00:00"


def test_a_new_day_opens_again(owner: Database, database: Database, member: Member) -> None:
    limit(owner, member, daily=1)
    days = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (19, 20)]
    for moment in days:
        with database.transaction(member.scope) as session:
            count_message(session, moment)
    with database.session(member.scope) as session, pytest.raises(LimitReached):
        count_message(session, days[1])
    with database.transaction(member.scope) as session:
        assert read_standing(session, days[1]).monthly.used == 2


def test_the_api_refuses_with_429_and_says_until_when(
    app: Flask, owner: Database, member: Member, answering: Answering
) -> None:
    limit(owner, member, daily=1)
    client, token = app.test_client(use_cookies=False), api_token(owner, member)
    bearer = {"Authorization": f"Bearer {token}"}
    first = client.post("/api/ask", json={"message": "Hello"}, headers=bearer).get_json()
    assert {"used": 1, "limit": 1}.items() <= first["usage"].items()
    again = client.post("/api/ask", json={"message": "Hello"}, headers=bearer)
    body = again.get_json()
    assert (again.status_code, body["code"]) == (429, "limit")
    assert body["usage"] == first["usage"]
    assert datetime.fromisoformat(body["usage"]["resets_at"]).utcoffset() is not None
    assert body["message"].startswith("You have used all of today's messages (1 of 1).")


def test_the_command_line_says_it_in_words(
    cli: FlaskCliRunner, owner: Database, member: Member
) -> None:
    limit(owner, member, daily=1)
    asked = cli.invoke(args=["ask", "Hello", "--user", member.email, "--json"])
    assert '"usage": {"used": 1, "limit": 1' in asked.stdout
    refused = cli.invoke(args=["ask", "Hello", "--user", member.email])
    assert refused.exit_code == 1
    assert "You can write again on" in refused.output


def test_the_page_brings_a_calm_ticket_in_the_persons_language(
    app: Flask, owner: Database, database: Database
) -> None:
    member = make_user(owner, language="es")
    limit(owner, member, daily=1)
    ask(database, member)
    browser = sign_in(app, owner, member)
    refused = browser.post_fragment(f"/chat/{browser.new_id()}/messages", 429, message="Otra cosa")
    ticket = refused.root.find("div", role="alert")
    assert ticket.attributes["data-code"] == "limit"
    assert "Ya usaste tus mensajes de hoy (1 de 1)" in refused.text
    assert refused.find("a", href="/library/")


def test_without_scripts_the_page_keeps_what_was_typed(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    limit(owner, member, daily=1)
    ask(database, member)
    browser = sign_in(app, owner, member)
    response = browser.post(f"/chat/{browser.new_id()}/messages", message="My long question")
    assert response.status_code == 429
    assert "My long question</textarea>" in response.text
    assert "You can write again on" in response.text


def test_an_admin_sets_limits_and_the_log_knows(owner: Database, database: Database) -> None:
    admin = make_user(owner, role="admin")
    with database.session(admin.scope) as session:
        set_own_limits(session, was=NONE, typed={"daily": " 40 ", "monthly": ""})
        assert read_own_limits(session) == {"daily": 40, "monthly": None}
    with owner.transaction() as session:
        entry = session.scalars(
            select(AuditEntry).where(AuditEntry.group_id == admin.group_id)
        ).one()
    assert (entry.action, entry.user_id) == ("limits_changed", admin.user_id)
    assert entry.subject == "daily_message_limit=40, monthly_message_limit=default"


@pytest.mark.parametrize("typed", ["-1", "1.5", "many", "1e3", "²", "9" * 30])
def test_a_limit_is_a_whole_number(owner: Database, database: Database, typed: str) -> None:
    admin = make_user(owner, role="admin")
    with database.session(admin.scope) as session, pytest.raises(InvalidInput) as refused:
        set_own_limits(session, was=NONE, typed={"daily": "", "monthly": typed})
    assert refused.value.field == "monthly"


@pytest.mark.parametrize("model", [DailyMessages, MonthlyMessages])
def test_nobody_counts_for_another_house(
    owner: Database, database: Database, member: Member, model: Any
) -> None:
    stranger = make_user(owner)
    ask(database, stranger)
    with database.transaction(member.scope) as session:
        assert session.scalars(select(model)).all() == []
        assert session.execute(update(model).values(used=0)).rowcount == 0  # type: ignore[attr-defined]
    assert used(database, stranger) == (1, 1)


def test_staff_cannot_change_the_limits(
    owner: Database, database: Database, member: Member
) -> None:
    with database.session(member.scope) as session, pytest.raises(Forbidden):
        set_own_limits(session, was=NONE, typed={"daily": "9", "monthly": "9"})
    with owner.transaction() as session:
        group: UUID = member.group_id
        assert session.get_one(Group, group).daily_message_limit is None
