"""The chat's pages and partials, with and without JavaScript, for their owner and others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import delete, select, update

from app import create_app
from app.accounts.models import Membership, SignIn
from app.assistant.models import Message, Thread, Turn
from app.assistant.threads.threads import clean_message, latest_messages, request_stop
from app.assistant.turns.events import EventLog
from app.config import Settings
from app.db import Database, new_id, utc_now
from tests.factories import (
    CheckedClient,
    Member,
    ask,
    make_group,
    make_thread,
    make_user,
    sign_in,
)
from tests.factories.browser import HTMX


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, name="Lucía Hernández")


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    return make_thread(database, member, "How long?", reply="Two hours. **At most.**")


def reply_of(database: Database, member: Member, thread_id: UUID) -> Message:
    with database.transaction(member.scope) as session:
        return latest_messages(session, thread_id)[-1]


def change_reply(database: Database, member: Member, thread_id: UUID, **values: object) -> Message:
    reply = reply_of(database, member, thread_id)
    with database.transaction(member.scope) as session:
        session.execute(update(Message).where(Message.id == reply.id).values(**values))
    return reply


# Pages


def test_the_front_door_leads_to_the_chat(browser: CheckedClient) -> None:
    response = browser.get("/")
    assert (response.status_code, response.location) == (302, "/chat")


@pytest.mark.parametrize("path", ["/chat", f"/chat/{UUID(int=1)}", "/chat/history"])
def test_a_stranger_is_asked_to_sign_in_and_led_back(app: Flask, path: str) -> None:
    client = app.test_client()
    response = client.get(path)
    assert response.status_code == 303
    assert response.location == f"/sign-in?next={path}"
    partial = client.get(path, headers=HTMX)
    assert (partial.status_code, partial.text) == (401, "")
    assert partial.headers["HX-Redirect"] == "/sign-in"


def test_a_sign_in_that_ended_in_mid_page_leads_back_to_the_page(
    browser: CheckedClient, thread_id: UUID
) -> None:
    page = f"/chat/{thread_id}"
    token = browser.csrf_token
    with browser.client.session_transaction() as session:
        session.pop("_user_id")
    form = {"csrf_token": token, "message": "Hello"}
    came_from = {"Referer": f"http://localhost{page}"}
    posted = browser.client.post(f"{page}/messages", data=form, headers=came_from)
    assert (posted.status_code, posted.location) == (303, f"/sign-in?next={page}")
    part = browser.client.post(f"{page}/messages", data=form, headers={**HTMX, **came_from})
    assert part.headers["HX-Redirect"] == f"/sign-in?next={page}"


def test_a_first_visit_shows_five_things_to_try(browser: CheckedClient) -> None:
    page = browser.page("/chat")
    starters = [
        form.find("input", name="message").attributes["value"]
        for form in page.find_all("form")
        if form.find_all("button", class_="starter")
    ]
    assert len(starters) == 5
    assert "How long can raw chicken stay out?" in starters
    assert "Lucía" in page.find("section", id="welcome").text


def test_each_visit_to_a_new_chat_is_another_thread(browser: CheckedClient) -> None:
    def composer() -> str:
        return browser.page("/chat").find("form", id="composer").attributes["action"]

    assert composer() != composer()


def test_a_thread_shows_its_messages_and_where_the_stream_goes_on(
    app: Flask, browser: CheckedClient, thread_id: UUID
) -> None:
    tip = EventLog(app.extensions["comanda"].redis).publish(thread_id, "done", {})
    page = browser.page(f"/chat/{thread_id}")
    [question, reply] = page.find_all("article")
    assert question.attributes["data-role"] == "user"
    assert "How long?" in question.text
    assert reply.attributes["data-status"] == "complete"
    assert reply.find("strong").text == "At most."
    address = page.find("div", id="stream").attributes["hx-sse:connect"]
    assert address == f"/chat/{thread_id}/events?after={tip}"
    assert page.find("title").text.startswith("How long?")


def test_a_page_holds_the_last_thirty_messages_however_long_the_thread(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, *[f"question {n}" for n in range(20)])
    page = browser.page(f"/chat/{thread_id}")
    assert len(page.find_all("article")) == 30
    assert "question 19" in page.text
    assert "question 2 " not in page.text


def test_older_messages_are_a_step_away_with_scripts_and_without(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, *[f"question {n:02}" for n in range(35)])
    page = browser.page(f"/chat/{thread_id}")
    way = page.find("p", id="earlier").find("a")
    part = browser.fragment(way.attributes["hx-get"])
    assert len(part.find_all("article")) == 30
    assert "question 05" in part.text
    assert "question 19" in part.text
    assert "question 20" not in part.text
    last = browser.fragment(part.find("p", id="earlier").find("a").attributes["hx-get"])
    assert len(last.find_all("article")) == 10
    assert "question 00" in last.text
    assert last.find_all("p", id="earlier") == []
    whole = browser.page(way.attributes["href"])
    assert "question 19" in whole.text
    assert whole.find_all("a", href=f"/chat/{thread_id}")


@pytest.mark.parametrize("before", ["", "nonsense", str(UUID(int=0))])
def test_an_address_that_names_no_message_shows_what_there_is(
    browser: CheckedClient, thread_id: UUID, before: str
) -> None:
    assert browser.page(f"/chat/{thread_id}?before={before}").status == 200
    assert browser.get(f"/chat/{thread_id}/earlier?before={before}").status_code == 200


def test_an_unfinished_reply_shows_its_text_so_far_and_can_be_stopped(
    database: Database, member: Member, browser: CheckedClient, thread_id: UUID
) -> None:
    change_reply(
        database,
        member,
        thread_id,
        status="streaming",
        content="First block.\n\nSecond **bl",
        event_cursor="abc-7",
    )
    page = browser.page(f"/chat/{thread_id}")
    reply = page.find_all("article")[-1]
    assert reply.attributes["data-cursor"] == "abc-7"
    assert page.find("div", id="stream").attributes["hx-sse:connect"].endswith("after=abc-7")
    [blocks] = [each for each in reply if each.has_class("blocks")]
    assert blocks.text == "First block."
    assert next(each for each in reply if each.has_class("tail")).text == "Second **bl"
    assert "hidden" not in page.find("button", form="stop").attributes


def test_a_page_with_a_waiting_reply_goes_on_after_the_snapshot_before_it(
    database: Database, member: Member, browser: CheckedClient, thread_id: UUID
) -> None:
    change_reply(database, member, thread_id, status="complete", event_cursor="abc-41")
    ask(database, member, "And then?", thread_id)
    page = browser.page(f"/chat/{thread_id}")
    assert page.find_all("article")[-1].attributes["data-status"] == "queued"
    assert page.find("div", id="stream").attributes["hx-sse:connect"].endswith("after=abc-41")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("stopped", "You stopped this answer."),
        ("interrupted", "This answer was cut short."),
        ("failed", "There is no answer this time."),
    ],
)
def test_a_reply_that_did_not_end_well_says_so(
    database: Database,
    member: Member,
    browser: CheckedClient,
    thread_id: UUID,
    status: str,
    said: str,
) -> None:
    change_reply(database, member, thread_id, status=status)
    assert said in browser.page(f"/chat/{thread_id}").text


def test_what_a_person_writes_is_shown_as_text(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    words = "<img src=x onerror=alert(1)>\n**not bold** [x](javascript:alert(1))"
    thread_id = make_thread(database, member, words)
    page = browser.page(f"/chat/{thread_id}")
    bubble = next(each for each in page.root if each.has_class("bubble"))
    assert bubble.children == [] or {child.tag for child in bubble.children} == {"br"}
    assert "onerror=alert(1)" in bubble.text
    assert "**not bold**" in bubble.text


def test_citations_are_numbered_links_and_those_not_known_disappear(
    database: Database, member: Member, browser: CheckedClient, thread_id: UUID
) -> None:
    document_id = new_id()
    citation = {
        "number": 1,
        "context": "manual",
        "document_id": str(document_id),
        "source_id": str(new_id()),
        "title": "Raw <chicken>",
        "path": ["Food safety"],
        "url": "/library/manual/raw",
        "quote": "Two hours",
        "language": "en",
    }
    change_reply(
        database, member, thread_id, content="Two hours [1], never three [4].", citations=[citation]
    )
    page = browser.page(f"/chat/{thread_id}")
    [link] = page.find_all("a", class_="cite")
    address, _, asked = link.attributes["href"].partition("?")
    assert address == f"/library/passages/{document_id}"
    assert re.fullmatch(r"cited=[0-9a-f-]{36}&lang=en", asked)
    assert link.attributes["title"] == "Raw <chicken>"
    assert "Two hours 1, never three" in page.text
    assert "4" not in next(each for each in page.root if each.has_class("blocks")).text
    assert "1 source" in page.text
    assert "Food safety" in page.text


def test_a_part_that_no_skill_draws_any_more_is_left_out(
    database: Database, member: Member, browser: CheckedClient, thread_id: UUID
) -> None:
    parts = [{"type": "hologram", "x": 1}, {"type": "notice", "kind": "limit", "text": "Enough."}]
    reply = change_reply(database, member, thread_id, parts=parts)
    page = browser.page(f"/chat/{thread_id}")
    assert "Enough." in page.text
    address = f"/chat/{thread_id}/messages/{reply.id}/parts"
    assert browser.get(f"{address}/0").status_code == 204
    assert browser.fragment(f"{address}/1").text == "Enough."
    assert browser.get(f"{address}/2").status_code == 404


def test_a_spanish_reader_gets_a_spanish_page(app: Flask, owner: Database) -> None:
    browser = sign_in(app, owner, make_user(owner, language="es"))
    page = browser.page("/chat")
    assert page.find("html").attributes["lang"] == "es"
    assert "¿" in page.find("section", id="welcome").text


def test_the_history_is_listed_by_day_and_marks_the_open_thread(
    owner: Database,
    database: Database,
    member: Member,
    browser: CheckedClient,
    thread_id: UUID,
) -> None:
    old = make_thread(database, member, "an old question")
    older = make_thread(database, member, "older still")
    with owner.transaction() as session:
        for each, ago in ((old, 1), (older, 40)):
            session.execute(
                update(Thread)
                .where(Thread.id == each)
                .values(last_message_at=utc_now() - timedelta(days=ago))
            )
    history = browser.fragment(f"/chat/history?current={thread_id}").find("nav", id="history")
    days = [heading.text for heading in history.find_all("h2")]
    assert days[:2] == ["Today", "Yesterday"]
    assert len(days) == 3
    [current] = history.find_all("a", aria_current="page")
    assert current.text == "How long?"


def test_the_address_may_choose_the_language(browser: CheckedClient, thread_id: UUID) -> None:
    assert browser.page(f"/chat/{thread_id}?lang=es").find("html").attributes["lang"] == "es"


# Sending


def test_sending_answers_with_the_two_bubbles_and_opens_the_stream(
    browser: CheckedClient,
) -> None:
    thread_id = browser.new_id()
    page = browser.post_fragment(f"/chat/{thread_id}/messages", message="Hola, ¿cuánto tiempo?")
    assert page.response.headers["HX-Push-Url"] == f"/chat/{thread_id}"
    question, reply = page.find_all("article")
    assert "Hola" in question.text
    assert reply.attributes["data-status"] == "queued"
    assert reply.find_all("ul")
    assert page.find("div", id="stream").attributes["hx-swap-oob"] == "outerHTML"
    assert page.find("nav", id="history").attributes["hx-swap-oob"] == "outerHTML"
    assert page.find("title").text.startswith("¿cuánto tiempo?")


def test_a_later_message_brings_its_bubbles_alone(browser: CheckedClient, thread_id: UUID) -> None:
    page = browser.post_fragment(f"/chat/{thread_id}/messages", message="And chicken wings?")
    assert len(page.find_all("article")) == 2
    assert page.find_all("nav") == []


def test_a_message_is_announced_to_the_persons_other_devices(
    app: Flask, browser: CheckedClient
) -> None:
    thread_id, key = browser.new_id(), uuid4().hex
    browser.post_fragment(f"/chat/{thread_id}/messages", message="Hello", message_key=key)
    events = EventLog(app.extensions["comanda"].redis).after(thread_id, "") or []
    assert [(e.type, e.payload["role"]) for e in events] == [
        ("message", "user"),
        ("message", "assistant"),
    ]
    assert events[0].payload["message_key"] == key


def test_without_javascript_a_post_leads_back_to_the_thread(browser: CheckedClient) -> None:
    thread_id = browser.new_id()
    response = browser.post(f"/chat/{thread_id}/messages", message="Plain form")
    assert (response.status_code, response.location) == (303, f"/chat/{thread_id}")
    page = browser.page(f"/chat/{thread_id}")
    assert "Plain form" in page.text
    [noscript] = page.find_all("noscript")
    assert noscript.find("a").attributes["href"] == f"/chat/{thread_id}"


def test_a_repeated_post_shows_the_thread_as_it_is(browser: CheckedClient) -> None:
    thread_id, key = browser.new_id(), uuid4().hex
    path = f"/chat/{thread_id}/messages"
    browser.post_fragment(path, message="Once", message_key=key)
    again = browser.post(path, htmx=True, message="Once", message_key=key)
    assert (again.status_code, again.headers["HX-Redirect"]) == (204, f"/chat/{thread_id}")
    plain = browser.post(path, message="Once", message_key=key)
    assert plain.status_code == 303
    assert len(browser.page(f"/chat/{thread_id}").find_all("article")) == 2


def test_a_yes_from_a_page_that_has_not_seen_all_is_refused_and_other_words_are_not(
    browser: CheckedClient, owner: Database
) -> None:
    path, key = f"/chat/{browser.new_id()}/messages", uuid4().hex
    browser.post_fragment(path, message="Add limes $3", seen="")
    with owner.transaction() as session:
        thread_id = UUID(path.split("/")[2])
        order = select(Message.id).where(Message.thread_id == thread_id).order_by(Message.id)
        question, reply = session.scalars(order).all()
    # As long as the reply is not whole, no page has shown it, whatever it claims.
    page = browser.page(path.removesuffix("/messages"))
    assert page.find("input", name="seen").attributes["value"] == str(question)
    for seen in ({"seen": str(question)}, {"seen": ""}, {}):
        refused = browser.post_fragment(path, 409, message="yes", **seen)
        assert "An answer is still being written" in refused.text
    with owner.transaction() as session:
        session.execute(update(Message).where(Message.id == reply).values(status="complete"))
    for seen in ({"seen": str(question)}, {"seen": ""}, {}):
        refused = browser.post_fragment(path, 409, message="yes", **seen)
        assert "There are newer messages in this" in refused.text
    # What cancels or skips would do it to what is open by now.
    for words in ("Cancel the request", "Cancelar", "skip"):
        assert browser.post(path, message=words, seen=str(question)).status_code == 409
    page = browser.page(path.removesuffix("/messages"))
    assert page.find("input", name="seen").attributes["value"] == str(reply)
    sent = browser.post(path, htmx=True, message="yes", seen=str(reply), message_key=key)
    assert sent.status_code == 200
    # The same once more, after its answer was lost.
    again = browser.post(path, htmx=True, message="yes", seen=str(reply), message_key=key)
    assert again.status_code in (200, 204)
    more = browser.post(path, htmx=True, message="What is the tip policy?", seen=str(question))
    assert more.status_code == 200


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("change the" + " " * 3_900 + "x", "change the" + " " * 16 + "x"),
        ("eggs" + "," * 3_900 + "x", "eggs" + "," * 16 + "x"),
        ("eggs" + ", " * 1_900 + "x", "eggs" + ", " * 32 + "x"),
        ("¿?" * 1_900 + "qué", "¿?" * 32 + "qué"),
        ("a\n\n  b --- c ...", "a\n\n  b --- c ..."),
    ],
)
def test_runs_that_mean_nothing_are_shortened(typed: str, kept: str) -> None:
    assert clean_message(typed) == kept


@pytest.mark.fault(16)
def test_the_same_key_with_other_words_is_422(browser: CheckedClient) -> None:
    path, key = f"/chat/{browser.new_id()}/messages", uuid4().hex
    browser.post_fragment(path, message="Once", message_key=key)
    page = browser.post_fragment(path, 422, message="Twice", message_key=key)
    assert "other words" in page.text


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"message": ""}, "Write a message first."),
        ({}, "Write a message first."),
        ({"message": "\u0000\u202e"}, "Write a message first."),
        ({"message": "x" * 4001}, "4,001 characters"),
        ({"message": "Hello", "domain": "gossip"}, "domain must be one of"),
        ({"message": "Hello", "action": "explode"}, "no such action"),
        ({"message": "Hello", "message_key": "short"}, "8 to 64 characters"),
    ],
)
def test_what_cannot_be_taken_is_told_in_words_and_stores_nothing(
    browser: CheckedClient, form: dict[str, Any], said: str
) -> None:
    thread_id = browser.new_id()
    fragment = browser.post_fragment(f"/chat/{thread_id}/messages", 422, **form)
    assert said in fragment.text
    whole = browser.post(f"/chat/{thread_id}/messages", **form)
    assert whole.status_code == 422
    assert browser.get(f"/chat/{thread_id}").status_code == 404


def test_four_thousand_characters_and_emoji_are_taken(browser: CheckedClient) -> None:
    thread_id = browser.new_id()
    words = "🌮" * 4000
    browser.post_fragment(f"/chat/{thread_id}/messages", message=words)
    assert words in browser.get(f"/chat/{thread_id}").text


def test_a_chips_domain_and_action_travel_with_its_turn(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = browser.new_id()
    browser.post_fragment(
        f"/chat/{thread_id}/messages", message="Pairing?", domain="dishes", action="pairing"
    )
    with database.transaction(member.scope) as session:
        turn = session.scalars(select(Turn).where(Turn.thread_id == thread_id)).one()
    asked = {"domain": "dishes", "action": "pairing"}
    assert {name: turn.request[name] for name in asked} == asked
    assert len(turn.request["request_id"]) == 32


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("¿Cuál es la política de propinas?", "es"),
        ("What is the tip policy?", "en"),
        ("ok", "en"),
    ],
)
def test_a_message_is_answered_in_its_own_language(
    database: Database, member: Member, browser: CheckedClient, message: str, language: str
) -> None:
    thread_id = browser.new_id()
    browser.post_fragment(f"/chat/{thread_id}/messages", message=message)
    assert reply_of(database, member, thread_id).language == language


# Stopping


def test_stopping_a_message_that_still_waits_tells_every_device(
    app: Flask, database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = browser.new_id()
    browser.post_fragment(f"/chat/{thread_id}/messages", message="Hello")
    assert browser.post(f"/chat/{thread_id}/stop", htmx=True).status_code == 204
    assert reply_of(database, member, thread_id).status == "stopped"
    events = EventLog(app.extensions["comanda"].redis).after(thread_id, "") or []
    assert [e.type for e in events] == ["message", "message", "done"]
    assert events[-1].payload["status"] == "stopped"


def test_stop_without_javascript_leads_back_to_the_thread(
    browser: CheckedClient, thread_id: UUID
) -> None:
    response = browser.post(f"/chat/{thread_id}/stop")
    assert (response.status_code, response.location) == (303, f"/chat/{thread_id}")


def test_stopping_twice_tells_only_once(
    app: Flask, database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = browser.new_id()
    browser.post_fragment(f"/chat/{thread_id}/messages", message="Hello")
    for _ in range(2):
        browser.post(f"/chat/{thread_id}/stop", htmx=True)
    events = EventLog(app.extensions["comanda"].redis).after(thread_id, "") or []
    assert [e.type for e in events].count("done") == 1
    with database.session(member.scope) as session:
        assert request_stop(session, thread_id) == []


def test_a_card_that_no_longer_fits_is_left_out_and_the_thread_opens(
    database: Database, member: Member, browser: CheckedClient, thread_id: UUID
) -> None:
    old_card = {"type": "product_card", "colour": "red"}
    change_reply(database, member, thread_id, parts=[old_card], content="The words stay.")
    assert "The words stay." in browser.page(f"/chat/{thread_id}").text


def test_without_redis_messages_are_taken_and_threads_open(
    settings: Settings, owner: Database, database: Database, member: Member, thread_id: UUID
) -> None:
    away = create_app(settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"}))
    browser = sign_in(away, owner, member)
    page = browser.page(f"/chat/{thread_id}")
    assert page.find("div", id="stream").attributes["hx-sse:connect"].endswith("/events")
    browser.post_fragment(f"/chat/{thread_id}/messages", message="Is anybody there?")
    with database.transaction(member.scope) as session:
        stored = [message.content for message in latest_messages(session, thread_id)]
    assert "Is anybody there?" in stored


def test_times_are_shown_in_the_houses_zone(
    owner: Database, database: Database, app: Flask
) -> None:
    group = make_group(owner, timezone="Asia/Tokyo")
    member = make_user(owner, group)
    thread_id = make_thread(database, member)
    moment = datetime(2026, 3, 1, 20, 30, tzinfo=UTC)
    change_reply(database, member, thread_id, created_at=moment)
    page = sign_in(app, owner, member).page(f"/chat/{thread_id}")
    assert "5:30" in page.find_all("time")[-1].text


# Fault 22: what is not yours does not exist


@pytest.mark.fault(22)
@pytest.mark.parametrize("who", ["another group", "a colleague", "an admin"])
def test_everything_of_another_person_is_404(
    app: Flask, owner: Database, database: Database, member: Member, thread_id: UUID, who: str
) -> None:
    change_reply(
        database,
        member,
        thread_id,
        parts=[{"type": "notice", "kind": "limit", "text": "Enough."}],
    )
    message_id = reply_of(database, member, thread_id).id
    group = None if who == "another group" else member.group_id
    other = sign_in(app, owner, make_user(owner, group, "admin" if who == "an admin" else "staff"))
    base = f"/chat/{thread_id}"
    paths = (
        base,
        f"{base}/events",
        f"{base}/messages/{message_id}",
        f"{base}/messages/{message_id}/parts/0",
    )
    for path in paths:
        assert other.get(path).status_code == 404, path
        assert other.client.get(path, headers=HTMX).status_code == 404, path
    for path in (f"{base}/stop", f"{base}/messages"):
        for htmx in (True, False):
            assert other.post(path, htmx=htmx, message="Let me in").status_code == 404, path
    assert len(browser_articles(app, owner, member, thread_id)) == 2
    assert "Enough." not in other.get(base).text


def browser_articles(app: Flask, owner: Database, member: Member, thread_id: UUID) -> list[object]:
    return list(sign_in(app, owner, member).page(f"/chat/{thread_id}").find_all("article"))


def test_a_message_of_another_thread_of_ones_own_is_404(
    database: Database, member: Member, browser: CheckedClient, thread_id: UUID
) -> None:
    other = make_thread(database, member)
    message_id = reply_of(database, member, other).id
    assert browser.get(f"/chat/{thread_id}/messages/{message_id}").status_code == 404


@pytest.mark.parametrize(
    "path", ["/chat/1", "/chat/x' OR 1=1", f"/chat/{UUID(int=1)}", "/chat/%00", "/chat/../chat/x"]
)
def test_an_address_that_leads_nowhere_is_404(browser: CheckedClient, path: str) -> None:
    browser.page(path, 404)


# The stream


@pytest.fixture
def quick_heartbeat(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = app.extensions["comanda"]
    quick = shared.settings.model_copy(update={"stream_heartbeat_seconds": 0.2})
    monkeypatch.setitem(app.extensions, "comanda", replace(shared, settings=quick))


def frames(browser: CheckedClient, path: str, **headers: str) -> Iterator[str]:
    """The frames of a stream, as they come."""
    response = browser.client.get(
        path, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )
    assert response.status_code == 200
    assert response.mimetype == "text/event-stream"
    with closing(response):
        for frame in response.response:
            yield frame.decode() if isinstance(frame, bytes) else frame


def test_a_stream_begins_with_a_delay_for_reconnecting_and_beats(
    quick_heartbeat: None, browser: CheckedClient, thread_id: UUID
) -> None:
    stream = frames(browser, f"/chat/{thread_id}/events")
    assert "retry: 1000" in next(stream)
    assert next(stream).startswith(":")
    stream.close()  # type: ignore[attr-defined]


def test_the_header_wins_over_the_query_of_the_first_connect(
    app: Flask, quick_heartbeat: None, browser: CheckedClient, thread_id: UUID
) -> None:
    log = EventLog(app.extensions["comanda"].redis)
    first, second, _third = [log.publish(thread_id, "token", {"text": t}) for t in "abc"]
    stream = frames(browser, f"/chat/{thread_id}/events?after={first}", Last_Event_ID=second or "")
    next(stream)
    frame = next(stream)
    assert '"text":"c"' in frame.replace(" ", "")
    stream.close()  # type: ignore[attr-defined]


@pytest.mark.fault(8)
@pytest.mark.parametrize("last_id", ["garbage", "x-99999", "-1", "a" * 3000, "%00", "é"])
def test_a_wrong_last_id_is_answered_with_a_reset(
    app: Flask, quick_heartbeat: None, browser: CheckedClient, thread_id: UUID, last_id: str
) -> None:
    EventLog(app.extensions["comanda"].redis).publish(thread_id, "token", {"text": "a"})
    for options in ({"query": f"?after={last_id}"}, {"header": last_id}):
        headers = {"Last_Event_ID": options["header"]} if "header" in options else {}
        stream = frames(browser, f"/chat/{thread_id}/events{options.get('query', '')}", **headers)
        next(stream)
        assert "event:reset" in next(stream).replace(" ", "")
        stream.close()  # type: ignore[attr-defined]


def ends(stream: Iterator[str]) -> list[str]:
    """What a stream says until its end, which must come soon."""
    said = []
    for number, frame in enumerate(stream):
        said.append(frame)
        assert number < 20, "it does not end"
    return said


@pytest.mark.fault(23)
def test_signing_out_closes_the_stream_with_a_last_event(
    owner: Database,
    quick_heartbeat: None,
    member: Member,
    browser: CheckedClient,
    thread_id: UUID,
) -> None:
    stream = frames(browser, f"/chat/{thread_id}/events")
    next(stream)
    assert next(stream).startswith(":")
    browser.post("/sign-out")
    assert "closed" in ends(stream)[-1]
    assert browser.get(f"/chat/{thread_id}/events").status_code == 303


@pytest.mark.fault(23)
def test_a_stream_ends_for_somebody_removed_from_the_group(
    owner: Database,
    quick_heartbeat: None,
    member: Member,
    browser: CheckedClient,
    thread_id: UUID,
) -> None:
    stream = frames(browser, f"/chat/{thread_id}/events")
    next(stream)
    with owner.transaction() as session:
        session.execute(delete(Membership).where(Membership.user_id == member.user_id))
    assert "closed" in ends(stream)[-1]


@pytest.mark.fault(23)
def test_a_stream_ends_when_the_sign_in_expires(
    owner: Database,
    quick_heartbeat: None,
    member: Member,
    browser: CheckedClient,
    thread_id: UUID,
) -> None:
    stream = frames(browser, f"/chat/{thread_id}/events")
    next(stream)
    with owner.transaction() as session:
        session.execute(
            update(SignIn)
            .where(SignIn.user_id == member.user_id)
            .values(expires_at=utc_now() - timedelta(seconds=1))
        )
    assert "closed" in ends(stream)[-1]


def test_a_busy_stream_notices_a_sign_out_too(
    app: Flask,
    owner: Database,
    quick_heartbeat: None,
    member: Member,
    browser: CheckedClient,
    thread_id: UUID,
) -> None:
    """Events that come faster than the heartbeat must not keep a stream open."""
    log = EventLog(app.extensions["comanda"].redis)
    stream = frames(browser, f"/chat/{thread_id}/events")
    next(stream)
    with owner.transaction() as session:
        session.execute(delete(SignIn).where(SignIn.user_id == member.user_id))
    deadline = utc_now() + timedelta(seconds=3)
    log.publish(thread_id, "token", {"text": "x"})
    for frame in stream:
        if "closed" in frame:
            return
        assert utc_now() < deadline, "it is still open"
        log.publish(thread_id, "token", {"text": "x"})
    pytest.fail("it ended without a word")


@pytest.mark.fault(18)
def test_a_stream_holds_no_database_connection(
    app: Flask, quick_heartbeat: None, browser: CheckedClient, thread_id: UUID
) -> None:
    pool = app.extensions["comanda"].database.engine.pool
    before = pool.checkedout()
    streams = [frames(browser, f"/chat/{thread_id}/events") for _ in range(5)]
    for stream in streams:
        next(stream)
    assert pool.checkedout() == before
    for stream in streams:
        stream.close()  # type: ignore[attr-defined]
