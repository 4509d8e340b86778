"""Forms and contacts of a group."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.db import Database, new_id
from app.skills.forms.models import Contact, FormTemplate

FIELDS: list[dict[str, Any]] = [
    {"type": "person", "name": "who", "label": {"en": "Who was hurt", "es": "Quién se lastimó"}},
    {"type": "datetime", "name": "when", "label": {"en": "When", "es": "Cuándo"}},
    {
        "type": "textarea",
        "name": "what",
        "label": {"en": "What happened", "es": "Qué pasó"},
        "required": True,
    },
]
# The words of six forms as a house may have them; the rest of a form is FIELDS.
HOUSE_FORMS: dict[str, dict[str, str]] = {
    "employee-injury-report": {
        "title_en": "Employee injury report",
        "title_es": "Reporte de lesión de un empleado",
        "description_en": "For when somebody on the team gets hurt at work.",
        "description_es": "Para cuando alguien del equipo se lastima en el trabajo.",
        "icon": "first-aid",
    },
    "employee-write-up": {
        "title_en": "Employee write-up",
        "title_es": "Amonestación a un empleado",
        "description_en": "To put a warning on paper, with what was agreed.",
        "description_es": "Para dejar por escrito una llamada de atención y lo que se acordó.",
        "icon": "write-up",
    },
    "incident-report": {
        "title_en": "Incident report",
        "title_es": "Reporte de incidente",
        "description_en": "To document a fall of a guest, a fight or a fire.",
        "description_es": "Para documentar la caída de un cliente, una pelea o un incendio.",
        "icon": "alert",
    },
    "temperature-log": {
        "title_en": "Temperature log",
        "title_es": "Registro de temperatura",
        "description_en": "One reading of a walk-in, a freezer or hot holding.",
        "description_es": "Una lectura de una cámara fría, un congelador o la línea caliente.",
        "icon": "thermometer",
    },
    "equipment-failure": {
        "title_en": "Equipment failure",
        "title_es": "Falla de equipo",
        "description_en": "Something in the kitchen or bar broke, leaks or does not cool.",
        "description_es": "Algo de la cocina o la barra se descompuso, gotea o no enfría.",
        "icon": "wrench",
    },
    "guest-complaint": {
        "title_en": "Guest complaint",
        "title_es": "Queja de un cliente",
        "description_en": "What a guest was unhappy with, and what we did about it.",
        "description_es": "Con qué quedó inconforme un cliente y qué hicimos al respecto.",
        "icon": "complaint",
    },
}


def make_form(
    owner: Database,
    group_id: UUID | None = None,
    slug: str = "employee-injury-report",
    **facts: Any,
) -> FormTemplate:
    """A published form of the group, or one that all groups share where none is given."""
    known: dict[str, Any] = HOUSE_FORMS.get(slug, {"title_en": slug, "title_es": slug})
    row = {"fields": FIELDS, "status": "published", **known, **facts}
    with owner.transaction() as session:
        form = FormTemplate(id=new_id(), group_id=group_id, slug=slug, **row)
        session.add(form)
    return form


def make_house_forms(owner: Database, group_id: UUID) -> list[FormTemplate]:
    """The six forms."""
    return [make_form(owner, group_id, slug) for slug in HOUSE_FORMS]


def make_contact(
    owner: Database, group_id: UUID, name: str = "John Baker", **facts: Any
) -> Contact:
    """Somebody whom the group's forms may name."""
    with owner.transaction() as session:
        contact = Contact(id=new_id(), group_id=group_id, name=name, **facts)
        session.add(contact)
    return contact
