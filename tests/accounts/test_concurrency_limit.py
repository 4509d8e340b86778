"""One person's pages are made a few at a time; nobody else waits for them."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from io import BytesIO
from operator import attrgetter
from threading import Event
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, event, update
from werkzeug.exceptions import BadRequest
from werkzeug.test import TestResponse

from app.accounts import concurrency_limit
from app.accounts.concurrency_limit import (
    AT_ONCE,
    BYTES_A_TURN,
    EVERY_SECONDS,
    FEW_OTHERS,
    LONGEST_TURN_SECONDS,
    PAUSE_SECONDS,
    PAUSES_A_COST,
    TURNS_OF,
    Crowded,
    KnownTokens,
    Lane,
    Lanes,
)
from app.accounts.models import Membership, SignIn
from app.assistant.models import Message
from app.db import Database, new_id
from app.errors import NotFound, Unavailable
from app.jobs.system_threads import RealThreads
from app.web import fair_queue
from app.web.fair_queue import Pace, has_left
from app.web.request_body import LARGEST_BODY, LARGEST_SIGNED_OUT
from tests.assistant.processes import wait_until
from tests.factories import (
    PASSWORD,
    CheckedClient,
    Member,
    api_token,
    ask,
    make_section,
    make_user,
    sign_in,
)

WAIT = 60.0
ADDRESS = ("unknown", "192.0.2.9")
MANUAL = "/library/manual/milk"
UNKNOWN = (
    "/chat",
    "/invitations/x",
    "/reset-password/x",
    f"/chat/{uuid.uuid4()}/events",
    "/no-page",
)


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


class Broken(BytesIO):
    """A body in pieces of which the first has no size."""

    def read(self, _size: int | None = -1) -> bytes:
        raise BadRequest


ANA, BEN = ("read", "ana"), ("read", "ben")


def test_no_more_than_so_many_of_one_person_are_answered_at_once() -> None:
    lanes = Lanes()
    assert not lanes.enter(ANA)
    assert not lanes.enter(ANA)
    with pytest.raises(Unavailable):
        lanes.enter(ANA, longest=0.01)
    assert not lanes.enter(BEN)
    lanes.leave(ANA)
    assert not lanes.enter(ANA)
    for lane in (ANA, ANA, BEN):
        lanes.leave(lane)
    assert lanes._entered == {}


def test_who_waits_goes_on_as_soon_as_another_one_is_answered(one_at_once: None) -> None:
    lanes = Lanes()
    lanes.enter(ANA)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lanes.enter, ANA, WAIT)
        while len(lanes._entered) < 1 or lanes._entered[ANA][1] < 2:
            Event().wait(0.01)
        lanes.leave(ANA)
        assert waiting.result(WAIT) == 1
    lanes.leave(ANA)
    assert lanes._entered == {}


@pytest.mark.fault(63)
def test_somebody_with_a_form_waits_for_nothing_that_a_script_sends(one_at_once: None) -> None:
    """Be it without a cookie, or with one for hundreds of connections."""
    lanes, let_in = Lanes(), list[str]()
    lanes.enter(ADDRESS)

    def wait(who: str, visitor: str | None) -> None:
        lanes.enter(ADDRESS, visitor=visitor)
        let_in.append(who)

    sent = [("script", None)] * 6 + [("script", "its one cookie")] * 6
    sent += [("somebody", "hers"), ("another", None)]
    with ThreadPoolExecutor(len(sent)) as pool:
        for number, (who, visitor) in enumerate(sent):
            pool.submit(wait, who, visitor)
            wait_until(lambda behind=number: lanes._entered[ADDRESS][1] == behind + 2)
        for done in range(len(sent)):
            lanes.leave(ADDRESS)
            wait_until(lambda before=done: len(let_in) == before + 1)
        lanes.leave(ADDRESS)
    assert let_in.index("somebody") <= 4
    # Without a cookie one is let in as one came.
    assert let_in.index("another") <= 13
    assert lanes._entered == {}


def test_who_has_given_up_leaves_no_trace_in_the_order_of_the_others(one_at_once: None) -> None:
    lanes = Lanes()
    lanes.enter(ADDRESS)
    with pytest.raises(Unavailable):
        lanes.enter(ADDRESS, longest=0.01, visitor="gone")
    lanes.leave(ADDRESS)
    lanes.enter(ADDRESS, longest=0.01, visitor="there")
    lanes.leave(ADDRESS)
    assert lanes._entered == {}


@pytest.mark.fault(63)
def test_who_leaves_while_they_wait_keeps_no_place_from_others(
    one_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds that ask, leave and come back filled the lane for 30 s each."""
    monkeypatch.setattr(concurrency_limit, "LOOK_SECONDS", 0.01)
    lanes, here, there = Lanes(), *socket.socketpair()
    lanes.enter(ADDRESS)
    with ThreadPoolExecutor(1) as pool, here:
        waiting = pool.submit(lanes.enter, ADDRESS, WAIT, None, partial(has_left, here))
        wait_until(lambda: lanes._entered[ADDRESS][1] == 2)
        assert not waiting.done()
        there.close()
        with pytest.raises(Unavailable):
            waiting.result(WAIT)
    lanes.leave(ADDRESS)
    assert lanes._entered == {}


