"""`flask import`: every format of manual, menus, and what is told when something is wrong."""

from __future__ import annotations

import zipfile
from pathlib import Path
from uuid import UUID

import pytest
from click.testing import Result
from flask.testing import FlaskCliRunner
from sqlalchemy import select

from app.accounts.models import Group
from app.db import Database
from app.skills.knowledge.models import LibraryRevision, ManualSection, Product
from tests.factories import make_group

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
