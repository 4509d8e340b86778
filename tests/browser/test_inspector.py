"""Admins look into a search and deal with feedback; people find what they once said."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect
from sqlalchemy import select

from app.assistant.models import SavedSentence
from tests.browser.axe import findings
from tests.browser.catalog import leftovers
from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, TOO_WIDE, too_small
from tests.browser.pages import QUESTION, SIGNED_IN

STILL: dict[str, Any] = {"reduced_motion": "reduce"}


@BOTH_SIZES
def test_an_admin_sees_what_a_search_scored_and_why_something_is_missing(
    visit: Visit, house: House, phone: bool
) -> None:
    visitor = visit(house.hire("admin"), phone=phone, media=STILL).open("/admin/usage")
    page = visitor.page
    page.get_by_role("link", name="Search inspector").click()
    page.get_by_label("Search for").fill(QUESTION["en"])
    page.get_by_role("button", name="Search", exact=True).click()
    best = page.locator("#r-1")
    expect(best).to_contain_text("The answer uses it")
    expect(best.locator("mark").first).to_have_text(re.compile("chicken|raw", re.IGNORECASE))
    expect(page.locator("#r-7")).to_be_hidden()
    best.locator("summary").click()
    expect(best.locator(".said")).to_be_visible()
    page.get_by_label("Section or product that you expected").fill("WÍNE service")
    page.get_by_role("button", name="Look it up").click()
    page.get_by_role("link", name="Wine service").click()
    told = page.locator(".findings li")
    expect(told.first).to_have_attribute("data-code", "no_common_word")
    expect(told.last).to_contain_text("the last one included has")
    assert visitor.evaluate(TOO_WIDE) == []
    assert too_small(page) == []


def test_what_somebody_shares_becomes_a_test_sentence_by_one_tap(
    visit: Visit, house: House
) -> None:
    question = "How long may raw chicken wait beside the grill?"
    cook = visit(house.hire(), phone=True, media=STILL).open()
    cook.ask(question)
    cook.wait_for_answer()
    cook.reply.locator("button[id$='-down']").click()
    form = cook.reply.locator(".feedback-form")
    expect(form.get_by_label("Share my question")).not_to_be_checked()
    form.get_by_label("Share my question").check()
    form.get_by_label("Out of date").check()
    assert too_small(cook.page) == []
    form.get_by_role("button", name="Send").click()
    expect(cook.reply.locator(".feedback-thanks")).to_be_visible()
    admin = visit(house.hire("admin"), phone=True, media=STILL).open("/admin/feedback")
    card = admin.page.locator(".inbox > li", has_text=question)
    expect(card).to_contain_text("Out of date")
    card.get_by_role("button", name="Save as a test sentence").click()
    expect(card).to_contain_text("Made into 1 test sentence")
    assert findings(admin.page) == []
    assert too_small(admin.page) == []
    card.get_by_role("button", name="Mark as handled").click()
    expect(admin.page.get_by_text("Marked as handled.")).to_be_visible()
    expect(card).to_have_count(0)
    with house.owner.transaction() as session:
        query = select(SavedSentence.language).where(SavedSentence.text == question)
        assert session.scalars(query).all() == ["en"]


@BOTH_SIZES
def test_what_nobody_could_answer_is_sent_by_one_tap_and_taught(
    visit: Visit, house: House, phone: bool
) -> None:
    """The cook says "zorbaplex" for what the manual calls raw chicken."""
    word = f"zorbaplex{'p' if phone else 'l'}"
    question = f"how long can {word} stay out?"
    cook = visit(house.hire(), phone=phone, media=STILL).open()
    cook.ask(question)
    cook.wait_for_answer()
    cook.reply.get_by_role("button", name="Tell the admins this is missing").click()
    expect(cook.reply).to_contain_text("The admins have your question.")
    expect(cook.reply.get_by_role("button", name="Take back")).to_be_visible()
    assert findings(cook.page) == []
    assert cook.evaluate(TOO_WIDE) == []
    admin = visit(house.hire("admin"), phone=phone, media=STILL).open("/admin/feedback/unanswered")
    page = admin.page
    card = page.locator(".inbox > li", has_text=question)
    card.get_by_text("It is there under another name").click()
    card.get_by_label("When people say").fill(word)
    card.get_by_label("Search for", exact=True).fill("zzzyx qwortle")
    admin.watch.expect("status of 422")
    card.get_by_role("button", name="Save these words").click()
    expect(page.locator(":focus")).to_have_value("zzzyx qwortle")
    expect(page.get_by_text("None of your documents has these words.")).to_be_visible()
    assert findings(page) == []
    assert too_small(page) == []
    assert admin.evaluate(TOO_WIDE) == []
    page.locator(":focus").fill("raw chicken")
    card.get_by_role("button", name="Save these words").click()
    expect(page.get_by_text(f"“{word}” now searches for “raw chicken”.")).to_be_visible()
    card.get_by_role("button", name="Mark as handled").click()
    expect(card).to_have_count(0)
    cook.ask(question)
    cook.wait_for_answer()
    expect(cook.page.locator(".message-assistant").last).to_contain_text("1 source")
    page.get_by_role("button", name=f"Remove “{word}”").click()
    expect(page.get_by_text("is searched for as it is written again")).to_be_visible()


def find(visitor: Visitor, words: str) -> None:
    """Type in the search of one's chats, as quickly as people do."""
    visitor.page.locator("#chats-q").fill("")
    visitor.page.locator("#chats-q").press_sequentially(words, delay=20)


