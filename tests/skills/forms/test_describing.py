"""A form from one sentence: from the starters, from the fields named, from a model."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select

from app.config import Settings
from app.db import Database
from app.extensions import Services
from app.factory import build_app
from app.fields.definitions import RadioField, read_fields
from app.skills.forms.builder.field_names import fields_named_in
from app.skills.forms.builder.sentence_drafts import draft_from_starters, find_starter
from app.skills.forms.models import FormTemplate
from app.skills.forms.services.starters import read_starters
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.model_server import Call, HttpError, ModelServer, Say, scenario

NEW = "/admin/forms/new"
GOOD = {
    "title": {"en": "Key log", "es": "Registro de llaves"},
    "description": {"en": "Who has which key.", "es": "Quién tiene qué llave."},
    "icon": "clipboard",
    "fields": [
        {"type": "person", "name": "holder", "label": {"en": "Holder", "es": "Quién la tiene"}},
        {"type": "date", "name": "given", "label": {"en": "Given on", "es": "Entregada el"}},
    ],
}
BAD = {**GOOD, "fields": [{"type": "barcode", "name": "x", "label": {"en": "X", "es": "X"}}]}


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


def begin(browser: CheckedClient, owner: Database, **form: str) -> FormTemplate:
    """The form that is begun so; its page is looked at, too."""
    response = browser.post(NEW, **form)
    assert response.status_code == 303, response.text[:500]
    browser.page(response.location)
    with owner.session() as session:
        found = session.get(FormTemplate, UUID(response.location.rsplit("/", 1)[1]))
        assert found
        return found


@pytest.mark.parametrize(
    ("sentence", "slug"),
    [
        ("A form to log waste at the end of the shift", "waste-log"),
        ("an injury report for when someone gets hurt", "employee-injury-report"),
        ("hoja para registrar las temperaturas de los refrigeradores", "temperature-log"),
        ("a checklist for closing the kitchen", "closing-checklist"),
        ("solicitud de vacaciones", "time-off-request"),
        ("vacation request", "time-off-request"),
        ("form for guests who complain about food", "guest-complaint"),
        ("un formato para pedir uniformes", "uniform-request"),
        ("a form to swap shifts", "shift-swap"),
        ("recepción de entregas de proveedores", "delivery-check"),
        ("write up an employee for being late", "employee-write-up"),
        ("survey about the staff party", None),
        ("encuesta de satisfacción de clientes", None),
        ("lost and found log", None),
        ("job application", None),
        ("pizza recipe", None),
        ("name, date, temperature and a photo", None),
        ("", None),
    ],
)
def test_a_sentence_finds_the_starter_that_it_means_or_none(
    on: Services, sentence: str, slug: str | None
) -> None:
    found = find_starter(on.embedder, sentence)
    assert (found.slug if found else None) == slug


@pytest.mark.parametrize(
    ("sentence", "title", "fields"),
    [
        ("name, date, temperature and a photo", "",
         {"name": "text", "date": "date", "temperature": "number", "photo": "photo"}),
        ("A form for parking permits with name, plate, date and a signature", "Parking permits",
         {"name": "text", "plate": "text", "date": "date", "signature": "signature"}),
        ("Quiero un formulario para objetos perdidos con descripción, fecha y hora, lugar y foto",
         "Objetos perdidos",
         {"description": "textarea", "date": "date", "time": "time", "location": "text",
          "photo": "photo"}),
        ("catering order: guest name, phone, e-mail, number of guests & notes", "Catering order",
         {"guest_name": "text", "phone": "phone", "e_mail": "email", "number_of_guests": "number",
          "notes": "textarea"}),
        ("Something about parking", "Something about parking", {}),
        ("I need to fill out a form for parking permits", "Parking permits", {}),
        ("We'd like to have a form for keys with name", "Keys", {"name": "text"}),
        ("Can you please make me a form about pets", "Pets", {}),
        ("Necesito llenar un formulario para mascotas", "Mascotas", {}),
        ("Quisiera hacer un formato de llaves", "Llaves", {}),
        ("I need to count the knives", "Count the knives", {}),
        ("Knife loans with who took it, which knife (chef, bread or boning), date (of the loan)",
         "Knife loans", {"who_took_it": "text", "which_knife": "radio", "date": "date"}),
        ("name, size (XS, S, M, L, XL y XXL), temperature (°F)", "",
         {"name": "text", "size": "select", "temperature": "number"}),
        ("name, knife (chef, bread", "", {"name": "text", "knife_chef": "text", "bread": "text"}),
        ("date, date and date", "", {"date": "date", "date_2": "date", "date_3": "date"}),
    ],
)  # fmt: skip
def test_the_fields_that_a_sentence_names_are_made(
    sentence: str, title: str, fields: dict[str, str]
) -> None:
    called, made = fields_named_in(sentence, "es" if sentence.startswith("Quiero") else "en")
    assert called == title
    assert {field.name: field.type for field in made} == fields


def test_the_choices_in_brackets_are_those_of_their_field() -> None:
    _title, (_name, knife, _date) = fields_named_in(
        "name, knife (chef, bread/paring or both), date", "en"
    )
    assert isinstance(knife, RadioField)
    assert knife.label.en == "Knife"
    assert [each.label.en for each in knife.options] == ["Chef", "Bread", "Paring", "Both"]
    assert [each.value for each in knife.options] == ["chef", "bread", "paring", "both"]


def test_what_is_known_is_labelled_in_both_languages(on: Services) -> None:
    drafted = draft_from_starters(on.embedder, "nombre, fecha, placa y una foto", "en")
    labels = [each["label"] for each in drafted.content["fields"]]
    assert labels[1] == {"en": "Date", "es": "Fecha"}
    assert labels[2] == {"es": "Placa"}


def test_a_described_form_is_a_draft_that_says_where_it_comes_from(
    owner: Database, browser: CheckedClient
) -> None:
    made = begin(browser, owner, **{"from": "sentence", "sentence": "A form to swap shifts"})
    starter = read_starters()["shift-swap"]
    assert (made.status, made.slug, made.version) == ("draft", "shift-swap", 1)
    assert read_fields(made.fields) == starter.fields
    again = browser.post(NEW, **{"from": "sentence", "sentence": "a form to swap shifts"})
    page = browser.page(again.location)
    assert "This is based on the starter form “Shift swap”" in page.text
    assert page.find("input", id="f-slug").attributes["value"] == "shift-swap-2"
    named = browser.post(NEW, **{"from": "sentence", "sentence": "name, date and a photo"})
    assert (
        "No starter form fits. These are the fields you named; check each one."
        in browser.page(named.location).text
    )
    nothing = browser.post(NEW, **{"from": "sentence", "sentence": "lost and found"})
    page = browser.page(nothing.location)
    assert "No starter form fits, so this one is empty." in page.text
    assert page.find("input", id="f-title_en").attributes["value"] == "Lost and found"


def test_a_form_begins_with_a_starter_or_with_nothing(
    owner: Database, browser: CheckedClient
) -> None:
    page = browser.page(NEW)
    assert len(page.find_all("button", name="from")) == len(read_starters()) + 2
    made = begin(browser, owner, **{"from": "starter:waste-log"})
    assert (made.title_es, made.status) == (read_starters()["waste-log"].title.es, "draft")
    made = begin(browser, owner, **{"from": "nothing", "title": "  Parking   permit "})
    assert (made.title_en, made.slug, made.fields) == ("Parking permit", "parking-permit", [])


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"from": "sentence", "sentence": "  "}, "Say in one sentence what the form is for."),
        ({"from": "sentence", "sentence": "x" * 501}, "at most 500 fit here."),
        ({"from": "nothing", "title": ""}, "Give the form a title of at most 120 characters."),
        ({"from": "starter:nothing-such"}, "Choose from the list."),
    ],
)
def test_what_cannot_begin_a_form_is_told_and_nothing_is_made(
    owner: Database, admin: Member, browser: CheckedClient, form: dict[str, str], told: str
) -> None:
    response = browser.post(NEW, **form)
    assert response.status_code == 422
    assert told in browser._page(response, 422).text
    with owner.session() as session:
        mine = select(FormTemplate.id).where(FormTemplate.group_id == admin.group_id)
        assert session.scalars(mine).all() == []


# With a model


def with_model(settings: Settings, server: ModelServer) -> Flask:
    given = {
        "ai_provider": "openai", "openai_base_url": server.base_url, "openai_api_key": "test",
    }  # fmt: skip
    return build_app(settings.model_copy(update=given))


def describe(app: Flask, owner: Database, admin: Member) -> tuple[FormTemplate, str]:
    browser = sign_in(app, owner, admin)
    response = browser.post(NEW, **{"from": "sentence", "sentence": "Who has which key"})
    text = browser.page(response.location).text
    with owner.session() as session:
        found = session.get(FormTemplate, UUID(response.location.rsplit("/", 1)[1]))
        assert found
        return found, text


def test_a_model_drafts_strict_json_that_is_checked(
    owner: Database, admin: Member, settings: Settings, model_server: ModelServer
) -> None:
    model_server.script(scenario(Call("draft_form", GOOD)))
    made, text = describe(with_model(settings, model_server), owner, admin)
    assert (made.title_es, made.slug, made.status) == ("Registro de llaves", "key-log", "draft")
    assert [field["name"] for field in made.fields] == ["holder", "given"]
    assert "The model drafted this form." in text
    call = model_server.last_call
    assert call.tools == ["draft_form"] and call.message == "Who has which key"


def test_a_model_that_errs_is_told_once_and_may_mend_it(
    owner: Database, admin: Member, settings: Settings, model_server: ModelServer
) -> None:
    model_server.script(
        scenario(Call("draft_form", BAD), when="which key"),
        scenario(Call("draft_form", GOOD), when="no form that can be used.*barcode"),
    )
    made, _text = describe(with_model(settings, model_server), owner, admin)
    assert made.title_en == "Key log"


@pytest.mark.parametrize(
    "step", [Call("draft_form", BAD), Say("I would rather not."), HttpError(400)],
    ids=["bad twice", "no JSON", "refused"],
)  # fmt: skip
def test_where_the_model_gives_no_form_the_starters_serve(
    owner: Database, admin: Member, settings: Settings, model_server: ModelServer, step: Any
) -> None:
    model_server.script(scenario(step))
    made, text = describe(with_model(settings, model_server), owner, admin)
    assert made.status == "draft"
    assert "The model wasn't available, so this" in text


def test_a_model_that_only_writes_text_drafts_too(
    owner: Database, admin: Member, settings: Settings, model_server: ModelServer
) -> None:
    model_server.script(scenario(Say("Here it is:\n" + json.dumps(GOOD))))
    made, _text = describe(with_model(settings, model_server), owner, admin)
    assert made.title_en == "Key log"
