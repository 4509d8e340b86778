"""Filling in a form: its page, saving it field by field, undoing, throwing away, handing in.

The assistant beside it is told things here; its answers come as those of the chat do. A card in the
chat hands over to the page by a button, and a link that the button leads to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.assistant.threads.threads import Accepted
from app.assistant.turns.ask import announce
from app.assistant.turns.events import EventLog
from app.assistant.turns.language import detect_language
from app.assistant.web.conversation import another_branch, exchange
from app.db import ScopedSession
from app.errors import Conflict, InvalidInput
from app.extensions import services
from app.fields.form_data import TypedForm
from app.fields.values import Problem
from app.files.posted_files import allow_files
from app.skills.forms.models import FormDraft
from app.skills.forms.services.attachments import (
    LARGEST_FORM,
    Received,
    list_form_files,
    receive_files,
)
from app.skills.forms.services.corrections import list_corrections
from app.skills.forms.services.draft_writer import (
    Saved,
    discard_draft,
    lock_draft,
    read_posted_fields,
    restore_draft,
    save_typed,
    undo_on_page,
    unsaved_filling,
)
from app.skills.forms.services.drafts import (
    check_to_submit,
    load_draft,
    read_fields_of,
    read_filling,
)
from app.skills.forms.services.handover import hand_over, take_over
from app.skills.forms.services.submission_sheet import title_of
from app.skills.forms.services.submit import NotReady, submission_of, submit_draft
from app.skills.forms.services.templates import load_template
from app.skills.forms.web.blueprint import blueprint
from app.skills.forms.web.presenters import (
    dependents,
    drawing,
    fill_page,
    read_talk,
    view_fields,
)
from app.skills.forms.workflow.conversation import tell_assistant
from app.text.bilingual import reader_language
from app.web.issued_ids import is_issued
from app.web.pages import choose_language, db_session, is_htmx, require_role
from app.web.rate_limits import limit_messages, limit_person
from app.web.request_body import MOST_PARTS

MOST_SAVES = "240 per minute"
# Whoever reads what was handed in looks through all of it.
MOST_SUBMITTED = "1000 per day"
handovers = Blueprint("form_handover", __name__, url_prefix="/forms")


@blueprint.url_value_preprocessor
def let_files_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """Without scripts the files come with the form; reading its token reads the whole of it."""
    if endpoint == "forms.save" and current_user.is_authenticated:
        allow_files(LARGEST_FORM, parts=MOST_PARTS)


@blueprint.get("/drafts/<uuid:draft_id>")
def fill(draft_id: UUID) -> ResponseReturnValue:
    """The page on which one fills in a form."""
    session = db_session()
    draft = load_draft(session, draft_id)
    if draft.status != "open":
        return _where_it_went(session, draft)
    # In this order, so that the form has whatever the talk says was filled in.
    talk = read_talk(draft, load_template(session, draft.template_id))
    session.refresh(draft)
    filling = read_filling(session, draft, reader_language())
    return fill_page(filling, is_saved="saved" in request.args, talk=talk)


@blueprint.post("/drafts/<uuid:draft_id>")
@limit_person(MOST_SAVES, "form drafts")
@limit_person(MOST_SUBMITTED, "submissions", exempt_when=lambda: not _hands_in())
def save(draft_id: UUID) -> ResponseReturnValue:
    """Save what was typed; hand the form in where that is asked for."""
    session = db_session()
    if request.htmx:  # type: ignore[attr-defined]
        return _autosave(session, draft_id)
    received = _receive_files(session, draft_id)
    try:
        draft, is_new = lock_draft(session, draft_id, request.form, may_begin=is_issued(draft_id))
    except Conflict as error:
        page = _unsaved_page(session, draft_id, error=_(error.message))
        return page, error.status
    if draft.status != "open":
        return _sent_already(session, draft)
    saved = save_typed(session, draft, received.form, reader_language())
    if _hands_in() or received.refused:
        return _submit(session, saved, received, is_new)
    return _after_save(session, saved, is_new)


def _hands_in() -> bool:
    return request.form.get("action") == "submit"


def _receive_files(session: ScopedSession, draft_id: UUID) -> Received:
    """The files that came with the form, taken in before anything of the draft is held."""
    fields = read_posted_fields(session, draft_id, request.form)
    session.rollback()
    return receive_files(session, fields, request.form)


def _autosave(session: ScopedSession, draft_id: UUID) -> ResponseReturnValue:
    """Save from the page that stays open; it is told what it does not know."""
    draft, is_new = lock_draft(session, draft_id, request.form, may_begin=is_issued(draft_id))
    saved = save_typed(session, draft, request.form, reader_language())
    if is_new and not saved.changed:
        session.rollback()
        return "", HTTPStatus.NO_CONTENT
    session.commit()
    address = url_for(".fill", draft_id=draft_id)
    return (
        _told(saved, request.form.getlist("redraw")),
        HTTPStatus.OK,
        {"HX-Replace-Url": address} if is_new else {},
    )


def _told(saved: Saved, asked: Collection[str]) -> str:
    """The parts of the page that a save has changed, and the fields whose drawing it asked for."""
    filling = saved.filling
    shown = {field.name for field in filling.shown}
    redrawn = saved.behind | (shown ^ saved.on_page) | shown.intersection(asked)
    kept = saved.changed & shown - redrawn
    # What the form's assistant filled in says so in its field.
    said = {name for name, origin in filling.draft.origins.items() if origin["by"] == "said"}
    return render_template(
        "forms/_saved.html",
        kept=view_fields(filling, kept),
        fields=view_fields(filling, redrawn, fresh=saved.behind),
        overtaken=_labels(saved, saved.overtaken),
        behind=_labels(saved, saved.behind - said),
        **drawing(filling, reader_language()),
    )


def _labels(saved: Saved, names: Collection[str]) -> str:
    """What fields are called, in their order, as one text."""
    language = reader_language()
    return ", ".join(f.label.text(language) for f in saved.filling.fields if f.name in names)


def _submit(
    session: ScopedSession, saved: Saved, received: Received, is_new: bool
) -> ResponseReturnValue:
    """Hand it in; whatever keeps it from that, all that was typed is saved and shown again."""
    # Nobody hands in what they have not seen, as what a form's assistant wrote into a field that
    # came with a box ticked on this very page.
    behind, refused = _labels(saved, saved.behind | saved.unseen), received.refused
    if behind:
        session.commit()
        told = _("Changed on another page and shown here now: %(fields)s.", fields=behind)
        return fill_page(saved.filling, problems=refused, error=told), HTTPStatus.CONFLICT
    language = reader_language()
    named = _labels(saved, saved.resolved)
    # Where anything else is wrong, the page comes again with the names as they are read, too.
    if named and not refused and not check_to_submit(session, saved.filling, language).problems:
        session.commit()
        told = _("Check who is named here now, then send it again: %(fields)s.", fields=named)
        return fill_page(saved.filling, problems=refused, error=told), HTTPStatus.CONFLICT
    problems: Mapping[str, Problem] = refused
    if not refused:
        try:
            submission = submit_draft(session, saved.filling, language)
        except NotReady as error:
            problems = error.checked.problems
        else:
            session.commit()
            return redirect(
                url_for(".submission", submission_id=submission.id, sent=1), HTTPStatus.SEE_OTHER
            )
    if is_new and not saved.changed:
        page = _unsaved_page(session, saved.filling.draft.id, problems=problems)
    else:
        session.commit()
        page = fill_page(saved.filling, problems=problems)
    too_many = HTTPStatus.TOO_MANY_REQUESTS
    return page, too_many if received.is_too_many else HTTPStatus.UNPROCESSABLE_ENTITY


def _after_save(session: ScopedSession, saved: Saved, is_new: bool) -> ResponseReturnValue:
    draft = saved.filling.draft
    if is_new and not saved.changed:
        session.rollback()
        slug = saved.filling.template.slug
        return redirect(url_for(".begin", slug=slug), HTTPStatus.SEE_OTHER)
    session.commit()
    _flash_others(saved)
    return redirect(url_for(".fill", draft_id=draft.id, saved=1), HTTPStatus.SEE_OTHER)


def _flash_others(saved: Saved) -> None:
    """Say which fields another page has changed, too."""
    language = reader_language()
    for field in saved.filling.fields:
        if field.name in saved.overtaken:
            label = field.label.text(language)
            told = _(
                "“%(field)s” was also changed on another page. What you typed here replaced it.",
                field=label,
            )
            flash(told, "warn")


def _unsaved_page(
    session: ScopedSession,
    draft_id: UUID,
    *,
    error: str = "",
    problems: Mapping[str, Problem] | None = None,
) -> str:
    """What is not saved, shown with all that was typed."""
    session.rollback()
    form: TypedForm = request.form
    template = load_template(session, UUID(request.form["begin"]))
    filling = unsaved_filling(session, template, form, reader_language(), draft_id=draft_id)
    return fill_page(filling, problems=problems, error=error, is_new=True)


def _where_it_went(session: ScopedSession, draft: FormDraft) -> ResponseReturnValue:
    """To what a draft was handed in as, or to where it can be brought back."""
    if draft.status == "submitted":
        sent = submission_of(session, draft.id)
        address = url_for(".submission", submission_id=sent.id)
    else:
        address = url_for(".index", gone=draft.id)
    return redirect(address, HTTPStatus.SEE_OTHER)


def _sent_already(session: ScopedSession, draft: FormDraft) -> ResponseReturnValue:
    """To what was handed in before; what this page has otherwise is not in there, and is shown."""
    sent, language = submission_of(session, draft.id), reader_language()
    chosen = list_form_files(read_fields_of(session, draft))
    corrections = list_corrections(session, draft, sent, request.form, chosen, language)
    if not corrections:
        return _where_it_went(session, draft)
    template = load_template(session, draft.template_id)
    page = render_template(
        "forms/sent_already.html",
        submission=sent,
        title=title_of(sent.form, language),
        corrections=corrections,
        slug=template.slug,
        can_begin=template.status == "published",
        person=current_user.draft_owner,
    )
    return page, HTTPStatus.CONFLICT


@blueprint.get("/drafts/<uuid:draft_id>/fields")
def fields(draft_id: UUID) -> ResponseReturnValue:
    """Fields as they are now, with those that depend on them, for a page that is open."""
    session = db_session()
    filling = read_filling(session, load_draft(session, draft_id), reader_language())
    names = set(request.args.get("names", "").split(","))
    return _redrawn(filling, names)


@blueprint.post("/drafts/<uuid:draft_id>/undo/<name>")
@limit_person(MOST_SAVES, "form drafts")
def undo(draft_id: UUID, name: str) -> ResponseReturnValue:
    """Give a field back what it held before its last change, and keep all else that was typed."""
    session, language = db_session(), reader_language()
    draft = load_draft(session, draft_id, lock=True)
    filling = undo_on_page(session, draft, name, request.form, language)
    session.commit()
    if request.htmx:  # type: ignore[attr-defined]
        return _redrawn(filling, {name})
    address = url_for(".fill", draft_id=draft_id, _anchor=f"field-{name}")
    return redirect(address, HTTPStatus.SEE_OTHER)


def _redrawn(filling: Any, names: set[str]) -> str:
    views = view_fields(filling, dependents(filling, names), fresh=names)
    return render_template(
        "forms/_fields.html", fields=views, **drawing(filling, reader_language())
    )


@blueprint.post("/drafts/<uuid:draft_id>/discard")
def discard(draft_id: UUID) -> ResponseReturnValue:
    """Throw a half-filled form away; the list offers to bring it back."""
    discard_draft(db_session(), draft_id)
    return redirect(url_for(".index", gone=draft_id), HTTPStatus.SEE_OTHER)


@blueprint.post("/drafts/<uuid:draft_id>/restore")
def restore(draft_id: UUID) -> ResponseReturnValue:
    """Bring back what was thrown away."""
    restore_draft(db_session(), draft_id)
    return redirect(url_for(".fill", draft_id=draft_id), HTTPStatus.SEE_OTHER)


@blueprint.post("/drafts/<uuid:draft_id>/ask")
@limit_messages
def ask(draft_id: UUID) -> ResponseReturnValue:
    """Take a message for the form's assistant; the first one may begin the draft, too."""
    accepted = _accept_message(draft_id)
    if request.form.get("edits") and not accepted.repeated:
        return another_branch(accepted.thread)
    announce(EventLog(services().redis), accepted)
    if not is_htmx():
        return redirect(url_for(".fill", draft_id=draft_id), 303)
    return exchange(accepted)


