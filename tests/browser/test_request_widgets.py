"""Answering what a request asks for: by thumb, by keyboard, and when things go wrong."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from playwright.sync_api import Locator, Route, expect

from app.db import Database
from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.interception import Interception
from tests.browser.looks import EACH_ONCE, LOOKS, STILL, TOO_WIDE, too_small
from tests.skills.service_requests.widgets import (
    answers,
    ask_for_type,
    ask_with_card,
    ask_with_widget,
    make_type,
)

LOST = r"ERR_FAILED|ERR_INTERNET_DISCONNECTED|Failed to (load|fetch)|status of 4"
DAY = "2026-05-01"
SAID = {
    "en": {
        "radio": "✓ Urgency: Right now",
        "select": "✓ How soon: It can wait",
        "address": "✓ Where to: 123 Main St, LA, CA 90001",
        "phone": "✓ Call back: +52 55 1234 5678",
        "date": "✓ Since when: May 1, 2026",
        "text": "✓ Machine: Slicer",
    },
    "es": {
        "radio": "✓ Urgencia: Ahora mismo",
        "select": "✓ Qué tan pronto: Puede esperar",
        "address": "✓ A dónde: 123 Main St, LA, CA 90001",
        "phone": "✓ Llamar a: +52 55 1234 5678",
        "date": "✓ Desde cuándo: 1 de mayo de 2026",
        "text": "✓ Máquina: Slicer",
    },
}


@pytest.fixture
def database(house: House) -> Database:
    found: Database = house.app.extensions["comanda"].database
    return found


@pytest.fixture(scope="module")
def type_id(house: House) -> UUID:
    return make_type(house.owner, house.group_id, is_active=False)


def widget(visitor: Visitor) -> Locator:
    return visitor.page.locator(".widget")


def control(visitor: Visitor, name: str) -> Locator:
    return visitor.page.locator(f"[name='v-{name}']")


def send(visitor: Visitor) -> Locator:
    return widget(visitor).locator(".widget-form .button-primary")


def done(visitor: Visitor) -> Locator:
    return visitor.page.locator(".decided-confirmed")


def tap(visitor: Visitor, kind: str) -> None:
    """Fill in the open widget with a thumb or a mouse, and send it."""
    page = visitor.page
    if kind == "radio":
        page.locator(".widget-choice").first.click()
    elif kind == "select":
        control(visitor, "a_select").select_option("later")
    elif kind == "address":
        for part, text in ADDRESS.items():
            control(visitor, f"a_address-{part}").fill(text)
    elif kind == "phone":
        control(visitor, "a_phone-code").select_option("52")
        control(visitor, "a_phone").fill("55 1234 5678")
    else:
        control(visitor, f"a_{kind}").fill(DAY if kind == "date" else "Slicer")
    send(visitor).click()


ADDRESS = {"line1": "123 Main St", "city": "LA", "state": "CA", "postal": "90001"}
# What is pressed from the first control on: the Tab key goes from part to part.
KEYS: dict[str, list[str]] = {
    "radio": ["Space", "Enter"],
    "select": ["End", "Tab", "Enter"],
    "address": ["123 Main St", "Tab", "Tab", "LA", "Tab", "CA", "Tab", "90001", "Enter"],
    "phone": ["ArrowDown", "Tab", "55 1234 5678", "Tab", "Enter"],
    "date": ["05012026", "Enter"],
    "text": ["Slicer", "Enter"],
}
NAMED = frozenset(("Space", "Enter", "Tab", "End", "ArrowDown"))


def press(visitor: Visitor, kind: str) -> None:
    """The same with the keyboard alone, from the reply on."""
    keyboard = visitor.page.keyboard
    visitor.page.locator(".part").last.focus()
    keyboard.press("Tab")
    for key in KEYS[kind]:
        if key in NAMED:
            keyboard.press(key)
        else:
            keyboard.type(key)


def look_at(visitor: Visitor, look: str) -> list[str]:
    fit = [*findings(visitor.page), *visitor.evaluate(TOO_WIDE)]
    return [*fit, *(too_small(visitor.page) if look.endswith("phone") else [])]


@pytest.mark.timeout(200)
@EACH_ONCE
def test_each_widget_is_answered_and_becomes_its_line(
    visit: Visit, house: House, database: Database, type_id: UUID, look: str, language: str
) -> None:
    fill: Callable[[Visitor, str], None] = tap if look.endswith("phone") else press
    wrong = {}
    for kind, said in SAID[language].items():
        person = house.hire(language=language)
        visitor = visit(person, **LOOKS[look])
        thread_id = ask_with_widget(database, house.owner, person, type_id, kind)
        visitor.open(f"/chat/{thread_id}")
        expect(send(visitor)).to_be_visible()
        wrong[kind] = look_at(visitor, look)
        fill(visitor, kind)
        expect(visitor.questions.last).to_have_text(said)
        expect(done(visitor)).to_have_text(said.removeprefix("✓ "))
        expect(widget(visitor)).to_have_count(0)
        visitor.wait_for_answer()
        assert len(answers(house.owner, thread_id)) == 1
    assert {kind: problems for kind, problems in wrong.items() if problems} == {}


@EACH_ONCE
def test_what_is_wrong_is_said_beside_the_control_and_what_was_typed_stays(
    visit: Visit, house: House, database: Database, type_id: UUID, look: str, language: str
) -> None:
    person = house.hire(language=language)
    visitor = visit(person, **LOOKS[look])
    visitor.watch.expect("status of 422")
    thread_id = ask_with_widget(database, house.owner, person, type_id, "phone")
    visitor.open(f"/chat/{thread_id}")
    number = control(visitor, "a_phone")
    control(visitor, "a_phone-code").select_option("52")
    number.fill("12")
    send(visitor).click()
    said = {"en": "Enter a phone number with its area code", "es": "Escribe un teléfono"}
    expect(widget(visitor).get_by_role("alert")).to_contain_text(said[language])
    expect(number).to_be_focused()
    expect(number).to_have_value("12")
    expect(number).to_have_attribute("aria-invalid", "true")
    assert look_at(visitor, look) == []
    visitor.page.keyboard.press("Escape")
    expect(number).to_have_value("12")
    number.fill("55 1234 5678")
    expect(number).not_to_have_attribute("aria-invalid", "true")
    number.press("Enter")
    expect(done(visitor)).to_contain_text("+52 55 1234 5678")
    assert len(answers(house.owner, thread_id)) == 1


@EACH_ONCE
def test_a_card_of_several_is_sent_as_a_whole_and_leads_to_what_is_wrong(
    visit: Visit, house: House, database: Database, type_id: UUID, look: str, language: str
) -> None:
    person = house.hire(language=language)
    visitor = visit(person, **LOOKS[look])
    visitor.watch.expect("status of 422")
    kinds = ("text", "select", "phone", "date")
    visitor.open(f"/chat/{ask_with_card(database, house.owner, person, type_id, *kinds)}")
    control(visitor, "a_text").fill("Slicer")
    assert look_at(visitor, look) == []
    send(visitor).click()
    wrong = {"en": "How soon: This is required.", "es": "Qué tan pronto: Esto es obligatorio."}
    expect(widget(visitor).get_by_role("alert")).to_have_text(wrong[language])
    expect(control(visitor, "a_select")).to_be_focused()
    expect(control(visitor, "a_text")).to_have_value("Slicer")
    control(visitor, "a_select").select_option("later")
    more = widget(visitor).locator(".widget-more")
    more.locator("summary").click()
    assert look_at(visitor, look) == []
    control(visitor, "a_phone").fill("12")
    control(visitor, "a_date").fill(DAY)
    more.locator("summary").click()
    send(visitor).click()
    # What is wrong in a part that was folded away is brought to sight.
    expect(control(visitor, "a_phone")).to_be_focused()
    expect(control(visitor, "a_phone")).to_have_attribute("aria-invalid", "true")
    expect(control(visitor, "a_text")).not_to_have_attribute("aria-invalid", "true")
    control(visitor, "a_phone-code").select_option("52")
    control(visitor, "a_phone").fill("55 1234 5678")
    send(visitor).click()
    # In the order of the form, as the page shows them.
    said = [SAID[language][kind] for kind in ("text", "select", "phone", "date")]
    lines = "; ".join(each.removeprefix("✓ ") for each in said)
    expect(visitor.questions.last).to_have_text(f"✓ {lines}")
    expect(done(visitor)).to_have_count(1)
    expect(widget(visitor)).to_have_count(0)


def test_two_taps_send_once_and_what_did_not_arrive_is_sent_again_by_a_button(
    visit: Visit, house: House, database: Database, type_id: UUID
) -> None:
    person = house.hire()
    visitor = visit(person, phone=True, media=STILL)
    visitor.watch.expect(LOST)
    thread_id = ask_with_widget(database, house.owner, person, type_id, "radio")
    visitor.open(f"/chat/{thread_id}")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    address = f"**/chat/{thread_id}/messages"
    outage = Interception(visitor.page, address, hold)
    visitor.page.locator(".widget-choice").last.click()
    send(visitor).dblclick()
    expect(widget(visitor).locator("form[aria-busy=true] .dots").first).to_be_visible()
    assert len(held) == 1
    held[0].abort()
    again = widget(visitor).get_by_role("button", name="Try again")
    expect(widget(visitor).get_by_role("alert")).to_contain_text("did not reach us")
    expect(visitor.page.locator(".widget-choice input").last).to_be_checked()
    outage.end()
    again.click()
    expect(done(visitor)).to_have_text("Urgency: It can wait")
    assert len(answers(house.owner, thread_id)) == 1


def test_another_device_sees_it_answered_and_what_it_sends_late_is_not_taken(
    visit: Visit, house: House, database: Database, type_id: UUID
) -> None:
    person = house.hire()
    thread_id = ask_with_widget(database, house.owner, person, type_id, "text")
    visitor = visit(person, phone=True).open(f"/chat/{thread_id}")
    other = visit(person).open(f"/chat/{thread_id}")
    deaf = visit(person, fresh=True)
    deaf.watch.expect("status of 409", LOST)
    deaf.page.route("**/events*", lambda route: route.abort())
    deaf.open(f"/chat/{thread_id}")
    control(other, "a_text").fill("half typ")
    tap(visitor, "text")
    expect(done(other)).to_have_text("Machine: Slicer")
    expect(widget(other)).to_have_count(0)
    expect(other.questions.last).to_have_text("✓ Machine: Slicer")
    tap(deaf, "text")
    expect(done(deaf)).to_have_text("Machine: Slicer")
    assert len(answers(house.owner, thread_id)) == 1


@pytest.mark.parametrize("reason", ["no control for it", "its script does not come"])
def test_a_widget_that_cannot_be_shown_says_so_and_is_told_once(
    visit: Visit, house: House, database: Database, type_id: UUID, reason: str
) -> None:
    person = house.hire()
    visitor = visit(person, phone=True, fresh=True)
    visitor.watch.expect(LOST)
    if reason == "no control for it":
        thread_id = ask_with_widget(database, house.owner, person, type_id, "text", type="hologram")
    else:
        thread_id = ask_with_widget(database, house.owner, person, type_id, "file")
        visitor.page.route("**/uploads.js", lambda route: route.abort())
    visitor.open(f"/chat/{thread_id}")
    expect(visitor.questions.last).to_contain_text("cannot be shown here")
    visitor.page.reload()
    expect(visitor.page.locator(".decided").first).to_contain_text("no longer open")
    [(_, step)] = answers(house.owner, thread_id)
    assert step["type"] == "widget_error"
    assert step["error"]


@EACH_ONCE
def test_a_type_is_found_by_typing_and_chosen_with_the_keyboard(
    visit: Visit, house: House, database: Database, look: str, language: str
) -> None:
    person = house.hire(language=language)
    visitor = visit(person, **LOOKS[look])
    visitor.open(f"/chat/{ask_for_type(database, house.owner, person)}")
    page = visitor.page
    assert look_at(visitor, look) == []
    find = widget(visitor).get_by_role("searchbox")
    found = widget(visitor).get_by_role("status")
    find.fill("zzz")
    expect(found).to_have_text(
        {"en": "No type has these words.", "es": "Ningún tipo tiene esas palabras."}[language]
    )
    # Neither accents nor capitals count, and the category's name is a word like any other.
    find.fill({"en": "IT PASSWORD", "es": "CONTRASENA"}[language])
    expect(found).to_have_text({"en": "1 type found", "es": "1 tipo encontrado"}[language])
    assert look_at(visitor, look) == []
    find.press("Escape")
    find.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    name = page.locator(".type:focus .type-name").text_content()
    page.keyboard.press("Enter")
    expect(visitor.questions.last).to_have_text(f"✓ {name}")
    expect(done(visitor)).to_have_text(str(name))


def test_a_request_is_put_together_as_its_widgets_come_one_after_the_other(
    visit: Visit, house: House
) -> None:
    with house.answered_by_the_builtin_assistant() as url:
        visitor = visit(house.hire(language="es"), url=url, **LOOKS["light phone"]).open()
        visitor.ask("La cámara fría no enfría")
        visitor.wait_for_answer()
        assert look_at(visitor, "light phone") == []
        visitor.page.locator(".types-likely .type").first.click()
        choice = visitor.page.locator(".widget-choice", has_text="Alta")
        choice.click()
        send(visitor).click()
        expect(visitor.questions.last).to_have_text("✓ Prioridad: Alta")
        expect(done(visitor)).to_have_text(["Refrigeración y hielo", "Prioridad: Alta"])
        expect(visitor.page.locator(".part:focus .decided")).to_have_text("Prioridad: Alta")
        so_far = visitor.page.locator(".request-summary")
        expect(so_far).to_contain_text("Dijiste: «La cámara fría no enfría»")
        visitor.wait_for_answer()
        assert look_at(visitor, "light phone") == []
        # Before its server ends: a stream that breaks off is complained of.
        visitor.page.goto("about:blank")
