"""Making forms and looking after contacts in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from app.skills.forms.services.starters import add_starters, read_starters
from tests.assistant.processes import wait_until
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, EACH_ONCE, LOOKS, STILL, look_over
from tests.factories import Member, make_contact, make_user
from tests.skills.forms.filling import EVERY_TYPE, make_template


@pytest.fixture
def admin(house: House) -> Member:
    """A house of their own, in which nobody else's tests look."""
    return make_user(house.owner, role="admin", name="Ada Boss")


def told(page: Page, words: str) -> None:
    expect(page.locator(".builder-told")).to_contain_text(words)


def press(page: Page, label: str) -> None:
    page.locator("#work").get_by_role("button", name=label, exact=True).click()


def test_a_button_that_was_pressed_before_the_page_could_listen_leads_on(
    visit: Visit, house: House, admin: Member
) -> None:
    form = make_template(house.owner, admin.group_id, EVERY_TYPE)
    page = visit(admin, media=STILL).open("/admin/forms/").page
    held: list[Route] = []
    is_late = True

    def late(route: Route) -> None:
        if is_late:
            held.append(route)
        else:
            route.continue_()

    page.route(re.compile(r"/static/.*\.js"), late)
    page.goto(f"{page.url}{form.id}", wait_until="commit")
    page.get_by_text("Add a field").click()
    assert held
    is_late = False
    page.get_by_role("button", name="Pick one").click()
    expect(page.locator("#x-label_en")).to_be_focused()


@BOTH_SIZES
def test_a_form_is_described_built_published_and_filled_in(
    visit: Visit, house: House, admin: Member, phone: bool
) -> None:
    visitor = visit(admin, phone=phone, media=STILL).open("/admin/forms/")
    page = visitor.page
    page.get_by_role("link", name="New form").first.click()
    page.get_by_label("In one sentence").fill("Parking permits with name, plate and a date")
    page.get_by_role("button", name="Draft the form").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Parking permits")
    page.get_by_text("Add a field").click()
    page.get_by_role("button", name="Pick one").click()
    expect(page.locator("#x-label_en")).to_be_focused()
    page.keyboard.type("Kind of car")
    page.locator("#x-label_es").fill("Tipo de coche")
    page.get_by_label("Choice 1 in English").fill("Small")
    page.get_by_label("Choice 2 in English").fill("Large")
    # The preview follows without a button, in both languages.
    preview = page.locator(".preview-en")
    expect(preview.get_by_text("Kind of car")).to_be_visible()
    expect(preview.get_by_text("Large")).to_be_visible()
    page.locator(".builder-preview").get_by_text("Español").click()
    expect(page.locator(".preview-es").get_by_text("Tipo de coche")).to_be_visible()
    expect(preview).to_be_hidden()
    press(page, "Done")
    expect(page.locator("#open-new-1")).to_be_focused()
    # Whoever is faster than the server loses no press.
    page.evaluate("for (const _ of '12') document.getElementById('up-new-1').click()")
    expect(page.locator("#up-new-1")).to_be_focused()
    press(page, "Move down: Kind of car")
    press(page, "Remove: Plate")
    expect(page.locator("#undo-plate")).to_be_focused()
    told(page, "Not saved yet")
    press(page, "Save")
    told(page, "Saved as version 2.")
    expect(page.locator("#save")).to_be_focused()
    labels = [each.split("\n")[0] for each in page.locator(".builder-label").all_inner_texts()]
    assert labels == ["Name / Nombre", "Kind of car / Tipo de coche", "Date / Fecha"]
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status").first).to_contain_text("It is published")
    page.get_by_role("link", name="Fill it out").click()
    page.get_by_label("Large").check()
    expect(page.locator("#save-told")).to_have_text(re.compile("Saved"))


