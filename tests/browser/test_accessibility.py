"""For people who see, hear or move differently: axe, the keyboard, and targets for thumbs."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.chat_page import Visitor, focused
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.pages import SIGNED_IN, SIGNED_OUT, read_an_answer, see_the_cards
from tests.browser.scripts import looked_up
from tests.model_server import Say

# What moves while axe measures contrast, or a thumb aims, would be measured half-way.
STILL = {"reduced_motion": "reduce"}
LOOKS: dict[str, dict[str, Any]] = {
    "light phone": {"phone": True, "media": {"color_scheme": "light", **STILL}},
    "dark desktop": {"phone": False, "media": {"color_scheme": "dark", **STILL}},
}


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_before_signing_in(visit: Visit, look: str) -> None:
    visitor = visit(**LOOKS[look])
    found = {name: _look_at(visitor, go) for name, go in SIGNED_OUT.items()}
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_on_any_page(visit: Visit, house: House, look: str) -> None:
    visitor = visit(house.hire("admin"), **LOOKS[look])
    visitor.watch.expect("status of 404")
    found = {name: _look_at(visitor, go) for name, go in SIGNED_IN.items()}
    assert {name: problems for name, problems in found.items() if problems} == {}


def _look_at(visitor: Visitor, go: Any) -> list[str]:
    go(visitor)
    return findings(visitor.page)


def test_axe_finds_nothing_in_the_open_drawer(visit: Visit, house: House) -> None:
    page = visit(house.hire(), phone=True, media=STILL).open().page
    page.locator("#drawer-handle").click()
    expect(page.locator("#drawer-close")).to_be_focused()
    assert findings(page) == []


# What can be used on this page, and is not kept from use.
USABLE = """() => {
  const wanted = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  const usable = [...document.querySelectorAll(wanted)].filter(
    (element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled
      && !element.closest("[inert]"),
  );
  window.usable = usable;
  return usable.map((element, at) => `${at} ${element.localName} ${element.textContent.trim()
    || element.getAttribute("aria-label") || element.id}`);
}"""
# Where the focus is among them, and whether one sees it there.
FOCUS = """() => {
  const element = document.activeElement;
  const drawn = (one) => {
    const style = getComputedStyle(one);
    return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)
      || style.boxShadow !== "none";
  };
  const seen = drawn(element) || [...document.querySelectorAll(":focus-within")].some(
    (around) => around.matches(".composer, .check") && drawn(around),
  );
  const box = element.getBoundingClientRect();
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return [window.usable.indexOf(element), seen && inside];
}"""


def walk_with_tab(page: Page) -> tuple[set[int], set[int]]:
    """The usable elements that Tab reaches, and those of them where the focus is not seen."""
    reached: set[int] = set()
    unseen: set[int] = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(120):
        page.keyboard.press("Tab")
        at, is_seen = page.evaluate(FOCUS)
        if at in reached:
            break
        if at >= 0:
            reached.add(at)
            unseen |= set() if is_seen else {at}
    return reached, unseen


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
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
    visitor = visit(house.hire()).open()
    for question in ("Hello", "Thanks"):
        visitor.open().ask(question)
        visitor.wait_for_answer()
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


# How far a thumb can miss the middle of each target and still hit it, as width and height.
# The element is brought to the middle first, away from what is pinned above and below.
TAP_SIZES = """() => {
  const reach = (element, x, y, dx, dy) => {
    let steps = 0;
    const hits = (at) => {
      const hit = document.elementFromPoint(x + dx * at, y + dy * at);
      return hit && (element.contains(hit) || hit.closest("label")?.control === element);
    };
    while (steps < 30 && hits(steps + 1)) steps += 1;
    return steps;
  };
  const targets = document.querySelectorAll("a[href], button, summary, textarea, select, input");
  return [...targets].filter((element) => element.checkVisibility({ visibilityProperty: true })
      && !element.closest("[inert], .skip-link")).map((element) => {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const boxes = [...element.getClientRects()];
    const box = boxes.reduce((a, b) => (a.width * a.height > b.width * b.height ? a : b));
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    return {
      name: `${element.localName}.${element.className} ${element.textContent.trim().slice(0, 30)
        || element.getAttribute("aria-label") || element.id}`,
      inline: element.matches(".cite"),
      width: reach(element, x, y, -1, 0) + reach(element, x, y, 1, 0) + 1,
      height: reach(element, x, y, 0, -1) + reach(element, x, y, 0, 1) + 1,
    };
  });
}"""


def too_small(page: Page) -> list[str]:
    """Targets under 44 px; a number within a line of text may be 24 px."""
    wrong = []
    for target in page.evaluate(TAP_SIZES):
        least = 24 if target["inline"] else 44
        if min(target["width"], target["height"]) < least:
            wrong.append(f"{target['name']}: {target['width']} x {target['height']}")
    return wrong


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
