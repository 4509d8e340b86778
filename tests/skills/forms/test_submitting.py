"""Handing a form in: what keeps it back, that it arrives once, and its number."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from app.accounts.models import AuditEntry, Group
from app.config import Settings
from app.db import Database, app_database
from app.files.models import StoredFile
from app.skills.forms.models import FormSubmission, FormTemplate
from app.skills.forms.services.drafts import (
    Change,
    change_fields,
    load_draft,
    open_draft,
    read_filling,
)
from app.skills.forms.services.submit import NotReady, submit_draft
from tests.factories import CheckedClient, Member, make_contact, make_group, make_user, sign_in
from tests.skills.forms.filling import (
    EVERY_TYPE,
    HURT,
    WHAT,
    WHERE,
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
from tests.skills.forms.test_filling import picture


def test_what_is_missing_and_wrong_is_told_in_its_place_and_everything_is_kept(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    late = {"type": "date", "name": "day", "label": {"en": "Day"}, "when": "past"}
    template = make_template(owner, member.group_id, [WHAT, HURT, late])
    page = browser.page(f"/forms/{template.slug}")
    response = send(browser, page, "submit", day="2199-01-01", hurt="true")
    assert response.status_code == 422
    again = browser._page(response, 422)
    [summary] = again.find_all("div", role="alert")
    assert "2 fields need another look. Everything you typed is kept." in summary.text
    assert "data-first-error" in summary.attributes
    links = {link.attributes["href"]: link.text for link in summary.find_all("a")}
    assert links == {"#v-what": "What happened", "#v-day": "Day"}
    for target in links:
        assert [each for each in again.root if each.attributes.get("id") == target[1:]]
    assert "This is required." in again.find("div", id="notes-what").text
    assert "This date is in the future." in again.find("div", id="notes-day").text
    assert form_on(again)["v-day"] == "2199-01-01"
    assert submissions_of(owner, member) == []
    assert drafts_of(owner, member)[0].typed == {"day": "2199-01-01", "hurt": "true"}


def test_a_form_arrives_with_its_number_its_form_and_an_entry_in_the_log(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    john = make_contact(owner, member.group_id, "John Carter")
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="Cut his hand")
    page = browser.page(address_on(page))
    response = send(browser, page, "submit", who="John", hurt="true", body_part="")
    assert response.status_code == 422
    page = browser._page(response, 422)
    response = send(browser, page, "submit", body_part="Left hand")
    assert response.status_code == 303
    [found] = submissions_of(owner, member)
    assert found.reference == f"F-{found.year}-000001"
    assert found.values == {
        "who": {"name": "John Carter", "contact_id": str(john.id)},
        "what": "Cut his hand",
        "hurt": True,
        "body_part": "Left hand",
    }
    assert found.form["title_es"] == "Reporte de incidente"
    assert found.submitter == member.name
    sent = browser.page(response.location)
    assert f"Sent. Its number is {found.reference}." in sent.text
    assert [draft.status for draft in drafts_of(owner, member)] == ["submitted"]
    with owner.session() as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.subject == str(found.id))).one()
        assert (entry.action, entry.user_id) == ("submit form", member.user_id)


def test_a_form_in_which_nothing_was_typed_is_told_of_and_not_kept(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    again = browser._page(send(browser, page, "submit"), 422)
    assert "2 fields need another look." in again.text
    assert drafts_of(owner, member) == []
    assert "unfinished form" not in browser.page("/chat").text
    assert send(browser, again, "submit", who="Ann", what="A fall").status_code == 303


def test_what_is_hidden_is_not_handed_in(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, hurt="true")
    page = browser.page(address_on(page))
    send(browser, page, body_part="Left hand")
    page = browser.page(address_on(page))
    send(browser, page, hurt=None, who="Ann", what="All well")
    assert send(browser, browser.page(address_on(page)), "submit").status_code == 303
    assert set(submissions_of(owner, member)[0].values) == {"who", "what"}


def test_what_another_page_has_changed_is_shown_before_it_is_sent(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, who="Ann", what="A fall")
    one, two = browser.page(address_on(page)), browser.page(address_on(page))
    autosave(browser, two, who="Bea")
    response = send(browser, one, "submit", what="A bad fall")
    again = browser._page(response, 409)
    assert "Changed on another page and shown here now: Who." in again.text
    assert (form_on(again)["v-who"], form_on(again)["v-what"]) == ("Bea", "A bad fall")
    assert submissions_of(owner, member) == []
    assert send(browser, again, "submit").status_code == 303
    assert submissions_of(owner, member)[0].values["who"] == {"name": "Bea"}


def in_region(owner: Database, member: Member, region: str) -> None:
    with owner.transaction() as session:
        session.execute(update(Group).where(Group.id == member.group_id).values(region=region))


@pytest.mark.parametrize("page_is", ["of before", "of after", "not saved yet"])
def test_a_phone_is_of_the_country_in_which_it_was_typed(
    owner: Database, member: Member, browser: CheckedClient, page_is: str
) -> None:
    template = make_template(owner, member.group_id, [WHAT, field("phone"), field("email")])
    page = browser.page(f"/forms/{template.slug}")
    number = {"what": "A fall", "phone": "229 434 1234"}
    if page_is != "not saved yet":
        autosave(browser, page, **number)
        page = browser.page(address_on(page))
    in_region(owner, member, "MX")
    if page_is == "of after":
        page = browser.page(address_on(page))
    sent = number if page_is == "not saved yet" else {}
    assert send(browser, page, "submit", **sent).status_code == 303
    [found] = submissions_of(owner, member)
    assert found.values["phone"] == "+12294341234"


def test_a_phone_that_is_typed_anew_is_of_the_country_of_its_page(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, [WHAT, field("phone")])
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="A fall", phone="229 434 1234")
    in_region(owner, member, "MX")
    page = browser.page(address_on(page))
    assert send(browser, page, "submit", phone="229 434 1235").status_code == 303
    [found] = submissions_of(owner, member)
    assert found.values["phone"] == "+522294341235"


def test_a_page_that_names_no_country_there_is_counts_as_one_that_names_none(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, [WHAT, field("phone")])
    page = browser.page(f"/forms/{template.slug}")
    form = {**form_on(page), **typed({"what": "A fall", "phone": "229 434 1234"})}
    form |= {"region": "XX", "action": "submit"}
    assert browser.post(address_on(page), **form).status_code == 303
    assert submissions_of(owner, member)[0].values["phone"] == "+12294341234"


def test_pressed_twice_from_two_tabs_and_again_later_it_is_one(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(f"/forms/{template.slug}")
    first = send(browser, page, "submit", who="Ann", what="Once")
    again = send(browser, page, "submit", who="Ann", what="Once")
    assert (first.status_code, again.status_code) == (303, 303)
    assert again.location == first.location.removesuffix("?sent=1")
    assert browser.get(address_on(page)).location == again.location
    assert send(browser, page, who="Ann", what="Once").location == again.location
    form = {**form_on(page), "v-what": "More"}
    told = browser.post_fragment(address_on(page), 409, **form)
    assert "This form has already been sent. Open a new one." in told.text
    assert browser.post(f"{address_on(page)}/discard").status_code == 409
    assert len(submissions_of(owner, member)) == 1


@pytest.mark.parametrize(
    ("language", "told", "lines"),
    [
        ("en", "This form was already sent as number",
         ["Number", "99 °F", "As it was sent:", "3 °F", "Radio", "High", "As it was sent:", "Low",
          "Checkbox", "No", "As it was sent:", "Yes", "Person", "Bea", "As it was sent:", "Ann"]),
        ("es", "Este formulario ya se envió con el número",
         ["Campo number", "99 °F", "Se envió así:", "3 °F", "Campo radio", "Alta", "Se envió así:",
          "Baja", "Campo checkbox", "No", "Se envió así:", "Sí", "Campo person", "Bea",
          "Se envió así:", "Ann"]),
    ],
)  # fmt: skip
def test_what_is_corrected_on_a_page_that_was_sent_already_is_shown_and_not_lost(
    app: Flask, owner: Database, language: str, told: str, lines: list[str]
) -> None:
    member = make_user(owner, language=language)
    browser = sign_in(app, owner, member)
    template = make_template(owner, member.group_id, EVERY_TYPE)
    page = browser.page(f"/forms/{template.slug}")
    values = {"number": "3", "radio": "low", "checkbox": "true", "person": "Ann",
              "phone": "210 555 0123"}  # fmt: skip
    sent = send(browser, page, "submit", **values).location.removesuffix("?sent=1")
    [found] = submissions_of(owner, member)
    corrected = values | {"number": "99", "radio": "high", "checkbox": None, "person": "Bea",
                          "phone": "(210) 555-0123"}  # fmt: skip
    for action in ("submit", "save"):
        again = browser._page(send(browser, page, action, **corrected), 409)
        assert told in again.text and found.reference in again.text
        assert sent in {each.attributes["href"] for each in again.find_all("a")}
        [sheet] = again.find_all("article", class_="sheet")
        assert [each.text for each in sheet.find_all("p")] == lines
    assert send(browser, page, "submit", **values).location == sent
    [still] = submissions_of(owner, member)
    assert still.values["number"] == "3"


@pytest.mark.parametrize(
    ("corrected", "shown"),
    [
        ({"text": "=<b>x"}, ["=<b>x", "Cold"]),
        ({"text": ""}, ["(empty)", "Cold"]),
        ({"number": "many"}, ["many", "(empty)"]),
        ({"date": "2026-13-45"}, ["2026-13-45", "(empty)"]),
        ({"multi_select": ["low", "gone"]}, ["low, gone", "Low"]),
        ({"address-city": "Austin"}, ["Austin", "(empty)"]),
        ({"person": "x" * 500}, ["x" * 500, "(empty)"]),
        ({"phone": "not 210 555 0123"}, ["not 210 555 0123", "(empty)"]),
        ({"text": " Cold "}, []),
        ({"multi_select": "low"}, []),
        ({"number": " "}, []),
    ],
)
def test_a_correction_is_shown_as_it_was_typed_where_it_cannot_be_read(
    owner: Database, member: Member, browser: CheckedClient, corrected: dict[str, Any],
    shown: list[str],
) -> None:  # fmt: skip
    page = browser.page(f"/forms/{make_template(owner, member.group_id, EVERY_TYPE).slug}")
    values: dict[str, Any] = {"text": "Cold", "multi_select": "low"}
    assert send(browser, page, "submit", **values).status_code == 303
    response = send(browser, page, "submit", **(values | corrected))
    if not shown:
        assert response.status_code == 303
        return
    sheet = browser._page(response, 409).find("article")
    assert [each.text for each in sheet.find_all("p", class_="sheet-text")] == shown


def test_files_and_fields_that_were_hidden_are_compared_too(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    fields = [WHO, WHAT, HURT, WHERE, field("photo"), field("signature")]
    template = make_template(owner, member.group_id, fields)
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, hurt="true")
    page = browser.page(address_on(page))

    def post(*photos: str, **values: Any) -> Any:
        form = {**form_on(page), **typed({"who": "Ann", "what": "A cut", **values})}
        files = {"u-photo": [picture(name) for name in photos]} if photos else {}
        sent = {name: value for name, value in form.items() if value is not None}
        return browser.post(address_on(page), **sent, action="submit", **files)

    # A box that was unticked hides what was typed into the field below it.
    sent = post("hand.png", hurt=None, body_part="Left hand").location
    assert submissions_of(owner, member)[0].values.keys() == {"who", "what", "photo"}
    again = post("hand.png", hurt=None, body_part="Left hand")
    assert again.location == sent.removesuffix("?sent=1")
    for photos, values, lines in (
        (("hand.png", "floor.png"), {"hurt": None, "body_part": "Left hand"},
         ["hand.png, floor.png", "hand.jpg"]),
        (("hand.png",), {"hurt": "true", "body_part": "Left hand"},
         ["Yes", "No", "Left hand", "(empty)"]),
    ):  # fmt: skip
        sheet = browser._page(post(*photos, **values), 409).find("article")
        shown = [each.text for each in sheet.find_all("p", class_="sheet-text")]
        assert shown == lines
    with owner.session() as session:
        mine = StoredFile.user_id == member.user_id
        assert session.scalar(select(func.count(StoredFile.id)).where(mine)) == 1


def test_the_same_form_from_many_tabs_at_once_arrives_once(
    app: Flask, owner: Database, member: Member, template: FormTemplate
) -> None:
    browser = sign_in(app, owner, member)
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, who="Ann", what="Once")
    form, address = form_on(browser.page(address_on(page))), address_on(page)
    browsers = [sign_in(app, owner, member) for _ in range(5)]
    for each in browsers:
        assert each.csrf_token
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda b: b.post(address, **form, action="submit"), browsers))
    assert {answer.status_code for answer in answers} == {303}
    assert len({answer.location.split("?")[0] for answer in answers}) == 1
    assert len(submissions_of(owner, member)) == 1


def test_two_hundred_at_once_are_numbered_without_gaps(
    settings: Settings, owner: Database, member: Member
) -> None:
    template = make_template(owner, member.group_id, [WHAT])
    other = make_template(owner, make_group(owner), [WHAT])
    stranger = make_user(owner, other.group_id)
    database = app_database(settings, pool_size=16, pool_timeout=60)
    with database.transaction(member.scope) as session:
        ids = [begin(session, template) for _ in range(200)]
    with database.transaction(stranger.scope) as session:
        theirs = begin(session, other)

    def hand_in(draft_id: UUID) -> int:
        with database.transaction(member.scope) as session:
            filling = read_filling(session, load_draft(session, draft_id, lock=True), "en")
            return submit_draft(session, filling, "en").number

    with ThreadPoolExecutor(16) as pool:
        numbers = list(pool.map(hand_in, ids))
    assert sorted(numbers) == list(range(1, 201))
    with database.transaction(stranger.scope) as session:
        filling = read_filling(session, load_draft(session, theirs, lock=True), "en")
        assert submit_draft(session, filling, "en").number == 1
    database.engine.dispose()


def begin(session: object, template: FormTemplate) -> UUID:
    draft = open_draft(session, template)  # type: ignore[arg-type]
    change_fields(session, draft, {"what": Change("Something")}, "en")  # type: ignore[arg-type]
    return draft.id


def test_a_transaction_that_fails_leaves_no_gap(
    database: Database, owner: Database, member: Member
) -> None:
    template = make_template(owner, member.group_id, [WHAT])
    for is_kept in (True, False, True):
        with database.session(member.scope) as session:
            draft = load_draft(session, begin(session, template), lock=True)
            submit_draft(session, read_filling(session, draft, "en"), "en")
            session.commit() if is_kept else session.rollback()
    assert [each.number for each in submissions_of(owner, member)] == [1, 2]
    with database.session(member.scope) as session:
        empty = open_draft(session, template)
        with pytest.raises(NotReady):
            submit_draft(session, read_filling(session, empty, "en"), "en")
    with owner.session() as session:
        mine = FormSubmission.user_id == member.user_id
        assert session.scalar(select(func.count(FormSubmission.id)).where(mine)) == 2


def test_nothing_is_handed_in_that_the_page_did_not_show(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    """A field that comes with a box, which somebody else filled in before the box was ticked."""
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, who="Ana", what="A cut")
    page = browser.page(address_on(page))
    other = browser.page(address_on(page))
    autosave(browser, other, hurt="true")
    send(browser, browser.page(address_on(page)), body_part="Left hand", hurt="true")
    refused = send(browser, page, "submit", hurt="true")
    assert refused.status_code == 409
    assert "Changed on another page and shown here now: Body part." in refused.text
    assert "Left hand" in refused.text
    shown = browser.page(address_on(page))
    assert send(browser, shown, "submit").status_code == 303


def test_a_form_names_nobody_but_whom_its_page_shows(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    """The beginning of a name is read as a contact's, who may be another person."""
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, who="Maria", what="A cut")
    page = browser.page(address_on(page))
    make_contact(owner, member.group_id, "María González")
    refused = send(browser, page, "submit")
    assert refused.status_code == 409
    assert "Check who is named here now, then send it again: Who." in refused.text
    again = browser._page(refused, 409)
    assert form_on(again)["v-who"] == "María González"
    assert send(browser, again, "submit").status_code == 303
    # Accents and capitals are no other name.
    page = browser.page(f"/forms/{template.slug}")
    sent = send(browser, page, "submit", who="maria gonzalez", what="Another")
    assert sent.status_code == 303
