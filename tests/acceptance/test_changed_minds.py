"""What honest people say to a card, a question or a "no", and what is written of it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select

from app.assistant.models import Message, Thread
from app.assistant.proposals.proposals import confirm, decline, open_in, undo
from app.assistant.threads.steps import Posted, load_steps
from app.db import Database
from app.errors import Conflict
from app.skills.expenses.models import Expense
from app.skills.service_requests.models import RequestType, ServiceRequest
from app.skills.service_requests.workflow.suggestions import unfinished_work
from app.skills.service_requests.workflow.widget_posts import STEPS
from tests.acceptance.service_requests.conversation import Turn
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member, make_user

HIGH = Turn(tap={"type": "field_response", "field": "priority", "value": "high"})

# What is said, and what a "yes" at the end of it writes.
SAID: list[tuple[str, list[str], list[tuple[str, str]]]] = [
    # What was declined stays declined.
    ("en", ["limes $12", "no", "add taxi $14"], [("taxi", "14")]),
    ("en", ["limes $12", "no", "add taxi $14", "no", "add taxi $15"], [("taxi", "15")]),
    ("en", ["limes $12", "no, add taxi $14"], [("taxi", "14")]),
    ("en", ["limes $12", "add taxi $14 instead"], [("taxi", "14")]),
    ("es", ["limones $12", "no", "agrega taxi $80"], [("taxi", "80")]),
    ("en", ["limes $12", "no", "$15"], [("limes", "15")]),
    # What is said beside a yes comes beside what is shown.
    ("en", ["taxi $14", "yes, and limes $3"], [("taxi", "14"), ("limes", "3")]),
    ("en", ["taxi $14", "yes, add limes $3 too"], [("taxi", "14"), ("limes", "3")]),
    ("en", ["taxi $14", "ok, now add limes $3"], [("taxi", "14"), ("limes", "3")]),
    ("en", ["taxi $14", "uber $20"], [("taxi", "14"), ("uber", "20")]),
    ("en", ["taxi $14", "taxi $15"], [("taxi", "15")]),
    ("es", ["taxi $14", "si y tambien hielo $30"], [("taxi", "14"), ("hielo", "30")]),
    ("es", ["taxi $14", "si, y agrega limones $8"], [("taxi", "14"), ("limones", "8")]),
    ("en", ["taxi 14", "limes 3", "uber 20"], [("taxi", "14"), ("limes", "3"), ("uber", "20")]),
    ("es", ["taxi 14", "limones 3"], [("taxi", "14"), ("limones", "3")]),
    # What is said to be wrong is asked for, or told anew.
    ("en", ["taxi $14", "no", "the amount", "16"], [("taxi", "16")]),
    ("en", ["taxi $14", "the price is wrong", "16"], [("taxi", "16")]),
    ("en", ["taxi $14", "no", "change the item", "uber"], [("uber", "14")]),
    ("en", ["taxi $14", "no", "it was an uber"], [("uber", "14")]),
    ("en", ["taxi $14", "it was for uber"], [("uber", "14")]),
    ("es", ["taxi $14", "no", "era un uber"], [("uber", "14")]),
    ("es", ["taxi $14", "el monto está mal", "16"], [("taxi", "16")]),
    # What was asked for is understood, however the message before it was.
    ("en", ["add taxi", "14"], [("taxi", "14")]),
    ("en", ["I bought limes", "it was 14"], [("limes", "14")]),
    ("en", ["taxi expense", "fourteen"], [("taxi", "14")]),
    ("en", ["add parking", "yesterday", "14 bucks"], [("parking", "14")]),
    ("en", ["gas 45 monday and 30 on tuesday", "gas"], [("gas", "45"), ("gas", "30")]),
    ("en", ["I need to log two expenses", "taxi 14 and limes 3"], [("taxi", "14"), ("limes", "3")]),
    ("es", ["agrega taxi", "80"], [("taxi", "80")]),
    ("es", ["agrega gasolina", "fueron 80"], [("gasolina", "80")]),
]


@pytest.mark.parametrize(("language", "said", "written"), SAID)
def test_what_was_agreed_to_is_written_and_nothing_else(
    demo: Flask,
    owner: Database,
    person: Callable[[str], Member],
    language: str,
    said: list[str],
    written: list[tuple[str, str]],
) -> None:
    somebody = person(language)
    talk = Talk(demo, somebody, language)
    for words in (*said, "sí" if language == "es" else "yes"):
        talk.send(words)
    assert expenses(owner, somebody) == [(item, Decimal(amount)) for item, amount in written]


def expenses(owner: Database, who: Member) -> list[tuple[str, Decimal]]:
    with owner.transaction() as session:
        rows = session.execute(
            select(Expense.item, Expense.amount)
            .where(Expense.user_id == who.user_id, Expense.deleted_at.is_(None))
            .order_by(Expense.created_at, Expense.id)
        )
        return [(item, amount) for item, amount in rows]


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("en", ["bread $14", "yes", "delete the bread", "no", "delete the bread"], "delete bread"),
        ("en", ["eggs $15", "yes", "change the eggs to $20", "no", "change the eggs to $18"], "18"),
        ("en", ["limes $12", "yes", "the limes were $15 not $12"], "change limes $12"),
        ("en", ["limes $12", "yes", "the limes were $15"], "change limes $12"),
        ("es", ["pan $14", "sí", "borra el pan", "no", "borra el pan"], "elimine pan"),
        ("es", ["pan $14", "sí", "borra el pan", "no", "el pan de $14"], "elimine pan"),
    ],
)
def test_an_order_is_understood_after_a_no_too(
    demo: Flask,
    owner: Database,
    houses: dict[str, UUID],
    language: str,
    said: list[str],
    asked: str,
) -> None:
    manager = make_user(owner, houses["alamo-prime"], "manager", language=language)
    talk = Talk(demo, manager, language)
    replies = [talk.send(words) for words in said]
    assert asked in replies[-1].text.replace("\\", "")
    assert replies[-1].text.endswith("?")


def test_what_is_wrong_with_a_card_is_told_by_whoever_may_change_no_row_too(
    demo: Flask, person: Callable[[str], Member]
) -> None:
    talk = Talk(demo, person("en"), "en")
    for words in ("taxi $14", "no"):
        talk.send(words)
    told = talk.send("it was 3 dollars less").text.replace("\\", "")
    assert told == "Say it the way it should be, for example “taxi $15 yesterday”."


def test_what_is_no_sum_and_no_thing_is_asked_for(
    demo: Flask, person: Callable[[str], Member]
) -> None:
    for words in ("I have 3 expenses to add", "can I add 2 expenses"):
        reply = Talk(demo, person("en"), "en").send(words)
        assert reply.text == "What expense do you want to add?"


@pytest.mark.parametrize(("language", "words"), [("es", "hola"), ("en", "lime juice for the bar")])
def test_whatever_is_said_instead_it_is_told_that_the_card_is_set_aside(
    demo: Flask, person: Callable[[str], Member], language: str, words: str
) -> None:
    talk = Talk(demo, person(language), language)
    talk.send("taxi $14")
    told = {
        "en": "My earlier proposal is set aside.",
        "es": "Mi propuesta anterior se descartó.",
    }
    assert told[language] in talk.send(words).text


def test_who_may_change_nothing_is_told_so_and_adds_no_row_of_that_name(
    demo: Flask, person: Callable[[str], Member]
) -> None:
    talk = Talk(demo, person("en"), "en")
    for words in ("limes $12", "yes"):
        talk.send(words)
    assert "Only a manager can change" in talk.send("change the limes to $15").text


@pytest.mark.parametrize(
    ("language", "question", "told"),
    [
        ("en", "what is the tip policy", "My earlier proposal is set aside."),
        ("es", "cuál es la política de propinas", "Mi propuesta anterior se descartó."),
    ],
)
def test_who_asks_something_else_is_told_that_the_card_is_set_aside(
    demo: Flask,
    owner: Database,
    person: Callable[[str], Member],
    language: str,
    question: str,
    told: str,
) -> None:
    somebody = person(language)
    talk = Talk(demo, somebody, language)
    talk.send("taxi $14")
    assert told in talk.send(question).text
    talk.send("sí" if language == "es" else "yes")
    assert expenses(owner, somebody) == []


@pytest.mark.parametrize(
    ("language", "begin", "no_more", "said"),
    [
        ("en", "the ice machine is leaking", "no more questions", ["Where it is", "by the bar"]),
        ("en", "the ice machine is leaking", "no more questions", ["where it is: by the bar"]),
        ("es", "la máquina de hielo gotea", "no más preguntas", ["Dónde está", "en la barra"]),
        ("es", "la máquina de hielo gotea", "no más preguntas", ["Dónde está: la barra"]),
    ],
)
def test_what_can_be_added_is_added_by_its_name(
    demo: Flask,
    person: Callable[[str], Member],
    language: str,
    begin: str,
    no_more: str,
    said: list[str],
) -> None:
    talk = Talk(demo, person(language), language)
    turns = (Turn(say=begin), Turn(choose="refrigeration"), HIGH, Turn(say=no_more), Turn(say="no"))
    offered = [talk.take(turn) for turn in turns][-1].text
    assert said[0].split(":")[0].lower() in offered.lower()
    told = [talk.send(words) for words in said][-1].text
    assert said[-1].split(": ")[-1] in told


RIGHT = {
    "en": ("make it 15", "no, it was 15", "it was 15"),
    "es": ("que sean 15", "no, fueron 15", "ponle 15"),
}
CARD = {"en": "Would you like me to change taxi $14", "es": "¿Quieres que cambie taxi $14"}


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("role", ["staff", "manager"])
def test_what_a_button_has_added_is_changed_and_not_added_once_more(
    demo: Flask, owner: Database, houses: dict[str, UUID], role: str, language: str
) -> None:
    who = make_user(owner, houses["alamo-prime"], role, language=language)
    talk = Talk(demo, who, language)
    talk.send("add taxi $14 today" if language == "en" else "agrega taxi $14 hoy")
    press(demo, talk)
    reply = talk.send(RIGHT[language][0]).text
    assert reply.startswith(CARD[language]) is (role == "manager"), reply
    assert "gerente" in reply or "manager" in reply or role == "manager"
    with owner.transaction() as session:
        own = select(Expense.amount).where(Expense.user_id == who.user_id)
        assert session.scalars(own).all() == [Decimal(14)]


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_was_added_by_a_yes_is_put_right_in_each_language(
    demo: Flask, owner: Database, houses: dict[str, UUID], language: str
) -> None:
    who = make_user(owner, houses["alamo-prime"], "manager", language=language)
    for words in RIGHT[language]:
        talk = Talk(demo, who, language)
        talk.send("add taxi $14 today" if language == "en" else "agrega taxi $14 hoy")
        talk.send("yes" if language == "en" else "sí")
        reply = talk.send(words).text
        assert reply.startswith(CARD[language]), (words, reply)
        talk.send("yes" if language == "en" else "sí")
        # What names the thing is another one.
        other = talk.send("taxi $20").text
        assert "$20" in other and not other.startswith(CARD[language])


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("en", "cancel that", "To undo it, say “undo that”."),
        ("en", "no", "To undo it, say “undo that”."),
        ("en", "never mind", "To undo it, say “undo that”."),
        ("es", "cancélalo", "di «deshaz eso»"),
        ("es", "no", "di «deshaz eso»"),
    ],
)
def test_who_cancels_what_is_done_is_told_how_to_take_it_back(
    demo: Flask, database: Database, person: Callable[[str], Member], language: str, said: str,
    told: str,
) -> None:  # fmt: skip
    talk = Talk(demo, person(language), language)
    for words in ("taxi $14", "yes" if language == "en" else "sí"):
        talk.send(words)
    assert told in talk.send(said).text
    # Which is what they do then.
    undone = talk.send({"en": "undo that", "es": "deshaz eso"}[language])
    assert undone.text == {"en": "I undid that.", "es": "Lo deshice."}[language]
    with database.transaction(talk.person.scope) as session:
        own = select(Expense).where(Expense.user_id == talk.person.user_id)
        assert [each.deleted_at is None for each in session.scalars(own)] == [False]


@pytest.mark.parametrize(
    ("language", "said", "told"),
    [
        ("en", ["since noon"], "This was filed already as"),
        ("en", ["no more questions"], "This was filed already as"),
        ("en", ["cancel the request"], "This was filed already as"),
        ("en", ["since noon", "cancel the request"], "You have this request open."),
        ("es", ["desde el mediodía"], "Esto ya quedó registrado como"),
        ("es", ["cancela la solicitud"], "Esto ya quedó registrado como"),
    ],
)
def test_what_was_filed_is_told_to_who_changes_an_answer_of_before(
    demo: Flask, owner: Database, person: Callable[[str], Member], language: str,
    said: list[str], told: str,
) -> None:  # fmt: skip
    talk = Talk(demo, person(language), language)
    answered = file_ice_machine(talk, owner)
    number = filed_by(owner, talk.person)
    assert len(number) == 1
    talk.instead_of = answered
    replies = [talk.send(words).text for words in said]
    assert number[0] in replies[0] and told in replies[-1], replies
    assert "Nothing was filed" not in replies[-1] and "No se registró" not in replies[-1]
    # What is broken besides it is filed as ever.
    more = talk.send(
        {"en": "the ice machine is leaking", "es": "la máquina de hielo gotea"}[language]
    )
    assert [part["type"] for part in more.body["parts"]] == ["type_selector"]
    assert filed_by(owner, talk.person) == number


def test_a_widget_of_before_changes_nothing_of_what_was_filed(
    demo: Flask, database: Database, owner: Database, person: Callable[[str], Member]
) -> None:
    talk = Talk(demo, person("en"), "en")
    answered = file_ice_machine(talk, owner)
    [number] = filed_by(owner, talk.person)
    with demo.test_request_context("/"), database.transaction(talk.person.scope) as session:
        thread = session.get_one(Thread, talk.thread_id)
        steps = load_steps(session, thread.id, answered)
        posted = Posted({"type": "request_cancelled"}, thread, "en", steps)
        with pytest.raises(Conflict) as refused:
            STEPS["request_cancelled"](session, posted)
        assert refused.value.params["number"] == number
        assert unfinished_work(session, "en") == []


def file_ice_machine(talk: Talk, database: Database, last: str = "yes") -> UUID:
    """File a request as people do; returns the message that ended the questions.

    Without a `last` word its card waits.
    """
    es = talk.language == "es"
    ended = "sin más preguntas" if es else "no more questions"
    begun = talk.send("la máquina de hielo gotea" if es else "the ice machine is leaking")
    [selector] = begun.body["parts"]
    chosen = selector["suggestions"][0]["type_id"]
    talk.send("", {"type": "type_selection", "type_id": chosen})
    talk.take(HIGH)
    for words in filter(None, (ended, "no", "no", last and ("sí" if es else last))):
        talk.send(words)
    with database.transaction() as session:
        mine = select(Message.id).where(Message.thread_id == talk.thread_id)
        return session.scalars(mine.where(Message.content == ended)).one()


def filed_by(owner: Database, who: Member) -> list[str]:
    with owner.transaction() as session:
        own = select(ServiceRequest).where(ServiceRequest.user_id == who.user_id)
        return [each.reference for each in session.scalars(own)]


ADDED = {"en": "add taxi $14 today", "es": "agrega taxi $14 hoy"}
HOW = {"en": "To undo it, say “undo that”.", "es": "di «deshaz eso»"}


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "no"), ("en", "cancel it"), ("en", "never mind"), ("en", "no wait"), ("es", "no"),
     ("es", "cancélalo")],
)  # fmt: skip
def test_who_cancels_what_a_button_has_done_is_told_how_to_take_it_back(
    demo: Flask, database: Database, person: Callable[[str], Member], language: str, said: str
) -> None:
    talk = Talk(demo, person(language), language)
    talk.send(ADDED[language])
    press(demo, talk)
    assert HOW[language] in talk.send(said).text
    with database.transaction(talk.person.scope) as session:
        own = select(Expense.deleted_at).where(Expense.user_id == talk.person.user_id)
        assert session.scalars(own).all() == [None]


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_yes_that_becomes_a_no_is_told_that_it_is_done(
    demo: Flask, database: Database, person: Callable[[str], Member], language: str
) -> None:
    talk = Talk(demo, person(language), language)
    talk.send(ADDED[language])
    yes = "yes" if language == "en" else "sí"
    talk.send(yes)
    with database.transaction(talk.person.scope) as session:
        mine = select(Message.id).where(Message.thread_id == talk.thread_id)
        talk.instead_of = session.scalars(mine.where(Message.content == yes)).one()
    assert HOW[language] in talk.send("no").text


def test_a_filed_request_is_not_cancelled_by_a_no(
    demo: Flask, owner: Database, database: Database, person: Callable[[str], Member]
) -> None:
    talk = Talk(demo, person("en"), "en")
    file_ice_machine(talk, owner, last="")
    press(demo, talk)
    for said in ("no", "cancel it"):
        assert "This is done, and I can't undo it." in talk.send(said).text, said
    assert len(filed_by(owner, talk.person)) == 1


def test_a_card_whose_category_was_renamed_is_shown_again_to_who_says_yes(
    demo: Flask, owner: Database, person: Callable[[str], Member]
) -> None:
    talk = Talk(demo, person("en"), "en")
    file_ice_machine(talk, owner, last="")
    with owner.transaction() as session:
        renamed = session.scalars(
            select(RequestType).where(
                RequestType.group_id == talk.person.group_id, RequestType.slug == "maintenance"
            )
        ).one()
        before, renamed.name_en = renamed.name_en, "Repairs"
    try:
        again = talk.send("yes")
        assert [part["type"] for part in again.body["parts"]] == ["proposal"], again.text
        assert filed_by(owner, talk.person) == []
        talk.send("yes")
        assert len(filed_by(owner, talk.person)) == 1
    finally:
        with owner.transaction() as session:
            session.get_one(RequestType, renamed.id).name_en = before


OTHER = {"en": "eggs $4 today", "es": "huevos $4 hoy"}


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("pressed", ["cancel", "add and undo"])
def test_what_a_button_has_cancelled_or_undone_is_on_no_later_card(
    demo: Flask, database: Database, person: Callable[[str], Member], language: str, pressed: str
) -> None:
    talk = Talk(demo, person(language), language)
    talk.send(ADDED[language])
    on = demo.extensions["comanda"]
    with database.transaction(talk.person.scope) as session:
        card = open_in(session, talk.thread_id)
        assert card is not None
        if pressed == "cancel":
            decline(session, card.id)
    if pressed != "cancel":
        press(demo, talk)
        with demo.test_request_context("/"), database.transaction(talk.person.scope) as session:
            undo(session, on.registry, card.id)
    talk.send(OTHER[language])
    with database.transaction(talk.person.scope) as session:
        card = open_in(session, talk.thread_id)
        assert card is not None
        assert card.arguments["item"] in ("eggs", "huevos"), card.arguments
        assert not card.arguments.get("more"), card.arguments


def press(demo: Flask, talk: Talk) -> None:
    """Confirm the card that is open with its button."""
    on = demo.extensions["comanda"]
    with demo.test_request_context("/"), on.database.transaction(talk.person.scope) as session:
        waiting = open_in(session, talk.thread_id)
        assert waiting is not None
        confirm(session, on.registry, waiting.id)
