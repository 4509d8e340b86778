"""Taking one's conversations along, from the page that lists them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from app.assistant.threads.export_jobs import FEW_CHATS
from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import EACH_ONCE, LOOKS, TOO_WIDE, too_small
from tests.browser.pages import QUESTION, read_an_answer
from tests.factories import make_thread


def saved(visitor: Visitor, link: Locator) -> Path:
    with visitor.page.expect_download() as download:
        link.click()
    return Path(download.value.path())


@EACH_ONCE
def test_a_chat_and_all_of_them_are_saved(
    visit: Visit, house: House, look: str, language: str
) -> None:
    visitor = visit(house.hire(language=language), **LOOKS[look])
    read_an_answer(visitor)
    page = visitor.open("/chats").page
    page.locator(".chat-row summary").click()
    expect(page.get_by_role("link", name="Markdown")).to_be_visible()
    assert findings(page) == []
    # The button of the search is for those who cannot press Enter; nobody sees it.
    assert [each for each in too_small(page) if "visually-hidden" not in each] == []
    assert visitor.evaluate(TOO_WIDE) == []
    text = saved(visitor, page.get_by_role("link", name="Markdown")).read_text("utf-8")
    assert QUESTION[language] in text
    body = json.loads(saved(visitor, page.get_by_role("link", name="JSON")).read_text("utf-8"))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
    assert body["messages"][1]["citations"][0]["url"].startswith(house.url + "/library/")
    with zipfile.ZipFile(saved(visitor, page.locator("a[href$='.zip']"))) as archive:
        assert archive.testzip() is None
        assert sorted(name[-3:] for name in archive.namelist()) == [".md", "son"]


@EACH_ONCE
def test_many_chats_are_made_ready_while_one_waits_or_leaves(
    visit: Visit, house: House, look: str, language: str
) -> None:
    person = house.hire(language=language)
    database = house.app.extensions["comanda"].database
    for number in range(FEW_CHATS + 1):
        make_thread(database, person, f"{QUESTION[language]} {number}")
    names = {
        "en": ("Export all", "Cancel", "Download", "Delete the file"),
        "es": ("Exportar todo", "Cancelar", "Descargar", "Eliminar el archivo"),
    }
    begin, cancel, download, delete = names[language]
    page = visit(person, **LOOKS[look]).open("/chats").page
    part = page.locator("#chat-export")
    part.get_by_role("button", name=begin).click()
    expect(part.get_by_role("progressbar")).to_be_visible()
    part.get_by_role("button", name=cancel).click()
    part.get_by_role("button", name=begin).click()
    expect(part.get_by_role("progressbar")).to_be_visible()
    check_looks(page)
    with house.doing_its_jobs():
        expect(part.get_by_role("link", name=download)).to_be_visible()
    check_looks(page)
    with page.expect_download() as saving:
        part.get_by_role("link", name=download).click()
    with zipfile.ZipFile(Path(saving.value.path())) as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == 2 * (FEW_CHATS + 1)
    part.get_by_role("button", name=delete).click()
    expect(part.get_by_role("button", name=begin)).to_be_visible()


def check_looks(page: Page) -> None:
    assert findings(page) == []
    assert [each for each in too_small(page) if "visually-hidden" not in each] == []
    assert page.evaluate(TOO_WIDE) == []
