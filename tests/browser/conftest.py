"""One house and one browser for this package, and a context of its own for each visitor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from app.config import Settings
from tests.browser.chat_page import SECONDS, Visitor
from tests.browser.house import House
from tests.browser.tabs import Tabs
from tests.browser.watching import Watch
from tests.factories import Member
from tests.model_server import ModelServer
from tests.services import RunningServices, make_database

OUTPUT = Path(__file__).parent / "output"
# This package's Redis databases stand apart from those of the workers.
REDIS_OFFSET = 32
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
FAILED = pytest.StashKey[bool]()

Visit = Callable[..., Visitor]

expect.set_options(timeout=20 * SECONDS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="package")
def browser_settings(
    services: RunningServices,
    pytestconfig: pytest.Config,
    worker: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Settings:
    """A database of this package's own: its runner must answer nobody else's turns."""
    from tests.conftest import FOLDER

    # A worker that comes back to this package after another one begins anew.
    name = f"comanda_{worker}_browser_{uuid4().hex[:8]}"
    make_database(services, pytestconfig.stash[FOLDER], name)
    number = int(worker.removeprefix("gw")) + 1 if worker.startswith("gw") else 1
    return services.settings(name, REDIS_OFFSET + number, tmp_path_factory.mktemp("house"))


@pytest.fixture(scope="package")
def model() -> Iterator[ModelServer]:
    """The model; unless a test scripts it, it looks things up and quotes them."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="package")
def house(
    browser_settings: Settings, model: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """The demo restaurant, served by real processes."""
    house = House(browser_settings, tmp_path_factory.mktemp("processes"), model)
    yield house
    house.close()


@pytest.fixture(scope="package")
def browser(chromium: str | None) -> Iterator[Browser]:
    """The one Chromium of this package."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS], timeout=0)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def tabs(browser: Browser, house: House) -> Tabs:
    """The tabs that the visitors of this package use one after the other."""
    return Tabs(browser, house.url + "/healthz")


@pytest.fixture
def visit(tabs: Tabs, house: House, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Opens a browser for a person (nobody: not signed in); at the end all are looked over.

    `media` are features of the device that a page asks for, `options` those of a context
    that is made for this visitor alone; `fresh` makes one without any.
    """
    visitors: list[Visitor] = []

    def visit(
        person: Member | None = None,
        *,
        phone: bool = False,
        url: str = "",
        media: dict[str, Any] | None = None,
        fresh: bool = False,
        **options: Any,
    ) -> Visitor:
        url = url or house.url
        is_usual = not fresh and not options
        page = tabs.lend(phone=phone) if is_usual else tabs.make(phone=phone, **options)
        visitors.append(Visitor(page, url, Watch(url, page.context)))
        if media:
            page.emulate_media(**media)
        if person:
            cookie = house.session_cookie(person)
            page.context.add_cookies([{"name": "comanda", "value": cookie, "url": url}])
        return visitors[-1]

    yield visit
    if request.node.stash.get(FAILED, False):
        _keep_pictures(visitors, request.node.name)
        print(house.latest_output())
    for visitor in visitors:
        visitor.watch.stop()
        tabs.take_back(visitor.page)
    for visitor in visitors:
        visitor.watch.check()


def _keep_pictures(visitors: list[Visitor], name: str) -> None:
    OUTPUT.mkdir(exist_ok=True)
    for number, visitor in enumerate(visitors):
        for tab, page in enumerate(visitor.page.context.pages):
            safe = "".join(letter if letter.isalnum() else "-" for letter in name)
            page.screenshot(path=OUTPUT / f"{safe}-{number}-{tab}.png")
