"""From a card to the form: once, one's own, soon, and nothing of what was said is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text, update

from app.assistant.models import Message, Thread
from app.db import Database, new_id, utc_now
from app.extensions import Services
from app.skills.forms.models import FormDraft, FormHandover, FormTemplate
from app.skills.forms.nlu import offer_form
from app.skills.forms.services.handover import own_words
from tests.assistant.scripted import ScriptedProvider
from tests.assistant.scripted import say as answered
from tests.factories import (
    CheckedClient,
    Member,
    answer,
    ask,
    make_form,
    make_group,
    make_user,
    sign_in,
)

SAID = "John cut his hand on the slicer at 3pm today in the kitchen"
SLUG = "employee-injury-report"
OPEN = f"/forms/{SLUG}/open"


@pytest.fixture
def member(owner: Database) -> Member:
    """Somebody of a house with one form."""
    member = make_user(owner)
    make_form(owner, member.group_id)
    return member


def say(on: Services, member: Member, text: str = SAID, **more: Any) -> UUID:
    """Something said in the chat; returns the message's id."""
    return ask(on.database, member, text, **more).message.id


def open_form(browser: CheckedClient, message_id: UUID) -> str:
    """Press the card's button; returns where it leads."""
    answered = browser.post(OPEN, message_id=str(message_id))
    assert answered.status_code == 303
    return str(answered.location)


def drafts(owner: Database, member: Member) -> list[FormDraft]:
    with owner.transaction() as session:
        return list(session.scalars(select(FormDraft).where(FormDraft.user_id == member.user_id)))


