"""`flask import manual`: Markdown files and folders into a group's library."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import click
from flask.cli import with_appcontext
from sqlalchemy import select

from app.accounts.models import Group
from app.db import ScopedSession, owner_database
from app.extensions import services
from app.retrieval.vectors import embed_missing
from app.skills.knowledge.importing import import_documents
from app.skills.knowledge.markdown_import import ImportProblem, ParsedDocument, read_markdown
from app.skills.knowledge.models import SECTION_KINDS

EMBED_BATCH = 200


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
    """Import Markdown files, or all those in folders; again means only what changed.

    Sections that a file of that name had before, and has no more, are taken out.
    """
    documents, problems = read_all(paths, kind)
    on = services()
    with owner_database(on.settings).session() as session:
        group_id = find_group(session, group_slug)
        with click.progressbar(documents, label="Importing") as bar:
            report = import_documents(session, bar, group_id=group_id, language=language)
        if dry_run:
            session.rollback()
        else:
            session.commit()
            embed_missing(session, on.embedder, group_id=group_id, batch_size=EMBED_BATCH)
            session.commit()
    click.echo(
        f"{len(documents)} documents: {report.added} sections added, {report.changed} changed,"
        f" {report.unchanged} unchanged, {report.removed} removed"
        f"{' (dry run: nothing was stored)' if dry_run else ''}"
    )
    for problem in problems:
        click.echo(f"Not imported: {problem}", err=True)
    if problems:
        raise SystemExit(1)


def read_all(
    paths: tuple[Path, ...], kind: str
) -> tuple[list[ParsedDocument], list[ImportProblem]]:
    """Parse every Markdown file; those that cannot be read do not keep the others out."""
    files = [
        file for path in paths for file in (sorted(path.rglob("*.md")) if path.is_dir() else [path])
    ]
    documents, problems = [], []
    taken: dict[str, str] = {}
    for file in files:
        try:
            document = read_markdown(file, kind)
            _refuse_namesakes(document, taken)
        except ImportProblem as problem:
            problems.append(problem)
        else:
            documents.append(document)
    return documents, problems


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
