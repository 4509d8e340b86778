"""Receipts: whose they are, who sees them, how they come, change and go, and what they say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete, select, update
from werkzeug.datastructures import MultiDict

from app.db import Database, new_id
from app.errors import InvalidInput
from app.extensions import Services
from app.files.examination_queue import ExaminationQueue
from app.files.field_rules import upload_rules
from app.files.models import StoredFile
from app.files.uploads import list_own_files
from app.skills.expenses.models import Expense
from app.skills.expenses.services import receipt_files
from app.skills.expenses.services import receipt_reader as receipt_reading
from app.skills.expenses.services.receipt_files import keep_receipt, let_receipt_go
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.expenses import make_expense
from tests.files import samples
from tests.model_server import HttpError, ModelServer, Page, Say, Stall, scenario
from tests.skills.expenses.looking import HOME, rows, typed

PICTURE = samples.picture()


def upload(
    app: Flask, browser: CheckedClient, content: bytes = PICTURE, name: str = "r.jpg"
) -> str:
    """Send a file as its field does; returns the id under which it waits."""
    with app.test_request_context():
        rules = upload_rules("receipt", ("image", "pdf")).signed()
    answer = browser.client.post(
        "/files",
        data={"csrf_token": browser.csrf_token, "rules": rules, "file": (BytesIO(content), name)},
    )
    box = browser._fragment(answer, 200).find("input", name="v-receipt")
    return box.attributes["value"]


def add(browser: CheckedClient, *files: str, photo: bytes | None = None, **form: Any) -> Any:
    key = form.pop("key", str(new_id()))
    sent = {"item": "Fish", "amount": "30", "key": key, **form}
    data: MultiDict[str, Any] = MultiDict({"csrf_token": browser.csrf_token, **sent})
    for file_id in ("", *files):
        data.add("v-receipt", file_id)
    if photo is not None:
        data.add("u-receipt", (BytesIO(photo), "till.jpg"))
    return browser.client.post(f"{HOME}/new", data=data)


def change(browser: CheckedClient, expense: Expense, *files: str, **form: Any) -> Any:
    sent = {"item": expense.item, "amount": str(expense.amount), "currency": expense.currency,
            "date": expense.date.isoformat(), "category": expense.category,
            "version": expense.version, **form}  # fmt: skip
    data: MultiDict[str, Any] = MultiDict({"csrf_token": browser.csrf_token, **sent})
    for file_id in ("", *files):
        data.add(f"v-receipt-{expense.id.hex}", file_id)
    return browser.client.post(f"{HOME}/{expense.id}/edit", data=data)


def file_of(owner: Database, file_id: str | UUID) -> StoredFile:
    with owner.session() as session:
        return session.scalars(select(StoredFile).where(StoredFile.id == UUID(str(file_id)))).one()


def only(owner: Database, member: Member) -> Expense:
    [expense] = rows(owner, member)
    return expense


def test_a_receipt_waits_until_its_expense_is_written_and_is_seen_by_who_sees_that(
    app: Flask, owner: Database, member: Member, browser: CheckedClient,
    manager: CheckedClient,
) -> None:  # fmt: skip
    file_id = upload(app, browser)
    assert file_of(owner, file_id).state == "temporary"
    assert add(browser, file_id).status_code == 303
    expense = only(owner, member)
    assert str(expense.file_id) == file_id
    file = file_of(owner, file_id)
    assert (file.state, file.owner_kind, file.owner_id) == ("kept", "expense", expense.id)
    address = f"{HOME}/{expense.id}/receipt"
    for who in (browser, manager):
        cell = who.page(HOME).find("td", class_="expense-receipt")
        assert cell.find("img").attributes["src"] == f"{address}/preview"
        assert who.get(f"{address}/preview").mimetype == "image/jpeg"
        whole = who.get(address)
        assert whole.mimetype == "image/jpeg" and len(whole.data) > len(
            who.get(f"{address}/preview").data
        )
        assert "sandbox" in whole.headers["Content-Security-Policy"]
        assert whole.headers["Cache-Control"] == "no-store"
    colleague = sign_in(app, owner, make_user(owner, member.group_id))
    outsider = sign_in(app, owner, make_user(owner, role="admin"))
    for stranger in (colleague, outsider):
        for path in (address, f"{address}/preview", f"/files/{file_id}"):
            assert stranger.get(path).status_code == 404, path


def test_a_receipt_that_comes_with_the_second_of_two_sendings_is_put_to_their_expense(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    """The answer to the first was lost on its way."""
    key = str(new_id())
    assert add(browser, key=key).status_code == 303
    file_id = upload(app, browser)
    for _ in range(2):
        assert add(browser, file_id, key=key).status_code == 303
    assert str(only(owner, member).file_id) == file_id
    assert file_of(owner, file_id).state == "kept"


@pytest.mark.parametrize("is_changed_by_another", [True, False])
def test_a_photo_that_an_expense_of_the_same_form_does_not_take_is_told(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
    is_changed_by_another: bool,
) -> None:  # fmt: skip
    key = str(new_id())
    assert add(browser, key=key).status_code == 303
    if is_changed_by_another:
        assert change(manager, only(owner, member), note="seen").status_code == 303
    else:
        add(browser, upload(app, browser), key=key)
    before = only(owner, member)
    answer = add(browser, upload(app, browser), key=key)
    assert only(owner, member).file_id == before.file_id
    assert "Its receipt stays; open the expense to change it." in browser.get(answer.location).text


def test_a_pdf_is_saved_and_not_shown(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    add(browser, upload(app, browser, samples.pdf(), "bill.pdf"))
    address = f"{HOME}/{only(owner, member).id}/receipt"
    assert "attachment" in browser.get(address).headers["Content-Disposition"]
    assert browser.get(f"{address}/preview").status_code == 404
    assert not browser.page(HOME).find("td", class_="expense-receipt").find_all("img")


def test_an_expense_without_one_has_none(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    expense = make_expense(database, member)
    assert browser.get(f"{HOME}/{expense.id}/receipt").status_code == 404


def test_what_is_not_ones_own_or_needed_elsewhere_is_not_taken(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
) -> None:  # fmt: skip
    theirs = upload(app, manager)
    held = upload(app, browser)
    with owner.transaction() as session:
        of_form = {"owner_kind": "form_draft", "owner_id": new_id()}
        session.execute(update(StoredFile).where(StoredFile.id == UUID(held)).values(**of_form))
    refused = add(browser, theirs, held, str(new_id()), "x")
    assert refused.status_code == 422
    assert GONE in refused.text
    assert rows(owner, member) == []
    assert file_of(owner, theirs).state == file_of(owner, held).state == "temporary"


GONE = "The receipt is no longer there. Add it again."


def test_a_receipt_that_did_not_wait_for_its_form_is_asked_for_again(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
) -> None:  # fmt: skip
    """A form that stands open for more than a day, and a second one of the same receipt."""
    first, lost = upload(app, browser), upload(app, manager)
    with owner.transaction() as session:
        session.execute(delete(StoredFile).where(StoredFile.id == UUID(lost)))
    key = str(new_id())
    for _ in range(2):
        assert add(browser, first, key=key).status_code == 303
    expense = only(owner, member)
    for again in (add(browser, lost), add(browser, first), change(manager, expense, lost)):
        assert again.status_code == 422
        assert GONE in again.text
    assert str(only(owner, member).file_id) == first
    assert file_of(owner, first).state == "kept"


def test_a_manager_replaces_and_removes_a_receipt_and_its_person_sees_the_new_one(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
) -> None:  # fmt: skip
    first = upload(app, browser)
    add(browser, first)
    expense = only(owner, member)
    form = manager.page(f"{HOME}/{expense.id}/edit")
    box = form.find("input", name=f"v-receipt-{expense.id.hex}", type="checkbox")
    assert box.attributes["value"] == first
    assert change(manager, expense, first, amount="31").status_code == 303
    expense = only(owner, member)
    assert str(expense.file_id) == first, "what stays ticked stays"
    second = upload(app, manager, samples.picture("PNG"), "r.png")
    assert change(manager, expense, first, second).status_code == 303
    expense = only(owner, member)
    assert str(expense.file_id) == second
    assert file_of(owner, second).state == "kept"
    assert file_of(owner, first).state == "temporary", "the clean-up takes it"
    assert browser.get(f"{HOME}/{expense.id}/receipt").mimetype == "image/png"
    assert change(manager, expense).status_code == 303
    assert only(owner, member).file_id is None
    assert file_of(owner, second).state == "temporary"


def test_who_has_not_touched_the_receipt_keeps_the_one_that_is_there_by_then(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
) -> None:  # fmt: skip
    first = upload(app, browser)
    add(browser, first)
    opened = only(owner, member)
    name = f"receipt-{opened.id.hex}"
    second = upload(app, manager)
    assert change(manager, opened, first, second).status_code == 303
    was = {f"was-{name}": first, "note": "Mine"}
    answer = change(manager, opened, first, **was)
    page = manager._page(answer, 409)
    assert page.find("p", **{"class": "expense-now"}).text.endswith("Receipt")
    assert page.find("input", name=f"v-{name}", type="checkbox").attributes["value"] == second
    assert page.find("input", name=f"was-{name}").attributes["value"] == second
    again = {**was, f"was-{name}": second, "version": opened.version + 1}
    assert change(manager, opened, second, **again).status_code == 303
    expense = only(owner, member)
    assert (str(expense.file_id), expense.note) == (second, "Mine")
    assert file_of(owner, second).state == "kept"


def test_of_two_expenses_at_once_one_gets_the_receipt(
    app: Flask, owner: Database, database: Database, member: Member, browser: CheckedClient,
) -> None:  # fmt: skip
    file_id = UUID(upload(app, browser))
    other = make_expense(owner, member, item="Other")
    with database.session(member.scope) as session:
        [seen] = list_own_files(session, [file_id])
        assert seen.owner_id is None
        assert add(browser, str(file_id)).status_code == 303
        with pytest.raises(InvalidInput) as refused:
            keep_receipt(session, other, seen)
        let_receipt_go(session, other, file_id)
        session.commit()
    assert refused.value.field == "receipt"
    assert file_of(owner, file_id).state == "kept"


def test_who_is_the_second_with_a_receipt_is_told_at_its_field_and_keeps_what_was_typed(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    first, theirs = upload(app, browser), upload(app, manager)
    assert add(browser, first).status_code == 303
    expense = only(owner, member)
    assert add(manager, theirs).status_code == 303
    # As it was when the second one looked.
    monkeypatch.setattr(receipt_files, "_is_free", lambda _file: True)
    page = browser._page(add(browser, first, item="Second fish"), 422)
    assert "This file does not exist, or it is not yours." in page.text
    assert typed(page)["item"] == "Second fish"
    page = manager._page(change(manager, expense, theirs, note="My note"), 422)
    assert "This file does not exist, or it is not yours." in page.text
    assert page.find("textarea", name="note").text == "My note"
    # The number of an expense comes from its post, so rows stand in no order of time.
    kept = {str(each.file_id) for each in rows(owner, member)}
    assert kept == {first, theirs} and len(rows(owner, member)) == 2


def test_without_scripts_the_receipt_comes_with_the_form_and_stays_through_errors(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    answer = add(browser, item="", photo=PICTURE)
    page = browser._page(answer, 422)
    assert "till.jpg" in page.text
    file_id = page.find("input", name="v-receipt", type="checkbox").attributes["value"]
    assert add(browser, file_id, item="Fish").status_code == 303
    assert str(only(owner, member).file_id) == file_id


def test_what_is_no_receipt_is_refused_at_its_field(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    answer = add(browser, photo=b"\x7fELF\x00\x01")
    page = browser._page(answer, 422)
    assert "This kind of file is not accepted." in page.find("div", id="notes-receipt").text
    assert rows(owner, member) == []


@pytest.mark.parametrize("how", ["no receipt", "gone"])
def test_a_receipt_outlives_what_could_not_take_its_place(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
    how: str,
) -> None:  # fmt: skip
    add(browser, upload(app, browser))
    expense = only(owner, member)
    name, sent = f"receipt-{expense.id.hex}", MultiDict[str, Any]()
    facts = {"item": expense.item, "amount": str(expense.amount), "currency": expense.currency,
             "date": expense.date.isoformat(), "category": expense.category, "version": "1",
             "csrf_token": manager.csrf_token, f"was-{name}": str(expense.file_id)}  # fmt: skip
    sent.update(facts)
    sent.add(f"v-{name}", "" if how == "no receipt" else str(new_id()))
    if how == "no receipt":
        sent.add(f"u-{name}", (BytesIO(b"\x7fELF\x00\x01"), "notes.txt"))
    answer = manager.client.post(f"{HOME}/{expense.id}/edit", data=sent)
    page = manager._page(answer, 422)
    [kept] = page.find_all("input", name=f"v-{name}", type="checkbox")
    assert kept.attributes["value"] == str(expense.file_id)
    again = {**facts, f"v-{name}": str(expense.file_id), "note": "seen"}
    assert manager.client.post(f"{HOME}/{expense.id}/edit", data=again).status_code == 303
    assert only(owner, member).file_id == expense.file_id
    assert file_of(owner, str(expense.file_id)).state == "kept"


# What a receipt says


@pytest.fixture
def vision(
    app: Flask, on: Services, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> ModelServer:
    """A model that looks at pictures, over real HTTP."""
    facts = {"ai_vision_model": "scripted-eyes", "openai_base_url": model_server.base_url}
    settings = on.settings.model_copy(update=facts)
    monkeypatch.setitem(app.extensions, "comanda", replace(on, settings=settings))
    return model_server


Read = Callable[..., dict[str, Any]]


@pytest.fixture
def read(app: Flask, browser: CheckedClient, vision: ModelServer) -> Read:
    """What the page is told of a photo, when the model answers so."""

    def read(said: str | dict[str, Any]) -> dict[str, Any]:
        text = said if isinstance(said, str) else json.dumps(said)
        vision.script(scenario(Say(text), when="receipt"))
        answer = browser.post(f"{HOME}/receipt-readings", file=upload(app, browser))
        assert answer.status_code == 200
        found: dict[str, Any] = answer.get_json()
        return found

    return read


def test_a_photo_proposes_what_it_says_to_a_model_that_sees_it(
    read: Read, vision: ModelServer, browser: CheckedClient
) -> None:
    found = read({"item": "Fish market", "amount": 30.5, "currency": "mxn", "date": "2026-11-20"})
    wanted = {"item": "Fish market", "amount": "30.50", "currency": "MXN", "date": "2026-11-20"}
    assert found["fields"] == wanted
    assert "Please check it." in found["told"]
    [call] = vision.calls
    assert call.body["model"] == "scripted-eyes"
    picture = call.messages[0]["content"][1]["image_url"]["url"]
    assert picture.startswith("data:image/jpeg;base64,")
    assert "A photo fills in the empty fields." in browser.page(f"{HOME}/new").text


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (
            'Sure! ```json\n{"item": "Ice", "amount": "4.50"}\n```',
            {"item": "Ice", "amount": "4.50"},
        ),
        ({"item": None, "amount": None, "currency": None, "date": None}, {}),
        ({"item": "Ice", "amount": -3}, {"item": "Ice"}),
        ({"item": "Ice", "amount": 1e12}, {"item": "Ice"}),
        ({"item": "Ice", "amount": "NaN"}, {"item": "Ice"}),
        ({"item": "Ice", "amount": 5, "currency": "JPY"}, {"item": "Ice"}),
        ({"item": ["Ice"], "amount": 5}, {"amount": "5.00"}),
        ({"item": "Ice", "date": "2199-01-01"}, {"item": "Ice"}),
        ({"item": "Ice", "date": "20 Nov"}, {"item": "Ice"}),
        ({"item": " Ice \n cubes ", "extra": 1}, {"item": "Ice cubes"}),
        ("I see a receipt.", {}),
        ('{"item": "Ice', {}),
        ("[]", {}),
    ],
)
def test_only_what_the_ledger_would_take_is_proposed(
    read: Read, said: Any, wanted: dict[str, str]
) -> None:
    found = read(said)
    assert found["fields"] == wanted
    assert ("could not be read" in found["told"]) == (not wanted)


@pytest.mark.parametrize(
    "step", [HttpError(500), HttpError(400), HttpError(429), HttpError(200), Page("<p>Welcome</p>")]
)
def test_a_model_that_fails_proposes_nothing(
    app: Flask, browser: CheckedClient, vision: ModelServer, step: HttpError | Page
) -> None:
    vision.script(scenario(step, when="receipt"))
    answer = browser.post(f"{HOME}/receipt-readings", file=upload(app, browser))
    assert answer.get_json()["fields"] == {}
    assert len(vision.calls) == 1, "it is asked once"


def test_a_slow_model_is_not_waited_for(
    app: Flask, browser: CheckedClient, vision: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipt_reading, "SECONDS", 0.3)
    vision.script(scenario([Stall(30), Say("{}")], when="receipt"))
    answer = browser.post(f"{HOME}/receipt-readings", file=upload(app, browser))
    assert "could not be read" in answer.get_json()["told"]
    [call] = vision.calls
    assert call.client_left.wait(10), "the connection is closed"
    assert receipt_reading.SECONDS == 0.3


def test_a_picture_larger_than_a_photo_is_left_to_people_and_one_of_a_person_is_read_at_a_time(
    app: Flask, browser: CheckedClient, vision: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty of 20 MB at once took 1.5 GB."""
    vision.script(scenario(Say('{"item": "Fish"}'), when="receipt"))
    file_id = upload(app, browser)
    held: list[str] = []
    monkeypatch.setattr(ExaminationQueue, "turn_of", lambda _queue, who: noted(held, who))
    read = browser.post(f"{HOME}/receipt-readings", file=file_id).get_json()
    assert read["fields"] == {"item": "Fish"}
    assert len(held) == 1 and held[0].startswith("receipt ")
    monkeypatch.setattr(receipt_reading, "MOST_BYTES", 100)
    told = browser.post(f"{HOME}/receipt-readings", file=file_id).get_json()["told"]
    assert "could not be read" in told
    assert len(vision.calls) == 1