def _accept_message(draft_id: UUID) -> Accepted:
    """Store the message and queue its turn; the draft is stored with it."""
    session, form = db_session(), request.form
    draft, _is_new = lock_draft(session, draft_id, form, may_begin=is_issued(draft_id))
    words = form.get("message", "")
    return tell_assistant(
        session,
        draft,
        words,
        detect_language(words, current_user.language),
        form.get("message_key") or None,
        form.get("edits", type=UUID),
        seen=form.get("seen", ""),
    )


@handovers.post("/<slug>/open")
@limit_person("60 per minute", "form handovers")
def open_form(slug: str) -> ResponseReturnValue:
    """Hand what was said in a message over to a form."""
    require_role()
    message_id = request.form.get("message_id", type=UUID)
    if message_id is None:
        raise InvalidInput("What the page sent could not be read. Reload it and try again.")
    handover = hand_over(db_session(), slug, message_id)
    return redirect(url_for(".receive", handover_id=handover.id), 303)


@handovers.get("/handover/<uuid:handover_id>")
def receive(handover_id: UUID) -> ResponseReturnValue:
    """Go on to the form that was handed something over, which then begins to be filled in."""
    require_role()
    taken = take_over(db_session(), handover_id)
    if taken.limit:
        flash(_(taken.limit.message, **taken.limit.told(choose_language())), "warn")
    return redirect(url_for("forms.fill", draft_id=taken.draft_id), 303)
