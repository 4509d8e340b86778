"""`flask eval understanding`, as an operator types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flask.testing import FlaskCliRunner
from sqlalchemy import func, select

from app.assistant.models import Message
from app.db import Database
from tests.factories import Member

GREETING = {"text": "Hello!", "lang": "en", "class": "chat", "tools": ["ask"], "author": "ana"}
WRONG = {"text": "Good morning", "lang": "en", "class": "chat", "tools": ["x"], "author": "leo"}


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in (GREETING, WRONG)), "utf-8")
    return file


def test_messages_are_answered_counted_and_forgotten(
    cli: FlaskCliRunner, owner: Database, member: Member, cases: Path, tmp_path: Path
) -> None:
    def count() -> int:
        with owner.transaction() as session:
            query = select(func.count()).where(Message.group_id == member.group_id)
            return session.scalar(query) or 0

    kept = tmp_path / "run.json"
    arguments = ["eval", "understanding", "--cases", str(cases), "--user", member.email]
    result = cli.invoke(args=[*arguments, "--output", str(kept)])
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: line.split()[1:4] for line in result.stdout.splitlines() if line}
    assert rows["ana"] == ["1", "1", "100.0%"]
    assert rows["leo"] == ["1", "0", "0.0%"]
    assert "   1  chat taken for ask" in result.stdout
    assert "Wanted and got:\n  en Good morning: x -> ask\n" in result.stdout
    assert count() == 0
    earlier = json.loads(kept.read_text("utf-8"))
    assert earlier["en Hello!"] == ["ask", True]

    earlier["en Hello!"] = ["x", False]
    earlier["en Good morning"] = ["x", True]
    kept.write_text(json.dumps(earlier), "utf-8")
    result = cli.invoke(args=[*arguments, "--compare", str(kept)])
    assert "1 better, 1 worse than then:\n  en Good morning: x -> ask" in result.stdout


def test_of_many_that_went_wrong_the_first_are_named(
    cli: FlaskCliRunner, member: Member, tmp_path: Path
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(json.dumps(WRONG) for _ in range(23)), "utf-8")
    result = cli.invoke(
        args=["eval", "understanding", "--cases", str(file), "--user", member.email]
    )
    assert result.stdout.count("  en Good morning: x -> ask\n") == 20
    assert "  and 3 more: --output keeps all of them\n" in result.stdout


def test_a_file_that_holds_no_cases_is_a_message(cli: FlaskCliRunner, tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("nonsense", "utf-8")
    result = cli.invoke(args=["eval", "understanding", "--cases", str(file)])
    assert result.exit_code == 1
    assert "line 1: " in result.stderr