@pytest.mark.fault(63)
def test_a_token_that_nobody_knows_waits_with_the_device_that_it_comes_from(
    app: Flask, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One dead cookie on hundreds of connections kept everybody new at the address out."""
    entered: list[Lane] = []
    real = concurrency_limit._lanes.enter

    def enter(lane: Lane, **more: Any) -> int:
        entered.append(lane)
        return real(lane, **more)

    browser = sign_in(app, owner, member)
    monkeypatch.setattr(concurrency_limit, "_known", KnownTokens())
    monkeypatch.setattr(concurrency_limit._lanes, "enter", enter)
    browser.get("/chats")
    assert entered[0] == ("token", "127.0.0.1")
    monkeypatch.setattr(concurrency_limit, "_known", KnownTokens())
    monkeypatch.setattr(concurrency_limit, "account_of_device", lambda: "account of a device")
    entered.clear()
    browser.get("/chats")
    assert entered[0] == ("token", "account of a device")


@pytest.mark.fault(63)
def test_who_brings_the_cookie_of_a_form_has_a_turn_of_their_own(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[object] = []
    real = concurrency_limit._lanes.enter

    def enter(lane: Any, visitor: object = None, **more: Any) -> int:
        entered.append(visitor)
        return real(lane, visitor=visitor, **more)

    monkeypatch.setattr(concurrency_limit._lanes, "enter", enter)
    ana, ben = app.test_client(), app.test_client()
    for _time in range(2):
        for browser in (ana, ben):
            browser.get("/sign-in")
    assert entered[:2] == [None, None]
    assert all(entered[2:]) and entered[2] != entered[3]


def test_those_of_one_person_are_let_in_as_they_came(one_at_once: None) -> None:
    lanes, let_in = Lanes(), list[int]()
    lanes.enter(ANA)

    def wait(number: int) -> None:
        lanes.enter(ANA)
        let_in.append(number)

    with ThreadPoolExecutor(5) as pool:
        for number in range(5):
            pool.submit(wait, number)
            wait_until(lambda behind=number: lanes._entered[ANA][1] == behind + 2)
        for done in range(5):
            lanes.leave(ANA)
            wait_until(lambda before=done: len(let_in) == before + 1)
        lanes.leave(ANA)
    assert let_in == [0, 1, 2, 3, 4]


def test_who_has_waited_too_long_takes_no_place(one_at_once: None) -> None:
    lanes, lane = Lanes(), ("unknown", "192.0.2.1")
    lanes.enter(lane)
    with pytest.raises(Unavailable):
        lanes.enter(lane, longest=0.01)
    lanes.leave(lane)
    lanes.enter(lane, longest=0.01)
    lanes.leave(lane)
    assert lanes._entered == {}


def test_whoever_asks_for_far_too_many_is_told_so(one_at_once: None) -> None:
    lanes = Lanes(waiting=0)
    lanes.enter(ANA)
    with pytest.raises(Crowded):
        lanes.enter(ANA)
    lanes.enter(BEN)


@pytest.mark.fault(61)
def test_who_brings_much_at_once_waits_for_what_it_costs() -> None:
    """Long pages of one person, one after the other, would leave nobody else the process."""
    lanes = Lanes()
    assert [lanes.pause_of(ANA, others) for others in (0, 1)] == [0.0, PAUSE_SECONDS]
    lanes.enter(ANA)
    lanes.enter(ANA)
    lanes.leave(ANA, cost=0.02)
    pause = lanes.pause_of(ANA, FEW_OTHERS + 1)
    assert pause == pytest.approx(0.02 * PAUSES_A_COST)
    # What a page asks for with its parts waits for no such thing, and no one for another's.
    assert lanes.pause_of(ANA, FEW_OTHERS) == PAUSE_SECONDS * FEW_OTHERS
    assert lanes.pause_of(BEN, FEW_OTHERS + 1) == PAUSE_SECONDS * (FEW_OTHERS + 1)
    lanes.leave(ANA, cost=100.0)
    assert lanes._costs == {}
    # Of an address nobody knows whose they are.
    address = ("unknown", "192.0.2.1")
    lanes.enter(address)
    lanes.enter(address)
    lanes.leave(address, cost=100.0)
    assert lanes.pause_of(address, FEW_OTHERS + 1) == PAUSE_SECONDS * (FEW_OTHERS + 1)


@pytest.mark.fault(61)
def test_a_long_body_takes_more_turns_than_a_page(
    app: Flask, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[float] = []
    monkeypatch.setattr(
        concurrency_limit._paces, "wait", lambda _who, count=1.0: turns.append(count)
    )
    browser = sign_in(app, owner, member)
    browser.get("/chats")
    # A process that has not seen a token yet counts it as a stranger's.
    browser.get("/chats")
    assert turns[-1] == 1
    browser.post("/expenses/new", note="a" * LARGEST_BODY)
    assert turns[-1] == 1 + LARGEST_BODY / BYTES_A_TURN
    # What only says that it is a petabyte keeps nobody of its address waiting for ever.
    app.test_client().post("/sign-in", environ_overrides={"CONTENT_LENGTH": str(10**15)})
    assert turns[-1] == TURNS_OF["page"] * (1 + LARGEST_SIGNED_OUT / BYTES_A_TURN)


def test_a_flood_of_probes_or_files_holds_up_no_page(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guest's /healthz without a pause made a colleague's page and its files wait for 4 s."""
    paces = Pace(EVERY_SECONDS, LONGEST_TURN_SECONDS)
    monkeypatch.setattr(concurrency_limit, "_paces", paces)
    monkeypatch.setattr(fair_queue.gevent, "sleep", lambda _seconds: None)
    address = "192.0.2.7"
    visitor = app.test_client()
    for _time in range(20):
        visitor.get("/healthz", environ_overrides={"REMOTE_ADDR": address})
    assert paces.is_behind(("probe", address))
    assert not any(paces.is_behind((kind, address)) for kind in ("static", "page"))
    for _time in range(20):
        visitor.get("/static/none.css", environ_overrides={"REMOTE_ADDR": address})
    assert paces.is_behind(("static", address)) and not paces.is_behind(("page", address))
    # Of all three together no more are answered than of one.
    waits: list[float] = []
    monkeypatch.setattr(paces, "wait", lambda _who, turns=1.0: waits.append(turns))
    visitor.get("/sign-in", environ_overrides={"REMOTE_ADDR": address})
    assert waits == [3 * TURNS_OF["page"]]


@pytest.fixture(autouse=True)
def refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency_limit, "REFUSED_SECONDS", 0.0)


