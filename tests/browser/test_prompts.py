"""Prompts in web pages: what is edited, switched, restored and tried there, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.assistant.models import Prompt
from tests.browser.axe import findings
from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, STILL, TOO_WIDE, too_small
from tests.browser.scripts import Pause, exactly, told
from tests.factories import Member, make_section, make_user
from tests.model_server import Say, scenario

PROMPTS = "/admin/prompts/"


@pytest.fixture
def admin(house: House) -> Member:
    """The admin of a house of their own, so that nobody else's answers change."""
    return make_user(house.owner, role="admin", name="Ada")


def heeding(word: str) -> Any:
    """A model that says whether its prompt has this word."""
    return [
        scenario(Say("It is right there."), when=lambda call: asks(call) and word in system(call)),
        scenario(Say("It is not there."), when=asks),
    ]


def asks(call: Any) -> bool:
    return bool(call.message == "Is it there?")


def system(call: Any) -> str:
    return str(call.messages[0])


def open_row(visitor: Visitor, slug: str = "base-persona") -> Page:
    visitor.open(PROMPTS).page.get_by_role("link", name=slug, exact=True).click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text(slug)
    return visitor.page


def answer_to(visitor: Visitor, words: str) -> str:
    visitor.open("/chat").ask(words)
    visitor.wait_for_answer()
    return visitor.said()


def test_an_edited_prompt_changes_the_next_turn_and_going_back_brings_it_back(
    visit: Visit, house: House, admin: Member
) -> None:
    house.model.script(*heeding("parrot"))
    visitor = visit(admin, phone=True)
    assert answer_to(visitor, "Is it there?") == "It is not there."
    page = open_row(visitor)
    page.get_by_label("Text in English").fill("You are the parrot of the house.")
    expect(page.locator("#c-prompt_en")).to_have_text("about 8 tokens")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved. It applies from the next message on.")).to_be_visible()
    assert answer_to(visitor, "Is it there?") == "It is right there."
    open_row(visitor)
    page.get_by_role("link", name="History").click()
    expect(page.locator("ins").first).to_contain_text("parrot")
    page.get_by_role("button", name="Go back to version 1").click()
    expect(page.get_by_text("Restored.")).to_be_visible()
    assert answer_to(visitor, "Is it there?") == "It is not there."


def test_a_row_that_is_switched_off_changes_the_routing(
    visit: Visit, house: House, admin: Member
) -> None:
    house.model.script(
        scenario(
            Say("I can look at the wines."),
            when=lambda call: asks(call) and "search_wines" in call.tools,
        ),
        told("Is it there?", "Nobody looks at wines here."),
    )
    visitor = visit(admin)
    assert answer_to(visitor, "Is it there?") == "I can look at the wines."
    page = visitor.open(PROMPTS).page
    page.locator("#switch-domain-wines").click()
    expect(page.get_by_text("domain-wines is off.")).to_be_visible()
    expect(page.locator("#switch-domain-wines")).to_contain_text("Switch on")
    expect(page.locator("#switch-domain-wines")).to_be_focused()
    assert answer_to(visitor, "Is it there?") == "Nobody looks at wines here."
    visitor.open(PROMPTS)
    page.locator("#switch-domain-wines").click()
    expect(page.get_by_text("domain-wines is on.")).to_be_visible()
    assert answer_to(visitor, "Is it there?") == "I can look at the wines."


def test_two_who_save_at_once_both_see_all_that_was_written(
    visit: Visit, house: House, admin: Member
) -> None:
    colleague = make_user(house.owner, admin.group_id, "admin", name="Bo")
    mine, theirs = visit(admin, phone=True, media=STILL), visit(colleague)
    for visitor in (mine, theirs):
        open_row(visitor)
    theirs.page.get_by_label("Text in English").fill("What Bo wrote.")
    theirs.page.get_by_role("button", name="Save", exact=True).click()
    expect(theirs.page.get_by_text("Saved.")).to_be_visible()
    mine.watch.expect("status of 409")
    mine.page.get_by_label("Text in English").fill("What Ada wrote.")
    mine.page.get_by_label("Text in Spanish").fill("Lo que escribió Ada.")
    mine.page.get_by_role("button", name="Save", exact=True).click()
    expect(mine.page.get_by_role("heading", level=1)).to_have_text("Somebody else saved first")
    expect(mine.page.locator("main")).to_contain_text("Bo changed base-persona")
    expect(mine.page.get_by_label("Text in English")).to_have_value("What Ada wrote.")
    expect(mine.page.get_by_label("Text in Spanish")).to_have_value("Lo que escribió Ada.")
    expect(mine.page.locator("[data-text=theirs]").first).to_have_text("What Bo wrote.")
    assert findings(mine.page) == []
    assert mine.evaluate(TOO_WIDE) == []
    mine.page.get_by_label("Text in English").fill("What Bo and Ada wrote.")
    mine.page.get_by_role("button", name="Save what is in the fields").click()
    expect(mine.page.get_by_label("Text in English")).to_have_value("What Bo and Ada wrote.")


