"""Files of a request in the chat: several, refused ones, and a connection that drops."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Locator, expect

from app.db import Database
from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.interception import Interception
from tests.browser.looks import STILL, TOO_WIDE, too_small
from tests.browser.test_request_widgets import LOST, done, send, widget
from tests.browser.test_uploads import photo, rows
from tests.factories import Member
from tests.skills.service_requests.widgets import answers, ask_with_widget, make_type

SAID = {
    "en": {"name": "✓ Photos: ", "again": "Try again", "needed": "This is required."},
    "es": {"name": "✓ Fotos: ", "again": "Intentar de nuevo", "needed": "Esto es obligatorio."},
}


@pytest.fixture(scope="module")
def type_id(house: House) -> UUID:
    return make_type(house.owner, house.group_id, is_active=False)


def open_files(visitor: Visitor, house: House, person: Member, type_id: UUID) -> UUID:
    """The page of a conversation that waits for files."""
    database: Database = house.app.extensions["comanda"].database
    thread_id = ask_with_widget(database, house.owner, person, type_id, "file")
    visitor.open(f"/chat/{thread_id}")
    # Its script comes with it, not with the page.
    expect(widget(visitor)).to_have_attribute("data-ready", "")
    return thread_id


def chooser(visitor: Visitor) -> Locator:
    return widget(visitor).locator("input[type=file]")


def there(visitor: Visitor) -> Locator:
    return widget(visitor).locator(".upload:not(.upload-waiting) .upload-name")


def look_over(visitor: Visitor) -> None:
    assert [*findings(visitor.page), *visitor.evaluate(TOO_WIDE)] == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_several_files_are_sent_when_the_connection_is_back_and_answer_once(
    visit: Visit, house: House, type_id: UUID, tmp_path: Path, language: str
) -> None:
    said, person = SAID[language], house.hire(language=language)
    scheme: dict[str, Any] = {"color_scheme": "dark" if language == "es" else "light", **STILL}
    visitor = visit(person, phone=True, fresh=True, media=scheme)
    visitor.watch.expect(LOST)
    thread_id = open_files(visitor, house, person, type_id)
    send(visitor).click()
    expect(widget(visitor).get_by_role("alert")).to_contain_text(said["needed"])
    visitor.page.context.set_offline(True)
    chooser(visitor).set_input_files([photo(tmp_path, "one.jpg"), photo(tmp_path, "two.jpg")])
    expect(widget(visitor).locator(".upload-waiting")).to_have_count(2)
    visitor.page.context.set_offline(False)
    expect(there(visitor)).to_have_text(["one.jpg", "two.jpg"])
    look_over(visitor)
    assert too_small(visitor.page) == []
    send(visitor).click()
    expect(visitor.questions.last).to_have_text(said["name"] + "one.jpg, two.jpg")
    expect(done(visitor)).to_contain_text("two.jpg")
    [(_, step)] = answers(house.owner, thread_id)
    assert [each["name"] for each in step["value"]] == ["one.jpg", "two.jpg"]
    assert len(rows(house, person)) == 2


def test_a_file_that_did_not_reach_us_is_tried_again_by_a_button_and_a_refused_one_says_why(
    visit: Visit, house: House, type_id: UUID, tmp_path: Path
) -> None:
    person = house.hire()
    visitor = visit(person, phone=True, fresh=True, media=STILL)
    visitor.watch.expect(LOST)
    thread_id = open_files(visitor, house, person, type_id)
    refusals = Interception(visitor.page, "**/files", lambda route: route.fulfill(status=429))
    chooser(visitor).set_input_files(photo(tmp_path, "one.jpg"))
    again = widget(visitor).get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    look_over(visitor)
    # Sent now, the answer would lack it: that is said, and nothing is posted.
    send(visitor).click()
    expect(widget(visitor)).to_contain_text("A file could not be added")
    assert answers(house.owner, thread_id) == []
    refusals.end()
    again.click()
    expect(there(visitor)).to_have_text(["one.jpg"])
    drawing = tmp_path / "logo.png"
    drawing.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    chooser(visitor).set_input_files(drawing)
    refused = widget(visitor).locator(".upload-waiting", has_text="logo.png")
    expect(refused).to_contain_text("Web pages and drawings made of code")
    refused.get_by_role("button", name="Remove").click()
    send(visitor).click()
    expect(done(visitor)).to_have_text("Photos: one.jpg")


def test_a_drawing_of_the_same_takes_no_file_away(
    visit: Visit, house: House, type_id: UUID, tmp_path: Path
) -> None:
    visitor = visit(person := house.hire())
    thread_id = open_files(visitor, house, person, type_id)
    chooser(visitor).set_input_files(photo(tmp_path, "one.jpg"))
    expect(there(visitor)).to_have_text(["one.jpg"])
    draw_again = "([module, id]) => import(module).then((it) => it.refreshBubble(id))"
    bubble = visitor.reply.get_attribute("data-message")
    visitor.evaluate(draw_again, [visitor.module("bubbles.js"), bubble])
    expect(there(visitor)).to_have_text(["one.jpg"])
    widget(visitor).get_by_role("button", name="Not now").click()
    expect(visitor.questions.last).to_have_text("✕ Photos: not now")
    expect(widget(visitor)).to_have_count(0)
    [(_, step)] = answers(house.owner, thread_id)
    assert step["type"] == "widget_cancelled"
