"""Filling in a form: its page, what is saved of it, two tabs, undoing and throwing away."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from flask import Flask, before_render_template
from jinja2 import Template
from PIL import Image
from sqlalchemy import Engine, event, update

from app.accounts import clock
from app.accounts.models import Group
from app.db import Database
from app.fields.form_data import LONGEST_TYPED
from app.skills.forms.models import FormDraft, FormTemplate, FormTemplateVersion
from app.skills.forms.services import drafts
from app.skills.forms.services.contact_names import find_people
from app.skills.forms.services.drafts import MOST_OPEN, Change, change_fields, load_draft
from tests.factories import CheckedClient, Member, make_contact, make_group, make_user, sign_in
from tests.skills.forms.filling import (
    EVERY_TYPE,
    SHORT,
    WHAT,
    WHO,
    address_on,
    autosave,
    drafts_of,
    field,
    form_on,
    make_template,
    send,
    submissions_of,
    typed,
)
from tests.statements import noted_statements


def draft_id_of(address: str) -> UUID:
    return UUID(address.split("/drafts/")[1][:36])


def test_the_list_names_every_form_once_and_finds_by_words_of_both_languages(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_template(owner, None, slug="shared-one", title_en="Shared list", title_es="Lista común")
    make_template(owner, member.group_id, slug="shared-one", title_en="Own list", title_es="Lista")
    make_template(owner, member.group_id, title_en="Waste log", title_es="Registro de mermas")
    make_template(owner, member.group_id, title_en="Not ready", status="draft")
    page = browser.page("/forms/")
    titles = [each.text for each in page.find_all("span", class_="form-ticket-title")]
    assert "Own list" in titles and "Waste log" in titles
    assert "Shared list" not in titles and "Not ready" not in titles
    for wanted in ("merma", "WASTE log", "lo was"):
        found = browser.fragment(f"/forms/?q={wanted}").find_all("span", class_="form-ticket-title")
        assert [each.text for each in found] == ["Waste log"], wanted
    assert "There is no form for “pizza”" in browser.page("/forms/?q=pizza").text
    assert browser.get("/forms/submissions").location.endswith("/forms/submissions/")


def test_opening_a_form_stores_nothing_and_the_first_word_does(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    assert send(browser, page).location == f"/forms/{template.slug}"
    assert browser.post(address_on(page), htmx=True, **form_on(page)).status_code == 204
    assert drafts_of(owner, member) == []
    saved = autosave(browser, page, what="A fall")
    assert "Saved" in saved.text
    assert saved.response.headers["HX-Replace-Url"] == address_on(page)
    [draft] = drafts_of(owner, member)
    assert draft.typed == {"what": "A fall"}
    # Coming back leads on, and another one can be begun beside it.
    assert browser.get(f"/forms/{template.slug}").location == address_on(page)
    assert address_on(browser.page(f"/forms/{template.slug}?new=1")) != address_on(page)
    assert "Half-filled" in browser.page("/forms/").text
    assert "You have an unfinished form: Incident report." in browser.page("/chat").text


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_type_of_field_is_drawn_filled_and_shown_again(
    app: Flask, owner: Database, language: str
) -> None:
    member = make_user(owner, language=language)
    browser = sign_in(app, owner, member)
    template = make_template(owner, member.group_id, EVERY_TYPE)
    page = browser.page(f"/forms/{template.slug}")
    values = {
        "text": "Señal <b>&", "textarea": "uno\n\ndos",
        "number": "38,5" if language == "es" else "38.5",
        "email": "ana@example.com", "phone": "210 555 0123", "date": "2026-11-20", "time": "15:00",
        "datetime": "2026-11-20T15:00", "select": "high", "radio": "low", "checkbox": "true",
        "multi_select": ["low", "high"], "address-line1": "1 Main St", "address-city": "Austin",
        "person": "Somebody New",
    }  # fmt: skip
    response = send(browser, page, **values)
    assert response.status_code == 303
    again = form_on(browser.page(response.location))
    assert {name: again[f"v-{name}"] for name in values} == values
    # Nothing was touched: nothing changes, and nobody is told of another tab.
    assert send(browser, browser.page(response.location)).status_code == 303
    [draft] = drafts_of(owner, member)
    assert set(draft.field_versions.values()) == {1}
    labels = " ".join(each.text for each in page.find_all("label") + page.find_all("legend"))
    assert ("Campo text" in labels) == (language == "es")
    assert ("En pocas palabras" in page.text) == (language == "es")


def test_drawing_the_page_asks_the_database_nothing(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, EVERY_TYPE)
    page = browser.page(f"/forms/{template.slug}")
    files = {"u-photo": [picture("hand.jpg")], "u-file": [picture("paper.jpg")]}
    saved = browser.post(address_on(page), **form_on(page), **files)
    asked = []

    def watch(app: Flask, template: Template, **_facts: Any) -> None:
        if template.name == "forms/fill.html":
            event.listen(Engine, "before_cursor_execute", note)

    def note(*facts: Any) -> None:
        # The bell and the menu of every page have a look of their own.
        if not any(table in facts[2] for table in ("notifications", "service_team_members")):
            asked.append(facts[2])

    with before_render_template.connected_to(watch, app):
        try:
            page = browser.page(saved.location)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
    assert asked == []
    names = [each.text for each in page.find_all("a", class_="upload-name")]
    assert names == ["paper.jpg", "hand.jpg"]


def picture(name: str) -> tuple[BytesIO, str]:
    output = BytesIO()
    Image.new("RGB", (30, 20), "red").save(output, "JPEG")
    output.seek(0)
    return output, name


def test_what_is_wrong_is_told_at_once_and_kept_as_it_was_typed(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, EVERY_TYPE)
    page = browser.page(f"/forms/{template.slug}")
    saved = autosave(browser, page, number="warm", email="nobody")
    notes = saved.find("div", id="notes-number")
    assert notes.attributes["data-wrong"] == "true"
    assert "Enter a number, like 38 or 38.5." in notes.text
    assert not saved.find_all("div", id="notes-text")
    again = browser.page(address_on(page))
    assert form_on(again)["v-number"] == "warm"
    assert again.find("input", id="v-number").attributes["aria-invalid"] == "true"


def test_fields_come_and_go_with_what_their_condition_names(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    assert "hidden" in page.find("div", id="field-body_part").attributes
    assert "v-body_part" not in form_on(page)
    saved = autosave(browser, page, hurt="true")
    assert saved.find("input", id="v-body_part")
    # And without scripts, after saving; what was typed there outlives being hidden.
    page = browser.page(address_on(page))
    send(browser, page, body_part="Left hand")
    page = browser.page(address_on(page))
    send(browser, page, hurt=None)
    page = browser.page(address_on(page))
    assert "v-body_part" not in form_on(page)
    send(browser, page, hurt="true")
    assert form_on(browser.page(address_on(page)))["v-body_part"] == "Left hand"


def test_of_two_tabs_the_later_save_wins_field_by_field_and_says_so(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="First", who="Ann")
    one, two = browser.page(address_on(page)), browser.page(address_on(page))
    autosave(browser, one, what="From one", who="Ann Lee")
    told = autosave(browser, two, what="From two")
    assert "Also changed on another page: What happened." in told.text
    assert "Changed on another page and shown here now: Who." in told.text
    assert told.find("input", id="v-who").attributes["value"] == "Ann Lee"
    assert not told.find_all("textarea", id="v-what")
    [draft] = drafts_of(owner, member)
    assert draft.typed == {"what": "From two", "who": {"name": "Ann Lee"}}
    # Without scripts the same.
    three = browser.page(address_on(page))
    autosave(browser, browser.page(address_on(page)), what="Earlier")
    response = send(browser, three, what="Later")
    assert (
        "“What happened” was also changed on another page." in browser.page(response.location).text
    )


def test_a_number_is_the_same_in_the_language_that_another_tab_has_chosen_since(
    app: Flask, owner: Database
) -> None:
    member = make_user(owner)
    browser = sign_in(app, owner, member)
    number = {"name": "cost", "type": "number", "label": {"en": "Cost", "es": "Costo"}}
    template = make_template(owner, member.group_id, [number])
    page = browser.page(f"/forms/{template.slug}")
    send(browser, page, cost="1,250")
    again = browser.page(address_on(page))
    browser.post("/language", language="es")
    assert send(browser, again, action="submit").status_code == 303
    [sent] = submissions_of(owner, member)
    assert sent.values == {"cost": "1250"}


def test_the_same_save_twice_is_one(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    for _ in range(2):
        assert "on another page" not in autosave(browser, page, what="Once").text
    [draft] = drafts_of(owner, member)
    assert draft.field_versions == {"what": 1}


def test_a_page_whose_answer_was_lost_is_not_told_of_itself(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="First")
    assert "on another page" not in autosave(browser, page, what="First and more").text
    other = browser.page(address_on(page))
    autosave(browser, other, what="Theirs")
    assert "on another page" in autosave(browser, page, what="First and last").text
    assert drafts_of(owner, member)[0].typed == {"what": "First and last"}


def test_a_name_finds_contacts_and_several_are_asked_about(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    ana = make_contact(owner, member.group_id, "Ana López")
    make_contact(owner, member.group_id, "Ana Ruiz")
    make_contact(owner, make_group(owner), "Ana Foreign")
    found = browser.fragment("/forms/people?field=who&v-who=an")
    assert [each.text for each in found.find_all("button")] == ["Ana López", "Ana Ruiz"]
    page = browser.page(f"/forms/{template.slug}")
    notes = autosave(browser, page, who="Ana").find("div", id="notes-who")
    assert "Several people have that name. Which one?" in notes.text
    # Without scripts the button of a choice saves the form with it.
    page = browser.page(address_on(page))
    response = browser.post(address_on(page), **form_on(page), **{"pick-who": str(ana.id)})
    again = form_on(browser.page(response.location))
    assert (again["v-who"], again["v-who-contact"]) == ("Ana López", str(ana.id))


def test_the_beginning_of_a_name_is_nobody_yet(
    owner: Database, database: Database, member: Member, browser: CheckedClient,
    template: FormTemplate,
) -> None:  # fmt: skip
    make_contact(owner, member.group_id, "Juana Pérez")
    page = browser.page(f"/forms/{template.slug}")
    assert send(browser, page, "submit", who="Juan", what="Late").status_code == 303
    assert submissions_of(owner, member)[0].values["who"] == {"name": "Juan"}
    # Where only contacts may be named, she is offered and not taken.
    strict = make_template(owner, member.group_id, [{**WHO, "anybody": False}])
    page = browser.page(f"/forms/{strict.slug}")
    notes = autosave(browser, page, who="Juan").find("div", id="notes-who")
    assert "No contact has that name." in notes.text
    assert [each.text for each in notes.find_all("button")] == ["Juana Pérez"]


def test_who_is_called_so_is_found_among_many_whose_names_begin_so(
    owner: Database, database: Database, member: Member
) -> None:
    for letter in "ABCDEFGHI":
        make_contact(owner, member.group_id, f"{letter} Cruzado")
    make_contact(owner, member.group_id, "Zoe Cruz")
    with database.transaction(member.scope) as session:
        assert [person.name for person in find_people(session, "Cruz")] == ["Zoe Cruz"]


def test_what_was_said_is_marked_and_can_be_undone(
    owner: Database, database: Database, member: Member, browser: CheckedClient,
    template: FormTemplate,
) -> None:  # fmt: skip
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="Typed")
    address = address_on(page)
    with database.transaction(member.scope) as session:
        draft = load_draft(session, draft_id_of(address), lock=True)
        said = Change("Said", by="said", words="he said so", confidence=0.9)
        change_fields(session, draft, {"what": said, "hurt": Change("true", by="said")}, "en")
    part = browser.fragment(f"{address}/fields?names=what,hurt")
    assert "From what you said: “he said so”" in part.text
    assert part.find("input", id="v-body_part")
    assert "field-fresh" in part.find("div", id="field-what").attributes["class"]
    undone = browser.post_fragment(f"{address}/undo/what")
    assert form_text(undone.find("textarea", id="v-what").text) == "Typed"
    page = browser.page(address)
    assert browser.post(f"{address}/undo/hurt", **form_on(page)).status_code == 303
    assert "v-hurt" not in form_on(browser.page(address))
    assert browser.post(f"{address}/undo/nothing", **form_on(page)).status_code == 303


def test_undo_that_is_pressed_twice_is_one(
    owner: Database, database: Database, member: Member, browser: CheckedClient,
    template: FormTemplate,
) -> None:  # fmt: skip
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="Typed")
    address = address_on(page)
    with database.transaction(member.scope) as session:
        draft = load_draft(session, draft_id_of(address), lock=True)
        change_fields(session, draft, {"what": Change("Said", by="said")}, "en")
    form = form_on(browser.page(address))
    for _ in range(2):
        undone = browser.post_fragment(f"{address}/undo/what", **form)
        assert form_text(undone.find("textarea", id="v-what").text) == "Typed"
    assert drafts_of(owner, member)[0].typed == {"what": "Typed"}


def form_text(text: str) -> str:
    return text.strip()


def test_thrown_away_can_be_brought_back_and_typing_on_does_so_too(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="Kept")
    address = address_on(page)
    gone = browser.post(f"{address}/discard").location
    assert "Form discarded." in browser.page(gone).text
    assert browser.get(address).location == gone
    assert "unfinished form" not in browser.page("/chat").text
    assert browser.post(f"{address}/restore").location == address
    browser.post(f"{address}/discard")
    refused = browser.post(f"{address}/undo/what", **form_on(page))
    assert "This form was discarded." in browser._page(refused, 409).text
    autosave(browser, page, what="Kept on")
    [draft] = drafts_of(owner, member)
    assert (draft.status, draft.typed) == ("open", {"what": "Kept on"})


def test_a_form_archived_or_changed_meanwhile_is_finished_as_it_was_begun(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page, late = browser.page(f"/forms/{template.slug}"), browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="Begun")
    with owner.transaction() as session:
        begun_as = template.title_en
        content = {"fields": SHORT, "title_en": begun_as, "description_en": "As it was."}
        session.add(
            FormTemplateVersion(
                group_id=member.group_id, template_id=template.id, version=1, content=content
            )
        )
        session.execute(
            update(FormTemplate)
            .where(FormTemplate.id == template.id)
            .values(version=2, title_en="Confession", fields=[{**SHORT[1], "name": "other"}])
        )
    again = browser.page(address_on(page))
    assert "This form has changed since you began." in again.text
    assert (again.find("h1").text, "As it was." in again.text) == (begun_as, True)
    assert form_on(again)["v-what"] == "Begun"
    # Opened before it changed, first saved after: still the one that was seen.
    autosave(browser, late, what="Late")
    assert drafts_of(owner, member)[1].template_version == 1
    with owner.transaction() as session:
        archived = update(FormTemplate).where(FormTemplate.id == template.id)
        session.execute(archived.values(status="archived"))
    again = browser.page(address_on(page))
    assert "This form has been archived since you began." in again.text
    assert send(browser, again, "submit", who="Ann").status_code == 303
    [submission] = submissions_of(owner, member)
    assert (submission.template_version, submission.values["what"]) == (1, "Begun")
    # Nobody hands in what its page did not show, and that is what it is called, too.
    assert submission.form["title_en"] == begun_as


def test_a_form_archived_before_anything_was_saved_keeps_what_was_typed_on_the_page(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    with owner.transaction() as session:
        archived = update(FormTemplate).where(FormTemplate.id == template.id)
        session.execute(archived.values(status="archived"))
    form = {**form_on(page), "v-what": "A lot of text", "action": "submit"}
    response = browser.post(address_on(page), **form)
    assert response.status_code == 409
    assert "A lot of text" in response.text
    assert "This form was archived in the meantime and can no longer be started." in response.text
    part = browser.post_fragment(address_on(page), 409, **form)
    assert "This form was archived in the meantime and can no longer be started." in part.text
    assert drafts_of(owner, member) == []
    browser.page(f"/forms/{template.slug}", 404)


def test_nobody_elses_draft_is_seen_changed_or_taken(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="Mine")
    address = address_on(page)
    same_house = make_user(owner, member.group_id, role="admin")
    for other in (same_house, make_user(owner, role="admin")):
        stranger = sign_in(app, owner, other)
        stranger.page(address, 404)
        stranger.fragment(f"{address}/fields?names=what", 404)
        form = {**form_on(page), "v-what": "Theirs"}
        for path in (address, f"{address}/discard", f"{address}/restore", f"{address}/undo/what"):
            assert stranger.post(path, **form).status_code == 404, path
    [draft] = drafts_of(owner, member)
    assert (draft.typed, draft.status) == ({"what": "Mine"}, "open")


def test_forms_of_other_groups_and_unpublished_ones_cannot_be_begun(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    foreign = make_template(owner, make_group(owner), slug="foreign")
    unready = make_template(owner, member.group_id, slug="unready", status="draft")
    page = browser.page(f"/forms/{template.slug}")
    for other in (foreign, unready):
        browser.page(f"/forms/{other.slug}", 404)
        form = {**form_on(page), "begin": str(other.id), "v-what": "x"}
        assert browser.post(f"/forms/drafts/{browser.new_id()}", **form).status_code == 404
    for odd in ("", "x"):
        form = {**form_on(page), "begin": odd, "v-what": "x"}
        assert browser.post(f"/forms/drafts/{browser.new_id()}", **form).status_code == 404
    assert drafts_of(owner, member) == []


def test_every_address_asks_to_sign_in_and_takes_its_own_method(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="x")
    address = address_on(page)
    stranger = app.test_client()
    for path in ("/forms/", f"/forms/{template.slug}", "/forms/people", address,
                 f"{address}/fields", "/forms/submissions/", "/forms/submissions.csv"):  # fmt: skip
        assert "/sign-in" in stranger.get(path).location, path
        assert stranger.delete(path).status_code in (302, 303, 400, 405), path
    for path in (f"{address}/discard", f"{address}/restore", f"{address}/undo/what"):
        assert browser.get(path).status_code == 405, path
        assert browser.post(path, token=False).status_code == 400, path
    assert browser.post(address, token=False, **form_on(page)).status_code == 400
    assert browser.post("/forms/", **form_on(page)).status_code == 405
    assert len(drafts_of(owner, member)) == 1
    assert isinstance(drafts_of(owner, member)[0], FormDraft)


@pytest.mark.fault(38)
def test_what_is_typed_is_bounded_and_former_values_of_it_are_kept_once(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = autosave(browser, browser.page(f"/forms/{template.slug}"), what="short")
    for letter in "abc":
        address = f"/forms/drafts/{drafts_of(owner, member)[0].id}"
        page = browser.page(address)
        autosave(browser, page, what=letter * 50_000)
    [draft] = drafts_of(owner, member)
    assert draft.typed["what"] == "c" * LONGEST_TYPED
    assert draft.origins["what"]["before"] == ["b" * LONGEST_TYPED]


def size_of(draft: FormDraft) -> int:
    return len(json.dumps([draft.typed, draft.origins], ensure_ascii=False).encode())


@pytest.mark.fault(48)
def test_a_list_that_is_sent_again_and_again_stays_small(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, EVERY_TYPE)
    page = browser.page(f"/forms/{template.slug}")
    for letter in "abcdef":
        long = [f"{n}{letter}" * 2_400 for n in range(190)]
        form = {**form_on(page), "v-photo": long, "action": "save"}
        assert browser.post(address_on(page), **form).status_code == 303
    [draft] = drafts_of(owner, member)
    assert draft.typed["photo"] and size_of(draft) < 20_000


@pytest.mark.fault(48)
def test_a_draft_takes_one_megabyte_and_what_is_more_is_refused_in_words(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    fields = [{**WHAT, "name": f"what_{n}", "required": False} for n in range(60)]
    template = make_template(owner, member.group_id, fields)

    def filled_with(letter: str) -> dict[str, str]:
        return {f"what_{n}": letter * LONGEST_TYPED for n in range(60)}

    autosave(browser, browser.page(f"/forms/{template.slug}"), **filled_with("a"))
    [draft] = drafts_of(owner, member)
    page = browser.page(f"/forms/drafts/{draft.id}")
    form = {**form_on(page), **typed(filled_with("b")), "action": "save"}
    refused = browser.post_fragment(address_on(page), 422, **form)
    assert "This form is larger than 1 MB" in refused.text
    assert browser.post(address_on(page), **form).status_code == 422
    [draft] = drafts_of(owner, member)
    assert draft.typed == filled_with("a")


@pytest.mark.fault(48)
def test_lists_and_the_chat_read_neither_what_was_typed_nor_the_fields_of_forms(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    autosave(browser, browser.page(f"/forms/{template.slug}"), what="Spilled")
    boss = sign_in(app, owner, make_user(owner, group_id=member.group_id, role="admin"))
    large = ("typed", "origins", "field_versions", "form_templates.fields")
    for reader, path in ((browser, "/chat"), (browser, "/forms/"), (boss, "/admin/forms/")):
        with noted_statements() as noted:
            page = reader.page(path)
        assert "Incident report" in page.text, path
        selected = [each.partition(" FROM ")[0] for each in noted]
        assert any("form_templates.title_en" in each for each in selected), path
        assert not [each for each in selected for name in large if name in each], path


@pytest.mark.fault(38)
def test_more_forms_than_anybody_fills_in_are_not_begun(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    with owner.transaction() as session:
        session.add_all(
            FormDraft(
                group_id=member.group_id,
                user_id=member.user_id,
                template_id=template.id,
                template_version=1,
            )
            for _ in range(MOST_OPEN)
        )
    page = browser.page(f"/forms/{template.slug}?new=1")
    answer = send(browser, page, what="One more")
    assert answer.status_code == 429
    assert "You have started 200 forms that are not sent yet" in answer.text
    assert len(drafts_of(owner, member)) == MOST_OPEN


@pytest.mark.fault(38)
def test_forms_that_are_thrown_away_do_not_pile_up(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The last ones can be brought back, as long as there is room for them."""
    monkeypatch.setattr(drafts, "MOST_DISCARDED", 2)
    begun = []
    for number in range(4):
        page = browser.page(f"/forms/{template.slug}?new=1")
        autosave(browser, page, what=f"Form {number}")
        begun.append(address_on(page))
        browser.post(f"{begun[-1]}/discard")
    kept = sorted(draft.typed["what"] for draft in drafts_of(owner, member))
    assert kept == ["Form 2", "Form 3"]
    assert browser.post(f"{begun[0]}/restore").status_code == 404
    monkeypatch.setattr(drafts, "MOST_OPEN", 1)
    assert browser.post(f"{begun[3]}/restore").location == begun[3]
    assert browser.post(f"{begun[2]}/restore").status_code == 429
    monkeypatch.setattr(drafts, "MOST_OPEN", 200)
    monkeypatch.setattr(drafts, "MOST_BEGUN", 2)
    answer = send(browser, browser.page(f"/forms/{template.slug}?new=1"), what="One more")
    assert answer.status_code == 429 and "You have started 2 forms in one day" in answer.text


