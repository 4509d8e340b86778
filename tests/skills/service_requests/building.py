"""Small types of request, conversations that are some steps old, and the forms they ask with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import Flask

from app.assistant.models import Message, Thread
from app.assistant.proposals.proposals import offer
from app.assistant.threads.steps import load_steps
from app.assistant.tools.tool import CitationLedger, ToolContext
from app.db import Database, new_id
from app.files.models import StoredFile
from app.skills.service_requests.models import RequestTeam, RequestType, TeamMember
from app.skills.service_requests.services.definitions import (
    RequestForm,
    Words,
    main_fields,
    read_questions,
    read_request_fields,
)
from app.skills.service_requests.tools.arguments import SubmitArguments
from app.skills.service_requests.tools.submit_tool import SubmitRequest
from app.skills.service_requests.workflow.state import RequestState
from app.skills.service_requests.workflow.state_loader import load_state_at_head
from tests.factories import Member, make_thread

Step = dict[str, Any]
QUESTIONS = [{"ask": {"en": f"Question {n}?", "es": f"¿Pregunta {n}?"}} for n in range(1, 5)]


def field(name: str, kind: str, **more: Any) -> dict[str, Any]:
    """A field of a type as it is stored, with an id of its own."""
    label = {"en": name.title(), "es": name.title()}
    return {"field_id": str(new_id()), "type": kind, "name": name, "label": label, **more}


def options(*values: str) -> list[dict[str, Any]]:
    return [{"value": each, "label": {"en": each.title(), "es": each.title()}} for each in values]


def all_fields() -> list[dict[str, Any]]:
    """One field of each of the eleven types, beside the two that every type has."""
    return [
        *main_fields(new_id(), new_id()),
        field("details", "textarea"),
        field("count", "number", min="1", max="99", decimals=0),
        field("mail", "email"),
        field("is_safety", "checkbox"),
        field("place", "select", options=options("kitchen", "bar"), required=True),
        field("how_bad", "radio", options=options("little", "much")),
        field("burner", "text", show_if={"field": "place", "values": ["kitchen"]}),
        field("address", "address"),
        field("phone", "phone"),
        field("day", "date", when="future"),
        field("photos", "file", kinds=["image", "pdf"], most=2),
    ]


def short_fields() -> list[dict[str, Any]]:
    """What is soon told: title, priority, and files if there are any."""
    return [*main_fields(new_id(), new_id()), field("photos", "file", most=2)]


def make_type(
    owner: Database,
    group_id: UUID,
    fields: Sequence[Mapping[str, Any]] | None = None,
    team: Sequence[Member] = (),
    **facts: Any,
) -> RequestType:
    """A type of the group that can be submitted, and its team where there are `team` members."""
    with owner.transaction() as session:
        team_id = None
        if team:
            found = RequestTeam(group_id=group_id, slug=f"team-{new_id()}", name_en="Fixers")
            session.add(found)
            session.flush()
            team_id = found.id
            session.add_all(
                TeamMember(team_id=team_id, user_id=each.user_id, group_id=group_id)
                for each in team
            )
        made = RequestType(
            id=new_id(),
            group_id=group_id,
            slug=f"type-{new_id()}",
            name_en="Equipment repair",
            name_es="Reparación de equipo",
            team_id=team_id,
            fields=list(map(dict, all_fields() if fields is None else fields)),
            questions=QUESTIONS,
            **{"is_guided": True, **facts},
        )
        session.add(made)
        session.flush()
        session.expunge(made)
    return made


def form_of(fields: Sequence[Mapping[str, Any]]) -> RequestForm:
    """A form that is in no database."""
    return RequestForm(
        new_id(),
        1,
        Words(en="Repair"),
        (),
        read_request_fields(fields),
        read_questions(QUESTIONS),
        is_guided=True,
    )


def id_of(kind: RequestType, name: str) -> str:
    """The field_id of the type's field of that name."""
    [found] = [each["field_id"] for each in kind.fields if each["name"] == name]
    return str(found)


def make_file(owner: Database, whose: Member, **facts: Any) -> dict[str, Any]:
    """A picture that somebody has uploaded, as a widget names it: {path, name, size}."""
    row = {"name": "leak.jpg", "kind": "image", "media_type": "image/jpeg", "size": 10, **facts}
    with owner.transaction() as session:
        made = StoredFile(
            id=new_id(),
            group_id=whose.group_id,
            user_id=whose.user_id,
            key=new_id().hex,
            sha256="",
            **row,
        )
        session.add(made)
        session.flush()
        return {"path": f"/files/{made.id}", "name": made.name, "size": made.size}


