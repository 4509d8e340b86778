"""Requests in a real browser: the live reply, the queue, the countdown, the bell, all looks."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID

import pytest
from playwright.sync_api import expect
from sqlalchemy import delete

from app.accounts.models import SignIn
from app.db import utc_now
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.services.starters import add_starters
from tests.browser.catalog import leftovers
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, EACH_ONCE, LOOKS, STILL, TEXTS, look_over
from tests.factories import Member, make_thread, make_user
from tests.factories.service_requests import (
    make_request,
    make_team,
    make_type,
    make_update,
    read_request,
    read_updates,
)
from tests.model_server import HttpError, scenario


@pytest.fixture
def ana(house: House) -> Member:
    """Somebody of the staff of a house of their own."""
    return make_user(house.owner, name="Ana Asks")


@pytest.fixture
def boss(house: House, ana: Member) -> Member:
    """The manager of that house."""
    return make_user(house.owner, ana.group_id, "manager", name="Max Boss")


@pytest.fixture
def thread_id(house: House, ana: Member) -> UUID:
    """The conversation that the request came from."""
    return make_thread(house.app.extensions["comanda"].database, ana, "The walk-in is warm")


@pytest.fixture
def request_(house: House, ana: Member, boss: Member, thread_id: UUID) -> ServiceRequest:
    """A request with a story."""
    team = make_team(house.owner, ana.group_id, [boss])
    kind = make_type(house.owner, ana.group_id)
    made = make_request(
        house.owner, ana, "The walk-in is warm and the door does not close any more",
        thread_id=thread_id, team_id=team, type_id=kind.id, priority="high",
    )  # fmt: skip
    make_update(house.owner, made, ana, "answer", question="Does the fan turn?", body="No")
    make_update(house.owner, made, boss, "note", body="Old compressor", is_internal=True)
    make_update(house.owner, made, boss, "status", before="new", after="in_progress")
    return made


def forward(visitor: Visitor, time: str) -> None:
    """Let time pass, once all that was asked for is there: it would run out of time."""
    visitor.page.wait_for_load_state()
    expect(visitor.page.locator("#history[hx-get], .htmx-request")).to_have_count(0)
    visitor.page.clock.fast_forward(time)


def places(request: ServiceRequest) -> list[str]:
    return [
        "/requests",
        f"/requests/{request.id}",
        "/requests/queue",
        "/requests/queue?q=zebra",
        "/requests/queue/analytics?months=12",
        "/notifications",
    ]


@EACH_ONCE
def test_every_page_of_the_requests_is_for_everybody_and_in_one_language(
    visit: Visit, house: House, ana: Member, request_: ServiceRequest, look: str, language: str
) -> None:
    reader = make_user(house.owner, ana.group_id, "manager", language=language, name="Eva")
    make_request(house.owner, reader, "Mía", status="closed", closed_at=utc_now())
    told = make_request(house.owner, reader, "Refri", status="resolved", resolved_at=utc_now())
    make_update(house.owner, told, reader, "status", before="new", after="resolved")
    visitor = visit(reader, **LOOKS[look])
    wrong = {}
    for path in (*places(request_), f"/requests/{told.id}"):
        wrong[path] = look_over(visitor.open(path))
        if language == "es":
            # The first request is told in English: somebody's own words.
            texts = [each for each in visitor.evaluate(TEXTS) if request_.title not in each]
            wrong[path] += leftovers(texts)
    asking = visit(ana, **LOOKS[look])
    for path in ("/requests", f"/requests/{request_.id}"):
        wrong[f"{path} of who asked"] = look_over(asking.open(path))
    assert {path: problems for path, problems in wrong.items() if problems} == {}


def test_a_reply_shows_up_in_the_open_chat_and_is_answered_on_the_page(
    visit: Visit, house: House, ana: Member, boss: Member, thread_id: UUID,
    request_: ServiceRequest,
) -> None:  # fmt: skip
    chat = visit(ana, phone=True, media=STILL).open(f"/chat/{thread_id}")
    expect(chat.replies).to_have_count(1)
    second = chat.another_tab()
    agent = visit(boss).open(f"/requests/{request_.id}")
    agent.page.get_by_label("Your message").fill("A fan comes at 3.\nKeep the door shut.")
    agent.page.get_by_role("button", name="Send").dblclick()
    expect(agent.page.locator(".notice-ok")).to_have_text("Sent.")
    for tab in (chat, second):
        bubble = tab.page.locator("[data-role=agent]")
        expect(bubble).to_have_count(1)
        expect(bubble).to_contain_text("Max Boss")
        expect(bubble).to_contain_text("Keep the door shut.")
    expect(chat.page.locator("#announcer")).to_contain_text("A colleague has replied")
    assert look_over(chat) == []
    chat.page.get_by_role("link", name="Answer", exact=True).click()
    expect(chat.page).to_have_url(re.compile(rf"/requests/{request_.id}#answer$"))
    chat.page.get_by_label("Your message").fill("Thank you")
    chat.page.get_by_role("button", name="Send").click()
    expect(chat.page.locator(".event").last).to_contain_text("Thank you")
    replies = [each.body for each in read_updates(house.owner, request_) if each.kind == "reply"]
    assert replies == ["A fan comes at 3.\nKeep the door shut.", "Thank you"]


def test_an_agent_works_on_a_request_from_the_queue(
    visit: Visit, boss: Member, request_: ServiceRequest
) -> None:
    page = visit(boss, media=STILL).open("/requests/queue").page
    page.locator(".submission-filters summary").click()
    page.locator("#f-by-q").press_sequentially("zebra")
    expect(page.locator("#queue")).to_contain_text("No requests match these filters.")
    page.locator("#f-by-q").fill("")
    page.locator(".queue-title a").click()
    page.get_by_label("Assigned to").select_option(label="Max Boss (you)")
    page.get_by_role("button", name="Assign").click()
    expect(page.locator(".notice-ok")).to_have_text("Request assigned.")
    page.get_by_role("button", name="Mark as resolved").click()
    expect(page.locator(".sheet-head .status")).to_have_text("Resolved")
    expect(page.locator(".due")).to_have_text("done on time")


def test_several_are_given_to_somebody_at_once_by_keyboard(
    visit: Visit, house: House, ana: Member, boss: Member
) -> None:
    made = [make_request(house.owner, ana, f"Tap {n} drips") for n in range(8)]
    visitor = visit(boss, phone=True, media=STILL).open("/requests/queue")
    page = visitor.page
    bar = page.get_by_role("group", name="Change the selected requests")
    expect(bar).to_be_hidden()
    page.get_by_role("checkbox", name="Select Tap 0 drips").focus()
    page.keyboard.press("Space")
    for _n in range(2):  # The title, and the next box.
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(bar).to_be_visible()
    # What has the focus is not hidden below the bar.
    last = page.get_by_role("checkbox", name="Select Tap 7 drips")
    last.focus()
    inside = "([box, bar]) => box.getBoundingClientRect().bottom <= bar.getBoundingClientRect().top"
    assert page.evaluate(inside, [last.element_handle(), bar.element_handle()])
    assert look_over(visitor) == []
    bar.get_by_label("Assigned to").select_option(label="Max Boss (you)")
    bar.get_by_role("button", name="Assign").click()
    expect(page.locator(".notice-ok")).to_have_text("2 requests changed.")
    expect(bar).to_be_hidden()
    assert [read_request(house.owner, each).assignee_id for each in made[:3]] == [
        boss.user_id, boss.user_id, None,
    ]  # fmt: skip


def test_the_countdown_turns_when_the_time_is_over(
    visit: Visit, house: House, ana: Member, boss: Member
) -> None:
    make_request(house.owner, ana, due_at=utc_now() + timedelta(minutes=30, seconds=30))
    visitor = visit(boss, fresh=True)
    visitor.page.clock.install()
    due = visitor.open("/requests/queue").page.locator(".due")
    expect(due).to_have_text("30 min left")
    forward(visitor, "10:00")
    expect(due).to_have_text("20 min left")
    forward(visitor, "26:00")
    expect(due).to_have_text("5 min overdue")
    expect(due).to_have_class(re.compile("due-overdue"))
    expect(visitor.page.locator(".htmx-request")).to_have_count(0)


def test_the_bell_rings_while_a_page_is_open_and_stops_when_it_is_read(
    visit: Visit, ana: Member, boss: Member, request_: ServiceRequest
) -> None:
    asking, agent = visit(ana, fresh=True), visit(boss)
    asking.page.clock.install()
    asking.open("/forms/")
    asking.page.wait_for_function("window.htmx")
    for number in ("1", "2"):
        agent.open(f"/requests/{request_.id}").page.get_by_label("Your message").fill("Soon")
        agent.page.get_by_role("button", name="Send").click()
        expect(agent.page.locator(".notice-ok")).to_be_visible()
        forward(asking, "00:25")
        expect(asking.page.locator(".bell-count")).to_have_text(number)
    asking.page.locator("#bell").click()
    expect(asking.page.locator(".notification.is-unread")).to_have_count(2)
    asking.page.locator(".notification").first.click()
    expect(asking.page).to_have_url(re.compile(rf"/requests/{request_.id}#event-"))
    expect(asking.page.locator(".bell-count")).to_have_count(0)


def test_the_bell_takes_nobody_away_from_what_they_type(
    visit: Visit, house: House, boss: Member, request_: ServiceRequest
) -> None:
    visitor = visit(boss, fresh=True)
    visitor.page.clock.install()
    words = visitor.open(f"/requests/{request_.id}").page.get_by_label("Your message")
    # The history comes a moment after the page, and nobody may be signed out before.
    expect(visitor.page.locator("#history[hx-get]")).to_have_count(0)
    words.fill("Half a sent")
    with house.owner.transaction() as session:
        session.execute(delete(SignIn).where(SignIn.user_id == boss.user_id))
    with visitor.page.expect_response(re.compile("/notifications/bell")) as told:
        forward(visitor, "00:25")
    assert told.value.status == 204 and told.value.headers["x-signed-out"]
    expect(words).to_have_value("Half a sent")


@BOTH_SIZES
def test_two_agents_are_told_of_each_other(
    visit: Visit, house: House, boss: Member, request_: ServiceRequest, phone: bool
) -> None:
    other = make_user(house.owner, boss.group_id, "manager", name="Olga Other")
    first, second = visit(boss, phone=phone, media=STILL), visit(other)
    for visitor in (first, second):
        visitor.open(f"/requests/{request_.id}")
    second.page.get_by_role("button", name="Wait for an answer").click()
    expect(second.page.locator(".sheet-head .status")).to_have_text("Waiting")
    first.watch.expect("status of 409")
    first.page.get_by_role("button", name="Mark as resolved").click()
    told = first.page.locator(".notice-stop")
    expect(told).to_contain_text("Olga Other changed this in the meantime: Waiting.")
    expect(told).to_be_focused()
    assert look_over(first) == []
    first.page.get_by_role("button", name="Mark as resolved").click()
    expect(first.page.locator(".sheet-head .status")).to_have_text("Resolved")


def test_without_scripts_everything_works(
    visit: Visit, boss: Member, request_: ServiceRequest
) -> None:
    page = visit(boss, java_script_enabled=False).open("/requests/queue").page
    page.locator(".submission-filters summary").click()
    page.get_by_label("Words, number or name").fill("walk-in")
    page.get_by_role("button", name="Show").click()
    page.locator(".queue-title a").click()
    page.get_by_label("Note", exact=True).fill("Seen")
    page.get_by_role("button", name="Save note").click()
    expect(page.locator(".event").last).to_contain_text("Seen")


BROKEN = {
    "en": ("the ice machine in the bar is leaking", "Confirm", "Your request is filed"),
    "es": ("la máquina de hielo de la barra gotea", "Confirmar", "Tu solicitud quedó"),
}


@EACH_ONCE
def test_what_broke_is_reported_in_two_touches_and_the_tray_leads_back_to_what_was_left(
    visit: Visit, house: House, look: str, language: str
) -> None:
    """From the sentence to the number, by a person who has sent one message: it and a button."""
    said, confirm, told = BROKEN[language]
    person = make_user(house.owner, language=language)
    with house.owner.transaction() as session:
        add_starters(session, person.group_id)
    # The built-in assistant answers, as it does where no model can be had.
    house.model.script(scenario(HttpError(401, times=1), when=re.escape(said)))
    visitor = visit(person, **LOOKS[look]).open()
    visitor.ask(said)
    visitor.wait_for_answer()
    page = visitor.page
    tray = page.locator(".resume")
    visitor.open("/chat")
    # A request that waits with its card is one thing, on one line.
    expect(tray).to_have_count(1)
    assert (tray.bounding_box() or {"height": 999})["height"] <= 60
    assert look_over(visitor) == []
    tray.get_by_role("link").click()
    page.locator(".part").get_by_role("button", name=confirm, exact=True).click()
    expect(page.locator("#messages")).to_contain_text(told)
    visitor.open("/chat")
    expect(tray).to_have_count(0)
