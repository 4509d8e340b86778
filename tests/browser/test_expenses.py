"""The ledger in a real browser: adding, correcting in place, narrowing, receipts, no scripts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Route, expect
from sqlalchemy import select

from app.skills.expenses.models import Expense
from tests.assistant.processes import free_port
from tests.browser.axe import findings
from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House, address, wait_for_web
from tests.browser.interception import Interception, lose
from tests.browser.looks import BOTH_SIZES, EACH_ONCE, LOOKS, STILL, TOO_WIDE, too_small
from tests.factories import Member, make_user
from tests.factories.expenses import a_day, make_expense
from tests.model_server import Say, scenario

LOST = r"ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to load resource"


@pytest.fixture
def boss(house: House) -> Member:
    """A manager of a house of their own, in which nobody else's tests look."""
    return make_user(house.owner, role="admin", name="Ada Boss")


def log(house: House, member: Member, item: str, **facts: object) -> Expense:
    return make_expense(house.app.extensions["comanda"].database, member, item, **facts)


def kept(house: House, member: Member) -> list[Expense]:
    with house.owner.session() as session:
        query = select(Expense).where(Expense.group_id == member.group_id).order_by(Expense.id)
        return list(session.scalars(query))


def photo(folder: Path) -> Path:
    file = folder / "till.jpg"
    Image.new("RGB", (600, 900), "white").save(file)
    return file


def look_over(visitor: Visitor) -> None:
    """Axe is content, all fits the window, and on a phone a thumb hits it."""
    expect(visitor.page.locator("#history[hx-get]")).to_have_count(0)
    assert findings(visitor.page) == []
    assert visitor.evaluate(TOO_WIDE) == []
    if visitor.evaluate("innerWidth < 500"):
        small = [each for each in too_small(visitor.page) if "visually-hidden" not in each]
        assert small == []


@BOTH_SIZES
def test_an_expense_is_added_once_however_often_the_button_is_pressed(
    visit: Visit, house: House, boss: Member, phone: bool
) -> None:
    visitor = visit(boss, phone=phone, media=STILL).open("/expenses")
    look_over(visitor)
    page = visitor.page
    page.get_by_role("link", name="Add an expense").click()
    look_over(visitor)
    page.get_by_label("What was it for?").fill("Taxi to the market")
    page.get_by_label("How much?").fill("twelve")
    visitor.watch.expect("status of 422")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_label("How much?")).to_be_focused()
    expect(page.get_by_label("What was it for?")).to_have_value("Taxi to the market")
    look_over(visitor)
    page.get_by_label("How much?").fill("1.234,50")
    page.get_by_role("button", name="Add", exact=True).dblclick()
    expect(page.locator(".notice-ok")).to_contain_text("Added: Taxi to the market $1,234.50.")
    look_over(visitor)
    assert [str(each.amount) for each in kept(house, boss)] == ["1234.50"]


@BOTH_SIZES
def test_a_row_is_corrected_where_it_stands_and_the_sums_follow(
    visit: Visit, house: House, boss: Member, phone: bool
) -> None:
    log(house, boss, "Taxi", amount=12)
    log(house, boss, "Rent", amount=900, category="fees")
    visitor = visit(boss, phone=phone, media=STILL).open("/expenses")
    visitor.watch.expect("status of 422")
    page = visitor.page
    page.get_by_role("link", name="Edit: Taxi").press("Enter")
    form = page.get_by_role("form", name="Edit: Taxi")
    expect(form.get_by_label("What was it for?")).to_be_focused()
    look_over(visitor)
    form.get_by_role("link", name="Cancel").press("Enter")
    expect(page.get_by_role("link", name="Edit: Taxi")).to_be_focused()
    page.get_by_role("link", name="Edit: Taxi").press("Enter")
    form.get_by_label("How much?").fill("0")
    page.keyboard.press("Enter")
    expect(form.locator(".field-error").first).to_contain_text("more than zero")
    expect(form.get_by_label("How much?")).to_be_focused()
    form.get_by_label("How much?").fill("20")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Edit: Taxi")).to_be_focused()
    expect(page.locator(".sums-total")).to_have_text("$920.00")
    assert visitor.path == "/expenses"
    look_over(visitor)


def test_who_saves_a_row_that_is_gone_is_told_so(visit: Visit, house: House, boss: Member) -> None:
    for number in range(12):
        log(house, boss, f"Soap {number}")
    log(house, boss, "Taxi", amount=12, date=a_day("2026-01-01"))
    visitor = visit(boss, media=STILL).open("/expenses")
    visitor.watch.expect("status of 404")
    other = visitor.another_tab("/expenses")
    visitor.page.get_by_role("link", name="Edit: Taxi").click()
    expect(visitor.page.get_by_role("form", name="Edit: Taxi")).to_be_visible()
    other.page.get_by_role("button", name="Delete: Taxi").click()
    expect(other.page.get_by_role("button", name="Undo")).to_be_visible()
    visitor.page.get_by_label("How much?").fill("15")
    visitor.page.get_by_role("button", name="Save").click()
    told = visitor.page.locator("#ledger-told")
    expect(told).not_to_be_empty()
    expect(told).to_be_in_viewport()
    expect(visitor.page.get_by_label("How much?")).to_have_value("15")


