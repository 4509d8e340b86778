"""A real manual of 460 sections in two languages, imported by the page, asked, and changed.

The Debian Reference is downloaded from the distribution's own archive; where it cannot be
had, these tests are skipped with the reason.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from flask import Flask
from playwright.sync_api import Page, expect, sync_playwright
from sqlalchemy import text

from app.config import Settings
from app.db import Database, owner_database
from app.factory import build_app
from tests.acceptance.asking import Reply, ask, assert_share
from tests.assistant.processes import Processes, Program, wait_until
from tests.assistant.web_client import WebClient
from tests.browser.conftest import FLAGS
from tests.factories import Member, make_user
from tests.services import RunningServices, make_database

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1500)]

PACKAGES = {"en": "debian-reference-en", "es": "debian-reference-es"}
SECONDS = 1000
REDIS = 60  # a Redis database of this module's own
BAR = 0.9
QUESTIONS = yaml.safe_load(Path(__file__).with_name("debian_questions.yaml").read_text("utf-8"))


@dataclass
class Manual:
    """The pages of both editions, as files that a person would choose."""

    folder: Path
    pages: dict[str, dict[str, str]] = field(default_factory=dict)

    def archive(self, language: str, name: str = "") -> Path:
        """The pages of a language, zipped as they are now."""
        path = self.folder / (name or f"debian-reference.{language}.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for page, content in sorted(self.pages[language].items()):
                # With one time for all, so that the same pages are the same file.
                archive.writestr(zipfile.ZipInfo(page), content, zipfile.ZIP_DEFLATED)
        return path


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Manual:
    folder = tmp_path_factory.mktemp("debian")
    manual = Manual(folder)
    for language, package in PACKAGES.items():
        unpacked = _unpack(package, folder)
        manual.pages[language] = {
            page.name: page.read_text("utf-8") for page in unpacked.rglob(f"*.{language}.html")
        }
        assert len(manual.pages[language]) > 10
    return manual


def _unpack(package: str, folder: Path) -> Path:
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        pytest.skip("apt-get and dpkg-deb are not here: the Debian Reference cannot be had")
    command = ["apt-get", "download", package]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    found = sorted(folder.glob(f"{package}_*.deb"))
    if not found:
        last = (result.stderr.strip().splitlines() or ["nothing was said"])[-1]
        pytest.skip(f"{package} cannot be downloaded: {last}")
    target = folder / package
    subprocess.run(["dpkg-deb", "-x", str(found[0]), str(target)], check=True, timeout=60)
    return target


@dataclass
class House:
    """An empty house with its real web server and its real worker of jobs."""

    app: Flask
    owner: Database
    admin: Member
    url: str
    jobs: Program
    page: Page

    def count(self, query: str) -> int:
        with self.owner.session() as session:
            found = session.execute(text(query), {"group": self.admin.group_id}).scalar()
            return int(found or 0)

    def vectors(self) -> dict[Any, Any]:
        """Each passage's vector, by when it was made."""
        with self.owner.session() as session:
            rows = session.execute(
                text("SELECT document_id, created_at FROM embeddings WHERE group_id = :group"),
                {"group": self.admin.group_id},
            )
            return {row.document_id: row.created_at for row in rows}


