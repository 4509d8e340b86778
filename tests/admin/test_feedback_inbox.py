"""The feedback inbox: what was said and shared, dealt with, and made into test sentences."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from werkzeug.test import TestResponse

from app.accounts.models import AuditEntry
from app.assistant.feedback.feedback import load_reply, lock_feedback, rate_reply
from app.assistant.feedback.inbox import (
    PAGE_FEEDBACK,
    handle_feedback,
    load_feedback,
    received_feedback,
    tally_feedback,
)
from app.assistant.models import FeedbackHandling, Message, MessageFeedback, SavedSentence
from app.assistant.prompts.saved_cases import MOST_SENTENCES
from app.assistant.threads.threads import latest_messages
from app.db import Database, new_id, utc_now
from tests.factories import (
    CheckedClient,
    Member,
    make_thread,
    make_turn_facts,
    make_user,
    sign_in,
)

QUESTION, ANSWER = "How long may the saffron stay out?", "One hour."
INBOX = "/admin/feedback"


@pytest.fixture
def cook(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def boss(owner: Database, cook: Member) -> Member:
    return make_user(owner, cook.group_id, "admin", name="Bea Boss")


@pytest.fixture
def browser(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    return sign_in(app, owner, boss)


@pytest.fixture
def reply(database: Database, cook: Member) -> Message:
    return reply_of(database, cook)


def reply_of(database: Database, member: Member, question: str = QUESTION) -> Message:
    thread_id = make_thread(database, member, question, reply=ANSWER)
    with database.transaction(member.scope) as session:
        return latest_messages(session, thread_id)[-1]


def rate(
    database: Database,
    member: Member,
    reply: Message,
    rating: str = "down",
    reason: str = "wrong",
    *,
    share: bool = False,
) -> UUID:
    """Judge a reply as its person; returns the id of what was said."""
    with database.session(member.scope) as session:
        own = load_reply(session, reply.thread_id, reply.id)
        rate_reply(session, own, rating, reason, "It is two", share=share)
        return session.scalars(
            select(MessageFeedback.id).where(MessageFeedback.message_id == reply.id)
        ).one()


def handle(
    browser: CheckedClient, database: Database, admin: Member, said: UUID, query: str = ""
) -> TestResponse:
    """Mark it as handled as its admin does who has just read it."""
    with database.transaction(admin.scope) as session:
        given_at = load_feedback(session, said).given_at
    return browser.post(f"{INBOX}/{said}/handle{query}", given_at=given_at.isoformat())


def sentences(owner: Database, member: Member) -> list[SavedSentence]:
    with owner.transaction() as session:
        rows = session.scalars(
            select(SavedSentence).where(SavedSentence.group_id == member.group_id)
        ).all()
        session.expunge_all()
    return list(rows)


def actions(owner: Database, member: Member) -> list[str]:
    with owner.transaction() as session:
        query = select(AuditEntry.action).where(AuditEntry.user_id == member.user_id)
        return list(session.scalars(query.order_by(AuditEntry.id)))


# Sharing


def test_nothing_is_shared_unless_somebody_ticks_it_and_it_can_be_taken_back(
    app: Flask, owner: Database, cook: Member, reply: Message
) -> None:
    person = sign_in(app, owner, cook)
    address = f"/chat/{reply.thread_id}/messages/{reply.id}/feedback"

    def shared() -> tuple[str | None, str | None, str | None]:
        with owner.transaction() as session:
            row = session.scalars(
                select(MessageFeedback).where(MessageFeedback.message_id == reply.id)
            ).one()
            return row.shared_question, row.shared_answer, row.shared_language

    tick = person.fragment(address).find("input", name="share")
    assert "checked" not in tick.attributes
    person.post(address, rating="down", reason="wrong")
    assert shared() == (None, None, None)
    person.post(address, rating="down", reason="wrong", share="1")
    assert shared() == (QUESTION, ANSWER, "en")
    assert "checked" in person.fragment(address).find("input", name="share").attributes
    person.post(address, rating="down", reason="wrong")
    assert shared() == (None, None, None)
    person.post(address, rating="down", share="1")
    person.post(address, rating="up", share="1")
    assert shared() == (None, None, None)


def test_who_deletes_a_chat_takes_back_what_was_shared_of_it(
    app: Flask, owner: Database, cook: Member, reply: Message
) -> None:
    person = sign_in(app, owner, cook)
    chat = f"/chat/{reply.thread_id}"
    person.post(f"{chat}/messages/{reply.id}/feedback", rating="down", reason="wrong", share="1")
    person.post(f"/chats/{reply.thread_id}/delete")
    with owner.transaction() as session:
        left = session.scalars(
            select(MessageFeedback).where(MessageFeedback.message_id == reply.id)
        ).one()
        assert (left.rating, left.shared_question, left.shared_answer) == ("down", None, None)


def test_a_tick_survives_what_cannot_be_taken(
    app: Flask, owner: Database, cook: Member, reply: Message
) -> None:
    address = f"/chat/{reply.thread_id}/messages/{reply.id}/feedback"
    wrong = {"rating": "down", "comment": "x" * 501}
    person = sign_in(app, owner, cook)
    for share in ({"share": "1"}, {}):
        form = person.post_fragment(address, 422, **wrong, **share)
        assert ("checked" in form.find("input", name="share").attributes) is bool(share)


# Reading


def test_an_admin_reads_what_was_shared_and_of_the_rest_only_what_was_said(
    browser: CheckedClient, database: Database, cook: Member, reply: Message
) -> None:
    said = rate(database, cook, reply)
    card = browser.page(INBOX).find("li", id=f"f-{said}")
    for words in ("Bad answer", "Wrong", "It is two", "were not shared"):
        assert words in card.text
    assert card.find_all("a", href=f"/admin/turns/{reply.turn_id}")
    for words in ("saffron", ANSWER, cook.name):
        assert words not in browser.page(INBOX).response.text
    rate(database, cook, reply, share=True)
    card = browser.page(INBOX).find("li", id=f"f-{said}")
    assert QUESTION in card.text
    assert ANSWER in card.text


@pytest.mark.parametrize(
    ("language", "promise", "told", "helped"),
    [
        (
            "en",
            "find out who wrote it",
            "“%s” shows whose answer it was",
            "that it is from you",
        ),
        (
            "es",
            "saber quién lo escribió",
            "«%s» muestra de quién era la respuesta",
            "que es tuyo",
        ),
    ],
)
def test_nobody_is_promised_that_feedback_is_anonymous(
    app: Flask, owner: Database, database: Database, boss: Member, cook: Member, reply: Message,
    language: str, promise: str, told: str, helped: str,
) -> None:  # fmt: skip
    """The turn that feedback leads to has its person's name: whoever writes it is told before."""
    rate(database, cook, reply)
    make_turn_facts(database, cook, turn_id=reply.turn_id, thread_id=reply.thread_id)
    colleague = make_user(owner, cook.group_id, language=language)
    person, own = sign_in(app, owner, colleague), reply_of(database, colleague)
    form = person.fragment(f"/chat/{own.thread_id}/messages/{own.id}/feedback")
    assert promise in form.text
    assert helped in person.page("/help").text
    admin = sign_in(app, owner, make_user(owner, cook.group_id, "admin", language=language))
    inbox = admin.page(INBOX)
    assert cook.name not in inbox.text
    [link] = inbox.find_all("a", href=f"/admin/turns/{reply.turn_id}")
    assert told % link.text.strip() in inbox.text
    assert cook.name in admin.page(f"/admin/turns/{reply.turn_id}").text