def test_who_comes_late_sees_what_is_there_now_and_keeps_what_was_typed(
    visit: Visit, house: House, boss: Member
) -> None:
    log(house, boss, "Taxi", amount=12)
    visitor = visit(boss, phone=True, media=STILL).open("/expenses")
    visitor.watch.expect("status of 409")
    other = visitor.another_tab("/expenses")
    for page in (visitor.page, other.page):
        page.get_by_role("link", name="Edit: Taxi").click()
        expect(page.get_by_role("form")).to_be_visible()
    other.page.get_by_label("How much?").fill("15")
    other.page.get_by_role("button", name="Save").click()
    expect(other.page.locator(".sums-total")).to_have_text("$15.00")
    visitor.page.get_by_label("What was it for?").fill("Cab")
    visitor.page.get_by_role("button", name="Save").click()
    clash = visitor.page.get_by_role("form").get_by_role("alert")
    expect(clash).to_contain_text("Taxi · $15.00")
    expect(clash).to_be_focused()
    expect(visitor.page.get_by_label("What was it for?")).to_have_value("Cab")
    look_over(visitor)
    visitor.page.get_by_role("button", name="Save").click()
    expect(visitor.page.locator(".expense-item")).to_have_text("Cab")


@BOTH_SIZES
def test_what_is_deleted_is_taken_back_by_one_button(
    visit: Visit, house: House, boss: Member, phone: bool
) -> None:
    log(house, boss, "Taxi", amount=12)
    log(house, boss, "Rent", amount=900)
    visitor = visit(boss, phone=phone, media=STILL).open("/expenses")
    page = visitor.page
    page.get_by_role("button", name="Delete: Taxi").press("Enter")
    undo = page.get_by_role("button", name=re.compile("Undo.*Taxi"))
    expect(undo).to_be_focused()
    expect(page.locator(".sums-total")).to_have_text("$900.00")
    look_over(visitor)
    undo.press("Enter")
    expect(page.get_by_role("link", name="Edit: Taxi")).to_be_focused()
    expect(page.locator(".sums-total")).to_have_text("$912.00")
    page.get_by_role("button", name="Delete: Rent").click()
    expect(page.locator(".is-gone")).to_be_visible()
    visitor.open("/expenses/deleted")
    look_over(visitor)
    page.get_by_role("button", name=re.compile("Restore.*Rent")).click()
    expect(page.locator(".notice-ok")).to_contain_text("Restored: Rent $900.00.")


@EACH_ONCE
def test_the_list_is_narrowed_without_leaving_it(
    visit: Visit, house: House, look: str, language: str
) -> None:
    person = make_user(house.owner, role="manager", language=language)
    log(house, person, "Jalapeños", category="ingredients")
    log(house, person, "Taxi", category="transport", amount=30)
    visitor = visit(person, **LOOKS[look]).open("/expenses")
    page = visitor.page
    page.locator(".submission-filters summary").click()
    look_over(visitor)
    page.locator("#f-by-q").press_sequentially("jala")
    expect(page.locator(".expense-item")).to_have_text(["Jalapeños"])
    expect(page.locator("#f-by-q")).to_be_focused()
    assert "q=jala" in visitor.path
    expect(page.locator("#announcer")).to_contain_text(re.compile("1 (expense|gasto)"))
    page.locator("#f-by-q").fill("")
    page.locator("#f-by-start").fill("2020-01-01")
    page.locator("#f-by-range").fill("el mes pasado" if language == "es" else "last month")
    page.locator("#f-by-range").press("Enter")
    expect(page.locator(".empty")).to_be_visible()
    expect(page.locator("#f-by-start")).to_have_value("")
    look_over(visitor)
    page.locator(".quick a").nth(3).click()
    expect(page.locator(".quick [aria-current]")).to_have_text(
        "este mes" if language == "es" else "this month"
    )
    expect(page.locator(".expense-item")).to_have_count(2)
    if page.locator(".charts-switch").is_visible():
        page.locator(".charts-switch").click()
    page.locator(".numbers summary").first.click()
    expect(page.locator(".numbers table").first).to_be_visible()
    look_over(visitor)


