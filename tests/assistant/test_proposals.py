"""Nothing is written unasked, and what is confirmed is written once, exactly as shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text, update
from sqlalchemy.exc import IntegrityError, ProgrammingError

from app.accounts.models import AuditEntry
from app.assistant.models import Message, Proposal, Turn
from app.assistant.proposals.proposals import (
    bring_back,
    confirm,
    decline,
    digest_of,
    load_proposal,
    state_at,
    undo,
)
from app.assistant.providers.base import ProviderError
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.providers.json_mode import JsonModeProvider
from app.assistant.threads.threads import load_thread, stop_turns
from app.assistant.turns.events import EventLog
from app.assistant.turns.executor import ClaimedTurn, TurnStopped, execute_turn
from app.assistant.turns.turn_limits import LONGEST_REMARK
from app.config import Settings
from app.db import Database, utc_now
from app.errors import Conflict, Forbidden, NotFound
from app.extensions import Services
from app.factory import build_app
from tests.assistant.processes import wait_until
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import Member, answer, api_token, ask, make_user, sign_in
from tests.fridge_log import SKILLS_WITH_LOG, logged, make_table

CALL = [call("log_temperature", '{"unit": "walk-in", "degrees": 4}')]
OFFER = (CALL, say("Shall I?"))


@pytest.fixture(scope="module")
def app(settings: Settings, owner: Database) -> Flask:
    """An app whose house keeps a fridge log."""
    make_table(owner, settings.database_url or "")
    return build_app(settings, SKILLS_WITH_LOG)


@pytest.fixture
def say_to(app: Flask, database: Database, member: Member) -> Callable[..., Message]:
    """Sends a message of the member's, answered by a script of the model's."""

    def send(words: str, *script: Any, thread: UUID | None = None, **more: Any) -> Message:
        accepted = ask(database, member, words, thread, **more)
        provider = ScriptedProvider(*(script or (say("All right."),)))
        return answer(app, member, accepted, provider)

    return send


SayTo = Callable[..., Message]


@pytest.fixture
def offered(say_to: SayTo) -> Message:
    """A reply that proposes to log 4 degrees for the walk-in."""
    return say_to("Log 4 degrees for the walk-in", *OFFER)


def proposal_id(reply: Message) -> UUID:
    [part] = [part for part in reply.parts if part["type"] == "proposal"]
    return UUID(part["proposal_id"])


def stored(owner: Database, id_: UUID) -> Proposal:
    with owner.transaction() as session:
        return session.get_one(Proposal, id_)


def audit(owner: Database, member: Member) -> list[tuple[str, str, str]]:
    with owner.transaction() as session:
        rows = session.execute(
            select(AuditEntry.action, AuditEntry.subject, AuditEntry.digest)
            .where(AuditEntry.user_id == member.user_id, AuditEntry.action.like("tool.%"))
            .order_by(AuditEntry.at)
        )
        return [(action, subject, digest) for action, subject, digest in rows]


def change(owner: Database, id_: UUID, **values: Any) -> None:
    with owner.transaction() as session:
        session.execute(update(Proposal).where(Proposal.id == id_).values(**values))


# Proposing


def test_a_models_call_of_a_writing_tool_writes_nothing(
    owner: Database, member: Member, offered: Message
) -> None:
    found = stored(owner, proposal_id(offered))
    assert (found.state, found.arguments) == ("pending", {"unit": "walk-in", "degrees": 4.0})
    assert found.digest == digest_of("log_temperature", found.arguments)
    assert found.expires_at - found.created_at == timedelta(minutes=30)
    assert offered.parts[0]["summary"]["es"] == "Registrar 4 °C en: cámara fría."
    assert logged(owner, member.user_id) == []
    assert audit(owner, member) == []


def test_the_model_is_told_that_nothing_is_written_yet(
    app: Flask, database: Database, member: Member
) -> None:
    provider = ScriptedProvider(*OFFER)
    answer(app, member, ask(database, member, "Log 4 degrees"), provider)
    told = json.loads(provider.requests[1].messages[-1].text)
    assert told["proposal"]["arguments"] == {"unit": "walk-in", "degrees": 4.0}
    assert told["note"].startswith("Nothing is written yet")


@pytest.mark.parametrize("suggested", [True, False, None])
def test_a_model_that_speaks_json_cannot_wave_the_confirmation_through(
    app: Flask,
    owner: Database,
    database: Database,
    member: Member,
    suggested: bool | None,
) -> None:
    wish: dict[str, Any] = {
        "type": "tool_call",
        "tool": "log_temperature",
        "args": {"unit": "walk-in", "degrees": 4},
    }
    if suggested is not None:
        wish |= {"confirmationSuggested": suggested, "confirmationMessage": "Just doing it."}
    script = ScriptedProvider(
        say(json.dumps(wish)), say('{"type": "answer", "content": "Shall I?"}')
    )
    asked = ask(database, member, "Log 4 degrees for the walk-in")
    reply = answer(app, member, asked, JsonModeProvider(script))
    assert stored(owner, proposal_id(reply)).state == "pending"
    assert logged(owner, member.user_id) == []
    # Its own words come before the question; the card shows what is stored, whatever they say.
    said = "Shall I?" if suggested is None else "Just doing it."
    assert reply.content == f"{said}\n\nShould I do this?"
    assert "Just doing it" not in json.dumps(reply.parts)


def test_what_a_model_says_before_the_question_is_no_book(
    app: Flask, database: Database, member: Member
) -> None:
    """It was stored and drawn whole, however long it was."""
    wish = {
        "type": "tool_call",
        "tool": "log_temperature",
        "args": {"unit": "walk-in", "degrees": 4},
        "confirmationMessage": "word " * 36_000,
    }
    asked = ask(database, member, "Log 4 degrees for the walk-in")
    reply = answer(app, member, asked, JsonModeProvider(ScriptedProvider(say(json.dumps(wish)))))
    assert reply.content.endswith("Should I do this?")
    assert len(reply.content) < LONGEST_REMARK + 100


def test_what_the_tool_refuses_is_no_proposal(
    owner: Database, member: Member, say_to: SayTo
) -> None:
    hot = [call("log_temperature", '{"unit": "bar", "degrees": 900}')]
    reply = say_to("Log 900", hot, say("That cannot be."))
    assert (reply.parts, reply.tool_trace[0]["ok"]) == ([], False)


def test_a_second_proposal_takes_the_place_of_the_first(
    owner: Database, say_to: SayTo, offered: Message
) -> None:
    changed = [call("log_temperature", '{"unit": "walk-in", "degrees": 5}')]
    second = say_to("make it 5", changed, say("So?"), thread=offered.thread_id)
    assert stored(owner, proposal_id(offered)).state == "superseded"
    assert stored(owner, proposal_id(second)).arguments["degrees"] == 5.0


def test_the_next_turn_is_told_what_is_open(
    app: Flask, database: Database, member: Member, offered: Message
) -> None:
    provider = ScriptedProvider(say("Hm."))
    answer(app, member, ask(database, member, "make it 5", offered.thread_id), provider)
    system = provider.requests[0].messages[0].text
    assert 'Open proposal, not done: log_temperature {"unit": "walk-in", "degrees": 4.0}' in system


def test_going_on_to_something_else_sets_it_aside(
    owner: Database, member: Member, say_to: SayTo, offered: Message
) -> None:
    say_to("What is the tip policy?", thread=offered.thread_id)
    found = stored(owner, proposal_id(offered))
    assert (found.state, found.reason) == ("declined", "moved_on")
    say_to("yes", thread=offered.thread_id)
    assert logged(owner, member.user_id) == []


def test_a_turn_that_failed_leaves_it_open(
    owner: Database, say_to: SayTo, offered: Message
) -> None:
    say_to("make it 5", [ProviderError("unreachable")], thread=offered.thread_id)
    assert stored(owner, proposal_id(offered)).state == "pending"


def test_a_reply_that_starts_over_withdraws_what_it_had_proposed(
    app: Flask, owner: Database, database: Database, member: Member, on: Services
) -> None:
    accepted = ask(database, member, "Log 4")
    first = answer(app, member, accepted, ScriptedProvider(*OFFER))
    # Its runner died before the reply's end.
    reopen_turn(owner, accepted.turn.id)
    taken = ClaimedTurn(accepted.turn.id, 2, 2, member.scope)
    with app.test_request_context("/"):
        execute_turn(on, ScriptedProvider(say("Never mind.")), taken)
    assert stored(owner, proposal_id(first)).state == "superseded"


@pytest.mark.parametrize("how", ["its runner died", "its model failed"])
def test_a_card_that_gave_way_to_a_reply_that_starts_over_can_still_be_had(
    app: Flask, owner: Database, database: Database, member: Member, on: Services,
    offered: Message, say_to: SayTo, how: str,
) -> None:  # fmt: skip
    changed = [call("log_temperature", '{"unit": "freezer", "degrees": 5}')]
    if how == "its model failed":
        say_to("the freezer has 5", changed, [ProviderError("unreachable")],
               thread=offered.thread_id)  # fmt: skip
        # Another one has answered in its stead, and not the question of the card.
        assert stored(owner, proposal_id(offered)).state == "declined"
        with database.transaction(member.scope) as session:
            bring_back(session, proposal_id(offered))
    else:
        accepted = ask(database, member, "the freezer has 5", offered.thread_id)
        answer(app, member, accepted, ScriptedProvider(changed, say("So?")))
        assert stored(owner, proposal_id(offered)).state == "superseded"
        reopen_turn(owner, accepted.turn.id)
        taken = ClaimedTurn(accepted.turn.id, 2, 2, member.scope)
        with app.test_request_context("/"):
            execute_turn(on, ScriptedProvider([ProviderError("unreachable")]), taken)
    assert stored(owner, proposal_id(offered)).state == "pending"


def test_who_proposes_and_who_changes_a_message_do_not_wait_for_each_other(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    accepted = ask(database, member, "Log 4")
    provider = ScriptedProvider(*OFFER)
    with ThreadPoolExecutor(1) as pool:
        with database.transaction(member.scope) as session:
            load_thread(session, accepted.thread.id, lock=True)
            replying = pool.submit(answer, app, member, accepted, provider)
            # The turn has got as far as to its proposal, and waits for the thread.
            wait_until(lambda: waits_for_a_lock(owner))
            session.execute(text("SET LOCAL lock_timeout = '2s'"))
            stop_turns(session, accepted.thread.id)
        reply = replying.result(timeout=20)
    assert stored(owner, proposal_id(reply)).state == "pending"


def waits_for_a_lock(owner: Database) -> bool:
    with owner.transaction() as session:
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        return bool(session.execute(text(waiting)).scalar_one())


def test_a_reply_whose_proposal_was_confirmed_is_not_made_again(
    app: Flask, owner: Database, database: Database, member: Member, on: Services
) -> None:
    accepted = ask(database, member, "Log 4")
    first = answer(app, member, accepted, ScriptedProvider(*OFFER))
    with database.transaction(member.scope) as session:
        confirm(session, on.registry, proposal_id(first))
    reopen_turn(owner, accepted.turn.id)
    provider = ScriptedProvider(*OFFER)
    with app.test_request_context("/"):
        execute_turn(on, provider, ClaimedTurn(accepted.turn.id, 2, 2, member.scope))
    assert provider.requests == []
    with database.transaction(member.scope) as session:
        reply = session.get_one(Message, accepted.reply.id)
    said = "Shall I?\n\nShould I do this?"
    assert (reply.content, len(reply.parts), reply.status) == (said, 1, "complete")


def reopen_turn(owner: Database, turn_id: UUID) -> None:
    """As after a runner died with the turn in its hands and another one claimed it."""
    with owner.transaction() as session:
        again = {"status": "running", "fence": 2, "attempts": 2, "finished_at": None}
        session.execute(update(Turn).where(Turn.id == turn_id).values(**again))


# Confirming and declining


def test_a_confirmation_does_exactly_what_was_shown_and_leaves_a_trace(
    owner: Database, database: Database, member: Member, on: Services, offered: Message
) -> None:
    with database.transaction(member.scope) as session:
        done = confirm(session, on.registry, proposal_id(offered))
    assert logged(owner, member.user_id) == [("walk-in", 4.0)]
    assert (done.state, done.decided_by) == ("confirmed", None)
    [(action, subject, digest)] = audit(owner, member)
    assert done.receipt is not None
    assert (action, subject, digest) == (
        "tool.log_temperature",
        done.receipt["result_id"],
        done.digest,
    )


def test_confirming_twice_does_it_once_and_tells_the_first_result(
    owner: Database, database: Database, member: Member, on: Services, offered: Message
) -> None:
    receipts = []
    for _ in range(2):
        with database.transaction(member.scope) as session:
            receipts.append(confirm(session, on.registry, proposal_id(offered)).receipt)
    assert receipts[0] == receipts[1]
    assert len(logged(owner, member.user_id)) == len(audit(owner, member)) == 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"state": "declined"}, "This was canceled; nothing was done"),
        ({"state": "superseded"}, "newer proposal"),
        ({"state": "expired"}, "expired"),
        ({"expires_at": utc_now() - timedelta(seconds=1)}, "expired"),
        ({"arguments": {"unit": "walk-in", "degrees": 40.0}}, "not what was shown"),
        (
            {"tool": "defrost_the_bar"},
            "Nothing was done: this needs something that is no longer part of Comanda.",
        ),
    ],
    ids=["declined", "superseded", "expired", "late", "altered", "unknown tool"],
)
def test_what_is_not_open_or_not_what_was_shown_is_not_done(
    owner: Database,
    database: Database,
    member: Member,
    on: Services,
    offered: Message,
    values: dict[str, Any],
    words: str,
) -> None:
    change(owner, proposal_id(offered), **values)
    with pytest.raises(Conflict, match=words), database.transaction(member.scope) as session:
        confirm(session, on.registry, proposal_id(offered))
    assert logged(owner, member.user_id) == audit(owner, member) == []


@pytest.mark.parametrize("who", ["a colleague", "an admin", "another group"])
def test_nobody_else_may_answer_or_even_see_it(
    owner: Database, database: Database, member: Member, on: Services, offered: Message, who: str
) -> None:
    other = make_user(
        owner,
        None if who == "another group" else member.group_id,
        "admin" if who == "an admin" else "staff",
    )
    id_ = proposal_id(offered)
    for act in (
        lambda session: load_proposal(session, id_),
        lambda session: confirm(session, on.registry, id_),
        lambda session: decline(session, id_),
        lambda session: bring_back(session, id_),
        lambda session: undo(session, on.registry, id_),
    ):
        with pytest.raises(NotFound), database.transaction(other.scope) as session:
            act(session)
    assert stored(owner, id_).state == "pending"


def test_a_role_that_was_lost_meanwhile_counts(
    owner: Database, app: Flask, database: Database, on: Services
) -> None:
    manager = make_user(owner, role="manager")
    defrost = [call("defrost_freezer", '{"unit": "freezer", "degrees": 1}')]
    asked = ask(database, manager, "Defrosted")
    reply = answer(app, manager, asked, ScriptedProvider(defrost, say("So?")))
    demoted = Member(**{**vars(manager), "role": "staff"})
    with pytest.raises(Forbidden), database.transaction(demoted.scope) as session:
        confirm(session, on.registry, proposal_id(reply))
    assert logged(owner, manager.user_id) == []


def test_a_tool_of_managers_is_not_offered_to_staff(
    app: Flask, database: Database, member: Member
) -> None:
    provider = ScriptedProvider(say("Hm."))
    answer(app, member, ask(database, member), provider)
    assert "log_temperature" in provider.offered[0]
    assert "defrost_freezer" not in provider.offered[0]


def test_a_tool_that_cannot_do_it_leaves_it_open_and_nothing_written(
    owner: Database, database: Database, member: Member, on: Services, say_to: SayTo
) -> None:
    locked = '{"unit": "bar", "degrees": 4, "note": "the log is locked"}'
    reply = say_to("Log 4", [call("log_temperature", locked)], say("So?"))
    with pytest.raises(Conflict), database.transaction(member.scope) as session:
        confirm(session, on.registry, proposal_id(reply))
    assert stored(owner, proposal_id(reply)).state == "pending"
    assert logged(owner, member.user_id) == audit(owner, member) == []


def test_declining_is_final_until_it_is_brought_back(
    owner: Database, database: Database, member: Member, on: Services, offered: Message
) -> None:
    id_ = proposal_id(offered)
    with database.transaction(member.scope) as session:
        assert decline(session, id_).reason == "cancelled"
        assert decline(session, id_).state == "declined"
    with database.transaction(member.scope) as session:
        again = bring_back(session, id_)
        assert (again.state, again.reason) == ("pending", "")
        assert again.expires_at > utc_now() + timedelta(minutes=29)
    with database.transaction(member.scope) as session:
        confirm(session, on.registry, id_)
    assert logged(owner, member.user_id) == [("walk-in", 4.0)]
    for act in (decline, bring_back):
        with pytest.raises(Conflict), database.transaction(member.scope) as session:
            act(session, id_)


def test_bringing_one_back_takes_the_place_of_another_that_is_open(
    owner: Database, database: Database, member: Member, say_to: SayTo, offered: Message
) -> None:
    with database.transaction(member.scope) as session:
        decline(session, proposal_id(offered))
    other = say_to("Log it again", *OFFER, thread=offered.thread_id)
    with database.transaction(member.scope) as session:
        bring_back(session, proposal_id(offered))
    assert stored(owner, proposal_id(offered)).state == "pending"
    assert stored(owner, proposal_id(other)).state == "declined"
    # Nothing newer counts in its place: it can be had again in its turn.
    with database.transaction(member.scope) as session:
        bring_back(session, proposal_id(other))
    assert stored(owner, proposal_id(other)).state == "pending"
    assert stored(owner, proposal_id(offered)).state == "declined"


# Taking back


def test_what_was_done_can_be_taken_back_once(
    owner: Database, database: Database, member: Member, on: Services, offered: Message
) -> None:
    id_ = proposal_id(offered)
    with database.transaction(member.scope) as session:
        confirm(session, on.registry, id_)
    for _ in range(2):
        with database.transaction(member.scope) as session:
            assert undo(session, on.registry, id_).undone_at
    assert logged(owner, member.user_id) == []
    assert [entry[0] for entry in audit(owner, member)] == [
        "tool.log_temperature",
        "tool.log_temperature.undo",
    ]


def test_what_was_not_done_or_is_too_old_is_not_taken_back(
    owner: Database, database: Database, member: Member, on: Services, offered: Message
) -> None:
    id_ = proposal_id(offered)
    with pytest.raises(Conflict, match="nothing to"), database.transaction(member.scope) as session:
        undo(session, on.registry, id_)
    with database.transaction(member.scope) as session:
        confirm(session, on.registry, id_)
    change(owner, id_, undo_until=utc_now() - timedelta(seconds=1))
    with pytest.raises(Conflict, match="too late"), database.transaction(member.scope) as session:
        undo(session, on.registry, id_)
    assert logged(owner, member.user_id) == [("walk-in", 4.0)]


# In words


@pytest.mark.parametrize(("word", "language"), [("yes", "en"), ("sí, dale", "es")])
def test_a_yes_confirms_without_asking_any_model(
    app: Flask,
    owner: Database,
    database: Database,
    member: Member,
    offered: Message,
    word: str,
    language: str,
) -> None:
    provider = ScriptedProvider(say("The model was asked."))
    accepted = ask(database, member, word, offered.thread_id, language=language)
    reply = answer(app, member, accepted, provider)
    assert provider.requests == []
    assert (
        reply.content
        == {
            "en": "Logged 4 °C for the walk-in.",
            "es": "Se registró 4 °C en: cámara fría.",
        }[language]
    )
    assert [part["type"] for part in reply.parts] == ["receipt"]
    assert (reply.status, reply.provider, reply.mode) == ("complete", "fast_path", "action")
    assert logged(owner, member.user_id) == [("walk-in", 4.0)]
    assert stored(owner, proposal_id(offered)).decided_by == accepted.message.id


def test_a_no_declines_without_asking_any_model(
    owner: Database, member: Member, say_to: SayTo, offered: Message
) -> None:
    reply = say_to("mejor no", thread=offered.thread_id, language="es")
    assert reply.content == "De acuerdo. Lo de la tarjeta no se hizo. ¿Qué quieres cambiar?"
    assert stored(owner, proposal_id(offered)).state == "declined"
    assert logged(owner, member.user_id) == []


def test_a_yes_that_is_answered_again_repeats_no_write(
    app: Flask, owner: Database, database: Database, member: Member, on: Services, offered: Message
) -> None:
    accepted = ask(database, member, "yes", offered.thread_id)
    first = answer(app, member, accepted, ScriptedProvider(say("?")))
    reopen_turn(owner, accepted.turn.id)
    with app.test_request_context("/"):
        execute_turn(
            on, ScriptedProvider(say("?")), ClaimedTurn(accepted.turn.id, 2, 2, member.scope)
        )
    with database.transaction(member.scope) as session:
        again = session.get_one(Message, accepted.reply.id)
    assert (again.content, len(again.parts)) == (first.content, 1)
    assert len(logged(owner, member.user_id)) == len(audit(owner, member)) == 1


def test_a_yes_to_what_came_after_it_confirms_nothing(
    app: Flask, owner: Database, database: Database, member: Member, offered: Message
) -> None:
    accepted = ask(database, member, "yes", offered.thread_id)
    change(owner, proposal_id(offered), created_at=utc_now() + timedelta(seconds=1))
    reply = answer(app, member, accepted, ScriptedProvider(say("?")))
    assert reply.content.startswith("My proposal has changed since then.")
    assert logged(owner, member.user_id) == []


def test_a_reply_that_is_stopped_at_its_words_has_the_receipt_of_what_was_done(
    app: Flask,
    owner: Database,
    database: Database,
    member: Member,
    offered: Message,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publish, pressed = EventLog.publish, [TurnStopped]

    def stopped(log: EventLog, thread: UUID, kind: str, *more: Any, **fence: Any) -> str | None:
        if kind == "token" and pressed:
            raise pressed.pop()
        return publish(log, thread, kind, *more, **fence)

    monkeypatch.setattr(EventLog, "publish", stopped)
    accepted = ask(database, member, "yes", offered.thread_id)
    reply = answer(app, member, accepted, ScriptedProvider())
    assert reply.status == "stopped"
    assert [part["type"] for part in reply.parts] == ["receipt"]
    assert len(logged(owner, member.user_id)) == 1


def test_a_yes_that_comes_too_late_says_so_and_one_to_nothing_is_a_message(
    owner: Database, member: Member, say_to: SayTo, offered: Message
) -> None:
    change(owner, proposal_id(offered), expires_at=utc_now() - timedelta(seconds=1))
    late = say_to("yes", thread=offered.thread_id)
    assert late.content.startswith("This proposal has expired; nothing was done.")
    replied = say_to("yes", say("To what?"), thread=offered.thread_id).content
    assert replied.startswith("To what?")
    assert say_to("yes", say("To what?")).content == "To what?"
    assert logged(owner, member.user_id) == []


def test_a_yes_that_the_tool_cannot_do_is_told_why(
    owner: Database, member: Member, say_to: SayTo
) -> None:
    locked = '{"unit": "bar", "degrees": 4, "note": "the log is locked"}'
    offered = say_to("Log 4", [call("log_temperature", locked)], say("So?"))
    reply = say_to("yes", thread=offered.thread_id)
    assert (reply.content, reply.status) == ("This has been done already.", "complete")
    assert stored(owner, proposal_id(offered)).state == "pending"


# With the built-in assistant


@pytest.mark.parametrize(
    ("first", "change_", "degrees"),
    [
        ("log 4 degrees for the walk-in", "make it 5", 5.0),
        ("anota 4 grados en walk-in", "mejor que sean 6.5", 6.5),
    ],
)
def test_the_builtin_assistant_proposes_amends_and_waits(
    app: Flask, owner: Database, database: Database, member: Member, first: str,
    change_: str, degrees: float,
) -> None:  # fmt: skip
    provider = BuiltinProvider()
    asked = ask(database, member, first)
    offered = answer(app, member, asked, provider)
    assert stored(owner, proposal_id(offered)).arguments == {"unit": "walk-in", "degrees": 4.0}
    amended = answer(app, member, ask(database, member, change_, asked.thread.id), provider)
    assert stored(owner, proposal_id(amended)).arguments["degrees"] == degrees
    answer(app, member, ask(database, member, "sí", asked.thread.id), provider)
    assert logged(owner, member.user_id) == [("walk-in", degrees)]


@pytest.mark.parametrize(
    ("first", "story", "asked_again", "language"),
    [
        ("log 4 degrees for the walk-in", "yes, it has been humming since noon",
         "Just to be sure, answer yes or no:", "en"),
        ("anota 4 grados en walk-in", "sí por favor, el chef lo quiere ver hoy",
         "Solo para confirmar, contesta sí o no:", "es"),
    ],
)  # fmt: skip
def test_a_yes_that_says_more_is_asked_for_once_more_and_nothing_is_lost(
    app: Flask, owner: Database, database: Database, member: Member, first: str,
    story: str, asked_again: str, language: str,
) -> None:  # fmt: skip
    provider = BuiltinProvider()
    asked = ask(database, member, first, language=language)
    thread = asked.thread.id
    offered = answer(app, member, asked, provider)
    again = answer(app, member, ask(database, member, story, thread, language=language), provider)
    assert again.content.splitlines()[0] == asked_again
    assert again.content.splitlines()[-1] == offered.content.splitlines()[-1]
    assert stored(owner, proposal_id(offered)).state == "pending"
    assert logged(owner, member.user_id) == []
    answer(app, member, ask(database, member, "sí", thread, language=language), provider)
    assert logged(owner, member.user_id) == [("walk-in", 4.0)]


def test_it_is_asked_once_more_and_no_more_than_once(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    provider = BuiltinProvider()
    asked = ask(database, member, "log 4 degrees for the walk-in")
    offered = answer(app, member, asked, provider)
    for _ in range(2):
        said = "yes, it has been humming since noon"
        reply = answer(app, member, ask(database, member, said, asked.thread.id), provider)
    assert not reply.content.startswith("Just to be sure")
    assert stored(owner, proposal_id(offered)).state == "declined"
    assert logged(owner, member.user_id) == []


# By button and over the API


def test_the_card_offers_three_ways_and_folds_into_its_receipt(
    app: Flask, owner: Database, member: Member, offered: Message
) -> None:
    browser = sign_in(app, owner, member)
    page = browser.page(f"/chat/{offered.thread_id}")
    buttons = [each.text.strip() for each in page.find_all("button", class_="button")]
    assert "To confirm" in page.text
    assert {"Confirm", "Cancel"} <= {each.text.strip() for each in page.find_all("button")}, buttons
    address = f"/proposals/{proposal_id(offered)}"
    done = browser.post_fragment(f"{address}/confirm")
    assert "Logged 4 °C for the walk-in." in done.text
    assert "Undo" in done.text
    assert "Logged 4 °C" in browser.page(f"/chat/{offered.thread_id}").text
    assert "This was undone" in browser.post_fragment(f"{address}/undo").text
    assert logged(owner, member.user_id) == []


def test_the_receipt_of_a_yes_is_undone_by_its_button(
    app: Flask, owner: Database, member: Member, say_to: SayTo, offered: Message
) -> None:
    say_to("yes", thread=offered.thread_id)
    browser = sign_in(app, owner, member)
    taken_back = browser.post_fragment(f"/proposals/{proposal_id(offered)}/undo")
    assert "This was undone" in taken_back.text
    assert "This was undone" in browser.page(f"/chat/{offered.thread_id}").text
    assert logged(owner, member.user_id) == []


def test_without_scripts_a_button_leads_back_to_the_conversation(
    app: Flask, owner: Database, member: Member, offered: Message
) -> None:
    browser = sign_in(app, owner, member)
    address = f"/proposals/{proposal_id(offered)}"
    response = browser.post(f"{address}/decline")
    assert (response.status_code, response.location) == (303, f"/chat/{offered.thread_id}")
    assert "Canceled: nothing was done" in browser.page(response.location).text
    assert browser.post(f"{address}/bring-back").status_code == 303
    change(owner, proposal_id(offered), expires_at=utc_now() - timedelta(seconds=1))
    assert browser.post(f"{address}/confirm").status_code == 303
    page = browser.page(f"/chat/{offered.thread_id}")
    assert "This proposal has expired; nothing was done." in page.text
    assert "Not answered in time: nothing was done" in page.text


def test_over_the_api_a_proposal_is_read_confirmed_and_refused_as_json(
    app: Flask, owner: Database, member: Member, offered: Message
) -> None:
    client = app.test_client()
    bearer = {"Authorization": f"Bearer {api_token(owner, member)}"}
    address = f"/api/proposals/{proposal_id(offered)}"
    assert client.get(address, headers=bearer).get_json()["part"]["state"] == "pending"
    for _ in range(2):
        told = client.post(f"{address}/confirm", headers=bearer).get_json()
        assert (told["version"], told["part"]["type"]) == ("1.0", "receipt")
        assert told["sessionId"] == str(offered.thread_id)
    refused = client.post(f"{address}/decline", headers=bearer)
    assert (refused.status_code, refused.get_json()["code"]) == (409, "conflict")
    assert client.post(f"{address}/eat", headers=bearer).status_code == 404
    assert client.get(f"{address}/confirm", headers=bearer).status_code == 405
    assert client.post(f"{address}/confirm").status_code == 401
    stranger = {"Authorization": f"Bearer {api_token(owner, make_user(owner))}"}
    assert client.post(f"{address}/undo", headers=stranger).status_code == 404


def test_a_forged_form_is_refused(
    app: Flask, owner: Database, member: Member, offered: Message
) -> None:
    browser = sign_in(app, owner, member)
    response = browser.post(f"/proposals/{proposal_id(offered)}/confirm", token=False)
    assert response.status_code == 400
    assert logged(owner, member.user_id) == []


# The second lock


def test_row_level_security_hides_them_without_any_predicate(
    owner: Database, database: Database, member: Member, offered: Message
) -> None:
    other = make_user(owner, member.group_id, "admin")
    with database.transaction(other.scope) as session:
        assert session.scalars(select(Proposal)).all() == []
        session.execute(update(Proposal).values(state="confirmed"))
    assert stored(owner, proposal_id(offered)).state == "pending"
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        database.transaction(member.scope) as session,
    ):
        session.execute(text("DELETE FROM proposals"))


def test_two_proposals_at_once_in_one_thread_cannot_be(owner: Database, offered: Message) -> None:
    found = stored(owner, proposal_id(offered))
    copied = {
        name: getattr(found, name)
        for name in (column.name for column in Proposal.__table__.columns)
        if name not in ("id", "state")
    }
    with (
        pytest.raises(IntegrityError, match="uq_proposals_pending_thread"),
        owner.transaction() as session,
    ):
        session.add(Proposal(**copied, state="pending"))


def test_the_state_follows_the_clock(owner: Database, offered: Message) -> None:
    found = stored(owner, proposal_id(offered))
    assert state_at(found, found.expires_at - timedelta(seconds=1)) == "pending"
    assert state_at(found, found.expires_at) == "expired"


class Meanwhile(ScriptedProvider):
    """A model before whose words, which follow its calls, somebody does something."""

    def __init__(self, act: Callable[[], object], *replies: Any) -> None:
        super().__init__(*replies)
        self.act = act

    def stream(self, request: Any) -> Any:
        if self.requests:
            self.act()
        return super().stream(request)


CLAIM = "I've recorded 4 degrees for the walk-in."


@pytest.mark.parametrize("decision", [confirm, decline])
def test_what_a_button_answers_while_the_reply_is_written_is_asked_no_more(
    app: Flask, owner: Database, database: Database, member: Member, on: Services, decision: Any
) -> None:
    accepted = ask(database, member, "Log 4 degrees for the walk-in")

    def press() -> None:
        with database.transaction(member.scope) as session:
            found = session.scalars(
                select(Proposal.id).where(Proposal.message_id == accepted.reply.id)
            ).one()
            given = (session, on.registry, found) if decision is confirm else (session, found)
            decision(*given)

    # Beside the card another tool is called, so that the model is asked for words.
    both = [*CALL, call("search_manual_v2", '{"query": "tips"}', "c2")]
    reply = answer(app, member, accepted, Meanwhile(press, both, say(CLAIM)))
    assert len(logged(owner, member.user_id)) == (decision is confirm)
    assert not reply.content.endswith("?") and not reply.asked
    assert ("saved or sent" in reply.content or "Not all" in reply.content) == (
        decision is decline
    ), reply.content
