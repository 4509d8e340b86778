"""What is posted to the assistant beside a form, and what its panel shows."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO
from uuid import UUID
from zipfile import ZipFile

import pytest
from flask import Flask
from PIL import Image
from sqlalchemy import select, text, update

from app.accounts.models import Group
from app.assistant.models import Message, Prompt, Thread
from app.assistant.threads.history import find_threads
from app.assistant.threads.threads import recent_threads
from app.db import Database, new_id, utc_now
from app.extensions import Services
from app.files.models import StoredFile
from app.skills.forms.models import FormDraft, FormTemplate
from app.skills.forms.workflow.conversation import KIND
from tests.factories import CheckedClient, Member, ask, make_group, make_thread, make_user, sign_in
from tests.skills.forms.filling import (
    address_on,
    autosave,
    drafts_of,
    field,
    form_on,
    make_template,
    send,
)
from tests.skills.forms.talking import SAID


@pytest.fixture
def template(owner: Database, member: Member) -> FormTemplate:
    return make_template(owner, member.group_id, slug="report")


def begun(template: FormTemplate) -> dict[str, str]:
    """What the composer of a form carries that is stored nowhere yet."""
    return {"begin": str(template.id), "version": str(template.version)}


def said_in(owner: Database, thread_id: UUID) -> list[str]:
    with owner.transaction() as session:
        query = select(Message.content).where(
            Message.thread_id == thread_id, Message.role == "user"
        )
        return list(session.scalars(query.order_by(Message.id)))


def tell(browser: CheckedClient, template: FormTemplate, words: str = SAID) -> str:
    """Say something beside a form that is not begun; returns where that is posted."""
    address = address_on(browser.page(f"/forms/{template.slug}?new=1")) + "/ask"
    assert browser.post(address, message=words, **begun(template)).status_code == 303
    return address


def limit_to_one(owner: Database, member: Member) -> None:
    """One message a month for the whole house."""
    with owner.transaction() as session:
        session.get_one(Group, member.group_id).monthly_message_limit = 1


def test_the_first_message_begins_the_draft_and_its_conversation(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page("/forms/report")
    address = page.find("form", id="composer").attributes["action"]
    assert address == address_on(page) + "/ask"
    assert drafts_of(owner, member) == []
    answered = browser.post(address, htmx=True, message=SAID, **begun(template))
    assert answered.status_code == 200
    [draft] = drafts_of(owner, member)
    assert answered.headers["HX-Replace-Url"] == f"/forms/drafts/{draft.id}"
    assert f"/chat/{draft.thread_id}/events" in answered.text
    assert 'id="history"' not in answered.text
    assert "<title>" not in answered.text
    with owner.transaction() as session:
        thread = session.get_one(Thread, draft.thread_id)
        assert (thread.context_type, thread.user_id) == (KIND, member.user_id)
    # And goes on in it, with what is typed beside it.
    autosave(browser, browser.page(f"/forms/drafts/{draft.id}"), what="A cut")
    assert browser.post(address, message="Actually, the left one").status_code == 303
    assert said_in(owner, draft.thread_id) == [SAID, "Actually, the left one"]
    assert drafts_of(owner, member)[0].typed == {"what": "A cut"}


def test_the_page_shows_what_was_said_and_goes_on_listening(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    tell(browser, template)
    [draft] = drafts_of(owner, member)
    page = browser.page(f"/forms/drafts/{draft.id}")
    panel = page.find("section", id="assistant")
    assert [each.text for each in panel.find_all("p", class_="bubble")] == [SAID]
    stream = panel.find("div", id="stream").attributes["hx-sse:connect"]
    assert stream.startswith(f"/chat/{draft.thread_id}/events")
    # Nothing was handed over: it opens when it is asked to.
    assert "data-opens" not in panel.attributes


def test_the_same_message_twice_is_one(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    address = address_on(browser.page("/forms/report")) + "/ask"
    sent = {"message": SAID, "message_key": new_id().hex, **begun(template)}
    first, second = (browser.post(address, htmx=True, **sent) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 204)
    [draft] = drafts_of(owner, member)
    assert second.headers["HX-Redirect"] == f"/forms/drafts/{draft.id}"
    assert said_in(owner, draft.thread_id) == [SAID]


def test_a_message_that_cannot_be_taken_begins_nothing(
    on: Services, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    address = address_on(browser.page("/forms/report")) + "/ask"
    assert browser.post(address, htmx=True, message="  ", **begun(template)).status_code == 422
    ask(on.database, member)
    limit_to_one(owner, member)
    refused = browser.post(address, htmx=True, message=SAID, **begun(template))
    assert refused.status_code == 429
    assert 'data-code="limit"' in refused.text
    assert drafts_of(owner, member) == []


def test_an_earlier_message_is_changed_on_a_branch(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    address = tell(browser, template)
    [draft] = drafts_of(owner, member)
    with owner.transaction() as session:
        query = select(Message.id).where(
            Message.thread_id == draft.thread_id, Message.role == "user"
        )
        first = session.scalars(query).one()
    answered = browser.post(address, htmx=True, message="No, Ana did", edits=str(first))
    assert answered.headers["HX-Retarget"] == "#messages"
    assert "No, Ana did" in answered.text
    assert SAID not in answered.text


def test_what_is_somebody_elses_is_not_found(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    address = tell(browser, template)
    [draft] = drafts_of(owner, member)
    boss = make_user(owner, member.group_id, "admin")
    stranger = make_user(owner, make_group(owner))
    for other in (boss, stranger):
        theirs = sign_in(app, owner, other)
        for more in ({}, begun(template)):
            assert theirs.post(address, message="Mine now", **more).status_code == 404
        for path in ("", "/events", "/earlier"):
            assert theirs.get(f"/chat/{draft.thread_id}{path}").status_code == 404
    assert said_in(owner, draft.thread_id) == [SAID]
    assert browser.get(address).status_code == 405
    assert browser.client.post(address, data={"message": "No token"}).status_code == 400
    assert app.test_client().post(address, data={"message": "Nobody"}).status_code in (303, 400)


def test_a_form_that_was_sent_takes_no_more_messages(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page("/forms/report")
    send(browser, page, "submit", who="Ana", what="A cut")
    answered = browser.post(address_on(page) + "/ask", htmx=True, message=SAID)
    assert answered.status_code == 409
    assert "This form has already been sent. Open a new one." in answered.text


def test_the_conversation_is_on_no_list_of_chats_and_leads_back_to_its_form(
    on: Services, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    chat = make_thread(on.database, member, "A question about the slicer")
    browser.post(
        address_on(browser.page("/forms/report")) + "/ask", message=SAID, **begun(template)
    )
    [draft] = drafts_of(owner, member)
    with on.database.transaction(member.scope) as session:
        assert [thread.id for thread in recent_threads(session)] == [chat]
        assert [found.thread.id for found in find_threads(session, "slicer")] == [chat]
    with ZipFile(BytesIO(browser.get("/chats/export.zip").data)) as archive:
        exported = b"".join(map(archive.read, archive.namelist()))
    assert b"A question about the slicer" in exported
    assert SAID.encode() not in exported
    assert browser.get(f"/chat/{draft.thread_id}").location == f"/forms/drafts/{draft.id}"
    # A chip, and stop, without scripts.
    answered = browser.post(f"/chat/{draft.thread_id}/messages", message="The left one")
    assert browser.get(answered.location).location == f"/forms/drafts/{draft.id}"
    chip = browser.post(f"/chat/{draft.thread_id}/messages", htmx=True, message="No, the right")
    assert chip.headers["HX-Replace-Url"] == f"/forms/drafts/{draft.id}"


def test_who_was_handed_over_something_meets_the_panel_open(
    on: Services, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    message = ask(on.database, member, SAID).message
    opened = browser.post("/forms/report/open", message_id=str(message.id))
    page = browser.page(browser.get(opened.location).location)
    panel = page.find("section", id="assistant")
    assert "data-opens" in panel.attributes
    assert [each.text for each in panel.find_all("p", class_="bubble")] == [SAID]
    autosave(browser, page, what="Typed by hand")
    [draft] = drafts_of(owner, member)
    panel = browser.page(f"/forms/drafts/{draft.id}").find("section", id="assistant")
    assert "data-opens" not in panel.attributes


def test_what_could_not_be_said_at_a_limit_waits_in_the_composer(
    on: Services, owner: Database, member: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    message = ask(on.database, member, SAID).message
    limit_to_one(owner, member)
    opened = browser.post("/forms/report/open", message_id=str(message.id))
    page = browser.page(browser.get(opened.location).location)
    assert page.find("textarea", id="message").text == SAID
    assert page.find("div", class_="notice notice-warn")


@pytest.mark.parametrize("off", ["prompt", "template"])
def test_switched_off_there_is_no_panel(
    owner: Database, member: Member, browser: CheckedClient, template: FormTemplate, off: str
) -> None:
    assert browser.page("/forms/report").find_all("section", id="assistant")
    with owner.transaction() as session:
        if off == "prompt":
            row = Prompt.group_id == member.group_id, Prompt.slug == "domain-forms"
            session.execute(update(Prompt).where(*row).values(is_active=False))
        else:
            session.get_one(FormTemplate, template.id).ai_tools = []
    page = browser.page("/forms/report")
    assert page.find_all("section", id="assistant") == []
    assert page.find_all("button", id="assistant-open") == []


def test_the_row_of_the_form_assistant_is_edited_like_any_other(
    app: Flask, owner: Database, member: Member
) -> None:
    admin = sign_in(app, owner, make_user(owner, member.group_id, "admin"))
    listed = admin.page("/admin/prompts/")
    [link] = [each for each in listed.find_all("a") if each.text.startswith("domain-forms")]
    assert "update_form" in admin.page(link.attributes["href"]).text


def test_words_to_a_discarded_form_keep_its_photos(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_template(owner, member.group_id, [field("photo")], slug="with-photo")
    page = browser.page("/forms/with-photo")
    content = BytesIO()
    Image.new("RGB", (40, 30), "red").save(content, "JPEG")
    files = {"u-photo": [(BytesIO(content.getvalue()), "hand.jpg")]}
    browser.post(address_on(page), **form_on(page), **files)
    [draft] = drafts_of(owner, member)

    def holder() -> tuple[str, UUID | None]:
        with owner.transaction() as session:
            kept = session.scalars(
                select(StoredFile).where(StoredFile.user_id == member.user_id)
            ).one()
            return kept.owner_kind, kept.owner_id

    held = holder()
    assert held[1] == draft.id
    browser.post(f"/forms/drafts/{draft.id}/discard")
    assert holder() == ("", None)
    answered = browser.post(f"/forms/drafts/{draft.id}/ask", message="wait, it was his left hand")
    assert answered.status_code == 303
    assert drafts_of(owner, member)[0].status == "open"
    assert holder() == held


def test_a_form_that_was_discarded_is_gone_with_its_words_a_day_later(
    owner: Database, database: Database, member: Member, browser: CheckedClient,
    template: FormTemplate,
) -> None:  # fmt: skip
    tell(browser, template)
    tell(browser, template, "Somebody else was hurt, too")
    gone, kept = drafts_of(owner, member)
    browser.post(f"/forms/drafts/{gone.id}/discard")
    forget(database)
    assert len(drafts_of(owner, member)) == 2
    with owner.transaction() as session:
        day_ago = {"updated_at": utc_now() - timedelta(hours=25)}
        mine = FormDraft.id.in_([gone.id, kept.id])
        session.execute(update(FormDraft).where(mine).values(day_ago))
    forget(database)
    assert [each.id for each in drafts_of(owner, member)] == [kept.id]
    assert said_in(owner, gone.thread_id) == [] and said_in(owner, kept.thread_id)


def forget(database: Database) -> None:
    """What the hourly job does about forms."""
    with database.transaction() as session:
        session.execute(text("SELECT forget_discarded_forms()"))
