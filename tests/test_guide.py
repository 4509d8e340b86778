"""docs/adding-a-skill.md is run as it is printed: its files are written out, migrated and used."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from alembic import command
from alembic.script import ScriptDirectory
from flask import Flask
from jinja2 import ChoiceLoader, FileSystemLoader

import app.skills
from app.config import Settings
from app.db import Base, Database, owner_database
from app.factory import build_app
from app.nlu.trainer import sample_template
from app.schema import MIGRATIONS, alembic_config
from app.skills import SKILLS
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.conftest import FOLDER
from tests.factories import Member, answer, ask, make_group, make_user, sign_in
from tests.row_security import (
    check_not_moved,
    check_not_planted,
    check_roles,
    check_unchanged,
    check_unseen,
    make_rows,
)
from tests.services import RunningServices, make_database

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "adding-a-skill.md"
# A file is a block whose first line is a comment with its path.
_FILE = re.compile(r"^```\w+\n(?:#|\{#-) (\S+/\S+?)(?: -#\})?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass
class Built:
    """The skill of the guide in an app and a database of its own."""

    app: Flask
    owner: Database
    folder: Path
    files: dict[str, str]


def write_out(folder: Path) -> dict[str, str]:
    """Every file of the guide, below `folder`."""
    files = dict(_FILE.findall(GUIDE.read_text("utf-8")))
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    return files


def migrate(settings: Settings, folder: Path) -> None:
    """Apply the guide's migration after the newest there is."""
    [migration] = (folder / "migrations" / "versions").glob("*.py")
    newest = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    text = migration.read_text("utf-8")
    assert 'down_revision = "the newest there is"' in text
    migration.write_text(text.replace("the newest there is", str(newest)), "utf-8")
    config = alembic_config(settings)
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", f"{MIGRATIONS / 'versions'}:{migration.parent}")
    command.upgrade(config, "head")
    command.downgrade(config, str(newest))
    command.upgrade(config, "head")


@pytest.fixture(scope="module")
def built(
    services: RunningServices, pytestconfig: pytest.Config, worker: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Built]:  # fmt: skip
    folder = tmp_path_factory.mktemp("guide")
    files = write_out(folder)
    name = f"guide_{worker}"
    make_database(services, pytestconfig.stash[FOLDER], name)
    settings = services.settings(name, 0, tmp_path_factory.mktemp("guide_data"))
    migrate(settings, folder)
    app.skills.__path__.append(str(folder / "app" / "skills"))
    try:
        from app.skills.pars import SKILL  # type: ignore[import-not-found]

        flask = build_app(settings, (*SKILLS, SKILL))
        flask.jinja_loader = ChoiceLoader(  # type: ignore[assignment]
            [flask.jinja_loader, FileSystemLoader(folder / "templates")]  # type: ignore[list-item]
        )
        owner = owner_database(settings)
        yield Built(flask, owner, folder, files)
        owner.engine.dispose()
    finally:
        app.skills.__path__.remove(str(folder / "app" / "skills"))
        for each in [name for name in sys.modules if name.startswith("app.skills.pars")]:
            del sys.modules[each]
        # Other tests compare the models with the database that they have.
        Base.metadata.remove(Base.metadata.tables["par_levels"])


@pytest.fixture
def cook(built: Built) -> Member:
    return make_user(built.owner, make_group(built.owner))


def manager_beside(built: Built, cook: Member) -> Member:
    return make_user(built.owner, cook.group_id, "manager")


def reply_to(built: Built, member: Member, words: str, *script: Any, thread: Any = None) -> Any:
    database = built.app.extensions["comanda"].database
    accepted = ask(database, member, words, thread)
    return answer(built.app, member, accepted, ScriptedProvider(*(script or (say("."),))))


def test_the_guide_has_a_file_for_each_thing_it_speaks_of(built: Built) -> None:
    assert len(built.files) == 10
    folders = {path.split("/")[3] for path in built.files if path.startswith("app/skills/pars/")}
    assert {"__init__.py", "models.py", "services", "tools", "web", "prompts.yaml"} == folders


