"""What was typed into a form outlives the end of its sign-in, and is gone once it has arrived."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import func, select

from app.assistant.feedback.feedback import load_reply, rate_reply
from app.assistant.models import Prompt
from app.assistant.threads.threads import latest_messages
from app.skills.expenses.models import Expense
from app.skills.forms.models import Contact
from app.skills.service_requests.models import RequestUpdate
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.factories import Member, make_contact, make_thread, make_user
from tests.factories.expenses import make_expense
from tests.factories.service_requests import make_request, make_team, make_type

# Where, what is typed into which fields, and which form of the page that is.
PLACES: dict[str, tuple[str, dict[str, str], str]] = {
    "reply": ("/requests/{request}", {"#f-reply": "A fan comes at 3."}, "/replies"),
    "note": ("/requests/{request}", {"#f-note": "An old compressor."}, "/notes"),
    "expense": (
        "/expenses/new",
        {"[name=item]": "Limes", "[name=amount]": "30", "[name=note]": "For the party."},
        "/expenses/new",
    ),
    "contact": ("/admin/contacts/{contact}", {"#f-job": "Sous chef"}, "{contact}"),
    "new contact": ("/admin/contacts/new", {"#f-name": "José Núñez"}, "/new"),
    "sentence": (
        "/admin/prompts/sentences/",
        {"#f-message": "What is in the Paloma?", "#f-contains": "lime"},
        "/sentences/",
    ),
    "prompt": ("/admin/prompts/{prompt}", {"#f-prompt_en": "You are a parrot."}, "{prompt}"),
    "new prompt": (
        "/admin/prompts/new",
        {"#f-slug": "my-dishes", "#f-prompt_en": "A page\nof work."},
        "/prompts/new",
    ),
    "request type": ("/admin/requests/", {"#f-name_en": "A broken fan"}, "/admin/requests/"),
    "feedback sentence": (
        "/admin/feedback",
        {"[name=text]": "What is in the Paloma?", "[name=phrases]": "lime\nsalt"},
        "/sentence?state=open&rating=&reason=",
    ),
    "team": ("/admin/requests/teams/", {"#f-name_en": "Those who mend things"}, "/teams/"),
}

UNFOLDS = {
    "sentence": "What is expected",
    "feedback sentence": "Write a test sentence",
    "request type": "Add a type or a category",
}


@pytest.fixture
def boss(house: House) -> Member:
    """The admin of a house of their own."""
    return make_user(house.owner, role="admin", name="Max Boss")


@pytest.fixture
def ids(house: House, boss: Member) -> dict[str, str]:
    ana = make_user(house.owner, boss.group_id, name="Ana Asks")
    team = make_team(house.owner, boss.group_id, [boss])
    kind = make_type(house.owner, boss.group_id)
    asked = make_request(house.owner, ana, "The walk-in is warm", team_id=team, type_id=kind.id)
    contact = make_contact(house.owner, boss.group_id, "Ann Lee", job="Cook")
    with house.owner.session() as session:
        of_group = (Prompt.group_id == boss.group_id, Prompt.slug == "base-persona")
        prompt = session.scalars(select(Prompt.id).where(*of_group)).one()
    return {"request": str(asked.id), "contact": str(contact.id), "prompt": str(prompt)}


@pytest.fixture
def said(house: House, boss: Member) -> None:
    """Feedback on an answer, which is not shared."""
    database = house.app.extensions["comanda"].database
    thread_id = make_thread(database, boss)
    with database.transaction(boss.scope) as session:
        reply = latest_messages(session, thread_id)[-1]
        own = load_reply(session, thread_id, reply.id)
        rate_reply(session, own, "down", "wrong", "", share=False)


def send(page: Page, form: str) -> None:
    page.locator(f"form[action$='{form}'] button[type=submit]").click()


def expect_done(page: Page) -> None:
    expect(page.locator("[data-done]")).to_be_visible()
    # What is kept is forgotten by a script of that page.
    page.wait_for_load_state()


def values(page: Page, typed: dict[str, str]) -> dict[str, Any]:
    return {field: page.locator(field).input_value() for field in typed}


# One form of each kind: short, in a row, of an editor, folded. The others are in `make soak`.
KINDS = {"reply", "expense", "prompt", "request type"}


@pytest.mark.parametrize(
    "place",
    [pytest.param(each, marks=[] if each in KINDS else pytest.mark.soak) for each in PLACES],
)
def test_what_was_typed_outlives_the_sign_in_and_is_gone_once_it_has_arrived(
    request: pytest.FixtureRequest,
    visit: Visit,
    house: House,
    boss: Member,
    ids: dict[str, str],
    place: str,
) -> None:
    if place == "feedback sentence":
        request.getfixturevalue("said")
    path, typed, form = PLACES[place]
    path, form = path.format(**ids), form.format(**ids)
    visitor = visit(boss, fresh=True).open(path)
    page = visitor.page
    before = values(page, typed)
    if place == "team" and not page.locator("#f-name_en").is_visible():
        page.locator("summary", has_text="Add a team").click()
    if place in UNFOLDS:
        page.locator("summary", has_text=UNFOLDS[place]).click()
    for field, words in typed.items():
        page.locator(field).fill(words)
    page.wait_for_timeout(500)
    page.context.clear_cookies(name="comanda")
    send(page, form)
    expect(page.locator("h1")).to_have_text("Sign in")
    come_back(visitor, house, boss, path)
    expect(page.locator("#brought-back")).to_be_visible()
    assert values(page, typed) == typed
    for field in typed:
        expect(page.locator(field)).to_be_visible()
    send(page, form)
    expect_done(page)
    if place in ("contact", "prompt"):
        before = typed
    visitor.open(path)
    expect(page.locator("#brought-back")).to_be_hidden()
    assert values(page, typed) == before
    assert visitor.watch.dialogs == []


def come_back(visitor: Visitor, house: House, member: Member, path: str) -> None:
    cookie = {"name": "comanda", "value": house.session_cookie(member), "url": house.url}
    visitor.page.context.add_cookies([cookie])
    visitor.open(path)


def test_two_forms_of_a_page_are_kept_apart_and_thrown_away_together(
    visit: Visit, boss: Member, ids: dict[str, str]
) -> None:
    visitor = visit(boss, fresh=True).open(f"/requests/{ids['request']}")
    page = visitor.page
    page.locator("#f-note").fill("An old compressor.")
    page.locator("#f-reply").fill("A fan comes at 3.")
    page.wait_for_timeout(500)
    send(page, "/replies")
    expect(page.locator("[data-done]")).to_have_text("Sent.")
    expect(page.locator("#f-reply")).to_have_value("")
    expect(page.locator("#f-note")).to_have_value("An old compressor.")
    page.locator("#forget-typed").click()
    expect(page.locator("#f-note")).to_have_value("")
    visitor.open(f"/requests/{ids['request']}")
    expect(page.locator("#brought-back")).to_be_hidden()


def test_what_was_refused_stays_where_it_is_kept(
    visit: Visit, boss: Member, ids: dict[str, str]
) -> None:
    path = f"/admin/contacts/{ids['contact']}"
    visitor = visit(boss, fresh=True).open(path)
    page = visitor.page
    page.locator("#f-job").fill("Sous chef")
    page.locator("#f-email").fill("nobody")
    visitor.watch.expect("status of 422")
    send(page, ids["contact"])
    expect(page.locator(".field-error")).to_be_visible()
    visitor.open(path)
    expect(page.locator("#brought-back")).to_be_visible()
    expect(page.locator("#f-job")).to_have_value("Sous chef")


def test_rows_that_were_added_come_back_with_what_was_typed_into_them(
    visit: Visit, house: House, boss: Member
) -> None:
    path = "/library/edit/products/new/recipes"
    visitor = visit(boss, fresh=True).open(path)
    page = visitor.page
    page.locator("[name=name_en]").fill("Soup")
    page.locator("[name=step_en]").first.fill("Step 1")
    page.get_by_role("button", name="More rows").click()
    expect(page.locator("[name=step_en]")).to_have_count(4)
    steps = [f"Step {number}" for number in range(1, 5)]
    for place, words in enumerate(steps):
        page.locator("[name=step_en]").nth(place).fill(words)
    page.locator("[name=tag]").last.fill("warm")
    page.wait_for_timeout(500)
    page.context.clear_cookies(name="comanda")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Sign in")
    come_back(visitor, house, boss, path)
    expect(page.locator("#brought-back")).to_be_visible()
    assert filled(page, "step_en") == steps
    assert filled(page, "tag") == ["warm"]
    expect(page.get_by_label("Step 4 in English")).to_have_value("Step 4")
    # One more letter cuts nothing of what is kept.
    page.locator("[name=name_en]").fill("Soup of the day")
    page.wait_for_timeout(500)
    again = page.context.new_page()
    again.goto(page.url)
    expect(again.locator("#brought-back")).to_be_visible()
    assert filled(again, "step_en") == steps
    again.locator("#forget-typed").click()
    expect(again.locator("[name=step_en]")).to_have_count(3)
    assert filled(again, "step_en") == []


def filled(page: Page, name: str) -> list[str]:
    found = page.locator(f"[name={name}]").evaluate_all("all => all.map((one) => one.value)")
    return [each for each in found if each]


def test_what_has_no_field_any_more_is_still_kept(visit: Visit, boss: Member) -> None:
    visitor = visit(boss, fresh=True).open("/admin/contacts/new")
    page = visitor.page
    page.locator("#f-name").fill("Ann Lee")
    page.wait_for_timeout(500)
    kept = "Object.keys(localStorage).find((name) => name.endsWith(':contact:new'))"
    page.evaluate(
        f"""() => {{
            const kept = JSON.parse(localStorage[{kept}]);
            kept.words.push(["shift", "An hour of work"]);
            localStorage.setItem({kept}, JSON.stringify(kept));
        }}"""
    )
    page.context.new_page().goto(page.url)
    other = page.context.pages[-1]
    other.locator("#f-name").fill("Ann Lee Smith")
    other.wait_for_timeout(500)
    assert "An hour of work" in other.evaluate(f"localStorage[{kept}]")


def test_an_old_draft_without_keys_is_brought_back(visit: Visit, boss: Member) -> None:
    """Words that were kept before keys were kept with them."""
    visitor = visit(boss, fresh=True).open("/admin/contacts/new")
    page = visitor.page
    page.locator("#f-name").fill("Ann Lee")
    page.wait_for_timeout(500)
    kept = "Object.keys(localStorage).find((name) => name.endsWith(':contact:new'))"
    words = page.evaluate(f"JSON.stringify(JSON.parse(localStorage[{kept}]).words)")
    other = page.context.new_page()
    other.goto(house_page(page))
    page.close()
    other.evaluate(f"(words) => localStorage.setItem({kept}, words)", words)
    other.goto(house_page(other) + "admin/contacts/new")
    expect(other.locator("#f-name")).to_have_value("Ann Lee")


def house_page(page: Page) -> str:
    return "/".join(page.url.split("/")[:3]) + "/"


@pytest.mark.parametrize(
    "place",
    [
        "expense",
        *(pytest.param(each, marks=pytest.mark.soak) for each in ("reply", "note", "new contact")),
    ],
)
def test_what_arrived_though_the_answer_was_lost_is_there_once(
    visit: Visit, house: House, boss: Member, ids: dict[str, str], place: str
) -> None:
    path, typed, form = PLACES[place]
    path, form = path.format(**ids), form.format(**ids)
    visitor = visit(boss, fresh=True).open(path)
    page = visitor.page
    for field, words in typed.items():
        page.locator(field).fill(words)
    lose_answer(visitor, form)
    visitor.open(path)
    expect(page.locator("#brought-back")).to_be_visible()
    assert values(page, typed) == typed
    send(page, form)
    expect_done(page)
    assert times(house, place, boss) == 1
    # The same once more is another one, and so is what differs from what was lost.
    visitor.open(path)
    for field, words in typed.items():
        page.locator(field).fill(words)
    lose_answer(visitor, form)
    visitor.open(path)
    page.locator(next(iter(typed))).fill("Something else")
    send(page, form)
    expect_done(page)
    assert times(house, place, boss) == 3


def lose_answer(visitor: Visitor, form: str) -> None:
    """Send a form; the server takes it, and nothing of its answer comes."""
    page = visitor.page
    visitor.watch.expect("net::ERR_FAILED")

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch(max_redirects=0)
            route.abort()
        else:
            route.continue_()

    cookies = page.context.cookies()
    page.route("**/*", lose)
    with page.expect_event("requestfailed"):
        page.locator(f"form[action$='{form}'] button[type=submit]").click(no_wait_after=True)
    page.unroute("**/*")
    page.context.clear_cookies()
    page.context.add_cookies(cookies)  # type: ignore[arg-type]  # what it has given


TABLES: dict[str, type[Contact] | type[Expense] | type[RequestUpdate]] = {
    "reply": RequestUpdate,
    "note": RequestUpdate,
    "expense": Expense,
    "new contact": Contact,
}


def times(house: House, place: str, boss: Member) -> int:
    table = TABLES[place]
    with house.owner.session() as session:
        query = select(func.count()).select_from(table).where(table.group_id == boss.group_id)
        count = session.scalar(query) or 0
    # One contact was there before.
    return count - (place == "new contact")


def test_a_row_that_is_edited_in_its_place_keeps_what_is_typed_until_it_is_saved_or_closed(
    visit: Visit, house: House, boss: Member
) -> None:
    make_expense(house.app.extensions["comanda"].database, boss, item="Fish")
    visitor = visit(boss, fresh=True)
    page = edit_row(visitor)
    page.locator(".is-open [name=note]").fill("For the party.")
    page.wait_for_timeout(500)
    page = edit_row(visitor)
    expect(page.locator(".is-open [data-brought-back]")).to_be_visible()
    expect(page.locator(".is-open [name=note]")).to_have_value("For the party.")
    page.locator(".is-open").get_by_role("link", name="Cancel").click()
    expect(page.locator(".is-open")).to_have_count(0)
    page = edit_row(visitor)
    expect(page.locator(".is-open [name=note]")).to_have_value("")
    page.locator(".is-open [name=note]").fill("For the staff.")
    page.locator(".is-open").get_by_role("button", name="Save").click()
    expect(page.locator(".is-open")).to_have_count(0)
    page = edit_row(visitor)
    expect(page.locator(".is-open [data-brought-back]")).to_be_hidden()
    expect(page.locator(".is-open [name=note]")).to_have_value("For the staff.")


def edit_row(visitor: Visitor) -> Page:
    page = visitor.open("/expenses").page
    page.locator(".expense-row").get_by_role("link", name="Edit").click()
    expect(page.locator(".is-open [name=note]")).to_be_visible()
    return page
