"""`flask ask`: one question, or a file of them, from the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import select

from app import create_app
from app.assistant.models import Message, Turn
from app.config import Settings
from app.db import Database
from tests.factories import Member, ask, embed_library, make_section, make_thread, make_user
from tests.model_server import Call, CutAfter, HttpError, ModelServer, Say, scenario
from tests.services import RunningServices, empty_database


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def model_app(settings: Settings, model: ModelServer) -> Flask:
    """The app with a language model."""
    return create_app(settings.model_copy(update={"openai_base_url": model.base_url}))


@pytest.fixture
def flask_ask(model_app: Flask, member: Member) -> Any:
    """Runs `flask ask` as the member, with the scripted model."""

    def run(*arguments: str) -> Result:
        runner: FlaskCliRunner = model_app.test_cli_runner()
        return runner.invoke(args=["ask", "--user", member.email, *arguments])

    return run


@pytest.fixture
def unmigrated(services: RunningServices, settings: Settings, worker: str) -> Iterator[Settings]:
    """A database as it is in a clone where nothing has run yet."""
    with empty_database(services, f"unmigrated_{worker}") as name:
        own = services.settings(name, 0, settings.comanda_data)
        yield own.model_copy(update={"redis_url": settings.redis_url})


def write_lines(path: Path, *lines: Any) -> str:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text + "\n", "utf-8")
    return str(path)


def test_an_answer_is_printed_with_its_sources(
    owner: Database, member: Member, flask_ask: Any, model: ModelServer
) -> None:
    make_section(owner, member.group_id)
    embed_library(owner, member.group_id)
    result = flask_ask("How long can raw chicken stay out?")
    assert result.exit_code == 0
    assert "two hours" in result.stdout
    assert result.stdout.rstrip().splitlines()[-1].startswith("[1] ")
    assert "Raw chicken" in result.stdout.rstrip().splitlines()[-1]


@pytest.mark.parametrize(
    ("language", "said", "card", "agreed"),
    [
        ("en", "coffee 4.50", "* Add coffee $4.50 ", "yes"),
        ("es", "café 4.50", "* Agregar café $4.50 ", "sí"),
    ],
)
def test_what_is_proposed_is_printed_with_how_to_answer(
    cli: FlaskCliRunner, member: Member, language: str, said: str, card: str, agreed: str
) -> None:
    """As it stands on the card: nobody agrees to what they were not shown."""
    asked = ["ask", "--user", member.email, "--language", language]
    offered = cli.invoke(args=[*asked, said])
    lines = offered.stdout.splitlines()
    assert [line for line in lines if line.startswith(card)]
    assert [line for line in lines if line.startswith("    ") and "4.50" in line]
    how = re.fullmatch(
        rf'To answer: flask ask "{agreed}" --user {re.escape(member.email)} --thread (\S+)\n',
        offered.stderr,
    )
    assert how
    done = cli.invoke(args=[*asked, agreed, "--thread", how[1]])
    assert "4.50" in done.stdout
    assert done.stderr == ""


def test_a_question_says_how_it_is_answered_and_json_stands_alone(
    cli: FlaskCliRunner, member: Member
) -> None:
    asked = ["ask", "--user", member.email, "add a taxi to my expenses"]
    assert 'flask ask "…" --user' in cli.invoke(args=asked).stderr
    assert cli.invoke(args=[*asked, "--json"]).stderr == ""
    # Its examples are questions; it asks none.
    assert cli.invoke(args=["ask", "--user", member.email, "hello"]).stderr == ""


@pytest.mark.parametrize("command", [["ask", "Hi"], ["eval", "understanding", "--cases"]])
def test_where_the_database_has_no_tables_yet_it_says_what_to_run(
    unmigrated: Settings, tmp_path: Path, command: list[str]
) -> None:
    cases = write_lines(tmp_path / "cases.jsonl", {
        "text": "hi", "lang": "en", "class": "none_smalltalk", "tools": ["none"],
    })  # fmt: skip
    more = [cases] if "--cases" in command else []
    result = create_app(unmigrated).test_cli_runner().invoke(args=[*command, *more])
    assert result.exit_code == 1
    told = "the database is behind the code: run `make run` once, or `flask db upgrade`"
    assert result.stderr == f"Error: {told}\n"


def test_with_json_the_envelope_alone_is_printed(flask_ask: Any, model: ModelServer) -> None:
    model.script(scenario(Say("Claro que sí."), when="gracias"))
    result = flask_ask("muchas gracias por todo", "--json")
    body = json.loads(result.stdout)
    assert (body["message"], body["language"], body["version"]) == ("Claro que sí.", "es", "1.0")


def test_a_thread_goes_on(flask_ask: Any, model: ModelServer) -> None:
    model.script(scenario(Say("One."), when="first"), scenario(Say("Two."), when="second"))
    first = json.loads(flask_ask("first", "--json").stdout)
    second = json.loads(flask_ask("second", "--json", "--thread", first["sessionId"]).stdout)
    assert second["sessionId"] == first["sessionId"]
    assert [m["content"] for m in model.last_call.messages[1:]] == ["first", "One.", "second"]


def test_the_command_answers_itself_and_leaves_no_turn_open(
    database: Database, member: Member, flask_ask: Any
) -> None:
    body = json.loads(flask_ask("hello", "--json").stdout)
    with database.transaction(member.scope) as session:
        [turn] = session.scalars(select(Turn))
        reply = session.get_one(Message, turn.reply_message_id)
    assert turn.status == "done"
    assert turn.runner_id.startswith("cli:")
    assert str(reply.id) == body["message_id"]


def test_a_model_that_refuses_is_stood_in_for_and_the_envelope_says_so(
    flask_ask: Any, model: ModelServer
) -> None:
    model.script(scenario(HttpError(401), when="hello there"))
    result = flask_ask("hello there", "--json")
    assert result.exit_code == 0
    body = json.loads(result.stdout)
    assert body["degraded"] is True
    assert body["message"].startswith("Hello.")


def test_a_model_that_breaks_off_ends_with_1_and_says_so(
    flask_ask: Any, model: ModelServer
) -> None:
    model.script(scenario([CutAfter(3), Say("The first words of it")], when="break off"))
    result = flask_ask("break off")
    assert result.exit_code == 1
    assert "The first words" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Give a text or --batch"),
        (("x" * 4001,), "4,001 characters"),
        (("  ",), "Write a message first."),
        (("Hi", "--thread", "seven"), "--thread takes"),
        (("Hi", "--domain", "gossip"), "domain must be one of"),
        (("Hi", "--action", "explode"), "no such action"),
        (("Hi", "--language", "fr"), "'fr'"),
        (("Hi", "--batch", "nowhere.jsonl"), "does not exist"),
    ],
)
def test_what_cannot_be_asked_is_told_in_a_line(
    flask_ask: Any, arguments: tuple[str, ...], said: str
) -> None:
    result = flask_ask(*arguments)
    assert result.exit_code != 0
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_nobody_of_that_name_is_told(model_app: Flask) -> None:
    result = model_app.test_cli_runner().invoke(args=["ask", "Hi", "--user", "no@example.com"])
    assert result.exit_code == 1
    assert "Nobody here is no@example.com" in result.stderr


def test_a_thread_of_somebody_else_is_not_found(
    owner: Database, database: Database, flask_ask: Any
) -> None:
    thread_id = make_thread(database, make_user(owner))
    result = flask_ask("Hi", "--thread", str(thread_id))
    assert result.exit_code == 1
    assert "not yours" in result.stderr


def test_a_thread_that_is_being_answered_is_not_interrupted(
    database: Database, member: Member, flask_ask: Any
) -> None:
    busy = ask(database, member, "Hold on")
    result = flask_ask("Hi", "--thread", str(busy.thread.id))
    assert result.exit_code == 1
    assert "An answer is being written" in result.stderr


# Files of questions


def test_a_batch_prints_an_envelope_a_line_with_its_trace(
    tmp_path: Path, owner: Database, member: Member, flask_ask: Any, model: ModelServer
) -> None:
    make_section(owner, member.group_id)
    model.script(
        scenario(
            Call("search_manual_v2", {"query": "chicken"}), Say("Two hours. [1]"), when="how long"
        )
    )
    file = write_lines(
        tmp_path / "questions.jsonl",
        {"text": "how long?", "thread": "a"},
        "",
        {"text": "hello", "thread": None},
        {"text": "¿cuánto? how long", "language": "es", "thread": "a"},
    )
    result = flask_ask("--batch", file)
    assert result.exit_code == 0, result.output
    first, second, third = (json.loads(line) for line in result.stdout.splitlines())
    assert [entry["tool"] for entry in first["tool_trace"]] == ["search_manual_v2"]
    assert first["tool_trace"][0]["args"] == {"query": "chicken"}
    assert first["tool_trace"][0]["ok"] is True
    assert first["tool_trace"][0]["ms"] >= 0
    assert second["tool_trace"] == []
    assert first["sessionId"] == third["sessionId"] != second["sessionId"]
    assert third["language"] == "es"
    assert [first["line"], second["line"], third["line"]] == [1, 3, 4]


def test_a_batch_with_expectations_counts_what_passed(
    tmp_path: Path, flask_ask: Any, model: ModelServer
) -> None:
    file = write_lines(
        tmp_path / "expected.jsonl",
        {"text": "hello", "expect": {"tools": [], "contains": "hello!"}},
        {"text": "hello", "expect": {"tools": ["search_wines"], "parts": ["product_card"]}},
        {"text": "hello"},
    )
    result = flask_ask("--batch", file)
    assert result.exit_code == 1
    good, bad, plain = (json.loads(line) for line in result.stdout.splitlines())
    assert (good["passed"], good["problems"]) == (True, [])
    assert bad["problems"] == [
        "tool search_wines did not run",
        "part product_card is missing",
    ]
    assert "passed" not in plain
    assert "1 passed, 1 failed" in result.stderr


def test_a_line_that_cannot_be_asked_does_not_end_the_batch(tmp_path: Path, flask_ask: Any) -> None:
    file = write_lines(
        tmp_path / "mixed.jsonl",
        {"text": "x" * 4001},
        {"text": "hello", "user": "no@example.com"},
        {"text": "hello", "domain": "gossip"},
        {"text": "hello"},
    )
    result = flask_ask("--batch", file)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line.get("error", False) for line in lines] == [True, True, True, False]
    assert "4,001 characters" in lines[0]["message"]
    assert "no@example.com" in lines[1]["message"]
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "not JSON"),
        (b"[]", "a JSON object"),
        (b'"hello"', "a JSON object"),
        (b"null", "a JSON object"),
        (b'{"message": "x"}', "unknown key 'message'"),
        (b'{"text": 5}', "'text'"),
        (b'{"text": "x", "language": "fr"}', "'language'"),
        (b'{"text": "x", "user": 5}', "'user'"),
        (b'{"text": "x", "expectt": {}}', "unknown key 'expectt'"),
        (b'{"text": "x", "expect": {"either": true}}', "unknown key 'expect.either'"),
        (b'{"text": "caf\xe9"}', "not UTF-8"),
    ],
)
def test_a_line_that_is_no_question_is_named_and_nothing_is_asked(
    tmp_path: Path, flask_ask: Any, model: ModelServer, line: bytes, told: str
) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_bytes(b'{"text": "hello"}\n' + line + b"\n")
    asked = len(model.calls)
    result = flask_ask("--batch", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "odd.jsonl, line 2: " in result.stderr
    assert told in result.stderr
    assert "Traceback" not in result.output
    assert len(model.calls) == asked


def test_the_file_of_the_documentation_is_one(tmp_path: Path, flask_ask: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "asking.md").read_text("utf-8")
    [example] = re.findall(r"```jsonl\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "example.jsonl"
    file.write_text(re.sub(r'"user": "[^"]*", ', "", example), "utf-8")
    result = flask_ask("--batch", str(file))
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == len(example.splitlines())
    assert all("passed" in line for line in lines)


def test_separators_inside_a_text_do_not_cut_the_line(tmp_path: Path, flask_ask: Any) -> None:
    file = tmp_path / "separators.jsonl"
    file.write_text('{"text": "hello\u2028there\u0085you"}\n', "utf-8")
    assert flask_ask("--batch", str(file)).exit_code == 0


def test_each_line_may_be_asked_by_somebody_else(
    tmp_path: Path, owner: Database, database: Database, flask_ask: Any
) -> None:
    other = make_user(owner)
    file = write_lines(tmp_path / "two.jsonl", {"text": "hello", "user": other.email.upper()})
    flask_ask("--batch", file)
    with database.transaction(other.scope) as session:
        assert session.scalars(select(Message.content).order_by(Message.id)).first() == "hello"


def test_without_a_model_the_built_in_assistant_answers(
    cli: FlaskCliRunner, owner: Database, member: Member
) -> None:
    make_section(owner, member.group_id)
    embed_library(owner, member.group_id)
    result = cli.invoke(
        args=["ask", "How long can raw chicken stay out?", "--user", member.email, "--json"]
    )
    assert result.exit_code == 0, result.output
    body = json.loads(result.stdout)
    assert "two hours" in body["message"].lower()
    assert body["citations"]
    assert body["degraded"] is False


def test_what_the_message_was_taken_for_is_explained(
    cli: FlaskCliRunner, owner: Database, member: Member
) -> None:
    make_section(owner, member.group_id)
    embed_library(owner, member.group_id)
    asked = ["ask", "How long can raw chicken stay out?", "--user", member.email, "--explain"]
    result = cli.invoke(args=asked)
    assert result.exit_code == 0, result.output
    why, _head, *candidates = result.stderr.strip().splitlines()[-7:]
    assert why == "why: likeliest"
    shares = [float(line.split()[1]) for line in candidates]
    assert candidates[0].startswith("search_manual_v2")
    assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.05


def test_what_a_model_answered_has_no_explanation(flask_ask: Any, model: ModelServer) -> None:
    model.script(scenario(Say("Hello."), when="hello"))
    result = flask_ask("hello there, how long may chicken stay out", "--explain")
    assert "nothing to explain" in result.stderr


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_nothing_that_a_terminal_obeys_is_printed(
    owner: Database, member: Member, flask_ask: Any, model: ModelServer, flags: tuple[str, ...]
) -> None:
    """Neither of what a model says, nor of what was stored before texts were cleaned."""
    signs = "\x1b]0;owned\x07\x9b2J\x7f\u202e"
    make_section(owner, member.group_id, f"raw-{len(flags)}", f"Raw {signs}chicken")
    embed_library(owner, member.group_id)
    search = Call("search_manual_v2", {"query": "raw chicken"})
    model.script(scenario(search, Say(f"Two {signs}hours [1].", sizes=1), when="obeyed"))
    result = flask_ask("How long may raw chicken stay out, obeyed?", *flags)
    assert result.exit_code == 0
    assert "Two ]0;owned2Jhours [1]." in result.stdout
    assert "Raw ]0;owned2Jchicken" in result.stdout
    assert not any(sign in result.stdout for sign in ("\x1b", "\x07", "\x9b", "\x7f", "\u202e"))
    assert not any(sign in result.stdout for sign in ("\\u001b", "\\u0007"))
