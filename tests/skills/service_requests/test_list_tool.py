"""One's own requests, told in the chat: which ones, how far they are, and the way to each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask

from app.assistant.models import Message
from app.db import Database
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import Member, answer, ask, make_user, sign_in
from tests.factories.service_requests import make_request


def listed(
    app: Flask, database: Database, member: Member, words: str = "", **arguments: Any
) -> Message:
    asked = ask(database, member, words or "Where is my request?")
    made = [call("list_service_requests", json.dumps({"words": words, **arguments}))]
    return answer(app, member, asked, ScriptedProvider(made, say("Look below.")))


def titles(reply: Message) -> list[str]:
    return [row["title"] for part in reply.parts for row in part["rows"]]


def test_ones_own_open_requests_are_told_newest_first(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    colleague = make_user(owner, member.group_id)
    make_request(owner, colleague, "The colleague's oven")
    make_request(owner, member, "The sink is clogged", status="closed")
    make_request(owner, member, "The walk-in is warm")
    make_request(
        owner, member, "The fryer smokes", status="in_progress", assignee_id=colleague.user_id
    )
    reply = listed(app, database, member)
    assert titles(reply) == ["The fryer smokes", "The walk-in is warm"]
    assert titles(listed(app, database, member, state="all"))[-1] == "The sink is clogged"
    assert titles(listed(app, database, member, "when is the fryer fixed")) == ["The fryer smokes"]


@pytest.mark.parametrize(("status", "count"), [("closed", 1), ("", 0)])
def test_where_none_is_open_the_latest_are_told(
    app: Flask, owner: Database, database: Database, member: Member, status: str, count: int
) -> None:
    if status:
        make_request(owner, member, "The sink is clogged", status=status)
    assert len(titles(listed(app, database, member))) == count


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("In progress", "Unassigned", "All your requests")),
     ("es", ("En curso", "Sin asignar", "Todas tus solicitudes"))],
)  # fmt: skip
def test_the_chat_shows_them_with_the_way_to_each(
    app: Flask, owner: Database, database: Database, member: Member, language: str,
    words: tuple[str, ...],
) -> None:  # fmt: skip
    reader = make_user(owner, member.group_id, language=language)
    request = make_request(owner, reader, "<b>Oven</b>", status="in_progress")
    reply = listed(app, database, reader)
    client = sign_in(app, owner, reader)
    page = client.get(f"/chat/{reply.thread_id}").get_data(as_text=True)
    assert f'href="/requests/{request.id}"' in page
    assert "&lt;b&gt;Oven&lt;/b&gt;" in page
    for each in words:
        assert each in page
