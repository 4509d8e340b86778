"""Ctrl-C in the middle of an answer: prompt, and nothing of it is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from sqlalchemy import select

from app.assistant.models import Message
from app.assistant.threads.threads import accept_message
from app.db import app_database, new_id, owner_database
from tests.embedded.processes import Holder, House, wait_until
from tests.factories import make_user
from tests.model_server import ModelServer, Say, scenario

WORDS = [f"word{number} " for number in range(300)]


@pytest.mark.soak
def test_a_house_that_is_stopped_in_the_middle_of_an_answer_ends_promptly_and_finishes_it_later(
    folder: Path,
) -> None:
    with ModelServer() as model:
        model.script(scenario(Say(WORDS, delay=0.1), when="long"))
        given = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "a key for the script"}
        house = House(folder, module="app.embedded", **given)
        house.wait_until_ready()
        holder = Holder(folder, "--find-only")
        settings = holder.settings()
        owner, database = owner_database(settings), app_database(settings)
        member = make_user(owner)
        with database.session(member.scope) as session:
            accept_message(
                session, thread_id=new_id(), may_begin=True, message="long", language="en"
            )

        def reply() -> Message:
            with database.session(member.scope) as session:
                return session.scalars(select(Message).where(Message.role == "assistant")).one()

        wait_until(lambda: "word5" in reply().content, seconds=60)
        owner.engine.dispose()
        database.engine.dispose()
        holder.leave()
        began = time.monotonic()
        assert house.stop() == 0
        assert time.monotonic() - began < 12
        model.script(scenario(Say("All of it."), when="long"))
        again = House(folder, module="app.embedded", **given)
        again.wait_until_ready()
        wait_until(lambda: reply().status == "complete", seconds=60)
        assert reply().content == "All of it."
        database.engine.dispose()
        again.stop()
