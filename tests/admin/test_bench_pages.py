"""The test bench: the unsaved row beside the live one, in the background, without a trace."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.assistant.models import Message, Prompt, Proposal, SavedSentence, Thread, Turn
from app.assistant.prompts.bench import Bench, Trial
from app.assistant.prompts.dry_run import Cancelled, Rehearsal, Sentence, rehearse
from app.assistant.prompts.expectations import Expectation
from app.assistant.prompts.system_prompt import load_prompts
from app.assistant.providers.base import ProviderError
from app.assistant.tools.registry import Skill
from app.assistant.tools.tool import ToolContext, ToolResult
from app.config import Settings
from app.db import Database, new_id
from app.extensions import Services
from app.factory import build_app
from tests.assistant.processes import wait_until
from tests.assistant.scripted import LookUp, ScriptedProvider, call, say
from tests.factories import (
    CheckedClient,
    Member,
    make_product,
    make_section,
    make_user,
    sign_in,
)
from tests.fridge_log import SKILLS_WITH_LOG, make_table
from tests.model_server import ModelServer, Say, scenario

HOME = "/admin/prompts/"
QUESTION = "How long can raw chicken stay out?"


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin", allergens=["milk"])


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    make_section(owner, admin.group_id, "raw-chicken", "Raw chicken", "Two hours at most.")
    make_product(owner, admin.group_id)
    return sign_in(app, owner, admin)


@pytest.fixture
def on(app: Flask) -> Services:
    found: Services = app.extensions["comanda"]
    return found


def row_of(owner: Database, member: Member, slug: str = "base-persona") -> Prompt:
    with owner.session() as session:
        return session.scalars(
            select(Prompt).where(Prompt.group_id == member.group_id, Prompt.slug == slug)
        ).one()


def rows_of(on: Services, member: Member) -> list[Prompt]:
    with on.database.session(member.scope) as session:
        return load_prompts(session)


def form_of(row: Prompt, **more: Any) -> dict[str, Any]:
    texts = {"prompt_en": row.prompt_en, "prompt_es": row.prompt_es, "version": row.version}
    asked = {"message": QUESTION, "what": "one", "domain": "manual", "as": "on", "language": ""}
    return {**texts, **asked, **more}


def finished(on: Services, member: Member) -> Any:
    """The run of this person's, when it is over."""
    bench = Bench(on, member.scope)

    def over() -> Any:
        run = bench.read()
        return run if run and run.status != "running" else None

    return wait_until(over, 60)


def stored(owner: Database, member: Member) -> dict[str, int]:
    """How many rows there are of all that a real turn leaves behind."""
    with owner.session() as session:
        return {
            model.__tablename__: session.scalar(
                select(func.count()).select_from(model).where(model.group_id == member.group_id)
            )
            or 0
            for model in (Thread, Message, Turn, Proposal)
        }


