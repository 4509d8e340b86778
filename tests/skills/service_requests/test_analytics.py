"""The numbers of the requests: counted by hand here, by one query there."""

from __future__ import annotations

import datetime as dt
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask

from app.db import Database, utc_now
from app.skills.service_requests.services.analytics import Measured, first_month, measure
from tests.factories import CheckedClient, Member
from tests.factories.service_requests import make_request, make_type

ZONE = ZoneInfo("America/Chicago")
NOVEMBER = datetime(2026, 11, 10, 15, tzinfo=UTC)
NOW = datetime(2026, 11, 30, 15, tzinfo=UTC)


def hours(count: float) -> timedelta:
    return timedelta(hours=count)


def ended(after: float, at: datetime = NOVEMBER, **facts: Any) -> dict[str, Any]:
    """A request that was answered after an hour and solved after so many."""
    end = at + hours(after)
    return {"submitted_at": at, "status": "resolved", "responded_at": at + hours(1),
            "resolved_at": end, "due_at": at + hours(24), **facts}  # fmt: skip


def solved_by_the_assistant(at: datetime) -> dict[str, Any]:
    return {"submitted_at": at, "status": "closed", "resolved_at": at, "closed_at": at,
            "is_ai_resolution_attempted": True, "is_ai_resolution_successful": True}  # fmt: skip


@pytest.mark.parametrize(
    ("months", "first"), [(1, "2026-11-01"), (3, "2026-09-01"), (12, "2025-12-01")]
)
def test_a_range_ends_with_this_month(months: int, first: str) -> None:
    assert first_month(dt.date(2026, 11, 22), months).isoformat() == first


def test_the_numbers_are_those_of_the_requests(
    owner: Database, database: Database, member: Member, boss: Member, stranger: Member
) -> None:
    kind = make_type(owner, member.group_id)
    october = datetime(2026, 11, 1, 3, tzinfo=UTC)  # the evening of October 31 in the house
    make_request(owner, member, **ended(4, type_id=kind.id))
    make_request(owner, member, **ended(30, type_id=kind.id, is_ai_resolution_attempted=True))
    make_request(owner, member, **ended(6))
    make_request(owner, member, **solved_by_the_assistant(october))
    make_request(owner, member, submitted_at=NOVEMBER, due_at=NOVEMBER + hours(1))
    make_request(owner, member, submitted_at=NOW, due_at=NOW + hours(9))
    make_request(owner, member, submitted_at=NOVEMBER - timedelta(days=99))
    make_request(owner, stranger, submitted_at=NOVEMBER)
    with database.session(boss.scope) as session:
        report = measure(session, dt.date(2026, 10, 1), ZONE, NOW)
    assert report.total == Measured(6, 2, 4, 3600, 6 * 3600, 4, 2, 2, 1)
    assert list(report.by_month) == [dt.date(2026, 10, 1), dt.date(2026, 11, 1)]
    assert report.by_month[dt.date(2026, 10, 1)] == Measured(1, 0, 1, None, None, 0, 0, 1, 1)
    found = {type_.slug if type_ else "": each for type_, each in report.by_type}
    assert found[kind.slug] == Measured(2, 0, 2, 3600, 17 * 3600, 2, 1, 1, 0)
    assert found[""].submitted == 4


def test_no_requests_are_no_numbers(database: Database, boss: Member) -> None:
    with database.session(boss.scope) as session:
        report = measure(session, dt.date(2026, 10, 1), ZONE, NOW)
    assert report.total == Measured()
    assert list(report.by_month.values()) == [Measured(), Measured()]
    assert report.by_type == []


def test_the_page_shows_them_in_words_with_the_tables(
    app: Flask, owner: Database, manager: CheckedClient, member: Member
) -> None:
    assert "Nobody has asked for anything in these months." in manager.page(
        "/requests/queue/analytics"
    ).text  # fmt: skip
    now = utc_now()
    make_request(owner, member, **ended(4, at=now - hours(5)))
    make_request(owner, member, **solved_by_the_assistant(now))
    for months in ("1", "12", "0", "many"):
        page = manager.page(f"/requests/queue/analytics?months={months}")
        for words in ("Requests in numbers", "4 h", "100%", "Types that are gone"):
            assert words in page.text
    assert len(page.find_all("table")) == 2


def test_numbers_are_for_managers(
    app: Flask, owner: Database, browser: CheckedClient, at_work: CheckedClient, team: object
) -> None:
    for reader in (browser, at_work):
        assert reader.get("/requests/queue/analytics").status_code == 403
    assert "Numbers" not in at_work.page("/requests/queue").text
