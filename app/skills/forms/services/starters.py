"""The starter forms: what a group begins with, and what a described form is drafted from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.db import ScopedSession, new_id
from app.fields.definitions import FormField, Words, dump_fields, read_fields
from app.skills.forms.models import FormTemplate
from app.text.yaml_file import read_yaml

FOLDER = Path(__file__).parents[1] / "starters"


@dataclass(frozen=True)
class Starter:
    """A form as it is written in its file; `slug` is the file's name."""

    slug: str
    title: Words
    description: Words
    words: Words
    icon: str
    tells_managers: bool
    fields: tuple[FormField, ...]

    def as_template(self, group_id: UUID | None, status: str = "published") -> FormTemplate:
        """A new template of a group, or of all."""
        return FormTemplate(
            id=new_id(),
            group_id=group_id,
            slug=self.slug,
            title_en=self.title.en,
            title_es=self.title.es,
            description_en=self.description.en,
            description_es=self.description.es,
            words_en=self.words.en,
            words_es=self.words.es,
            icon=self.icon,
            tells_managers=self.tells_managers,
            fields=dump_fields(self.fields),
            status=status,
        )


@cache
def read_starters() -> dict[str, Starter]:
    """All starter forms by slug.

    Raises:
        ValueError: a file does not hold a form.
    """
    return {file.stem: _read(file) for file in sorted(FOLDER.glob("*.yaml"))}


def _read(file: Path) -> Starter:
    written: dict[str, Any] = read_yaml(file)
    return Starter(
        file.stem,
        Words.model_validate(written["title"]),
        Words.model_validate(written["description"]),
        Words.model_validate(written["words"]),
        written["icon"],
        written.get("tells_managers") is True,
        read_fields(written["fields"]),
    )


def add_starters(session: ScopedSession, group_id: UUID, slugs: Iterable[str]) -> None:
    """Publish these starter forms in a group that has none of that slug. Never commits.

    One that is there stays as it is: the group may have made it its own.
    """
    known = set(session.scalars(select(FormTemplate.slug).where(FormTemplate.group_id == group_id)))
    starters = read_starters()
    session.add_all(starters[slug].as_template(group_id) for slug in slugs if slug not in known)
    session.flush()
