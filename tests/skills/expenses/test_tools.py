"""What a model that calls the ledger's tools brings about: proposals, answers, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.accounts.models import AuditEntry
from app.assistant.models import Message, Proposal
from app.assistant.proposals.proposals import bring_back, confirm, undo
from app.assistant.web.presenters import cite_html
from app.config import Settings
from app.db import Database, new_id
from app.errors import Conflict, Forbidden
from app.factory import build_app
from app.skills import SKILLS
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import (
    Filters,
    delete_expense,
    find_expenses,
    restore_expense,
)
from app.skills.expenses.services.settings import save_settings
from app.skills.expenses.services.times import read_time
from app.web.links import Link
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import Member, answer, ask, make_user, sign_in
from tests.factories.expenses import a_day, ledger_of, make_expense
from tests.html_checks import parse_html
from tests.skills.expenses.conftest import SayTo


def add(**arguments: Any) -> list[Any]:
    return [call("add_expense", json.dumps(arguments))]


def use(tool: str, **arguments: Any) -> list[Any]:
    return [call(tool, json.dumps(arguments, default=str))]


def proposal_of(database: Database, who: Member, reply: Message) -> Proposal:
    """The newest proposal that a reply shows."""
    ids = [UUID(part["proposal_id"]) for part in reply.parts if "proposal_id" in part]
    with database.transaction(who.scope) as session:
        found = session.scalars(select(Proposal).where(Proposal.id == ids[-1])).one()
        session.expunge(found)
        return found


def confirmed(app: Flask, database: Database, who: Member, reply: Message) -> Proposal:
    """The same, confirmed by its person."""
    proposal = proposal_of(database, who, reply)
    with app.test_request_context("/"), database.transaction(who.scope) as session:
        done = confirm(session, app.extensions["comanda"].registry, proposal.id)
        session.expunge(done)
        return done


def rows(database: Database, who: Member) -> list[tuple[str, str, str]]:
    with database.transaction(who.scope) as session:
        found = find_expenses(session, Filters())
        return [(each.item, str(each.amount), each.category) for each in found]


# Adding


def test_an_add_is_proposed_in_the_contracts_words_and_written_when_confirmed(
    app: Flask, database: Database, member: Member, say_to: SayTo
) -> None:
    script = add(item="electricity bill", amount=200, currency="GBP")
    reply = say_to(member, "Add electricity bill £200", script)
    today = ledger_of(database, member).today
    day = f"{today.day} {today:%b %Y}"
    assert reply.content == f"Would you like me to add electricity bill £200 for {day}?"
    assert rows(database, member) == []
    done = confirmed(app, database, member, reply)
    assert done.receipt
    assert done.receipt["summary"]["en"] == "I've added your electricity bill £200 for today."
    assert rows(database, member) == [("electricity bill", "200.00", "utilities")]
    with database.transaction(member.scope) as session:
        entry = session.scalars(
            select(AuditEntry).where(AuditEntry.subject == done.receipt["result_id"])
        ).one()
        assert (entry.action, entry.digest) == ("tool.add_expense", done.digest)


def test_the_proposal_is_in_both_languages(
    database: Database, member: Member, say_to: SayTo
) -> None:
    reply = say_to(member, "Taxi 14.50 yesterday", add(item="taxi", amount="14.50"))
    proposal = proposal_of(database, member, reply)
    assert proposal.summary["en"].startswith("Add taxi $14.50 for ")
    assert proposal.summary["es"].startswith("Agregar taxi $14.50 del ")
    assert [label for label, _ in proposal.details["es"]] == [
        "Concepto",
        "Monto",
        "Fecha",
        "Categoría",
    ]


def test_several_in_one_sentence_are_one_proposal(
    app: Flask, database: Database, member: Member, say_to: SayTo
) -> None:
    script = add(item="coffee", amount=4.5, more=[{"item": "taxi", "amount": 12}])
    reply = say_to(member, "coffee 4.50 and taxi 12", script)
    assert "coffee $4.50 and taxi $12" in reply.content
    confirmed(app, database, member, reply)
    assert sorted(item for item, _, _ in rows(database, member)) == ["coffee", "taxi"]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("[coffee](<", ">)"),
        ("`coffee", "`"),
        ("<!--", "-->"),
        ("[coffee](x '", "')"),
        ("a\\", "*b"),
        ("coffee [1†", "]"),
        ("coffee [12]", "tea [13]"),
    ],
)
def test_nothing_of_what_a_yes_would_write_is_hidden_in_the_question(
    app: Flask, database: Database, member: Member, say_to: SayTo, first: str, last: str
) -> None:
    more = [{"item": "laptop", "amount": 900}, {"item": last, "amount": 1}]
    reply = say_to(member, "add my coffee", add(item=first, amount=4.5, more=more))
    with app.test_request_context("/"):
        shown = parse_html(str(cite_html(reply.content, []))).text
    assert f"add {first} $4.50, laptop $900 and {last} $1 for" in shown
    done = confirmed(app, database, member, reply)
    assert len(rows(database, member)) == 3
    assert "laptop" in done.summary["en"]


def test_two_calls_of_one_reply_are_joined_into_one_proposal(
    app: Flask, database: Database, member: Member, say_to: SayTo
) -> None:
    calls = [
        call("add_expense", '{"item": "coffee", "amount": 4.5}', "c1"),
        call("add_expense", '{"item": "taxi", "amount": 12}', "c2"),
    ]
    reply = say_to(member, "coffee 4.50 and taxi 12", calls)
    assert "coffee $4.50 and taxi $12" in reply.content
    confirmed(app, database, member, reply)
    assert len(rows(database, member)) == 2


def test_what_was_done_is_told_with_nothing_hidden(
    app: Flask, database: Database, member: Member, say_to: SayTo
) -> None:
    more = [{"item": "laptop>)", "amount": 5}]
    reply = say_to(member, "add them", add(item="[coffee](<", amount=900, more=more))
    done = say_to(member, "yes", say("ok"), thread=reply.thread_id)
    with app.test_request_context("/"):
        shown = parse_html(str(cite_html(done.content, []))).text
    assert "[coffee](< $900 and laptop>) $5" in shown


def test_what_joined_would_be_too_many_is_refused_and_the_first_stay(
    database: Database, member: Member, say_to: SayTo
) -> None:
    sixteen = [{"item": f"thing {number}", "amount": 1} for number in range(15)]
    one = json.dumps({"item": "thing", "amount": 1, "more": sixteen})
    calls = [call("add_expense", one, "c1"), call("add_expense", one, "c2")]
    reply = say_to(member, "add all of these", calls, say("The others later."))
    assert [entry["ok"] for entry in reply.tool_trace] == [True, False]
    assert len(proposal_of(database, member, reply).arguments["more"]) == 15


@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ({"amount": 0}, "amount", "more than zero"),
        ({"amount": -5}, "amount", "more than zero"),
        ({"amount": 1e12}, "amount", "at most 1,000,000"),
        ({"amount": 1.005}, "amount", "two decimal places"),
        ({"amount": "twelve"}, "amount", ""),
        ({"amount": "NaN"}, "amount", ""),
        ({"amount": True}, "amount", ""),
        ({"amount": 5, "category": "yachts"}, "category", "no category"),
        ({"amount": 5, "date": "2199-01-01"}, "date", "in the future"),
        ({"amount": 5, "date": "soon"}, "date", ""),
        ({"amount": 5, "user_id": str(new_id())}, "user_id", ""),
    ],
)
def test_what_cannot_be_written_is_not_proposed_and_names_the_field(
    database: Database,
    member: Member,
    say_to: SayTo,
    arguments: dict[str, Any],
    field: str,
    said: str,
) -> None:
    script = (add(**{"item": "taxi", **arguments}), say("That does not work."))
    reply = say_to(member, "Log a taxi", *script)
    assert [part for part in reply.parts if part["type"] == "proposal"] == []
    [entry] = reply.tool_trace
    assert (entry["ok"], entry["code"], entry["field"]) == (False, "invalid_input", field)


def test_amounts_in_either_style_are_the_same_amount(
    database: Database, member: Member, say_to: SayTo
) -> None:
    for written in ("1.234,50", "1,234.50", "1.234,50 €", 1234.5):
        reply = say_to(member, "Log it", add(item="oven", amount=written, currency="EUR"))
        assert proposal_of(database, member, reply).arguments["amount"] == "1234.50"


def test_a_currency_that_the_house_does_not_use_is_asked_about(
    member: Member, say_to: SayTo
) -> None:
    script = (add(item="taxi", amount=900, currency="JPY"), say("Which currency was it?"))
    reply = say_to(member, "taxi ¥900", *script)
    assert reply.parts == []
    assert reply.tool_trace[0]["code"] == "clarify"


def test_an_add_can_be_taken_back_for_a_day(
    app: Flask, database: Database, member: Member, say_to: SayTo
) -> None:
    done = confirmed(app, database, member, say_to(member, "x", add(item="taxi", amount=5)))
    with database.transaction(member.scope) as session:
        undo(session, app.extensions["comanda"].registry, done.id)
    assert rows(database, member) == []


CORRECTIONS = [
    ("en", "Add taxi $12 today", "yes", "no wait, the taxi was 14"),
    ("en", "Add taxi $12 today", "yes", "oops, the taxi was $14"),
    ("es", "agrega taxi $12 hoy", "sí", "no espera, el taxi fueron 14"),
    ("es", "agrega taxi $12 hoy", "sí", "perdón, el taxi fue de 14"),
]


@pytest.mark.parametrize(("language", "added", "yes", "corrected"), CORRECTIONS)
def test_what_was_added_just_now_is_put_right_and_not_added_twice(
    owner: Database, database: Database, member: Member, say_to: SayTo,
    language: str, added: str, yes: str, corrected: str,
) -> None:  # fmt: skip
    boss = make_user(owner, member.group_id, "manager")
    for who in (boss, member):
        thread = say_to(who, added, language=language).thread_id
        say_to(who, yes, thread=thread, language=language)
        card = say_to(who, corrected, thread=thread, language=language)
        if who is member:
            # Staff change nothing that is saved; their own addition has its Undo.
            assert card.parts == []
            told = {"en": "Press “Undo” on it above", "es": "Presiona «Deshacer» en él"}
            assert told[language] in card.content
            continue
        assert [part["tool"] for part in card.parts] == ["update_expense"], card.content
        say_to(who, yes, thread=thread, language=language)
        assert [(item, str(amount)) for item, amount, _ in rows(database, who)] == [
            ("taxi", "14.00")
        ]


@pytest.mark.parametrize(
    ("language", "undo_it"),
    [
        ("en", "no wait, undo that"),
        ("es", "deshazlo"),
        ("en", "Take it back please"),
        ("es", "no, deshaz eso"),
    ],
)
def test_what_was_done_just_now_is_taken_back_in_words(
    database: Database, member: Member, say_to: SayTo, language: str, undo_it: str
) -> None:
    """By staff too, whose own addition it was; whoever says it twice is told that it was before."""
    thread = say_to(member, "Add taxi $5 today").thread_id
    say_to(member, "yes", thread=thread)
    assert [item for item, _, _ in rows(database, member)] == ["taxi"]
    told = [say_to(member, undo_it, thread=thread, language=language) for _ in range(2)]
    assert rows(database, member) == []
    said = {
        "en": ["I undid that.", "This was undone before, so I changed nothing."],
        "es": ["Lo deshice.", "Esto ya se había deshecho, así que no cambié nada."],
    }
    assert [reply.content for reply in told] == said[language]
    assert [[part["type"] for part in reply.parts] for reply in told] == [["receipt"]] * 2
    assert all(part["undone_at"] for reply in told for part in reply.parts)


@pytest.mark.parametrize("button", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        "undo the taxi", "how do I undo that", "undo that?", "undo the last two", "thanks",
        "don't undo that", "please don't undo", "keep it", "again", "I'm back", "no deshacer",
        "can you undo", "undo it later", "report an accident", "never mind", "send it back",
    ],
)  # fmt: skip
def test_what_says_anything_else_takes_nothing_back(
    app: Flask, database: Database, member: Member, say_to: SayTo, words: str, button: bool
) -> None:
    card = say_to(member, "Add taxi $5 today")
    if button:
        confirmed(app, database, member, card)
    else:
        say_to(member, "yes", thread=card.thread_id)
    say_to(member, words, thread=card.thread_id)
    assert [item for item, _, _ in rows(database, member)] == ["taxi"]


@pytest.mark.parametrize(
    "between",
    ["How long can raw chicken stay out?", "the ice machine is leaking", "delete an expense"],
)
def test_what_was_done_before_something_else_was_said_is_not_taken_back(
    database: Database, member: Member, say_to: SayTo, between: str
) -> None:
    thread = say_to(member, "Add taxi $5 today").thread_id
    say_to(member, "yes", thread=thread)
    say_to(member, between, thread=thread)
    say_to(member, "undo that", thread=thread)
    assert [item for item, _, _ in rows(database, member)] == ["taxi"]


def test_what_was_done_by_its_button_is_taken_back_in_words(
    app: Flask, database: Database, member: Member, say_to: SayTo
) -> None:
    card = say_to(member, "Add taxi $5 today")
    confirmed(app, database, member, card)
    say_to(member, "undo that", thread=card.thread_id)
    assert rows(database, member) == []


def test_a_card_that_waits_is_not_what_is_taken_back(
    database: Database, member: Member, say_to: SayTo
) -> None:
    thread = say_to(member, "Add taxi $5 today").thread_id
    say_to(member, "yes", thread=thread)
    say_to(member, "Add bread $7 today", thread=thread)
    say_to(member, "undo that", thread=thread)
    assert [item for item, _, _ in rows(database, member)] == ["taxi"]


def test_a_house_may_let_a_fully_explicit_add_go_straight_through(
    settings: Settings, database: Database, member: Member
) -> None:
    app = build_app(settings.model_copy(update={"expenses_confirm": "vague"}), SKILLS)
    today = ledger_of(database, member).today

    def reply_to(script: list[Any]) -> Message:
        accepted = ask(database, member, "Add taxi $5 today")
        return answer(app, member, accepted, ScriptedProvider(script))

    explicit = reply_to(add(item="taxi", amount=5, date=str(today)))
    assert [part["type"] for part in explicit.parts] == ["receipt"]
    assert explicit.content == "I've added your taxi $5 for today."
    vague = reply_to(add(item="bus", amount=5))
    assert [part["type"] for part in vague.parts] == ["proposal"]
    assert [item for item, _, _ in rows(database, member)] == ["taxi"]


def test_the_category_that_was_shown_is_the_one_that_is_written(
    app: Flask, database: Database, member: Member, boss: Member, say_to: SayTo
) -> None:
    """Though by now another one is called as this one was when it was made."""
    shown = ledger_of(database, boss)
    [was] = [each for each in shown.categories if each["slug"] == "transport"]
    own = {**was, "name_en": "Guest rides", "name_es": "Viajes de clientes"}
    rest = [each for each in shown.categories if each is not was]
    other = {**was, "slug": "transport-2"}
    with database.transaction(replace(boss.scope, role="admin")) as session:
        save_settings(session, shown.currencies, [other, own, *rest], shown.version)
    for said, slug in (("Guest rides", "transport"), ("Transport", "transport-2")):
        reply = say_to(member, "ride", add(item=f"a {slug}", amount=12, category=said))
        details = proposal_of(database, member, reply).details["en"]
        assert ["Category", said] in [list(pair) for pair in details]
        confirmed(app, database, member, reply)
        assert (f"a {slug}", "12.00", slug) in rows(database, member)
    changed = say_to(
        boss, "change", use("update_expense", which="a transport-2", category="Guest rides")
    )
    confirmed(app, database, boss, changed)
    assert ("a transport-2", "12.00", "transport") in rows(database, boss)


def test_nothing_is_written_into_a_category_that_is_called_otherwise_by_now(
    app: Flask, database: Database, member: Member, boss: Member, say_to: SayTo
) -> None:
    expense = make_expense(database, boss, "Taxi")
    added = say_to(member, "bus $4", add(item="bus", amount=4))
    changed = say_to(boss, "x", use("update_expense", which="taxi", amount=15))
    deleted = say_to(boss, "x", use("delete_expense", which="taxi"))
    shown = ledger_of(database, boss)
    names = {"transport": "Cleaning", "cleaning": "Transport"}
    swapped = [
        {**each, "name_en": names.get(each["slug"], each["name_en"])} for each in shown.categories
    ]
    with database.transaction(replace(boss.scope, role="admin")) as session:
        save_settings(session, shown.currencies, swapped, shown.version)
    for who, reply in ((member, added), (boss, changed), (boss, deleted)):
        with pytest.raises(
            Conflict, match="Something on this card now has another name\\. Ask again to see it\\."
        ):
            confirmed(app, database, who, reply)
    assert rows(database, boss) == [("Taxi", str(expense.amount), "transport")]


# Changing and deleting


def test_the_taxi_one_is_changed_once_a_manager_confirms(
    app: Flask, database: Database, member: Member, boss: Member, say_to: SayTo
) -> None:
    make_expense(database, member, "Taxi to the airport")
    make_expense(database, member, "Napkins")
    reply = say_to(boss, "x", use("update_expense", which="the taxi one", amount=15))
    assert "amount $15" in reply.content
    confirmed(app, database, boss, reply)
    assert ("Taxi to the airport", "15.00", "transport") in rows(database, boss)


def test_the_sum_and_the_item_that_one_reply_changes_are_one_change(
    app: Flask, database: Database, boss: Member, say_to: SayTo
) -> None:
    make_expense(database, boss, "Taxi")
    calls = use("update_expense", which="taxi", amount=15) + use(
        "update_expense", which="taxi", item="Bus", amount=16
    )
    reply = say_to(boss, "x", calls)
    assert "One thing at a time" not in reply.content
    confirmed(app, database, boss, reply)
    assert [(item, amount) for item, amount, _ in rows(database, boss)] == [("Bus", "16.00")]


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        (use("update_expense", which="napkins", amount=4), ("Taxi", "15.00", "transport")),
        (use("delete_expense", which="napkins"), ("Taxi", "15.00", "transport")),
        (add(item="bread", amount=5), ("Taxi", "15.00", "transport")),
    ],
    ids=["another change", "a deletion", "an addition"],
)
def test_one_reply_asks_about_one_thing_and_says_what_it_left(
    app: Flask, database: Database, boss: Member, say_to: SayTo, second: list[Any],
    kept: tuple[str, str, str],
) -> None:  # fmt: skip
    make_expense(database, boss, "Taxi")
    make_expense(database, boss, "Napkins", amount=3)
    before = len(rows(database, boss))
    reply = say_to(boss, "x", use("update_expense", which="taxi", amount=15) + second)
    assert "One thing at a time: I ask only about what the card shows." in reply.content
    assert [part["type"] for part in reply.parts] == ["proposal"]
    say_to(boss, "yes", thread=reply.thread_id)
    found = rows(database, boss)
    assert kept in found and len(found) == before and "Napkins" in dict(each[:2] for each in found)


def test_what_a_newer_card_is_not_about_is_set_aside_and_can_be_brought_back(
    app: Flask, database: Database, boss: Member, say_to: SayTo
) -> None:
    make_expense(database, boss, "Taxi")
    make_expense(database, boss, "Napkins", amount=3)
    first = say_to(boss, "x", use("update_expense", which="taxi", amount=15))
    second = say_to(
        boss, "y", use("update_expense", which="napkins", amount=4), thread=first.thread_id
    )
    waits = proposal_of(database, boss, first)
    assert (waits.state, waits.reason) == ("declined", "moved_on")
    say_to(boss, "yes", thread=second.thread_id)
    with database.transaction(boss.scope) as session:
        bring_back(session, waits.id)
    confirmed(app, database, boss, first)
    assert sorted(amount for _, amount, _ in rows(database, boss)) == ["15.00", "4.00"]


def test_what_its_person_takes_back_does_not_come_back_with_an_older_deletion(
    app: Flask, database: Database, member: Member, boss: Member, say_to: SayTo
) -> None:
    added = confirmed(app, database, member, say_to(member, "x", add(item="taxi", amount=12)))
    deleted = confirmed(app, database, boss, say_to(boss, "x", use("delete_expense", which="taxi")))
    registry = app.extensions["comanda"].registry
    with database.transaction(member.scope) as session:
        undo(session, registry, added.id)
    with database.transaction(boss.scope) as session, pytest.raises(Conflict, match="changed"):
        undo(session, registry, deleted.id)
    assert rows(database, boss) == []


def test_a_change_is_undone_to_what_it_was(
    app: Flask, database: Database, boss: Member, say_to: SayTo
) -> None:
    make_expense(database, boss, "Taxi", note="to the bank")
    changes = {"amount": 15, "item": "Bus", "category": "other", "note": "", "which": "taxi"}
    done = confirmed(app, database, boss, say_to(boss, "x", use("update_expense", **changes)))
    with database.transaction(boss.scope) as session:
        undo(session, app.extensions["comanda"].registry, done.id)
        [expense] = find_expenses(session, Filters())
        assert (expense.item, expense.amount, expense.note) == ("Taxi", Decimal(12), "to the bank")


def test_what_is_in_a_currency_that_is_not_offered_any_more_can_still_be_changed(
    app: Flask, database: Database, boss: Member, say_to: SayTo
) -> None:
    expense = make_expense(database, boss, "Taxi", currency="JPY")
    reply = say_to(boss, "Make it 15", use("update_expense", id=expense.id, amount=15))
    confirmed(app, database, boss, reply)
    assert [amount for _, amount, _ in rows(database, boss)] == ["15.00"]


def test_a_change_to_what_somebody_else_changed_meanwhile_is_refused(
    app: Flask, database: Database, owner: Database, boss: Member, say_to: SayTo
) -> None:
    expense = make_expense(database, boss)
    reply = say_to(boss, "x", use("update_expense", id=expense.id, amount=15))
    with owner.transaction() as session:
        session.execute(update(Expense).where(Expense.id == expense.id).values(version=2))
    with pytest.raises(Conflict):
        confirmed(app, database, boss, reply)


def test_equal_ones_of_two_people_are_told_apart(
    database: Database, boss: Member, owner: Database, say_to: SayTo
) -> None:
    for each in (make_user(owner, boss.group_id), make_user(owner, boss.group_id)):
        make_expense(database, each)
    reply = say_to(boss, "delete the taxi")
    assert [part["type"] for part in reply.parts] == []
    assert "Which one" in reply.content


def test_a_deleted_one_can_be_brought_back(
    app: Flask, database: Database, boss: Member, say_to: SayTo
) -> None:
    make_expense(database, boss)
    done = confirmed(app, database, boss, say_to(boss, "x", use("delete_expense", which="taxi")))
    assert rows(database, boss) == []
    assert done.undo_until is not None
    assert done.decided_at is not None
    assert done.undo_until - done.decided_at == timedelta(days=30)
    with database.transaction(boss.scope) as session:
        undo(session, app.extensions["comanda"].registry, done.id)
    assert len(rows(database, boss)) == 1


def restored_and_deleted_again(database: Database, boss: Member, expense_id: UUID) -> None:
    """By somebody else, on the page."""
    with database.transaction(boss.scope) as session:
        restored = restore_expense(session, expense_id)
        delete_expense(session, expense_id, restored.version)


def test_a_deletion_that_was_decided_again_since_is_not_undone(
    app: Flask, database: Database, boss: Member, say_to: SayTo
) -> None:
    expense = make_expense(database, boss)
    done = confirmed(app, database, boss, say_to(boss, "x", use("delete_expense", which="taxi")))
    restored_and_deleted_again(database, boss, expense.id)
    with pytest.raises(Conflict), database.transaction(boss.scope) as session:
        undo(session, app.extensions["comanda"].registry, done.id)
    assert rows(database, boss) == []


def test_a_deletion_of_before_receipts_kept_the_version_is_undone_as_ever(
    app: Flask, database: Database, owner: Database, boss: Member, say_to: SayTo
) -> None:
    expense = make_expense(database, boss)
    done = confirmed(app, database, boss, say_to(boss, "x", use("delete_expense", which="taxi")))
    with owner.transaction() as session:
        kept = session.get_one(Proposal, done.id)
        assert kept.receipt is not None
        kept.receipt = {**kept.receipt, "kept": {}}
    restored_and_deleted_again(database, boss, expense.id)
    with database.transaction(boss.scope) as session:
        undo(session, app.extensions["comanda"].registry, done.id)
    assert len(rows(database, boss)) == 1


def test_what_somebody_else_has_restored_already_is_undone_without_a_word(
    app: Flask, database: Database, boss: Member, say_to: SayTo
) -> None:
    expense = make_expense(database, boss)
    done = confirmed(app, database, boss, say_to(boss, "x", use("delete_expense", which="taxi")))
    with database.transaction(boss.scope) as session:
        restore_expense(session, expense.id)
    with database.transaction(boss.scope) as session:
        undo(session, app.extensions["comanda"].registry, done.id)
    assert len(rows(database, boss)) == 1


def test_of_several_that_may_be_meant_one_is_chosen(
    database: Database, boss: Member, say_to: SayTo
) -> None:
    make_expense(database, boss, "Taxi", amount=12)
    make_expense(database, boss, "Taxi", amount=30)
    script = (use("delete_expense", which="the taxi one"), say("Which one?"))
    reply = say_to(boss, "Delete the taxi one", *script)
    assert [part for part in reply.parts if part["type"] == "proposal"] == []
    labels = [chip["label"] for chip in reply.suggestions]
    assert len(labels) == 2
    assert labels[0].startswith("Taxi $30 from ")
    chosen = say_to(boss, labels[1], use("delete_expense", which=labels[1]))
    assert proposal_of(database, boss, chosen).summary["en"].startswith("Delete Taxi $12 from ")


@pytest.mark.parametrize(
    ("language", "first", "then"),
    [("en", "Delete the plumber one", "the taxi"), ("es", "Borra el del plomero", "el taxi")],
)
def test_who_named_none_may_name_another(
    database: Database, boss: Member, say_to: SayTo, language: str, first: str, then: str
) -> None:
    make_expense(database, boss, "Taxi")
    none = say_to(boss, first, language=language)
    assert none.parts == []
    found = say_to(boss, then, thread=none.thread_id, language=language)
    assert [part["tool"] for part in found.parts] == ["delete_expense"]


def test_one_of_last_week_is_not_the_last_one(
    database: Database, boss: Member, say_to: SayTo
) -> None:
    day = ledger_of(database, boss).today - timedelta(days=7)
    for amount in (12, 30):
        make_expense(database, boss, "Taxi", amount=amount, date=day)
    script = (use("delete_expense", which="the taxi of last week"), say("Which one?"))
    reply = say_to(boss, "Delete the taxi of last week", *script)
    assert reply.parts == []
    assert len(reply.suggestions) == 2


@pytest.mark.parametrize("amounts", [(12,), (12, 30)])
def test_a_question_about_something_else_chooses_no_expense(
    database: Database, boss: Member, say_to: SayTo, amounts: tuple[int, ...]
) -> None:
    for amount in amounts:
        make_expense(database, boss, "Taxi", amount=amount)
    asked = say_to(boss, "Delete the taxi one")
    assert asked.content.endswith("?")
    other = say_to(boss, "How do I open the wine fridge?", thread=asked.thread_id)
    assert "delete_expense" not in [entry["tool"] for entry in other.tool_trace]


def test_the_last_one_is_the_newest_of_ones_own(
    database: Database, member: Member, boss: Member, say_to: SayTo
) -> None:
    for item in ("Taxi", "Napkins"):
        make_expense(database, boss, item)
    make_expense(database, member, "Soap")
    reply = say_to(boss, "x", use("delete_expense", which="the last one"))
    assert proposal_of(database, boss, reply).summary["en"].startswith("Delete Napkins")


@pytest.mark.parametrize("tool", ["update_expense", "delete_expense"])
def test_staff_are_told_that_a_manager_can(
    app: Flask, database: Database, member: Member, say_to: SayTo, tool: str
) -> None:
    expense = make_expense(database, member)
    script = (use(tool, id=expense.id), say("A manager can do that."))
    reply = say_to(member, "Delete the taxi", *script)
    assert reply.tool_trace[0]["code"] == "forbidden"
    assert reply.parts == []


def test_who_was_a_manager_when_it_was_proposed_must_still_be_one(
    app: Flask, database: Database, member: Member, boss: Member, say_to: SayTo
) -> None:
    expense = make_expense(database, member)
    proposal = proposal_of(database, boss, say_to(boss, "x", use("delete_expense", id=expense.id)))
    demoted = Member(**{**vars(boss), "role": "staff"})
    registry = app.extensions["comanda"].registry
    with (
        pytest.raises(Forbidden),
        app.test_request_context("/"),
        database.transaction(demoted.scope) as session,
    ):
        confirm(session, registry, proposal.id)
    assert len(rows(database, boss)) == 1


def test_anothers_house_is_not_found(
    database: Database, boss: Member, stranger: Member, say_to: SayTo
) -> None:
    theirs = make_expense(database, stranger)
    script = (use("delete_expense", id=theirs.id), say("I cannot find that."))
    reply = say_to(boss, "Delete it", *script)
    assert reply.tool_trace[0]["code"] == "not_found"


# Asking


def test_a_balance_says_which_rows_it_covers(
    app: Flask, database: Database, member: Member, boss: Member
) -> None:
    make_expense(database, member, "Taxi", amount=12)
    make_expense(database, boss, "Soap", amount="8.50", category="cleaning")
    for who, said, total in ((member, "own", "12.00"), (boss, "group", "20.50")):
        provider = ScriptedProvider(use("get_balance", range="this month"), say("So much."))
        reply = answer(app, who, ask(database, who, "How much this month?"), provider)
        told = json.loads(provider.requests[1].messages[-1].text)
        assert told["whose"] == said
        assert told["totals"] == [{"currency": "USD", "total": total}]
        assert [part["type"] for part in reply.parts] == ["expense_list"]


def test_a_list_has_the_ids_and_a_page(app: Flask, database: Database, member: Member) -> None:
    for number in range(12):
        make_expense(database, member, f"Taxi {number}")
    provider = ScriptedProvider(use("list_expenses", page=2), say("Here."))
    reply = answer(app, member, ask(database, member, "Show my expenses"), provider)
    told = json.loads(provider.requests[1].messages[-1].text)
    assert (told["page"], told["pages"], told["count"]) == (2, 2, 12)
    assert len(told["results"]) == 2
    assert UUID(told["results"][0]["id"])
    assert len(reply.parts[0]["rows"]) == 2


def test_a_list_of_one_currency_says_so_and_leads_to_just_that(
    database: Database, member: Member, say_to: SayTo
) -> None:
    make_expense(database, member, currency="EUR")
    reply = say_to(member, "In euros?", use("list_expenses", currency="EUR"), say("Here."))
    [part] = reply.parts
    assert part["about"]["en"] == "Your expenses, EUR"
    assert part["url"] == Link.to("expenses.index", currency="EUR").model_dump()


def test_words_that_are_no_time_are_said_to_be_none(
    app: Flask, database: Database, member: Member
) -> None:
    provider = ScriptedProvider(use("get_balance", range="the good old days"), say("Which days?"))
    reply = answer(app, member, ask(database, member, "How much?"), provider)
    assert reply.tool_trace[0]["field"] == "range"


def test_the_card_under_a_reply_is_drawn_in_the_readers_language(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    make_expense(database, member, "Taxi", amount="1234.5")
    provider = ScriptedProvider(use("list_expenses"), say("Here."))
    reply = answer(app, member, ask(database, member, "Show my expenses"), provider)
    page = sign_in(app, owner, member).page(f"/chat/{reply.thread_id}?lang=es")
    assert "$1,234.50" in page.text
    assert "Transporte" in page.text


def test_the_last_days_have_today_in_them_and_ranges_the_month_named_last() -> None:
    today = a_day("2026-11-22")
    last = read_time("last 7 days", "en", today)
    assert last
    assert (last.start, last.end) == (a_day("2026-11-16"), a_day("2026-11-23"))
    for rolling in ("last 2 weeks", "the last 3 months", "las últimas 2 semanas"):
        found = read_time(rolling, "es" if "semanas" in rolling else "en", today)
        assert found and found.end == a_day("2026-11-23"), rolling
    range_ = read_time("de enero a marzo", "en", today)
    assert range_
    assert (range_.start, range_.end) == (a_day("2026-01-01"), a_day("2026-04-01"))
    assert read_time("the good old days", "en", today) is None


@pytest.mark.parametrize("span", ["last 3 months", "last 2 weeks", "últimos 2 meses"])
def test_the_last_weeks_and_months_have_today_in_them_too(span: str) -> None:
    found = read_time(span, "es" if "ú" in span else "en", a_day("2026-11-22"))
    assert found
    assert found.end == a_day("2026-11-23")


def test_what_follows_a_proposal_is_not_taken_for_the_row_that_was_meant(
    database: Database, boss: Member, say_to: SayTo
) -> None:
    make_expense(database, boss, "Taxi", amount=12)
    asked = say_to(boss, "the taxi one was 8")
    assert proposal_of(database, boss, asked).tool == "update_expense"
    reply = say_to(boss, "Which wine goes with the ribeye?", thread=asked.thread_id)
    assert "found no expense" not in reply.content
    asked = say_to(boss, "delete the taxi one", thread=asked.thread_id)
    reply = say_to(boss, "the salmon sauce please", thread=asked.thread_id)
    assert "found no expense" not in reply.content


def test_what_no_category_is_called_is_looked_for_among_the_items(
    database: Database, member: Member, say_to: SayTo
) -> None:
    make_expense(database, member, "Safeway run", amount=30)
    make_expense(database, member, "Taxi", amount=12)
    reply = say_to(member, "How much did we spend at Safeway?")
    assert "“safeway”: $30 (1 expense)" in reply.content
    reply = say_to(member, "How much did we spend on frobnicators?")
    assert "“frobnicators”: nothing has been logged." in reply.content
    # What was asked may have been misread: the whole is told as well.
    assert "$42 (2 expenses)" in reply.content
