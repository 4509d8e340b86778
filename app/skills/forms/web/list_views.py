"""The pages of forms: what there is to fill in, what is half-filled, and beginning one."""

from __future__ import annotations

from typing import Any

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from app.accounts.form_pages import moment_in_words
from app.assistant.tools.registry import UnfinishedWork
from app.db import ScopedSession
from app.skills.forms.models import FormDraft, FormTemplate
from app.skills.forms.services.contact_names import find_people
from app.skills.forms.services.draft_writer import unsaved_filling
from app.skills.forms.services.drafts import find_open_draft, list_open_work
from app.skills.forms.services.submission_sheet import title_of
from app.skills.forms.services.submissions import list_own_submissions
from app.skills.forms.services.templates import list_published, load_published
from app.skills.forms.web.blueprint import blueprint
from app.skills.forms.web.presenters import fill_page
from app.text.bilingual import reader_language
from app.text.normalize import words
from app.web.issued_ids import issue_id
from app.web.links import Link
from app.web.pages import db_session
from app.web.rate_limits import limit_person, limit_searches

MOST_DRAFTS = 20
MOST_SENT = 5


@blueprint.get("/")
@limit_searches
def index() -> ResponseReturnValue:
    """The forms that there are, one's half-filled ones, and the last that one has sent."""
    session, wanted = db_session(), request.args.get("q", "")[:100]
    found = find_forms(list_published(session), wanted, reader_language())
    if request.htmx.wants_fragment:  # type: ignore[attr-defined]
        return render_template("forms/_list.html", found=found, wanted=wanted, **_reader())
    sent = list_own_submissions(session, MOST_SENT)
    return render_template(
        "forms/index.html",
        found=found,
        wanted=wanted,
        drafts=list_open_work(session, MOST_DRAFTS),
        sent=[(each, title_of(form, reader_language())) for each, form in sent],
        gone=request.args.get("gone"),
        **_reader(),
    )


def find_forms(templates: list[FormTemplate], wanted: str, language: str) -> list[FormTemplate]:
    """The forms whose title or description has every word of these, or begins with it, by title.

    Both languages are looked at, accents are optional.
    """
    asked = words(wanted)

    def fits(template: FormTemplate) -> bool:
        texts = (template.title_en, template.title_es,
                 template.description_en, template.description_es)  # fmt: skip
        there = [word for text in texts for word in words(text)]
        return all(any(word.startswith(part) for word in there) for part in asked)

    fitting = filter(fits, templates)
    return sorted(fitting, key=lambda template: words(template.title(language)))


def _reader() -> dict[str, Any]:
    return {"language": reader_language(), "moment_in_words": moment_in_words}


@blueprint.get("/<slug>")
def begin(slug: str) -> ResponseReturnValue:
    """An empty form, or the one that was begun; nothing is stored until something is typed."""
    session = db_session()
    template = load_published(session, slug)
    begun = find_open_draft(session, template.id)
    if begun and "new" not in request.args:
        return redirect(url_for(".fill", draft_id=begun.id))
    empty: MultiDict[str, str] = MultiDict()
    filling = unsaved_filling(session, template, empty, reader_language(), draft_id=issue_id())
    return fill_page(filling, is_new=True)


@blueprint.get("/people")
@limit_person("240 per minute", "contacts")
def people() -> ResponseReturnValue:
    """The contacts that what is typed into a field may mean."""
    name = request.args.get("field", "")
    found = find_people(db_session(), request.args.get(f"v-{name}", "")[:120])
    return render_template("forms/_people.html", field_name=name, people=found)


def unfinished_work(session: ScopedSession, language: str) -> list[UnfinishedWork]:
    """One's half-filled forms, for the banner in the chat."""
    return [_banner(draft, form, language) for draft, form in list_open_work(session, MOST_DRAFTS)]


def _banner(draft: FormDraft, template: FormTemplate, language: str) -> UnfinishedWork:
    return UnfinishedWork(
        _("You have an unfinished form: %(title)s.", title=template.title(language)),
        Link.to("forms.fill", draft_id=draft.id),
        Link.to("forms.discard", draft_id=draft.id),
    )
