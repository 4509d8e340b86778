"""From a sentence in the chat to a form that is filled in, put right, sent, and on paper."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.accounts.models import Group
from app.skills.forms.models import FormTemplate
from tests.browser.chat_page import Visitor, focused
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.interception import Interception, lose
from tests.browser.looks import BOTH_SIZES, EACH_ONCE, LOOKS, STILL, look_over
from tests.browser.scripts import Pause, exactly
from tests.factories import Member, make_contact, make_user
from tests.model_server import Call, HttpError, Say, scenario
from tests.skills.forms.filling import SHORT, drafts_of, make_template, submissions_of

STORY = {
    "en": {
        "wish": "I need to fill out an injury report: John cut his hand on the slicer at 3pm today"
        " in the kitchen",
        "correction": "Actually it was his left hand",
        "open": "Fill it out",
        "send": "Send the form",
        "pdf": "Download as PDF",
        "sure": "I filled in what you said.",
    },
    "es": {
        "wish": "Necesito llenar un reporte de lesión: Juan se cortó la mano con la rebanadora hoy"
        " a las 3 de la tarde en la cocina",
        "correction": "En realidad fue la mano izquierda",
        "open": "Llenarlo",
        "send": "Enviar el formulario",
        "pdf": "Descargar en PDF",
        "sure": "Puse lo que dijiste en el formulario.",
    },
}
WHO = {"en": "John Miller", "es": "Juan Pérez"}


def field(page: Page, name: str) -> Locator:
    return page.locator(f"#v-{name}")


@EACH_ONCE
def test_chat_card_form_prefill_correction_submit_and_pdf(
    visit: Visit, house: House, look: str, language: str
) -> None:
    words, is_phone = STORY[language], "phone" in look
    member = house.hire(language=language)
    with house.answered_by_the_builtin_assistant() as url:
        visitor = visit(member, url=url, **LOOKS[look]).open()
        page = visitor.page
        visitor.ask(words["wish"])
        visitor.wait_for_answer()
        page.get_by_role("button", name=words["open"]).first.click()
        expect(page).to_have_url(re.compile("/forms/drafts/"))
        expect(page.locator("#assistant")).to_be_visible()
        expect(visitor.questions).to_have_text(words["wish"])
        visitor.wait_for_answer()
        visitor.read(words["sure"])
        assert look_over(visitor) == []
        visitor.ask(words["correction"])
        visitor.wait_for_answer()
        if is_phone:
            page.locator("#assistant-close").click()
            expect(page.locator("#assistant")).to_be_hidden()
        expect(field(page, "injured_person")).to_have_value(WHO[language])
        expect(field(page, "body_part")).to_have_value("hand")
        expect(field(page, "injury_time")).to_have_value("15:00")
        expect(field(page, "location")).to_have_value("kitchen")
        expect(page.locator("#field-side input:checked")).to_have_value("left")
        expect(page.locator("#origin-side button")).to_be_visible()
        assert look_over(visitor) == []
        page.get_by_role("button", name=words["send"]).click()
        [sent] = wait_for_submissions(page, house, member)
        assert sent.values["equipment"] in ("slicer", "rebanadora")
        with page.expect_download() as download:
            page.get_by_role("link", name=words["pdf"]).click()
        assert download.value.suggested_filename == f"{sent.reference}.pdf"


def wait_for_submissions(page: Page, house: House, member: Member) -> list[Any]:
    expect(page.locator(".sheet")).to_be_visible()
    return submissions_of(house.owner, member)


@pytest.fixture
def member(house: House) -> Member:
    """A house of their own, in which nobody else's tests look."""
    return make_user(house.owner, name="Ana Núñez")


@pytest.fixture
def template(house: House, member: Member) -> FormTemplate:
    make_contact(house.owner, member.group_id, "John Carter")
    return make_template(house.owner, member.group_id, SHORT, slug="report")


def filling(said: str, sure: dict[str, float] | None = None, *steps: Any, **values: Any) -> Any:
    """Told exactly this, the model fills in these values, plays the steps and says so."""
    arguments = {"fieldUpdates": values, "confidence": sure or {}, "words": said}
    call = Call("update_form", arguments)
    return scenario([*steps, call], Say("I filled it in."), when=exactly(said))


def tell(visitor: Visitor, words: str) -> None:
    if visitor.page.locator("#assistant-open").is_visible():
        visitor.page.locator("#assistant-open").click()
        expect(visitor.composer).to_be_focused()
    visitor.ask(words)


