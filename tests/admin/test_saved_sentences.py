"""The saved sentences of the test bench: saved, changed by two at once, deleted, whose they are."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.assistant.models import SavedSentence
from app.assistant.prompts.saved_cases import MOST_SENTENCES
from app.db import Database, new_id
from tests.factories import CheckedClient, Member, Page, make_user, sign_in

HOME = "/admin/prompts/"


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


def saved(owner: Database, admin: Member) -> SavedSentence:
    """The only sentence of their group."""
    with owner.session() as session:
        query = select(SavedSentence).where(SavedSentence.group_id == admin.group_id)
        return session.scalars(query).one()


def send(browser: CheckedClient, page: Page, **typed: str) -> TestResponse:
    """Send the form of a sentence's page as a browser does, with what was typed into it."""
    form = page.find("form", class_="form")
    fields = form.find_all("textarea")
    sent = hidden(form) | {
        each.attributes["name"]: "".join(map(str, each.contents)).strip() for each in fields
    }
    [chosen] = [each for each in form.find_all("option") if "selected" in each.attributes]
    sent["language"] = chosen.attributes["value"]
    return browser.post(form.attributes["action"], **{**sent, **typed})


def delete(browser: CheckedClient, page: Page, address: str) -> TestResponse:
    return browser.post(
        f"{address}/delete", **hidden(page.find("form", action=f"{address}/delete"))
    )


def hidden(form: Any) -> dict[str, str]:
    fields = [each.attributes for each in form.find_all("input")]
    return {each["name"]: each["value"] for each in fields if each["name"] != "csrf_token"}


@pytest.fixture
def sentence(owner: Database, admin: Member, browser: CheckedClient) -> str:
    """The address of a saved sentence."""
    browser.post(f"{HOME}sentences/", message="Hi there", language="en", contains="hello\nwelcome")
    return f"{HOME}sentences/{saved(owner, admin).id}"