def id_in(file: Mapping[str, Any]) -> UUID:
    return UUID(file["path"].rsplit("/", 1)[-1])


def begun(kind: RequestType) -> list[Step]:
    """A request of this type begins."""
    chosen = {"type": "type_selection", "type_id": str(kind.id), "version": kind.version}
    return [{"type": "type_offered", "query": "The oven is cold"}, chosen]


def told(kind: RequestType, **values: Any) -> list[Step]:
    """These values are taken, by the names of their fields."""
    return [
        {"type": "field_response", "field_id": id_of(kind, name), "value": value}
        for name, value in values.items()
    ]


def finished(*answers: str) -> list[Step]:
    """These answers are taken, and there is nothing else to ask or to propose."""
    return [
        *(
            {"type": "question_answer", "question": f"Question {n}?", "answer": answer}
            for n, answer in enumerate(answers, 1)
        ),
        {"type": "questions_ended"},
        {"type": "resolution_skipped"},
        {"type": "optional_offered"},
    ]


@dataclass(frozen=True)
class Talk:
    """A conversation of one person about a request of one type."""

    database: Database
    who: Member
    kind: RequestType
    thread_id: UUID

    def add(self, *steps: Step) -> UUID:
        """A reply at its end that has taken these steps; returns the reply's id."""
        with self.database.transaction(self.who.scope) as session:
            thread = session.get_one(Thread, self.thread_id, with_for_update=True)
            reply = Message(
                id=new_id(),
                group_id=self.who.group_id,
                user_id=self.who.user_id,
                thread_id=thread.id,
                parent_id=thread.head_id,
                role="assistant",
                content="All right.",
                internal_content={"type": "steps", "steps": list(steps)},
            )
            session.add(reply)
            thread.head_id = reply.id
            return reply.id

    def begin(self) -> UUID:
        """The type is chosen; returns the message that the request begins with."""
        return self.add(*begun(self.kind))

    def ask_for(self, name: str) -> UUID:
        """The assistant asks for a field; returns the message that asks."""
        return self.add({"type": "field_asked", "field_id": id_of(self.kind, name)})

    def tell(self, **values: Any) -> UUID:
        """These values are taken."""
        return self.add(*told(self.kind, **values))

    def finish(self, *answers: str) -> UUID:
        """All that is left before a request can be filed: these answers, and no solution."""
        return self.add(*finished(*answers))

    def state(self) -> RequestState:
        """What it has come to."""
        with self.database.transaction(self.who.scope) as session:
            return load_state_at_head(session, self.thread_id, "en")

    def messages(self) -> list[Message]:
        with self.database.session(self.who.scope) as session:
            query = session.query(Message).where(Message.thread_id == self.thread_id)
            return query.order_by(Message.id).all()

    def propose(self, app: Flask) -> UUID:
        """The request is proposed by the last reply, as the tool does; returns the proposal."""
        head = self.messages()[-1].id
        tool, whose = SubmitRequest(), self.who.scope
        context = ToolContext(
            whose,
            "en",
            lambda: self.database.transaction(whose),
            CitationLedger(),
            thread_id=self.thread_id,
            message_id=head,
            reply_id=head,
            take_steps=lambda _steps: None,
            load_steps=lambda session: load_steps(session, self.thread_id, head),
        )
        with app.test_request_context("/"):
            draft = tool.propose(SubmitArguments(), context)
        with self.database.transaction(whose) as session:
            found = offer(session, tool, draft, thread_id=self.thread_id, message_id=head)
            return found.id


def start_talk(database: Database, who: Member, kind: RequestType) -> Talk:
    """A conversation in which the type has been chosen."""
    talk = Talk(database, who, kind, make_thread(database, who))
    talk.begin()
    return talk


def ready_talk(
    database: Database,
    who: Member,
    kind: RequestType,
    title: str = "Oven",
    answers: Sequence[str] = ("It is cold", "Since noon"),
) -> Talk:
    """A conversation about a request that can be filed."""
    with database.transaction(who.scope) as session:
        thread = Thread(id=new_id(), group_id=who.group_id, user_id=who.user_id)
        session.add(thread)
        talk = Talk(database, who, kind, thread.id)
    talk.add(*begun(kind), *told(kind, title=title, priority="high"), *finished(*answers))
    return talk