def test_a_message_is_answered_twice_and_leaves_nothing(
    owner: Database, on: Services, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    begun = browser.post_fragment(f"{HOME}{row.id}/bench", **form_of(row, prompt_en="Quack."))
    assert "Answering" in begun.text or "Done" in begun.text
    run = finished(on, admin)
    assert run.status == "done"
    [result] = run.results
    assert [each["tool"] for each in result["live"]["calls"]] == ["search_manual_v2"]
    assert "Two hours" in result["draft"]["answer"]
    page = browser.fragment(f"{HOME}{row.id}/bench")
    assert "Done. Questions asked: 1." in page.text
    assert "same tools" in page.text
    assert stored(owner, admin) == {"threads": 0, "messages": 0, "turns": 0, "proposals": 0}
    assert row_of(owner, admin).prompt_en == row.prompt_en


def test_switching_a_row_off_changes_the_routing_on_the_bench_alone(
    owner: Database, on: Services, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin, "domain-dishes")
    form = form_of(row, message="What dishes have shrimp?", domain="dishes")
    browser.post(f"{HOME}{row.id}/bench", **{**form, "as": "off"})
    [result] = finished(on, admin).results
    assert "search_dishes" in [each["tool"] for each in result["live"]["calls"]]
    assert "search_dishes" not in [each["tool"] for each in result["draft"]["calls"]]
    assert not result["same_tools"]
    assert row_of(owner, admin, "domain-dishes").is_active
    assert "other tools" in browser.page(f"{HOME}{row.id}").text


def test_without_scripts_one_comes_back_to_what_was_tried(
    owner: Database, on: Services, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    answered = browser.post(f"{HOME}{row.id}/bench", **form_of(row, prompt_en="Not saved yet."))
    assert answered.status_code == 303
    finished(on, admin)
    page = browser.page(answered.headers["Location"].partition("#")[0])
    assert page.find("textarea", id="f-prompt_en").text == "Not saved yet."
    assert "is not saved yet" in page.text
    assert browser.get(f"{HOME}{row.id}/bench").status_code == 303
    assert (
        "Not saved yet." not in browser.page(f"{HOME}{row.id}").find("form", id="prompt-form").text
    )


def test_saved_sentences_are_judged_and_counted(
    owner: Database, on: Services, admin: Member, browser: CheckedClient
) -> None:
    for text, expected in (
        (QUESTION, {"tools": "search_manual_v2", "contains": "two hours"}),
        ("thank you", {"tools": "none"}),
        (QUESTION + " Really?", {"tools": "search_wines\nsearch_dishes", "parts": "product_card"}),
        ("hello", {}),
    ):
        saved = browser.post(f"{HOME}sentences/", message=text, language="en", **expected)
        assert saved.status_code == 303
    assert QUESTION in browser.page(f"{HOME}sentences/").text
    row = row_of(owner, admin)
    browser.post(f"{HOME}{row.id}/bench", **form_of(row, what="all"))
    run = finished(on, admin)
    assert (run.total, run.count("live", passed=True), run.count("live", passed=False)) == (4, 2, 1)
    text = browser.fragment(f"{HOME}{row.id}/bench").text
    assert "With your text: 2 passed, 1 failed." in text
    assert "search_wines did not run" in text
    assert "product_card is not shown" in text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"message": " "}, "Write a message first."),
        ({"domain": "moon"}, "Choose from the list."),
        ({"what": "all"}, "no saved sentences yet"),
        ({"prompt_en": "", "prompt_es": ""}, "Write the text in at least one language."),
        ({"prompt_en": "x" * 20_001}, "20,001 characters"),
    ],
)
def test_what_cannot_be_tried_is_told_and_what_was_typed_is_kept(
    owner: Database, admin: Member, browser: CheckedClient, wrong: dict[str, Any], said: str
) -> None:
    row = row_of(owner, admin)
    form = form_of(row, prompt_es="Texto sin guardar.") | wrong
    assert said in browser.post_fragment(f"{HOME}{row.id}/bench", 422, **form).text
    plain = browser.post(f"{HOME}{row.id}/bench", **form)
    assert plain.status_code == 422
    assert said in plain.text
    assert form["prompt_es"] in plain.text


# One at a time, in the background


def test_a_second_test_waits_and_the_first_can_be_stopped(
    app: Flask, owner: Database, admin: Member, model_server: ModelServer, settings: Settings
) -> None:
    model_server.script(scenario(Say("Slow. " * 20, delay=0.2)))
    with_model = build_app(asking(settings, model_server))
    browser, row = sign_in(with_model, owner, admin), row_of(owner, admin)
    browser.post(f"{HOME}{row.id}/bench", **form_of(row))
    assert "Answering: 0 of 1." in browser.page(f"{HOME}{row.id}").text
    answered = browser.post_fragment(f"{HOME}{row.id}/bench", 409, **form_of(row))
    assert "A test is already running." in answered.text
    other = row_of(owner, admin, "tool-map")
    assert "A test of another row is running." in browser.page(f"{HOME}{other.id}").text
    # Somebody else has a bench of their own.
    colleague = sign_in(with_model, owner, make_user(owner, admin.group_id, "admin"))
    assert "Nothing has been tried yet." in colleague.page(f"{HOME}{row.id}").text
    stopped = browser.post_fragment(f"{HOME}{row.id}/bench/cancel")
    assert "Stopped after 0 of 1." in stopped.text
    again = browser.post(f"{HOME}{row.id}/bench", **form_of(row))
    assert again.status_code == 303
    browser.post(f"{HOME}{row.id}/bench/cancel")


def test_who_looks_while_a_test_ends_never_sees_it_broken(
    app: Flask, on: Services, admin: Member
) -> None:
    bench, trial = Bench(on, admin.scope), Trial(str(new_id()), "New.", "Nuevo.", True, 1)
    seen: list[str] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            run = bench.read()
            seen.append(run.status if run else "none")

    looking = [threading.Thread(target=look) for _ in range(2)]
    for each in looking:
        each.start()
    try:
        for _ in range(100):
            bench.start(app, trial, [], [])
            bench.cancel()
            finished(on, admin)
    finally:
        ended.set()
        for each in looking:
            each.join()
    assert set(seen) <= {"none", "running", "done", "cancelled"}


def asking(settings: Settings, model: ModelServer) -> Settings:
    """Settings of a house with that model."""
    return settings.model_copy(
        update={
            "ai_provider": "openai",
            "openai_api_key": "test",
            "openai_base_url": model.base_url,
        }
    )


