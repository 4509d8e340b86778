"""What people asked and no document says: shared by one tap, and what an admin does about it."""

from __future__ import annotations

from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.assistant.feedback.feedback import rate_reply, withdraw_feedback
from app.assistant.models import Message, MessageFeedback
from app.assistant.threads.threads import latest_messages
from app.assistant.web.presenters import found_nothing
from app.db import Database
from app.retrieval.team_words import load_meanings
from app.skills.knowledge.models import ManualSection
from tests.factories import CheckedClient, Member, make_thread, make_user, sign_in

PAGE = "/admin/feedback/unanswered"
QUESTION = "Where is the spark?"
SEARCH = {"tool": "search_manual_v2", "arguments": {"query": "spark"}, "ok": True}


@pytest.fixture
def cook(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def boss(owner: Database, cook: Member) -> Member:
    return make_user(owner, cook.group_id, "admin", name="Bea Boss")


@pytest.fixture
def admin(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    return sign_in(app, owner, boss)


@pytest.fixture
def reply(database: Database, owner: Database, cook: Member) -> Message:
    return searched(database, owner, cook, QUESTION)


def searched(
    database: Database, owner: Database, member: Member, question: str, **columns: object
) -> Message:
    """A reply for which the manual was searched, and nothing found."""
    thread_id = make_thread(database, member, question, reply="I found nothing.")
    with database.transaction(member.scope) as session:
        reply_id = latest_messages(session, thread_id)[-1].id
    with owner.transaction() as session:
        changed = {"tool_trace": [SEARCH], **columns}
        session.execute(update(Message).where(Message.id == reply_id).values(**changed))
    with database.transaction(member.scope) as session:
        return latest_messages(session, thread_id)[-1]


def address(reply: Message) -> str:
    return f"/chat/{reply.thread_id}/messages/{reply.id}/feedback"


def share(database: Database, member: Member, reply: Message) -> UUID:
    with database.session(member.scope) as session:
        rate_reply(session, reply, "down", "missing", share=True)
        return session.scalars(
            select(MessageFeedback.id).where(MessageFeedback.message_id == reply.id)
        ).one()


def cards(browser: CheckedClient, path: str = PAGE) -> list[str]:
    listed = [li.attributes.get("id", "") for li in browser.page(path).find_all("li")]
    return [each[2:] for each in listed if each.startswith("f-")]


# Asking the admins for it


@pytest.mark.parametrize(
    ("columns", "is_one"),
    [
        ({}, True),
        ({"citations": [{"number": 1}]}, False),
        ({"parts": [{"type": "product_card"}]}, False),
        ({"tool_trace": []}, False),
        ({"tool_trace": [{**SEARCH, "tool": "list_expenses"}]}, False),
        ({"tool_trace": [{**SEARCH, "tool": "gone_since"}]}, False),
        ({"status": "stopped"}, False),
        ({"status": "failed"}, False),
    ],
)
def test_only_a_search_that_ended_with_nothing_has_found_nothing(
    app: Flask, database: Database, owner: Database, cook: Member,
    columns: dict[str, object], is_one: bool,
) -> None:  # fmt: skip
    reply = searched(database, owner, cook, QUESTION, **columns)
    assert found_nothing(reply, app.extensions["comanda"].registry) is is_one


def test_one_tap_shares_it_and_one_takes_it_back(
    app: Flask, owner: Database, database: Database, cook: Member, reply: Message,
    admin: CheckedClient,
) -> None:  # fmt: skip
    person = sign_in(app, owner, cook)
    form = person.page(f"/chat/{reply.thread_id}").find("form", class_="feedback-missing")
    fields = {each.attributes["name"]: each.attributes["value"] for each in form.find_all("input")}
    assert "They get your question and this answer" in form.text
    fields = {name: value for name, value in fields.items() if name != "csrf_token"}
    assert fields == {"reason": "missing", "share": "1"}
    assert cards(admin) == []
    told = person.post_fragment(address(reply), rating="down", **fields)
    assert "The admins have your question." in told.text
    page = admin.page(PAGE)
    assert QUESTION in page.text
    assert cook.name not in page.text
    told = person.post_fragment(address(reply), rating="none")
    assert "Tell the admins this is missing" in told.text
    assert QUESTION not in admin.page(PAGE).text


def test_what_was_rated_otherwise_is_not_asked_for_again(
    app: Flask, owner: Database, cook: Member, reply: Message
) -> None:
    person = sign_in(app, owner, cook)
    for rating in ("up", "down"):
        told = person.post_fragment(address(reply), rating=rating)
        assert "Tell the admins this is missing" not in told.text
        assert "The admins have your question." not in told.text


def test_the_form_of_a_bad_answer_has_the_reason_too(
    app: Flask, owner: Database, database: Database, cook: Member, admin: CheckedClient
) -> None:
    thread_id = make_thread(database, cook, QUESTION, reply="Ask somebody.")
    with database.transaction(cook.scope) as session:
        other = latest_messages(session, thread_id)[-1]
    person = sign_in(app, owner, cook)
    assert "Information is missing" in person.fragment(address(other)).text
    assert "Tell the admins" not in person.page(f"/chat/{thread_id}").text
    person.post_fragment(address(other), rating="down", reason="missing", comment="No spark")
    page = admin.page(PAGE)
    assert "No spark" in page.text
    assert QUESTION not in page.text


# What an admin does about it


def test_the_page_lists_what_is_missing_and_nothing_else(
    admin: CheckedClient, database: Database, owner: Database, cook: Member, reply: Message
) -> None:
    assert "No open questions." in admin.page(PAGE).text
    other = searched(database, owner, cook, "Who was it?")
    with database.session(cook.scope) as session:
        rate_reply(session, other, "down", "wrong", share=True)
    said = str(share(database, cook, reply))
    assert cards(admin) == [said]
    assert cards(admin, "/admin/feedback?reason=missing") == [said]
    [current] = admin.page(PAGE).find_all("a", aria_current="page", href=PAGE)
    assert current.text == "Unanswered questions"


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_it_is_the_admins_page(app: Flask, owner: Database, boss: Member, role: str) -> None:
    browser = sign_in(app, owner, make_user(owner, boss.group_id, role))
    assert browser.get(PAGE).status_code == 403
    assert browser.post("/admin/feedback/words", said="spark", means="igniter").status_code == 403


def test_handled_it_leaves_the_page_and_comes_back_to_it(
    admin: CheckedClient, database: Database, cook: Member, reply: Message
) -> None:
    said = share(database, cook, reply)
    given, *_others = admin.page(PAGE).find("li", id=f"f-{said}").find_all("input", name="given_at")
    form = {"given_at": given.attributes["value"]}
    answer = admin.post(f"/admin/feedback/{said}/handle?reason=missing", **form)
    assert answer.location.startswith(f"{PAGE}?")
    assert cards(admin) == []
    assert cards(admin, f"{PAGE}?state=handled") == [str(said)]


def test_a_section_is_written_with_the_question_in_sight(
    admin: CheckedClient, app: Flask, owner: Database, database: Database, cook: Member,
    boss: Member, reply: Message,
) -> None:  # fmt: skip
    said = share(database, cook, reply)
    new = f"/library/edit/sections/new?asked={said}"
    page = admin.page(new)
    assert QUESTION in page.text
    [form] = page.find_all("form", class_="editor")
    assert form.attributes["action"] == new
    kept = {
        each.attributes["name"]: each.attributes["value"]
        for each in form.find_all("input", type="hidden")
    }
    text = {"title_en": "Igniter", "body_en": "On the shelf above the grill.", "kind": "policy"}
    answer = admin.post(new, **{**text, "section_id": kept["section_id"], "is_published": "on"})
    assert answer.status_code == 303, answer.text
    assert f"asked={said}" in answer.location
    saved = admin.page(answer.location)
    [back] = saved.find_all("a", href=f"{PAGE}?state=all#f-{said}")
    assert back.text == "Back to unanswered questions"
    with owner.transaction() as session:
        titles = session.scalars(
            select(ManualSection.title_en).where(ManualSection.group_id == boss.group_id)
        )
        assert list(titles) == ["Igniter"]
    # Editors who are no admins, and addresses of anything else, get an empty editor.
    manager = sign_in(app, owner, make_user(owner, boss.group_id, "manager"))
    assert QUESTION not in manager.page(new).text
    for odd in ("", "x", "%00", str(reply.id)):
        assert "Asked in the chat" not in admin.page(new.replace(str(said), odd)).text
    with database.session(cook.scope) as session:
        withdraw_feedback(session, reply)
    assert "Asked in the chat" not in admin.page(new).text


def test_words_are_added_removed_and_refused_beside_their_card(
    admin: CheckedClient, database: Database, boss: Member, cook: Member, reply: Message
) -> None:
    said = share(database, cook, reply)
    wrong = {"feedback_id": str(said), "said": "spark", "means": "igniter"}
    answer = admin.post("/admin/feedback/words", **wrong)
    assert answer.status_code == 422
    assert answer.text.count("None of your documents has these words.") == 1
    assert answer.text.count('value="igniter"') == 1
    admin.post(
        "/library/edit/sections/new",
        title_en="Igniter", body_en="Above the grill.", kind="policy", is_published="on",
    )  # fmt: skip
    answer = admin.post("/admin/feedback/words", **wrong)
    assert answer.location.endswith(f"#f-{said}")
    page = admin.page(PAGE)
    assert "“spark” now searches for “igniter”." in page.text
    again = admin.post("/admin/feedback/words", said="Spark", means="grill")
    assert again.status_code == 409
    assert "“spark” is in the list already" in again.text
    [remove] = [
        form.attributes["action"] for form in page.find_all("form")
        if form.attributes["action"].endswith("/remove")
    ]  # fmt: skip
    assert admin.post(remove).status_code == 303
    assert admin.post(remove).status_code == 303
    assert "This was removed in the meantime." in admin.page(PAGE).text
    with database.transaction(boss.scope) as session:
        assert load_meanings(session) == {}