@contextmanager
def noted(held: list[str], who: str) -> Iterator[None]:
    held.append(who)
    yield


def test_without_scripts_a_photo_fills_in_what_was_left_empty(
    owner: Database, member: Member, browser: CheckedClient, vision: ModelServer
) -> None:
    said = {"item": "Fish market", "amount": 30.5, "currency": "MXN", "date": "2026-11-20"}
    vision.script(scenario(Say(json.dumps(said)), when="receipt"))
    answer = add(browser, item="My own words", amount="", photo=PICTURE)
    page = browser._page(answer, 422)
    form = typed(page)
    assert (form["item"], form["amount"], form["date"]) == ("My own words", "30.50", "2026-11-20")
    assert page.text.count("Read from the receipt.") == 3
    assert "Say how much it was." not in page.text
    assert rows(owner, member) == []


def test_only_ones_own_fresh_picture_is_read_and_without_a_model_nothing(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
) -> None:  # fmt: skip
    mine, theirs = upload(app, browser), upload(app, manager)
    document = upload(app, browser, samples.pdf(), "bill.pdf")
    path = f"{HOME}/receipt-readings"
    for file in (theirs, document, str(new_id()), "x"):
        assert browser.post(path, file=file).status_code == 404, file
    assert browser.post(path, file=mine).get_json()["fields"] == {}
    assert browser.post(path, file=mine, token=False).status_code == 400
    assert "data-reads" not in browser.get(f"{HOME}/new").text
    add(browser, mine)
    assert browser.post(path, file=mine).status_code == 404


def test_a_deleted_expense_shows_no_receipt(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
) -> None:  # fmt: skip
    add(browser, upload(app, browser))
    expense = only(owner, member)
    manager.post(f"{HOME}/{expense.id}/delete", version=1)
    assert browser.get(f"{HOME}/{expense.id}/receipt").status_code == 404
    manager.post(f"{HOME}/{expense.id}/restore", version=2)
    assert browser.get(f"{HOME}/{expense.id}/receipt").status_code == 200
