"""The usage page: right numbers for admins, nothing for others, limits that can be changed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts.models import AuditEntry, Group
from app.admin import figures
from app.admin.usage import NOTHING, Sums, cost, percentile, read_usage
from app.config import Settings
from app.db import Database, utc_now
from app.web import charts
from tests.factories import CheckedClient, Member, Page, make_turn_facts, make_user, sign_in

UTC_ZONE = ZoneInfo("UTC")
TODAY = date(2026, 11, 20)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin")


def test_the_sums_are_those_of_the_turns(owner: Database, database: Database) -> None:
    admin = make_user(owner, role="admin")
    cook = make_user(owner, admin.group_id)
    make_turn_facts(database, make_user(owner), at=NOON, tokens_in=999)
    for back, person, facts in (
        (0, cook, {"tokens_in": 100, "tokens_out": 10, "latency_ms": 1000, "search_ms": 20}),
        (0, cook, {"status": "failed", "latency_ms": 9000}),
        (6, admin, {"provider": "builtin", "degraded": True, "search_ms": 30}),
        (7, admin, {"tokens_in": 7}),
    ):
        make_turn_facts(database, person, at=NOON - timedelta(days=back), **facts)
    with database.transaction(admin.scope) as session:
        week = read_usage(session, 7, UTC_ZONE, TODAY)
        month = read_usage(session, 30, UTC_ZONE, TODAY)
    assert week.total == Sums(
        turns=3, failed=1, degraded=1, searches=2, tokens_in=100, tokens_out=10
    )
    assert [day.turns for day in week.by_day.values()] == [1, 0, 0, 0, 0, 0, 2]
    assert {user: sums.turns for user, sums in week.by_person.items()} == {
        cook.user_id: 2,
        admin.user_id: 1,
    }
    assert {name: sums.turns for name, sums in week.by_provider.items()} == {
        "openai": 2,
        "builtin": 1,
    }
    assert week.times["latency"].p50 == pytest.approx(1000, rel=0.06)
    assert week.times["latency"].p95 == pytest.approx(9000, rel=0.06)
    assert "first_token" not in week.times
    assert (month.total.turns, len(month.by_day)) == (4, 30)


def test_whoever_is_no_admin_reads_only_their_own_sums(owner: Database, database: Database) -> None:
    cook = make_user(owner)
    make_turn_facts(database, cook, at=NOON)
    make_turn_facts(database, make_user(owner, cook.group_id), at=NOON)
    with database.transaction(cook.scope) as session:
        assert read_usage(session, 7, UTC_ZONE, TODAY).total.turns == 1


@pytest.mark.parametrize(
    ("buckets", "share", "milliseconds"),
    [
        ([0] * 10 + [1], 0.5, 2),
        ([95] + [0] * 49 + [5], 0.95, 0),
        ([94] + [0] * 49 + [6], 0.95, 147),
    ],
)
def test_a_percentile_is_the_bucket_that_reaches_it(
    buckets: list[int], share: float, milliseconds: int
) -> None:
    assert percentile(buckets, share) == milliseconds


def test_the_cost_needs_both_prices() -> None:
    sums = Sums(tokens_in=2_000_000, tokens_out=500_000)
    prices = Settings(ai_price_input=Decimal("0.25"), ai_price_output=Decimal("2"))
    assert cost(sums, prices) == Decimal("1.5")
    assert cost(NOTHING, prices) == 0
    assert cost(sums, Settings(ai_price_input=Decimal("0.25"))) is None


def test_columns_fill_the_drawing_and_small_ones_are_seen() -> None:
    drawn = charts.columns([(1000, 0), (0, 0), (1, 1)])
    assert drawn.ink == "M24.0 120v-120.0h192.0v120.0zM504.0 120v-1h192.0v1z"
    assert drawn.accent == "M504.0 120v-1h192.0v1z"
    assert charts.columns([(0, 0)]) == charts.columns([]) == charts.Columns("", "")
    assert charts.stretch(500, 0, 500).x + charts.stretch(500, 0, 500).width == charts.WIDTH


def test_numbers_are_written_as_the_reader_does(app: Flask) -> None:
    for language, wanted in (
        ("en", ["1,234", "850 ms", "1.8 s", "2.5%", "43%", "$1.50", "0.0021 USD"]),
        ("es", ["1,234", "850 ms", "1.8 s", "2.5%", "43%", "$1.50", "0.0021 USD"]),
    ):
        with app.test_request_context(f"/?lang={language}"):
            written = [
                figures.number(1234),
                figures.duration(850),
                figures.duration(1841),
                figures.share(25, 1000),
                figures.share(3, 7),
                figures.dollars(Decimal("1.5")),
                figures.dollars(Decimal("0.00213")),
            ]
            assert [figures.share(1, 0), figures.duration(None)] == ["—", "—"]
        assert [each.replace("\xa0", " ") for each in written] == wanted, language


def test_an_admin_sees_the_numbers_and_the_table_behind_each_chart(
    app: Flask, owner: Database, database: Database, admin: Member
) -> None:
    cook = make_user(owner, admin.group_id, name="Marta Cruz")
    make_turn_facts(database, cook, tokens_in=1200, tokens_out=34, latency_ms=2000)
    browser = sign_in(app, owner, admin)
    page = browser.page("/admin/usage?days=7")
    assert "Marta Cruz" in page.text
    assert "1,234" in page.text
    charts_shown = page.find_all("svg", role="img")
    assert all(chart.attributes["aria-label"] for chart in charts_shown)
    assert len(charts_shown) == 2
    [link] = [a for a in page.find_all("a") if a.text == "Show as a table"]
    table = browser.page(link.attributes["href"].split("#")[0]).find("table", id="by-day-table")
    assert "1,234" in table.text
    assert page.find("a", href="/admin/usage?days=7").attributes["aria-current"] == "true"


def test_a_house_that_has_asked_nothing_is_told_what_to_do(
    app: Flask, owner: Database, admin: Member
) -> None:
    page = sign_in(app, owner, admin).page("/admin/usage")
    assert "Nobody has asked anything" in page.text
    assert "0 of 50,000 messages" in page.text


def test_the_page_speaks_spanish(app: Flask, owner: Database, database: Database) -> None:
    admin = make_user(owner, role="admin", language="es")
    make_turn_facts(database, admin, latency_ms=2000)
    page = sign_in(app, owner, admin).page("/admin/usage?days=90&table=1")
    assert "Personas activas" in page.text
    assert len(page.find("table", id="by-day-table").find_all("tr")) == 2


@pytest.mark.parametrize("role", ["staff", "manager"])
@pytest.mark.parametrize("path", ["/admin/usage", "/admin/turns"])
def test_nobody_but_an_admin_opens_it(app: Flask, owner: Database, role: str, path: str) -> None:
    browser = sign_in(app, owner, make_user(owner, role=role))
    browser.page(path, 403)
    assert 'href="/admin/usage"' not in browser.page("/chat").response.text
    assert browser.post("/admin/limits", daily="1").status_code == 403


def test_whoever_is_not_signed_in_is_sent_to_sign_in(app: Flask) -> None:
    client = app.test_client()
    for path in ("/admin/usage", "/admin/turns"):
        response = client.get(path)
        assert response.status_code == 303
        assert "/sign-in" in response.location


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/admin/usage"), ("GET", "/admin/limits")],
)
def test_other_methods_are_refused(
    app: Flask, owner: Database, admin: Member, method: str, path: str
) -> None:
    browser = sign_in(app, owner, admin)
    send = browser.post if method == "POST" else browser.get
    assert send(path).status_code == 405


def test_an_admin_changes_the_limits_of_their_house_alone(
    app: Flask, owner: Database, admin: Member
) -> None:
    stranger = make_user(owner)
    browser = sign_in(app, owner, admin)
    assert send_limits(browser, browser.page("/admin/usage"), daily="30").status_code == 303
    page = browser.page("/admin/usage")
    assert "Limits saved. They apply from the next message on." in page.text
    assert page.find("input", name="daily").attributes["value"] == "30"
    with owner.transaction() as session:
        limits = {
            id_: session.get_one(Group, id_).daily_message_limit
            for id_ in (admin.group_id, stranger.group_id)
        }
        noted = session.scalars(
            select(AuditEntry.action).where(AuditEntry.group_id == admin.group_id)
        ).all()
    assert limits == {admin.group_id: 30, stranger.group_id: None}
    assert noted == ["limits_changed"]


def send_limits(browser: CheckedClient, page: Page, **typed: str) -> TestResponse:
    """Send the form of the limits as a browser does, with what was typed into it."""
    fields = [each.attributes for each in page.find("form", class_="limits-form").find_all("input")]
    sent = {each["name"]: each["value"] for each in fields if each["name"] != "csrf_token"}
    return browser.post("/admin/limits", **{**sent, **typed})


def limits_of(owner: Database, admin: Member) -> tuple[int | None, int | None]:
    with owner.session() as session:
        group = session.get_one(Group, admin.group_id)
        return group.daily_message_limit, group.monthly_message_limit


def test_a_limit_that_is_no_number_is_refused_beside_its_field(
    app: Flask, owner: Database, admin: Member
) -> None:
    browser = sign_in(app, owner, admin)
    response = send_limits(browser, browser.page("/admin/usage"), monthly="a lot")
    page = browser._page(response, 422)
    assert page.find("input", name="monthly").attributes["value"] == "a lot"
    assert 'id="e-monthly"' in response.text
    # Corrected there, it is saved.
    assert send_limits(browser, page, monthly="900").status_code == 303
    assert limits_of(owner, admin) == (None, 900)


def test_of_two_admins_who_change_one_limit_the_second_is_told(
    app: Flask, owner: Database, admin: Member
) -> None:
    browser = sign_in(app, owner, admin)
    mine, theirs = (browser.page("/admin/usage") for _ in range(2))
    assert send_limits(browser, theirs, daily="10", monthly="800").status_code == 303
    page = browser._page(send_limits(browser, mine, daily="500"), 409)
    assert "Somebody else changed this in the meantime." in page.text
    assert page.find("dl", class_="theirs").find("dd").text == "10"
    assert page.find("input", name="daily").attributes["value"] == "500"
    # What only they have changed is shown as it is now.
    assert page.find("input", name="monthly").attributes["value"] == "800"
    assert limits_of(owner, admin) == (10, 800)
    assert send_limits(browser, page).status_code == 303
    assert limits_of(owner, admin) == (500, 800)


def test_of_two_admins_who_change_different_limits_both_changes_stay(
    app: Flask, owner: Database, admin: Member
) -> None:
    browser = sign_in(app, owner, admin)
    mine, theirs = (browser.page("/admin/usage") for _ in range(2))
    assert send_limits(browser, theirs, monthly="800").status_code == 303
    assert send_limits(browser, mine, daily="500").status_code == 303
    assert limits_of(owner, admin) == (500, 800)


@pytest.mark.parametrize("shown", [{}, {"was_daily": "x", "was_monthly": "-1"}])
def test_a_page_that_does_not_say_which_limits_it_showed_changes_none(
    app: Flask, owner: Database, admin: Member, shown: dict[str, str]
) -> None:
    """As of a page that stood open while Comanda was upgraded."""
    browser = sign_in(app, owner, admin)
    send_limits(browser, browser.page("/admin/usage"), daily="40")
    for typed in ("", "50"):
        response = browser.post("/admin/limits", daily=typed, monthly="", **shown)
        assert response.status_code == 409
    assert limits_of(owner, admin) == (40, None)


def test_the_limits_form_needs_its_token(app: Flask, owner: Database, admin: Member) -> None:
    browser = sign_in(app, owner, admin)
    assert browser.post("/admin/limits", token=False, daily="1").status_code == 400


def test_somebody_who_left_keeps_their_numbers_without_a_name(
    app: Flask, owner: Database, database: Database, admin: Member
) -> None:
    gone = make_user(owner, admin.group_id, name="Gone Already")
    make_turn_facts(database, gone, at=utc_now())
    browser = sign_in(app, owner, admin)
    browser.post("/people", action="remove", user_id=str(gone.user_id), was=gone.role)
    page = browser.page("/admin/usage")
    assert "Former colleague" in page.text
    assert "Gone Already" not in page.text
