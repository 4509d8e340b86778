"""`flask new-skill`: what it writes works as it is, and it writes all of it or nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from flask import Flask
from flask.testing import FlaskCliRunner

from app.cli.new_skill import CHANGES, Names, Taken, check_names, find_taken, render, write_skill
from app.config import Settings
from tests.cli import skeletons

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2027, 1, 1, 9, 0, tzinfo=UTC)
NAME, SPANISH = skeletons.SHIFT_NOTES.name, skeletons.SHIFT_NOTES.spanish
# What is no part of the project, or is large and made anew.
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", "var", "local", "output", ".*_cache", ".hypothesis", ".env"
)
NOTHING_TAKEN = Taken((), (), (), (), ())


# What it writes


@pytest.fixture(scope="module")
def project(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A copy of the project in which the command was run, and what the command said."""
    folder = Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("new") / "p", ignore=LEFT_OUT))
    given = {
        "COMANDA_DATA": str(settings.comanda_data),
        "DATABASE_URL": settings.database_url or "",
        "MIGRATION_DATABASE_URL": settings.migration_database_url or "",
        "REDIS_URL": settings.redis_url or "",
        "SECRET_KEY": settings.secret_key or "",
    }
    said = run(folder, "flask", "new-skill", NAME, "--spanish", SPANISH, **given)
    assert said.returncode == 0, said.stderr
    return folder, said


def run(folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A program of the copy, to its end."""
    names = {name.upper() for name in Settings.model_fields} | {"PYTEST_XDIST_WORKER"}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    return subprocess.run(
        [sys.executable, *(() if command[0].endswith(".py") else ("-m",)), *command],
        cwd=folder,
        env={**environment, **more},
        capture_output=True,
        text=True,
        timeout=500,
    )


def passes(folder: Path, *command: str) -> str:
    """What a program says that ends well."""
    done = run(folder, *command)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.timeout(600)
@pytest.mark.soak
def test_its_tests_and_those_of_the_project_pass_from_the_first_moment(project: Any) -> None:
    folder, _ = project
    [written] = (folder / "migrations" / "versions").glob(f"*_{NAME}.py")
    migrations = "tests/test_migrations.py::test_"
    tables = "tests/test_row_level_security.py::test_"
    passed = passes(
        folder, "pytest", "-q", "-p", "no:cacheprovider",
        f"tests/skills/{NAME}", "tests/test_architecture.py",
        "tests/test_docs.py", "tests/test_security_doc.py", "tests/web/test_stale_pages.py",
        f"{migrations}up_down_and_up_again_on_an_empty_database",
        f"{migrations}models_and_migrations_agree",
        f"{migrations}comparing_with_the_models_looks_at_all_of_them",
        f"{migrations}a_migration_is_dated_explained_and_reversible[{written.stem}]",
        f"{tables}without_the_predicate_no_row_of_another_group_is_seen[{NAME}]",
        f"{tables}every_table_of_the_database_is_under_row_level_security",
    )  # fmt: skip
    assert "failed" not in passed


@pytest.mark.timeout(600)
def test_the_linters_and_the_catalog_find_nothing(project: Any) -> None:
    folder, _ = project
    passes(folder, "ruff", "check", ".")
    passes(folder, "ruff", "format", "--check", ".")
    passes(folder, "djlint", "templates", "--lint", "--quiet")
    catalog = folder / "app" / "translations" / "es" / "LC_MESSAGES" / "messages.po"
    written = catalog.read_bytes()
    assert "all translated" in passes(folder, ".ci/catalog.py", "--write")
    assert catalog.read_bytes() == written


@pytest.mark.timeout(600)
@pytest.mark.soak
def test_the_types_are_right(project: Any) -> None:
    folder, _ = project
    # What is known of the project's modules need not be found out again.
    passes(folder, "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), "app")


@pytest.mark.timeout(600)
def test_what_the_guide_adds_to_it_works(project: Any) -> None:
    """The sections behind the files: a tool for a row that is there, dates, tests in Spanish."""
    before, _ = project
    folder = Path(shutil.copytree(before, before.parent / "with_more", ignore=LEFT_OUT))
    for path, text in skeletons.ADDED:
        with (folder / path).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{text}" if path.endswith(".py") else text)
    for reader, hint in skeletons.FIRST_HINTS:
        _put_before(folder / reader, "    text = read_text(turn.message)\n", hint)
    declaration = folder / "app" / "skills" / NAME / "__init__.py"
    _put_before(declaration, "    ListShiftNotes,\n", "    RemoveShiftNote,\n")
    _put_before(declaration, "        ListShiftNotes(),\n", "        RemoveShiftNote(),\n")
    passed = passes(folder, "pytest", "-q", "-p", "no:cacheprovider", f"tests/skills/{NAME}")
    assert "failed" not in passed


def _put_before(path: Path, line: str, added: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(line) == 1
    path.write_text(text.replace(line, f"{added}{line}"), "utf-8")


def test_it_says_what_was_written_and_what_comes_next(project: Any) -> None:
    folder, said = project
    lines = said.stdout.splitlines()
    written = {line.split()[1] for line in lines if line.startswith("written")}
    changed = {line.split()[1] for line in lines if line.startswith("changed")}
    assert all((folder / path).exists() and not (ROOT / path).exists() for path in written)
    assert all((folder / path).read_bytes() != (ROOT / path).read_bytes() for path in changed)
    assert (len(written), len(changed)) == (15, 5)
    for next_one in (f"pytest tests/skills/{NAME}", "make run", "make texts", "make nlu"):
        assert next_one in said.stdout


@pytest.mark.parametrize("names", skeletons.ALL, ids=lambda names: names.name)
def test_under_short_and_long_names_lines_are_as_the_linters_want_them(
    tree: Path, names: Names
) -> None:
    write_skill(tree, names, NOTHING_TAKEN, NOW)
    # Most of what is imported is not in this tree.
    ours = '[tool.ruff.lint.isort]\nknown-first-party = ["app", "migrations", "tests"]\n'
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    (tree / "pyproject.toml").write_text(f"{settings}\n{ours}", "utf-8")
    passes(tree, "ruff", "check", "--no-cache", ".")
    passes(tree, "ruff", "format", "--no-cache", "--check", ".")


@pytest.mark.parametrize(
    ("name", "one", "many"),
    [
        ("shift_notes", "shift_note", "shift_notes"),
        ("fridge_log", "fridge_log_entry", "fridge_log_entries"),
        ("deliveries", "delivery", "deliveries"),
        ("glass", "glass_entry", "glass_entries"),
        ("classes", "class", "classes"),
        ("lunches", "lunch", "lunches"),
    ],
)
def test_a_row_is_called_by_the_singular_or_an_entry(name: str, one: str, many: str) -> None:
    names = Names.of(name, "x")
    assert (names.one, names.many) == (one, many)


def test_no_two_skills_have_one_place_in_the_menu(tree: Path) -> None:
    taken = Taken((), (), (), (), (), orders=(10, 60, 61))
    write_skill(tree, skeletons.SHIFT_NOTES, taken, NOW)
    declared = (tree / "app" / "skills" / NAME / "__init__.py").read_text("utf-8")
    assert "            62,\n" in declared


def test_its_sentences_fit_a_name_that_is_no_plural() -> None:
    """They are placeholders, and said to be; yet nobody should have to mend their grammar."""
    written = render(skeletons.LOST_AND_FOUND)
    folder = f"app/skills/{skeletons.LOST_AND_FOUND.name}"
    assert "Lost and found: managers write, everybody reads." in written[f"{folder}/__init__.py"]
    examples = written[f"{folder}/tools/examples.yaml"]
    assert "- muestra los objetos perdidos\n" in examples
    assert "- was anything written in the lost and found\n" in examples
    for name in ("examples", "templates"):
        assert written[f"{folder}/tools/{name}.yaml"].startswith("# PLACEHOLDERS: replace them")


# What it refuses


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What the command needs of the project: what it changes, and the folders it writes into."""
    folder = tmp_path / "project"
    for path, _ in CHANGES:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "migrations", folder / "migrations", ignore=ignored, dirs_exist_ok=True)
    for each in ("templates", "tests/skills"):
        (folder / each).mkdir(parents=True)
    return folder


