"""What the pages of imports show: words for codes, a page of the plan, how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any
from uuid import UUID

from flask_babel import format_timedelta, ngettext
from flask_babel import gettext as _

from app.accounts.form_pages import moment_in_words
from app.db import JsonObject, ScopedSession, utc_now
from app.errors import NotFound
from app.retrieval.vectors import read_standing
from app.skills.knowledge.models import PRODUCT_KINDS, LibraryImport, ManualSection
from app.skills.knowledge.readers import place_text, problem_text, step_text
from app.skills.knowledge.services.import_files import load_section_text
from app.skills.knowledge.services.import_plan import CHANGES, problem_from
from app.skills.knowledge.services.imports import OPERATOR, WORKING
from app.skills.knowledge.services.plan_pages import (
    find_planned_slug,
    load_counts,
    load_entries,
    load_problems,
)
from app.skills.knowledge.services.vocabulary import kind_name
from app.text.allergens import allergen_name
from app.text.bilingual import reader_language
from app.text.diff import Change, abridged, compare

PAGE_ROWS = 200
SHOWN = ("changes", *CHANGES, "unchanged", "all")


def targets() -> list[tuple[str, str]]:
    """What a file can become, as the form offers it."""
    return [
        ("sop", _("Manual: how we work")),
        ("policy", _("Manual: our rules")),
        ("training", _("Manual: training")),
        ("recipe", _("Manual: recipes as text")),
        *((kind, _("Menu: %(kind)s", kind=_menu_name(kind))) for kind in PRODUCT_KINDS),
    ]


def _menu_name(kind: str) -> str:
    return kind_name(kind, reader_language()).lower()


def languages() -> list[tuple[str, str]]:
    return [("en", _("In English")), ("es", _("In Spanish"))]


def status_word(item: LibraryImport) -> str:
    """Where an import stands, in a word or two."""
    if item.status == "applied" and item.report.get("nothing"):
        return _("Nothing to do")
    words = {
        "waiting": _("Waiting"),
        "reading": _("Reading"),
        "ready": _("Ready to import"),
        "applying": _("Importing"),
        "applied": _("Imported"),
        "undoing": _("Undoing"),
        "undone": _("Undone"),
        "failed": _("Failed"),
        "cancelled": _("Canceled"),
    }
    return words[item.status]


def step_words(item: LibraryImport) -> str:
    """What is being done right now."""
    words = {
        "comparing": _("Comparing with the library"),
        "storing": _("Putting it into the library"),
        "undoing": _("Putting back what was there"),
    }
    waiting = _("Waiting for its turn")
    return words.get(item.step) or step_text(item.step) or waiting


def counts_in_words(item: LibraryImport) -> str:
    """What an import did or would do, in one line."""
    counts = {what: item.report.get(what, 0) for what in (*CHANGES, "wrong")}
    return ", ".join(_count(what, number) for what, number in counts.items() if number)


def _count(what: str, number: int) -> str:
    if what == "added":
        return ngettext("%(num)s new", "%(num)s new", number)
    if what == "changed":
        return ngettext("%(num)s changed", "%(num)s changed", number)
    if what == "removed":
        return ngettext("%(num)s taken out", "%(num)s taken out", number)
    return ngettext("%(num)s row left out", "%(num)s rows left out", number)


def under_way_words(item: LibraryImport) -> str:
    """What is said to who brings a file that was brought already."""
    words = {
        "ready": _("This file has been read already. Look through it below, then import."),
        "applying": _("This file is already being imported. Here is its progress."),
        "undoing": _("This file was imported, and the import is being undone."),
    }
    being_read = _("This file was already uploaded and is being read. Here is its progress.")
    return words.get(item.status, being_read)


def who_word(item: LibraryImport, name: str) -> str:
    """Who brought a file, as far as it is known."""
    if item.role == OPERATOR:
        return _("Command line")
    return name or _("Former colleague")


def field_word(name: str) -> str:
    """What a field of a product is called."""
    words = {
        "name_en": _("Name (English)"),
        "name_es": _("Name (Spanish)"),
        "description_en": _("Description (English)"),
        "description_es": _("Description (Spanish)"),
        "category": _("Category"),
        "price": _("Price"),
        "allergens": _("Allergens"),
        "ingredients": _("Ingredients"),
        "steps": _("Steps"),
        "tags": _("Tags"),
        "pairing_notes_en": _("Goes with (English)"),
        "pairing_notes_es": _("Goes with (Spanish)"),
        "facts": _("At a glance"),
        "is_active": _("On the menu"),
    }
    return words.get(name, name)


@dataclass(frozen=True)
class PlanPage:
    """One page of what an import does."""

    show: str
    rows: Sequence[JsonObject]
    page: int
    pages: int
    totals: Mapping[str, int]


def _in_words(entry: JsonObject) -> JsonObject:
    """A row of the plan, with what is declared of allergens in words."""
    fields = [
        [name, *map(_declared, values)] if name == "allergens" else [name, *values]
        for name, *values in entry.get("fields", ())
    ]
    return {**entry, "fields": fields} if fields else entry


def _declared(codes: Any) -> str:
    """Three things that must not look alike: some, none of them, and nothing declared."""
    if codes is None:
        return _("not declared")
    if isinstance(codes, str):
        return codes  # of a plan that was made before
    names = [allergen_name(code, reader_language()) for code in codes]
    return ", ".join(names) or _("none of them")


def load_plan_page(session: ScopedSession, import_id: UUID, show: str, page: int) -> PlanPage:
    """The rows of the plan that were asked for; what changes, unless something else was."""
    counts = load_counts(session, import_id)
    show = show if show in SHOWN else "changes"
    kinds = {"changes": CHANGES, "all": (*CHANGES, "unchanged")}.get(show, (show,))
    pages = max(1, ceil(sum(counts.get(what, 0) for what in kinds) / PAGE_ROWS))
    page = min(max(page, 1), pages)
    totals = {"changes": sum(counts.get(what, 0) for what in CHANGES), **counts}
    first = (page - 1) * PAGE_ROWS
    rows = load_entries(session, import_id, kinds, first=first, most=PAGE_ROWS)
    return PlanPage(show, [_in_words(each) for each in rows], page, pages, totals)


def import_view(item: LibraryImport) -> dict[str, Any]:
    """An import as its page and the list show it."""
    return {
        "id": item.id,
        "filename": item.filename,
        "target": dict(targets())[item.target],
        "language": dict(languages())[item.language],
        "status": item.status,
        "word": status_word(item),
        "counts": counts_in_words(item),
        "when": moment_in_words(item.created_at),
        "created_at": item.created_at,
        "is_working": item.status in WORKING,
        "is_menu": item.target in PRODUCT_KINDS,
        "step": step_words(item),
        "done": item.done,
        "total": item.total,
        "report": item.report,
    }


def load_problem_views(session: ScopedSession, import_id: UUID) -> list[dict[str, Any]]:
    """What is wrong with the file, in words, each with its place."""
    problems = [problem_from(values) for values in load_problems(session, import_id)]
    return [
        {"place": place_text(each), "text": problem_text(each), "is_fatal": each.is_fatal}
        for each in problems
    ]


def load_change(
    session: ScopedSession, item: LibraryImport, document: int, place: int
) -> tuple[str, list[Change]]:
    """Title and word-by-word difference of one section of a manual, or NotFound.

    Of the file nothing is loaded before it is known that the plan has the section.
    """
    is_menu = item.target in PRODUCT_KINDS
    slug = None if is_menu else find_planned_slug(session, item.id, document, place)
    found = load_section_text(session, item.id, document, place) if slug else None
    if found is None:
        raise NotFound("This import has moved on in the meantime. See how it is going now.")
    title, body = found
    row = session.query(ManualSection).filter_by(group_id=item.group_id, slug=slug).first()
    before = _text(row, item.language) if row else ""
    return title, abridged(compare(before, f"{title}\n\n{body}".strip()))


def _text(row: ManualSection, language: str) -> str:
    title, body = (row.title_es, row.body_es) if language == "es" else (row.title_en, row.body_en)
    return f"{title}\n\n{body}".strip()


def vectors_view(session: ScopedSession, item: LibraryImport) -> dict[str, Any]:
    """How much of the library is found by meaning yet, and how long the rest will take."""
    settings = session.settings
    standing = read_standing(
        session,
        settings.embedding_model,
        settings.embedding_dimensions,
        group_id=item.group_id,
        since=item.updated_at,
    )
    missing = standing.documents - standing.ready
    passed = (utc_now() - item.updated_at).total_seconds()
    left = timedelta(seconds=passed * missing / standing.made) if standing.made else None
    return {
        "ready": standing.ready,
        "total": standing.documents,
        "is_done": missing == 0,
        # Long after the job should have run, something is wrong with it.
        "is_late": missing > 0 and not standing.made and passed > 120,
        "left": format_timedelta(left, threshold=1) if left is not None else "",
    }
