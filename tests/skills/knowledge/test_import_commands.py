"""`flask import`: every format of manual, menus, and what is told when something is wrong."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest
from click.testing import Result
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import select

from app.accounts.models import Group
from app.db import Database
from app.skills.knowledge.models import LibraryImport, LibraryRevision, ManualSection, Product
from app.skills.knowledge.services import menu_limits
from app.skills.knowledge.services.imports import list_imports, lock_group
from tests.factories import Member, make_group, make_user, sign_in
from tests.factories.imports import undo_file

PAGE = "<html><body><h1 id='cold'>The cold</h1><p>Below 41 F.</p>{more}</body></html>"
MENU = "name,price\nRibeye,48\nLeek,-3\n"


@pytest.fixture
def group_id(owner: Database) -> UUID:
    return make_group(owner)


def run(cli: FlaskCliRunner, owner: Database, group_id: UUID, *arguments: str) -> Result:
    with owner.session() as session:
        slug = session.get_one(Group, group_id).slug
    return cli.invoke(args=["import", *arguments, "--group", slug])


def titles(owner: Database, group_id: UUID) -> set[str]:
    with owner.session() as session:
        query = select(ManualSection.title_en).where(ManualSection.group_id == group_id)
        return set(session.scalars(query))


def test_pages_in_a_zip_and_in_a_folder_become_sections(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.writestr("cold.html", PAGE.format(more=""))
    (tmp_path / "own.md").write_text("# Own {#own}\nOurs.\n", "utf-8")
    result = run(cli, owner, group_id, "manual", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "2 documents: 2 sections added" in result.output
    assert titles(owner, group_id) == {"The cold", "Own"}
    again = run(cli, owner, group_id, "manual", str(tmp_path))
    assert "0 sections added, 0 changed, 2 unchanged" in again.output


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_imported(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (tmp_path / "own.md").write_text("# Own {#own}\nOurs.\n", "utf-8")
    result = run(cli, owner, group_id, "manual", str(tmp_path))
    assert result.exit_code == 1
    assert "Not imported: broken.pdf" in result.stderr
    assert titles(owner, group_id) == {"Own"}


HANDBOOK = "<html><h1>Handbook</h1><p>Ours, since 1999.</p><h2>Doors</h2><p>At 7:30.</p></html>"
MANUAL = "<html><h1>Manual</h1><p>Nuestro.</p><h2>Puertas</h2><p>A las 7:30.</p></html>"


def test_a_file_is_the_other_language_of_the_chapter_that_is_named(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, tmp_path: Path
) -> None:
    english, spanish = tmp_path / "handbook.html", tmp_path / "casa.html"
    english.write_text(HANDBOOK, "utf-8")
    spanish.write_text(MANUAL, "utf-8")
    run(cli, owner, group_id, "manual", str(english))
    asked = ("manual", str(spanish), "--language", "es")
    wrong = run(cli, owner, group_id, *asked, "--chapter", "no-such")
    assert wrong.exit_code == 2
    result = run(cli, owner, group_id, *asked, "--chapter", "handbook")
    assert "0 sections added, 2 changed" in result.output
    assert "casa is the other language of handbook" in result.output
    with owner.session() as session:
        query = select(ManualSection).where(ManualSection.group_id == group_id)
        both = {row.title_en: row.title_es for row in session.scalars(query)}
    assert both == {"Handbook": "Manual", "Doors": "Puertas"}
    # What was said once holds for the next version.
    again = run(cli, owner, group_id, *asked)
    assert "0 sections added, 0 changed, 2 unchanged" in again.output


def test_an_import_of_the_command_line_is_listed_and_undone_in_the_browser(
    app: Flask, cli: FlaskCliRunner, database: Database, owner: Database, tmp_path: Path
) -> None:
    member = make_user(owner, role="manager")
    file = tmp_path / "own.md"
    file.write_text("---\nkind: policy\n---\n# Own {#own}\nOurs.\n", "utf-8")
    for _ in range(2):
        run(cli, owner, member.group_id, "manual", str(file))
    [(item, _name)] = listed(database, member)
    assert (item.status, item.filename, item.target) == ("applied", "own.md", "sop")
    browser = sign_in(app, owner, member)
    assert "Command line" in browser.page("/library/imports/").text
    assert "Imported: 1 new." in browser.page(f"/library/imports/{item.id}").text
    undo_file(database, member, item)
    assert titles(owner, member.group_id) == set()


def test_a_dry_run_is_not_listed(
    cli: FlaskCliRunner, database: Database, owner: Database, tmp_path: Path
) -> None:
    member = make_user(owner, role="manager")
    (tmp_path / "own.md").write_text("# Own {#own}\nOurs.\n", "utf-8")
    run(cli, owner, member.group_id, "manual", str(tmp_path / "own.md"), "--dry-run")
    assert listed(database, member) == []


def listed(database: Database, member: Member) -> Sequence[tuple[LibraryImport, str]]:
    with database.session(member.scope) as session:
        return list_imports(session)


def test_the_command_waits_for_the_import_that_is_being_written(
    cli: FlaskCliRunner, database: Database, owner: Database, tmp_path: Path
) -> None:
    member = make_user(owner, role="manager")
    (tmp_path / "own.md").write_text("# Own {#own}\nOurs.\n", "utf-8")
    command = threading.Thread(
        target=run, args=(cli, owner, member.group_id, "manual", str(tmp_path / "own.md"))
    )
    with database.session(member.scope) as session:
        lock_group(session, "library")
        command.start()
        command.join(2)
        assert command.is_alive()
        session.rollback()
    command.join(20)
    assert titles(owner, member.group_id) == {"Own"}


def test_a_zip_in_both_languages_is_no_failure(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.writestr("cold.en.html", PAGE.format(more=""))
        archive.writestr("cold.es.html", PAGE.format(more=""))
    result = run(cli, owner, group_id, "manual", str(tmp_path / "book.zip"))
    assert result.exit_code == 0, result.output
    assert "Note: book.zip: 1 page in the other language is left out." in result.stderr


def test_a_menu_is_imported_and_its_wrong_rows_are_named(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, tmp_path: Path
) -> None:
    (tmp_path / "menu.csv").write_text(MENU, "utf-8")
    tried = run(
        cli, owner, group_id, "menu", str(tmp_path / "menu.csv"), "--kind", "dishes", "--dry-run"
    )
    assert "nothing was stored" in tried.output
    result = run(cli, owner, group_id, "menu", str(tmp_path / "menu.csv"), "--kind", "dishes")
    assert result.exit_code == 1
    assert "2 rows: 1 products added" in result.output
    assert "Not imported: menu.csv, Row 3" in result.stderr
    with owner.session() as session:
        [ribeye] = session.scalars(select(Product).where(Product.group_id == group_id))
        kept = session.scalars(
            select(LibraryRevision).where(LibraryRevision.entity_id == ribeye.id)
        ).all()
    assert (ribeye.slug, str(ribeye.price), ribeye.allergens) == ("ribeye", "48.00", None)
    assert len(kept) == 1


def test_what_a_table_does_not_say_stays_as_it_was(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, tmp_path: Path
) -> None:
    menu = tmp_path / "menu.csv"
    menu.write_text("name,price,allergens,category\nRibeye,48,milk,steaks\n", "utf-8")
    run(cli, owner, group_id, "menu", str(menu), "--kind", "dishes")
    menu.write_text("name,price\nRibeye,50\n", "utf-8")
    result = run(cli, owner, group_id, "menu", str(menu), "--kind", "dishes")
    assert result.exit_code == 0, result.output
    with owner.session() as session:
        [ribeye] = session.scalars(select(Product).where(Product.group_id == group_id))
    assert (str(ribeye.price), ribeye.allergens, ribeye.category) == ("50.00", ["milk"], "steaks")


@pytest.mark.fault(67)
def test_an_operator_may_bring_more_than_menus_hold_but_no_product_that_is_too_large(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(menu_limits, "MOST_PRODUCTS", 1)
    many = ";".join(f"tag {number}" for number in range(41))
    (tmp_path / "menu.csv").write_text(f"name,tags\nTaco,hot\nMole,{many}\nFlan,cold\n", "utf-8")
    result = run(cli, owner, group_id, "menu", str(tmp_path / "menu.csv"), "--kind", "dishes")
    assert "3 rows: 2 products added" in result.output
    assert "Not imported: menu.csv, Row 3: “tags” has more than 40 items" in result.stderr
