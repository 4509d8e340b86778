"""What an editor has on the page: the form's words and its rows. Pure: nothing is stored here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.fields.definitions import read_fields
from app.fields.editor.page_state import FieldWork, read_rows
from app.fields.editor.rows import Form, row_of
from app.skills.forms.models import FormTemplate

TEXTS = (
    "title_en", "title_es", "description_en", "description_es", "words_en", "words_es", "slug",
    "icon",
)  # fmt: skip
LONGEST_TITLE, LONGEST_DESCRIPTION, LONGEST_WORDS = 120, 500, 1_000


@dataclass(frozen=True)
class Work(FieldWork):
    """A form while it is being worked on; `version` is the one that was opened."""

    version: int
    texts: Mapping[str, str]
    has_assistant: bool = True
    tells_managers: bool = False


def work_of(template: FormTemplate) -> Work:
    """A stored form as it is worked on."""
    return Work(
        template.version,
        {name: getattr(template, name) for name in TEXTS},
        template.has_assistant,
        template.tells_managers,
        rows=tuple(row_of(each) for each in read_fields(template.fields)),
    )


def read_work(form: Form) -> Work:
    """What stands on the page.

    Raises:
        InvalidInput: it is not what the page sends.
    """
    version = form.get("version", "")
    return Work(
        int(version) if version.isdecimal() and len(version) < len("1000000") else 0,
        {name: form.get(name, "")[:2_000] for name in TEXTS},
        form.get("assistant", "") == "on",
        form.get("tells_managers", "") == "on",
        rows=read_rows(form),
        open_key=form.get("open", ""),
    )
