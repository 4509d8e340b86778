"""The group's forms as they are now: found by their address, by their id, or all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import defer

from app.db import ScopedSession
from app.errors import NotFound
from app.fields.definitions import FormField, read_fields
from app.skills.forms.models import FormTemplate, FormTemplateVersion
from app.text.bilingual import in_language

# For lists, which show what forms are called: the fields of all of them are megabytes.
WITHOUT_FIELDS = defer(FormTemplate.fields, raiseload=True)
_TEXTS = ("title_en", "title_es", "description_en", "description_es", "icon")


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


@dataclass(frozen=True)
class FormVersion:
    """What a version of a template is called, says and asks."""

    title_en: str
    title_es: str
    description_en: str
    description_es: str
    icon: str
    fields: tuple[FormField, ...]

    def title(self, language: str) -> str:
        """The title in `language`, else in the one there is."""
        return in_language(language, self.title_en, self.title_es)

    def description(self, language: str) -> str:
        """The description in `language`, else in the one there is."""
        return in_language(language, self.description_en, self.description_es)


def version_of(session: ScopedSession, template: FormTemplate, version: int) -> FormVersion:
    """A template as it was in a version of it, or NotFound."""
    now = {name: getattr(template, name) for name in (*_TEXTS, "fields")}
    if version == template.version:
        return _version(now)
    content = session.scalar(
        select(FormTemplateVersion.content).where(
            FormTemplateVersion.template_id == template.id,
            FormTemplateVersion.version == version,
        )
    )
    if content is None:
        raise NotFound("This version of the form no longer exists.")
    return _version({**now, **content})


def _version(content: Mapping[str, Any]) -> FormVersion:
    texts = {name: content[name] for name in _TEXTS}
    return FormVersion(**texts, fields=read_fields(content["fields"]))


def _found(template: FormTemplate | None) -> FormTemplate:
    if template is None:
        raise NotFound("There is no such form here. It may have been archived.")
    return template
