"""`flask backup FILE` and `flask restore FILE`."""

from __future__ import annotations

from pathlib import Path

import click
from flask.cli import with_appcontext

from app.backup.archive import BackupError
from app.backup.create import make_backup
from app.backup.restore import restore_backup
from app.extensions import services
from app.schema import pending
from app.text.plain_text import clean_text

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("backup")
@click.argument("file", type=FILE)
@with_appcontext
def backup(file: Path) -> None:
    """Write the whole installation to FILE; people may go on working meanwhile."""
    try:
        manifest = make_backup(services().settings, file)
    except BackupError as error:
        raise click.ClickException(str(error)) from None
    size = sum(member.bytes for member in manifest.members.values())
    click.echo(f"{file}: {size / 1e6:,.1f} MB, schema {manifest.revision}", err=True)
    if manifest.secrets:
        click.echo(f"Not in it, keep them elsewhere: {', '.join(manifest.secrets)}", err=True)


@click.command("restore")
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Delete what is here.")
@with_appcontext
def restore(file: Path, replace: bool) -> None:
    """Make this installation what it was when FILE was made; Comanda must be stopped."""
    settings = services().settings
    try:
        manifest = restore_backup(settings, file, replace=replace)
    except BackupError as error:
        # A backup is a file from elsewhere: a terminal must not obey what is written in it.
        raise click.ClickException(clean_text(str(error))) from None
    _tell(f"Everything is as it was on {manifest.made_at}.")
    here = settings.model_dump(mode="json")
    for name, value in manifest.settings.items():
        if here.get(name) != value:
            _tell(f"It had {name.upper()}={value}; here it is {here.get(name)}.")
    if pending(settings):
        _tell("Its schema is older: run `flask db upgrade`.")


def _tell(words: str) -> None:
    click.echo(clean_text(words), err=True)
