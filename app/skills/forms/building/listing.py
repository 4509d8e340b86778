"""The forms of a house as those who look after them see them: all states, and what was before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.accounts.models import User
from app.db import ScopedSession
from app.skills.forms.building.saving import content_of
from app.skills.forms.catalog import listed_templates
from app.skills.forms.models import FormSubmission, FormTemplate, FormTemplateVersion


@dataclass(frozen=True)
class Listed:
    """A form without its fields, and how often it was handed in; a shared one is all groups'."""

    template: FormTemplate
    submissions: int

    @property
    def is_shared(self) -> bool:
        return self.template.group_id is None


@dataclass(frozen=True)
class Step:
    """A version: who saved it when, what it holds, and what the one before it held."""

    number: int
    at: datetime
    author: str
    content: Mapping[str, Any]
    before: Mapping[str, Any] | None


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


def list_steps(session: ScopedSession, template: FormTemplate) -> list[Step]:
    """The versions of a form of the group, the latest first."""
    rows = session.execute(
        select(FormTemplateVersion, User.name)
        .outerjoin(User, User.id == FormTemplateVersion.author_id)
        .where(
            FormTemplateVersion.template_id == template.id,
            FormTemplateVersion.group_id == session.scope.group_id,
        )
        .order_by(FormTemplateVersion.version)
    )
    steps: list[Step] = []
    for row, author in rows:
        before = steps[-1].content if steps else None
        steps.append(Step(row.version, row.created_at, author or "", row.content, before))
    if not steps:
        # One that came with the house and was never changed.
        steps = [Step(template.version, template.updated_at, "", content_of(template), None)]
    return _latest_first(steps)


def _latest_first(steps: Sequence[Step]) -> list[Step]:
    return list(reversed(steps))
