"""One person's pages are made a few at a time; nobody else waits for them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event
from werkzeug.test import TestResponse

from app.accounts import pages_at_once
from app.accounts.pages_at_once import Crowded, PagesAtOnce
from app.accounts.tokens import hash_token
from app.db import Database
from app.jobs.system_threads import RealThreads
from tests.factories import CheckedClient, Member, make_section, make_user, sign_in

WAIT = 60.0
MANUAL = "/library/manual/milk"


class Held:
    """Work that goes on until it is let go; how often it has begun."""

    def __init__(self) -> None:
        self.begun, self.may_end = 0, Event()
        self.one_began = Event()

    def __call__(self, work: Callable[[], Any]) -> Any:
        self.begun += 1
        self.one_began.set()
        assert self.may_end.wait(WAIT)
        return work()


def test_no_more_than_so_many_of_one_person_are_made_at_once() -> None:
    turns = PagesAtOnce(at_once=2)
    turns.take("ana")
    turns.take("ana")
    with pytest.raises(Crowded):
        turns.take("ana", longest=0.01)
    turns.take("ben", longest=0.01)
    turns.give_back("ana")
    turns.take("ana", longest=0.01)
    for who in ("ana", "ana", "ben"):
        turns.give_back(who)
    assert turns._lines == {}


def test_who_waits_goes_on_as_soon_as_another_page_is_made() -> None:
    turns = PagesAtOnce(at_once=1)
    turns.take("ana")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(turns.take, "ana", WAIT)
        turns.give_back("ana")
        waiting.result(WAIT)
    turns.give_back("ana")
    assert turns._lines == {}


def test_whoever_asks_for_far_too_many_is_told_so() -> None:
    turns = PagesAtOnce(at_once=1, waiting=0)
    turns.take("ana")
    with pytest.raises(Crowded):
        turns.take("ana")
    turns.take("ben")


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def held(owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch) -> Held:
    """The first page waits for its long text to be drawn, and the second one for its turn."""
    make_section(owner, member.group_id, "milk", "Milk", f"{uuid.uuid4()}\n\n" + "- Cold.\n" * 2000)
    monkeypatch.setattr(pages_at_once, "_turns", PagesAtOnce(at_once=1, waiting=1))
    held = Held()
    monkeypatch.setattr(RealThreads, "run", lambda _threads, work: held(work))
    return held


@contextmanager
def two_looks(
    app: Flask, owner: Database, member: Member, held: Held
) -> Iterator[list[Future[TestResponse]]]:
    with ThreadPoolExecutor(2) as pool:
        looks = [pool.submit(sign_in(app, owner, member).get, MANUAL) for _ in range(2)]
        assert held.one_began.wait(WAIT)
        try:
            yield looks
        finally:
            held.may_end.set()


@pytest.mark.fault(61)
def test_one_persons_pages_wait_for_each_other_and_nobody_else_for_them(
    app: Flask, owner: Database, member: Member, held: Held
) -> None:
    colleague = sign_in(app, owner, make_user(owner, member.group_id))
    browser: CheckedClient = sign_in(app, owner, member)
    with two_looks(app, owner, member, held) as looks:
        assert colleague.get("/library/").status_code == 200
        # Static files are not among them, and what is posted has turns of its own.
        assert browser.get("/static/css/base.css").status_code == 200
        assert browser.post("/language", language="es").status_code < 400
        assert held.begun == 1
        held.may_end.set()
        assert [look.result(WAIT).status_code for look in looks] == [200, 200]
    assert pages_at_once._turns._lines == {}


@pytest.mark.fault(61)
def test_a_page_too_many_is_refused_in_the_persons_language(
    app: Flask, owner: Database, member: Member, held: Held
) -> None:
    browser: CheckedClient = sign_in(app, owner, member)
    with two_looks(app, owner, member, held):
        wait_until_two_are_counted()
        refused = browser.get("/library/?lang=es")
    assert refused.status_code == 429
    assert "demasiado a la vez" in refused.text


def wait_until_two_are_counted() -> None:
    for _ in range(1000):
        if any(count == 2 for _line, count in pages_at_once._turns._lines.values()):
            return
        Event().wait(0.01)
    raise AssertionError("the second page never came")


def test_what_is_posted_waits_for_its_turn_too(
    app: Flask, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_at_once, "_turns", PagesAtOnce(at_once=1, waiting=0))
    browser: CheckedClient = sign_in(app, owner, member)
    token = browser.csrf_token
    with browser.client.session_transaction() as session:
        lane = ("write", hash_token(session["_user_id"]))
    pages_at_once._turns.take(lane)
    refused = browser.post("/language", csrf_token=token, language="es")
    assert (refused.status_code, refused.mimetype) == (429, "text/plain")
    assert refused.headers["Retry-After"] == "1"
    pages_at_once._turns.give_back(lane)
    assert browser.post("/language", csrf_token=token, language="es").status_code < 400


@pytest.mark.fault(61)
def test_who_waits_or_is_refused_takes_no_connection(
    app: Flask, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser: CheckedClient = sign_in(app, owner, member)
    monkeypatch.setattr(pages_at_once, "_turns", PagesAtOnce(at_once=0, waiting=0))

    def connect(*_: object) -> None:
        raise AssertionError("the database was asked")

    engine = app.extensions["comanda"].database.engine
    event.listen(engine, "checkout", connect)
    try:
        assert browser.get("/chat").status_code == 429
        assert browser.post("/profile", name="Ana").status_code == 429
    finally:
        event.remove(engine, "checkout", connect)
    assert browser.get("/healthz").status_code == 200
