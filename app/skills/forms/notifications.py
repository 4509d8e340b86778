"""Whom a sent form concerns at once: managers, of those forms that say so."""

from __future__ import annotations

from flask_babel import gettext as _

from app.accounts.notices import list_editors, send_notice
from app.db import ScopedSession
from app.skills.forms.models import FormSubmission
from app.text.bilingual import in_language, reader_language


def tell_managers(session: ScopedSession, submission: FormSubmission) -> None:
    """Tell the managers and admins that a form was sent; nothing of what it says. Never commits."""

    def line() -> str:
        form = submission.form
        title = in_language(reader_language(), form["title_en"], form["title_es"])
        return _(
            "%(who)s sent “%(form)s”: %(reference)s",
            who=submission.submitter,
            form=title,
            reference=submission.reference,
        )

    send_notice(session, list_editors(session), line, f"/forms/submissions/{submission.id}")
