"""Filling in a form in a real browser: saved while one types, also where the server is away."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from app.skills.forms.models import FormTemplate
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, EACH_ONCE, LOOKS, STILL, look_over
from tests.factories import Member, make_contact, make_user
from tests.skills.forms.filling import (
    EVERY_TYPE,
    SHORT,
    drafts_of,
    make_template,
    submissions_of,
)


@pytest.fixture
def member(house: House) -> Member:
    """A house of their own, in which nobody else's tests look."""
    return make_user(house.owner, name="Ana Núñez")


@pytest.fixture
def template(house: House, member: Member) -> FormTemplate:
    return make_template(house.owner, member.group_id, SHORT, slug="report")


def told(page: Page) -> Any:
    return expect(page.locator("#save-told"))


@BOTH_SIZES
def test_a_form_is_filled_in_saved_while_one_types_and_sent(
    visit: Visit, house: House, member: Member, template: FormTemplate, phone: bool
) -> None:
    make_contact(house.owner, member.group_id, "John Carter")
    make_contact(house.owner, member.group_id, "John Doe")
    visitor = visit(member, phone=phone, media=STILL).open("/forms/")
    visitor.watch.expect("status of 422")
    page = visitor.page
    page.get_by_role("link", name="Incident report").click()
    page.wait_for_url("**/forms/report", wait_until="load")
    page.get_by_label("Who").press_sequentially("joh")
    page.locator("#people-who").get_by_role("button", name="John Carter").click()
    expect(page.get_by_label("Who")).to_have_value("John Carter")
    told(page).to_have_text(re.compile("Saved"))
    expect(page).to_have_url(re.compile("/forms/drafts/"))
    expect(page.get_by_label("Body part")).to_have_count(0)
    page.get_by_label("Somebody is hurt").check()
    expect(page.get_by_label("Body part")).to_be_visible()
    page.get_by_role("button", name="Send the form").click()
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text("2 fields need another look.")
    summary.get_by_role("link", name="Body part").click()
    expect(page.get_by_label("Body part")).to_be_focused()
    page.keyboard.type("Left hand")
    page.get_by_label("What happened").fill("Cut on the slicer")
    page.get_by_role("button", name="Send the form").click()
    [sent] = submissions_of(house.owner, member)
    expect(page.get_by_role("status").first).to_contain_text(sent.reference)
    assert sent.values["who"]["name"] == "John Carter"
    assert sent.values["body_part"] == "Left hand"
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as PDF").click()
    assert download.value.suggested_filename == f"{sent.reference}.pdf"


def test_what_is_typed_without_a_connection_is_kept_and_saved_when_it_is_back(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member, phone=True).open("/forms/report")
    visitor.watch.expect("ERR_INTERNET_DISCONNECTED", "Failed to fetch")
    page = visitor.page
    page.get_by_label("What happened").fill("First")
    told(page).to_have_text(re.compile("Saved"))
    page.context.set_offline(True)
    page.get_by_label("What happened").fill("Second")
    told(page).to_contain_text("Not saved yet: no connection.")
    page.context.set_offline(False)
    told(page).to_have_text(re.compile("Saved"))
    assert drafts_of(house.owner, member)[0].typed == {"what": "Second"}
    # And where the page is gone meanwhile, too.
    page.context.set_offline(True)
    page.get_by_label("What happened").fill("Third")
    told(page).to_contain_text("Not saved yet")
    address = visitor.path
    page.goto("about:blank")
    page.context.set_offline(False)
    visitor.open(address)
    expect(page.get_by_label("What happened")).to_have_value("Third")
    told(page).to_have_text(re.compile("Saved"))
    assert drafts_of(house.owner, member)[0].typed == {"what": "Third"}
    assert visitor.evaluate("Object.keys(localStorage).length") == 0


def test_two_tabs_without_a_connection_keep_what_each_of_them_has(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member, fresh=True).open("/forms/report")
    visitor.watch.expect("ERR_INTERNET_DISCONNECTED", "Failed to fetch")
    page = visitor.page
    page.get_by_label("What happened").fill("First")
    told(page).to_have_text(re.compile("Saved"))
    address = visitor.path
    other = visitor.another_tab().page
    page.context.set_offline(True)
    page.get_by_label("What happened").fill("Second")
    told(page).to_contain_text("Not saved yet")
    other.get_by_label("Who").fill("Ann")
    told(other).to_contain_text("Not saved yet")
    for tab in (page, other):
        tab.goto("about:blank")
    page.context.set_offline(False)
    visitor.open(address)
    expect(page.get_by_label("What happened")).to_have_value("Second")
    expect(page.get_by_label("Who")).to_have_value("Ann")
    told(page).to_have_text(re.compile("Saved"))
    typed = drafts_of(house.owner, member)[0].typed
    assert (typed["what"], typed["who"]["name"]) == ("Second", "Ann")
    assert visitor.evaluate("Object.keys(localStorage).length") == 0


def test_saved_is_not_said_of_what_is_still_waiting(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member, fresh=True).open("/forms/report")
    page = visitor.page
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        held.append(route)

    page.route("**/forms/drafts/*", hold_first)
    page.get_by_label("What happened").fill("First")
    told(page).to_have_text(re.compile("Saving"))
    page.wait_for_timeout(800)
    page.get_by_label("Who").fill("Ann")
    said = page.evaluate_handle(
        """() => {
            const said = [];
            const note = () => said.push(document.querySelector("#save-told").textContent.trim());
            new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
            return said;
        }"""
    )
    held[0].continue_()
    told(page).to_have_text(re.compile("Saved"))
    assert drafts_of(house.owner, member)[0].typed == {"what": "First", "who": {"name": "Ann"}}
    assert set(said.json_value()) == {"Saving…", "Saved"}


