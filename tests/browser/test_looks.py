"""Light and dark, by choice and by the device, and what the first page weighs."""

from __future__ import annotations

from playwright.sync_api import Page, Response, expect

from app.skills.knowledge.services.imports import receive_file
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import too_small
from tests.factories import make_user

PAPER = {"light": "rgb(251, 248, 242)", "dark": "rgb(23, 21, 18)"}
FIRST_LOAD_BYTES = 150_000


def paper(page: Page) -> str:
    color: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return color


def test_dark_is_chosen_at_once_and_kept(visit: Visit, house: House) -> None:
    person = house.hire()
    page = visit(person, phone=True, media={"color_scheme": "light"}).open().page
    assert paper(page) == PAPER["light"]
    page.locator("#drawer-handle").click()
    with page.expect_response("**/theme"):
        page.get_by_role("button", name="Dark").click()
    assert paper(page) == PAPER["dark"]
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    page.reload()
    assert paper(page) == PAPER["dark"]
    # On another device, too, and before its first paint: without any script.
    elsewhere = visit(person, java_script_enabled=False, color_scheme="light").open("/library/")
    expect(elsewhere.page.locator("html")).to_have_attribute("data-theme", "dark")


def test_without_a_choice_every_page_follows_the_device_and_light_can_be_chosen_on_a_dark_one(
    visit: Visit, house: House
) -> None:
    assert paper(visit(media={"color_scheme": "dark"}).open("/sign-in").page) == PAPER["dark"]
    page = visit(house.hire(), media={"color_scheme": "light"}).open().page
    assert paper(page) == PAPER["light"]
    page.emulate_media(color_scheme="dark")
    assert paper(page) == PAPER["dark"]
    with page.expect_response("**/theme"):
        page.get_by_role("button", name="Light").click()
    assert paper(page) == PAPER["light"]
    page.reload()
    assert paper(page) == PAPER["light"]


def test_the_first_page_weighs_less_than_150_kilobytes(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True, fresh=True)
    responses: list[Response] = []

    def note(response: Response) -> None:
        responses.append(response)

    visitor.page.on("response", note)
    visitor.page.goto(house.url + "/chat", wait_until="networkidle")
    sizes = {response.url.split("?")[0]: len(response.body()) for response in responses}
    assert any(address.endswith("chat.js") for address in sizes)
    assert len(sizes) == len(responses), "something was loaded twice"
    assert sum(sizes.values()) < FIRST_LOAD_BYTES, (sum(sizes.values()), sizes)


def test_nothing_moves_for_those_who_ask_for_stillness(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True, media={"reduced_motion": "reduce"}).open()
    visitor.page.locator("#drawer-handle").click()
    running = "document.getAnimations().filter((one) => one.playState === 'running').length"
    assert visitor.evaluate(running) == 0


def test_an_import_that_is_being_read_has_targets_for_a_thumb(visit: Visit, house: House) -> None:
    manager = make_user(house.owner, role="manager")
    with house.owner.session(manager.scope) as session:
        item, _is_new = receive_file(session, b"# Pay\nOn Fridays.\n", "pay.md", "sop", "en")
    page = visit(manager, phone=True).open(f"/library/imports/{item.id}").page
    expect(page.get_by_role("link", name="Refresh")).to_be_visible()
    assert too_small(page) == []