@BOTH_SIZES
def test_chats_are_found_while_one_types_and_open_where_it_was_said(
    visit: Visit, house: House, phone: bool
) -> None:
    visitor = visit(house.hire(), phone=phone, media=STILL)
    for words in (QUESTION["es"], "Hello"):
        visitor.open().ask(words)
        visitor.wait_for_answer()
    page = visitor.open("/chats").page
    rows = page.locator(".chat-row")
    expect(rows).to_have_count(2)
    find(visitor, "pollos CRÚ")
    expect(rows).to_have_count(1)
    expect(page.locator("#chats-q")).to_be_focused()
    expect(rows.locator("mark").first).to_have_text("pollo")
    expect(page).to_have_url(re.compile(r"/chats\?q=pollos"))
    assert findings(page) == []
    assert too_small(page) == ["button.visually-hidden Search: 1 x 1"]
    assert visitor.evaluate(TOO_WIDE) == []
    rows.locator(".shelf-link").click()
    expect(page.locator(".message:target")).to_be_in_viewport(timeout=10 * SECONDS)
    page.go_back()
    expect(rows).to_have_count(1)
    rows.locator("summary").click()
    rows.get_by_role("button", name="Delete this chat").click()
    expect(page.get_by_text("No chat has these words.")).to_be_visible()
    find(visitor, "hel")
    expect(rows).to_have_count(1)


# Types as soon as the field is there, which is before the page's scripts are.
EARLY = """
new MutationObserver((_changes, observer) => {
  const field = document.getElementById("chats-q");
  if (!field) return;
  field.value = "something else";
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
"""


def test_what_is_typed_before_the_page_listens_is_searched_for(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True, media=STILL).open()
    visitor.ask("Hello")
    visitor.wait_for_answer()
    visitor.page.add_init_script(EARLY)
    visitor.open("/chats")
    expect(visitor.page.get_by_text("No chat has these words.")).to_be_visible()


@BOTH_SIZES
def test_the_admins_pages_are_spanish_in_spanish(visit: Visit, house: House, phone: bool) -> None:
    visitor = visit(house.hire("admin", language="es"), phone=phone, media=STILL)
    for name in ("search inspector", "feedback inbox", "unanswered questions"):
        SIGNED_IN[name](visitor)
        main = visitor.page.locator("#main")
        texts = main.locator("h1, h2, label, legend, dt, th, button, p, summary, option")
        assert leftovers(texts.all_inner_texts()) == [], name
        assert visitor.evaluate(TOO_WIDE) == []
