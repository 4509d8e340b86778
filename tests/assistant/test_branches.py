"""Asking again in other words or having a reply made again: a branch, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from redis import Redis
from sqlalchemy import event, insert, select, text, update

from app.admin.turns import load_turn, own_words
from app.assistant.models import Message, Proposal, Thread, Turn
from app.assistant.threads.branches import newest_below, places
from app.assistant.threads.history import find_threads
from app.assistant.threads.threads import accept_message, ask_again, latest_messages, show_branch
from app.assistant.turns.events import EventLog
from app.assistant.turns.executor import claim_turns
from app.config import Settings
from app.db import Database, ScopedSession, new_id
from app.errors import InvalidInput, NotFound
from app.extensions import Services
from app.factory import build_app
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import CheckedClient, Member, answer, ask, make_thread, make_user, sign_in
from tests.factories.chat import TEST_RUNNER
from tests.fridge_log import SKILLS_WITH_LOG, logged, make_table

OFFER = ([call("log_temperature", '{"unit": "walk-in", "degrees": 4}')], say("Shall I?"))


@pytest.fixture(scope="module")
def app(settings: Settings, owner: Database) -> Flask:
    """An app whose house keeps a fridge log."""
    make_table(owner, settings.database_url or "")
    return build_app(settings, SKILLS_WITH_LOG)


@pytest.fixture
def thread_id(database: Database, member: Member) -> UUID:
    """A conversation of three questions, each answered."""
    return make_thread(database, member, "First", "Second", "Third", reply="An answer.")


@pytest.fixture
def converse(app: Flask, database: Database, member: Member) -> Callable[..., Message]:
    """Sends a message and lets a scripted model answer it; the reply as it is stored."""

    def send(words: str, *script: Any, thread: UUID | None = None, **more: Any) -> Message:
        accepted = ask(database, member, words, thread, **more)
        return answer(app, member, accepted, ScriptedProvider(*(script or (say("So."),))))

    return send


Converse = Callable[..., Message]


def shown(database: Database, member: Member, thread_id: UUID) -> list[Message]:
    with database.transaction(member.scope) as session:
        return latest_messages(session, thread_id)


def said(messages: list[Message]) -> list[str]:
    """What the questions among these messages say."""
    return [message.content for message in messages if message.role == "user"]


def everything(owner: Database, thread_id: UUID) -> list[Message]:
    with owner.transaction() as session:
        query = select(Message).where(Message.thread_id == thread_id).order_by(Message.id)
        return list(session.scalars(query))


def stored(owner: Database, message: Message) -> Message:
    with owner.transaction() as session:
        return session.get_one(Message, message.id)


def again(
    app: Flask, database: Database, member: Member, reply: Message, *script: Any
) -> tuple[Message, ScriptedProvider]:
    """Have a reply made again by a scripted model, in this process."""
    with database.session(member.scope) as session:
        accepted = ask_again(session, reply.thread_id, reply.id)
        session.execute(
            update(Turn)
            .where(Turn.id == accepted.turn.id)
            .values(status="running", fence=1, attempts=1, runner_id=TEST_RUNNER[0])
        )
        session.commit()
    provider = ScriptedProvider(*(script or (say("The other answer."),)))
    return answer(app, member, accepted, provider), provider


# Another question in the place of an earlier one


def test_a_changed_question_takes_the_place_of_the_old_one_and_of_what_followed(
    database: Database, member: Member, thread_id: UUID
) -> None:
    second = shown(database, member, thread_id)[2]
    accepted = ask(database, member, "Second, changed", thread_id, instead_of=second.id)
    assert accepted.message.parent_id == second.parent_id
    assert said(shown(database, member, thread_id)) == ["First", "Second, changed"]


def test_what_was_there_before_stays_one_step_away(
    owner: Database, database: Database, member: Member, thread_id: UUID
) -> None:
    before = shown(database, member, thread_id)
    accepted = ask(database, member, "Second, changed", thread_id, instead_of=before[2].id)
    assert len(everything(owner, thread_id)) == 8
    with database.session(member.scope) as session:
        here = places(session, latest_messages(session, thread_id))
        place = here[accepted.message.id]
        assert (place.number, place.of, place.before, place.after) == (2, 2, before[2].id, None)
        assert set(here) == {accepted.message.id}
        show_branch(session, thread_id, before[2].id)
    assert [m.id for m in shown(database, member, thread_id)] == [m.id for m in before]


def test_the_very_first_question_can_be_changed_too(
    database: Database, member: Member, thread_id: UUID
) -> None:
    first = shown(database, member, thread_id)[0]
    accepted = ask(database, member, "First, changed", thread_id, instead_of=first.id)
    assert said(shown(database, member, thread_id)) == ["First, changed"]
    with database.transaction(member.scope) as session:
        assert places(session, [accepted.message])[accepted.message.id].number == 2


def test_the_model_is_told_the_branch_that_it_is_on_and_nothing_of_the_others(
    app: Flask, database: Database, member: Member, thread_id: UUID
) -> None:
    second = shown(database, member, thread_id)[2]
    accepted = ask(database, member, "Second, changed", thread_id, instead_of=second.id)
    provider = ScriptedProvider(say("The second answer."))
    answer(app, member, accepted, provider)
    told = [message.text for message in provider.requests[0].messages[1:]]
    assert told == ["First", "An answer.", "Second, changed"]
    followed = ask(database, member, "And then?", thread_id)
    answer(app, member, followed, provider)
    told = [message.text for message in provider.requests[1].messages[1:]]
    assert told == ["First", "An answer.", "Second, changed", "The second answer.", "And then?"]


def test_changing_a_question_stops_the_answer_that_is_being_written(
    owner: Database, database: Database, member: Member, app: Flask
) -> None:
    running = ask(database, member, "Running")
    with database.session(member.scope) as session:
        facts: dict[str, Any] = {
            "thread_id": running.thread.id,
            "may_begin": False,
            "language": "en",
        }
        queued = accept_message(session, message="Queued behind it", **facts)
        changed = accept_message(
            session, message="Running, changed", instead_of=running.message.id, **facts
        )
        session.commit()
    with owner.transaction() as session:
        turns = {
            turn.id: (turn.status, turn.stop_requested)
            for turn in session.scalars(select(Turn).where(Turn.thread_id == running.thread.id))
        }
    assert turns[running.turn.id] == ("running", True)
    assert turns[queued.turn.id] == ("stopped", False)
    assert turns[changed.turn.id] == ("queued", False)
    assert stored(owner, queued.reply).status == "stopped"
    assert said(shown(database, member, running.thread.id)) == ["Running, changed"]


def test_the_same_change_posted_twice_is_one_message(
    owner: Database, database: Database, member: Member, thread_id: UUID, browser: CheckedClient
) -> None:
    second = shown(database, member, thread_id)[2]
    form = {
        "message": "Second, changed",
        "message_key": uuid4().hex,
        "edits": str(second.id),
    }
    first = browser.post(f"/chat/{thread_id}/messages", htmx=True, **form)
    assert (first.status_code, first.headers["HX-Retarget"]) == (200, "#messages")
    repeat = browser.post(f"/chat/{thread_id}/messages", htmx=True, **form)
    assert (repeat.status_code, repeat.headers["HX-Redirect"]) == (204, f"/chat/{thread_id}")
    assert said(everything(owner, thread_id)) == ["First", "Second", "Third", "Second, changed"]
    other = browser.post(
        f"/chat/{thread_id}/messages", htmx=True, **{**form, "message": "Other words"}
    )
    assert other.status_code == 422
    assert len(everything(owner, thread_id)) == 8


def test_an_answer_cannot_be_changed(
    owner: Database, database: Database, member: Member, thread_id: UUID, browser: CheckedClient
) -> None:
    reply = shown(database, member, thread_id)[1]
    form = {"message": "My words in its mouth", "edits": str(reply.id)}
    refused = browser.post(f"/chat/{thread_id}/messages", htmx=True, **form)
    assert refused.status_code == 422
    assert "Only your own messages can be changed." in refused.text
    plain = browser.post(f"/chat/{thread_id}/messages", **form)
    assert plain.status_code == 422
    assert "My words in its mouth" in plain.text
    assert len(everything(owner, thread_id)) == 6


def test_a_change_of_what_is_not_there_is_refused_and_stores_nothing(
    owner: Database, database: Database, member: Member, thread_id: UUID
) -> None:
    elsewhere = shown(database, member, make_thread(database, member, "Another chat"))[0]
    for id_ in (new_id(), elsewhere.id):
        with pytest.raises(NotFound):
            ask(database, member, "Changed", thread_id, instead_of=id_)
    assert len(everything(owner, thread_id)) == 6
    # Nor does an unknown chat begin with it.
    unknown = new_id()
    with pytest.raises(NotFound):
        ask(database, member, "Changed", unknown, instead_of=elsewhere.id)
    with owner.transaction() as session:
        assert session.get(Thread, unknown) is None


# A reply that is made again


def test_a_reply_made_again_stands_beside_the_old_one_and_is_told_the_same(
    app: Flask, owner: Database, database: Database, member: Member, thread_id: UUID
) -> None:
    third, reply = shown(database, member, thread_id)[-2:]
    new, provider = again(app, database, member, reply)
    assert (new.parent_id, new.content) == (third.id, "The other answer.")
    assert [m.text for m in provider.requests[0].messages[-2:]] == ["An answer.", "Third"]
    assert said(shown(database, member, thread_id)) == ["First", "Second", "Third"]
    assert stored(owner, reply).content == "An answer."
    with database.session(member.scope) as session:
        assert places(session, [new])[new.id].before == reply.id
        show_branch(session, thread_id, reply.id)
        assert latest_messages(session, thread_id)[-1].id == reply.id


def test_only_a_reply_is_made_again(database: Database, member: Member, thread_id: UUID) -> None:
    question = shown(database, member, thread_id)[0]
    with database.session(member.scope) as session:
        with pytest.raises(InvalidInput):
            ask_again(session, thread_id, question.id)
        with pytest.raises(NotFound):
            ask_again(session, thread_id, new_id())


def test_a_reply_keeps_what_it_was_asked_with_when_it_is_made_again(
    database: Database, member: Member
) -> None:
    accepted = ask(database, member, "Shrimp?", request={"domain": "dishes"})
    with database.session(member.scope) as session:
        made = ask_again(session, accepted.thread.id, accepted.reply.id)
        assert made.turn.request == {"domain": "dishes"}
        assert made.message.id == accepted.message.id


def test_a_yes_that_is_answered_again_writes_nothing_again(
    app: Flask, owner: Database, database: Database, member: Member, converse: Converse
) -> None:
    offered = converse("Log 4 degrees", *OFFER)
    first = converse("yes", thread=offered.thread_id)
    second, provider = again(app, database, member, first)
    assert provider.requests == []
    assert (second.content, second.parts[0]["type"]) == (first.content, "receipt")
    assert logged(owner, member.user_id) == [("walk-in", 4.0)]


# What was proposed


def test_what_is_proposed_is_set_aside_when_the_conversation_branches(
    app: Flask, owner: Database, database: Database, member: Member, converse: Converse
) -> None:
    def state(reply: Message) -> tuple[str, str]:
        with owner.transaction() as session:
            found = session.scalars(select(Proposal).where(Proposal.message_id == reply.id)).one()
            return found.state, found.reason

    changed = converse("Log 4 degrees", *OFFER)
    thread = changed.thread_id
    made_again = converse(
        "Log 4 degrees, please", *OFFER, thread=thread, instead_of=changed.parent_id
    )
    assert state(changed) == ("declined", "moved_on")
    left, _ = again(app, database, member, made_again, *OFFER)
    assert state(made_again) == ("declined", "moved_on")
    assert state(left) == ("pending", "")
    with database.session(member.scope) as session:
        show_branch(session, thread, changed.id)
    assert state(left) == ("declined", "moved_on")
    # A yes on this branch is not an answer to what was proposed on the other.
    assert converse("yes", say("To what?"), thread=thread).content == "To what?"
    assert logged(owner, member.user_id) == []


def test_a_yes_means_nothing_that_was_proposed_on_a_branch_out_of_sight(
    app: Flask, owner: Database, database: Database, member: Member, converse: Converse
) -> None:
    """As when somebody goes back while the other branch is still being answered."""
    first = converse("How cold?")
    hidden = converse("Log 4 degrees", *OFFER, thread=first.thread_id)
    with owner.transaction() as session:
        thread = session.get_one(Thread, first.thread_id)
        thread.head_id = first.id
    replied = converse("yes", say("To what?"), thread=first.thread_id).content
    assert replied.startswith("To what?\n\nMy earlier proposal is set aside.")
    assert logged(owner, member.user_id) == []
    with owner.transaction() as session:
        thread = session.get_one(Thread, first.thread_id)
        thread.head_id = hidden.id
    converse("yes", thread=first.thread_id)
    # It was set aside when the conversation went on without it.
    assert logged(owner, member.user_id) == []


def test_an_answer_that_was_made_again_shows_its_person_what_was_said(
    app: Flask, database: Database, member: Member, converse: Converse
) -> None:
    remade, _ = again(app, database, member, converse("How cold?"), say("Four degrees."))
    with database.transaction(member.scope) as session:
        words = own_words(session, load_turn(session, remade.turn_id))
    assert words is not None
    assert (words.question, words.answer) == ("How cold?", "Four degrees.")


# The page


def test_the_page_shows_one_branch_and_the_way_to_its_neighbours(
    database: Database, member: Member, thread_id: UUID, browser: CheckedClient
) -> None:
    second = shown(database, member, thread_id)[2]
    changed = ask(database, member, "Second, changed", thread_id, instead_of=second.id)
    page = browser.page(f"/chat/{thread_id}")
    assert "Second, changed" in page.text
    assert "Third" not in page.text
    assert page.find("span", role="img").attributes["aria-label"] == "Version 2 of 2"
    [switch] = [form for form in page.find_all("form") if form.has_class("siblings")]
    before, after = switch.find_all("button")
    assert before.attributes["value"] == str(second.id)
    assert "disabled" in after.attributes
    branch = browser.post_fragment(f"/chat/{thread_id}/branch", message_id=str(second.id))
    assert branch.response.headers["HX-Retarget"] == "#messages"
    assert branch.response.headers["HX-Reswap"] == "innerHTML"
    assert "Third" in branch.text
    assert "Second, changed" not in branch.text
    assert branch.find("a", id="presence")
    assert changed.message.content not in browser.page(f"/chat/{thread_id}").text


def test_without_scripts_each_way_leads_back_to_the_conversation(
    owner: Database, database: Database, member: Member, thread_id: UUID, browser: CheckedClient
) -> None:
    *_, second, _, _, reply = shown(database, member, thread_id)
    page = browser.page(f"/chat/{thread_id}?edit={second.id}")
    assert page.find("textarea", id="message").text.strip() == "Second"
    assert page.find("input", name="edits").attributes["value"] == str(second.id)
    assert "hidden" not in page.find("p", id="editing").attributes
    sent = {"message": "Second, changed", "edits": str(second.id)}
    for address, form in (
        ("messages", sent),
        (f"messages/{reply.id}/again", {}),
        ("branch", {"message_id": str(second.id)}),
    ):
        response = browser.post(f"/chat/{thread_id}/{address}", **form)
        assert (response.status_code, response.location) == (303, f"/chat/{thread_id}")


@pytest.mark.parametrize("edit", ["nonsense", str(UUID(int=7)), "the reply"])
def test_a_page_asked_to_change_what_cannot_be_changed_is_the_usual_one(
    database: Database, member: Member, thread_id: UUID, browser: CheckedClient, edit: str
) -> None:
    if edit == "the reply":
        edit = str(shown(database, member, thread_id)[1].id)
    page = browser.page(f"/chat/{thread_id}?edit={edit}")
    assert "hidden" in page.find("p", id="editing").attributes
    assert page.find("input", name="edits").attributes["value"] == ""


def test_a_message_far_up_can_be_changed_without_scripts(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = long_thread(owner, member, 80)
    first = everything(owner, thread_id)[0]
    page = browser.page(f"/chat/{thread_id}?edit={first.id}")
    assert page.find("textarea", id="message").text.strip() == first.content


def test_the_last_thirty_of_the_branch_come_first_and_the_earlier_ones_on_request(
    owner: Database, database: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = long_thread(owner, member, 80)
    messages = everything(owner, thread_id)
    ask(database, member, "Changed at 70", thread_id, instead_of=messages[70].id)
    page = browser.page(f"/chat/{thread_id}")
    articles = page.find_all("article")
    assert len(articles) == 30
    assert articles[-2].text.count("Changed at 70") == 1
    assert articles[0].attributes["data-message"] == str(messages[42].id)
    earlier = browser.fragment(f"/chat/{thread_id}/earlier?before={messages[42].id}")
    ids = [article.attributes["data-message"] for article in earlier.find_all("article")]
    assert ids == [str(message.id) for message in messages[12:42]]
    # What led up to a message of the other branch is told all the same.
    page = browser.page(f"/chat/{thread_id}?before={messages[79].id}")
    ids = [article.attributes["data-message"] for article in page.find_all("article")]
    assert ids == [str(message.id) for message in messages[49:79]]


def test_a_bubble_of_another_branch_is_not_brought_to_a_page_that_misses_it(
    database: Database, member: Member, thread_id: UUID, browser: CheckedClient
) -> None:
    second, third = shown(database, member, thread_id)[2::2]
    changed = ask(database, member, "Second, changed", thread_id, instead_of=second.id)
    address = f"/chat/{thread_id}/messages"
    assert browser.get(f"{address}/{third.id}?missed").status_code == 204
    assert browser.get(f"{address}/{changed.reply.id}?missed").status_code == 200
    assert browser.get(f"{address}/{third.id}").status_code == 200


@pytest.mark.parametrize("way", ["change", "again", "switch"])
def test_the_other_devices_are_told_to_show_the_other_branch(
    redis_client: Redis, database: Database, member: Member, thread_id: UUID,
    browser: CheckedClient, way: str,
) -> None:  # fmt: skip
    question, reply = shown(database, member, thread_id)[-2:]
    if way == "change":
        form = {"message": "Third, changed", "edits": str(question.id)}
        browser.post(f"/chat/{thread_id}/messages", htmx=True, **form)
    elif way == "again":
        browser.post(f"/chat/{thread_id}/messages/{reply.id}/again", htmx=True)
    else:
        browser.post(f"/chat/{thread_id}/branch", htmx=True, message_id=str(question.id))
    events = EventLog(redis_client).after(thread_id, "") or []
    assert [(event.type, event.payload) for event in events][:1] == [("reset", {"all": True})]


def test_words_on_a_branch_that_is_not_shown_are_found_in_the_history(
    database: Database, member: Member, thread_id: UUID
) -> None:
    third = shown(database, member, thread_id)[4]
    ask(database, member, "Something about walnuts", thread_id, instead_of=third.id)
    with database.session(member.scope) as session:
        show_branch(session, thread_id, third.id)
        assert [found.thread.id for found in find_threads(session, "walnuts")] == [thread_id]
        assert [found.thread.id for found in find_threads(session, "third")] == [thread_id]


# Not yours


@pytest.mark.parametrize("who", ["a colleague", "another group"])
def test_what_is_not_yours_is_not_there(
    app: Flask, owner: Database, database: Database, member: Member, thread_id: UUID, who: str
) -> None:
    group = member.group_id if who == "a colleague" else None
    other = make_user(owner, group, "admin")
    question, reply = shown(database, member, thread_id)[-2:]
    browser = sign_in(app, owner, other)
    address = f"/chat/{thread_id}"
    for path, form in (
        (f"{address}/messages", {"message": "Mine", "edits": str(question.id)}),
        (f"{address}/messages/{reply.id}/again", {}),
        (f"{address}/branch", {"message_id": str(question.id)}),
    ):
        assert browser.post(path, htmx=True, **form).status_code == 404, path
    # Nor through a conversation of one's own.
    own = make_thread(database, other, "Mine")
    for path, form in (
        (f"/chat/{own}/messages", {"message": "Mine", "edits": str(question.id)}),
        (f"/chat/{own}/messages/{reply.id}/again", {}),
        (f"/chat/{own}/branch", {"message_id": str(question.id)}),
    ):
        assert browser.post(path, htmx=True, **form).status_code == 404, path
    assert said(shown(database, member, thread_id)) == ["First", "Second", "Third"]
    assert said(shown(database, other, own)) == ["Mine"]


def test_forged_forms_other_methods_and_strangers_are_refused(
    app: Flask, owner: Database, database: Database, member: Member, thread_id: UUID,
    browser: CheckedClient,
) -> None:  # fmt: skip
    question, reply = shown(database, member, thread_id)[-2:]
    again_, branch = f"/chat/{thread_id}/messages/{reply.id}/again", f"/chat/{thread_id}/branch"
    for path in (again_, branch):
        form = {"message_id": str(question.id)}
        assert browser.post(path, token=False, **form).status_code == 400
        assert browser.get(path).status_code == 405
        stranger = CheckedClient(app.test_client())
        response = stranger.post(path, **form)
        assert (response.status_code, response.location[:8]) == (303, "/sign-in")
    for missing in ({}, {"message_id": "nonsense"}, {"message_id": str(new_id())}):
        assert browser.post(branch, htmx=True, **missing).status_code == 404
    assert (
        browser.post(f"/chat/{thread_id}/messages/{question.id}/again", htmx=True).status_code
        == 422
    )
    assert len(everything(owner, thread_id)) == 6


# A very long conversation


def long_thread(owner: Database, member: Member, messages: int) -> UUID:
    """A conversation of so many messages, questions and answers in turn, made in one go."""
    ids = [new_id() for _ in range(messages)]
    thread_id = new_id()
    facts = {"group_id": member.group_id, "user_id": member.user_id}
    with owner.transaction() as session:
        session.add(Thread(id=thread_id, title="Long", head_id=ids[-1], **facts))
        session.flush()
        session.execute(
            insert(Message),
            [
                {
                    "id": id_,
                    "thread_id": thread_id,
                    "parent_id": ids[at - 1] if at else None,
                    "role": "assistant" if at % 2 else "user",
                    "content": f"Message {at}",
                    **facts,
                }
                for at, id_ in enumerate(ids)
            ],
        )
    with owner.transaction() as session:
        session.execute(text("ANALYZE messages"))
    return thread_id


@contextmanager
def counted(database: Database) -> Iterator[list[int]]:
    """The rows that each statement of this database returns or changes."""
    rows: list[int] = []

    def note(*facts: Any) -> None:
        rows.append(facts[1].rowcount)

    event.listen(database.engine, "after_cursor_execute", note)
    yield rows
    event.remove(database.engine, "after_cursor_execute", note)


def plan_as_for_a_big_table(session: ScopedSession) -> None:
    """A small table is read whole, whatever is wanted of it; a big one by its indexes."""
    for way in ("seqscan", "hashjoin", "mergejoin"):
        session.execute(text(f"SET LOCAL enable_{way} = off"))


def tuples_read(session: ScopedSession) -> int:
    """How many rows of messages this connection has looked at; what counts is the difference."""
    query = text(
        "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
        " WHERE relname = 'messages'"
    )
    read: int = session.execute(query).scalar_one()
    return read


def test_two_thousand_messages_cost_a_page_no_more_than_forty(
    app: Flask, owner: Database, member: Member
) -> None:
    on: Services = app.extensions["comanda"]
    browser = sign_in(app, owner, member)
    costs = []
    for size in (40, 2000):
        thread_id = long_thread(owner, member, size)
        browser.page(f"/chat/{thread_id}")
        with counted(on.database) as rows:
            page = browser.page(f"/chat/{thread_id}")
        assert len(page.find_all("article")) == 30
        with on.database.transaction(member.scope) as session:
            plan_as_for_a_big_table(session)
            before = tuples_read(session)
            messages = latest_messages(session, thread_id, 31)
            places(session, messages)
            costs.append((len(rows), max(rows), tuples_read(session) - before))
    assert costs[0][:2] == costs[1][:2]
    # Far fewer than there are; how many exactly depends on what the table's index still holds
    # of rows that are gone.
    assert all(tuples < 5 * 31 for _, _, tuples in costs)


def test_a_turn_in_a_long_conversation_reads_no_more_than_in_a_short_one(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    on: Services = app.extensions["comanda"]
    costs = []
    for size in (40, 2000):
        thread_id = long_thread(owner, member, size)
        accepted = ask(database, member, "Continue", thread_id)
        provider = ScriptedProvider(say("Yes."))
        with counted(on.database) as rows:
            answer(app, member, accepted, provider)
        assert len(provider.requests[0].messages) == 22
        costs.append((len(rows), max(rows)))
    assert costs[0] == costs[1]


def test_the_end_of_a_long_branch_is_found_fast(
    owner: Database, database: Database, member: Member
) -> None:
    thread_id = long_thread(owner, member, 2000)
    messages = everything(owner, thread_id)
    with database.transaction(member.scope) as session:
        plan_as_for_a_big_table(session)
        before = tuples_read(session)
        assert newest_below(session, messages[0].id) == messages[-1].id
        # Each step down looks at the next message alone.
        assert tuples_read(session) - before <= 2000


def test_no_turn_is_left_that_nobody_can_claim(
    app: Flask, database: Database, member: Member, nobody_waits: None
) -> None:
    on: Services = app.extensions["comanda"]
    with database.session(member.scope) as session:
        facts: dict[str, Any] = {"thread_id": new_id(), "may_begin": True, "language": "en"}
        first = accept_message(session, message="Waiting", **facts)
        changed = accept_message(session, message="Changed", instead_of=first.message.id, **facts)
        session.commit()
    claimed = {turn.turn_id for turn in claim_turns(on, "for this test", 50)}
    assert changed.turn.id in claimed
    assert first.turn.id not in claimed
