"""The routes of imports: who may, what they show, and what they refuse."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import Engine, event

from app.db import Database, new_id
from app.skills.knowledge.models import LibraryImport
from app.skills.knowledge.readers import LIMITS
from app.skills.knowledge.services import import_jobs
from app.skills.knowledge.services.imports import apply_when_ready, load_import
from tests.factories import CheckedClient, Member, make_section, make_user, sign_in
from tests.factories.imports import (
    apply_file,
    bring_file,
    do_jobs,
    import_file,
    look_at,
    read_in_this_process,
    undo_file,
)

PAY = "# Pay {#pay}\nHow we pay.\n\n## Tips {#tips}\nTips are pooled every Friday.\n"
MENU = "name;price;allergens\nRibeye;48,00;milk\nCharred Leek;-3;none\nTomahawk;99;moon dust\n"


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in this process: starting one for each file would take minutes in all."""
    monkeypatch.setattr(import_jobs, "read_apart", read_in_this_process)


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, role="manager")


def upload(
    browser: CheckedClient, content: bytes, name: str = "pay.md", **form: str
) -> tuple[int, str]:
    fields = {
        "csrf_token": browser.csrf_token,
        "file": (io.BytesIO(content), name),
        "target": "sop",
        "language": "en",
        **form,
    }
    response = browser.client.post(
        "/library/imports/", data=fields, content_type="multipart/form-data"
    )
    return response.status_code, response.headers.get("Location", response.text)