def test_a_card_leads_to_a_draft_with_the_persons_own_words(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    message_id = say(on, member)
    link = open_form(browser, message_id)
    assert link.startswith("/forms/handover/")
    assert "John" not in link
    assert drafts(owner, member) == []
    answered = browser.get(link)
    [draft] = drafts(owner, member)
    assert answered.status_code == 303
    assert answered.location == f"/forms/drafts/{draft.id}"
    assert draft.context == SAID
    assert draft.typed == {}
    with owner.transaction() as session:
        handover = session.scalars(
            select(FormHandover).where(FormHandover.draft_id == draft.id)
        ).one()
        assert handover.used_at is not None
        assert timedelta(minutes=29) < handover.expires_at - utc_now() < timedelta(minutes=30)


def test_who_takes_the_chip_beside_an_answer_hands_over_what_they_said_and_not_the_chip(
    app: Flask, on: Services, member: Member
) -> None:
    hurt = "John hurt his hand at 3pm on the slicer"
    for said in (hurt, f"{hurt} {'and then it bled ' * 100}".strip()):
        told = ask(on.database, member, said)
        answer(app, member, told, ScriptedProvider(answered("Hold it under water.")))
        with on.database.transaction(member.scope) as session:
            [chip] = offer_form(session, said, "en")
        asked = ask(on.database, member, chip.message, told.thread.id)
        with on.database.transaction(member.scope) as session:
            assert own_words(session, asked.message.id) == said
    # Who says the same in a new conversation has said it so.
    alone = ask(on.database, member, f"Fill out “it”: {SAID}").message.id
    with on.database.transaction(member.scope) as session:
        assert own_words(session, alone) == f"Fill out “it”: {SAID}"


def test_the_words_begin_the_forms_own_conversation_once(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    link = open_form(browser, say(on, member, language="es"))
    browser.get(link)
    browser.get(link)
    [draft] = drafts(owner, member)
    with owner.transaction() as session:
        thread = session.get_one(Thread, draft.thread_id)
        assert thread.context_type == "forms"
        query = select(Message).where(Message.thread_id == thread.id, Message.role == "user")
        [message] = session.scalars(query)
        assert (message.content, message.language) == (SAID, "es")


def test_the_form_that_opens_is_a_page(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    browser.get(open_form(browser, say(on, member)))
    [draft] = drafts(owner, member)
    assert "Employee injury report" in browser.page(f"/forms/drafts/{draft.id}").text


def test_used_again_it_leads_to_the_same_draft(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    link = open_form(browser, say(on, member))
    first, second = browser.get(link), browser.get(link)
    assert first.location == second.location
    assert len(drafts(owner, member)) == 1
    with owner.transaction() as session:
        session.execute(
            update(FormHandover)
            .where(FormHandover.user_id == member.user_id)
            .values(expires_at=utc_now() - timedelta(hours=1))
        )
    assert browser.get(link).location == first.location


def test_two_clicks_at_once_make_one_draft(
    app: Flask, on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    link = open_form(browser, say(on, member))
    browsers = [sign_in(app, owner, member) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        places = {answered.location for answered in pool.map(lambda b: b.get(link), browsers)}
    assert len(places) == 1
    assert len(drafts(owner, member)) == 1


def test_a_link_to_a_draft_that_is_gone_says_what_to_do(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    link = open_form(browser, say(on, member))
    browser.get(link)
    with owner.transaction() as session:
        session.delete(session.scalars(select(FormDraft).filter_by(user_id=member.user_id)).one())
    page = browser.page(link, status=410)
    assert "Open the form again from the chat" in page.text


def test_an_expired_link_says_that_the_words_are_still_there(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    message_id = say(on, member)
    link = open_form(browser, message_id)
    with owner.transaction() as session:
        session.execute(
            update(FormHandover)
            .where(FormHandover.user_id == member.user_id)
            .values(expires_at=utc_now() - timedelta(seconds=1))
        )
    assert "still in the chat" in browser.page(link, status=410).text
    assert drafts(owner, member) == []
    # The card is good for ever.
    assert browser.get(open_form(browser, message_id)).status_code == 303


def test_a_form_that_is_archived_meanwhile_is_not_opened_and_says_so(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    message_id = say(on, member)
    link = open_form(browser, message_id)
    with owner.transaction() as session:
        session.execute(
            update(FormTemplate)
            .where(FormTemplate.group_id == member.group_id)
            .values(status="archived")
        )
    assert (
        "This form was archived in the meantime. What you wrote is still in the chat"
        in browser.page(link, status=410).text
    )
    assert browser.post(OPEN, message_id=str(message_id)).status_code == 404
    assert drafts(owner, member) == []


def test_what_is_somebody_elses_is_not_found(
    app: Flask, on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    message_id = say(on, member)
    link = open_form(browser, message_id)
    colleague = make_user(owner, member.group_id, "admin")
    stranger = make_user(owner, make_group(owner))
    make_form(owner, stranger.group_id)
    for other in (colleague, stranger):
        theirs = sign_in(app, owner, other)
        assert theirs.get(link).status_code == 404
        assert theirs.post(OPEN, message_id=str(message_id)).status_code == 404
        assert drafts(owner, other) == []
    assert browser.get(link).status_code == 303


def test_a_form_of_another_house_is_not_opened(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_form(owner, make_group(owner), "their-form")
    message_id = say(on, member)
    answered = browser.post("/forms/their-form/open", message_id=str(message_id))
    assert answered.status_code == 404


def test_a_reply_is_no_message_of_ones_own(
    on: Services, member: Member, browser: CheckedClient
) -> None:
    reply = ask(on.database, member, SAID).reply
    assert browser.post(OPEN, message_id=str(reply.id)).status_code == 404


def test_what_is_no_request_is_refused(
    app: Flask, on: Services, member: Member, browser: CheckedClient
) -> None:
    message_id = str(say(on, member))
    assert browser.post(OPEN).status_code == 422
    assert browser.post(OPEN, message_id="x' OR 1=1").status_code == 422
    assert browser.post(OPEN, token=False, message_id=message_id).status_code == 400
    assert browser.get(OPEN).status_code == 405
    assert browser.post(f"/forms/handover/{new_id()}").status_code == 405
    assert browser.get(f"/forms/handover/{new_id()}").status_code == 404
    assert browser.get("/forms/handover/not-an-id").status_code == 404
    nobody = app.test_client()
    assert "/sign-in" in nobody.get(f"/forms/handover/{new_id()}").location


def test_who_has_no_messages_left_still_gets_the_form(
    on: Services, owner: Database, browser: CheckedClient, member: Member, app: Flask
) -> None:
    limited = make_user(owner, make_group(owner, daily_message_limit=1))
    make_form(owner, limited.group_id)
    theirs = sign_in(app, owner, limited)
    link = open_form(theirs, say(on, limited))
    answered = theirs.get(link)
    assert answered.status_code == 303
    [draft] = drafts(owner, limited)
    assert draft.context == SAID
    assert "message" in theirs.page(f"/forms/drafts/{draft.id}").text
    with owner.transaction() as session:
        assert session.get(Thread, draft.thread_id) is None


def test_old_links_are_forgotten_when_a_new_one_is_made(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    open_form(browser, say(on, member))
    with owner.transaction() as session:
        session.execute(
            update(FormHandover)
            .where(FormHandover.user_id == member.user_id)
            .values(expires_at=utc_now() - timedelta(days=2))
        )
    open_form(browser, say(on, member))
    with owner.transaction() as session:
        query = select(FormHandover).where(FormHandover.user_id == member.user_id)
        assert len(session.scalars(query).all()) == 1


def test_words_that_a_link_carried_go_with_it(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    used, unused, fresh = (open_form(browser, say(on, member, f"{SAID} {n}")) for n in range(3))
    browser.get(used)
    with owner.transaction() as session:
        expired = {"expires_at": utc_now() - timedelta(minutes=31)}
        its = FormHandover.id == UUID(unused.rsplit("/", 1)[1])
        session.execute(update(FormHandover).where(its).values(expired))
    with on.database.transaction() as session:
        session.execute(text("SELECT forget_discarded_forms()"))
    with owner.transaction() as session:
        mine = select(FormHandover.context).where(FormHandover.user_id == member.user_id)
        assert sorted(session.scalars(mine)) == ["", "", f"{SAID} 2"]
    assert browser.get(fresh).status_code == 303
    # It still leads to what it became.
    assert browser.get(used).status_code == 303


def test_nothing_is_handed_over_from_a_chat_that_was_deleted(
    on: Services, owner: Database, member: Member, browser: CheckedClient
) -> None:
    asked = ask(on.database, member, SAID)
    browser.post(f"/chats/{asked.thread.id}/delete")
    assert browser.post(OPEN, message_id=str(asked.message.id)).status_code == 404
    assert drafts(owner, member) == []