def test_filters_counts_and_pages(
    browser: CheckedClient, database: Database, boss: Member, cook: Member
) -> None:
    ids = []
    for rating, reason in (("down", "wrong"), ("down", "unclear"), ("up", "")):
        ids.append(rate(database, cook, reply_of(database, cook), rating, reason))
    handle(browser, database, boss, ids[0])

    def listed(query: str = "") -> list[UUID]:
        page = browser.page(f"{INBOX}{query}")
        cards = [li.attributes.get("id", "") for li in page.find_all("li")]
        return [UUID(card[2:]) for card in cards if card.startswith("f-")]

    assert listed() == [ids[2], ids[1]]
    assert listed("?state=handled") == [ids[0]]
    assert listed("?state=all") == ids[::-1]
    assert listed("?state=all&rating=down") == [ids[1], ids[0]]
    assert listed("?reason=unclear") == [ids[1]]
    assert listed("?reason=outdated") == []
    assert listed("?state=odd&rating=%00&reason=1") == [ids[2], ids[1]]
    assert listed(f"?state=all&before={ids[1]}") == [ids[0]]
    with database.transaction(boss.scope) as session:
        tally = tally_feedback(session)
        assert (tally.open, tally.handled, tally.up, tally.down) == (2, 1, 1, 2)
        assert len(received_feedback(session, state="open", limit=1)) == 1 < PAGE_FEEDBACK