@pytest.fixture
def one_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency_limit, "AT_ONCE", dict.fromkeys(AT_ONCE, 1))


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def held(
    owner: Database, member: Member, one_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> Held:
    """The first page waits for its long text to be drawn, and the second one in its lane."""
    make_section(owner, member.group_id, "milk", "Milk", f"{uuid.uuid4()}\n\n" + "- Cold.\n" * 2000)
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes(waiting=1))
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
        # Static files are not among them, and what is posted has a lane of its own.
        assert browser.get("/static/css/base.css").status_code == 200
        assert browser.post("/language", language="es").status_code < 400
        assert held.begun == 1
        held.may_end.set()
        assert [look.result(WAIT).status_code for look in looks] == [200, 200]
    assert concurrency_limit._lanes._entered == {}


@pytest.mark.fault(61)
def test_a_page_too_many_is_refused_in_the_language_of_its_link(
    app: Flask, owner: Database, member: Member, held: Held
) -> None:
    browser: CheckedClient = sign_in(app, owner, member)
    with two_looks(app, owner, member, held):
        wait_until_two_are_counted()
        refused = browser.get("/library/?lang=es")
    assert refused.status_code == 429
    assert "demasiado a la vez" in refused.text


@contextmanager
def no_connection(app: Flask) -> Iterator[None]:
    """Nothing in this block may ask the database."""

    def connect(*_: object) -> None:
        raise AssertionError("the database was asked")

    engine = app.extensions["comanda"].database.engine
    event.listen(engine, "checkout", connect)
    try:
        yield
    finally:
        event.remove(engine, "checkout", connect)


