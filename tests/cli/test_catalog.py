"""`make texts`: the catalogs are brought in step with the sources, and say what is left to do."""

from __future__ import annotations

import pkgutil
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import app
from app.errors import ComandaError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def translations(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "app" / "translations", tmp_path / "translations"))


def catalog(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / ".ci" / "catalog.py", *options], capture_output=True, text=True
    )


def test_catalogs_in_step_are_written_as_they_are(translations: Path) -> None:
    file = translations / "es" / "LC_MESSAGES" / "messages.po"
    before = file.read_bytes()
    written = catalog("--write", str(translations))
    assert written.returncode == 0, written.stderr
    assert file.read_bytes() == before


def test_a_new_text_is_added_and_named_until_it_is_translated(translations: Path) -> None:
    file = translations / "es" / "LC_MESSAGES" / "messages.po"
    whole = file.read_text("utf-8")
    text = 'msgid "Save"\nmsgstr "Guardar"\n\n'
    assert text in whole
    file.write_text(whole.replace(text, 'msgid "Nobody says this"\nmsgstr "Nadie"\n\n'), "utf-8")
    written = catalog("--write", str(translations))
    assert written.returncode == 0, written.stderr
    assert "is not translated: 'Save'" in written.stdout
    assert file.read_text("utf-8") == whole.replace('"Guardar"\n', '""\n', 1)
    checked = catalog(str(translations))
    assert checked.returncode == 1
    assert "is not translated: 'Save'" in checked.stdout


def with_message(kind: type[ComandaError]) -> Iterator[str]:
    """This error and those made from it, as far as they are given their message where raised."""
    yield kind.__name__
    for each in kind.__subclasses__():
        if "__init__" not in vars(each) or each.__module__ == "app.errors":
            yield from with_message(each)


def test_the_message_of_every_error_is_looked_for() -> None:
    """A new kind of error would be told in English to everybody, and nothing would say so."""
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if "__main__" not in module.name:
            import_module(module.name)
    looked_for = runpy.run_path(str(ROOT / ".ci" / "catalog.py"))["error_kinds"]()
    assert set(with_message(ComandaError)) - looked_for == set()