def test_empty_inboxes_say_why(
    browser: CheckedClient, database: Database, boss: Member, cook: Member
) -> None:
    assert "Nobody has rated an answer yet." in browser.page(INBOX).text
    said = rate(database, cook, reply_of(database, cook))
    handle(browser, database, boss, said)
    assert "Everything is handled." in browser.page(INBOX).text
    assert "No feedback matches these filters." in browser.page(f"{INBOX}?rating=up").text


# Dealing with it


def test_it_is_handled_once_and_reopened_and_both_are_in_the_audit_log(
    browser: CheckedClient, owner: Database, boss: Member, database: Database, cook: Member
) -> None:
    said = rate(database, cook, reply_of(database, cook))
    for _ in range(2):
        answer = handle(browser, database, boss, said, "?state=all&rating=down&reason=")
        assert answer.status_code == 303
        assert answer.location.startswith(f"{INBOX}?state=all&rating=down")
    assert "Handled by Bea Boss" in browser.page(f"{INBOX}?state=handled").text
    for _ in range(2):
        assert browser.post(f"{INBOX}/{said}/reopen").status_code == 303
    assert "Handled by" not in browser.page(f"{INBOX}?state=all").text
    assert actions(owner, boss) == ["feedback.handle", "feedback.reopen"]


def test_what_is_changed_after_it_was_handled_is_open_again(
    browser: CheckedClient, database: Database, boss: Member, cook: Member, reply: Message
) -> None:
    said = rate(database, cook, reply)
    handle(browser, database, boss, said)
    rate(database, cook, reply, "down", "outdated")
    assert "Out of date" in browser.page(INBOX).text
    handle(browser, database, boss, said)
    assert "Everything is handled." in browser.page(INBOX).text


def test_what_is_changed_while_an_admin_reads_it_is_not_handled_unread(
    browser: CheckedClient, owner: Database, database: Database, boss: Member, cook: Member,
    reply: Message,
) -> None:  # fmt: skip
    said = rate(database, cook, reply)
    card = browser.page(INBOX).find("li", id=f"f-{said}")
    read = card.find_all("input", name="given_at")[0].attributes["value"]
    rate(database, cook, reply, "down", "outdated")
    for given_at in (read, "", "yesterday", "2026-01-01"):
        answer = browser.post(f"{INBOX}/{said}/handle", given_at=given_at)
        assert (answer.status_code, answer.location) == (
            303,
            f"{INBOX}?state=open&rating=&reason=#f-{said}",
        )
        page = browser.page(INBOX)
        assert "This was changed in the meantime." in page.text
        assert "Out of date" in page.find("li", id=f"f-{said}").text
    assert actions(owner, boss) == []


def test_what_is_said_waits_until_it_is_noted_that_the_older_words_were_handled(
    database: Database, boss: Member, cook: Member, reply: Message
) -> None:
    said = rate(database, cook, reply)
    with ThreadPoolExecutor(1) as pool, database.session(boss.scope) as session:
        lock_feedback(session, reply.id)
        given_at = load_feedback(session, said).given_at
        changed = pool.submit(rate, database, cook, reply, "down", "outdated")
        with pytest.raises(TimeoutError):
            changed.result(timeout=0.3)
        handle_feedback(session, said, given_at)
        assert changed.result(timeout=10) == said
    with database.transaction(boss.scope) as session:
        assert load_feedback(session, said).handled_at is None


# Test sentences


def make(
    browser: CheckedClient, database: Database, boss: Member, said: UUID, **form: Any
) -> TestResponse:
    """Make a test sentence of it as the page shows it now."""
    return browser.post(f"{INBOX}/{said}/sentence", **seen(database, boss, said), **form)


def seen(database: Database, boss: Member, said: UUID) -> dict[str, str]:
    """What the page carries of what it shows."""
    with database.transaction(boss.scope) as session:
        found = load_feedback(session, said)
    shared = {"shared": "yes"} if found.shared_question is not None else {}
    return {"given_at": found.given_at.isoformat(), **shared}


