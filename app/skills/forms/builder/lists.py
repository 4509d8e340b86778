"""The forms of a house as those who look after them see them: all states, and what was before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select

from app.accounts.models import User
from app.db import JsonObject, ScopedSession
from app.errors import NotFound
from app.fields.editor.versions import VERSIONS_A_PAGE, Step, Steps, read_steps
from app.skills.forms.models import FormSubmission, FormTemplate, FormTemplateVersion
from app.skills.forms.services.templates import listed_templates


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


def list_steps(session: ScopedSession, template: FormTemplate, page: int = 1) -> Steps:
    """A page of the versions of a form of the group, the latest first."""
    rows = session.execute(
        select(FormTemplateVersion.version, FormTemplateVersion.created_at, User.name)
        .outerjoin(User, User.id == FormTemplateVersion.author_id)
        .where(*_of(session, template))
        .order_by(FormTemplateVersion.version.desc())
        .offset(VERSIONS_A_PAGE * (page - 1))
        .limit(VERSIONS_A_PAGE + 1)
    ).all()
    if not rows and page == 1:
        # One that came with the house and was never changed.
        return Steps([Step(template.version, template.updated_at, "", is_first=True)], False)
    return read_steps([(number, at, author) for number, at, author in rows])


def _of(session: ScopedSession, template: FormTemplate) -> tuple[ColumnElement[bool], ...]:
    return (
        FormTemplateVersion.template_id == template.id,
        FormTemplateVersion.group_id == session.scope.group_id,
    )


def load_change(
    session: ScopedSession, template: FormTemplate, number: int
) -> tuple[Step, JsonObject, JsonObject]:
    """A version with what the one before it held, and what it holds.

    Raises:
        NotFound: there is no such version, or none before it.
    """
    found = session.execute(
        select(FormTemplateVersion, User.name)
        .outerjoin(User, User.id == FormTemplateVersion.author_id)
        .where(*_of(session, template), FormTemplateVersion.version <= number)
        .order_by(FormTemplateVersion.version.desc())
        .limit(2)
    ).all()
    if len(found) < 2 or found[0][0].version != number:
        raise NotFound("This version of the form is not there any more.")
    (after, author), (before, _name) = found
    return Step(number, after.created_at, author or ""), before.content, after.content
