"""The pages of what was handed in: the list, one of them to read and print, its PDF, a table."""

from __future__ import annotations

import io
from typing import Any
from uuid import UUID

from flask import Response, render_template, request, send_file, stream_with_context, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from app.accounts.clock import local_now
from app.accounts.form_pages import moment_in_words
from app.errors import NotFound
from app.extensions import services
from app.files.access import load_file, open_bytes
from app.skills.forms.models import FormSubmission
from app.skills.forms.services.export import write_csv
from app.skills.forms.services.submission_sheet import Sheet, make_sheet, title_of
from app.skills.forms.services.submissions import (
    EDITORS,
    PAGE,
    Wanted,
    list_forms_used,
    list_submissions,
    list_submitters,
    load_submission,
    read_wanted,
)
from app.skills.forms.web.blueprint import blueprint
from app.text.bilingual import reader_language
from app.web.pages import (
    db_session,
    give_back_connection,
    release_session,
    require_role,
    transactions,
)
from app.web.rate_limits import limit_person, limit_searches


@blueprint.get("/submissions/")
@limit_searches
def submissions() -> ResponseReturnValue:
    """What was handed in: one's own; for managers all of the group's, narrowed down."""
    session, wanted = db_session(), read_wanted(request.args)
    found, count = list_submissions(session, wanted, current_user.zone)
    language = reader_language()
    lines = [(each, title_of(form, language)) for each, form in found]
    return render_template(
        "forms/submissions.html",
        lines=lines,
        count=count,
        wanted=wanted,
        sees_all=current_user.role in EDITORS,
        earlier=_address(wanted.page - 1) if wanted.page > 1 else "",
        later=_address(wanted.page + 1) if wanted.page * PAGE < count else "",
        table=url_for(".submissions_table", **_arguments()),
        moment_in_words=moment_in_words,
        **_choices(language),
    )


def _choices(language: str) -> dict[str, Any]:
    """What the list can be narrowed to."""
    session = db_session()
    forms = [(form["slug"], title_of(form, language)) for form in list_forms_used(session)]
    people = [(str(user_id), name) for user_id, name in list_submitters(session)]
    return {"forms": sorted(forms, key=lambda form: form[1]), "people": people}


def _arguments() -> dict[str, Any]:
    known = ("form", "person", "since", "until", "q")
    return {name: request.args[name] for name in known if request.args.get(name)}


def _address(page: int) -> str:
    return url_for(".submissions", page=page, **_arguments())


@blueprint.get("/submissions/<uuid:submission_id>")
def submission(submission_id: UUID) -> ResponseReturnValue:
    """One of them, to read and to print."""
    found = load_submission(db_session(), submission_id)
    return render_template(
        "forms/submission.html",
        submission=found,
        sheet=_sheet(found),
        is_sent="sent" in request.args and found.user_id == current_user.user_id,
        person=current_user.draft_owner,
    )


def _sheet(found: FormSubmission) -> Sheet:
    return make_sheet(found, current_user.group_name, current_user.zone, reader_language())


@blueprint.get("/submissions/<uuid:submission_id>.pdf")
@limit_person("30 per minute", "form sheets")
def submission_pdf(submission_id: UUID) -> ResponseReturnValue:
    """The same as a PDF."""
    from app.skills.forms.services.pdf import make_pdf

    found = load_submission(db_session(), submission_id)
    content = make_pdf(_sheet(found), _read_file)
    name = f"{found.reference}.pdf"
    return send_file(io.BytesIO(content), "application/pdf", as_attachment=True, download_name=name)


def _read_file(file_id: str) -> bytes | None:
    """A picture of the submission; None where it is gone."""
    try:
        file = load_file(db_session(), UUID(file_id))
        # A storage may take its time, and so may the printer, at which each person stands twice at
        # most; no connection is kept from others meanwhile.
        give_back_connection()
        with open_bytes(services().files, file.key) as stream:
            return stream.read()
    except NotFound:
        return None


@blueprint.get("/submissions.csv")
@limit_person("10 per minute", "form tables")
def submissions_table() -> ResponseReturnValue:
    """What the list is narrowed to, as a table for spreadsheets; for managers."""
    require_role(*EDITORS)
    wanted: Wanted = read_wanted(request.args)
    zone = current_user.zone
    content = write_csv(transactions(), wanted, zone, reader_language())
    release_session()
    response = Response(stream_with_context(content), content_type="text/csv; charset=utf-8")
    name = f"forms-{local_now(zone).date().isoformat()}.csv"
    response.headers.set("Content-Disposition", "attachment", filename=name)
    response.headers["X-Accel-Buffering"] = "no"
    return response