def test_what_is_posted_waits_for_its_turn_too(
    browser: CheckedClient, member: Member, one_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes(waiting=0))
    token = browser.csrf_token
    lane = ("write", member.user_id)
    concurrency_limit._lanes.enter(lane)
    refused = browser.post("/language", csrf_token=token, language="es")
    assert (refused.status_code, refused.mimetype) == (429, "text/plain")
    assert refused.headers["Retry-After"] == "1"
    assert refused.headers["X-Request-ID"]
    api = browser.client.post("/api/ask", json={"message": "hi"})
    assert (api.status_code, api.get_json()["code"]) == (429, "too_many")
    concurrency_limit._lanes.leave(lane)
    assert browser.post("/language", csrf_token=token, language="es").status_code < 400


def test_turns_are_a_persons_too_whatever_they_are_signed_in_with(
    app: Flask,
    owner: Database,
    member: Member,
    browser: CheckedClient,
    one_at_once: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes(waiting=0))
    concurrency_limit._lanes.enter(("read", member.user_id))
    refused = browser.get("/chat?lang=es")
    assert (refused.status_code, refused.mimetype) == (429, "text/plain")
    assert "demasiado a la vez" in refused.text
    header = {"Authorization": f"Bearer {api_token(owner, member)}"}
    assert app.test_client().get("/api/usage", headers=header).status_code == 429


def test_who_had_to_wait_is_looked_up_again(
    app: Flask, owner: Database, member: Member, one_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes())
    admin = make_user(owner, member.group_id, "admin")
    browser = sign_in(app, owner, admin)
    lane = ("read", admin.user_id)
    concurrency_limit._lanes.enter(lane)
    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(browser.get, "/people")
        wait_until_two_are_counted()
        with owner.transaction() as session:
            demoted = update(Membership).where(Membership.user_id == admin.user_id)
            session.execute(demoted.values(role="staff"))
        concurrency_limit._lanes.leave(lane)
        assert looking.result(WAIT).status_code == 403


def test_a_form_with_files_has_limits_of_its_own_and_a_page_that_says_it_is_one_has_not(
    browser: CheckedClient, member: Member, one_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes(waiting=0))
    held: list[dict[Any, Any]] = []

    def look(*_: Any) -> Any:
        held.append(dict(concurrency_limit._lanes._entered))
        raise NotFound("It is enough.")

    monkeypatch.setattr("app.files.views.read_rules", look)
    upload = {"file": (BytesIO(b"%PDF-1.7"), "a.pdf")}
    assert browser.post("/files", **upload).status_code == 404
    # While it came its person's other requests went on; what it brought is answered in turn.
    assert list(held[0]) == [("write", member.user_id)]
    concurrency_limit._lanes.enter(("write", member.user_id))
    multipart = {"Content-Type": "multipart/form-data; boundary=x"}
    assert browser.client.post("/profile", headers=multipart, data=b"--x--").status_code == 429
    upload = {"file": (BytesIO(b"%PDF-1.7"), "a.pdf")}
    assert browser.post("/files", **upload).status_code == 429
    assert len(held) == 1


