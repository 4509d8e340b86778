"""Somebody who talks with the assistant beside a form, turn by turn in this process."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import select

from app.assistant.models import Message
from app.assistant.providers.base import Provider
from app.assistant.threads.threads import ask_again
from app.db import Database, utc_now
from app.extensions import Services
from app.skills.forms.models import FormDraft, FormTemplate
from app.skills.forms.services.drafts import open_draft
from app.skills.forms.services.starters import add_starters
from app.skills.forms.workflow.conversation import KIND
from tests.factories import Member, answer, ask
from tests.factories.chat import TEST_RUNNER

INJURY = "employee-injury-report"
SAID = "John cut his hand on the slicer at 3pm today in the kitchen"


def add_injury_report(owner: Database, group_id: UUID) -> None:
    """The starter form that the chapter's sentences are about."""
    with owner.transaction() as session:
        add_starters(session, group_id, [INJURY])


@dataclass
class Talker:
    """A person with a form that they have begun."""

    app: Flask
    member: Member
    draft_id: UUID
    thread_id: UUID

    @property
    def on(self) -> Services:
        found: Services = self.app.extensions["comanda"]
        return found

    def tell(self, provider: Provider, words: str, language: str = "en") -> Message:
        """Say something to the form's assistant; returns its reply."""
        told = {"language": language, "kind": KIND}
        asked = ask(self.on.database, self.member, words, self.thread_id, **told)
        return answer(self.app, self.member, asked, provider)

    def again(self, provider: Provider, reply: Message) -> Message:
        """Have the turn of a reply run once more."""
        with self.on.database.session(self.member.scope) as session:
            asked = ask_again(session, self.thread_id, reply.id)
            asked.turn.status, asked.turn.fence, asked.turn.attempts = "running", 1, 1
            asked.turn.runner_id, seconds = TEST_RUNNER
            asked.turn.lease_until = utc_now() + timedelta(seconds=seconds)
            session.commit()
        return answer(self.app, self.member, asked, provider)

    @property
    def draft(self) -> FormDraft:
        with self.on.database.transaction(self.member.scope) as session:
            return session.get_one(FormDraft, self.draft_id)

    @property
    def typed(self) -> dict[str, Any]:
        return self.draft.typed


def begin(app: Flask, member: Member, slug: str = INJURY) -> Talker:
    """An empty draft of a form of the house."""
    database: Database = app.extensions["comanda"].database
    with database.transaction(member.scope) as session:
        template = session.scalars(
            select(FormTemplate).where(
                FormTemplate.slug == slug, FormTemplate.group_id == member.group_id
            )
        ).one()
        draft = open_draft(session, template)
        return Talker(app, member, draft.id, draft.thread_id)


def updates(reply: Message) -> dict[str, Any]:
    """What the reply shows as filled in."""
    [part] = [part for part in reply.parts if part["type"] == "form_updates"]
    return part


def filled(reply: Message) -> set[str]:
    return {field["name"] for field in updates(reply)["filled"]}