@BOTH_SIZES
def test_an_unsaved_text_is_tried_beside_the_saved_one(
    visit: Visit, house: House, admin: Member, phone: bool
) -> None:
    house.model.script(*heeding("parrot"))
    visitor = visit(admin, phone=phone, media=STILL)
    page = open_row(visitor)
    page.get_by_label("Text in English").fill("You are the parrot of the house.")
    page.get_by_label("A message").fill("Is it there?")
    page.get_by_role("button", name="Try this message").click()
    live, draft = page.locator("[data-side=live] .said"), page.locator("[data-side=draft] .said")
    expect(live).to_have_text("It is not there.", timeout=30 * SECONDS)
    expect(draft).to_contain_text("It is")
    expect(draft.locator("del")).to_contain_text("not")
    expect(page.locator(".bench")).to_contain_text("other answer")
    # Nothing was saved, and what stands in the field still does.
    expect(page.get_by_label("Text in English")).to_have_value("You are the parrot of the house.")
    with house.owner.session() as session:
        row = session.scalars(
            select(Prompt).where(Prompt.group_id == admin.group_id, Prompt.slug == "base-persona")
        ).one()
        assert row.version == 1
    assert findings(page) == []
    assert visitor.evaluate(TOO_WIDE) == []
    if phone:
        assert too_small(page) == []


def test_a_test_that_takes_too_long_is_stopped(visit: Visit, house: House, admin: Member) -> None:
    with Pause() as pause:
        house.model.script(scenario([Say("Slow "), pause, Say("words.")], when=exactly("Slow?")))
        page = open_row(visit(admin))
        page.get_by_label("A message").fill("Slow?")
        page.get_by_role("button", name="Try this message").click()
        expect(page.locator("#bench")).to_contain_text("Answering: 0 of 1.")
        page.get_by_role("button", name="Stop the test").click()
        expect(page.locator("#bench")).to_contain_text("Stopped after 0 of 1.")


def test_everything_works_without_scripts(visit: Visit, house: House, admin: Member) -> None:
    make_section(house.owner, admin.group_id, "raw-chicken", "Raw chicken", "Two hours at most.")
    visitor = visit(admin, phone=True, java_script_enabled=False)
    page = visitor.open(PROMPTS + "sentences/").page
    page.get_by_role("textbox", name="Sentence").fill("How long can raw chicken stay out?")
    page.get_by_text("What is expected of the answer").click()
    page.get_by_label("Tools that must run").fill("search_manual_v2")
    page.get_by_role("button", name="Save the sentence").click()
    expect(page.locator(".sentence-row")).to_have_count(1)
    visitor.open(PROMPTS)
    page.get_by_role("button", name="Move tool-map up").click()
    expect(page.locator(".prompt-table code").first).to_have_text("tool-map")
    page.locator("#switch-domain-wines").click()
    expect(page.get_by_text("domain-wines is off.")).to_be_visible()
    open_row(visitor)
    page.get_by_label("Text in English").fill("Not saved yet.")
    pressed = page.get_by_role("button", name="Try all saved sentences (1)")
    for _ in range(100):
        # Only a page that is whole tells whether it is done.
        with page.expect_navigation():
            pressed.click()
        if page.get_by_text("Done. Questions asked: 1.").count():
            break
        pressed = page.get_by_role("link", name="Refresh")
    expect(page.locator(".bench-passed")).to_have_count(2)
    expect(page.get_by_label("Text in English")).to_have_value("Not saved yet.")
    expect(page.get_by_text("What you see here is not saved yet.")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Text in English")).to_have_value("Not saved yet.")


@BOTH_SIZES
def test_the_list_fits_its_window_and_every_thumb(
    visit: Visit, house: House, admin: Member, phone: bool
) -> None:
    visitor = visit(admin, phone=phone, media=STILL).open(PROMPTS)
    assert visitor.evaluate(TOO_WIDE) == []
    if phone:
        assert too_small(visitor.page) == []
