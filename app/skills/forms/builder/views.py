"""The form builder: the list of forms, making one, its page, its history. Managers may look."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.form_pages import moment_in_words
from app.assistant.providers.choice import make_provider
from app.db import new_id
from app.errors import ComandaError, Conflict, InvalidInput
from app.extensions import services
from app.fields.editor.page_state import act
from app.skills.forms.builder.model_drafts import draft_with_model
from app.skills.forms.builder.page_state import Work, read_work, work_of
from app.skills.forms.builder.parser import build
from app.skills.forms.builder.presenters import builder_context, previews_of, what_changed
from app.skills.forms.builder.sentence_drafts import (
    LONGEST_DESCRIPTION,
    Drafted,
    content_of_starter,
    draft_from_starters,
)
from app.skills.forms.builder.templates import (
    VERSIONS,
    Listed,
    StaleForm,
    content_of,
    copy_form,
    create_form,
    list_forms,
    load_own,
    restore_version,
    save_form,
    set_status,
)
from app.skills.forms.models import TEMPLATE_STATES, FormTemplate
from app.skills.forms.services.starters import read_starters
from app.skills.forms.services.templates import load_template
from app.skills.forms.web.list_views import find_forms
from app.text.bilingual import reader_language
from app.text.plain_text import clean_line
from app.web.issued_ids import id_of_posted
from app.web.pages import db_session, page_number, require_role, wants_fragment
from app.web.rate_limits import limit_building, limit_person, limit_previews, limit_searches

LARGEST_FORM = 4 * 1024 * 1024
# A model that drafts costs what a long answer costs.
MOST_DRAFTED = "10 per minute"
blueprint = Blueprint("form_builder", __name__, url_prefix="/admin/forms")


@blueprint.before_request
def editors_only() -> None:
    """Admins make forms; managers look at them."""
    if request.method == "GET":
        require_role("manager", "admin")
    else:
        require_role("admin")


@blueprint.url_value_preprocessor
def allow_long_forms(_endpoint: str | None, _values: dict[str, Any] | None) -> None:
    request.max_content_length = request.max_form_memory_size = LARGEST_FORM


def may_edit() -> bool:
    return bool(current_user.role == "admin")


@blueprint.get("/")
@limit_searches
def index() -> ResponseReturnValue:
    """The forms of the group in every state; the list alone for htmx."""
    state, wanted = request.args.get("state", ""), request.args.get("q", "")[:100]
    state = state if state in TEMPLATE_STATES else ""
    fragment = request.htmx.wants_fragment  # type: ignore[attr-defined]
    return render_template(
        "forms/builder/_list.html" if fragment else "forms/builder/index.html",
        found=_find(list_forms(db_session(), state), wanted),
        wanted=wanted,
        state=state,
        **_in_common(),
    )


def _find(listed: list[Listed], wanted: str) -> list[Listed]:
    """Those that have every word, by title."""
    by_id = {each.template.id: each for each in listed}
    found = find_forms([each.template for each in listed], wanted, reader_language())
    return [by_id[template.id] for template in found]


def _in_common() -> dict[str, Any]:
    return {
        "language": reader_language(),
        "begun_id": new_id(),
        "may_edit": may_edit(),
        "moment_in_words": moment_in_words,
        "states": {
            "draft": _("Draft"),
            "published": _("Published"),
            "archived": _("Archived"),
        },
    }


@blueprint.get("/new")
def new() -> ResponseReturnValue:
    """Three ways to begin: in one sentence, from a starter, from nothing."""
    require_role("admin")
    return _new_page()


def _new_page(error: ComandaError | None = None) -> ResponseReturnValue:
    errors = {error.field or "form": _(error.message, **error.params)} if error else {}
    page = render_template(
        "forms/builder/new.html",
        starters=read_starters(),
        form=request.form,
        errors=errors,
        longest=LONGEST_DESCRIPTION,
        **_in_common(),
    )
    return page, error.status if error else HTTPStatus.OK


@blueprint.post("/new")
@limit_building
@limit_person(MOST_DRAFTED, "form templates")
def add() -> ResponseReturnValue:
    """Begin a form; it is a draft that nobody can fill in yet."""
    try:
        drafted = _drafted(request.form.get("from", ""))
        template = create_form(db_session(), id_of_posted(), drafted.content, drafted.slug)
    except InvalidInput as error:
        db_session().rollback()
        return _new_page(error)
    _tell_source(drafted)
    return _to_page(template.id)


def _drafted(source: str) -> Drafted:
    if source == "sentence":
        return _describe(request.form.get("sentence", ""))
    starter = read_starters().get(source.removeprefix("starter:"))
    if starter is not None:
        return Drafted(content_of_starter(starter), starter.slug, "starter")
    if source != "nothing":
        raise InvalidInput("Choose from the list.", field="form")
    title = clean_line(request.form.get("title", ""))
    if not 0 < len(title) <= 120:
        raise InvalidInput("Give the form a title of at most 120 characters.", field="title")
    return Drafted({f"title_{reader_language()}": title}, title, "empty")


def _describe(sentence: str) -> Drafted:
    """A draft of what is described: by the model where there is one, else from the starters."""
    said = clean_line(sentence)
    if not said:
        raise InvalidInput("Say in one sentence what the form is for.", field="sentence")
    if len(said) > LONGEST_DESCRIPTION:
        raise InvalidInput(
            "That is %(length)s characters; at most %(limit)s fit here.",
            field="sentence",
            length=len(said),
            limit=LONGEST_DESCRIPTION,
        )
    on, language = services(), reader_language()
    # Whoever else uses the database is served while a model thinks.
    db_session().rollback()
    if on.settings.provider == "builtin":
        return draft_from_starters(on.embedder, said, language)
    drafted = draft_with_model(make_provider(on.settings, on.embedder), said, language)
    if drafted is not None:
        return drafted
    flash(_("The model wasn't available, so this comes from the starter forms."), "warn")
    return draft_from_starters(on.embedder, said, language)


def _tell_source(drafted: Drafted) -> None:
    if drafted.source == "starter" and drafted.starter:
        title = drafted.starter.title.text(reader_language())
        flash(_("This is based on the starter form “%(title)s”, which fits best.", title=title))
    elif drafted.source == "named":
        flash(_("No starter form fits. These are the fields you named; check each one."), "warn")
    elif drafted.source == "empty" and request.form.get("from") == "sentence":
        flash(_("No starter form fits, so this one is empty. Add its fields below."), "warn")
    elif drafted.source == "model":
        flash(_("The model drafted this form. Look at each field before you publish it."))


@blueprint.get("/<uuid:template_id>")
def edit(template_id: UUID) -> ResponseReturnValue:
    """A form's page: its words and fields, and how it will look."""
    template = load_template(db_session(), template_id)
    return _edit_page(template, work_of(template))