def files_of(folder: Path) -> Iterator[tuple[str, bytes | None]]:
    for path in sorted(folder.rglob("*")):
        if "__pycache__" not in path.parts:
            yield str(path), None if path.is_dir() else path.read_bytes()


def refused(
    tree: Path, name: str, spanish: str = SPANISH, taken: Taken = NOTHING_TAKEN, one: str = ""
) -> str:
    """What is said to a call that writes nothing."""
    before = list(files_of(tree))
    with pytest.raises(click.ClickException) as error:
        write_skill(tree, Names.of(name, spanish, one), taken, NOW)
    assert list(files_of(tree)) == before
    return error.value.message


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "such as shift_notes"),
        ("ab", "3 to 24"),
        ("a" * 25, "3 to 24"),
        ("Shift_Notes", "letters from a to z"),
        ("shift-notes", "_ between words"),
        ("shift notes", "_ between words"),
        ("shift__notes", "_ between words"),
        ("_notes", "_ between words"),
        ("shift_2", "letters from a to z"),
        ("2nd_shift", "letters from a to z"),
        ("notas_del_año", "letters from a to z"),
        ("../notes", "letters from a to z"),
        ("notes\n", "letters from a to z"),
        ("import", "reserved"),
        ("class", "reserved"),
        ("skills", "reserved"),
        ("shift_helpers", "says too little"),
        ("meeting", "names an activity"),
        ("missing_dishes", "'missing' in 'missing_dishes' names an activity"),
        ("references", "table called 'references'"),
    ],
)
def test_what_is_no_name_is_refused(tree: Path, name: str, told: str) -> None:
    assert told in refused(tree, name)