def test_a_file_is_brought_read_looked_at_and_imported(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    assert "Nothing was imported yet" in browser.page("/library/imports/").text
    status, address = upload(browser, PAY.encode())
    assert status == 303
    waiting = browser.page(address)
    working = waiting.find("div", id="import").attributes
    assert (working["hx-trigger"], working["hx-get"]) == ("every 1s", f"{address}/status")
    assert "Look again" in waiting.text
    do_jobs(database, member.group_id)
    ready = browser.page(address)
    assert "2 new" in ready.text
    assert "hx-trigger" not in ready.find("div", id="import").attributes
    signature = ready.find("input", name="signature").attributes["value"]
    posted = browser.post(f"{address}/apply", signature=signature)
    assert (posted.status_code, posted.headers["Location"]) == (303, address)
    do_jobs(database, member.group_id)
    assert "Imported: 2 new." in browser.page(address).text
    assert "pay.md" in browser.page("/library/imports/").text
    assert "Pay" in browser.page("/library/").text


def test_htmx_gets_the_fragment_alone(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    item = bring_file(database, member, PAY)
    fragment = browser.fragment(f"/library/imports/{item.id}")
    assert [each.tag for each in fragment.root.children if each.tag] == ["div"]
    gone = browser.post_fragment(f"/library/imports/{item.id}/cancel")
    assert "This import was cancelled" in gone.text


def test_what_is_polled_is_light_until_there_is_a_plan_to_show(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    address = upload(browser, PAY.encode())[1]
    light = browser.fragment(f"{address}/status")
    assert [each.tag for each in light.root.children if each.tag] == ["div"]
    assert light.find("div", id="import").attributes["data-status"] == "waiting"
    do_jobs(database, member.group_id)
    whole = browser.fragment(f"{address}/status")
    assert "2 new" in whole.text
    assert "hx-trigger" not in whole.find("div", id="import").attributes
    assert browser.get(f"{address}/status").headers["Location"] == address


def test_a_poll_does_not_load_the_plan(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session:
        apply_when_ready(session, item.id, item.plan["signature"])
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        browser.fragment(f"/library/imports/{item.id}/status")
        browser.page("/library/imports/")
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert any("library_imports.status" in each for each in asked)
    assert not [each for each in asked if "library_imports.plan" in each]


def test_a_file_that_was_brought_already_says_where_it_stands(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    address = upload(browser, PAY.encode())[1]
    assert upload(browser, PAY.encode()) == (303, address)
    assert "is being read. Here is how far it is." in browser.page(address).text
    do_jobs(database, member.group_id)
    upload(browser, PAY.encode())
    assert "This file has been read already. Look through it" in browser.page(address).text
    with database.session(member.scope) as session:
        item = load_import(session, UUID(address.rpartition("/")[2]))
        apply_when_ready(session, item.id, item.plan["signature"])
    upload(browser, PAY.encode())
    assert "This file is being imported already." in browser.page(address).text


def test_an_undo_that_can_do_nothing_says_why_and_can_be_asked_for_again(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    import_file(database, member, PAY)
    first = import_file(database, member, PAY.replace("every Friday", "every Monday"))
    import_file(database, member, PAY.replace("every Friday", "every Tuesday"))
    undo_file(database, member, first)
    page = browser.page(f"/library/imports/{first.id}")
    assert "Nothing was undone: all that this import changed" in page.text
    assert [each.text for each in page.find("ul", **{"class": "import-names"}).find_all("li")] == [
        "Tips"
    ]
    assert page.find_all("button", id="import-undo")


def test_an_import_that_nobody_confirmed_says_so(
    owner: Database, browser: CheckedClient, member: Member
) -> None:
    item = _stored(owner, member, "cancelled", report={"is_expired": True})
    page = browser.page(f"/library/imports/{item.id}")
    assert "Nobody confirmed this import for two weeks" in page.text


def test_a_new_version_is_not_asked_what_it_is_the_other_language_of(
    database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "casa", "Casa", "Nuestra.", language="es")
    import_file(database, member, PAY)
    new = bring_file(database, member, "# Bar {#bar}\nIce.\n", "bar.md")
    question = "The same text in another language?"
    assert question in browser.page(f"/library/imports/{new.id}").text
    changed = bring_file(database, member, PAY + "\n## More {#more}\nMore.\n")
    assert question not in browser.page(f"/library/imports/{changed.id}").text


def test_undoing_by_the_page_says_what_went_back(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    item = import_file(database, member, PAY)
    assert browser.post(f"/library/imports/{item.id}/undo").status_code == 303
    do_jobs(database, member.group_id)
    page = browser.page(f"/library/imports/{item.id}")
    assert "Undone: 0 restored, 2 removed." in page.text


def test_rows_in_error_are_named_and_the_others_imported(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    item = bring_file(database, member, MENU, "menu.csv", target="dishes")
    page = browser.page(f"/library/imports/{item.id}")
    assert "1 new, 2 rows left out" in page.text
    assert "Row 3" in page.text
    assert "is below zero" in page.text
    assert "moon dust" in page.text
    apply_file(database, member, item)
    assert "Ribeye" in browser.page("/library/dishes/ribeye").text
    changed = bring_file(database, member, MENU.replace("48,00", "52"), "menu.csv", target="dishes")
    page = browser.page(f"/library/imports/{changed.id}")
    assert "48.00" in page.find("del").text
    assert "52" in page.find("ins").text


def test_what_changes_is_shown_word_by_word(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    import_file(database, member, PAY)
    item = bring_file(database, member, PAY.replace("every Friday", "every <b>Monday</b>"))
    address = f"/library/imports/{item.id}/changes/0/1"
    for view in (browser.page(address), browser.fragment(address)):
        assert view.find("del").text.rstrip(".") == "Friday"
        assert "Monday" in "".join(each.text for each in view.find_all("ins"))
    assert browser.get(f"/library/imports/{item.id}/changes/7/1").status_code == 404


def test_a_long_plan_comes_in_pages(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    long = PAY + "".join(f"\n## Rule {n} {{#rule-{n}}}\nDo it.\n" for n in range(450))
    item = bring_file(database, member, long)
    first = browser.page(f"/library/imports/{item.id}")
    assert len(first.find_all("span", **{"class": "import-what import-added"})) == 200
    last = browser.page(f"/library/imports/{item.id}?show=added&page=99")
    assert "3 of 3" in last.text
    assert "Rule 449" in last.text
    assert "Nothing of this kind" in browser.page(f"/library/imports/{item.id}?show=removed").text


def test_an_outdated_preview_is_not_applied_and_says_so(
    database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    item = bring_file(database, member, PAY)
    answer = browser.page(f"/library/imports/{item.id}")
    signature = answer.find("input", name="signature").attributes["value"]
    make_section(owner, member.group_id, "tips", "Tips", "Nobody shares.")
    browser.post(f"/library/imports/{item.id}/apply", signature=signature)
    do_jobs(database, member.group_id)
    assert "The library has changed since you looked" in (
        browser.page(f"/library/imports/{item.id}").text
    )
    late = browser.post(f"/library/imports/{item.id}/apply", signature=signature)
    assert late.status_code == 409
    assert "The library has changed since you looked" in late.text


def test_saying_which_chapter_it_is_the_other_language_of(
    database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "house", "House", "Ours.")
    item = bring_file(database, member, "# Casa\nNuestra.\n", "casa.md", language="es")
    address = f"/library/imports/{item.id}"
    assert "House" in browser.page(address).find("select", name="chapter").text
    browser.post(f"{address}/editions", source="casa", chapter="house")
    do_jobs(database, member.group_id)
    assert look_at(database, member, item.id).plan["counts"]["changed"] == 1
    wrong = browser.post(f"{address}/editions", source="casa", chapter="no-such")
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    ("content", "form", "words"),
    [
        (b"", {}, "Choose a file that is not empty."),
        (b"x", {"target": "songs"}, "Choose from the list."),
        (b"x", {"language": "fr"}, "Choose from the list."),
    ],
)
def test_a_form_that_is_not_filled_in_says_what_is_missing(
    browser: CheckedClient, content: bytes, form: dict[str, str], words: str
) -> None:
    status, body = upload(browser, content, **form)
    assert status == 422
    assert words in body


def test_a_file_may_be_larger_than_a_page_but_not_larger_than_the_limit(
    browser: CheckedClient,
) -> None:
    assert upload(browser, b"# Long\n" + b"words " * 600_000, "long.md")[0] == 303
    assert upload(browser, b"x" * (LIMITS.file_bytes + 100_000), "huge.md")[0] == 413


def test_large_files_are_not_even_read_for_others(app: Flask, owner: Database) -> None:
    staff = sign_in(app, owner, make_user(owner))
    assert upload(staff, b"words " * 600_000)[0] == 413


Call = Callable[[CheckedClient, str], int]
GET: Call = lambda browser, address: browser.get(address).status_code  # noqa: E731
POST: Call = lambda browser, address: browser.post(address).status_code  # noqa: E731
ROUTES = [
    (GET, ""),
    (GET, "/status"),
    (GET, "/changes/0/1"),
    (GET, "/vectors"),
    (POST, "/apply"),
    (POST, "/cancel"),
    (POST, "/undo"),
    (POST, "/editions"),
]
EVERY_ROUTE = pytest.mark.parametrize(("call", "path"), ROUTES, ids=[path for _, path in ROUTES])


@EVERY_ROUTE
def test_an_import_of_another_house_does_not_exist(
    app: Flask, database: Database, owner: Database, member: Member, call: Call, path: str
) -> None:
    item = _stored(owner, member)
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    assert call(stranger, f"/library/imports/{item.id}{path}") == 404


@EVERY_ROUTE
def test_there_is_no_such_import(browser: CheckedClient, call: Call, path: str) -> None:
    assert call(browser, f"/library/imports/{uuid4()}{path}") == 404


@EVERY_ROUTE
def test_staff_may_not(app: Flask, owner: Database, member: Member, call: Call, path: str) -> None:
    item = _stored(owner, member)
    staff = sign_in(app, owner, make_user(owner, member.group_id))
    assert call(staff, f"/library/imports/{item.id}{path}") == 403


@pytest.mark.parametrize("path", ["/apply", "/cancel", "/undo", "/editions"])
def test_nothing_is_done_by_looking(
    owner: Database, member: Member, browser: CheckedClient, path: str
) -> None:
    item = _stored(owner, member)
    assert browser.get(f"/library/imports/{item.id}{path}").status_code == 405
    assert browser.post(f"/library/imports/{item.id}{path}", token=False).status_code == 400


@pytest.mark.parametrize("path", ["/apply", "/undo", "/editions", "/cancel"])
def test_what_comes_too_late_is_told(
    owner: Database, member: Member, browser: CheckedClient, path: str
) -> None:
    item = _stored(owner, member, "failed")
    assert browser.post(f"/library/imports/{item.id}{path}").status_code == 409


def test_the_list_and_the_form_are_for_editors(app: Flask, owner: Database, member: Member) -> None:
    staff = sign_in(app, owner, make_user(owner, member.group_id))
    assert staff.get("/library/imports/").status_code == 403
    assert "/library/imports/" not in staff.get("/library/").text
    assert upload(staff, PAY.encode())[0] == 403
    manager = sign_in(app, owner, member)
    assert "/library/imports/" in manager.get("/library/").text
    assert app.test_client().get("/library/imports/").status_code == 303


def _stored(owner: Database, member: Member, status: str = "ready", **facts: Any) -> LibraryImport:
    """An import as it stands in the database, without its file ever having been read."""
    with owner.session() as session:
        item = LibraryImport(
            id=new_id(), group_id=member.group_id, user_id=member.user_id, role=member.role,
            target="sop", language="en", filename="pay.md", digest="0", status=status, **facts,
        )  # fmt: skip
        session.add(item)
        session.commit()
        return item