def test_a_level_is_set_by_a_managers_yes_and_taken_back(built: Built, cook: Member) -> None:
    manager = manager_beside(built, cook)
    wanted = [call("set_par_level", '{"item": "Puré", "weekday": 4, "pans": 12}')]
    offered = reply_to(built, manager, "12 pans of mash on fridays", wanted, say("Shall I?"))
    assert [part["type"] for part in offered.parts] == ["proposal"]
    done = reply_to(built, manager, "yes", thread=offered.thread_id)
    assert done.content == "Puré: 12 pans from now on."
    page = sign_in(built.app, built.owner, cook).page("/pars/")
    assert "Friday: Puré, 12" in page.text
    browser = sign_in(built.app, built.owner, manager)
    browser.post_fragment(f"/proposals/{offered.parts[0]['proposal_id']}/undo")
    assert "Friday: Puré, 0" in browser.page("/pars/").text


def test_a_cook_is_told_the_level_and_may_not_change_it(built: Built, cook: Member) -> None:
    browser = sign_in(built.app, built.owner, manager_beside(built, cook))
    typed = {"item": "  Mac   and cheese ", "weekday": "6", "pans": "9"}
    assert browser.post("/pars/", **typed).status_code == 303
    found = [call("get_par_level", '{"item": "mac and cheese", "weekday": 6}')]
    reply = reply_to(built, cook, "mac for sunday?", found, say("Nine pans."))
    assert reply.tool_trace[0]["ok"] is True
    refused = [call("set_par_level", '{"item": "mac", "weekday": 6, "pans": 1}')]
    reply = reply_to(built, cook, "make it one", refused, say("Ask a manager."))
    assert (reply.tool_trace[0]["ok"], reply.parts) == (False, [])
    assert sign_in(built.app, built.owner, cook).post("/pars/", **typed).status_code == 403


@pytest.mark.parametrize("typed", [{"item": " "}, {"pans": "201"}, {"pans": "many"}])
def test_what_is_wrong_is_told_at_its_field(
    built: Built, cook: Member, typed: dict[str, str]
) -> None:
    browser = sign_in(built.app, built.owner, manager_beside(built, cook))
    sent = {"item": "Rice", "weekday": "1", "pans": "3"} | typed
    assert browser.post("/pars/", **sent).status_code == 422
    assert "Rice" not in browser.page("/pars/").find("main").text


def test_another_group_sees_nothing_of_it(built: Built, cook: Member) -> None:
    browser = sign_in(built.app, built.owner, manager_beside(built, cook))
    browser.post("/pars/", item="Beans", weekday="0", pans="5")
    other = make_user(built.owner, make_group(built.owner))
    assert "Beans" not in sign_in(built.app, built.owner, other).page("/pars/").text


def test_its_table_is_held_by_the_tests_of_rows_as_it_is(built: Built, cook: Member) -> None:
    """Nothing is written for it in `tests/row_security.py`, nor would be for another skill's."""
    database = built.app.extensions["comanda"].database
    table = Base.metadata.tables["par_levels"]
    ours, theirs = manager_beside(built, cook), make_user(built.owner, role="manager")
    for member in (ours, theirs):
        make_rows(built.owner, member, [table])
    check_unseen(database, built.owner, ours, theirs, table)
    check_unchanged(database, built.owner, ours, theirs, table)
    check_not_planted(database, built.owner, ours, theirs, table)
    check_not_moved(database, ours, theirs, table)
    check_roles(database, built.owner, [cook], table)


def test_its_templates_can_be_learned_from(built: Built) -> None:
    templates = yaml.safe_load(built.files["app/skills/pars/tools/templates.yaml"])
    for by_language in templates.values():
        for language, lines in by_language.items():
            assert all(len(sample_template(line, language)) > 5 for line in lines)
