"""Reading what was said long ago: older messages come in above what is being read."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.assistant.processes import wait_until
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.factories import make_thread

TOP_OF = """(element) => element.getBoundingClientRect().top"""


def test_scrolling_up_brings_older_messages_and_keeps_the_place(visit: Visit, house: House) -> None:
    person = house.hire()
    database = house.app.extensions["comanda"].database
    asked = [f"Question number {number:02}" for number in range(40)]
    thread_id = make_thread(database, person, *asked)
    visitor = visit(person, phone=True).open(f"/chat/{thread_id}")

    def question(number: int) -> Locator:
        return visitor.questions.filter(has_text=f"Question number {number:02}")

    expect(question(39)).to_be_in_viewport()
    expect(question(24)).to_have_count(0)
    read = question(25)
    read.scroll_into_view_if_needed()
    place = read.evaluate(TOP_OF)
    visitor.page.locator("#scroller").evaluate("(scroller) => scroller.scrollBy(0, -40)")
    expect(question(24)).to_have_count(1)
    assert abs(read.evaluate(TOP_OF) - place - 40) < 100

    def scroll_to_the_top() -> bool:
        visitor.page.locator("#scroller").evaluate("(scroller) => scroller.scrollTo(0, 0)")
        return visitor.page.locator("#earlier").count() == 0

    wait_until(scroll_to_the_top, 30)
    scroll_to_the_top()
    expect(question(0)).to_be_in_viewport()
    expect(visitor.replies).to_have_count(40)