def test_a_receipt_is_sent_again_when_the_connection_was_lost(
    visit: Visit, house: House, boss: Member, tmp_path: Path
) -> None:
    visitor = visit(boss, phone=True, media=STILL, fresh=True).open("/expenses/new")
    visitor.watch.expect(LOST)
    page = visitor.page
    outage = Interception(page, "**/files", lose)
    page.locator("input[type=file]").last.set_input_files(photo(tmp_path))
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_visible(timeout=60 * SECONDS)
    outage.end()
    again.click()
    expect(page.locator(".upload:not(.upload-waiting)")).to_have_count(1)
    look_over(visitor)
    page.get_by_label("What was it for?").fill("Fish")
    page.get_by_label("How much?").fill("30")
    page.get_by_role("button", name="Add", exact=True).click()
    picture = page.locator(".expense-receipt img")
    expect(picture).to_be_visible()
    assert picture.evaluate("(img) => img.decode().then(() => img.naturalWidth)") > 100
    [expense] = kept(house, boss)
    page.get_by_role("link", name="Edit: Fish").click()
    page.get_by_label("Remove till.jpg").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="Edit: Fish")).to_be_focused()
    expect(page.locator(".expense-receipt img")).to_have_count(0)
    assert expense.file_id and kept(house, boss)[0].file_id is None


def test_a_photo_fills_in_what_is_empty_and_says_so(
    visit: Visit, house: House, boss: Member, tmp_path: Path
) -> None:
    said = {"item": "Fish market", "amount": 30.5, "currency": "USD", "date": "2026-11-02"}
    house.model.script(scenario(Say(json.dumps(said)), when="photo of a receipt"))
    port = free_port()
    web = house.launch_web(port, AI_VISION_MODEL="eyes")
    try:
        wait_for_web(web, port)
        visitor = visit(boss, phone=True, media=STILL, url=address(port)).open("/expenses/new")
        page = visitor.page
        page.get_by_label("What was it for?").fill("My own words")
        page.locator("input[type=file]").last.set_input_files(photo(tmp_path))
        expect(page.get_by_label("How much?")).to_have_value("30.50")
        expect(page.get_by_label("Date")).to_have_value("2026-11-02")
        expect(page.get_by_label("What was it for?")).to_have_value("My own words")
        expect(page.locator(".read-mark")).to_have_count(2)
        expect(page.locator("[data-reading-told]")).to_contain_text("Please check it.")
        look_over(visitor)
    finally:
        web.kill()


def test_a_reading_that_does_not_come_leaves_the_form_as_it_is(
    visit: Visit, house: House, boss: Member, tmp_path: Path
) -> None:
    port = free_port()
    web = house.launch_web(port, AI_VISION_MODEL="eyes")
    try:
        wait_for_web(web, port)
        visitor = visit(boss, url=address(port), fresh=True).open("/expenses/new")
        visitor.watch.expect(LOST)

        def fail(route: Route) -> None:
            route.abort()

        visitor.page.route("**/receipt-readings", fail)
        visitor.page.locator("input[type=file]").last.set_input_files(photo(tmp_path))
        told = visitor.page.locator("[data-reading-told]")
        expect(told).to_contain_text("could not be read")
        expect(visitor.page.get_by_label("How much?")).to_have_value("")
    finally:
        web.kill()


@BOTH_SIZES
def test_without_scripts_all_of_it_works_too(
    visit: Visit, house: House, boss: Member, tmp_path: Path, phone: bool
) -> None:
    visitor = visit(boss, phone=phone, java_script_enabled=False).open("/expenses/new")
    page = visitor.page
    page.get_by_label("What was it for?").fill("Fish")
    page.get_by_label("How much?").fill("30")
    page.locator("input[type=file]").last.set_input_files(photo(tmp_path))
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".expense-receipt img")).to_be_visible()
    page.locator(".submission-filters summary").click()
    page.get_by_label("Words").fill("fish")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("link", name="Edit: Fish").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit: Fish")
    page.get_by_label("How much?").fill("31")
    page.get_by_label("Keep till.jpg").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice-ok")).to_contain_text("Saved: Fish $31.00.")
    assert "q=fish" in visitor.path
    expect(page.locator(".expense-receipt img")).to_have_count(0)
    page.get_by_role("button", name="Delete: Fish").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".expense-item")).to_have_text("Fish")
    if phone:
        page.get_by_text("Charts").click()
    expect(page.locator(".charts figure").first).to_be_visible()


@EACH_ONCE
def test_an_admin_names_moves_and_adds_categories(
    visit: Visit, house: House, look: str, language: str
) -> None:
    admin = make_user(house.owner, role="admin", language=language)
    visitor = visit(admin, **LOOKS[look]).open("/expenses/settings")
    page = visitor.page
    look_over(visitor)
    page.locator("#down-ingredients").press("Enter")
    expect(page.locator("#down-ingredients")).to_be_focused()
    expect(page.locator("[id^=f-name-]").nth(2)).to_have_value("Ingredients")
    page.locator("button[value=add]").click()
    expect(page.locator("#f-name-new-1")).to_be_focused()
    page.keyboard.type("Live music")
    look_over(visitor)
    save = page.locator(".builder-save .button-primary")
    # "Not saved yet" stands where it will say that it is.
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        save.click()
    expect(page.locator(".builder-told")).to_contain_text(re.compile("saved|guardados"))
    expect(save).to_be_focused()
    visitor.open("/expenses/new")
    expect(page.locator("select[id$=-category] option").last).to_have_text("Live music")
