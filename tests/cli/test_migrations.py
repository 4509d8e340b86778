"""`flask db revision`: a migration that can be applied as it is written, behind the newest."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from alembic.script import ScriptDirectory

from app.cli.migrations import write_revision
from app.schema import MIGRATIONS

NOW = datetime(2027, 1, 2, 9, 5, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(MIGRATIONS, tmp_path / "migrations", ignore=ignored))


def test_a_new_migration_follows_the_newest_and_is_the_newest_then(folder: Path) -> None:
    before = ScriptDirectory(str(folder)).get_current_head()
    file = write_revision("par levels, by weekday", folder, NOW)
    assert file.name == "20270102_0905_par_levels_by_weekday.py"
    made = ScriptDirectory(str(folder)).get_revision("20270102_0905")
    assert made is not None
    assert made.down_revision == before
    assert made.doc == "Par levels, by weekday."
    assert ScriptDirectory(str(folder)).get_current_head() == made.revision


def test_its_file_is_named_by_words_alone(folder: Path) -> None:
    file = write_revision("Up to 20 notes", folder, NOW)
    assert file.name == "20270102_0905_up_to_notes.py"


@pytest.mark.parametrize("what", ["", " ", "¿?", "2"])
def test_what_it_does_has_to_be_said(folder: Path, what: str) -> None:
    with pytest.raises(click.ClickException, match="what it does"):
        write_revision(what, folder, NOW)


def test_two_of_one_minute_are_not_written_over_each_other(folder: Path) -> None:
    write_revision("one", folder, NOW)
    with pytest.raises(click.ClickException, match="wait a minute"):
        write_revision("another", folder, NOW)
