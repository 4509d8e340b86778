"""A form in words: what two versions are compared by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from flask_babel import gettext as _

from app.fields.definitions import read_fields
from app.fields.editor.descriptions import changes_between, fields_in_words
from app.fields.editor.rows import row_of
from app.text.diff import Change


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
