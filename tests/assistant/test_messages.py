"""Accepting what somebody wrote: what is taken, what is refused, what is stored once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from app.assistant.models import Message, Thread, Turn
from app.assistant.threads.threads import (
    Accepted,
    accept_message,
    clean_message,
    latest_messages,
    load_message,
    load_thread,
    recent_threads,
    request_stop,
    stop_turns,
)
from app.db import Database, new_id, utc_now
from app.errors import Conflict, InvalidInput, NotFound
from tests.factories import Member, ask, make_thread, make_user

KEY = "a-key-of-a-page"


def count(database: Database, member: Member, model: type, thread_id: UUID) -> int:
    with database.transaction(member.scope) as session:
        query = select(func.count()).select_from(model).where(model.thread_id == thread_id)  # type: ignore[attr-defined]
        return session.execute(query).scalar_one()


# The words


@pytest.mark.parametrize(
    "raw",
    ["", " ", "\n\n\t", "\u0000", "\u200e\u202e", "\r\n", "\u00a0", "\u0007\u001b"],
)
def test_a_message_of_nothing_is_refused(raw: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        clean_message(raw)
    assert refused.value.field == "message"


def test_four_thousand_characters_are_taken_and_one_more_is_not() -> None:
    assert len(clean_message("x" * 4000)) == 4000
    assert len(clean_message("  " + "é" * 4000 + "\n")) == 4000
    with pytest.raises(InvalidInput) as refused:
        clean_message("x" * 4001)
    assert (refused.value.message % refused.value.params).startswith("That is 4,001 characters")


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("  Hello  ", "Hello"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\tb", "a\tb"),
        ("a\u0000b\u0007c\u001b[31m", "abc[31m"),
        ("cafe\u0301", "café"),
        ("🌮🇲🇽👨‍🍳 ¿qué?", "🌮🇲🇽👨‍🍳 ¿qué?"),
        ("safe\u202etxt.exe\u2066", "safetxt.exe"),
        ("half \ud800 a sign", "half  a sign"),
        ("שלום", "שלום"),
        ("x\u0085y", "xy"),
    ],
)
def test_a_message_is_stored_without_what_cannot_be_seen(raw: str, stored: str) -> None:
    assert clean_message(raw) == stored


@given(st.text(max_size=300))
@settings(max_examples=300)
def test_cleaning_twice_changes_nothing(raw: str) -> None:
    try:
        once = clean_message(raw)
    except InvalidInput:
        return
    assert clean_message(once) == once
    once.encode("utf-8")


def test_the_longest_message_survives_the_database(database: Database, member: Member) -> None:
    words = ("🌮é<&\n" * 800)[:4000].strip()
    accepted = ask(database, member, words)
    with database.transaction(member.scope) as session:
        stored = load_message(session, accepted.thread.id, accepted.message.id)
    assert stored.content == words


# What is stored


def test_a_first_message_makes_the_thread_its_reply_and_its_turn(
    database: Database, member: Member
) -> None:
    thread_id = new_id()
    with database.session(member.scope) as session:
        accepted = accept_message(
            session,
            thread_id=thread_id,
            may_begin=True,
            message="How long?",
            language="en",
            message_key=KEY,
        )
    assert accepted.is_first
    assert not accepted.repeated
    assert accepted.thread.title == "How long?"
    assert accepted.message.content == "How long?"
    assert (accepted.reply.status, accepted.reply.content) == ("queued", "")
    assert accepted.message.id < accepted.reply.id
    assert accepted.turn.status == "queued"
    assert accepted.message.turn_id == accepted.reply.turn_id == accepted.turn.id


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("Short", "Short"),
        ("two\nlines  here", "two lines here"),
        ("word " * 30, "word word word word word word word word word word word word…"),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_a_thread_is_called_by_its_first_words(
    database: Database, member: Member, words: str, title: str
) -> None:
    assert ask(database, member, words).thread.title == title


def test_the_same_key_and_words_are_the_same_message(database: Database, member: Member) -> None:
    first = ask(database, member, "Once", message_key=KEY)
    again = ask(database, member, " Once ", first.thread.id, message_key=KEY)
    assert again.repeated
    assert (again.message.id, again.reply.id, again.turn.id) == (
        first.message.id,
        first.reply.id,
        first.turn.id,
    )
    assert count(database, member, Message, first.thread.id) == 2
    assert count(database, member, Turn, first.thread.id) == 1


def test_the_same_key_with_other_words_is_refused(database: Database, member: Member) -> None:
    first = ask(database, member, "Once", message_key=KEY)
    with pytest.raises(InvalidInput) as refused:
        ask(database, member, "Twice", first.thread.id, message_key=KEY)
    assert refused.value.field == "message_key"
    assert count(database, member, Message, first.thread.id) == 2


def test_the_same_key_in_another_thread_is_another_message(
    database: Database, member: Member
) -> None:
    first = ask(database, member, "Once", message_key=KEY)
    other = ask(database, member, "Once", message_key=KEY)
    assert other.message.id != first.message.id


@pytest.mark.parametrize("key", ["short", "x" * 65])
def test_a_key_of_the_wrong_length_is_refused(database: Database, member: Member, key: str) -> None:
    with pytest.raises(InvalidInput):
        ask(database, member, "Once", message_key=key)


def test_a_message_to_a_running_answer_waits_and_a_reserved_one_is_refused(
    database: Database, member: Member
) -> None:
    first = ask(database, member, "First")
    with database.session(member.scope) as session:
        waiting = accept_message(
            session,
            thread_id=first.thread.id,
            may_begin=False,
            message="Second",
            language="en",
        )
    assert waiting.turn.status == "queued"
    with pytest.raises(Conflict):
        ask(database, member, "Third", first.thread.id)
    assert count(database, member, Turn, first.thread.id) == 2


# Whose it is


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    return make_thread(database, member, "How long?", reply="Two hours.")


@pytest.fixture(params=["another group", "a colleague", "the same person elsewhere"])
def stranger(request: pytest.FixtureRequest, owner: Database, member: Member) -> Member:
    if request.param == "another group":
        return make_user(owner, role="admin")
    if request.param == "a colleague":
        return make_user(owner, member.group_id, "admin")
    elsewhere = make_user(owner)
    return Member(
        member.user_id, elsewhere.group_id, member.email, member.name, "staff", member.language
    )


def test_a_thread_of_somebody_else_does_not_exist(
    database: Database, stranger: Member, thread_id: UUID
) -> None:
    with database.transaction(stranger.scope) as session:
        with pytest.raises(NotFound):
            load_thread(session, thread_id)
        assert latest_messages(session, thread_id) == []
        assert thread_id not in [thread.id for thread in recent_threads(session)]
        with pytest.raises(NotFound):
            request_stop(session, thread_id)


def test_a_message_of_somebody_else_does_not_exist(
    database: Database, member: Member, stranger: Member, thread_id: UUID
) -> None:
    with database.transaction(member.scope) as session:
        message_id = latest_messages(session, thread_id)[0].id
    with database.transaction(stranger.scope) as session, pytest.raises(NotFound):
        load_message(session, thread_id, message_id)


def test_a_message_into_a_thread_of_somebody_else_is_refused(
    database: Database, member: Member, stranger: Member, thread_id: UUID
) -> None:
    with pytest.raises(NotFound):
        ask(database, stranger, "Let me in", thread_id)
    assert count(database, member, Message, thread_id) == 2


def test_a_deleted_thread_takes_no_message(
    database: Database, member: Member, thread_id: UUID
) -> None:
    with database.transaction(member.scope) as session:
        session.execute(update(Thread).where(Thread.id == thread_id).values(deleted_at=utc_now()))
    with pytest.raises(NotFound):
        ask(database, member, "Still there?", thread_id)
    with database.transaction(member.scope) as session:
        assert thread_id not in [thread.id for thread in recent_threads(session)]


def test_a_message_is_found_only_in_its_own_thread(
    database: Database, member: Member, thread_id: UUID
) -> None:
    other = make_thread(database, member)
    with database.transaction(member.scope) as session:
        message_id = latest_messages(session, thread_id)[0].id
        with pytest.raises(NotFound):
            load_message(session, other, message_id)


# Reading and stopping


def test_the_last_messages_come_oldest_first_and_earlier_ones_by_page(
    database: Database, member: Member
) -> None:
    thread_id = make_thread(database, member, *[f"question {n}" for n in range(20)])
    with database.transaction(member.scope) as session:
        last = latest_messages(session, thread_id, limit=6)
        assert [m.content for m in last if m.role == "user"] == [
            "question 17",
            "question 18",
            "question 19",
        ]
        before = latest_messages(session, thread_id, limit=4, before=last[0].id)
        assert [m.content for m in before if m.role == "user"] == ["question 15", "question 16"]
        assert len(latest_messages(session, thread_id)) == 30


def test_threads_are_listed_by_their_last_use(database: Database, member: Member) -> None:
    first = make_thread(database, member, "first")
    second = make_thread(database, member, "second")
    make_thread_again = ask(database, member, "again", first)
    assert make_thread_again.thread.id == first
    with database.transaction(member.scope) as session:
        assert [thread.id for thread in recent_threads(session)][:2] == [first, second]


def queue(database: Database, member: Member, thread_id: UUID, message: str) -> Accepted:
    with database.session(member.scope) as session:
        return accept_message(
            session, thread_id=thread_id, may_begin=True, message=message, language="en"
        )


def states(database: Database, member: Member, thread_id: UUID) -> list[tuple[str, bool, str]]:
    """Of each turn its status, whether it is to stop, and the status of its reply."""
    with database.transaction(member.scope) as session:
        rows = session.execute(
            select(Turn.status, Turn.stop_requested, Message.status)
            .join(Message, Message.id == Turn.reply_message_id)
            .where(Turn.thread_id == thread_id)
            .order_by(Turn.id)
        )
        return [(turn, stops, reply) for turn, stops, reply in rows]


def test_stop_is_for_the_answer_that_is_being_made_and_what_waits_goes_on(
    database: Database, member: Member
) -> None:
    first = ask(database, member, "First")
    queue(database, member, first.thread.id, "Second")
    for _ in range(2):
        with database.session(member.scope) as session:
            assert request_stop(session, first.thread.id) == []
    # The running one is its runner's to end.
    assert states(database, member, first.thread.id) == [
        ("running", True, "queued"),
        ("queued", False, "queued"),
    ]


def test_a_message_that_nobody_answers_yet_is_stopped_at_once_the_oldest_first(
    database: Database, member: Member
) -> None:
    thread_id = new_id()
    replies = [queue(database, member, thread_id, words).reply.id for words in ("One", "Two")]
    with database.session(member.scope) as session:
        assert request_stop(session, thread_id) == replies[:1]
        assert states(database, member, thread_id)[1] == ("queued", False, "queued")
        assert request_stop(session, thread_id) == replies[1:]
        assert request_stop(session, thread_id) == []
    assert states(database, member, thread_id) == [("stopped", False, "stopped")] * 2


def test_what_is_asked_instead_stops_all_that_is_unfinished(
    database: Database, member: Member
) -> None:
    first = ask(database, member, "First")
    queue(database, member, first.thread.id, "Second")
    with database.session(member.scope) as session:
        assert stop_turns(session, first.thread.id)
        session.commit()
    assert states(database, member, first.thread.id) == [
        ("running", True, "queued"),
        ("stopped", False, "stopped"),
    ]


def test_stopping_where_nothing_runs_does_nothing(
    database: Database, member: Member, thread_id: UUID
) -> None:
    with database.session(member.scope) as session:
        assert request_stop(session, thread_id) == []


def test_of_messages_sent_at_once_each_is_followed_by_its_own_reply(
    database: Database, member: Member
) -> None:
    thread_id = make_thread(database, member)
    start = Barrier(6)

    def send(number: int) -> None:
        start.wait()
        with database.session(member.scope) as session:
            accept_message(
                session,
                thread_id=thread_id,
                may_begin=True,
                message=f"Question {number}",
                language="en",
            )

    with ThreadPoolExecutor(6) as people:
        list(people.map(send, range(6)))
    with database.transaction(member.scope) as session:
        messages = latest_messages(session, thread_id)[2:]
        asked = {
            turn.reply_message_id: turn.user_message_id for turn in session.scalars(select(Turn))
        }
    assert [message.role for message in messages] == ["user", "assistant"] * 6
    pairs = zip(messages[::2], messages[1::2], strict=True)
    assert all(asked[reply.id] == question.id for question, reply in pairs)