def test_what_is_thrown_away_while_one_types_stays_so(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member).open("/forms/report")
    page = visitor.page
    page.get_by_label("What happened").fill("First")
    told(page).to_have_text(re.compile("Saved"))
    page.reload()
    told(page).to_have_text(re.compile("Saved"))
    saves: list[str] = []
    page.on("request", lambda sent: saves.append(sent.url) if sent.method == "POST" else None)
    page.get_by_label("What happened").press_sequentially(" and more")
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_text("Form discarded.")).to_be_visible()
    page.wait_for_timeout(1000)
    assert [each.rsplit("/", 1)[1] for each in saves] == ["discard"]
    assert drafts_of(house.owner, member)[0].status == "discarded"


def test_two_tabs_tell_each_other_and_enter_sends_nothing(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member).open("/forms/report")
    page = visitor.page
    page.get_by_label("Who").fill("Ann")
    page.get_by_label("Who").press("Enter")
    told(page).to_have_text(re.compile("Saved"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Incident report")
    other = visitor.another_tab().page
    other.get_by_label("Who").fill("Ann Lee")
    told(other).to_have_text(re.compile("Saved"))
    page.get_by_label("What happened").fill("Nothing much")
    expect(page.locator("#save-status")).to_contain_text("shown here now: Who.")
    expect(page.get_by_label("Who")).to_have_value("Ann Lee")
    expect(page.get_by_label("What happened")).to_be_focused()
    expect(page.get_by_label("What happened")).to_have_value("Nothing much")
    assert submissions_of(house.owner, member) == []
    # It comes back as a banner in the chat, and can be thrown away and brought back.
    visitor.open("/chat")
    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_label("Who")).to_have_value("Ann Lee")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_label("Who")).to_have_value("Ann Lee")


@BOTH_SIZES
def test_without_scripts_a_form_is_filled_in_and_sent(
    visit: Visit, house: House, member: Member, template: FormTemplate, phone: bool
) -> None:
    visitor = visit(member, phone=phone, java_script_enabled=False).open("/forms/report")
    visitor.watch.expect("status of 422")
    page = visitor.page
    page.get_by_label("Somebody is hurt").check()
    page.get_by_role("button", name="Save for later").click()
    told(page).to_have_text(re.compile("Saved"))
    page.get_by_label("Body part").fill("Left hand")
    page.get_by_label("Who").fill("Somebody New")
    page.get_by_role("button", name="Send the form").click()
    expect(page.get_by_role("alert")).to_contain_text("1 field needs another look.")
    expect(page.get_by_label("Body part")).to_have_value("Left hand")
    page.get_by_label("What happened").fill("A cut")
    page.get_by_role("button", name="Send the form").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Incident report")
    [sent] = submissions_of(house.owner, member)
    expect(page.get_by_text(f"Its number is {sent.reference}.")).to_be_visible()


@EACH_ONCE
def test_every_page_of_forms_fits_is_hit_by_thumbs_and_axe_finds_nothing(
    visit: Visit, house: House, look: str, language: str
) -> None:
    boss = make_user(house.owner, role="manager", language=language, name="Max Boss")
    every = make_template(house.owner, boss.group_id, EVERY_TYPE, slug="every")
    make_template(house.owner, boss.group_id, SHORT, slug="report")
    visitor = visit(boss, **LOOKS[look])
    visitor.watch.expect("status of 422")
    page = visitor.page
    wrong: dict[str, list[str]] = {"new form": look_at(visitor.open(f"/forms/{every.slug}"))}
    page.locator("#v-number").fill("warm")
    told(page).to_have_text(re.compile("Saved|Guardado"))
    expect(page.locator("#notes-number .field-error")).to_be_visible()
    wrong["wrong value"] = look_at(visitor)
    wrong["list"] = look_at(visitor.open("/forms/"))
    wrong["chat"] = look_at(visitor.open("/chat"))
    visitor.open("/forms/report")
    page.get_by_role("button", name=re.compile("Send the form|Enviar")).click()
    expect(page.get_by_role("alert")).to_be_focused()
    wrong["summary"] = look_at(visitor)
    page.locator("#v-who").fill("Ana Núñez")
    page.locator("#v-what").fill("One line\n" * 30)
    page.get_by_role("button", name=re.compile("Send the form|Enviar")).click()
    expect(page.locator(".sheet")).to_be_visible()
    wrong["sheet"] = look_at(visitor)
    wrong["sent"] = look_at(visitor.open("/forms/submissions/?q=F-"))
    assert {name: problems for name, problems in wrong.items() if problems} == {}


# Words of buttons that end in dots because they do not fit, be it by half a pixel.
CUT = """() => [...document.querySelectorAll(".ask-bar span")].filter((element) => {
  const words = document.createRange();
  words.selectNodeContents(element);
  const [needed, given] = [words, element].map((each) => each.getBoundingClientRect().width);
  return given && needed > given + 0.1;
}).map((element) => `cut: ${element.textContent}`)"""


def look_at(visitor: Visitor) -> list[str]:
    return [*look_over(visitor), *visitor.evaluate(CUT)]
