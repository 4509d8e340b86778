"""Forms as those who look after them see them: listed in all states, with what was before.

They are made, saved, published, archived, copied and brought back in one transaction each.
Every save that changes something is a version; what was saved before stays, and drafts go on
with the version that they were begun with. Only a group's own forms can be changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from app.accounts.audit import record
from app.accounts.edit_history import Versions, name_of_editor
from app.db import JsonObject, ScopedSession, utc_now
from app.errors import N_, Conflict, InvalidInput, NotFound
from app.fields.definitions import dump_fields, read_fields
from app.skills.forms.builder.parser import TAKEN
from app.skills.forms.models import (
    TEMPLATE_STATES,
    FormSubmission,
    FormTemplate,
    FormTemplateVersion,
)
from app.skills.forms.services.templates import listed_templates, load_template
from app.text.normalize import words

# What a version holds, and what bringing one back changes: its address and its state stay.
CONTENT = (
    "title_en", "title_es", "description_en", "description_es", "words_en", "words_es", "icon",
    "fields", "ai_tools", "tells_managers",
)  # fmt: skip
LONGEST_SLUG = 60
# Archived ones too: nobody deletes a form.
MOST_FORMS = 300
VERSIONS = Versions(
    FormTemplateVersion,
    FormTemplateVersion.template_id,
    N_("This version of the form no longer exists."),
)
_COPY = {"title_en": "%s (copy)", "title_es": "%s (copia)"}


class StaleForm(Conflict):
    """Somebody else has saved the form since it was opened.

    `template` is how it stands now, `editor` the name of who saved it, if that is known.
    """

    def __init__(self, template: FormTemplate, editor: str) -> None:
        super().__init__("Somebody changed this form in the meantime. Look at it again first.")
        self.template = template
        self.editor = editor


def load_own(session: ScopedSession, template_id: UUID, *, lock: bool = False) -> FormTemplate:
    """A form of the group, in whatever state, or NotFound; with `lock`, nobody else's to change."""
    query = select(FormTemplate).where(
        FormTemplate.id == template_id, FormTemplate.group_id == session.scope.group_id
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    template = session.scalar(query)
    if template is None:
        raise NotFound("This form does not exist, or you can't change it.")
    return template


def content_of(template: FormTemplate) -> JsonObject:
    """A form as a version holds it."""
    content = {name: deepcopy(getattr(template, name)) for name in ("slug", *CONTENT, "status")}
    return {**content, "fields": dump_fields(read_fields(template.fields))}


def is_stored(template: FormTemplate, content: Mapping[str, Any]) -> bool:
    """Whether a form holds this content as it is."""
    now = content_of(template)
    return all(now[name] == value for name, value in content.items())


def create_form(
    session: ScopedSession, template_id: UUID, content: Mapping[str, Any], slug: str
) -> FormTemplate:
    """A new form of the group that nobody can fill in yet; its address is like `slug`.

    What is sent twice under one id is there once.

    Raises:
        InvalidInput: the group has as many as one may have.
    """
    _lock_forms(session)
    own = (FormTemplate.id == template_id, FormTemplate.group_id == session.scope.group_id)
    known = session.scalar(select(FormTemplate).where(*own))
    if known is not None:
        session.commit()
        return known
    _check_room(session)
    given = {name: content[name] for name in CONTENT if name in content}
    template = FormTemplate(
        id=template_id,
        group_id=session.scope.group_id,
        slug=_free_slug(session, slug),
        status="draft",
        version=1,
        edited_by=session.scope.user_id,
        **deepcopy(given),
    )
    session.add(template)
    _flush(session)
    VERSIONS.keep(session, template, content_of(template))
    record(session, "form_added", template.slug)
    session.commit()
    return template


def _lock_forms(session: ScopedSession) -> None:
    """Until the commit, nobody else of the group adds a form."""
    held = func.hashtextextended(f"forms {session.scope.group_id}", 0)
    session.execute(select(func.pg_advisory_xact_lock(held)))


def _check_room(session: ScopedSession) -> None:
    """See that the group may have one more form."""
    own = select(func.count()).where(FormTemplate.group_id == session.scope.group_id)
    if (session.scalar(own) or 0) >= MOST_FORMS:
        raise InvalidInput(
            "There can be at most %(limit)s forms. Change one that is no longer needed.",
            field="form",
            limit=MOST_FORMS,
        )


def save_form(
    session: ScopedSession, template_id: UUID, version: int, content: Mapping[str, Any]
) -> FormTemplate:
    """Give a form this content as its next version; the same content again is none.

    Raises:
        NotFound
        StaleForm: somebody else saved other content since `version`; nothing is written.
        InvalidInput: the address is taken, or a published form would have nothing to fill in.
    """
    template = load_own(session, template_id, lock=True)
    if is_stored(template, content):
        return template
    if template.version != version:
        raise StaleForm(template, name_of_editor(session, template.edited_by))
    if template.status == "published":
        _require_substance(content)
    _change(session, template, content)
    record(session, "form_edited", f"{template.slug} v{template.version}")
    session.commit()
    return template


def _change(session: ScopedSession, template: FormTemplate, content: Mapping[str, Any]) -> None:
    VERSIONS.keep(session, template, content_of(template))
    for name, value in content.items():
        setattr(template, name, deepcopy(value))
    template.version += 1
    template.edited_by = session.scope.user_id
    template.updated_at = utc_now()
    _flush(session)
    VERSIONS.keep(session, template, content_of(template))


def set_status(
    session: ScopedSession, template_id: UUID, version: int, status: str
) -> FormTemplate:
    """Publish a form, archive it, or make it a draft again; that is no new version.

    Raises:
        NotFound
        Conflict: somebody has saved it since `version`, or it cannot be filled in as it is.
    """
    if status not in TEMPLATE_STATES:
        raise InvalidInput("Choose from the list.", field="status")
    template = load_own(session, template_id, lock=True)
    _require_version(template, version)
    if status == "published":
        try:
            _require_substance(content_of(template))
        except InvalidInput as error:
            raise Conflict(error.message) from None
    if template.status != status:
        template.status = status
        record(session, f"form_{status}", template.slug)
    session.commit()
    return template


def _require_version(template: FormTemplate, version: int) -> None:
    if template.version != version:
        raise Conflict(
            "Somebody has changed this form since you opened this page. Look at it again."
        )


def _require_substance(content: Mapping[str, Any]) -> None:
    if not content["title_en"] and not content["title_es"]:
        raise InvalidInput("Give the form a title and save it first.", field="title_en")
    if all(each["type"] == "heading" for each in content["fields"]):
        raise InvalidInput("Add a field first: there is nothing to fill in yet.", field="form")


def copy_form(session: ScopedSession, template_id: UUID, copy_id: UUID) -> FormTemplate:
    """A draft that is the group's own, like one of its forms or one that all groups share.

    Of a shared one the group's own takes its place once it is published.
    """
    template = load_template(session, template_id)
    content = content_of(template)
    if template.group_id is not None:
        content |= {name: text % content[name] for name, text in _COPY.items() if content[name]}
    return create_form(session, copy_id, content, template.slug)


def restore_version(
    session: ScopedSession, template_id: UUID, number: int, seen_version: int
) -> FormTemplate:
    """Make a form again what it was in a version, as its next one.

    Raises:
        NotFound. Conflict: somebody has saved it since `seen_version`.
    """
    template = load_own(session, template_id, lock=True)
    was = VERSIONS.find(session, template.id, number).content
    _require_version(template, seen_version)
    # What versions did not hold yet stays as it is.
    content = {name: was[name] for name in CONTENT if name in was}
    if template.status == "published":
        _require_substance(content)
    _change(session, template, content)
    record(session, "form_restored", f"{template.slug} v{number}")
    session.commit()
    return template


def _free_slug(session: ScopedSession, wanted: str) -> str:
    bare = "-".join(word for word in words(wanted) if word.isascii())[: LONGEST_SLUG - 4].strip("-")
    taken = set(TAKEN) | set(
        session.scalars(
            select(FormTemplate.slug).where(FormTemplate.group_id == session.scope.group_id)
        )
    )
    slug, number = bare or "form", 2
    while slug in taken:
        slug, number = f"{bare or 'form'}-{number}", number + 1
    return slug


def _flush(session: ScopedSession) -> None:
    try:
        session.flush()
    except IntegrityError:
        session.rollback()
        raise InvalidInput("Another form already has this address.", field="slug") from None


@dataclass(frozen=True)
class Listed:
    """A form without its fields, and how often it was handed in; a shared one is all groups'."""

    template: FormTemplate
    submissions: int

    @property
    def is_shared(self) -> bool:
        return self.template.group_id is None


def list_forms(session: ScopedSession, state: str = "") -> list[Listed]:
    """The group's forms and the shared ones, in one state or in all of them."""
    query = listed_templates(session)
    if state:
        query = query.where(FormTemplate.status == state)
    counts = _count_submissions(session)
    return [Listed(form, counts.get(form.id, 0)) for form in session.scalars(query)]


def _count_submissions(session: ScopedSession) -> dict[Any, int]:
    rows = session.execute(
        select(FormSubmission.template_id, func.count())
        .where(FormSubmission.group_id == session.scope.group_id)
        .group_by(FormSubmission.template_id)
    )
    return {row[0]: row[1] for row in rows}
