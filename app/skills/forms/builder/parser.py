"""From what stands in the builder to what a template stores, or what is wrong where. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.fields.definitions import MOST_FIELDS, FormField, dump_fields
from app.fields.editor.parser import Problems, build_fields, too_long
from app.fields.values import Problem, clean
from app.skills.forms.builder.page_state import (
    LONGEST_DESCRIPTION,
    LONGEST_TITLE,
    LONGEST_WORDS,
    TEXTS,
    Work,
)
from app.skills.forms.models import FORM_TOOLS
from app.web.icons import SHAPES

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")
# Addresses below /forms that are no form's.
TAKEN = ("submissions", "drafts", "people", "handover")
LONGEST_TEXTS = {
    "title": LONGEST_TITLE, "description": LONGEST_DESCRIPTION, "words": LONGEST_WORDS,
}  # fmt: skip


@dataclass(frozen=True)
class Built:
    """What a page can be stored as; `problems` are by row (the form's own under ""), then by
    what they are about. `fields` are those that can be drawn, by the key of their row.
    """

    content: Mapping[str, Any]
    fields: Mapping[str, FormField]
    problems: Mapping[str, Problems] = field(default_factory=dict)


def build(work: Work) -> Built:
    """Read the work."""
    built = build_fields(work.kept)
    problems = {"": _problems_of_texts(work), **built.problems}
    if len(work.kept) > MOST_FIELDS:
        problems[""]["form"] = Problem("A form has at most %(limit)s fields.", limit=MOST_FIELDS)
    content = {**{name: clean(work.texts[name]) for name in TEXTS},
               "ai_tools": list(FORM_TOOLS) if work.has_assistant else [],
               "tells_managers": work.tells_managers,
               "fields": dump_fields(list(built.fields.values()))}  # fmt: skip
    return Built(content, built.fields, {key: each for key, each in problems.items() if each})


def _problems_of_texts(work: Work) -> Problems:
    found: Problems = {}
    for name, longest in LONGEST_TEXTS.items():
        for language in ("en", "es"):
            length = len(clean(work.texts[f"{name}_{language}"]))
            if length > longest:
                found[f"{name}_{language}"] = too_long(length, longest)
    if not clean(work.texts["title_en"]) and not clean(work.texts["title_es"]):
        found["title_en"] = Problem("Give the form a title in at least one language.")
    slug = work.texts["slug"].strip()
    if not SLUG.fullmatch(slug):
        found["slug"] = Problem("Use lowercase letters, digits, and hyphens, 60 at most.")
    elif slug in TAKEN:
        found["slug"] = Problem("This address is used for something else. Choose another one.")
    if work.texts["icon"] not in SHAPES:
        found["icon"] = Problem("Choose from the list.")
    return found
