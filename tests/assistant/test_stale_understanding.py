"""After a change of a sentence without `make nlu`, whoever asks is told what to run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import structlog
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import func, select

from app.assistant.models import Message
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.turns import executor
from app.cli import doctor
from app.db import Database
from app.embedded import prepare
from app.errors import ConfigurationError
from app.extensions import services
from tests.factories import Member, answer, ask

pytestmark = pytest.mark.usefixtures("stale_model")

TOLD = "model.npz is older than its sentences: run `make nlu`"


def test_flask_ask_says_what_to_run_and_asks_nothing(
    cli: FlaskCliRunner, owner: Database, member: Member, tmp_path: Path
) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text(json.dumps({"text": "hello"}), "utf-8")
    for arguments in (["hello"], ["--batch", str(batch)]):
        result = cli.invoke(args=["ask", "--user", member.email, *arguments])
        assert result.exit_code == 1
        assert result.stderr == f"Error: {TOLD}\n"
    with owner.transaction() as session:
        query = select(func.count()).where(Message.group_id == member.group_id)
        assert session.scalar(query) == 0


def test_messages_are_not_measured_with_it(
    cli: FlaskCliRunner, member: Member, tmp_path: Path
) -> None:
    """Each would count as answered without a tool, which some cases expect."""
    cases = tmp_path / "cases.jsonl"
    case = {"text": "hi", "lang": "en", "class": "none_smalltalk", "tools": ["none"]}
    cases.write_text(json.dumps(case), "utf-8")
    arguments = ["--cases", str(cases), "--user", member.email]
    result = cli.invoke(args=["eval", "understanding", *arguments])
    assert (result.exit_code, result.stderr) == (1, f"Error: {TOLD}\n")


def test_the_log_of_a_turn_says_it_and_the_reply_does_not(
    app: Flask, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One that has written nothing yet: a logger keeps where it writes.
    monkeypatch.setattr(executor, "log", structlog.get_logger())
    on = app.extensions["comanda"]
    accepted = ask(on.database, member, "What is in a Paloma?")
    with structlog.testing.capture_logs() as logged:
        reply = answer(app, member, accepted, BuiltinProvider(on.embedder))
    [failed] = [each for each in logged if each["event"] == "turn failed"]
    assert (failed["log_level"], failed["why"]) == ("error", TOLD)
    assert reply.status == "failed"
    [notice] = reply.parts
    assert "Something went wrong on our side" in notice["text"]


def test_the_doctor_says_what_to_run(app: Flask) -> None:
    with app.app_context():
        found = {each.name: each for each in doctor.examine(services())}
    assert not found["learned"].ok
    assert found["learned"].detail == "model.npz is older than its sentences"
    assert found["learned"].fix == "Run `make nlu`."


def test_a_start_is_refused_before_anything_is_changed() -> None:
    reader, writer = os.pipe()
    assert prepare.main([str(writer)]) == 1
    with open(reader, "rb") as answers, pytest.raises(ConfigurationError, match=TOLD):
        prepare.read_answer(answers.read())
