"""What is read of a message that is surely for the ledger, in whatever words."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from app.db import Database
from app.skills.expenses.nlu.hints import LONGEST_INTENDED, read_intended
from app.skills.expenses.nlu.sentence import ReadingContext
from tests.factories import Member
from tests.factories.expenses import make_expense
from tests.growth import check_growth
from tests.skills.expenses.conftest import SayTo

TODAY = date(2026, 11, 23)


def read(tool: str, text: str, language: str = "en") -> Any:
    return read_intended(tool, text, ReadingContext(language, TODAY, (), "USD"))


@pytest.mark.parametrize(
    ("text", "language", "rows"),
    [
        ("eggs 11 butter 8", "en", [("eggs", "11"), ("butter", "8")]),
        ("jitomate 18 chile serrano 4", "es", [("jitomate", "18"), ("chile serrano", "4")]),
        ("put down 112 propane patio", "en", [("propane patio", "112")]),
        ("um got 2 mop heads at the depot, came to $33", "en", [("mop heads", "33")]),
        ("guantes 24 bolsas de basura 16 y papel 40", "es", [
            ("guantes", "24"), ("bolsas de basura", "16"), ("papel", "40"),
        ]),
        # "x" is short for "por".
        ("pague a la senora del pan 75 x los bolillos", "es", [("pan", "75")]),
        ("me cobraron doscientos cuarenta x afilar cuchillos", "es", [("cuchillos", "240")]),
    ],
)  # fmt: skip
def test_numbers_beside_things_are_what_was_paid(
    text: str, language: str, rows: list[tuple[str, str]]
) -> None:
    said = read("add_expense", text, language).arguments
    found = [said, *said.get("more", [])]
    for row, (item, amount) in zip(found, rows, strict=True):
        assert item in row["item"]
        assert row["amount"] == amount


@pytest.mark.parametrize(
    ("text", "language", "rows"),
    [
        ("the vegetable man one forty two and change call it 142.60", "en",
         [("vegetable man", "142.60")]),
        ("taxi 12, digamos 15", "es", [("taxi", "15")]),
        ("pd 30 for charcoal n 11 for skewers", "en", [("charcoal", "30"), ("skewers", "11")]),
        ("pon que hoy salieron 25 de masa y 8 de hojas", "es", [("masa", "25"), ("hojas", "8")]),
        ("compre 3 cajas de agua en el super 28.50 c mi tarjeta", "es", [("agua", "28.50")]),
        ("anota el plomero 90 y ya le pague", "es", [("plomero", "90")]),
    ],
)  # fmt: skip
def test_a_sum_that_is_put_right_is_the_one_and_chat_spelling_joins_rows(
    text: str, language: str, rows: list[tuple[str, str]]
) -> None:
    said = read("add_expense", text, language).arguments
    found = [said, *said.get("more", [])]
    assert len(found) == len(rows)
    for row, (item, amount) in zip(found, rows, strict=True):
        assert item in row["item"] and "pague" not in row["item"]
        assert row["amount"] == amount


@pytest.mark.parametrize(
    ("text", "language", "item"),
    [
        ("bought napkin rings dont have the receipt yet", "en", "napkin rings"),
        ("Please add the candles I bought for the front door.", "en", "candles"),
        ("agrega las veladoras que compre para la entrada", "es", "veladoras"),
        # One sum, and nobody knows of which of the two.
        ("a bulb for aisle 7 and a cord of 15", "en", "bulb for aisle 7 and a cord"),
    ],
)
def test_the_sum_of_a_thing_that_was_bought_is_asked_for(
    text: str, language: str, item: str
) -> None:
    command = read("add_expense", text, language)
    assert (command.arguments["item"], command.missing) == (item, ("amount",))


@pytest.mark.parametrize(
    ("text", "language", "amounts"),
    [
        ("milk 4 qts 23.96 corner store", "en", ["23.96"]),
        ("flour 50 lb sack thirty one seventy five", "en", ["31.75"]),
        ("ran out, case of 24 water bottles cost us 52.80", "en", ["52.80"]),
        (
            "atun 5 libras y pulpo, el atun salio en 47.50 y el pulpo en 62",
            "es",
            ["47.50", "62.00"],
        ),
        ("el 14 pague el fumigador, 175 con tarjeta", "es", ["175.00"]),
        ("las sillas pal evento del 22, mil cien dolares", "es", ["1100.00"]),
        ("la poliza x telefono, 188.70, se cargo a la tarjeta", "es", ["188.70"]),
        ("compre 3 cuchillos y una tabla, al rato te digo cuanto", "es", []),
        ("we bought 3 knives, ill tell u the price later", "en", []),
        ("compre 30 de limones", "es", ["30.00"]),
        ("oye apuntame 6 cajas de kiwi, fueron 312 en el mercado de la 7", "es", ["312.00"]),
        ("compre dos lamparas, me salieron en 112 las dos", "es", ["112.00"]),
        ("Apunta 2 cosas: aceite 134.50, harina 41", "es", ["134.50", "41.00"]),
        ("ok 3 things. soap 13, tabs 26.50, mop eleven", "en", ["13.00", "26.50", "11.00"]),
        ("ya compre 3 cajas de mango y 5 de papaya, por todo fueron 165", "es", ["165.00"]),
        ("3 sacks of beans and 2 of rice, the beans came to 90", "en", ["90.00"]),
        ("training for 2 people, $13.95 each so 27.90", "en", ["27.90"]),
        ("estacionamiento doce cincuenta, para un banquete de 40 personas", "es", ["12.50"]),
        ("rum 6 btls 101.94, the dark one", "en", ["101.94"]),
    ],
)
def test_weights_counts_and_days_are_no_sums(text: str, language: str, amounts: list[str]) -> None:
    said = read("add_expense", text, language).arguments
    rows = [said, *said.get("more", [])]
    assert [f"{float(row['amount']):.2f}" for row in rows if row.get("amount")] == amounts


def test_pounds_are_money_where_the_restaurant_pays_in_them() -> None:
    around = ReadingContext("en", TODAY, (), "GBP")
    command = read_intended("add_expense", "paid 5 pounds and a tip for the taxi", around)
    assert command is not None
    assert command.arguments["amount"] == "5"


@pytest.mark.parametrize(
    ("text", "language", "item"),
    [
        ("pague la luz de este mes, 890.45", "es", "luz de este mes"),
        ("we paid the rent for this month 2100.50", "en", "rent for this month"),
    ],
)
def test_what_a_thing_is_of_is_not_when_it_was_paid(text: str, language: str, item: str) -> None:
    command = read("add_expense", text, language)
    assert item in command.arguments["item"]
    assert command.missing == ()


@pytest.mark.parametrize(
    "text",
    [
        "el 14 pague el fumigador, 175 con tarjeta",
        "El 14 pagué el fumigador, 175",
        "pagué el fumigador el 14 y fueron 175",
    ],
)
def test_a_day_of_the_month_alone_is_one(text: str) -> None:
    said = read("add_expense", text, "es").arguments
    assert (said["date"], said["amount"]) == ("2026-11-14", "175")


@pytest.mark.parametrize(
    ("text", "language", "item"),
    [
        ("bought some parsley ill tell u how much when i find the receipt", "en", "parsley"),
        ("we paid for server books, dont remember what it cost", "en", "server books"),
        ("compre pilas pa la bascula, luego te digo cuanto", "es", "pilas pa la bascula"),
        ("compre chorizo, me falta preguntar cuanto fue", "es", "chorizo"),
    ],
)  # fmt: skip
def test_a_promise_to_tell_the_sum_is_no_part_of_the_thing(
    text: str, language: str, item: str
) -> None:
    command = read("add_expense", text, language)
    assert command.arguments["item"] == item
    assert command.missing == ("amount",)


def test_what_is_missing_is_asked_for_and_nothing_is_made_up() -> None:
    command = read("add_expense", "bought napkins")
    assert command.missing == ("amount",)
    assert "amount" not in command.arguments
    assert read("add_expense", "5 lb flour").arguments.get("amount") is None


def test_which_one_is_meant_stays_in_the_persons_words() -> None:
    said = "the 9 dollar one isnt balloons its candles"
    assert read("delete_expense", said).arguments == {"which": said}
    assert read("update_expense", said).arguments == {"which": said}
    assert read("update_expense", said).missing == ("change",)


def test_a_question_is_limited_to_what_it_names() -> None:
    assert read("get_balance", "how much went out last month").arguments == {"range": "last month"}
    assert read("list_expenses", "what did i log today").arguments == {
        "range": "today",
        "who": "mine",
    }
    assert read("search_wines", "a red for the table") is None


@pytest.mark.parametrize("unit", ["x, ", "x. ", "a ", "the new ", "to the list ", "$5 "])
def test_what_a_long_message_says_keeps_nobody_waiting(unit: str) -> None:
    """Each word at the end of one was taken off after a look at all the rest: 2.7 s of it."""

    def work(size: int) -> Callable[[], object]:
        message = ("I spent 5 on " + unit * size)[:size]
        return lambda: read("add_expense", message)

    check_growth(work, 1_000)


def test_of_a_list_too_long_to_be_read_whole_no_row_is_taken() -> None:
    rows = "taxi 12, napkins 5, " * (LONGEST_INTENDED // 20 + 1)
    assert read("add_expense", rows[:400]).arguments["item"] == "taxi"
    assert read("add_expense", rows).missing == ("item", "amount")


def test_what_one_may_not_do_is_not_what_one_means(member: Member, say_to: SayTo) -> None:
    """Staff change nothing in the ledger: a thing with its sum is one to add."""
    reply = say_to(member, "pescado 420 ayer con don Lupe", language="es")
    assert [entry["tool"] for entry in reply.tool_trace] == ["add_expense"]


@pytest.mark.parametrize(
    ("language", "wish", "item"),
    [
        ("en", "delete the Costco", "chalk"),
        ("en", "change the zulu to $30", "speaker"),
        ("en", "change the date of the zulu to yesterday", "ribbon"),
        ("es", "borra la piñata", "listón"),
        ("es", "cambia el monto de la piñata a 300", "listón"),
    ],
)
def test_a_row_is_meant_by_whatever_it_is_called_and_by_what_is_said_after_none_was_found(
    owner: Database,
    database: Database,
    boss: Member,
    say_to: SayTo,
    language: str,
    wish: str,
    item: str,
) -> None:
    """The words of a ledger are its people's: no list knows them."""
    tool = "delete_expense" if wish.startswith(("delete", "borra")) else "update_expense"
    none = say_to(boss, wish, language=language)
    assert none.parts == [] and any(quote in none.content for quote in "“«")
    make_expense(database, boss, item, amount=12)
    elsewhere = "the walk-in is not cooling" if language == "en" else "no enfría el cuarto frío"
    other = say_to(boss, elsewhere, thread=none.thread_id, language=language)
    assert [entry["tool"] for entry in other.tool_trace if "expense" in entry["tool"]] == []
    again = say_to(boss, wish, thread=none.thread_id, language=language)
    found = say_to(boss, item, thread=again.thread_id, language=language)
    assert [part.get("tool") for part in found.parts] == [tool]
    make_expense(database, boss, re.split(" (?:the|la) ", wish)[-1].split()[0].strip(), amount=7)
    named = say_to(boss, wish, language=language)
    assert [part.get("tool") for part in named.parts] == [tool]


