"""Conversations in which one widget of a request is open, as the tools leave them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update

from app.assistant.models import Message
from app.db import Database, new_id
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.parts import (
    FieldWidgetPart,
    RequestFieldsPart,
    SummaryLine,
    TypeSelectorPart,
)
from app.skills.service_requests.services.definitions import (
    REQUEST_FIELD_TYPES,
    dump_request_fields,
    main_fields,
    read_request_fields,
)
from app.skills.service_requests.services.type_catalog import load_tree
from app.skills.service_requests.tools.type_tools import _shown
from tests.factories import Member, make_thread

URGENCY = [
    {"value": "now", "label": {"en": "Right now", "es": "Ahora mismo"}},
    {"value": "later", "label": {"en": "It can wait", "es": "Puede esperar"}},
]
# One field of each type, by its type: name, labels, and what it asks for beyond them.
ASKED: dict[str, dict[str, Any]] = {
    "text": {"label": {"en": "Machine", "es": "Máquina"}, "max_length": 40},
    "textarea": {"label": {"en": "What happens", "es": "Qué pasa"}},
    "number": {"label": {"en": "Degrees", "es": "Grados"}, "min": -40, "max": 90, "decimals": 0},
    "email": {"label": {"en": "Email", "es": "Correo"}},
    "checkbox": {"label": {"en": "It is unplugged", "es": "Está desenchufada"}},
    "select": {"label": {"en": "How soon", "es": "Qué tan pronto"}, "options": URGENCY},
    "radio": {"label": {"en": "Urgency", "es": "Urgencia"}, "options": URGENCY},
    "address": {"label": {"en": "Where to", "es": "A dónde"}},
    "phone": {"label": {"en": "Call back", "es": "Llamar a"}},
    "date": {"label": {"en": "Since when", "es": "Desde cuándo"}, "when": "past"},
    "file": {"label": {"en": "Photos", "es": "Fotos"}, "most": 3, "largest_mib": 2},
}
assert set(ASKED) == set(REQUEST_FIELD_TYPES)


def make_type(owner: Database, group_id: UUID, **more: Any) -> UUID:
    """A type of request that asks for a field of each type, in a category; returns its id."""
    fields = [
        {"field_id": str(new_id()), "name": f"a_{kind}", "type": kind, "required": True, **asked}
        for kind, asked in ASKED.items()
    ]
    stored = dump_request_fields(read_request_fields([*main_fields(new_id(), new_id()), *fields]))
    with owner.transaction() as session:
        category = RequestType(
            group_id=group_id, slug=f"rooms-{new_id()}", name_en="Rooms", name_es="Cuartos",
            icon="wrench", is_submittable=False,
        )  # fmt: skip
        session.add(category)
        session.flush()
        made = RequestType(
            group_id=group_id, parent_id=category.id, slug=f"machine-{new_id()}",
            name_en="Broken machine", name_es="Máquina descompuesta",
            description_en="Something does not run.", description_es="Algo no funciona.",
            icon="wrench", fields=stored, **more,
        )  # fmt: skip
        session.add(made)
        session.flush()
        return made.id


def field_of(owner: Database, type_id: UUID, kind: str) -> dict[str, Any]:
    """The field of that type, as it is stored."""
    with owner.session() as session:
        fields = session.scalar(select(RequestType.fields).where(RequestType.id == type_id))
    return next(each for each in fields or () if each["name"] == f"a_{kind}")


def ask_with_widget(
    database: Database, owner: Database, member: Member, type_id: UUID, kind: str, **block: Any
) -> UUID:
    """A thread whose reply asks for the field of that type with its widget; returns its id.

    `block` takes the place of what the field is, where the test wants one that is broken.
    """
    field = field_of(owner, type_id, kind)
    plain = {name: value for name, value in field.items() if name not in ("field_id", "step")}
    part = FieldWidgetPart(field_id=field["field_id"], block={**plain, **block})
    steps = [
        {"type": "type_selection", "type_id": str(type_id), "version": 1},
        {"type": "field_asked", "field_id": field["field_id"]},
    ]
    return _leave(database, owner, member, part, steps)


def ask_with_card(
    database: Database, owner: Database, member: Member, type_id: UUID, *kinds: str
) -> UUID:
    """A thread whose reply asks for the first two of these fields, and offers the others."""
    asked = []
    for kind in kinds:
        field = field_of(owner, type_id, kind)
        plain = {name: value for name, value in field.items() if name not in ("field_id", "step")}
        asked.append(FieldWidgetPart(field_id=field["field_id"], block=plain))
    known = SummaryLine(
        field_id=asked[0].field_id, label="Priority", value="High", is_inferred=True
    )
    part = RequestFieldsPart(
        type_name="Broken machine", lines=[known], missing=asked[:2], others=asked[2:]
    )
    steps = [
        {"type": "type_selection", "type_id": str(type_id), "version": 1, "is_guided": False},
        {"type": "field_asked", "field_id": str(asked[0].field_id)},
    ]
    return _leave(database, owner, member, part, steps)


def ask_for_type(database: Database, owner: Database, member: Member) -> UUID:
    """A thread whose reply shows the list of types, the first suggested; returns its id."""
    with database.session(member.scope) as session:
        tree = [_shown(each, member.language) for each in load_tree(session)]
    likely = [tree[0].children[0]]
    part = TypeSelectorPart(query="it does not run", suggestions=likely, types_tree=tree)
    return _leave(
        database, owner, member, part, [{"type": "type_offered", "query": "it does not run"}]
    )


def _leave(
    database: Database, owner: Database, member: Member, part: Any, steps: list[dict[str, Any]]
) -> UUID:
    thread_id = make_thread(database, member, "It does not run", reply="Answer below.")
    with owner.transaction() as session:
        session.execute(
            update(Message)
            .where(Message.thread_id == thread_id, Message.role == "assistant")
            .values(
                parts=[part.model_dump(mode="json")],
                internal_content={"type": "steps", "steps": steps},
            )
        )
    return thread_id


def answers(owner: Database, thread_id: UUID) -> list[tuple[str, dict[str, Any]]]:
    """What was posted to a thread with widgets: its words and its step, oldest first."""
    with owner.session() as session:
        rows = session.execute(
            select(Message.content, Message.internal_content)
            .where(
                Message.thread_id == thread_id,
                Message.role == "user",
                func.jsonb_typeof(Message.internal_content) == "object",
            )
            .order_by(Message.id)
        )
        return [(content, dict(internal or {})) for content, internal in rows]