@pytest.mark.parametrize(
    ("one", "plural"), [("found_item", "found_items"), ("box", "boxes"), ("entry", "entries")]
)
def test_a_row_is_called_as_was_asked(one: str, plural: str) -> None:
    names = Names.of("lost_and_found", "x", one)
    assert (names.one, names.many) == (one, plural)


@pytest.mark.parametrize("one", ["Item", "a", "an item", "x" * 31])
def test_what_is_no_name_of_a_row_is_refused(tree: Path, one: str) -> None:
    assert f"{one!r} cannot be a name here" in refused(tree, NAME, one=one)


@pytest.mark.parametrize(
    "spanish",
    [
        "", "las", "las a", "notas", "notas del turno", 'las notas"', "las {notas}", "las notas\\",
        f"las {'x' * 41}", "la a: b",
    ],
)  # fmt: skip
def test_what_is_no_word_in_spanish_is_refused(tree: Path, spanish: str) -> None:
    assert "--spanish" in refused(tree, NAME, spanish)


@pytest.mark.parametrize(
    ("taken", "told"),
    [
        (Taken((NAME,), (), (), (), ()), "skill called 'shift_notes'"),
        (Taken((), ("add_shift_note",), (), (), ()), "tool called 'add_shift_note'"),
        (Taken((), (), ("shift_notes",), (), ()), "table called 'shift_notes'"),
        (Taken((), (), (), ("ShiftNote",), ()), "model called 'ShiftNote'"),
        (Taken((), (), (), (), ("shift-notes",)), "page called 'shift-notes'"),
    ],
    ids=["skill", "tool", "table", "model", "page"],
)
def test_what_is_taken_is_refused(tree: Path, taken: Taken, told: str) -> None:
    assert told in refused(tree, NAME, taken=taken)
    assert "Choose another name" in refused(tree, NAME, taken=taken)


@pytest.mark.parametrize("folder", ["app/skills", "templates", "tests/skills"])
def test_a_folder_that_is_there_is_left_as_it_is(tree: Path, folder: str) -> None:
    (tree / folder / NAME).mkdir()
    assert f"{folder}/{NAME} is there already" in refused(tree, NAME)


def test_a_second_skill_of_the_same_minute_waits(tree: Path) -> None:
    write_skill(tree, Names.of(NAME, SPANISH), NOTHING_TAKEN, NOW)
    assert "wait a minute" in refused(tree, "fridge_log")


@pytest.mark.parametrize("path", ["tests/skills", "docs/security.md", "migrations/env.py"])
def test_where_no_clone_is_it_says_so(tree: Path, path: str) -> None:
    shutil.rmtree(tree / path) if (tree / path).is_dir() else (tree / path).unlink()
    assert f"{path} is not there. Run this in a clone" in refused(tree, NAME)


@pytest.mark.parametrize(
    "mended",
    [
        "app/skills/__init__.py",
        "migrations/env.py",
        "docs/security.md",
        "tests/factories/form_fields.py",
    ],
)
def test_a_file_that_is_not_as_it_was_is_named(tree: Path, mended: str) -> None:
    (tree / mended).write_text("# Something else.\n")
    assert re.search(r"Mend it first|No line begins with", refused(tree, NAME))


@pytest.mark.parametrize(
    "kept", ["app/skills", "templates", "tests/skills", "migrations/versions", "docs"]
)
def test_a_folder_that_cannot_be_written_into_leaves_nothing_behind(
    tree: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """The operating system's refusal is made here: nothing refuses the root of a container."""
    make, write = Path.mkdir, Path.write_text

    def refuse(path: Path) -> None:
        if (tree / kept) in path.parents:
            raise PermissionError(13, "Permission denied", str(path))

    def careful_mkdir(self: Path, *args: Any, **options: Any) -> None:
        refuse(self)
        make(self, *args, **options)

    def careful_write(self: Path, *args: Any, **options: Any) -> int:
        refuse(self)
        return write(self, *args, **options)

    monkeypatch.setattr(Path, "mkdir", careful_mkdir)
    monkeypatch.setattr(Path, "write_text", careful_write)
    told = refused(tree, NAME)
    assert kept in told
    assert "nothing was changed" in told


def test_the_command_asks_for_the_spanish_name(cli: FlaskCliRunner) -> None:
    result = cli.invoke(args=["new-skill", NAME])
    assert result.exit_code == 2
    assert '--spanish "las notas del turno"' in result.output


def test_a_name_that_is_taken_is_told_before_the_spanish_one_is_asked_for(
    cli: FlaskCliRunner,
) -> None:
    result = cli.invoke(args=["new-skill", "expenses"])
    assert "skill called 'expenses' already" in result.output
    assert "--spanish" not in result.output


@pytest.mark.parametrize("name", ["forms", "expenses", "chat", "accounts", "library", "users"])
def test_the_command_knows_what_this_project_has(app: Flask, name: str) -> None:
    with (
        app.app_context(),
        pytest.raises(click.ClickException, match=f"called '{name}' already"),
    ):
        check_names(Names.of(name, "algo"), find_taken())