@pytest.mark.parametrize(
    ("wish", "language"),
    [
        (f"delete the {'zulu ' * 120}", "en"),
        (f"change the {'zulu ' * 120}to $30", "en"),
        (f"borra la {'piñata ' * 80}", "es"),
    ],
    ids=["delete", "change", "borra"],
)
def test_of_words_without_an_end_so_much_names_a_row_as_a_tool_takes(
    boss: Member, say_to: SayTo, wish: str, language: str
) -> None:
    reply = say_to(boss, wish, language=language)
    assert reply.status == "complete" and reply.content.strip()
    assert all(entry["code"] != "invalid_input" for entry in reply.tool_trace)


TWO_FIT = [("en", "delete the Costco", "Costco"), ("es", "borra el Costco", "Costco")]


@pytest.mark.parametrize(("language", "wish", "item"), TWO_FIT)
@pytest.mark.parametrize(
    "said", ["$41", "41", "Costco 41", "the one of 41", "the Costco of $41"], ids=lambda it: it
)
def test_of_several_one_is_chosen_by_its_sum(
    database: Database, boss: Member, say_to: SayTo,
    language: str, wish: str, item: str, said: str,
) -> None:  # fmt: skip
    for amount in (41, 12):
        make_expense(database, boss, item, amount=amount)
    asked = say_to(boss, wish, language=language)
    assert asked.parts == [] and "?" in asked.content
    [card] = say_to(boss, said, thread=asked.thread_id, language=language).parts
    assert card["tool"] == "delete_expense" and "41" in str(card)


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("the ice machine is leaking", "en"),
        ("report an accident", "en"),
        ("un cliente se cayó", "es"),
        ("thanks", "en"),
        ("never mind", "en"),
        ("forget it", "en"),
        ("olvídalo", "es"),
        ("cancela", "es"),
        ("I want to request time off", "en"),
        ("taxi $9 today", "en"),
    ],
)
def test_which_one_is_not_answered_by_something_else(
    database: Database, boss: Member, say_to: SayTo, said: str, language: str
) -> None:
    """What was asked first lets go of whoever says something else: an emergency, above all."""
    for amount in (41, 12):
        make_expense(database, boss, "Costco", amount=amount)
    wish = "delete the Costco" if language == "en" else "borra el Costco"
    asked = say_to(boss, wish, language=language)
    reply = say_to(boss, said, thread=asked.thread_id, language=language)
    alone = say_to(boss, said, language=language)
    assert [each["tool"] for each in reply.tool_trace] == [
        each["tool"] for each in alone.tool_trace
    ]
    assert "Which one" not in reply.content and f"“{said}”" not in reply.content


def test_a_name_that_fits_none_is_told_and_may_be_said_anew(
    database: Database, boss: Member, say_to: SayTo
) -> None:
    for amount in (41, 12):
        make_expense(database, boss, "Costco", amount=amount)
    asked = say_to(boss, "delete the Costco")
    none = say_to(boss, "the taxi one", thread=asked.thread_id)
    assert "“the taxi one”" in none.content and none.parts == []
    [card] = say_to(boss, "the Costco of $12", thread=asked.thread_id).parts
    assert card["tool"] == "delete_expense"
