"""Taking one's conversations along, from the page that lists them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.axe import findings
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import EACH_ONCE, LOOKS, TOO_WIDE, too_small
from tests.browser.pages import QUESTION, read_an_answer


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
