"""For people who see, hear or move differently: axe, the keyboard, and targets for thumbs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.catalog import leftovers
from tests.browser.chat_page import Visitor, focused
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import (
    BOTH_SIZES,
    EACH_ONCE,
    LOOKS,
    STILL,
    TEXTS,
    TOO_WIDE,
    USABLE,
    look_over,
    too_small,
    walk_with_tab,
)
from tests.browser.pages import SIGNED_IN, SIGNED_OUT, read_an_answer, see_the_cards
from tests.browser.scripts import looked_up
from tests.factories import make_thread
from tests.factories.chat import make_turn_facts
from tests.model_server import Say


# There are many pages, and a busy machine looks at each for seconds.
@pytest.mark.timeout(400)
@EACH_ONCE
def test_every_page_is_for_everybody_fits_its_window_and_is_in_one_language(
    visit: Visit, house: House, look: str, language: str
) -> None:
    # A busy house: numbers as long as they get.
    busy = {"tokens_in": 412_345_678, "tokens_out": 98_765_432, "latency_ms": 123_456}
    make_turn_facts(house.app.extensions["comanda"].database, house.hire(), **busy)
    locale = {"en": "en-US", "es": "es-MX"}[language]
    stranger = visit(**LOOKS[look], locale=locale)
    found = {name: _look_at(stranger, go, language) for name, go in SIGNED_OUT.items()}
    # A device that speaks the other language: what counts is what the person has chosen.
    visitor = visit(house.hire("admin", language=language), **LOOKS[look])
    visitor.watch.expect("status of 404")
    found |= {name: _look_at(visitor, go, language) for name, go in SIGNED_IN.items()}
    if look.endswith("phone"):
        found["open drawer"] = _look_at(visitor, open_the_drawer, language)
    assert {name: problems for name, problems in found.items() if problems} == {}


# What a button, a heading or a label says is cut off; what ends in dots means to be.
CLIPPED = """() => [...document.querySelectorAll("button, .button, .badge, h1, h2, th, label")]
  .filter((each) => each.offsetParent && !each.classList.contains("visually-hidden"))
  .filter((each) => each.scrollWidth > each.clientWidth + 1)
  .filter((each) => {
    const style = getComputedStyle(each);
    return style.overflowX !== "visible" && style.textOverflow !== "ellipsis";
  })
  .map((each) => `clipped: ${each.tagName} ${each.textContent.trim().slice(0, 40)}`)"""
WIDTHS = (360, 640, 768, 1024, 1280)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_page_fits_each_usual_width(visit: Visit, house: House, language: str) -> None:
    person = house.hire("admin", language=language)
    visitor = visit(person, media={"color_scheme": "light", **STILL})
    visitor.watch.expect("status of 404")
    found: dict[str, list[str]] = {}
    for name, go in SIGNED_IN.items():
        visitor.page.set_viewport_size({"width": WIDTHS[-1], "height": 800})
        go(visitor)
        for width in WIDTHS:
            visitor.page.set_viewport_size({"width": width, "height": 800})
            found[f"{name}, {width}"] = [
                *visitor.evaluate(TOO_WIDE),
                *visitor.evaluate(CLIPPED),
                *findings(visitor.page),
            ]
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def _look_at(visitor: Visitor, go: Callable[[Visitor], object], language: str) -> list[str]:
    go(visitor)
    expect(visitor.page.locator("html")).to_have_attribute("lang", language)
    wrong = look_over(visitor)
    if language == "es":
        wrong += [f"English: {text!r}" for text in leftovers(visitor.evaluate(TEXTS))]
    return wrong


def open_the_drawer(visitor: Visitor) -> None:
    page = visitor.open().page
    page.locator("#drawer-handle").click()
    expect(page.locator("#drawer-close")).to_be_focused()


@BOTH_SIZES
def test_tab_reaches_everything_and_the_focus_is_seen(
    visit: Visit, house: House, phone: bool
) -> None:
    visitor = visit(house.hire("admin"), phone=phone, media=STILL)
    wrong = {}
    for name in ("answer", "product cards", "section", "people", "profile"):
        SIGNED_IN[name](visitor)
        # On other pages than the chat the history comes a moment after the page.
        expect(visitor.page.locator("#history[hx-get]")).to_have_count(0)
        usable = visitor.page.evaluate(USABLE)
        reached, unseen = walk_with_tab(visitor.page)
        missed = [f"not reached: {usable[at]}" for at in set(range(len(usable))) - reached]
        hidden = [f"focus not seen: {usable[at]}" for at in unseen]
        wrong[name] = missed + hidden
    assert {name: problems for name, problems in wrong.items() if problems} == {}


def test_the_sheet_of_a_phone_keeps_the_focus_inside(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), phone=True)
    read_an_answer(visitor)
    visitor.page.locator(".cite").first.press("Enter")
    expect(visitor.page.locator("#panel .passage")).to_be_visible()
    for _ in range(8):
        visitor.page.keyboard.press("Tab")
        assert visitor.evaluate(
            "document.activeElement === document.body"
            " || document.getElementById('panel').contains(document.activeElement)"
        )
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator(".cite").first).to_be_focused()


def test_the_slash_leads_to_the_composer_and_arrows_walk_the_history(
    visit: Visit, house: House
) -> None:
    person = house.hire()
    for question in ("Hello", "Thanks"):
        make_thread(house.app.extensions["comanda"].database, person, question)
    visitor = visit(person).open()
    page = visitor.page
    page.locator("#history a").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#history a").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#history a").first).to_be_focused()
    page.keyboard.press("/")
    assert focused(page) == "message"
    page.keyboard.type("and/or")
    expect(visitor.composer).to_have_value("and/or")


def test_a_screen_reader_hears_the_answer_by_sentences(visit: Visit, house: House) -> None:
    visitor = visit(house.hire(), fresh=True)
    visitor.page.add_init_script(
        """window.heard = [];
        document.addEventListener("DOMContentLoaded", () => {
          const region = document.getElementById("announcer");
          new MutationObserver((changes) => changes.forEach((change) =>
            change.addedNodes.forEach((node) => window.heard.push(node.textContent.trim())),
          )).observe(region, { childList: true });
        });"""
    )
    house.model.script(
        looked_up("Read it to me", Say("First sentence. [1] Second one!\n\nA last", delay=0.06))
    )
    visitor.open().ask("Read it to me")
    visitor.wait_for_answer()
    expect(visitor.page.locator("#announcer")).to_contain_text("Answer complete")
    assert visitor.evaluate("window.heard") == [
        "Searching the manual…",
        "First sentence.",
        "Second one!",
        "A last",
        "Answer complete",
    ]
    expect(visitor.page.locator("#announcer")).to_have_attribute("aria-live", "polite")
    expect(visitor.page.locator("#messages")).to_have_attribute("aria-live", "off")


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_thumb_hits_everything_in_the_chat_of_a_phone(
    visit: Visit, house: House, language: str
) -> None:
    visitor = visit(house.hire("admin", language=language), phone=True, media=STILL)
    wrong = {}
    visitor.open()
    wrong["empty"] = too_small(visitor.page)
    read_an_answer(visitor)
    wrong["answer"] = too_small(visitor.page)
    visitor.page.locator(".cite").first.click()
    expect(visitor.page.locator("#panel .passage")).to_be_visible()
    wrong["sheet"] = too_small(visitor.page)
    visitor.page.keyboard.press("Escape")
    visitor.page.locator("#drawer-handle").click()
    expect(visitor.page.locator("#drawer-close")).to_be_focused()
    wrong["drawer"] = too_small(visitor.page)
    see_the_cards(visitor)
    wrong["cards"] = too_small(visitor.page)
    assert {place: names for place, names in wrong.items() if names} == {}