def test_work_that_was_not_saved_is_not_left_unawares_and_comes_back(
    visit: Visit, house: House, admin: Member
) -> None:
    template = make_template(house.owner, admin.group_id)
    path = f"/admin/forms/{template.id}"
    visitor = visit(admin).open(path)
    page = visitor.page
    page.locator("#open-what").click()
    expect(page.locator("#x-label_en")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Tell us all")
    expect(page.locator(".preview-en").get_by_text("Tell us all")).to_be_visible()
    # Enter saves nothing, and the focus stays where one writes.
    page.keyboard.press("Enter")
    told(page, "Not saved yet")
    expect(page.locator("#x-label_en")).to_be_focused()
    with page.expect_event("dialog") as dialog:
        page.evaluate("setTimeout(() => location.assign('/chat'))")
    assert dialog.value.type == "beforeunload"
    visitor.watch.dialogs.clear()
    # As after a tab that was closed, or a phone that ran out of power.
    other = visitor.another_tab()
    expect(other.page.locator("#brought-back")).to_be_visible()
    expect(other.page.locator("#x-label_en")).to_have_value("Tell us all")
    press(other.page, "Save")
    told(other.page, "Saved as version 2.")
    # A moment after it is said the page knows it too, and lets go of what it kept.
    still_kept = "Object.values(localStorage).some((words) => words.includes('Tell'))"
    wait_until(lambda: not other.page.evaluate(still_kept))
    other.open(path)
    expect(other.page.locator("#brought-back")).to_be_hidden()
    # The same was typed here: there is nothing left to save.
    press(page, "Save")
    told(page, "Saved")
    page.locator("#f-title_en").fill("Something else")
    # A moment after the last key it is kept on this device, where the other tab finds it.
    kept = "Object.values(localStorage).some((words) => words.includes('Something'))"
    wait_until(lambda: page.evaluate(kept))
    told(other.open(path).page, "Not saved yet")
    other.page.get_by_role("button", name="Discard").click()
    expect(other.page.locator("#brought-back")).to_be_hidden()
    expect(other.page.locator("#f-title_en")).to_have_value("Incident report")
    page.locator("#f-title_en").fill("Incident report")


@BOTH_SIZES
def test_without_scripts_a_form_is_built_too(
    visit: Visit, house: House, admin: Member, phone: bool
) -> None:
    template = make_template(house.owner, admin.group_id)
    visitor = visit(admin, phone=phone, java_script_enabled=False)
    visitor.watch.expect("status of 422")
    page = visitor.open(f"/admin/forms/{template.id}").page
    page.locator("#open-body_part").click()
    page.locator("#x-label_en").fill("Which part")
    page.locator("#work").get_by_role("button", name="Update the preview").click()
    expect(page.locator(".preview-en").get_by_text("Which part")).to_be_visible()
    press(page, "Move up: Which part")
    press(page, "Save")
    expect(page.locator(".builder-row.is-open .field-error")).to_contain_text(
        "is no longer above it"
    )
    press(page, "Move down: Which part")
    press(page, "Save")
    told(page, "Saved as version 2.")


@EACH_ONCE
def test_every_state_of_the_builder_fits_is_hit_by_thumbs_and_axe_finds_nothing(
    visit: Visit, house: House, look: str, language: str
) -> None:
    ada = make_user(house.owner, role="admin", language=language, name="Ada Boss")
    with house.owner.transaction() as session:
        add_starters(session, ada.group_id, read_starters())
    every = make_template(house.owner, ada.group_id, EVERY_TYPE, slug="every")
    path = f"/admin/forms/{every.id}"
    visitor = visit(ada, **LOOKS[look])
    visitor.watch.expect("status of 422", "status of 409")
    page = visitor.page
    wrong: dict[str, list[str]] = {}
    wrong["none"] = look_over(visitor.open("/admin/forms/?q=zzz"))
    wrong["builder"] = look_over(visitor.open(path))
    for name in ("text", "number", "multi_select", "file", "heading"):
        page.locator(f"#open-{name}").click()
        expect(page.locator(f'.is-open [name=row][value*=\'"key":"{name}"\']')).to_have_count(1)
        wrong[name] = look_over(visitor, ".builder-row.is-open")
    page.locator("#remove-heading").click()
    page.locator("#open-number").click()
    page.locator("#x-decimals").fill("x")
    page.locator(".builder-add summary").click()
    page.locator("#save").click()
    expect(page.locator("#x-decimals[aria-invalid=true]")).to_be_focused()
    wrong["errors"] = look_over(visitor)
    page.locator("#x-decimals").fill("1")
    other = visitor.another_tab()
    page.locator("#save").click()
    expect(page.locator(".builder-told")).to_contain_text("2")
    other.page.locator("#f-title_en").fill("Mine")
    other.page.locator("#save").click()
    expect(other.page.locator(".builder-clash")).to_be_focused()
    wrong["clash"] = look_over(other)
    other.page.locator("#save").click()
    expect(other.page.locator(".builder-told")).to_contain_text("3")
    assert {name: problems for name, problems in wrong.items() if problems} == {}


@EACH_ONCE
def test_every_page_of_contacts_fits_is_hit_by_thumbs_and_axe_finds_nothing(
    visit: Visit, house: House, look: str, language: str
) -> None:
    boss = make_user(house.owner, role="manager", language=language, name="Max Boss")
    make_contact(house.owner, boss.group_id, "José Núñez")
    make_contact(house.owner, boss.group_id, "Ann Lee")
    visitor = visit(boss, **LOOKS[look])
    visitor.watch.expect("status of 422")
    page = visitor.page
    wrong: dict[str, list[str]] = {"list": look_over(visitor.open("/admin/contacts/"))}
    page.locator("#f-q").fill("nunez")
    expect(page.locator(".contact-name")).to_have_count(1)
    page.locator(".contact-name").click()
    wrong["one"] = look_over(visitor)
    page.locator("#f-phone").fill("12")
    page.locator("form.form .button-primary").click()
    expect(page.locator("#f-phone")).to_be_focused()
    wrong["error"] = look_over(visitor)
    visitor.open("/admin/contacts/import")
    table = {"name": "team.csv", "mimeType": "text/csv", "buffer": b"Name,Phone\nEva,\nLuis,12\n"}
    page.locator("#f-file").set_input_files(table)  # type: ignore[arg-type]
    page.locator("form.form button[type=submit]").click()
    expect(page.locator("td").first).to_be_visible()
    wrong["import"] = look_over(visitor)
    assert {name: problems for name, problems in wrong.items() if problems} == {}
