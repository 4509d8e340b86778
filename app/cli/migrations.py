"""`flask db revision "what it does"`: a migration to fill in, behind the newest there is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import click
from alembic.script import ScriptDirectory

from app.schema import MIGRATIONS

_TEMPLATE = '''"""{what}

Revision: {revision}
Follows: {newest}
"""

from __future__ import annotations

from alembic import op

revision = "{revision}"
down_revision = "{newest}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("")


def downgrade() -> None:
    op.execute("")
'''


@click.command("revision")
@click.argument("what")
def make_revision(what: str) -> None:
    """Write a migration that says WHAT it does and does nothing yet."""
    click.echo(write_revision(what, MIGRATIONS, datetime.now(UTC)))


def write_revision(what: str, folder: Path, now: datetime) -> Path:
    """The file of a new migration: its name says when it was made and what it does.

    Raises:
        click.ClickException: nothing is said of it, or one was made this very minute.
    """
    words = re.findall(r"[a-z]+", what.lower())
    if not words:
        raise click.ClickException("Say in a few words what it does.")
    revision = next_revision(folder, now)
    file = folder / "versions" / f"{revision}_{'_'.join(words[:6])}.py"
    newest = ScriptDirectory(str(folder)).get_current_head()
    sentence = f"{what[:1].upper()}{what[1:].rstrip('.')}."
    file.write_text(_TEMPLATE.format(what=sentence, revision=revision, newest=newest), "utf-8")
    return file


def next_revision(folder: Path, now: datetime) -> str:
    """The revision of a migration that is made now.

    Raises:
        click.ClickException: one was made this very minute.
    """
    revision = f"{now:%Y%m%d_%H%M}"
    if list((folder / "versions").glob(f"{revision}_*.py")):
        raise click.ClickException(f"There is a migration {revision} already; wait a minute.")
    return revision
