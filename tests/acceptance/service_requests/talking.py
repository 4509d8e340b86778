"""Somebody who puts a request together: what they say and tap, and what that comes to."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import delete, select

from app.assistant.providers.choice import make_provider, make_standby
from app.assistant.threads.step_posts import accept_step
from app.assistant.threads.threads import accept_message, load_message
from app.assistant.turns.envelope import envelope
from app.assistant.turns.executor import ClaimedTurn, execute_turn
from app.db import Scope, ScopedSession, new_id
from app.extensions import services
from app.files.models import StoredFile
from app.files.uploads import store_upload
from app.nlu.control import read_answer
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.services.definitions import RequestForm
from app.skills.service_requests.services.type_catalog import load_form
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest, RequestState
from app.skills.service_requests.workflow.state_loader import load_state_at_head
from tests.acceptance.asking import Reply
from tests.acceptance.service_requests.conversation import Turn
from tests.acceptance.service_requests.following import FollowingModel, Planned
from tests.factories import Member
from tests.files import samples


@dataclass
class Talk:
    """One person in one thread; with a `model`, that is what answers them.

    `uploads` are the ids of the files that were added, by name; `told` is what a program tells
    beside the next message, `seen` the message that a page which stood open ends in, and
    `instead_of` the message that the next one is a change of.
    """

    app: Flask
    person: Member
    language: str
    model: FollowingModel | None = None
    thread_id: UUID = field(default_factory=new_id)
    uploads: dict[str, UUID] = field(default_factory=dict)
    asked: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    seen: str | None = None
    instead_of: UUID | None = None

    def take(self, turn: Turn) -> Reply:
        """Say or tap what the turn says, and have the model go about it as it says."""
        self.language = turn.language or self.language
        step = self.step_of(turn)
        if turn.remove:
            self._remove(turn.remove)
        if self.model is not None:
            self.model.words = turn.words
            self.model.plan = [] if step else self._plan(turn)
        return self.send(turn.say, step)

    def send(self, words: str, step: Mapping[str, Any] | None = None) -> Reply:
        """One message, in words or as a step."""
        with self.app.app_context():
            claimed, reply_id = self._accept(words, step)
            provider, standby = providers_of(self.app)
            with self.app.test_request_context("/"):
                execute_turn(services(), provider, claimed, standby=standby)
        message = self._look(lambda session: load_message(session, self.thread_id, reply_id))
        with self.app.test_request_context("/"):
            body = envelope(message).model_dump(mode="json")
        reply = Reply(words, body | {"tool_trace": message.tool_trace})
        # What a model asks in its own words, nobody but the person knows.
        self.asked = _last_question(reply.text)
        return reply

    def _accept(self, words: str, step: Mapping[str, Any] | None) -> tuple[ClaimedTurn, UUID]:
        """Store the message as the chat does, and claim its turn as a runner does."""
        readers, kept_for = services().registry.steps, ("tests", 120)
        with services().database.session(self._scope) as session:
            if step is not None:
                accepted = accept_step(
                    session,
                    readers,
                    thread_id=self.thread_id,
                    internal=step,
                    message_key=None,
                    reserve=kept_for,
                )
            else:
                accepted = accept_message(
                    session,
                    thread_id=self.thread_id,
                    may_begin=True,
                    message=words,
                    language=self.language,
                    request={"domain": "manual", **self.told},
                    seen=self.seen,
                    instead_of=self.instead_of,
                    reserve=kept_for,
                )
            self.instead_of = None
            return ClaimedTurn(accepted.turn.id, 1, 1, self._scope), accepted.reply.id

    @property
    def state(self) -> RequestState:
        """What the conversation has come to, read from nothing but its messages."""
        found: RequestState = self._look(
            lambda session: load_state_at_head(session, self.thread_id, "en")
        )
        return found

    def form(self, slug: str) -> RequestForm:
        """A type of the house."""
        by_slug = select(RequestType.id).where(
            RequestType.group_id == self.person.group_id, RequestType.slug == slug
        )
        found: RequestForm = self._look(
            lambda session: load_form(session, session.scalars(by_slug).one())
        )
        return found

    def step_of(self, turn: Turn) -> dict[str, Any] | None:
        """The step that a tap posts; fields by name become fields by id."""
        if turn.choose:
            return {"type": "type_selection", "type_id": str(self.form(turn.choose).type_id)}
        step = dict(turn.tap)
        if "field" in step:
            step["field_id"] = self._field_id(step.pop("field"))
        if "upload" in step:
            step["value"] = [self._upload(name) for name in step.pop("upload")]
        return step or None

    def _upload(self, name: str) -> dict[str, Any]:
        """Add a picture as the widget does, which then says where it is."""

        on = self.app.extensions["comanda"]
        with (
            tempfile.TemporaryFile() as picture,
            self.app.app_context(),
            on.database.session(self._scope) as session,
        ):
            picture.write(samples.picture(size=(64, 48)))
            picture.seek(0)
            stored = store_upload(session, on.files, picture, name, kinds=("image",))
            session.commit()
            self.uploads[name], size = stored.id, stored.size
        return {"path": f"/files/{self.uploads[name]}", "name": name, "size": size}

    def _remove(self, name: str) -> None:
        """Take a file away that was added, as the clean-up does after a day."""
        gone = delete(StoredFile).where(StoredFile.id == self.uploads[name])
        self._look(lambda session: session.execute(gone))

    def _plan(self, turn: Turn) -> list[Planned]:
        state = self.state
        if turn.calls is None:
            return usual_plan(state, turn.say, self.asked)
        return [(tool, self._by_id(state, arguments)) for tool, arguments in turn.calls]

    def _by_id(self, state: RequestState, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A call's arguments as a model writes them: fields and types by their ids."""
        made = dict(arguments)
        if "values" in made:
            made["values"] = {self._field_id(name): raw for name, raw in made["values"].items()}
        if "skipped" in made:
            made["skipped"] = [self._field_id(name) for name in made["skipped"]]
        if "field" in made:
            made["field_id"] = self._field_id(made.pop("field"))
        if "type" in made:
            made["type_id"] = str(self.form(made.pop("type")).type_id)
        if "answer" in made:
            made["questions_answers"] = [_pair(state, self.asked, made.pop("answer"))]
        return made

    def _field_id(self, name: str) -> str:
        state = self.state
        found = state.form.by_name(name) if isinstance(state, OpenRequest) else None
        return str(found.field_id) if found else name

    @property
    def _scope(self) -> Scope:
        return Scope(self.person.group_id, self.person.user_id, self.person.role)

    def _look(self, look: Callable[[ScopedSession], Any]) -> Any:
        with self.app.app_context(), services().database.transaction(self._scope) as session:
            return look(session)


