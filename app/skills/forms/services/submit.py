"""Handing a form in: checked, numbered and written once, in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.accounts.audit import record
from app.accounts.models import User
from app.db import ScopedSession, new_id, utc_now
from app.errors import NotFound
from app.fields.definitions import dump_fields
from app.fields.values import Checked, Values
from app.skills.forms.models import FormCounter, FormSubmission
from app.skills.forms.notifications import tell_managers
from app.skills.forms.services.attachments import keep_submitted_files
from app.skills.forms.services.drafts import Filling, check_to_submit, require_open
from app.skills.forms.services.field_context import field_context


class NotReady(Exception):
    """A form cannot be handed in yet; `checked` says what is missing and wrong."""

    def __init__(self, checked: Checked) -> None:
        super().__init__("not ready")
        self.checked = checked


def submit_draft(session: ScopedSession, filling: Filling, language: str) -> FormSubmission:
    """Hand in a draft that is held, on the version of the form that it was begun with.

    A draft that has been handed in already gives the same submission once more. Never commits.

    Raises:
        NotReady: something is missing or wrong; nothing was written.
        Conflict: it was thrown away.
    """
    draft = filling.draft
    if draft.status == "submitted":
        return submission_of(session, draft.id)
    require_open(draft)
    checked = check_to_submit(session, filling, language)
    if checked.problems:
        raise NotReady(checked)
    submission = _write(session, filling, checked.values, language)
    keep_submitted_files(session, filling.fields, checked.values, submission.id)
    draft.status = "submitted"
    if filling.template.tells_managers:
        tell_managers(session, submission)
    record(session, "submit form", str(submission.id), _digest(checked.values))
    session.flush()
    return submission


def submission_of(session: ScopedSession, draft_id: UUID) -> FormSubmission:
    """What one's own draft was handed in as, or NotFound."""
    found = session.scalar(
        select(FormSubmission).where(
            FormSubmission.draft_id == draft_id,
            FormSubmission.group_id == session.scope.group_id,
            FormSubmission.user_id == session.scope.user_id,
        )
    )
    if found is None:
        raise NotFound("This form does not exist, or it is not yours.")
    return found


def _write(
    session: ScopedSession, filling: Filling, values: Values, language: str
) -> FormSubmission:
    scope, draft = session.scope, filling.draft
    here = field_context(session, language, draft.id).here
    submission = FormSubmission(
        id=new_id(),
        group_id=scope.group_id,
        user_id=scope.user_id,
        submitter=session.scalar(select(User.name).where(User.id == scope.user_id)) or "",
        draft_id=draft.id,
        template_id=filling.template.id,
        template_version=draft.template_version,
        form=form_as_it_was_shown(filling),
        values=dict(values),
        year=here.year,
        number=_next_number(session, here.year),
        language=language,
        submitted_at=utc_now(),
    )
    session.add(submission)
    session.flush()
    return submission


def form_as_it_was_shown(filling: Filling) -> dict[str, Any]:
    """What a submission keeps of its form, so that it can be drawn whatever becomes of it."""
    form = filling.form
    return {
        "slug": filling.template.slug,
        "title_en": form.title_en,
        "title_es": form.title_es,
        "icon": form.icon,
        "fields": dump_fields(form.fields),
    }


def _next_number(session: ScopedSession, year: int) -> int:
    """The next number of the group's year; whoever asks next waits until this one is written.

    So there are no gaps: a transaction that fails gives its number back.
    """
    mine = insert(FormCounter).values(group_id=session.scope.group_id, year=year, last=1)
    counted = mine.on_conflict_do_update(
        index_elements=["group_id", "year"], set_={"last": FormCounter.last + 1}
    )
    number: int = session.execute(counted.returning(FormCounter.last)).scalar_one()
    return number


def _digest(values: Mapping[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
