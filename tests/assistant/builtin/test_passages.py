from __future__ import annotations

import pytest

from app.retrieval.quotes.passages import plain, take_apart
from tests.growth import check_growth

PASSAGE = """\
Wash your hands at a hand sink **only**. The whole wash takes *at least* 20 seconds.

**How long can raw chicken stay out? At most 2 hours in total.** After that, throw it away.

**Card tips.** They are paid in full. The house pays the fee. **Cash tips.** You take them home.

**Change gloves:**

- after raw chicken
- every 4 hours
  or sooner

1. Wet your hands.
2. Take soap. Rub for 10 seconds.

| Food | Minimum temperature |
|---|---|
| Chicken, turkey | 165°F (74°C) |
| Fish | 145°F (63°C) |

### Strength of the sanitizer {#ppm}

| Sanitizer | Strength | Time |
| --- | --- | --- |
| Quat | 200-400 ppm | 60 seconds |
"""


def texts(kind: str) -> list[str]:
    return [piece.text for piece in take_apart(PASSAGE) if piece.kind == kind]


def lead_of(text: str) -> str:
    return next(piece.lead for piece in take_apart(PASSAGE) if piece.text == text)


def test_sentences_lose_their_marks_and_keep_their_words() -> None:
    assert texts("sentence")[:2] == [
        "Wash your hands at a hand sink only.",
        "The whole wash takes at least 20 seconds.",
    ]


def test_a_question_in_the_text_leads_its_answer_and_is_none() -> None:
    assert "At most 2 hours in total." in texts("sentence")
    assert lead_of("At most 2 hours in total.") == "How long can raw chicken stay out?"
    assert not any(text.endswith("?") for text in texts("sentence"))


def test_a_title_that_runs_into_its_text_leads_the_sentences_after_it() -> None:
    assert lead_of("The house pays the fee.") == "Card tips."
    assert lead_of("You take them home.") == "Cash tips."
    assert "Cash tips." not in texts("sentence")


def test_items_have_the_line_that_introduces_them() -> None:
    assert texts("item") == ["after raw chicken", "every 4 hours or sooner"]
    assert lead_of("after raw chicken") == "Change gloves:"


def test_steps_keep_their_numbers() -> None:
    steps = [(piece.number, piece.text) for piece in take_apart(PASSAGE) if piece.kind == "step"]
    assert steps == [(1, "Wet your hands."), (2, "Take soap. Rub for 10 seconds.")]


def test_rows_of_a_table_can_be_understood_alone() -> None:
    assert texts("row") == [
        "Chicken, turkey: 165°F (74°C)",
        "Fish: 145°F (63°C)",
        "Quat: Strength: 200-400 ppm; Time: 60 seconds",
    ]


@pytest.mark.parametrize(
    ("header", "row", "text"),
    [
        ("Dish | Nut free", "Nougat | no", "Nougat: Nut free: no"),
        ("Plato | Sin frutos secos", "Turrón | sí", "Turrón: Sin frutos secos: sí"),
        ("Dish | Gluten | Milk | Nuts", "Pie | x | | ✓", "Pie: Gluten: x; Nuts: ✓"),
        ("Nut free | Dish", "no | Macaron", "Nut free: no; Dish: Macaron"),
        ("Contains nuts | Nut free", "Baklava | Flan", "Contains nuts: Baklava; Nut free: Flan"),
        ("Dish | Free from | Note", r"Ragout | nuts \| milk | none",
         "Ragout: Free from: nuts | milk; Note: none"),
        ("Dish | Nut free | Milk free", "Ragout | no", "Ragout: Nut free: no"),
        ("Food | Least", "Chicken | 165°F", "Chicken: 165°F"),
    ],
)  # fmt: skip
def test_a_yes_or_a_sign_is_never_quoted_without_what_heads_it(
    header: str, row: str, text: str
) -> None:
    """ "Nougat: no" was the answer to whether there are nuts in it."""
    width = header.count("|") + 1
    table = f"| {header} |\n|{'---|' * width}\n| {row} |\n"
    assert [piece.text for piece in take_apart(table)] == [text]


@pytest.mark.parametrize(
    "table",
    ["| Chowder | no | no |\n| Pie | x | |", "| Dish | Nut free |\n|---|---|\n| Pie | no | yes |"],
)
def test_a_row_of_signs_that_nobody_knows_the_columns_of_is_not_quoted(table: str) -> None:
    assert take_apart(table) == []


def test_a_row_without_a_head_that_says_something_is_quoted() -> None:
    assert [piece.text for piece in take_apart("| Ana | GM | 555-1234 |")] == ["Ana: GM; 555-1234"]


def test_a_heading_leads_what_stands_under_it() -> None:
    row = "Quat: Strength: 200-400 ppm; Time: 60 seconds"
    assert lead_of(row) == "Strength of the sanitizer"


def test_lists_and_tables_are_blocks_of_their_own() -> None:
    blocks = {
        (piece.kind, piece.block) for piece in take_apart(PASSAGE) if piece.kind != "sentence"
    }
    assert len(blocks) == 4


def test_what_is_no_text_has_no_pieces() -> None:
    assert take_apart("") == []
    assert take_apart("\n\n---\n\n") == [] or all(p.text for p in take_apart("---"))


def test_links_and_code_become_plain_text() -> None:
    assert plain("See [the list](https://example.com/x) and `run`") == "See the list and run"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("See [the list](/library/7).", "See the list."),
        ("See [the river](https://example.org/Grande_(river)) too.", "See the river too."),
        ("![a pot](pot.png) boils", "a pot boils"),
        ("Cut [thinly] (2 mm)", "Cut [thinly] (2 mm)"),
    ],
)
def test_a_link_is_its_words(markdown: str, text: str) -> None:
    assert plain(markdown) == text


@pytest.mark.parametrize("piece", ["[", "![", "](", "[x](", "[x](()", "**", "*a ", "`", "> "])
def test_no_passage_is_slow_to_take_apart(piece: str) -> None:
    check_growth(lambda size: lambda: take_apart(f"Wash it. {piece * size} Ask."), 5_000)
