"""What the builder's templates are given: the work, what is wrong with it, and how it will look.

A form in words is what two versions are compared by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import render_template, url_for
from flask_babel import force_locale
from flask_babel import gettext as _
from flask_login import current_user
from markupsafe import Markup

from app.config import LANGUAGES
from app.fields.definitions import read_fields
from app.fields.editor.descriptions import changes_between, condition_in_words, fields_in_words
from app.fields.editor.presenters import rows_context, told
from app.fields.editor.rows import Row, row_of
from app.fields.form_data import shape_of
from app.skills.forms.builder.page_state import Work
from app.skills.forms.builder.parser import Built, build
from app.skills.forms.builder.templates import is_stored
from app.skills.forms.models import FormTemplate
from app.skills.forms.web.presenters import FieldView
from app.text.bilingual import in_language, reader_language
from app.text.diff import Change
from app.web.icons import SHAPES

# Those icons that stand for a form; the others are for buttons.
FORM_ICONS = tuple(
    name
    for name in (
        "form", "clipboard", "checklist", "first-aid", "write-up", "alert", "thermometer", "wrench",
        "complaint", "calendar", "swap", "shirt", "trash", "coins", "truck", "camera", "people",
        "chart", "clock", "dishes", "wines", "again",
    )
    if name in SHAPES
)  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """A field as the preview draws it, with the sentence that says when it is shown."""

    view: FieldView
    condition: str
    is_open: bool


def builder_context(template: FormTemplate, work: Work, *, was_saved: bool) -> dict[str, Any]:
    """What the page and its parts need; `was_saved` where saving was tried, so that all is told."""
    language = reader_language()
    built = build(work)
    return {
        **rows_context(work, built.problems, was_saved=was_saved),
        "template": template,
        "work": work,
        "is_unsaved": not is_stored(template, built.content),
        "errors": told(built.problems.get("", {})) if was_saved else {},
        "save_address": url_for("form_builder.save", template_id=template.id),
        "form_icons": list(dict.fromkeys((*FORM_ICONS, template.icon))),
        "previews": previews_of(work, built),
        "person": current_user.user_id,
        "language": language,
    }


def previews_of(work: Work, built: Built) -> dict[str, Markup]:
    """The form as those who fill it in will see it, to look at only, by language."""
    return {language: _preview(work, built, language) for language in LANGUAGES}


def _preview(work: Work, read: Built, language: str) -> Markup:
    by_key = {row.key: row for row in work.kept}
    rows = [row for row in work.kept if row.key in read.fields]
    title, description = (_text_of(work, name, language) for name in ("title", "description"))
    with force_locale(language):
        drawn = [
            Drawn(
                _field_view(row, read, language),
                condition_in_words(row, by_key, language),
                row.key == work.open_key,
            )
            for row in rows
        ]
        html = render_template(
            "forms/builder/_drawn.html",
            drawn=drawn,
            title=title,
            description=description,
            left_out=len(work.kept) - len(rows),
            language=language,
        )
    return Markup(html)  # noqa: S704 (a template of ours has made it)


def _text_of(work: Work, name: str, language: str) -> str:
    return in_language(language, work.texts[f"{name}_en"], work.texts[f"{name}_es"])


def _field_view(row: Row, built: Built, language: str) -> FieldView:
    # Two previews stand on one page: what is drawn has a name of its own in each.
    stored = built.fields[row.key]
    named = stored.model_copy(update={"name": f"{language}-{stored.name}"})
    return FieldView(named, True, shape_of(named, None), None, "")


def form_in_words(content: Mapping[str, Any]) -> str:
    """What a version holds, in the page's language."""
    lines = [
        _("Title (English): %(text)s", text=content["title_en"]),
        _("Title (Spanish): %(text)s", text=content["title_es"]),
        _("Description (English): %(text)s", text=content["description_en"]),
        _("Description (Spanish): %(text)s", text=content["description_es"]),
        *_words(content),
        _("Icon: %(name)s", name=content["icon"]),
        _("With the assistant") if content["ai_tools"] else _("Without the assistant"),
        *([_("Managers are notified of each one sent")] if content.get("tells_managers") else []),
    ]
    fields = fields_in_words([row_of(each) for each in read_fields(content["fields"])])
    return "\n\n".join(["\n".join(lines), *fields])


def _words(content: Mapping[str, Any]) -> Iterator[str]:
    """What people call it; versions of before have none, and most forms in one language."""
    if content.get("words_en"):
        yield _("What people call it (English): %(words)s", words=content["words_en"])
    if content.get("words_es"):
        yield _("What people call it (Spanish): %(words)s", words=content["words_es"])


def what_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """How one version became another one, with the lines around what differs."""
    return changes_between(partial(form_in_words, before), partial(form_in_words, after))