def test_a_sentence_is_changed_and_deleted(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    browser.post(f"{HOME}sentences/", message="Hi", language="en", tools="none")
    assert saved(owner, admin).expect == {"tools": []}
    address = f"{HOME}sentences/{saved(owner, admin).id}"
    page = browser.page(address)
    assert page.find("textarea", id="f-tools").text == "none"
    typed = {"message": "Hola", "language": "es", "tools": "", "contains": "hola, hola"}
    assert send(browser, page, **typed).status_code == 303
    changed = saved(owner, admin)
    assert (changed.text, changed.language) == ("Hola", "es")
    assert changed.expect == {"contains": ["hola, hola"]}
    page = browser.page(address)
    assert delete(browser, page, address).status_code == 303
    assert delete(browser, page, address).status_code == 404


def test_of_two_who_change_different_fields_of_a_sentence_both_changes_stay(
    owner: Database, admin: Member, browser: CheckedClient, sentence: str
) -> None:
    mine, theirs = (browser.page(sentence) for _ in range(2))
    assert send(browser, theirs, contains="hello\r\ntips").status_code == 303
    wrong = browser._page(send(browser, mine, message="Hi, please", parts="moon"), 422)
    assert send(browser, wrong, parts="").status_code == 303
    now = saved(owner, admin)
    assert (now.text, now.expect) == ("Hi, please", {"contains": ["hello", "tips"]})


def test_of_two_who_change_one_field_of_a_sentence_the_second_is_told_and_writes_nothing(
    owner: Database, admin: Member, browser: CheckedClient, sentence: str
) -> None:
    mine, theirs = (browser.page(sentence) for _ in range(2))
    assert send(browser, theirs, message="Good day", language="es").status_code == 303
    answer = send(browser, mine, message="Hi, please", contains="")
    page = browser._page(answer, 409)
    assert "Somebody else changed this in the meantime." in page.text
    assert page.find("dl", class_="theirs").text == "SentenceGood day"
    now = saved(owner, admin)
    assert (now.text, now.language) == ("Good day", "es")
    assert now.expect == {"contains": ["hello", "welcome"]}
    assert page.find("textarea", id="f-message").text == "Hi, please"
    assert page.find("textarea", id="f-contains").text == ""
    assert send(browser, page).status_code == 303
    now = saved(owner, admin)
    assert (now.text, now.language, now.expect) == ("Hi, please", "es", {})


def test_a_sentence_that_somebody_has_changed_is_not_deleted_unseen(
    owner: Database, admin: Member, browser: CheckedClient, sentence: str
) -> None:
    mine, theirs = (browser.page(sentence) for _ in range(2))
    assert send(browser, theirs, message="Good day").status_code == 303
    page = browser._page(delete(browser, mine, sentence), 409)
    assert "Somebody changed this in the meantime. Look at it again first." in page.text
    assert page.find("textarea", id="f-message").text == saved(owner, admin).text == "Good day"
    assert delete(browser, page, sentence).status_code == 303


def test_what_was_typed_into_a_sentence_that_somebody_has_deleted_is_not_lost(
    owner: Database, admin: Member, browser: CheckedClient, sentence: str
) -> None:
    mine, theirs = (browser.page(sentence) for _ in range(2))
    assert delete(browser, theirs, sentence).status_code == 303
    page = browser._page(send(browser, mine, message="Hi, please"), 404)
    assert "This was deleted in the meantime." in page.text
    assert page.find("textarea", id="f-message").text == "Hi, please"
    assert send(browser, page).status_code == 303
    assert saved(owner, admin).text == "Hi, please"


def test_a_page_that_does_not_say_what_it_showed_of_a_sentence_overwrites_nothing(
    owner: Database, admin: Member, browser: CheckedClient, sentence: str
) -> None:
    """As of a page that stood open while Comanda was upgraded."""
    assert browser.post(sentence, message="Bye", language="en").status_code == 409
    assert browser.post(f"{sentence}/delete").status_code == 409
    assert saved(owner, admin).text == "Hi there"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"message": ""}, "Write a message first."),
        ({"language": "fr"}, "Choose from the list."),
        ({"tools": "search_moon"}, "There is no search_moon here."),
        ({"not_tools": "none"}, "There is no none here."),
        ({"parts": "moon"}, "There is no moon here."),
        ({"contains": "x" * 201}, "That is too long."),
        ({"contains": "a\x00b"}, "Use only visible letters and symbols."),
    ],
)
def test_a_sentence_that_cannot_be_is_refused_in_words(
    browser: CheckedClient, wrong: dict[str, Any], said: str
) -> None:
    form: dict[str, Any] = {"message": "Hello", "language": "en"} | wrong
    answered = browser.post(f"{HOME}sentences/", **form)
    assert answered.status_code == 422
    assert said in answered.text


def test_the_same_sentence_is_saved_once_and_not_too_many_are(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    form: dict[str, Any] = {"message": "Hello", "language": "en"}
    assert browser.post(f"{HOME}sentences/", **form).status_code == 303
    again = browser.post(f"{HOME}sentences/", **form)
    assert (again.status_code, "saved already" in again.text) == (422, True)
    with owner.transaction() as session:
        for number in range(MOST_SENTENCES - 1):
            text = f"Number {number}"
            session.add(SavedSentence(group_id=admin.group_id, text=text, language="en"))
    full = browser.post(f"{HOME}sentences/", message="One more", language="en")
    assert full.status_code == 409
    assert "Delete one first." in full.text


def test_another_groups_sentence_is_not_there(owner: Database, browser: CheckedClient) -> None:
    theirs = make_user(owner, role="admin")
    with owner.transaction() as session:
        sentence = SavedSentence(group_id=theirs.group_id, text="Hello", language="en")
        session.add(sentence)
    address = f"{HOME}sentences/{sentence.id}"
    assert browser.get(address).status_code == 404
    assert browser.post(address, message="x", language="en").status_code == 404
    assert browser.post(f"{address}/delete").status_code == 404
    assert browser.get(f"{address}/delete").status_code == 405
    assert "Hello" not in browser.page(f"{HOME}sentences/").text


def test_a_manager_has_no_sentences(app: Flask, owner: Database, admin: Member) -> None:
    browser = sign_in(app, owner, make_user(owner, admin.group_id, "manager"))
    some = f"{HOME}sentences/{new_id()}"
    assert browser.get(some).status_code == 403
    assert browser.post(some).status_code == 403
    assert browser.post(f"{some}/delete").status_code == 403