@BOTH_SIZES
def test_fields_come_in_marked_told_once_and_can_be_undone(
    visit: Visit, house: House, member: Member, template: FormTemplate, phone: bool
) -> None:
    house.model.script(
        filling("John got cut", {"body_part": 0.5}, who="John", hurt=True, body_part="Hand")
    )
    visitor = visit(member, phone=phone, media=STILL).open("/forms/report")
    page = visitor.page
    # One came for the form.
    assert focused(page) == "body"
    page.get_by_label("What happened").fill("Typed just before")
    tell(visitor, "John got cut")
    visitor.wait_for_answer()
    expect(page).to_have_url(re.compile("/forms/drafts/"))
    expect(page.locator(".form-updates")).to_contain_text("John Carter")
    expect(page.locator(".form-updates .doubt")).to_have_count(1)
    expect(field(page, "who")).to_have_value("John Carter")
    said = page.locator("#announcer").all_text_contents()
    assert " ".join(said).count("Filled in: Who, Somebody is hurt, Body part.") == 1
    assert look_over(visitor) == []
    if phone:
        page.keyboard.press("Escape")
        expect(page.locator("#assistant-open")).to_be_focused()
    # What it depends on was filled in: the field has come.
    expect(field(page, "body_part")).to_have_value("Hand")
    expect(page.locator("#origin-body_part")).to_contain_text("Check this")
    expect(page.locator("#origin-who")).to_contain_text("John got cut")
    expect(page.get_by_label("What happened")).to_have_value("Typed just before")
    page.locator("#origin-who button").click()
    expect(field(page, "who")).to_have_value("")
    expect(page.locator("#origin-who p")).to_have_count(0)
    assert drafts_of(house.owner, member)[0].typed.keys() == {"what", "hurt", "body_part"}
    # A page that comes later has it all, marked, and asks for nothing again.
    visitor.open(visitor.path)
    expect(page.locator("#origin-body_part")).to_contain_text("Check this")
    asked = [request.url for request in visitor.watch.requests]
    assert sum("/fields?" in url or url.endswith("/fields") for url in asked) == 1


def test_what_is_being_typed_is_not_taken_away(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    said = "Ana fell in the bar"
    with Pause() as pause:
        house.model.script(filling(said, None, pause, who="John", what="Somebody fell."))
        visitor = visit(member).open("/forms/report")
        page = visitor.page
        tell(visitor, said)
        page.get_by_label("Who").fill("Ann")
        expect(page.locator("#save-told")).to_have_text(re.compile("Saved"))
        # The server hears nothing of what comes next until the fields have come.
        outage = Interception(page, "**/forms/drafts/*", lose)
        visitor.watch.expect("ERR_FAILED", "Failed to fetch")
        page.get_by_label("Who").press_sequentially("a Lee")
        pause.end()
        expect(page.get_by_label("What happened")).to_have_value("Somebody fell.")
        expect(page.get_by_label("Who")).to_have_value("Anna Lee")
        expect(page.get_by_label("Who")).to_be_focused()
        expect(page.locator("#announcer")).to_contain_text("What you are typing was kept: Who.")
        expect(page.locator("#announcer")).to_contain_text("Filled in: What happened.")
        outage.end()
        expect(page.locator("#save-status")).to_contain_text("What you typed here replaced it.")
    assert drafts_of(house.owner, member)[0].typed["who"]["name"] == "Anna Lee"


def test_another_tab_follows_and_a_chip_answers_which_of_two(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    make_contact(house.owner, member.group_id, "John Doe")
    house.model.script(filling("It was John", who="John"), filling("Who: John Doe", who="John Doe"))
    visitor = visit(member).open("/forms/report")
    tell(visitor, "It was John")
    visitor.wait_for_answer()
    other = visitor.another_tab()
    other.page.get_by_label("What happened").fill("Typed in the other tab")
    expect(visitor.page.locator(".refused")).to_contain_text("Who")
    visitor.page.locator(".suggestions").get_by_role("button", name="John Doe").click()
    for tab in (visitor, other):
        expect(field(tab.page, "who")).to_have_value("John Doe")
    expect(other.page.get_by_label("What happened")).to_have_value("Typed in the other tab")
    expect(visitor.page).to_have_url(re.compile("/forms/drafts/"))
    assert submissions_of(house.owner, member) == []


def test_without_the_model_the_built_in_assistant_fills_in_and_says_who_it_is(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    said = "John Carter cut his finger"
    house.model.script(scenario(HttpError(401, times=1), when=exactly(said)))
    visitor = visit(member).open("/forms/report")
    tell(visitor, said)
    visitor.wait_for_answer()
    expect(visitor.page.locator("#presence")).to_have_text("Limited")
    expect(field(visitor.page, "who")).to_have_value("John Carter")


def test_at_the_limit_the_notice_says_so_and_what_was_typed_stays(
    visit: Visit, house: House, member: Member, template: FormTemplate
) -> None:
    with house.owner.transaction() as session:
        session.get_one(Group, member.group_id).daily_message_limit = 1
    visitor = visit(member, phone=True).open("/forms/report")
    visitor.watch.expect("status of 429")
    tell(visitor, "It was Ana")
    visitor.wait_for_answer()
    visitor.composer.fill("John got cut")
    visitor.composer.press("Enter")
    expect(visitor.page.locator("#composer-error [data-code=limit]")).to_be_visible()
    expect(visitor.composer).to_have_value("John got cut")
    assert look_over(visitor) == []


def test_without_scripts_the_assistant_is_not_there(
    visit: Visit, member: Member, template: FormTemplate
) -> None:
    visitor = visit(member, java_script_enabled=False).open("/forms/report")
    expect(visitor.page.locator("#assistant")).to_be_hidden()
    expect(visitor.page.locator("#assistant-open")).to_be_hidden()
    expect(visitor.page.get_by_role("button", name="Send the form")).to_be_visible()
