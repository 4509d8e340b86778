"""The forms of a house as those who look after them see them: in all states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from app.db import ScopedSession
from app.skills.forms.models import FormSubmission, FormTemplate
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
