"""A submission as it is read: on its page, on paper and in its PDF, all from the same lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from app.fields.definitions import FILE_TYPES, read_fields
from app.fields.display import display, display_moment
from app.fields.validation import shown_fields
from app.skills.forms.models import FormSubmission
from app.text.bilingual import in_language

PICTURES = ("photo", "signature")


@dataclass(frozen=True)
class Line:
    """A field with what was filled in; `files` are those of it, `type` is the field's."""

    type: str
    label: str
    text: str = ""
    files: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_heading(self) -> bool:
        return self.type == "heading"

    @property
    def has_pictures(self) -> bool:
        return self.type in PICTURES


@dataclass(frozen=True)
class Sheet:
    """A whole submission for one reader."""

    group_name: str
    title: str
    reference: str
    submitter: str
    moment: str
    version: int
    lines: tuple[Line, ...]


def title_of(form: Mapping[str, Any], language: str) -> str:
    """The title that a form had when it was handed in."""
    return in_language(language, form["title_en"], form["title_es"])


def make_sheet(submission: FormSubmission, group_name: str, zone: ZoneInfo, language: str) -> Sheet:
    """A submission in the reader's language, as its own version of the form has it.

    Fields that were hidden when it was handed in are left out.
    """
    values = submission.values
    lines = []
    for field in shown_fields(read_fields(submission.form["fields"]), values):
        value = values.get(field.name)
        is_files = field.type in FILE_TYPES
        text = "" if is_files or field.type == "heading" else display(field, value, language)
        files = tuple(value or ()) if is_files else ()
        lines.append(Line(field.type, field.label.text(language), text, files))
    return Sheet(
        group_name,
        title_of(submission.form, language),
        submission.reference,
        submission.submitter,
        display_moment(submission.submitted_at.astimezone(zone), language),
        submission.template_version,
        tuple(lines),
    )