def test_a_model_is_told_the_unsaved_text_and_its_tokens_are_shown(
    owner: Database, admin: Member, model_server: ModelServer, settings: Settings
) -> None:
    model_server.script(
        scenario(Say("Two hours."), when=lambda asked: "parrot" in str(asked.messages))
    )
    with_model = build_app(asking(settings, model_server))
    browser, row = sign_in(with_model, owner, admin), row_of(owner, admin)
    browser.post(f"{HOME}{row.id}/bench", **form_of(row, prompt_en="You are the parrot."))
    run = finished(with_model.extensions["comanda"], admin)
    [result] = run.results
    assert result["draft"]["answer"] == "Two hours."
    assert result["live"]["answer"] != "Two hours."
    assert result["draft"]["tokens_in"] > 0
    assert "other answer" in browser.fragment(f"{HOME}{row.id}/bench").text


def test_a_model_that_is_away_is_told_and_the_test_goes_on(
    owner: Database, admin: Member, settings: Settings
) -> None:
    nobody = settings.model_copy(
        update={
            "ai_provider": "openai",
            "openai_api_key": "test",
            "openai_base_url": "http://127.0.0.1:9/v1",
        }
    )
    with_model = build_app(nobody)
    browser, row = sign_in(with_model, owner, admin), row_of(owner, admin)
    browser.post(f"{HOME}{row.id}/bench", **form_of(row))
    run = finished(with_model.extensions["comanda"], admin)
    assert run.status == "done"
    assert run.results[0]["live"]["error"] == "unreachable"
    assert "There was no full answer" in browser.fragment(f"{HOME}{row.id}/bench").text


def test_a_run_whose_process_died_is_told_to_be_over(
    on: Services, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    browser.post(f"{HOME}{row.id}/bench", **form_of(row))
    finished(on, admin)
    key = f"bench:{admin.group_id}:{admin.user_id}"
    kept = json.loads(on.redis.get(key) or b"{}")
    on.redis.set(key, json.dumps({**kept, "status": "running", "id": str(new_id())}))
    assert "The test was interrupted" in browser.fragment(f"{HOME}{row.id}/bench").text
    assert browser.post(f"{HOME}{row.id}/bench", **form_of(row)).status_code == 303
    finished(on, admin)


# Rehearsing


@pytest.fixture(scope="module")
def log_app(settings: Settings, owner: Database) -> Flask:
    """An app whose house keeps a fridge log."""
    make_table(owner, settings.database_url or "")
    return build_app(settings, SKILLS_WITH_LOG)


def rehearsed(app: Flask, member: Member, *replies: Any, **more: Any) -> Rehearsal:
    on = app.extensions["comanda"]
    with app.test_request_context("/"):
        sentence = Sentence("Log 4 degrees for the walk-in", "en", expect=more.pop("expect", None))
        provider = ScriptedProvider(*replies)
        return rehearse(on, provider, member.scope, sentence, rows_of(on, member), **more)


def test_what_would_be_written_is_shown_and_never_done(
    log_app: Flask, owner: Database, admin: Member
) -> None:
    wish = [call("log_temperature", '{"unit": "walk-in", "degrees": 4}')]
    result = rehearsed(log_app, admin, wish, say("Shall I?"))
    [part] = result.parts
    assert (part["type"], part["summary"]["en"]) == ("proposal", "Log 4 °C for the walk-in.")
    assert stored(owner, admin)["proposals"] == 0


def test_a_failing_provider_becomes_an_error_and_fails_what_was_expected(
    log_app: Flask, admin: Member
) -> None:
    result = rehearsed(
        log_app, admin, [ProviderError("timeout")], expect=Expectation(contains=("x",))
    )
    assert result.error == "timeout"
    assert result.misses == [("failed", "timeout"), ("words_missing", "x")]
    broken = rehearsed(log_app, admin, [RuntimeError("inside")])
    assert broken.error == "internal"


def test_a_rehearsal_ends_when_nobody_waits_any_more(log_app: Flask, admin: Member) -> None:
    with pytest.raises(Cancelled):
        rehearsed(log_app, admin, say("One ", "two"), is_cancelled=lambda: True)


class Scribbles(LookUp):
    """A tool that breaks its word: it writes while it reads."""

    name = "scribbles"

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            session.add(SavedSentence(group_id=context.scope.group_id, text="x", language="en"))
        return super().run(arguments, context)


def test_the_database_refuses_whatever_a_tool_writes_on_the_bench(
    settings: Settings, owner: Database, admin: Member
) -> None:
    app = build_app(settings, (Skill("scribbling", tools=(Scribbles(),)),))
    result = rehearsed(app, admin, [call("scribbles")], say("Done."))
    assert [(each["tool"], each["ok"]) for each in result.calls] == [("scribbles", False)]
    with owner.session() as session:
        query = select(SavedSentence).where(SavedSentence.group_id == admin.group_id)
        assert session.scalars(query).all() == []