@blueprint.post("/<uuid:template_id>")
@limit_building
def save(template_id: UUID) -> ResponseReturnValue:
    """Do what a button of the page says; only "save" writes anything."""
    session, do = db_session(), request.form.get("do", "")
    work = read_work(request.form)
    if do != "save":
        return _worked_on(template_id, work, do)
    built = build(work)
    if built.problems:
        return _refused(template_id, work, next(iter(built.problems)))
    try:
        template = save_form(session, template_id, work.version, built.content)
    except StaleForm as error:
        return _stale_page(template_id, work, error)
    except InvalidInput as error:
        session.rollback()
        return _refused(template_id, work, "", error)
    is_changed = template.version != work.version
    told = _("Saved as version %(number)s.", number=template.version)
    return _edit_page(template, work_of(template), told=told if is_changed else _("Saved."))


def _worked_on(template_id: UUID, work: Work, do: str) -> ResponseReturnValue:
    template = load_own(db_session(), template_id)
    try:
        return _edit_page(template, act(work, do))
    except InvalidInput as error:
        page = _edit_page(template, work, error)
        return page, error.status


def _refused(
    template_id: UUID, work: Work, key: str, error: InvalidInput | None = None
) -> ResponseReturnValue:
    """The page with all that was typed, opened at the first thing that is wrong."""
    template = load_own(db_session(), template_id)
    shown = replace(work, open_key=key) if key else work
    page = _edit_page(template, shown, error, was_saved=True)
    return page, HTTPStatus.UNPROCESSABLE_ENTITY


def _stale_page(template_id: UUID, work: Work, error: StaleForm) -> ResponseReturnValue:
    """Somebody else was faster: theirs is shown beside mine, which can be saved over it."""
    theirs, editor = content_of(error.template), error.editor
    mine = {**theirs, **build(work).content}
    db_session().rollback()
    template = load_own(db_session(), template_id)
    page = _edit_page(
        template,
        replace(work, version=template.version),
        clash={
            "editor": editor,
            "changes": what_changed(theirs, mine),
        },
    )
    return page, HTTPStatus.CONFLICT


