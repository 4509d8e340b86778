"""The widgets of a request as the chat's page draws them, before and after they are answered."""

from __future__ import annotations

import json
from uuid import UUID

import pytest
from flask import Flask

from app.db import Database
from app.fields.display import COMMON_REGIONS, calling_codes
from app.skills.service_requests.parts import RequestSummaryPart, SummaryLine
from tests.factories import Member, make_user, sign_in
from tests.factories.browser import CheckedClient, Page
from tests.html_checks import Element
from tests.skills.service_requests.widgets import (
    ASKED,
    answers,
    ask_for_type,
    ask_with_widget,
    field_of,
    make_type,
)


@pytest.fixture(scope="module")
def member(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture(scope="module")
def type_id(owner: Database, member: Member) -> UUID:
    return make_type(owner, member.group_id)


@pytest.fixture
def client(app: Flask, owner: Database, member: Member) -> CheckedClient:
    return sign_in(app, owner, member)


def shown(client: CheckedClient, thread_id: UUID) -> Page:
    return client.page(f"/chat/{thread_id}")


def forms(page: Page) -> list[Element]:
    return [form for form in page.find_all("form") if "data-posts" in form.attributes]


def carried(form: Element) -> dict[str, str]:
    hidden = form.find_all("input", type="hidden")
    return {each.attributes["name"]: each.attributes.get("value", "") for each in hidden}


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("language", ["en", "es"])
def test_each_type_of_field_has_a_control_in_a_form_that_works_without_scripts(
    app: Flask, owner: Database, client: CheckedClient, member: Member, type_id: UUID,
    kind: str, language: str,
) -> None:  # fmt: skip
    database = app.extensions["comanda"].database
    thread_id = ask_with_widget(database, owner, member, type_id, kind)
    page = client.page(f"/chat/{thread_id}?lang={language}")
    answer, later = forms(page)
    assert answer.attributes["action"] == f"/chat/{thread_id}/messages"
    step = json.loads(carried(answer)["internal_content"])
    field_id = field_of(owner, type_id, kind)["field_id"]
    assert step == {"type": "field_response", "field_id": field_id}
    not_now = json.loads(carried(later)["internal_content"])
    assert not_now == {"type": "widget_cancelled", "field_id": field_id}
    assert carried(answer)["message_key"] != carried(shown_again(client, thread_id))["message_key"]
    assert ASKED[kind]["label"][language] in answer.text
    assert answer.find("div", id=f"notes-a_{kind}")


def shown_again(client: CheckedClient, thread_id: UUID) -> Element:
    return forms(shown(client, thread_id))[0]


def test_what_is_sent_without_scripts_is_stored_and_the_widget_is_a_line(
    app: Flask, owner: Database, client: CheckedClient, member: Member, type_id: UUID
) -> None:
    thread_id = ask_with_widget(app.extensions["comanda"].database, owner, member, type_id, "phone")
    form = forms(shown(client, thread_id))[0]
    typed = {"v-a_phone-code": "52", "v-a_phone": "55 1234 5678"}
    response = client.post(form.attributes["action"], **carried(form), **typed)
    assert (response.status_code, response.location) == (303, f"/chat/{thread_id}")
    # Sent once more, as by somebody who goes back, it is the same answer.
    client.post(form.attributes["action"], **carried(form), **typed)
    [(words, step)] = answers(owner, thread_id)
    assert words == "✓ Call back: +52 55 1234 5678"
    assert step["value"] == "+525512345678"
    page = shown(client, thread_id)
    assert forms(page) == []
    assert page.find("div", **{"data-part-type": "field_widget"}).text == (
        "Call back: +52 55 1234 5678"
    )


def test_what_an_old_page_shows_answers_nothing_that_was_asked_since(
    app: Flask, owner: Database, client: CheckedClient, member: Member, type_id: UUID
) -> None:
    database = app.extensions["comanda"].database
    old = [carried(form) for form in forms(shown(client, ask_with_widget(
        database, owner, member, type_id, "phone")))]  # fmt: skip
    # The same field, asked for by another message.
    thread_id = ask_with_widget(database, owner, member, type_id, "phone")
    address = forms(shown(client, thread_id))[0].attributes["action"]
    for form in old:
        client.post(address, **form, **{"v-a_phone": "210 555 0123"})
    assert answers(owner, thread_id) == []
    assert "This was answered already." in shown(client, thread_id).text
    client.post(address, **carried(shown_again(client, thread_id)), **{"v-a_phone": "210 555 0123"})
    assert len(answers(owner, thread_id)) == 1


def test_a_day_before_today_is_all_that_a_past_day_can_be(
    app: Flask, owner: Database, client: CheckedClient, member: Member, type_id: UUID
) -> None:
    database = app.extensions["comanda"].database
    page = shown(client, ask_with_widget(database, owner, member, type_id, "date"))
    control = page.find("input", id="v-a_date").attributes
    assert "max" in control and "min" not in control


@pytest.mark.parametrize("block", [{"type": "hologram"}, {"type": "signature"}, {"label": {}}])
def test_a_field_that_nothing_here_can_draw_breaks_no_page_and_offers_words(
    app: Flask, owner: Database, client: CheckedClient, member: Member, type_id: UUID,
    block: dict[str, object],
) -> None:  # fmt: skip
    database = app.extensions["comanda"].database
    thread_id = ask_with_widget(database, owner, member, type_id, "text", **block)
    page = shown(client, thread_id)
    assert "This cannot be shown here; I will ask in words." in page.text
    [form] = forms(page)
    client.post(form.attributes["action"], **carried(form))
    [(words, step)] = answers(owner, thread_id)
    assert step["type"] == "widget_error" and words == "⚠ Machine cannot be shown here"


def test_the_list_of_types_has_its_suggestion_and_every_type_and_is_chosen_from_once(
    app: Flask, owner: Database, client: CheckedClient, member: Member, type_id: UUID
) -> None:
    thread_id = ask_for_type(app.extensions["comanda"].database, owner, member)
    page = shown(client, thread_id)
    [form] = forms(page)
    chosen = [
        button
        for button in form.find_all("button", name="internal_content")
        if str(type_id) in button.attributes["value"]
    ]
    assert len(chosen) == 2, "as a suggestion, and in its category"
    assert "Rooms" in form.find("details").text
    step = chosen[0].attributes["value"]
    client.post(form.attributes["action"], **carried(form), internal_content=step)
    [(words, kept)] = answers(owner, thread_id)
    assert (words, kept["type_id"]) == ("✓ Broken machine", str(type_id))
    page = shown(client, thread_id)
    assert page.find("div", **{"data-part-type": "type_selector"}).text == "Broken machine"


def test_not_now_closes_the_list(
    app: Flask, owner: Database, client: CheckedClient, member: Member, type_id: UUID
) -> None:
    thread_id = ask_for_type(app.extensions["comanda"].database, owner, member)
    [form] = forms(shown(client, thread_id))
    later = form.find_all("button", name="internal_content")[-1]
    client.post(
        form.attributes["action"], **carried(form), internal_content=later.attributes["value"]
    )
    page = shown(client, thread_id)
    assert (
        "This list is no longer open."
        in page.find("div", **{"data-part-type": "type_selector"}).text
    )


def test_the_request_so_far_says_where_values_come_from_and_what_is_missing(app: Flask) -> None:
    line = {"field_id": UUID(int=1), "is_required": True}
    part = RequestSummaryPart(
        type_name="Broken machine",
        path=["Rooms"],
        lines=[
            SummaryLine(label="Machine", value="The slicer", words="the slicer stopped", **line),
            SummaryLine(label="Priority", value="High", before="Low", is_inferred=True, **line),
            SummaryLine(label="Where to", **line),
        ],
        answers=[("Who uses it?", "Everybody")],
    )
    with app.test_request_context("/"):
        html = app.jinja_env.get_template(part.template).render(part=part)
    for said in ("You said: “the slicer stopped”", "Low", "Check this", "Still needed", "Everybody",
                 "1 answer is still needed."):  # fmt: skip
        assert said in html


def test_countries_come_by_name_in_the_readers_language_the_common_ones_first() -> None:
    spanish = calling_codes("es", "US")
    assert [each.code for each in spanish[:2]] == ["1", "52"]
    assert spanish[1].name == "México"
    assert [each.is_common for each in spanish].index(False) == len(COMMON_REGIONS)
    assert {"Alemania", "España"} <= {each.name for each in spanish}