@pytest.fixture(scope="module")
def own_settings(
    services: RunningServices, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Settings:
    """A database of this module's own: its worker must do nobody else's jobs."""
    from tests.conftest import FOLDER

    name = f"comanda_debian_{uuid4().hex[:8]}"
    make_database(services, pytestconfig.stash[FOLDER], name)
    return services.settings(name, REDIS, tmp_path_factory.mktemp("house"))


@pytest.fixture(scope="module")
def house(
    own_settings: Settings, tmp_path_factory: pytest.TempPathFactory, chromium: str | None
) -> Iterator[House]:
    processes = Processes(own_settings, tmp_path_factory.mktemp("processes"), "")
    environment = processes.environment(AI_PROVIDER="builtin", OPENAI_API_KEY="")
    jobs = processes.start("jobs", environment, "-m", "app.jobs")
    _web, port = processes.start_web(1, AI_PROVIDER="builtin", OPENAI_API_KEY="")
    jobs.wait_for(lambda: "jobs ready" in jobs.output)
    app, owner = build_app(own_settings), owner_database(own_settings)
    admin, url = make_user(owner, role="admin"), f"http://127.0.0.1:{port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS], timeout=0)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        cookie = WebClient(app, owner, admin, port).cookies["comanda"]
        context.add_cookies([{"name": "comanda", "value": cookie, "url": url}])
        yield House(app, owner, admin, url, jobs, context.new_page())
        browser.close()
    owner.engine.dispose()
    processes.end_all()


class Memory:
    """The most memory that a process and those it starts ever have, in MB, looked at often."""

    def __init__(self, pid: int) -> None:
        self.pid, self.worker, self.reader = pid, 0, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            self.worker = max(self.worker, _peak(self.pid))
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                try:
                    children = (task / "children").read_text().split()
                except OSError:
                    continue
                self.reader = max([self.reader, *(_peak(int(child)) for child in children)])


def _peak(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) // 1024 if found else 0


def choose(house: House, file: Path, language: str) -> None:
    """Bring a file by the page, and wait until it is read."""
    page = house.page
    page.goto(f"{house.url}/library/imports/")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_label("Import as").select_option("sop")
    page.get_by_label("Language of the file").select_option(language)
    page.get_by_role("button", name="Read the file").click()
    done = page.locator("#import:is([data-status=ready], [data-status=applied])")
    expect(done).to_be_visible(timeout=300 * SECONDS)


def bring_in(house: House, file: Path, language: str) -> None:
    """Import a file by the page, and wait until it is found by meaning too."""
    began = time.monotonic()
    with Memory(house.jobs.pid) as memory:
        choose(house, file, language)
        read = time.monotonic() - began
        house.page.get_by_role("button", name="Import", exact=True).click()
        expect(house.page.locator("#import[data-status=applied]")).to_be_visible(
            timeout=300 * SECONDS
        )
        applied = time.monotonic() - began
        expect(house.page.locator("#import-vectors[data-done=yes]")).to_be_visible(
            timeout=300 * SECONDS
        )
    print(
        f"{language}: previewed after {read:.1f} s, searchable after {applied:.1f} s, by meaning"
        f" after {time.monotonic() - began:.1f} s;"
        f" {house.count('SELECT count(*) FROM manual_sections WHERE group_id = :group')} sections,"
        f" {house.count('SELECT count(*) FROM search_documents WHERE group_id = :group')} passages;"
        f" at most {memory.worker} MB in the worker, {memory.reader} MB in the reader"
    )


@pytest.fixture(scope="module")
def imported(house: House, manual: Manual) -> House:
    for language in PACKAGES:
        bring_in(house, manual.archive(language), language)
    return house


def test_both_editions_are_one_manual(imported: House) -> None:
    both = imported.count(
        "SELECT count(*) FROM manual_sections"
        " WHERE group_id = :group AND title_en <> '' AND title_es <> ''"
    )
    every = imported.count("SELECT count(*) FROM manual_sections WHERE group_id = :group")
    print(f"{both} of {every} sections stand in both languages")
    assert every > 400
    assert both == every


@pytest.mark.parametrize("language", ["en", "es"])
def test_questions_are_answered_from_the_right_section(imported: House, language: str) -> None:
    rows = []
    for question, slugs in QUESTIONS[language]:
        reply: Reply = ask(imported.app, imported.admin.email, question, language=language)
        rows.append((f"{reply} (wanted {', '.join(slugs)})", bool({*slugs} & {*reply.cited_slugs})))
    assert_share(rows, BAR, f"Debian Reference, {language}")


def test_the_same_file_again_is_nothing_to_do(imported: House, manual: Manual) -> None:
    before = imported.vectors()
    for language in PACKAGES:
        began = time.monotonic()
        choose(imported, manual.archive(language), language)
        print(f"{language} again: {time.monotonic() - began:.1f} s")
        expect(imported.page.get_by_text("There is nothing to do")).to_be_visible()
    assert imported.vectors() == before


def test_an_edited_paragraph_gets_new_vectors_for_its_passages_alone(
    imported: House, manual: Manual
) -> None:
    before = imported.vectors()
    pages = manual.pages["en"]
    [name] = [name for name in pages if "Disabling beep sounds" in pages[name] and "ch09" in name]
    head, marker, tail = pages[name].partition('id="_disabling_beep_sounds"')
    assert marker
    pages[name] = head + marker + tail.replace("<p>", "<p>Our cook likes it quiet. ", 1)
    choose(imported, manual.archive("en"), "en")
    expect(imported.page.locator(".import-rows > li")).to_have_count(1)
    imported.page.get_by_role("link", name=re.compile("What changed")).click()
    expect(imported.page.locator(".import-words ins")).to_contain_text("Our cook likes it quiet")
    imported.page.get_by_role("button", name="Import", exact=True).click()
    expect(imported.page.locator("#import-vectors[data-done=yes]")).to_be_visible(
        timeout=60 * SECONDS
    )
    after = wait_until(imported.vectors, 5)
    renewed = sum(after[id_] != before.get(id_) for id_ in after)
    print(f"{renewed} of {len(after)} passages were embedded again")
    assert 1 <= renewed <= 2
