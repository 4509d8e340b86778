"""A form with every type of field, and a person's way through its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.db import Database, new_id
from app.fields.definitions import read_fields
from app.skills.forms.models import FormDraft, FormSubmission, FormTemplate
from tests.factories import CheckedClient, Member, Page
from tests.html_checks import Element

OPTIONS = [
    {"value": "low", "label": {"en": "Low", "es": "Baja"}},
    {"value": "high", "label": {"en": "High", "es": "Alta"}},
]
WHO = {"type": "person", "name": "who", "label": {"en": "Who", "es": "Quién"}, "required": True}
WHAT = {"type": "textarea", "name": "what", "label": {"en": "What happened", "es": "Qué pasó"},
        "required": True}  # fmt: skip
HURT = {
    "type": "checkbox",
    "name": "hurt",
    "label": {"en": "Somebody is hurt", "es": "Hay heridos"},
}
WHERE = {
    "type": "text", "name": "body_part", "label": {"en": "Body part", "es": "Parte del cuerpo"},
    "required": True, "show_if": {"field": "hurt", "values": ["true"]},
}  # fmt: skip
SHORT = [WHO, WHAT, HURT, WHERE]


def field(type_: str, **facts: Any) -> dict[str, Any]:
    """A field called as its type is."""
    label = {"en": type_.replace("_", " ").capitalize(), "es": f"Campo {type_}"}
    return {"type": type_, "name": type_, "label": label, **facts}


EVERY_TYPE = [
    field("heading", help={"en": "The beginning", "es": "El comienzo"}),
    field("text", help={"en": "In few words", "es": "En pocas palabras"}),
    field("textarea", max_length=5000),
    field("number", unit={"en": "°F", "es": "°F"}, min="-40", max="500"),
    field("email"),
    field("phone"),
    field("date"),
    field("time"),
    field("datetime"),
    field("select", options=OPTIONS),
    field("radio", options=OPTIONS),
    field("checkbox"),
    field("multi_select", options=OPTIONS),
    field("address"),
    field("person"),
    field("file"),
    field("photo"),
    field("signature"),
]


def make_template(
    owner: Database, group_id: UUID | None, fields: list[dict[str, Any]] | None = None, **facts: Any
) -> FormTemplate:
    """A published form of the group."""
    fields = SHORT if fields is None else fields
    read_fields(fields)
    given: dict[str, Any] = {
        "slug": f"report-{new_id().hex[-8:]}",
        "title_en": "Incident report",
        "title_es": "Reporte de incidente",
        "description_en": "What happened, to whom and where.",
        "description_es": "Qué pasó, a quién y dónde.",
        "status": "published",
        "fields": fields,
        **facts,
    }
    with owner.session() as session:
        template = FormTemplate(group_id=group_id, **given)
        session.add(template)
        session.commit()
        return template


def form_on(page: Page) -> dict[str, Any]:
    """What the page's form would send as it stands, without its buttons and its token."""
    return sent_by(page.find("form", id="fill"))


def sent_by(form: Element) -> dict[str, Any]:
    """What the fields in a part of a page would send: a text each, or a list of several."""
    sent: dict[str, list[str]] = {}
    for element in form:
        value = _value_of(element)
        if value is not None:
            sent.setdefault(element.attributes["name"], []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in sent.items()}


def _value_of(element: Element) -> str | None:
    attributes = element.attributes
    if not attributes.get("name") or attributes["name"] == "csrf_token":
        return None
    if element.tag == "textarea":
        return "".join(map(str, element.contents)).removeprefix("\n")
    if element.tag == "select":
        options = element.find_all("option")
        chosen = [one for one in options if "selected" in one.attributes] or options[:1]
        return chosen[0].attributes["value"]
    if element.tag != "input" or attributes.get("type") == "file":
        return None
    if attributes.get("type") in ("checkbox", "radio") and "checked" not in attributes:
        return None
    return attributes.get("value", "")


def address_on(page: Page) -> str:
    """Where the page's form is sent."""
    return page.find("form", id="fill").attributes["action"]


def send(browser: CheckedClient, page: Page, action: str = "save", **values: Any) -> Any:
    """Type values into the page's form, by field name, and press a button."""
    form = {**form_on(page), **typed(values), "action": action}
    return browser.post(address_on(page), **{k: v for k, v in form.items() if v is not None})


def autosave(browser: CheckedClient, page: Page, **values: Any) -> Page:
    """Type values into the page's form, and let it save itself."""
    form = {**form_on(page), **typed(values)}
    return browser.post_fragment(
        address_on(page), **{k: v for k, v in form.items() if v is not None}
    )


def typed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"v-{name}": value for name, value in values.items()}


def drafts_of(owner: Database, member: Member) -> list[FormDraft]:
    with owner.session() as session:
        query = select(FormDraft).where(FormDraft.user_id == member.user_id)
        return list(session.scalars(query.order_by(FormDraft.created_at)))


def submissions_of(owner: Database, member: Member) -> list[FormSubmission]:
    with owner.session() as session:
        query = select(FormSubmission).where(FormSubmission.user_id == member.user_id)
        return list(session.scalars(query.order_by(FormSubmission.number)))


def submit(browser: CheckedClient, template: FormTemplate, **values: Any) -> str:
    """Fill in and hand in a form; returns the address of the submission."""
    page = browser.page(f"/forms/{template.slug}?new=1")
    response = send(browser, page, "submit", **values)
    assert response.status_code == 303, response.text[:2000]
    return str(response.location).removesuffix("?sent=1")
