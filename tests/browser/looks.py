"""How pages are looked at: on which devices, what must fit, be hit, be seen and be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.assistant.processes import wait_until
from tests.browser.axe import findings
from tests.browser.chat_page import PHONE, SECONDS, Visitor

# What moves while axe measures contrast, or a thumb aims, would be measured half-way.
STILL = {"reduced_motion": "reduce"}
LOOKS: dict[str, dict[str, Any]] = {
    "light phone": {"phone": True, "media": {"color_scheme": "light", **STILL}},
    "dark desktop": {"phone": False, "media": {"color_scheme": "dark", **STILL}},
}
# Whatever is walked through twice is walked through a second time by `make soak`. What needs both
# sizes or languages to be seen at all says so itself.
_SECOND = pytest.mark.soak
BOTH_SIZES = pytest.mark.parametrize(
    "phone", [False, pytest.param(True, marks=_SECOND)], ids=["desktop", "phone"]
)
# Each size and each language once, where they have nothing to do with one another.
EACH_ONCE = pytest.mark.parametrize(
    ("look", "language"),
    [pytest.param("dark desktop", "en", marks=_SECOND), ("light phone", "es")],
)
# Everything that is seen, or that a screen reader says, where the text is to be Spanish.
TEXTS = """() => {
  const found = new Set([document.title.replace(" · Comanda", "")]);
  const add = (text) => text && found.add(text.replace(/\\s+/g, " ").trim());
  const spanish = (element) => element.closest("[lang]").lang === "es";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (element.closest("script, style, template") || !spanish(element)) continue;
    add(walker.currentNode.textContent);
  }
  for (const element of document.querySelectorAll("body *")) {
    if (!spanish(element)) continue;
    for (const name of ["aria-label", "title", "placeholder", "alt", "data-label"]) {
      add(element.getAttribute(name));
    }
  }
  for (const words of Object.values(document.getElementById("texts").dataset)) add(words);
  return [...found].filter(Boolean);
}"""
# What stands out at the right of the page, where nothing scrolls that far on purpose.
TOO_WIDE = """() => {
  const cut = ".visually-hidden, .topbar-title, .history .rail-link, .rail-name";
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const scrollsAround = (element) => element && (scrolls(element)
    || scrollsAround(element.parentElement));
  const wide = [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && box.right > innerWidth + 1
      && element.checkVisibility({ visibilityProperty: true })
      && !element.closest(cut) && !scrollsAround(element.parentElement);
  });
  const page = document.documentElement.scrollWidth > innerWidth ? ["the page scrolls"] : [];
  return page.concat(wide.map(({ localName, className }) => `wide: ${localName}.${className}`));
}"""
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
    # Once around the page; that of the people is as long as the tests before have hired.
    for _ in range(120 + page.evaluate("window.usable.length")):
        page.keyboard.press("Tab")
        at, is_seen = page.evaluate(FOCUS)
        if at in reached:
            break
        if at >= 0:
            reached.add(at)
            unseen |= set() if is_seen else {at}
    return reached, unseen


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
      inline: element.matches(".cite, .anchor"),
      width: reach(element, x, y, -1, 0) + reach(element, x, y, 1, 0) + 1,
      height: reach(element, x, y, 0, -1) + reach(element, x, y, 0, 1) + 1,
    };
  });
}"""


def too_small(page: Page) -> list[str]:
    """Targets under 44 px; a number within a line of text may be 24 px.

    While a part of the page is being put in its place it has other sizes for a moment: what is
    too small is so a second later, too.
    """
    wrong = _measured_too_small(page)
    if wrong:
        page.wait_for_timeout(1 * SECONDS)
        wrong = [each for each in _measured_too_small(page) if each in wrong]
    return wrong


def _measured_too_small(page: Page) -> list[str]:
    wrong = []
    for target in page.evaluate(TAP_SIZES):
        least = 24 if target["inline"] else 44
        if min(target["width"], target["height"]) < least:
            wrong.append(f"{target['name']}: {target['width']} x {target['height']}")
    return wrong


def look_over(visitor: Visitor, within: str = "body") -> list[str]:
    """What is wrong on the page: to axe, in its width, and on a phone for a thumb.

    Axe looks at the part `within` alone, where it has seen the rest of the page before.
    """
    # On other pages than the chat the history comes a moment after the page.
    expect(visitor.page.locator("#history[hx-get]")).to_have_count(0)
    wrong = [*findings(visitor.page, within), *visitor.evaluate(TOO_WIDE)]
    if visitor.evaluate("innerWidth") == PHONE["width"]:
        # What Enter presses is for nobody's thumb.
        wrong += [each for each in too_small(visitor.page) if "visually-hidden" not in each]
    return wrong


def reload_until(visitor: Visitor, condition: Callable[[], object], seconds: float = 30) -> None:
    """Reload, as somebody does who waits and has no scripts."""

    def look_again() -> object:
        return condition() or (visitor.page.reload() and None)

    wait_until(look_again, seconds)


def look_again_until(visitor: Visitor, status: str) -> None:
    """Reload until the newest reply has come that far."""
    reload_until(visitor, lambda: visitor.reply.get_attribute("data-status") == status)
