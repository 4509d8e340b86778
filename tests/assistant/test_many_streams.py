"""How many streams one person may have, and all people together; others go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask, Response
from sqlalchemy import event
from werkzeug.test import EnvironBuilder

from app.accounts import concurrency_limit
from app.accounts.concurrency_limit import Lane, Lanes
from app.assistant.web import stream
from app.assistant.web.stream import Place
from app.db import Database
from tests.assistant.test_chat_pages import frames
from tests.factories import CheckedClient, Member, make_thread, make_user, sign_in

MOST = 3


@pytest.fixture
def few_streams(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three streams a person, whose clients are looked after often."""
    shared = app.extensions["comanda"]
    few = {"streams_per_person": MOST, "stream_heartbeat_seconds": 0.2}
    settings = shared.settings.model_copy(update=few)
    monkeypatch.setitem(app.extensions, "comanda", replace(shared, settings=settings))


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, language="es")


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    return sign_in(app, owner, member)


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    return make_thread(database, member)


def open_stream(browser: CheckedClient, thread_id: UUID) -> Iterator[str]:
    """A stream that has begun."""
    opened = frames(browser, f"/chat/{thread_id}/events")
    next(opened)
    return opened


def close(opened: Iterator[str]) -> None:
    opened.close()  # type: ignore[attr-defined]


def status_of(browser: CheckedClient, thread_id: UUID) -> int:
    with browser.client.get(f"/chat/{thread_id}/events") as answer:
        return answer.status_code


class Unread:
    """A stream that was answered, and of which nothing was read."""

    def __init__(self, app: Flask, path: str, headers: dict[str, str]) -> None:
        self.status = 0
        environ = EnvironBuilder(path, headers=headers).get_environ()
        self._answer: Any = app.wsgi_app(environ, self._start)

    def _start(self, status: str, _headers: Any, _error: Any = None) -> Callable[[bytes], None]:
        self.status = int(status.split(maxsplit=1)[0])
        return lambda _data: None

    def close(self) -> None:
        self._answer.close()


@pytest.fixture
def ask_unread(app: Flask, browser: CheckedClient, thread_id: UUID) -> Callable[[], Unread]:
    """Asks for the person's stream, as a server does whose client has gone meanwhile."""
    cookie = browser.client.get_cookie("comanda")
    assert cookie
    headers = {"Cookie": f"comanda={cookie.value}"}
    return lambda: Unread(app, f"/chat/{thread_id}/events", headers)


@contextmanager
def asked_of_the_database(app: Flask) -> Iterator[list[str]]:
    """The statements that the app sends within this block."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    engine = app.extensions["comanda"].database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


def check_no_place_is_taken() -> None:
    assert not Place.taken
    assert not Place.taken_by


@pytest.mark.fault(34)
def test_one_stream_too_many_is_refused_with_when_to_come_back(
    few_streams: None, browser: CheckedClient, thread_id: UUID
) -> None:
    opened = [open_stream(browser, thread_id) for _ in range(MOST)]
    spanish = {"Accept-Language": "es"}
    answer = browser.client.get(f"/chat/{thread_id}/events", headers=spanish)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) >= 10
    # Nobody draws it: a page would cost what is spared.
    assert answer.mimetype == "text/plain"
    assert answer.text.startswith("Comanda está abierta en demasiados lugares a la vez. Cierra")
    close(opened.pop())
    opened.append(open_stream(browser, thread_id))
    for each in opened:
        close(each)
    check_no_place_is_taken()


@pytest.mark.fault(30)
def test_a_stream_too_many_is_refused_before_the_database_is_asked(
    app: Flask, few_streams: None, browser: CheckedClient, thread_id: UUID
) -> None:
    opened = [open_stream(browser, thread_id) for _ in range(MOST)]
    with asked_of_the_database(app) as statements:
        assert [status_of(browser, thread_id) for _ in range(50)] == [429] * 50
        assert statements == []
    close(opened.pop())
    with asked_of_the_database(app) as statements:
        assert status_of(browser, thread_id) == 200
        assert statements
    for each in opened:
        close(each)


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often something waited for its turn."""
    counted: Counter[str] = Counter()
    wait = stream._refusals.wait

    def count() -> None:
        counted["waited"] += 1
        wait()

    monkeypatch.setattr(stream._refusals, "wait", count)
    return counted