@cache
def providers_of(app: Flask) -> tuple[Any, Any]:
    """Who answers in this app, and who stands in; made once, as a runner makes them."""
    with app.app_context():
        on = services()
        return make_provider(on.settings, on.embedder), make_standby(on.settings, on.embedder)


def usual_plan(state: RequestState, said: str, asked: str) -> list[Planned]:
    """What a model that has read its instructions does about a message that needs no thought."""
    kind, answer = next_step(state).kind, read_answer(said)
    if isinstance(state, NoRequest):
        return [("suggest_service_request_type", {"user_query": said})]
    awaited = state.form.by_name(state.awaited)
    if awaited is not None:
        return [("record_answers", {"values": {str(awaited.field_id): said}})]
    if kind == "question":
        return [("record_answers", {"questions_answers": [_pair(state, asked, said)]})]
    if kind == "resolution" and answer:
        return [("record_answers", {"resolved": answer == "yes"})]
    if kind in ("optional", "submit") and answer == "no":
        return [("submit_service_request", {})]
    return []


def _pair(state: RequestState, asked: str, answer: str) -> dict[str, str]:
    return {"question": state.asked or asked, "answer": answer}


def _last_question(text: str) -> str:
    questions = re.findall(r"[^\n.]*\?", text)
    return questions[-1].strip() if questions else ""
