"""Answers to what was asked, other values for what was proposed, and whole conversations."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.skills.expenses.nlu import (
    Command,
    amend_command,
    answer_command,
    default_categories,
    read_conversation,
)
from app.skills.expenses.nlu.command import unsure_row
from tests.growth import counted

TODAY = date(2026, 11, 20)
CATEGORIES = default_categories()
ADDING = Command("add_expense", {}, ("item", "amount"))
TAXI = Command("add_expense", {"item": "taxi"}, ("amount",))
UNDATED = Command("add_expense", {"item": "taxi", "amount": "12"}, ("date",))
CHANGING = Command("update_expense", {"which": "the taxi one"}, ("change",))
WHICH = Command("update_expense", {}, ("which", "change"))
DELETING = Command("delete_expense", {}, ("which",))

ANSWERS: list[tuple[str, Command, str, dict[str, Any], tuple[str, ...]]] = [
    ("en", ADDING, "taxi", {"item": "taxi"}, ("amount",)),
    ("en", ADDING, "a taxi to the airport", {"item": "taxi to the airport"}, ("amount",)),
    ("en", ADDING, "it was for napkins", {"item": "napkins"}, ("amount",)),
    ("en", ADDING, "2 boxes of gloves", {"item": "2 boxes of gloves"}, ("amount",)),
    ("en", ADDING, "the plumber please", {"item": "plumber"}, ("amount",)),
    ("en", ADDING, "napkins for 30", {"item": "napkins", "amount": "30"}, ()),
    (
        "en", ADDING, "taxi, 12.50 yesterday",
        {"item": "taxi", "amount": "12.50", "date": "2026-11-19"}, (),
    ),
    (
        "en", ADDING, "coffee 4.50 and taxi 12",
        {"item": "coffee", "amount": "4.50", "more": [{"item": "taxi", "amount": "12"}]}, (),
    ),
    ("en", ADDING, "Log 12 for parking", {"item": "parking", "amount": "12"}, ()),
    ("en", ADDING, "12 dollars", {"amount": "12", "currency": "USD"}, ("item",)),
    ("en", ADDING, "yesterday", {"date": "2026-11-19"}, ("item", "amount")),
    ("es", ADDING, "la luz", {"item": "luz"}, ("amount",)),
    ("es", ADDING, "fueron servilletas", {"item": "servilletas"}, ("amount",)),
    ("es", ADDING, "el recibo del agua", {"item": "recibo del agua"}, ("amount",)),
    ("es", ADDING, "gasté 30 en servilletas", {"item": "servilletas", "amount": "30"}, ()),
    ("en", TAXI, "12", {"item": "taxi", "amount": "12"}, ()),
    ("en", TAXI, "yesterday", {"item": "taxi", "date": "2026-11-19"}, ("amount",)),
    ("en", TAXI, "it was 12 dollars", {"item": "taxi", "amount": "12", "currency": "USD"}, ()),
    ("en", TAXI, "twelve", {"item": "taxi", "amount": "12"}, ()),
    ("en", TAXI, "twelve fifty", {"item": "taxi", "amount": "12.50"}, ()),
    ("en", TAXI, "about 12 I think", {"item": "taxi", "amount": "12"}, ()),
    ("en", TAXI, "12 for the taxi", {"item": "taxi", "amount": "12"}, ()),
    ("en", TAXI, "12 in cash", {"item": "taxi", "amount": "12", "note": "in cash"}, ()),
    (
        "en", TAXI, "£12 yesterday",
        {"item": "taxi", "amount": "12", "currency": "GBP", "date": "2026-11-19"}, (),
    ),
    ("es", TAXI, "fueron como 12", {"item": "taxi", "amount": "12"}, ()),
    ("es", TAXI, "doce dólares", {"item": "taxi", "amount": "12", "currency": "USD"}, ()),
    ("es", TAXI, "me costó 12 con 50", {"item": "taxi", "amount": "12.50"}, ()),
    (
        "en", UNDATED, "on Monday",
        {"item": "taxi", "amount": "12", "date": "2026-11-16"}, (),
    ),
    (
        "es", UNDATED, "fue ayer",
        {"item": "taxi", "amount": "12", "date": "2026-11-19"}, (),
    ),
    ("en", CHANGING, "make it 15", {"which": "the taxi one", "amount": "15"}, ()),
    ("en", CHANGING, "it was yesterday", {"which": "the taxi one", "date": "2026-11-19"}, ()),
    (
        "en", CHANGING, "the category is cleaning",
        {"which": "the taxi one", "category": "cleaning"}, (),
    ),
    ("es", CHANGING, "a 15", {"which": "the taxi one", "amount": "15"}, ()),
    ("en", WHICH, "the taxi one", {"which": "the taxi one"}, ("change",)),
    ("en", DELETING, "the last one", {"which": "the last one"}, ()),
    ("en", DELETING, "yesterday's coffee", {"which": "yesterday's coffee"}, ()),
    ("es", DELETING, "el último", {"which": "el último"}, ()),
    ("es", DELETING, "el del taxi", {"which": "el del taxi"}, ()),
]  # fmt: skip
NO_ANSWERS = [
    *((ADDING, said) for said in (
        "never mind", "olvídalo", "no", "thanks", "ok", "gracias", "", "what is the ribeye?",
        "table 12 wants coffee", "86 the salmon", "how much did we spend?", "delete the last one",
        "show me the menu", "where is the mop", "can you find the injury form", "hello",
        "show my expenses", "¿qué vino tienen?", "the guest at 4 wants to know if we have oat milk",
    )),
    *((TAXI, said) for said in (
        "never mind", "no importa", "table 12 wants coffee", "coffee 4.50", "2 ribeyes for table 4",
        "how much is the ribeye?", "taxi", "I don't know", "12 or 15",
    )),
    *((UNDATED, said) for said in ("last week", "hmm", "12", "never mind")),
    *((CHANGING, said) for said in ("table 4", "never mind", "the ribeye is 45", "nothing")),
    *((DELETING, said) for said in ("never mind", "how much did we spend?", "nada", "all good?")),
    (Command("add_expense", {"item": "taxi", "amount": "12"}), "yes"),
]  # fmt: skip

BILL = {"item": "electricity bill", "amount": "200", "currency": "GBP", "date": "2026-11-20"}
TWO = {"item": "café", "amount": "4.50", "more": [{"item": "taxi", "amount": "12"}]}
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("make it 250", {"amount": "250"}),
    ("250", {"amount": "250"}),
    ("no, 12.50", {"amount": "12.50"}),
    ("actually £180", {"amount": "180"}),
    ("it was 250 not 200", {"amount": "250"}),
    ("not 200, 250", {"amount": "250"}),
    ("no it was on Monday", {"date": "2026-11-16"}),
    ("it was on Monday, not today", {"date": "2026-11-16"}),
    ("it was yesterday", {"date": "2026-11-19"}),
    ("the category is cleaning", {"category": "cleaning"}),
    ("put it under transport", {"category": "transport"}),
    ("in euros", {"currency": "EUR"}),
    ("$250", {"amount": "250", "currency": "USD"}),
    ("call it water bill", {"item": "water bill"}),
    ("the item is gas bill", {"item": "gas bill"}),
    ("change the amount to 250 and the date to yesterday", {"amount": "250", "date": "2026-11-19"}),
    ("make it 250 in cash", {"amount": "250", "note": "in cash"}),
    ("and a taxi 12", {"more": [{"item": "taxi", "amount": "12"}]}),
    ("add taxi 12 too", {"more": [{"item": "taxi", "amount": "12"}]}),
    ("coffee 4.50", {"more": [{"item": "coffee", "amount": "4.50"}]}),
    ("yes, and limes $3", {"more": [{"item": "limes", "amount": "3", "currency": "USD"}]}),
    ("yes and add a water bill 30", {"more": [{"item": "water bill", "amount": "30"}]}),
    ("ok, now add taxi 12", {"more": [{"item": "taxi", "amount": "12"}]}),
    ("sí y también hielo 30", {"more": [{"item": "hielo", "amount": "30"}]}),
    ("sí, y agrega taxi 80", {"more": [{"item": "taxi", "amount": "80"}]}),
    ("que sean 250", {"amount": "250"}),
    ("fue ayer", {"date": "2026-11-19"}),
    ("ponlo en limpieza", {"category": "cleaning"}),
    ("mejor 250", {"amount": "250"}),
    ("no, fueron 250", {"amount": "250"}),
    ("en dólares", {"currency": "USD"}),
    ("cámbialo a 250 por favor", {"amount": "250"}),
]
NO_CHANGES = [
    "make it 200", "no", "yes", "sí", "what is the ribeye?", "no, coffee 4.50", "table 4", "",
    "in £?",
    "show me the menu", "table 12 wants coffee", "how much did we spend?", "make it spicy",
    "12 or 15", "cambia la mesa 4 a 6 personas", "2 ribeyes for table 4", "never mind",
]  # fmt: skip
ROW_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("el taxi fueron 15", {"more": [{"item": "taxi", "amount": "15"}]}),
    ("the taxi was 15", {"more": [{"item": "taxi", "amount": "15"}]}),
    ("make the taxi 15", {"more": [{"item": "taxi", "amount": "15"}]}),
    ("the second one was 15", {"more": [{"item": "taxi", "amount": "15"}]}),
    ("el café fueron 5, no 4.50", {"amount": "5"}),
    (
        "both were yesterday",
        {"date": "2026-11-19", "more": [{"item": "taxi", "amount": "12", "date": "2026-11-19"}]},
    ),
    (
        "y pan 30",
        {"more": [{"item": "taxi", "amount": "12"}, {"item": "pan", "amount": "30"}]},
    ),
]


@pytest.mark.parametrize(("language", "waiting", "said", "arguments", "missing"), ANSWERS)
def test_an_answer_goes_on_with_what_it_was_asked_for(
    language: str, waiting: Command, said: str, arguments: dict[str, Any], missing: tuple[str, ...]
) -> None:
    answered = answer_command(waiting, said, language, TODAY, CATEGORIES)
    assert answered == Command(waiting.tool, arguments, missing)


@pytest.mark.parametrize(("waiting", "said"), NO_ANSWERS)
def test_what_is_clearly_something_else_is_no_answer(waiting: Command, said: str) -> None:
    for language in ("en", "es"):
        assert answer_command(waiting, said, language, TODAY, CATEGORIES) is None


@pytest.mark.parametrize(("said", "changed"), CHANGES)
def test_a_proposal_takes_other_values(said: str, changed: dict[str, Any]) -> None:
    language = (
        "es"
        if any(word in said for word in ("sean", "fue", "pon", "mejor", "en d", "cám", "sí"))
        else "en"
    )
    amended = amend_command("add_expense", BILL, said, language, TODAY, CATEGORIES)
    assert amended == Command("add_expense", {**BILL, **changed})


@pytest.mark.parametrize("said", NO_CHANGES)
def test_what_changes_nothing_leaves_a_proposal_alone(said: str) -> None:
    for language in ("en", "es"):
        assert amend_command("add_expense", BILL, said, language, TODAY, CATEGORIES) is None


@pytest.mark.parametrize(("said", "changed"), ROW_CHANGES)
def test_of_several_rows_the_named_one_changes(said: str, changed: dict[str, Any]) -> None:
    language = "es" if said[:2] in ("el", "y ") else "en"
    amended = amend_command("add_expense", TWO, said, language, TODAY, CATEGORIES)
    assert amended == Command("add_expense", {**TWO, **changed})


@pytest.mark.parametrize(
    "said",
    [
        "no, add taxi 12", "add taxi 12 instead", "no, mejor agrega taxi 12",
        "electricity bill 250 yesterday",
    ],
)  # fmt: skip
def test_what_comes_instead_or_is_the_same_thing_is_no_further_row(said: str) -> None:
    for language in ("en", "es"):
        amended = amend_command("add_expense", BILL, said, language, TODAY, CATEGORIES)
        assert amended is None or "more" not in amended.arguments


@pytest.mark.parametrize("said", ["and a taxi 12", "add taxi 12", "yes, and taxi 12", "taxi 12"])
def test_nothing_is_added_to_what_was_declined(said: str) -> None:
    for language in ("en", "es"):
        assert (
            amend_command("add_expense", BILL, said, language, TODAY, CATEGORIES, is_open=False)
            is None
        )
    changed = amend_command("add_expense", BILL, "250", "en", TODAY, CATEGORIES, is_open=False)
    assert changed == Command("add_expense", {**BILL, "amount": "250"})


@pytest.mark.parametrize("said", ["make it 15", "no, 15", "que sean 15"])
def test_of_several_rows_none_is_guessed(said: str) -> None:
    assert amend_command("add_expense", TWO, said, "es", TODAY, CATEGORIES) is None


@pytest.mark.parametrize(
    "said", ["remove the taxi", "sin el taxi", "quita el taxi", "not the taxi"]
)
def test_a_row_can_be_left_out(said: str) -> None:
    amended = amend_command("add_expense", TWO, said, "es", TODAY, CATEGORIES)
    assert amended == Command("add_expense", {"item": "café", "amount": "4.50"})


def test_a_change_and_a_deletion_are_amended_in_their_own_ways() -> None:
    change = {"which": "the taxi one", "amount": "15"}
    changed = amend_command("update_expense", change, "no, 16", "en", TODAY, CATEGORIES)
    assert changed == Command("update_expense", {"which": "the taxi one", "amount": "16"})
    gone = {"which": "the taxi one"}
    other = amend_command("delete_expense", gone, "no, the coffee one", "en", TODAY, CATEGORIES)
    assert other == Command("delete_expense", {"which": "the coffee one"})
    assert amend_command("delete_expense", gone, "make it 12", "en", TODAY, CATEGORIES) is None
    assert amend_command("get_balance", {}, "make it 12", "en", TODAY, CATEGORIES) is None


def converse(*said: str, language: str = "en") -> Command | None:
    """What the last of these turns wants; they are the user's and the assistant's in turn."""
    roles = ("user", "assistant")
    turns = [(roles[place % 2], text) for place, text in enumerate(said[:-1])]
    return read_conversation(turns, said[-1], language, TODAY, CATEGORIES)


def test_a_conversation_adds_up_to_one_wish() -> None:
    command = converse(
        "I want to add an item.",
        "What expense do you want to add?",
        "taxi",
        "**How much was the taxi?**",
        "12.50 yesterday",
    )
    expected = {"item": "taxi", "amount": "12.50", "date": "2026-11-19"}
    assert command == Command("add_expense", expected)
    spanish = converse(
        "quiero agregar un gasto",
        "¿Qué quieres agregar?",
        "la luz",
        "¿Cuánto fue?",
        "200",
        language="es",
    )
    assert spanish == Command("add_expense", {"item": "luz", "amount": "200"})


def test_a_wish_is_dropped_where_nothing_was_asked() -> None:
    assert converse("I want to add an item.", "Sure.", "taxi") is None
    assert (
        read_conversation([("user", "I want to add an item.")], "taxi", "en", TODAY, CATEGORIES)
        is None
    )


def test_a_new_wish_takes_the_place_of_the_one_that_waits() -> None:
    command = converse("add an expense", "What did you buy?", "how much did we spend last month?")
    assert command == Command("get_balance", {"range": "last month"})


def test_a_question_in_between_ends_the_wait() -> None:
    said = ("add an expense", "What did you buy?", "what is the ribeye?", "It is a steak. More?")
    assert converse(*said, "taxi") is None
    assert (
        converse("add an expense", "What did you buy?", "never mind", "Anything else?", "taxi")
        is None
    )


def test_what_is_complete_waits_for_nothing() -> None:
    assert converse("add taxi $12", "Would you like me to add taxi $12?", "coffee") is None


def test_only_the_last_turns_are_read() -> None:
    turns = [("user", "add an expense"), ("assistant", "What did you buy?")]
    assert read_conversation([*turns, *[("system", "-")] * 18], "taxi", "en", TODAY, CATEGORIES)
    assert not read_conversation([*turns, *[("system", "-")] * 20], "taxi", "en", TODAY, CATEGORIES)


WAITING = st.sampled_from([ADDING, TAXI, UNDATED, CHANGING, WHICH, DELETING])
WORDS = st.sampled_from(
    "taxi 12 $5 £12.50 yesterday ayer no not it was the last one cleaning in euros make and y a"
    " second both quita sin ? , . el del under (limpieza) call item is".split(" ")
)


@given(WAITING, st.lists(WORDS, max_size=10).map(" ".join) | st.text(max_size=60))
@settings(max_examples=400, deadline=None)
def test_no_answer_is_an_error(waiting: Command, said: str) -> None:
    answered = answer_command(waiting, said, "en", TODAY, CATEGORIES)
    if answered is not None:
        json.dumps(answered.arguments)
        assert answered.tool == waiting.tool
    for tool, arguments in (("add_expense", TWO), ("update_expense", {"which": "x"})):
        amended = amend_command(tool, arguments, said, "es", TODAY, CATEGORIES)
        json.dumps(amended.arguments if amended else {})


REPEATED = (
    "no, ", "ok ", "ok va ", "never mind ", "no mejor no ", "thanks gracias ", "all ", "the last ",
    "please por favor ", "12 ", "taxi 12 and ", "show my ", "a ", "un ", "it was fue ",
    "( a) ", "!",
)  # fmt: skip


@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize("end", ["", " zz", "?"])
def test_no_message_takes_longer_than_its_length(repeated: str, end: str) -> None:
    """A pattern that tried its words in all orders would take hours for one of these."""
    said = (repeated * 200)[:390] + end
    with counted() as cost:
        read_conversation([], said, "en", TODAY, CATEGORIES)
        answer_command(ADDING, said, "es", TODAY, CATEGORIES)
        amend_command("add_expense", TWO, said, "en", TODAY, CATEGORIES)
    assert cost.seconds < 5


@pytest.mark.parametrize(
    ("message", "asked", "answer", "arguments"),
    [
        ("taxi was two fifty", {"item": "taxi"}, "250", {"item": "taxi", "amount": "250"}),
        ("taxi was two fifty", {"item": "taxi"}, "2.50", {"item": "taxi", "amount": "2.50"}),
        (
            "i paid the plumber four twenty five yesterday", {"item": "plumber"},
            "four hundred twenty five",
            {"item": "plumber", "amount": "425", "date": "2026-11-19"},
        ),
        (
            "spent two fifty on napkins and one eighty on ice", {"item": "napkins"}, "250",
            {"item": "napkins", "amount": "250", "more": [{"item": "ice", "amount": "180"}]},
        ),
        (
            "spent 30 on napkins and one eighty on ice", {"item": "ice"}, "1.80",
            {"item": "napkins", "amount": "30", "more": [{"item": "ice", "amount": "1.80"}]},
        ),
    ],
)  # fmt: skip
def test_which_of_two_sums_was_spoken_is_asked(
    message: str, asked: dict[str, str], answer: str, arguments: dict[str, Any]
) -> None:
    command = read_conversation([], message, "en", TODAY, CATEGORIES)

    assert command is not None
    assert command.missing == ("amount",)
    row = unsure_row(command.arguments)
    assert row is not None
    assert row["item"] == asked["item"]
    assert len(row["either"]) == 2
    again = answer_command(command, "two fifty", "en", TODAY, CATEGORIES)
    assert again is not None
    assert again.missing == ("amount",)
    settled = answer_command(command, answer, "en", TODAY, CATEGORIES)
    assert settled is not None
    assert (settled.arguments, settled.missing) == (
        arguments, (),
    )  # fmt: skip


def test_a_change_to_one_of_two_sums_is_asked() -> None:
    command = read_conversation([], "change the taxi one to two fifty", "en", TODAY, CATEGORIES)

    assert command is not None
    assert command.missing == ("amount",)
    answered = answer_command(command, "two hundred fifty", "en", TODAY, CATEGORIES)
    assert answered is not None
    assert (answered.arguments, answered.missing) == (
        {"which": "the taxi one", "amount": "250"}, (),
    )  # fmt: skip


def test_in_spanish_hundreds_have_a_word() -> None:
    command = read_conversation([], "gasté dos cincuenta en hielo", "es", TODAY, CATEGORIES)

    assert command is not None
    assert command.arguments["amount"] == "2.50"
    assert command.missing == ()
