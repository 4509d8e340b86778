"""`flask import`: manuals and menus into a group's library, from files and folders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import click
from flask.cli import with_appcontext
from flask_babel import force_locale
from sqlalchemy import select

from app.accounts.models import Group
from app.db import Scope, ScopedSession, owner_database
from app.extensions import services
from app.retrieval.vectors import embed_missing
from app.skills.knowledge.models import PRODUCT_KINDS, SECTION_KINDS
from app.skills.knowledge.readers import (
    FileProblem,
    ReadDocument,
    Reading,
    place_text,
    problem_text,
    read_apart,
    read_file,
)
from app.skills.knowledge.services.import_plan import Planned
from app.skills.knowledge.services.import_writer import import_now
from app.skills.knowledge.services.imports import are_chapters

EMBED_BATCH = 200
MARKDOWN_ENDINGS = (".md", ".markdown")
MANUAL_ENDINGS = (*MARKDOWN_ENDINGS, ".html", ".htm", ".zip", ".pdf", ".docx")
# What is said of a file all of which was imported.
NOTES = ("no_headings", "other_language", "page_without_text")
NOTHING_STORED = " (dry run: nothing was stored)"


@dataclass
class Found:
    """What the files of a command hold, and what of them cannot be imported."""

    documents: list[ReadDocument] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    digest: str = ""


@click.command("manual")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--language", type=click.Choice(["en", "es"]), default="en", show_default=True)
@click.option("--kind", type=click.Choice(SECTION_KINDS), default="sop", show_default=True)
@click.option("--chapter", help="The name of the chapter that the file is the other language of.")
@click.option("--group", "group_slug", help="The group's short name (default: the only one).")
@click.option("--dry-run", is_flag=True, help="Read and report; store nothing.")
@with_appcontext
def import_manual(
    paths: tuple[Path, ...],
    language: str,
    kind: str,
    chapter: str | None,
    group_slug: str | None,
    dry_run: bool,
) -> None:
    """Import Markdown, HTML, PDF and Word files, zips of pages, or folders of all these.

    Again means only what changed. Sections that a file of that name had before, and has no
    more, are taken out.
    """
    found = read_manuals(paths, kind, language)
    with _session_for(group_slug) as session:
        planned = _import(
            session,
            Reading(documents=found.documents),
            filename=", ".join(path.name for path in paths),
            digest=found.digest,
            target=kind,
            language=language,
            editions=_editions(session, found, chapter, language),
            dry_run=dry_run,
        )
    _tell(f"{len(found.documents)} documents", "sections", planned, dry_run)
    _tell_editions(planned)
    _tell_problems(found.problems, found.notes)


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
    content = file.read_bytes()
    reading = read_apart(content, file.name, kind, language)
    with _session_for(group_slug) as session:
        planned = _import(
            session,
            reading,
            filename=file.name,
            digest=hashlib.sha256(content).hexdigest(),
            target=kind,
            language=language,
            editions={},
            dry_run=dry_run,
        )
    _tell(f"{len(reading.rows)} rows", "products", planned, dry_run)
    of_rows = (each for row in reading.rows for each in row.problems)
    problems = [*reading.problems, *planned.wrong, *of_rows]
    _tell_problems([_in_words(file.name, problem) for problem in problems])


@contextmanager
def _session_for(group_slug: str | None) -> Iterator[ScopedSession]:
    """A session of the database's owner that works for one group."""
    with owner_database(services().settings).session() as session:
        session.rescope(Scope(find_group(session, group_slug)))
        yield session


def _import(
    session: ScopedSession,
    reading: Reading,
    *,
    filename: str,
    digest: str,
    target: str,
    language: str,
    editions: dict[str, str],
    dry_run: bool,
) -> Planned:
    """Store what was read and give it its vectors, or keep nothing of it."""
    with click.progressbar(length=100, label="Importing") as bar:
        planned = import_now(
            session,
            reading,
            filename=filename,
            digest=digest,
            target=target,
            language=language,
            editions=editions,
            on_progress=lambda done, total: bar.update(done * 100 // total - bar.pos),
        )
        bar.update(100 - bar.pos)
    if dry_run:
        session.rollback()
        return planned
    session.commit()
    group_id = session.scope.group_id
    assert group_id
    embed_missing(session, services().embedder, group_id=group_id, batch_size=EMBED_BATCH)
    session.commit()
    return planned


def _editions(
    session: ScopedSession, found: Found, chapter: str | None, language: str
) -> dict[str, str]:
    """What was said on the command line of which chapter the one document belongs to."""
    if chapter is None:
        return {}
    if len(found.documents) != 1:
        raise click.UsageError("--chapter is for one document at a time.")
    if not are_chapters(session, language, [chapter]):
        raise click.UsageError(f"There is no chapter {chapter!r} in the other language.")
    return {found.documents[0].source: chapter}


def _tell(files: str, things: str, planned: Planned, dry_run: bool) -> None:
    report = planned.staging.report
    click.echo(
        f"{files}: {report.added} {things} added, {report.changed} changed,"
        f" {report.unchanged} unchanged, {report.removed} removed"
        f"{NOTHING_STORED if dry_run else ''}"
    )


def _tell_editions(planned: Planned) -> None:
    documents: Sequence[Mapping[str, object]] = planned.plan["documents"]
    for document in documents:
        if document["chapter"]:
            click.echo(
                f"{document['source']} is the other language of {document['chapter']}; without a"
                f" partner: {document['alone_here']} here, {document['alone_there_count']} there"
            )


def _tell_problems(problems: Sequence[str], notes: Sequence[str] = ()) -> None:
    for note in notes:
        click.echo(f"Note: {note}", err=True)
    for problem in problems:
        click.echo(f"Not imported: {problem}", err=True)
    if problems:
        raise SystemExit(1)


def read_manuals(paths: tuple[Path, ...], kind: str, language: str) -> Found:
    """Read every file; those that cannot be read do not keep the others out."""
    found, digest = Found(), hashlib.sha256()
    taken: dict[str, str] = {}
    with click.progressbar(_files(paths), label="Reading") as files:
        for file in files:
            content = file.read_bytes()
            digest.update(content)
            # Markdown is read without any library that a file could break.
            read = read_file if file.suffix.lower() in MARKDOWN_ENDINGS else read_apart
            _add(found, file, read(content, file.name, kind, language), taken)
    found.digest = digest.hexdigest()
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


def _add(found: Found, file: Path, reading: Reading, taken: dict[str, str]) -> None:
    for problem in reading.problems:
        told = found.notes if problem.code in NOTES else found.problems
        told.append(_in_words(file.name, problem))
    for document in reading.documents:
        namesake = _namesake(document, taken)
        if namesake:
            found.problems.append(f"{file.name}: {namesake}")
        else:
            found.documents.append(document)


def _namesake(document: ReadDocument, taken: dict[str, str]) -> str:
    """A section of the same name in another file would be overwritten without a word."""
    if not document.keeps_names:
        return ""
    for section in document.sections:
        if section.slug in taken:
            return f"{taken[section.slug]} has a {{#{section.slug}}} already"
    taken.update({section.slug: document.source for section in document.sections})
    return ""


def _in_words(name: str, problem: FileProblem) -> str:
    with force_locale("en"):
        place = place_text(problem)
        return (
            f"{name}, {place}: {problem_text(problem)}"
            if place
            else (f"{name}: {problem_text(problem)}")
        )


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
