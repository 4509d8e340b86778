"""`flask import`: manuals and menus into a group's library, from files and folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import click
from flask.cli import with_appcontext
from flask_babel import force_locale
from sqlalchemy import select

from app.accounts.models import Group
from app.db import ScopedSession, owner_database
from app.extensions import services
from app.retrieval.vectors import embed_missing
from app.skills.knowledge.documents import Library, prepare_documents
from app.skills.knowledge.importing import import_documents, store
from app.skills.knowledge.markdown_import import (
    ImportProblem,
    ImportReport,
    ParsedDocument,
    read_markdown,
)
from app.skills.knowledge.models import PRODUCT_KINDS, SECTION_KINDS
from app.skills.knowledge.reading import (
    Problem,
    ReadDocument,
    Reading,
    place_text,
    problem_text,
    read_apart,
)
from app.skills.knowledge.staging import load_all_sections, stage_products

EMBED_BATCH = 200
MANUAL_ENDINGS = (".md", ".markdown", ".html", ".htm", ".zip", ".pdf", ".docx")
NOTHING_STORED = " (dry run: nothing was stored)"


@dataclass
class Found:
    """What the files of a command hold, and what of them cannot be imported."""

    parsed: list[ParsedDocument] = field(default_factory=list)
    read: list[tuple[str, ReadDocument]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)


@click.command("manual")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--language", type=click.Choice(["en", "es"]), default="en", show_default=True)
@click.option("--kind", type=click.Choice(SECTION_KINDS), default="sop", show_default=True)
@click.option("--group", "group_slug", help="The group's short name (default: the only one).")
@click.option("--dry-run", is_flag=True, help="Read and report; store nothing.")
@with_appcontext
def import_manual(
    paths: tuple[Path, ...], language: str, kind: str, group_slug: str | None, dry_run: bool
) -> None:
    """Import Markdown, HTML, PDF and Word files, zips of pages, or folders of all these.

    Again means only what changed. Sections that a file of that name had before, and has no
    more, are taken out.
    """
    found = read_manuals(paths, kind, language)
    on = services()
    with owner_database(on.settings).session() as session:
        group_id = find_group(session, group_slug)
        documents = [*found.parsed, *_prepared(session, found, group_id, kind, language)]
        with click.progressbar(length=100, label="Importing") as bar:
            report = import_documents(
                session,
                documents,
                group_id=group_id,
                language=language,
                on_progress=lambda done, total: bar.update(done * 100 // total - bar.pos),
            )
            bar.update(100 - bar.pos)
        _end(session, group_id, dry_run)
    _tell(f"{len(documents)} documents", "sections", report, dry_run)
    _tell_problems(found.problems)


@click.command("menu")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--kind", type=click.Choice(PRODUCT_KINDS), required=True)
@click.option("--language", type=click.Choice(["en", "es"]), default="en", show_default=True)
@click.option("--group", "group_slug", help="The group's short name (default: the only one).")
@click.option("--dry-run", is_flag=True, help="Read and report; store nothing.")
@with_appcontext
def import_menu(
    file: Path, kind: str, language: str, group_slug: str | None, dry_run: bool
) -> None:
    """Import a CSV or Excel table of products; rows with an error are named and left out."""
    reading = _read(file, kind, language)
    rows = [row for row in reading.rows if not row.problems]
    problems = [*reading.problems, *(each for row in reading.rows for each in row.problems)]
    on = services()
    with owner_database(on.settings).session() as session:
        group_id = find_group(session, group_slug)
        values = [{**row.values, "borrowed": row.borrowed} for row in rows]
        staging = stage_products(session, values, group_id=group_id, kind=kind, is_partial=True)
        with click.progressbar(length=100, label="Importing") as bar:
            store(
                staging,
                group_id=group_id,
                on_progress=lambda done, total: bar.update(done * 100 // total - bar.pos),
            )
            bar.update(100 - bar.pos)
        _end(session, group_id, dry_run)
    _tell(f"{len(reading.rows)} rows", "products", staging.report, dry_run)
    _tell_problems([_in_words(file.name, problem) for problem in problems])


def _end(session: ScopedSession, group_id: UUID, dry_run: bool) -> None:
    """Keep what was stored and give it its vectors, or keep nothing."""
    if dry_run:
        session.rollback()
        return
    session.commit()
    embed_missing(session, services().embedder, group_id=group_id, batch_size=EMBED_BATCH)
    session.commit()


def _tell(files: str, things: str, report: ImportReport, dry_run: bool) -> None:
    click.echo(
        f"{files}: {report.added} {things} added, {report.changed} changed,"
        f" {report.unchanged} unchanged, {report.removed} removed"
        f"{NOTHING_STORED if dry_run else ''}"
    )


def _tell_problems(problems: Sequence[str]) -> None:
    for problem in problems:
        click.echo(f"Not imported: {problem}", err=True)
    if problems:
        raise SystemExit(1)


def read_manuals(paths: tuple[Path, ...], kind: str, language: str) -> Found:
    """Read every file; those that cannot be read do not keep the others out."""
    found = Found()
    with click.progressbar(_files(paths), label="Reading") as files:
        for file in files:
            if file.suffix.lower() in (".md", ".markdown"):
                _add_markdown(found, file, kind)
            else:
                _add_reading(found, file, _read(file, kind, language))
    return found


def _files(paths: tuple[Path, ...]) -> list[Path]:
    """The files named, and in folders all that a manual may be."""
    return [
        file
        for path in paths
        for file in (
            sorted(each for each in path.rglob("*") if each.suffix.lower() in MANUAL_ENDINGS)
            if path.is_dir()
            else [path]
        )
    ]


def _read(file: Path, target: str, language: str) -> Reading:
    return read_apart(
        file.read_bytes(),
        file.name,
        target,
        language,
        on_progress=lambda _step, _done, _total: None,
        is_cancelled=lambda: False,
    )


def _add_markdown(found: Found, file: Path, kind: str) -> None:
    """Markdown names its own kind in its front matter, and its sections for good."""
    try:
        document = read_markdown(file, kind)
        _refuse_namesakes(document, found.taken)
    except ImportProblem as problem:
        found.problems.append(str(problem))
    else:
        found.parsed.append(document)


def _add_reading(found: Found, file: Path, reading: Reading) -> None:
    found.problems += [_in_words(file.name, problem) for problem in reading.problems]
    found.read += [(file.name, document) for document in reading.documents]


def _in_words(name: str, problem: Problem) -> str:
    with force_locale("en"):
        place = place_text(problem)
        return (
            f"{name}, {place}: {problem_text(problem)}"
            if place
            else (f"{name}: {problem_text(problem)}")
        )


def _prepared(
    session: ScopedSession, found: Found, group_id: UUID, kind: str, language: str
) -> list[ParsedDocument]:
    """The documents that are not Markdown, under names that are nobody else's."""
    if not found.read:
        return []
    documents, _editions = prepare_documents(
        [document for _name, document in found.read],
        Library(load_all_sections(session, group_id)),
        filename=found.read[0][0],
        kind=kind,
        language=language,
        chosen={},
    )
    return documents


def _refuse_namesakes(document: ParsedDocument, taken: dict[str, str]) -> None:
    """A section of the same name in another file would be overwritten without a word."""
    for section in document.sections:
        if section.slug in taken:
            other = taken[section.slug]
            raise ImportProblem(document.source, f"{other} has a {{#{section.slug}}} already")
    taken.update({section.slug: document.source for section in document.sections})


def find_group(session: ScopedSession, slug: str | None) -> UUID:
    """The group of that short name; without one, the only group there is."""
    query = select(Group.id, Group.slug).order_by(Group.created_at)
    groups = session.execute(query.where(Group.slug == slug) if slug else query).all()
    if not groups:
        raise click.ClickException("There is no such group. See `flask users groups`.")
    if len(groups) > 1:
        known = ", ".join(group.slug for group in groups)
        raise click.UsageError(f"There are several groups; name one with --group: {known}.")
    group_id: UUID = groups[0].id
    return group_id