@pytest.mark.fault(30)
def test_many_streams_of_one_person_are_opened_or_refused_in_turn(
    app: Flask, few_streams: None, browser: CheckedClient, thread_id: UUID, member: Member,
    paces: Counter[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    lanes = Lanes()
    monkeypatch.setattr(concurrency_limit, "_lanes", lanes)
    entered: list[Lane] = []
    enter = lanes.enter
    monkeypatch.setattr(
        lanes, "enter", lambda lane, **more: entered.append(lane) or enter(lane, **more)
    )
    opened = [open_stream(browser, thread_id) for _ in range(MOST)]
    assert entered.count(("read", member.user_id)) == MOST
    # One that has begun stands in no lane.
    assert lanes._entered == {}
    assert not paces
    assert [status_of(browser, thread_id) for _ in range(3)] == [429] * 3
    assert paces["waited"] == 3
    assert lanes._entered == {}
    for each in opened:
        close(each)
    check_no_place_is_taken()


def test_a_process_that_is_full_says_so_before_it_asks_the_database(
    app: Flask, few_streams: None, browser: CheckedClient, thread_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    opened = open_stream(browser, thread_id)
    monkeypatch.setattr(stream, "MOST_STREAMS", 1)
    with asked_of_the_database(app) as statements:
        assert status_of(browser, thread_id) == 503
        assert statements == []
    close(opened)


def test_an_answer_counts_until_it_is_closed_though_nothing_of_it_was_read(
    few_streams: None, ask_unread: Callable[[], Unread]
) -> None:
    answers = [ask_unread() for _ in range(MOST)]
    assert [answer.status for answer in answers] == [200] * MOST
    assert ask_unread().status == 429
    answers.pop().close()
    answers.append(ask_unread())
    assert answers[-1].status == 200
    for answer in answers:
        answer.close()
        answer.close()
    check_no_place_is_taken()


def test_what_is_refused_or_fails_keeps_no_place(
    app: Flask, few_streams: None, browser: CheckedClient, ask_unread: Callable[[], Unread],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for _ in range(MOST + 1):
        assert browser.client.get(f"/chat/{uuid4()}/events").status_code == 404
        assert app.test_client().get(f"/chat/{uuid4()}/events").status_code == 303
        unknown = {"Authorization": "Bearer comanda_nobody"}
        path = f"/chat/{uuid4()}/events"
        assert app.test_client().get(path, headers=unknown).status_code == 303
    check_no_place_is_taken()

    def fail(_response: Response) -> Response:
        raise OSError("no space left")

    monkeypatch.setitem(app.after_request_funcs, None, [fail])
    with pytest.raises(OSError, match="no space left"):
        ask_unread()
    check_no_place_is_taken()


def test_a_new_conversation_or_another_browser_brings_no_more(
    app: Flask, owner: Database, database: Database, few_streams: None, member: Member,
    browser: CheckedClient,
) -> None:  # fmt: skip
    opened = [open_stream(browser, make_thread(database, member)) for _ in range(MOST)]
    assert status_of(sign_in(app, owner, member), make_thread(database, member)) == 429
    for each in opened:
        close(each)


@pytest.mark.fault(34)
def test_many_sign_ins_of_one_person_bring_no_more_before_the_database_is_asked(
    app: Flask, owner: Database, few_streams: None, member: Member, browser: CheckedClient,
    thread_id: UUID,
) -> None:  # fmt: skip
    others = [sign_in(app, owner, member) for _ in range(3)]
    for each in others:
        # The process knows whose it is.
        assert each.get("/chats").status_code == 200
    opened = [open_stream(browser, thread_id) for _ in range(MOST)]
    with asked_of_the_database(app) as statements:
        assert [status_of(each, uuid4()) for each in others] == [429] * 3
        assert statements == []
    for each in opened:
        close(each)


def test_a_stream_of_nothing_is_refused_in_words_alone(browser: CheckedClient) -> None:
    answer = browser.get(f"/chat/{uuid4()}/events")
    assert (answer.status_code, answer.mimetype) == (404, "text/plain")


@pytest.mark.fault(34)
def test_others_have_their_own_streams_meanwhile(
    app: Flask, owner: Database, database: Database, few_streams: None, browser: CheckedClient,
    member: Member, thread_id: UUID,
) -> None:  # fmt: skip
    opened = [open_stream(browser, thread_id) for _ in range(MOST)]
    other = make_user(owner, member.group_id)
    theirs = open_stream(sign_in(app, owner, other), make_thread(database, other))
    assert next(theirs).startswith(":")
    for each in (*opened, theirs):
        close(each)


def test_asking_for_the_head_of_a_stream_keeps_no_place(
    few_streams: None, browser: CheckedClient, thread_id: UUID
) -> None:
    for _ in range(MOST + 1):
        assert browser.client.head(f"/chat/{thread_id}/events").status_code == 200
    assert status_of(browser, thread_id) == 200


@pytest.mark.fault(34)
def test_a_process_with_as_many_streams_as_it_can_serve_says_503(
    app: Flask, owner: Database, database: Database, few_streams: None, browser: CheckedClient,
    thread_id: UUID, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(stream, "MOST_STREAMS", 1)
    opened = open_stream(browser, thread_id)
    other = make_user(owner)
    other_thread = make_thread(database, other)
    assert status_of(sign_in(app, owner, other), other_thread) == 503
    close(opened)
    assert status_of(sign_in(app, owner, other), other_thread) == 200


def test_a_process_serves_no_more_streams_than_it_may_open_files() -> None:
    assert 1 <= stream.most_streams() <= stream.MOST_STREAMS