@pytest.mark.fault(63)
def test_whoever_nobody_knows_waits_by_address_before_the_database_is_asked(
    app: Flask, owner: Database, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert browser.get("/chat").status_code == 200
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes(waiting=0))
    for _ in range(AT_ONCE["unknown"]):
        concurrency_limit._lanes.enter(("unknown", "127.0.0.1"))
    with no_connection(app):
        for number, address in enumerate(UNKNOWN):
            made_up = {"Authorization": f"Bearer {number}"}
            assert app.test_client().get(address).status_code == 429
            assert app.test_client().get(address, headers=made_up).status_code == 429
    elsewhere = app.test_client().get("/sign-in", environ_base={"REMOTE_ADDR": "10.0.0.9"})
    assert elsewhere.status_code == 200
    # Whoever is known does not wait for those who are not.
    assert browser.get("/chat").status_code == 200


@pytest.fixture
def held_when(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[set[str]]]:
    """The kinds of lanes that are entered each time something is called."""

    def watch(target: str, name: str) -> list[set[str]]:
        held: list[set[str]] = []
        original = attrgetter(name)(import_module(target))

        def look(*given: Any, **named: Any) -> Any:
            held.append({kind for kind, _who in concurrency_limit._lanes._entered})
            return original(*given, **named)

        monkeypatch.setattr(f"{target}.{name}", look)
        return held

    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes())
    return watch


def test_who_is_found_has_given_back_the_turn_of_the_address(
    browser: CheckedClient, held_when: Callable[..., list[set[str]]]
) -> None:
    looked_up = held_when("app.accounts.person", "find_person")
    made = held_when("app.assistant.web.chat_views", "db_session")
    for _ in range(2):
        assert browser.get("/chat").status_code == 200
    assert looked_up == [{"token"}, {"read"}]
    assert made
    assert all(each == {"read"} for each in made)
    assert concurrency_limit._lanes._entered == {}


@pytest.mark.parametrize("token", ["", "Bearer made-up"])
def test_what_a_stranger_posts_is_read_before_it_waits_for_the_address(
    app: Flask, held_when: Callable[..., list[set[str]]], token: str
) -> None:
    """Two who post slowly would keep everybody behind the address from signing in."""
    read = held_when("app.web.request_body", "BodyRequest.get_data")
    tried = held_when("app.accounts.account_limits", "count_sign_in")
    stranger = CheckedClient(app.test_client())
    form = {"csrf_token": stranger.csrf_token, "email": "ana@example.org"}
    headers = {"Authorization": token} if token else {}
    assert stranger.client.post("/sign-in", data=form, headers=headers).status_code == 422
    assert read[0] == set()
    assert tried == [{"unknown"}]


@pytest.mark.parametrize(
    ("size", "kind", "lane"),
    [
        (20, "application/x-www-form-urlencoded", set()),
        (100_000, "application/x-www-form-urlencoded", {"body"}),
        (20, "multipart/form-data", set()),
        (100_000, "multipart/form-data", set()),
    ],
)
def test_what_somebody_posts_is_read_before_it_waits_in_their_lane(
    browser: CheckedClient, held_when: Callable[..., list[set[str]]], size: int, kind: str,
    lane: set[str],
) -> None:  # fmt: skip
    """Half-sent posts of a stolen sign-in would keep its owner from ending it."""
    assert browser.get("/chat").status_code == 200
    read = held_when("app.web.request_body", "BodyRequest._get_stream_for_parsing")
    first = held_when("app.web.request_body", "BodyRequest.get_data")
    done = held_when("app.accounts.views", "_keep_choice")
    form = {"csrf_token": browser.csrf_token, "theme": "dark", "more": "x" * size}
    assert browser.client.post("/theme", data=form, content_type=kind).status_code == 303
    assert (read if size > 1_000 else first)[0] == lane
    assert done == [{"write"}]


def test_long_json_is_read_in_a_lane_of_its_own(
    browser: CheckedClient, held_when: Callable[..., list[set[str]]]
) -> None:
    assert browser.get("/chat").status_code == 200
    read = held_when("app.web.request_body", "BodyRequest.get_data")
    done = held_when("app.assistant.web.chat_views", "post_step")
    headers = {"X-CSRFToken": browser.csrf_token}
    path, body = f"/chat/{browser.new_id()}/messages", {"more": "x" * 100_000}
    assert browser.client.post(path, json=body, headers=headers).status_code == 422
    assert (read[0], done) == ({"body"}, [{"write"}])


