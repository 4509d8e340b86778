"""The turn inspector: timings for admins, words for nobody but whose they are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.admin.turns import PAGE_TURNS, Span, load_turn, own_words, timeline
from app.assistant.threads.threads import Accepted
from app.assistant.turns.outcome import TurnFacts
from app.db import Database, new_id, utc_now
from app.errors import NotFound
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import (
    Member,
    answer,
    ask,
    make_group,
    make_section,
    make_turn_facts,
    make_user,
    sign_in,
)

QUESTION = "Is the saffron locked away?"


@pytest.fixture
def cook(owner: Database) -> Member:
    return make_user(owner, make_group(owner, "Saffron House"))


@pytest.fixture
def asked(app: Flask, owner: Database, database: Database, cook: Member) -> Accepted:
    """A turn of the cook's, answered with a search."""
    make_section(owner, cook.group_id)
    accepted = ask(database, cook, QUESTION)
    provider = ScriptedProvider(
        [call("search_manual_v2", '{"query": "where is the saffron"}')],
        say("In the office safe.", tokens=(1234, 5)),
    )
    answer(app, cook, accepted, provider)
    return accepted


def test_ones_own_turn_shows_its_timings_and_its_words(
    app: Flask, owner: Database, cook: Member, asked: Accepted
) -> None:
    page = sign_in(app, owner, cook).page(f"/admin/turns/{asked.turn.id}")
    for words in ("search_manual_v2", "scripted-1", "1,234 read", "Complete", "Only you see this"):
        assert words in page.text
    for words in (QUESTION, "where is the saffron", "In the office safe."):
        assert words in page.text
    steps = [row.find_all("td")[0].text for row in page.find_all("tr")[1:]]
    assert "Searching the manual search_manual_v2" in steps


def test_a_tool_is_called_what_the_chat_calls_it_and_one_that_is_no_more_by_its_name(
    app: Flask, owner: Database, database: Database, cook: Member
) -> None:
    gone = [{"tool": "ask_the_stars", "ok": False, "ms": 3, "at": 1}]
    turn_id = make_turn_facts(database, cook, tools=[*gone, {**gone[0], "tool": "search_wines"}])
    page = sign_in(app, owner, cook).page(f"/admin/turns/{turn_id}?lang=es")
    assert [small.text for small in page.find_all("small") if "_" in small.text] == [
        "ask_the_stars",
        "search_wines",
    ]
    assert "vinos search_wines" in page.text
    assert "…" not in page.find("section", aria_labelledby="timeline").text


def test_what_the_built_in_assistant_took_the_message_for_is_shown(
    app: Flask, owner: Database, database: Database, cook: Member
) -> None:
    told = {"tool": "search_wines", "share": 0.7, "learned": 0.4, "evidence": 1.25, "wished": 0.0}
    explanation = {"why": "likeliest", "candidates": [told]}
    turn_id = make_turn_facts(database, cook, explanation=explanation)
    page = sign_in(app, owner, cook).page(f"/admin/turns/{turn_id}")
    understood = page.find("section", aria_labelledby="understood").text
    for words in (
        "Most likely, it was for the first of these.",
        "search_wines",
        "70%",
        "40%",
        "+1.2",
    ):
        assert words in understood
    other = sign_in(app, owner, cook).page(f"/admin/turns/{make_turn_facts(database, cook)}")
    assert "How it was understood" not in other.text


@pytest.mark.parametrize("role", ["admin"])
def test_an_admin_sees_the_timings_and_not_a_word(
    app: Flask, owner: Database, cook: Member, asked: Accepted, role: str
) -> None:
    browser = sign_in(app, owner, make_user(owner, cook.group_id, role))
    page = browser.page(f"/admin/turns/{asked.turn.id}")
    assert "search_manual_v2" in page.text
    assert cook.name in page.text
    listed = browser.page("/admin/turns")
    for text in (page.response.text, listed.response.text):
        assert "saffron" not in text.replace("Saffron House", "").lower()
        assert "office" not in text


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_a_colleague_does_not_find_it(
    app: Flask, owner: Database, cook: Member, asked: Accepted, role: str
) -> None:
    browser = sign_in(app, owner, make_user(owner, cook.group_id, role))
    browser.page(f"/admin/turns/{asked.turn.id}", 404)


def test_an_admin_of_another_house_does_not_find_it(
    app: Flask, owner: Database, asked: Accepted
) -> None:
    browser = sign_in(app, owner, make_user(owner, role="admin"))
    browser.page(f"/admin/turns/{asked.turn.id}", 404)
    browser.page(f"/admin/turns/{new_id()}", 404)
    assert "No messages match these filters." in browser.page("/admin/turns").text


def test_without_the_predicates_the_rows_themselves_are_hidden(
    owner: Database, database: Database, cook: Member, asked: Accepted
) -> None:
    """The rows' own rule stands behind both questions: the facts', and the words'."""
    admin = make_user(owner, cook.group_id, "admin")
    with database.transaction(make_user(owner, role="admin").scope) as session:
        assert session.get(TurnFacts, asked.turn.id) is None
        with pytest.raises(NotFound):
            load_turn(session, asked.turn.id)
    with database.transaction(admin.scope) as session:
        facts = load_turn(session, asked.turn.id)
        assert own_words(session, facts) is None
        session.expunge(facts)
        facts.user_id = admin.user_id
        assert own_words(session, facts) is None


def test_the_list_is_filtered_and_paged(
    app: Flask, owner: Database, database: Database, cook: Member
) -> None:
    admin = make_user(owner, cook.group_id, "admin")
    now = utc_now()
    for number in range(PAGE_TURNS + 1):
        make_turn_facts(database, cook, at=now - timedelta(minutes=number), provider="builtin")
    failed = make_turn_facts(database, admin, at=now, status="failed")
    browser = sign_in(app, owner, admin)

    def rows(query: str = "") -> int:
        return len(browser.page(f"/admin/turns{query}").find_all("tr")) - 1

    assert rows() == PAGE_TURNS
    for query in ("?status=failed", f"?person={admin.user_id}", "?provider=openai"):
        assert rows(query) == 1, query
    assert f"/admin/turns/{failed}" in browser.page("/admin/turns?status=failed").response.text
    links = browser.page("/admin/turns").find_all("a")
    [address] = [a.attributes["href"] for a in links if a.text == "Older messages"]
    assert len(browser.page(address).find_all("tr")) - 1 == 2
    assert rows("?status=nonsense&person=nobody&provider=%00&before=yesterday") == PAGE_TURNS


def test_a_reply_leads_to_how_it_was_answered(
    app: Flask, owner: Database, cook: Member, asked: Accepted
) -> None:
    browser = sign_in(app, owner, cook)
    address = f"/admin/turns/{asked.turn.id}"
    assert browser.page(f"/chat/{asked.thread.id}").find("a", href=address)
    assert browser.post(address).status_code == 405
    assert app.test_client().get(address).status_code == 303


def test_a_timeline_has_every_stretch_in_the_order_it_began() -> None:
    tools = [{"tool": "look_up", "ok": False, "ms": 40, "at": 100}]
    facts = TurnFacts(queued_ms=10, first_token_ms=300, latency_ms=900, tools=tools)
    assert timeline(facts) == [
        Span("queued", 0, 10),
        Span("thinking", 10, 300),
        Span("tool", 110, 40, "look_up", ok=False),
        Span("writing", 310, 600),
    ]
    stopped = TurnFacts(queued_ms=10, first_token_ms=None, latency_ms=None, tools=[])
    assert timeline(stopped) == [Span("queued", 0, 10)]