def _edit_page(
    template: FormTemplate,
    work: Work,
    error: ComandaError | None = None,
    *,
    was_saved: bool = False,
    told: str = "",
    clash: dict[str, Any] | None = None,
) -> str:
    fragment = request.htmx.wants_fragment  # type: ignore[attr-defined]
    context = builder_context(template, work, was_saved=was_saved)
    if error is not None:
        context["errors"] = {error.field or "form": _(error.message, **error.params)}
    return render_template(
        "forms/builder/_worked.html" if fragment else "forms/builder/edit.html",
        told=told,
        clash=clash,
        is_shared=template.group_id is None,
        **context,
        **{name: value for name, value in _in_common().items() if name not in context},
    )


@blueprint.post("/<uuid:template_id>/preview")
@limit_previews
def drawn(template_id: UUID) -> ResponseReturnValue:
    """How the form would look as it stands on the page, in both languages."""
    load_own(db_session(), template_id)
    work = read_work(request.form)
    return render_template("forms/builder/_previews.html", previews=previews_of(work, build(work)))


@blueprint.post("/<uuid:template_id>/status")
@limit_building
def change_status(template_id: UUID) -> ResponseReturnValue:
    """Publish, archive or bring back."""
    status = request.form.get("status", "")
    try:
        set_status(db_session(), template_id, _version("version"), status)
    except Conflict as error:
        db_session().rollback()
        flash(_(error.message), "error")
        return _to_page(template_id)
    told = {
        "published": _("It is published: everybody can find it from now on."),
        "archived": _("It is archived: nobody can start it anymore. Half-filled forms continue."),
        "draft": _("It is a draft again: nobody can find it until you publish it."),
    }
    flash(told[status])
    return _to_page(template_id)


@blueprint.post("/<uuid:template_id>/copy")
@limit_building
@limit_person(MOST_DRAFTED, "form templates")
def copy(template_id: UUID) -> ResponseReturnValue:
    """Another form like this one; of a shared form, the group's own."""
    try:
        made = copy_form(db_session(), template_id, id_of_posted())
    except InvalidInput as error:
        db_session().rollback()
        flash(_(error.message, **error.params), "error")
        return _to_page(template_id)
    flash(_("This is the copy. It is a draft until you publish it."))
    return _to_page(made.id)


@blueprint.get("/<uuid:template_id>/history")
def history(template_id: UUID) -> ResponseReturnValue:
    """A page of what was saved when and by whom, and the way back."""
    session, page = db_session(), page_number()
    template = load_own(session, template_id)
    versions, has_more = VERSIONS.list_versions(session, template, page)
    return render_template(
        "forms/builder/history.html",
        template=template,
        versions=versions,
        newer=url_for(".history", template_id=template_id, page=page - 1) if page > 1 else "",
        older=url_for(".history", template_id=template_id, page=page + 1) if has_more else "",
        **_in_common(),
    )


@blueprint.get("/<uuid:template_id>/history/<int(max=1000000):number>")
def version(template_id: UUID, number: int) -> ResponseReturnValue:
    """What one version changed; that alone for htmx."""
    session = db_session()
    template = load_own(session, template_id)
    saved, before, after = VERSIONS.load_change(session, template, number)
    changes = what_changed(before, after)
    if wants_fragment():
        return render_template("fields/building/_changes.html", changes=changes)
    return render_template(
        "forms/builder/history.html",
        template=template,
        versions=[saved],
        changes=changes,
        **_in_common(),
    )


@blueprint.post("/<uuid:template_id>/restore")
@limit_building
def restore(template_id: UUID) -> ResponseReturnValue:
    """Make the form again what it was in a version."""
    number = _version("number")
    try:
        restore_version(db_session(), template_id, number, _version("version"))
    except (Conflict, InvalidInput) as error:
        db_session().rollback()
        flash(_(error.message), "error")
        return redirect(url_for(".history", template_id=template_id), HTTPStatus.SEE_OTHER)
    flash(_("The form is back to what it was in version %(number)s.", number=number))
    return _to_page(template_id)


def _to_page(template_id: UUID) -> ResponseReturnValue:
    return redirect(url_for(".edit", template_id=template_id), HTTPStatus.SEE_OTHER)


def _version(name: str) -> int:
    text = request.form.get(name, "")
    return int(text) if text.isdecimal() and len(text) < len("1000000") else 0
