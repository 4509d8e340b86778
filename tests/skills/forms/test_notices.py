"""Managers are told of each injury, incident and complaint that is sent."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import select, update

from app.accounts.models import Membership
from app.db import Database
from app.notifications.mail import OutgoingMail
from app.notifications.services import Notification
from app.skills.forms.models import FormTemplate
from app.skills.forms.services.starters import read_starters
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.skills.forms.filling import WHAT, make_template, send, submissions_of

URGENT = {"employee-injury-report", "incident-report", "guest-complaint"}


def told(owner: Database, person: Member) -> list[tuple[str, str, str]]:
    with owner.transaction() as session:
        mine = select(Notification).where(Notification.user_id == person.user_id)
        return [(each.text_en, each.text_es, each.url) for each in session.scalars(mine)]


def letters(owner: Database, person: Member) -> list[OutgoingMail]:
    with owner.transaction() as session:
        mine = select(OutgoingMail).where(OutgoingMail.to_address == person.email)
        return list(session.scalars(mine))


def urgent(owner: Database, member: Member) -> FormTemplate:
    template = make_template(owner, member.group_id, [WHAT])
    with owner.transaction() as session:
        mine = update(FormTemplate).where(FormTemplate.id == template.id)
        session.execute(mine.values(tells_managers=True))
    return template


def test_managers_and_admins_are_told_once_and_nothing_of_what_it_says(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = urgent(owner, member)
    manager = make_user(owner, member.group_id, "manager", language="es")
    admin = make_user(owner, member.group_id, "admin")
    others = [make_user(owner, member.group_id), make_user(owner, None, "admin"), member]
    page = browser.page(f"/forms/{template.slug}")
    for _ in range(2):
        assert send(browser, page, "submit", what="Cut her hand badly").status_code == 303
    [sent] = submissions_of(owner, member)
    en = f"{sent.submitter} sent “{template.title_en}”: {sent.reference}"
    es = f"{sent.submitter} envió «{template.title_es}»: {sent.reference}"
    url = f"/forms/submissions/{sent.id}"
    assert told(owner, manager) == told(owner, admin) == [(en, es, url)]
    [letter] = letters(owner, manager)
    assert letter.subject == es
    assert url in letter.body and "Cut her hand" not in letter.body
    assert [each.subject for each in letters(owner, admin)] == [en]
    assert [(told(owner, each), letters(owner, each)) for each in others] == [([], [])] * 3


def test_a_manager_is_not_told_of_their_own(app: Flask, owner: Database, member: Member) -> None:
    template = urgent(owner, member)
    manager = make_user(owner, member.group_id, "manager")
    admin = make_user(owner, member.group_id, "admin")
    client = sign_in(app, owner, manager)
    page = client.page(f"/forms/{template.slug}")
    assert send(client, page, "submit", what="Fell").status_code == 303
    assert told(owner, manager) == []
    assert len(told(owner, admin)) == 1


def test_of_other_forms_nobody_is_told(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, [WHAT])
    manager = make_user(owner, member.group_id, "manager")
    page = browser.page(f"/forms/{template.slug}")
    assert send(browser, page, "submit", what="Swapped").status_code == 303
    assert told(owner, manager) == []


def test_the_starters_that_tell_managers_are_those_that_are_urgent() -> None:
    assert {slug for slug, each in read_starters().items() if each.tells_managers} == URGENT


def test_who_is_no_manager_any_more_sees_no_lines_of_forms(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    template = urgent(owner, member)
    manager = make_user(owner, member.group_id, "manager")
    page = browser.page(f"/forms/{template.slug}")
    assert send(browser, page, "submit", what="Cut her hand").status_code == 303
    client = sign_in(app, owner, manager)
    [sent] = submissions_of(owner, member)
    assert sent.reference in client.get("/notifications").text
    with owner.transaction() as session:
        session.execute(
            update(Membership).where(Membership.user_id == manager.user_id).values(role="staff")
        )
        line = session.scalars(
            select(Notification.id).where(Notification.user_id == manager.user_id)
        ).one()
    assert sent.reference not in client.get("/notifications").text
    assert client.get(f"/notifications/{line}").status_code == 404
    with owner.transaction() as session:
        session.execute(
            update(Membership).where(Membership.user_id == manager.user_id).values(role="manager")
        )
    assert sent.reference in client.get("/notifications").text
