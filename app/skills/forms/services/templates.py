"""The group's forms as they are now: found by their address, by their id, or all of them."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import defer

from app.db import ScopedSession
from app.errors import NotFound
from app.fields.definitions import FormField, read_fields
from app.skills.forms.models import FormTemplate, FormTemplateVersion

# For lists, which show what forms are called: the fields of all of them are megabytes.
WITHOUT_FIELDS = defer(FormTemplate.fields, raiseload=True)


def visible_templates(session: ScopedSession) -> Select[FormTemplate]:
    """The group's templates and those that are shared by all; of one address the group's own."""
    own = FormTemplate.group_id == session.scope.group_id
    return (
        select(FormTemplate)
        .where(or_(own, FormTemplate.group_id.is_(None)))
        .order_by(FormTemplate.group_id.is_(None))
    )


def listed_templates(session: ScopedSession) -> Select[FormTemplate]:
    """The same for lists, which show no fields: those of all forms may be many MB."""
    return visible_templates(session).options(WITHOUT_FIELDS)


def load_published(session: ScopedSession, slug: str) -> FormTemplate:
    """The form of that address that may be filled in, or NotFound."""
    query = visible_templates(session).where(
        FormTemplate.slug == slug, FormTemplate.status == "published"
    )
    return _found(session.scalar(query.limit(1)))


def load_template(session: ScopedSession, template_id: UUID) -> FormTemplate:
    """A form of the group or shared by all, in whatever state, or NotFound."""
    return _found(session.scalar(visible_templates(session).where(FormTemplate.id == template_id)))


def list_published(session: ScopedSession) -> list[FormTemplate]:
    """The forms that may be filled in, one for each address, without their fields."""
    query = listed_templates(session).where(FormTemplate.status == "published")
    by_slug: dict[str, FormTemplate] = {}
    for template in session.scalars(query.order_by(FormTemplate.slug)):
        by_slug.setdefault(template.slug, template)
    return list(by_slug.values())


def fields_at(
    session: ScopedSession, template: FormTemplate, version: int
) -> tuple[FormField, ...]:
    """The fields of a template as they were in a version of it, or NotFound."""
    if version == template.version:
        return read_fields(template.fields)
    content = session.scalar(
        select(FormTemplateVersion.content).where(
            FormTemplateVersion.template_id == template.id,
            FormTemplateVersion.version == version,
        )
    )
    if content is None:
        raise NotFound("This version of the form no longer exists.")
    return read_fields(content["fields"])


def _found(template: FormTemplate | None) -> FormTemplate:
    if template is None:
        raise NotFound("There is no such form here. It may have been archived.")
    return template