def test_a_shared_question_becomes_a_test_sentence_once(
    browser: CheckedClient, owner: Database, database: Database, boss: Member, reply: Message,
    cook: Member,
) -> None:  # fmt: skip
    said = rate(database, cook, reply, share=True)
    form = {"text": QUESTION, "language": "en"}
    assert make(browser, database, boss, said, **form).status_code == 303
    assert "Saved as a test sentence." in browser.page(INBOX).text
    assert "Made into 1 test sentence" in browser.page(INBOX).text
    make(browser, database, boss, said, **form)
    assert "This test sentence already exists." in browser.page(INBOX).text
    [saved] = sentences(owner, boss)
    assert (saved.text, saved.language, saved.expect) == (QUESTION, "en", {})
    assert (saved.feedback_id, saved.author_id) == (said, boss.user_id)
    assert actions(owner, boss) == ["sentence_saved"]


def test_what_is_expected_can_be_said_and_an_own_sentence_written(
    browser: CheckedClient, owner: Database, database: Database, boss: Member, cook: Member
) -> None:
    said = rate(database, cook, reply_of(database, cook))
    make(
        browser,
        database,
        boss,
        said,
        text=" ¿Cuánto tiempo?\0 ",
        language="es",
        tools=["search_manual_v2", "search_wines"],
        phrases=" una  hora \r\n\r\n frío",
    )
    [saved] = sentences(owner, boss)
    assert (saved.text, saved.language) == ("¿Cuánto tiempo?", "es")
    assert saved.expect == {
        "tools": ["search_manual_v2", "search_wines"],
        "contains": ["una hora", "frío"],
    }


@pytest.mark.parametrize(
    ("field", "form"),
    [
        ("text", {"text": " "}),
        ("text", {"text": "x" * 4001}),
        ("language", {"language": "fr"}),
        ("tools", {"tools": ["drop_table"]}),
        ("phrases", {"phrases": "x" * 201}),
    ],
)
def test_a_sentence_that_cannot_be_saved_comes_back_as_it_was_typed(
    browser: CheckedClient, owner: Database, database: Database, boss: Member, cook: Member,
    field: str, form: dict[str, Any],
) -> None:  # fmt: skip
    said = rate(database, cook, reply_of(database, cook))
    whole = {"text": "How long?", "language": "en", "phrases": "an hour", **form}
    answer = make(browser, database, boss, said, **whole)
    assert answer.status_code == 422
    assert f'id="f-{said}-{field}-error"' in answer.text
    assert whole["phrases"] in answer.text
    assert sentences(owner, boss) == []


def test_a_sentence_that_finds_no_room_comes_back_as_it_was_typed(
    browser: CheckedClient, owner: Database, database: Database, boss: Member, cook: Member
) -> None:
    said = rate(database, cook, reply_of(database, cook))
    with database.transaction(boss.scope) as session:
        for number in range(MOST_SENTENCES):
            words = f"Sentence {number}"
            session.add(SavedSentence(group_id=boss.group_id, text=words, language="en", expect={}))
    form = {"text": "How long?", "language": "es", "phrases": "una hora", "tools": "search_wines"}
    page = browser._page(make(browser, database, boss, said, **form), 409)
    assert "sentences, the maximum. Delete one first." in page.find("div", role="alert").text
    assert page.find("textarea", name="text").text == "How long?"
    assert page.find("textarea", name="phrases").text == "una hora"
    assert "checked" in page.find("input", name="tools", value="search_wines").attributes
    assert "open" in page.find("details").attributes


@pytest.mark.parametrize("undo", ["unshare", "take back", "delete the chat"])
def test_words_that_are_shared_no_more_become_no_sentence_from_an_old_page(
    browser: CheckedClient, owner: Database, database: Database, boss: Member, reply: Message,
    app: Flask, cook: Member, undo: str,
) -> None:  # fmt: skip
    said = rate(database, cook, reply, share=True)
    old = seen(database, boss, said)
    chat = sign_in(app, owner, cook)
    if undo == "unshare":
        rate(database, cook, reply, "down", "wrong")
    elif undo == "take back":
        chat.post(f"/chat/{reply.thread_id}/messages/{reply.id}/feedback", rating="none")
    else:
        chat.post(f"/chats/{reply.thread_id}/delete")
    answer = browser.post(f"{INBOX}/{said}/sentence", **old, text=QUESTION, language="en")
    assert answer.status_code in (303, 404)
    assert sentences(owner, boss) == []
    assert QUESTION not in browser.page(INBOX).text