def test_a_body_in_broken_pieces_is_refused_in_the_lane_of_the_address(
    app: Flask, held_when: Callable[..., list[set[str]]]
) -> None:
    held = held_when("app.web.pages", "render_template")
    chunked = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    answer = app.test_client().post("/sign-in", input_stream=Broken(), environ_overrides=chunked)
    assert answer.status_code == 400
    assert held == [{"unknown"}]


@pytest.mark.fault(63)
def test_who_comes_in_beside_strangers_at_the_same_address_does_not_wait_for_them(
    app: Flask, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restaurant's guests are behind its own address."""
    known, used_before = sign_in(app, owner, member), CheckedClient(app.test_client())
    form = {"email": member.email, "password": PASSWORD}
    assert used_before.post("/sign-in", **form).status_code == 303
    with used_before.client.session_transaction() as cookie:
        cookie.clear()
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes(waiting=0))
    for _ in range(AT_ONCE["unknown"]):
        concurrency_limit._lanes.enter(("unknown", "127.0.0.1"))
    assert app.test_client().get("/sign-in").status_code == 429
    # The process has not seen this token before: it has started anew, say.
    assert known.get("/chat").status_code == 200
    assert used_before.get("/sign-in").status_code == 200
    anew = CheckedClient(used_before.client)
    assert anew.post("/sign-in", **form).status_code == 303


def test_a_sign_in_that_has_ended_is_a_strangers(
    app: Flask, owner: Database, member: Member, held_when: Callable[..., list[set[str]]]
) -> None:
    browser = sign_in(app, owner, member)
    assert browser.get("/chat").status_code == 200
    with owner.transaction() as session:
        session.execute(delete(SignIn).where(SignIn.user_id == member.user_id))
    looked_up = held_when("app.accounts.person", "find_person")
    for _ in range(2):
        assert browser.get("/chat").status_code == 303
    assert looked_up == [{"read"}, {"token"}]


@pytest.mark.parametrize("address", ["/static/none.css", "/static/../x"])
def test_a_file_that_is_not_there_is_answered_without_looking_anybody_up(
    app: Flask, address: str
) -> None:
    with no_connection(app):
        made_up = {"Authorization": "Bearer made-up"}
        assert app.test_client().get(address, headers=made_up).status_code == 404


def test_tokens_that_were_not_sent_for_long_are_known_no_more() -> None:
    known, person = KnownTokens(most=2), new_id()
    for token in ("a", "b", "a", "c"):
        known.add(token, person)
    assert [known.find(token) for token in ("a", "b", "c")] == [person, None, person]
    known.forget("a")
    known.forget("b")
    assert known.find("a") is None


def test_who_waits_for_an_answer_or_sends_a_long_file_has_given_the_turn_back(
    app: Flask,
    database: Database,
    owner: Database,
    member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held: list[dict[Any, Any]] = []

    def waits(*_: Any) -> Message:
        held.append(dict(concurrency_limit._lanes._entered))
        raise NotFound("It is enough.")

    monkeypatch.setattr("app.assistant.web.api.wait_for_reply", waits)
    header = {"Authorization": f"Bearer {api_token(owner, member)}"}
    app.test_client().post("/api/ask", json={"message": "hi"}, headers=header)
    assert held == [{}]
    thread = ask(database, member, "Is the milk cold?").thread.id
    sent = sign_in(app, owner, member).get(f"/chats/{thread}/export.md", buffered=False)
    assert concurrency_limit._lanes._entered == {}
    assert "Is the milk cold?" in sent.text


@pytest.mark.fault(61)
def test_who_waits_or_is_refused_takes_no_connection(
    app: Flask, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert browser.get("/chat").status_code == 200
    monkeypatch.setattr(concurrency_limit, "AT_ONCE", {"read": 0, "write": 0, "unknown": 4})
    monkeypatch.setattr(concurrency_limit, "_lanes", Lanes(waiting=0))

    with no_connection(app):
        assert browser.get("/chat").status_code == 429
        assert browser.post("/profile", name="Ana").status_code == 429
    for probe in ("/healthz", "/readyz"):
        assert browser.get(probe).status_code == 200


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    return sign_in(app, owner, member)


def wait_until_two_are_counted() -> None:
    for _ in range(6000):
        if any(count == 2 for _, count in list(concurrency_limit._lanes._entered.values())):
            return
        Event().wait(0.01)
    raise AssertionError("the second page never came")
