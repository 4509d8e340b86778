"""The routes of imports: who may, what they show, and what they refuse."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import delete

from app.db import Database, JsonList, new_id
from app.skills.knowledge.models import LibraryImport, LibraryImportSection, ManualSection
from app.skills.knowledge.readers import LIMITS
from app.skills.knowledge.services import import_jobs
from app.skills.knowledge.services.imports import MOST_CHAPTERS, apply_when_ready, load_import
from app.skills.knowledge.services.plan_pages import MOST_DOCUMENTS, load_documents
from app.skills.knowledge.web.import_presenters import PAGE_ROWS
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
from tests.statements import noted_statements

PAY = "# Pay {#pay}\nHow we pay.\n\n## Tips {#tips}\nTips are pooled every Friday.\n"
MENU = "name;price;allergens\nRibeye;48,00;milk\nCharred Leek;-3;none\nTomahawk;99;moon dust\n"
# The plan as it is, and not something that the database takes out of it.
WHOLE_PLAN = re.compile(r"library_imports\.plan(?!\[| ->)\b")
READ_IN_FILE = "library_import_files.reading"


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
    assert "Nothing has been imported" in browser.page("/library/imports/").text
    status, address = upload(browser, PAY.encode())
    assert status == 303
    waiting = browser.page(address)
    working = waiting.find("div", id="import").attributes
    assert (working["hx-trigger"], working["hx-get"]) == ("every 1s", f"{address}/status")
    assert "Refresh" in [link.text for link in waiting.find_all("a", href=address)]
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
    assert "This import was canceled." in gone.text


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
    with noted_statements() as asked:
        browser.fragment(f"/library/imports/{item.id}/status")
        browser.page("/library/imports/")
    assert any("library_imports.status" in each for each in asked)
    assert not [each for each in asked if "library_imports.plan" in each]


def test_a_file_that_was_brought_already_says_where_it_stands(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    address = upload(browser, PAY.encode())[1]
    assert upload(browser, PAY.encode()) == (303, address)
    assert "being read. Here is its progress." in browser.page(address).text
    do_jobs(database, member.group_id)
    upload(browser, PAY.encode())
    assert "This file has been read already. Look through it" in browser.page(address).text
    with database.session(member.scope) as session:
        item = load_import(session, UUID(address.rpartition("/")[2]))
        apply_when_ready(session, item.id, item.plan["signature"])
    upload(browser, PAY.encode())
    assert "This file is already being imported." in browser.page(address).text


def test_an_undo_that_can_do_nothing_says_why_and_can_be_asked_for_again(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    import_file(database, member, PAY)
    first = import_file(database, member, PAY.replace("every Friday", "every Monday"))
    import_file(database, member, PAY.replace("every Friday", "every Tuesday"))
    undo_file(database, member, first)
    page = browser.page(f"/library/imports/{first.id}")
    assert "Nothing was undone: everything this import changed" in page.text
    assert [each.text for each in page.find("ul", **{"class": "import-names"}).find_all("li")] == [
        "Tips"
    ]
    assert page.find_all("button", id="import-undo")


def test_an_import_that_nobody_confirmed_says_so(
    owner: Database, browser: CheckedClient, member: Member
) -> None:
    item = _stored(owner, member, "cancelled", report={"is_expired": True})
    page = browser.page(f"/library/imports/{item.id}")
    assert "Nobody confirmed this import within two weeks" in page.text


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


def _titles(rows: JsonList, *kinds: str) -> list[str]:
    return [row["title"] for row in rows if row["what"] in kinds]


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_an_import_does_is_shown_by_kind_in_the_order_of_the_file(
    database: Database, member: Member, browser: CheckedClient, language: str
) -> None:
    rules = {n: f"\n## Rule {n} {{#rule-{n}}}\nDo it.\n" for n in range(8)}
    text = "".join(rules.values())
    import_file(database, member, PAY + text, language=language)
    gone = text.replace("Rule 1 ", "Rule one ").replace(rules[6], "").replace(rules[7], "")
    more = "\n## Last {#last}\nAt the end.\n"
    item = bring_file(database, member, PAY + gone + more, language=language)
    entries = item.plan["entries"]
    assert item.plan["counts"] == {"added": 1, "changed": 1, "removed": 2, "unchanged": 7}
    kinds: dict[str, Iterable[str]] = {
        "": ("added", "changed", "removed"),
        "no-such": ("added", "changed", "removed"),
        "all": ("added", "changed", "removed", "unchanged"),
        **{what: (what,) for what in ("added", "changed", "removed", "unchanged")},
    }
    for show, chosen in kinds.items():
        page = browser.page(f"/library/imports/{item.id}?show={show}&lang={language}")
        shown = page.find_all("span", **{"class": "import-title"})
        assert [each.text.strip() for each in shown] == _titles(entries, *chosen), show
    assert page.find("ul", **{"class": "badges import-filters"}).text.split()[-1] == "7"


def test_each_page_of_a_plan_goes_on_where_the_one_before_ends(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    long = PAY + "".join(f"\n## Rule {n} {{#rule-{n}}}\nDo it.\n" for n in range(PAGE_ROWS))
    item = bring_file(database, member, long)
    pages = [browser.page(f"/library/imports/{item.id}?show=all&page={n}") for n in (1, 2)]
    shown = [
        [each.text.strip() for each in page.find_all("span", **{"class": "import-title"})]
        for page in pages
    ]
    assert [len(rows) for rows in shown] == [PAGE_ROWS, 2]
    assert shown[0] + shown[1] == _titles(item.plan["entries"], "added")


def test_no_page_of_an_import_loads_its_whole_plan(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    import_file(database, member, PAY)
    item = bring_file(database, member, PAY.replace("every Friday", "every Monday"))
    address = f"/library/imports/{item.id}"
    with noted_statements() as asked:
        signature = browser.page(address).find("input", name="signature").attributes["value"]
        assert browser.page(f"{address}/changes/0/1").find("del").text.startswith("Friday")
        assert browser.post(f"{address}/apply", signature="another").status_code == 409
        editions = {"source": "no-such", "signature": signature}
        assert browser.post(f"{address}/editions", **editions).status_code == 303
        assert upload(browser, PAY.replace("every Friday", "every Monday").encode())[0] == 303
    with database.session(member.scope) as session:
        load_import(session, item.id).status = "ready"
        session.commit()
    with noted_statements() as asked_later:
        for _twice in range(2):
            assert browser.post(f"{address}/apply", signature=signature).status_code == 303
    do_jobs(database, member.group_id)
    with noted_statements() as asked_at_last:
        for path in ("", "/status", "/vectors"):
            browser.fragment(f"{address}{path}")
        for _twice in range(2):
            browser.post_fragment(f"{address}/undo")
        assert browser.post(f"{address}/cancel", status="undoing").status_code == 303
    statements = [*asked, *asked_later, *asked_at_last]
    assert any("library_imports.status" in each for each in statements)
    assert [each for each in statements if WHOLE_PLAN.search(each)] == []
    assert [each for each in statements if READ_IN_FILE in each] == []


def test_the_signature_is_no_younger_than_the_rows_that_it_confirms(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    """A plan that is made anew between two statements must not be confirmed unseen."""
    item = bring_file(database, member, PAY)
    with noted_statements() as asked:
        browser.page(f"/library/imports/{item.id}")
    signature, rows = (
        next(at for at, each in enumerate(asked) if words in each)
        for words in ("library_imports.plan ->>", "AS entries(")
    )
    assert signature < rows


@pytest.mark.parametrize("path", ["0/99", "7/1", f"0/{10**30}"])
def test_what_the_plan_does_not_have_is_looked_for_in_no_file(
    database: Database, member: Member, browser: CheckedClient, path: str
) -> None:
    item = bring_file(database, member, PAY)
    with noted_statements() as asked:
        assert browser.get(f"/library/imports/{item.id}/changes/{path}").status_code == 404
    assert asked
    assert [each for each in asked if "library_import_" in each] == []


def test_a_menu_has_no_page_of_what_changes_in_a_section(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    item = bring_file(database, member, MENU, "menu.csv", target="dishes")
    with noted_statements() as asked:
        assert browser.get(f"/library/imports/{item.id}/changes/0/0").status_code == 404
    assert [each for each in asked if "library_import_" in each or "jsonb_array" in each] == []


@pytest.mark.parametrize("language", ["en", "es"])
def test_an_import_that_was_read_before_sections_were_kept_shows_them_all_the_same(
    database: Database, owner: Database, member: Member, browser: CheckedClient, language: str
) -> None:
    import_file(database, member, PAY, language=language)
    item = bring_file(
        database, member, PAY.replace("every Friday", "cada día, “así”"), language=language
    )
    address = f"/library/imports/{item.id}/changes/0/1"
    kept = browser.page(address).find("p", **{"class": "import-words"})
    with owner.transaction() as session:
        ours = LibraryImportSection.import_id == item.id
        session.execute(delete(LibraryImportSection).where(ours))
    with noted_statements() as asked:
        found = browser.page(address).find("p", **{"class": "import-words"})
    assert found.text == kept.text
    assert "cada día, “así”" in found.text
    assert len([each for each in asked if READ_IN_FILE in each]) == 1


def test_what_was_read_and_is_forgotten_has_no_page(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    item = bring_file(database, member, PAY)
    address = f"/library/imports/{item.id}"
    assert browser.get(f"{address}/changes/0/1").status_code == 200
    browser.post(f"{address}/cancel")
    assert browser.get(f"{address}/changes/0/1").status_code == 404


@pytest.mark.parametrize(
    ("chapters", "shown"),
    [
        ([""], [0]),
        (["", ""], []),
        (["", "house", None, "bar"], [1, 3]),
        (["house"] * (MOST_DOCUMENTS + 1), [*range(MOST_DOCUMENTS)]),
    ],
)
def test_people_are_asked_about_documents_with_a_chapter_or_the_only_one(
    database: Database, owner: Database, member: Member, chapters: list[Any], shown: list[int]
) -> None:
    documents = [{"source": str(n), "chapter": chapter} for n, chapter in enumerate(chapters)]
    item = _stored(owner, member, plan={"documents": documents})
    with database.session(member.scope) as session:
        assert load_documents(session, item.id) == [documents[n] for n in shown]


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
    page = browser.page(address)
    assert "House" in page.find("select", name="chapter").text
    assert browser.press(page, f"{address}/editions", chapter="house").status_code == 303
    do_jobs(database, member.group_id)
    assert look_at(database, member, item.id).plan["counts"]["changed"] == 1
    # What somebody else has said meanwhile is not set back by a page that did not show it.
    assert browser.press(page, f"{address}/editions", chapter="").status_code == 409
    page = browser.page(address)
    assert browser.press(page, f"{address}/editions", chapter="no-such").status_code == 422


@pytest.mark.fault(67)
def test_of_many_chapters_all_documents_share_one_list(
    database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    with owner.transaction() as session:
        session.add_all(
            ManualSection(group_id=member.group_id, slug=f"ch-{n:03}", title_es=f"Ch {n}",
                          position=n)
            for n in range(MOST_CHAPTERS + 5)
        )  # fmt: skip
    documents = [
        {"source": str(n), "title": f"Doc {n}", "chapter": f"ch-{n:03}", "is_known": False,
         "chapter_title": "", "alone_here": 0, "alone_there": [], "alone_there_count": 0}
        for n in range(MOST_DOCUMENTS)
    ]  # fmt: skip
    plan = {"documents": documents, "counts": {"added": 1, "changed": 0, "removed": 0}}
    item = _stored(owner, member, plan=plan)
    address = f"/library/imports/{item.id}"
    page = browser.page(address)
    [shared] = page.find_all("datalist")
    assert len(shared.find_all("option")) == MOST_CHAPTERS
    assert len(page.find_all("option")) == MOST_CHAPTERS
    fields = page.find_all("input", name="chapter")
    assert [each.attributes["value"] for each in fields] == [each["chapter"] for each in documents]
    assert {each.attributes["list"] for each in fields} == {shared.attributes["id"]}
    # One that is not in the list is known all the same.
    sources = [str(n) for n in range(MOST_DOCUMENTS)]
    chosen = [f" ch-{MOST_CHAPTERS + 4} ", *[""] * (MOST_DOCUMENTS - 1)]
    wrong = ["no-such", *chosen[1:]]
    said: dict[str, Any] = {"source": sources, "signature": item.plan.get("signature", "")}
    assert browser.post(f"{address}/editions", chapter=wrong, **said).status_code == 422
    assert browser.post(f"{address}/editions", chapter=chosen, **said).status_code == 303
    options = look_at(database, member, item.id).options
    assert options["editions"]["0"] == f"ch-{MOST_CHAPTERS + 4}"


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


def test_what_somebody_else_has_begun_is_not_cancelled_by_a_page_from_before(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    item = bring_file(database, member, PAY)
    address = f"/library/imports/{item.id}"
    page = browser.page(address)
    assert browser.press(browser.page(address), f"{address}/apply").status_code == 303
    stale = browser.press(page, f"{address}/cancel")
    assert (
        stale.status_code == 409
        and "This import has moved on in the meantime. See how it is going now." in stale.text
    )
    assert look_at(database, member, item.id).status == "applying"
    # The page that is shown then stops it, if that is what is wanted.
    assert browser.press(browser._page(stale, 409), f"{address}/cancel").status_code == 303
    assert look_at(database, member, item.id).status == "cancelled"
