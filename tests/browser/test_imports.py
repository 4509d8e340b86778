"""A manual and a menu brought in by the page, asked for, brought again, and undone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES
from tests.factories import Member, make_user

STILL: dict[str, Any] = {"reduced_motion": "reduce"}
LONG = 60 * SECONDS
MANUAL = """# Walk-in cooler {#walk-in}
How we keep it.

## Defrosting {#defrosting}
The walk-in is defrosted on the first Tuesday of the month.

## Shelves {#shelves}
Fish stands on the lowest shelf.
"""
MENU = "name,price,allergens\nCharred leek,11.50,none\nBone marrow,-4,milk\n"


@pytest.fixture(scope="module", autouse=True)
def jobs(house: House) -> Iterator[None]:
    """The house's jobs are done meanwhile."""
    with house.doing_its_jobs():
        yield


@pytest.fixture
def manager(house: House) -> Member:
    """Of a house of their own, which is empty."""
    return make_user(house.owner, role="manager")


def bring(visitor: Visitor, folder: Path, name: str, content: str, target: str) -> None:
    file = folder / name
    file.write_text(content, "utf-8")
    page = visitor.open("/library/imports/").page
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_label("Import as").select_option(target)
    page.get_by_label("Language of the file").select_option("en")
    page.get_by_role("button", name="Read the file").click()


def wait_for(visitor: Visitor, status: str) -> None:
    here = visitor.page.locator(f"#import[data-status={status}]")
    expect(here).to_be_visible(timeout=LONG)


def look_over(visitor: Visitor) -> None:
    assert findings(visitor.page) == []
    assert visitor.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


@BOTH_SIZES
def test_a_manual_is_imported_found_brought_again_and_undone(
    visit: Visit, manager: Member, tmp_path: Path, phone: bool
) -> None:
    visitor = visit(manager, phone=phone, media=STILL)
    page = visitor.open("/library/").page
    if phone:
        page.locator(".editor-tools summary", has_text="Tools").click()
    page.get_by_role("link", name="Import a file").click()
    look_over(visitor)
    bring(visitor, tmp_path, "cooler.md", MANUAL, "sop")
    wait_for(visitor, "ready")
    expect(page).to_have_url(re.compile("/library/imports/[0-9a-f-]{36}$"))
    expect(page.get_by_text("3 new", exact=True)).to_be_visible()
    look_over(visitor)
    page.get_by_role("button", name="Import", exact=True).click()
    wait_for(visitor, "applied")
    expect(page.get_by_text("Searchable by words and by meaning.")).to_be_visible(timeout=LONG)
    look_over(visitor)

    visitor.open().ask("When is the walk-in defrosted?")
    visitor.wait_for_answer()
    expect(visitor.reply).to_contain_text("first Tuesday of the month")

    bring(visitor, tmp_path, "cooler.md", MANUAL, "sop")
    wait_for(visitor, "applied")
    expect(page.get_by_text("There is nothing to do")).to_be_visible()

    bring(visitor, tmp_path, "cooler.md", MANUAL.replace("Tuesday", "Monday"), "sop")
    wait_for(visitor, "ready")
    page.get_by_role("link", name=re.compile("What changed")).click()
    expect(page.locator(".import-words ins")).to_have_text("Monday")
    look_over(visitor)
    page.get_by_role("button", name="Import", exact=True).click()
    wait_for(visitor, "applied")
    page.locator("summary", has_text="Undo").click()
    page.get_by_role("button", name="Undo the import").click()
    wait_for(visitor, "undone")
    expect(page.get_by_text("Undone: 1 restored, 0 removed.")).to_be_visible()
    visitor.open("/library/manual/defrosting")
    expect(page.get_by_text("first Tuesday")).to_be_visible()


def test_a_menu_with_a_wrong_row_is_imported_without_scripts(
    visit: Visit, manager: Member, tmp_path: Path
) -> None:
    # The pages are looked at in both sizes above, and in Spanish elsewhere.
    visitor = visit(manager, phone=True, java_script_enabled=False)
    bring(visitor, tmp_path, "menu.csv", MENU, "dishes")
    page = visitor.page
    look_again_until(visitor, "ready")
    expect(page.get_by_text("1 new, 1 row left out")).to_be_visible()
    expect(page.locator(".import-problems")).to_contain_text("Row 3")
    page.get_by_role("button", name="Import", exact=True).click()
    look_again_until(visitor, "applied")
    visitor.open("/library/dishes/charred-leek")
    expect(page.locator("h1")).to_have_text("Charred leek")


def look_again_until(visitor: Visitor, status: str) -> None:
    """Look again, as somebody does who waits without scripts."""
    for _ in range(200):
        if visitor.page.locator("#import").get_attribute("data-status") == status:
            return
        visitor.page.wait_for_timeout(200)
        visitor.page.reload()
    pytest.fail(f"the import does not become {status}")