STARTING = [
    field("date", required=True, when="past", starts_now=True),
    field("time", required=True, starts_now=True),
    field("datetime", starts_now=True, when="past"),
    field("number", required=True),
]


def test_fields_that_start_with_now_show_it_and_keep_what_the_page_showed(
    owner: Database, member: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = make_template(owner, member.group_id, STARTING)
    with owner.transaction() as session:
        group = session.get_one(Group, member.group_id)
        opened = datetime(2026, 11, 2, 23, 58, tzinfo=ZoneInfo(group.timezone))
    monkeypatch.setattr(clock, "utc_now", lambda: opened)
    page = browser.page(f"/forms/{template.slug}")
    shown = {"date": "2026-11-02", "time": "23:58", "datetime": "2026-11-02T23:58"}
    assert {name: form_on(page)[f"v-{name}"] for name in shown} == shown
    assert drafts_of(owner, member) == []
    # Midnight passes before the first figure is typed.
    monkeypatch.setattr(clock, "utc_now", lambda: opened + timedelta(minutes=10))
    autosave(browser, page, number="38")
    [draft] = drafts_of(owner, member)
    assert draft.typed == {**shown, "number": "38"}
    again = browser.page(address_on(page))
    assert form_on(again)["v-time"] == "23:58"
    # Whoever empties it has emptied it.
    autosave(browser, again, time="")
    again = browser.page(address_on(page))
    assert form_on(again)["v-time"] == ""
    assert send(browser, again, "submit", time="23:50").status_code == 303
    [submission] = submissions_of(owner, member)
    assert (submission.values["date"], submission.values["time"]) == ("2026-11-02", "23:50")


def test_a_form_from_the_chat_starts_with_the_time_that_its_page_shows(
    owner: Database, database: Database, member: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, STARTING)
    with database.session(member.scope) as session:
        draft = drafts.open_draft(session, session.merge(template, load=False))
        session.commit()
        filling = drafts.read_filling(session, draft, "en")
        assert filling.missing == ["number"]
        changed = change_fields(session, draft, {"time": Change("08:15", "said")}, "en")
        session.commit()
        assert changed.filling.missing == ["number"]
    page = browser.page(f"/forms/drafts/{draft.id}")
    assert form_on(page)["v-time"] == "08:15"
    assert form_on(page)["v-date"]
