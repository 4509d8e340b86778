"""`flask ask`: one turn, or a file of them, from the command line.

It runs the very turn that the chat runs, in this process: no runner needs to be up.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

import click
from flask import current_app
from flask.cli import with_appcontext
from sqlalchemy import select

from app import schema
from app.accounts.models import Membership, User, UserProfile
from app.assistant.models import Message
from app.assistant.prompts.expectations import BatchLine, Expectation, UnreadableLine, read_batch
from app.assistant.providers.choice import make_provider, make_standby
from app.assistant.threads.step_posts import accept_step
from app.assistant.threads.steps import Step
from app.assistant.threads.threads import accept_message, load_message, load_thread
from app.assistant.tools.parts import details_of_part, words_of_part
from app.assistant.turns.ask import turn_request
from app.assistant.turns.envelope import envelope, words_of
from app.assistant.turns.executor import ClaimedTurn, execute_turn
from app.assistant.turns.language import detect_language
from app.assistant.turns.outcome import TurnFacts
from app.assistant.usage.message_quotas import Usage, read_standing
from app.db import Scope, new_id, owner_database
from app.errors import ComandaError, NotLearned
from app.extensions import services
from app.nlu.model import load_model
from app.text.plain_text import clean_text, clean_value

# The command line keeps its turn for as long as one may take, and some.
LEASE_MARGIN_SECONDS = 30


class UnreadableBatch(click.ClickException):
    """The file of questions cannot be taken; none of them was asked."""

    exit_code = 2


@dataclass(frozen=True)
class Asker:
    """On whose behalf the command line asks."""

    scope: Scope
    language: str


@click.command("ask")
@click.argument("text", required=False)
@click.option("--user", "email", help="Ask as this person (default: the first admin).")
@click.option("--language", type=click.Choice(["en", "es"]), help="Default: the message's own.")
@click.option("--thread", "thread", default="new", help="A thread's id, or new.")
@click.option("--domain", help="Where to look: manual, dishes, wines, …")
@click.option("--action", help="A product card's action, such as pairing.")
@click.option("--json", "as_json", is_flag=True, help="Print the envelope instead of the words.")
@click.option("--explain", is_flag=True, help="Print too what the message was taken for, and why.")
@click.option(
    "--batch",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of questions, one JSON object a line; docs/asking.md describes it.",
)
@with_appcontext
def ask(
    text: str | None,
    email: str | None,
    language: str | None,
    thread: str,
    domain: str | None,
    action: str | None,
    as_json: bool,
    explain: bool,
    batch: Path | None,
) -> None:
    """Ask TEXT, or each line of a JSONL file with --batch."""
    if (text is None) == (batch is None):
        raise click.UsageError("Give a text or --batch FILE, one of the two.")
    require_ready()
    if batch is not None:
        sys.exit(_run_batch(batch, email, language))
    thread_id = None if thread == "new" else _uuid(thread)
    try:
        asker = find_asker(email)
        if thread_id is not None:
            _check_thread(asker, thread_id)
        reply = run_one(asker, text or "", language, thread_id, domain, action)
    except ComandaError as error:
        raise click.ClickException(_words(error)) from None
    body = _envelope(reply)
    click.echo(_as_line(body) if as_json else _plain(reply))
    if not as_json and (how := _how_to_answer(reply, email)):
        click.echo(how, err=True)
    if explain:
        click.echo(_explanation(reply), err=True)
    sys.exit(0 if reply.status in ("complete", "stopped") else 1)


def require_ready() -> None:
    """Look whether messages can be answered at all, before any of them is asked.

    Raises:
        click.ClickException: what was learned is missing or too old, or a migration was not
            applied; it says what to run.
    """
    try:
        load_model()
    except NotLearned as error:
        raise click.ClickException(str(error)) from None
    if schema.pending(services().settings):
        raise click.ClickException(
            "the database is behind the code: run `make run` once, or `flask db upgrade`"
        )


def run_one(
    asker: Asker,
    text: str,
    language: str | None = None,
    thread_id: UUID | None = None,
    domain: str | None = None,
    action: str | None = None,
    step: Step | None = None,
) -> Message:
    """Accept a message (or a widget's step) and answer it here; returns the stored reply."""
    on = services()
    runner_id = f"cli:{os.getpid()}"
    seconds = on.settings.ai_turn_timeout_seconds + LEASE_MARGIN_SECONDS
    with on.database.session(asker.scope) as session:
        if step is not None:
            accepted = accept_step(
                session,
                on.registry.steps,
                thread_id=thread_id or new_id(),
                internal=step,
                message_key=None,
                reserve=(runner_id, seconds),
            )
        else:
            accepted = accept_message(
                session,
                thread_id=thread_id or new_id(),
                may_begin=True,
                message=text,
                language=language or detect_language(text, asker.language),
                request=turn_request(session, on.registry, domain, action),
                reserve=(runner_id, seconds),
            )
    claimed = ClaimedTurn(accepted.turn.id, 1, 1, asker.scope)
    with current_app.test_request_context("/"):
        provider = make_provider(on.settings, on.embedder)
        standby = make_standby(on.settings, on.embedder)
        execute_turn(on, provider, claimed, standby=standby)
    with on.database.transaction(asker.scope) as session:
        return load_message(session, accepted.thread.id, accepted.reply.id)


def find_asker(email: str | None) -> Asker:
    """The person to ask as; the operator may ask as anybody."""
    query = (
        select(Membership, UserProfile.language)
        .join(User, User.id == Membership.user_id)
        .outerjoin(UserProfile, UserProfile.user_id == User.id)
        .where(User.is_active)
        .order_by((Membership.role != "admin"), Membership.created_at, Membership.group_id)
    )
    if email:
        query = query.where(User.email == email.lower())
    owner = owner_database(services().settings)
    with owner.transaction() as session:
        row = session.execute(query.limit(1)).first()
    owner.engine.dispose()
    if row is None:
        hint = f"Nobody here is {email}." if email else "Nobody is here yet."
        raise click.ClickException(f"{hint} See `flask users list` or `flask seed`.")
    membership, language = row
    scope = Scope(membership.group_id, membership.user_id, membership.role)
    return Asker(scope, language or "en")


def _envelope(reply: Message) -> dict[str, Any]:
    """The reply as the JSON API returns it."""
    # Links in it are relative; the address of this context is never seen.
    with current_app.test_request_context("/"):
        return envelope(reply, _usage(reply)).model_dump(mode="json")


def _run_batch(path: Path, email: str | None, language: str | None) -> int:
    """Run every line; prints an envelope a line and, with expectations, a count."""
    threads: dict[str, UUID] = {}
    passed = failed = 0
    for number, line in _read(path):
        named = line.thread is not None
        thread_id = threads.setdefault(str(line.thread), new_id()) if named else new_id()
        try:
            reply = run_one(
                find_asker(line.user or email),
                line.text,
                line.language or language,
                thread_id,
                line.domain,
                line.action,
            )
        except (ComandaError, click.ClickException) as error:
            click.echo(_as_line({"error": True, "line": number, "message": _words(error)}))
            failed += 1
            continue
        body = _envelope(reply)
        body |= {"line": number, "tool_trace": reply.tool_trace}
        if "expect" in line.model_fields_set:
            problems = (line.expect or Expectation()).problems(reply)
            body |= {"passed": not problems, "problems": problems}
            passed, failed = passed + (not problems), failed + bool(problems)
        click.echo(_as_line(body))
    if passed or failed:
        click.echo(f"{passed} passed, {failed} failed", err=True)
    return 1 if failed else 0


def _read(path: Path) -> list[tuple[int, BatchLine]]:
    """Every question of the file, so that none is asked of a file that is wrong further on."""
    try:
        return read_batch(path.read_bytes())
    except UnreadableLine as error:
        raise UnreadableBatch(f"{path.name}, {error}") from None
    except OSError as error:
        raise UnreadableBatch(f"{path.name}: {error.strerror}") from None


def _words(error: ComandaError | click.ClickException) -> str:
    """What an error says, in English as everything here."""
    said = error.message % error.told("en") if isinstance(error, ComandaError) else error.message
    return clean_text(said)


def _usage(reply: Message) -> Usage:
    """How much of the nearest limit the person who asked has used."""
    with services().database.transaction(Scope(reply.group_id, reply.user_id)) as session:
        return read_standing(session).nearest


def _plain(reply: Message) -> str:
    """The words, and under them the cards and the sources, without what a terminal would obey.

    What is stored may be from before texts were cleaned as they came.
    """
    words = words_of(reply)
    sources = [f"[{c['number']}] {' › '.join([*c['path'], c['title']])}" for c in reply.citations]
    cards = [line for part in reply.parts for line in _card(part, reply.language, words)]
    blocks = (["", *lines] for lines in (cards, sources) if lines)
    return clean_text("\n".join([words, *chain.from_iterable(blocks)]))


def _card(part: Mapping[str, Any], language: str, words: str) -> list[str]:
    """A part as lines; none where the words of the reply are its own."""
    said = words_of_part(part, language)
    if not said or said == words:
        return []
    details = [f"    {label}: {value}" for label, value in details_of_part(part, language)]
    return [f"* {said}", *details]


def _how_to_answer(reply: Message, email: str | None) -> str:
    """The command that answers what the reply asks; "" where it asks nothing."""
    is_offer = any(part["type"] == "proposal" for part in reply.parts)
    last = (reply.content.splitlines() or [""])[-1]
    # A list at the end is of what could be asked.
    if not is_offer and (last.startswith("- ") or not last.rstrip().endswith("?")):
        return ""
    agreed = {"en": "yes", "es": "sí"}[reply.language] if is_offer else "…"
    user = f" --user {email}" if email else ""
    return clean_text(f'To answer: flask ask "{agreed}"{user} --thread {reply.thread_id}')


def _explanation(reply: Message) -> str:
    """What the message was taken for, a line for each tool with what speaks for it."""
    with services().database.transaction(Scope(reply.group_id, reply.user_id)) as session:
        facts = session.scalar(
            select(TurnFacts).where(
                TurnFacts.turn_id == reply.turn_id,
                TurnFacts.group_id == reply.group_id,
                TurnFacts.user_id == reply.user_id,
            )
        )
    told = facts.explanation if facts else None
    if not told:
        return "The built-in assistant was not asked: there is nothing to explain."
    lines = [f"why: {told['why']}", f"{'tool':32} share  learned  evidence  wished"]
    lines += [
        f"{each['tool']:32} {each['share']:5.2f}  {each['learned']:7.2f}"
        f"  {each['evidence']:+8.2f}  {each['wished']:+6.2f}"
        for each in told["candidates"]
    ]
    return "\n".join(lines)


def _as_line(body: Mapping[str, Any]) -> str:
    """A value as one line of JSON, its texts without what a terminal would obey."""
    return json.dumps(clean_value(body), ensure_ascii=False)


def _check_thread(asker: Asker, thread_id: UUID) -> None:
    """Only a conversation that is there is gone on with.

    Raises:
        NotFound: there is none, or it is not this person's.
    """
    with services().database.transaction(asker.scope) as session:
        load_thread(session, thread_id)


def _uuid(text: str) -> UUID:
    try:
        thread_id = UUID(text)
    except ValueError:
        raise click.UsageError("--thread takes a thread's id, or new.") from None
    return thread_id