def test_taking_feedback_back_leaves_the_sentence_and_no_trace_of_who(
    browser: CheckedClient, owner: Database, database: Database, boss: Member, reply: Message,
    app: Flask, cook: Member,
) -> None:  # fmt: skip
    said = rate(database, cook, reply, share=True)
    handle(browser, database, boss, said)
    make(browser, database, boss, said, text=QUESTION, language="en")
    address = f"/chat/{reply.thread_id}/messages/{reply.id}/feedback"
    assert sign_in(app, owner, cook).post(address, rating="none").status_code == 303
    [saved] = sentences(owner, boss)
    assert saved.feedback_id is None
    assert browser.post(f"{INBOX}/{said}/handle").status_code == 404


# Who may


POSTS = ("handle", "reopen", "sentence")


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_nobody_but_an_admin_may(
    app: Flask, owner: Database, database: Database, cook: Member, role: str
) -> None:
    said = rate(database, cook, reply_of(database, cook))
    colleague = sign_in(app, owner, make_user(owner, cook.group_id, role))
    colleague.page(INBOX, 403)
    for action in POSTS:
        assert colleague.post(f"{INBOX}/{said}/{action}", text="x").status_code == 403


def test_another_houses_feedback_does_not_exist(
    app: Flask, owner: Database, database: Database, cook: Member
) -> None:
    said = rate(database, cook, reply_of(database, cook), share=True)
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    assert str(said) not in stranger.page(f"{INBOX}?state=all").response.text
    for action in POSTS:
        form = {"text": "x", "language": "en"}
        assert stranger.post(f"{INBOX}/{said}/{action}", **form).status_code == 404
        assert stranger.post(f"{INBOX}/{new_id()}/{action}", **form).status_code == 404


def test_the_addresses_work_in_no_other_way(browser: CheckedClient, app: Flask) -> None:
    assert browser.post(INBOX).status_code == 405
    for action in POSTS:
        address = f"{INBOX}/{new_id()}/{action}"
        assert browser.get(address).status_code == 405
        assert browser.post(address, token=False).status_code == 400
    assert app.test_client().get(INBOX).status_code == 303


# The second lock


def test_without_the_predicate_an_admin_changes_nothing_that_people_said(
    owner: Database, database: Database, boss: Member, cook: Member, reply: Message
) -> None:
    rate(database, cook, reply)
    planted = update(MessageFeedback).values(
        shared_question="x", shared_answer="y", shared_language="en"
    )
    for statement in (planted, delete(MessageFeedback)):
        with database.transaction(boss.scope) as session:
            assert session.execute(statement).rowcount == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("who", ["cook", "a manager", "another house's admin"])
def test_without_the_predicate_nobody_else_handles_it(
    owner: Database, database: Database, boss: Member, cook: Member, reply: Message, who: str
) -> None:
    said = rate(database, cook, reply)
    people = {
        "cook": cook,
        "a manager": make_user(owner, cook.group_id, "manager"),
        "another house's admin": make_user(owner, role="admin"),
    }
    member = people[who]
    row = {"feedback_id": said, "group_id": member.group_id, "handled_at": utc_now()}
    with (
        pytest.raises(DBAPIError, match="row-level security"),
        database.transaction(member.scope) as session,
    ):
        session.execute(insert(FeedbackHandling).values(**row))
    with database.transaction(boss.scope) as session:
        session.execute(insert(FeedbackHandling).values(**{**row, "group_id": boss.group_id}))
    with database.transaction(member.scope) as session:
        assert session.scalars(select(FeedbackHandling)).all() == []
        assert session.execute(text("DELETE FROM feedback_handling")).rowcount == 0  # type: ignore[attr-defined]


def test_a_share_is_whole_or_nothing(
    owner: Database, database: Database, cook: Member, reply: Message
) -> None:
    rate(database, cook, reply)
    with pytest.raises(DBAPIError, match="shared_whole"), owner.transaction() as session:
        session.execute(
            update(MessageFeedback)
            .where(MessageFeedback.message_id == reply.id)
            .values(shared_question="x")
        )
