"""Tables of products: columns in two languages, and errors that stop only their own row."""

from __future__ import annotations

import io
from io import BytesIO
from zipfile import ZipFile

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font

from app.skills.knowledge.readers import grid
from tests.growth import counted
from tests.skills.knowledge.readers.files import (
    codes,
    errors,
    fatal,
    menu,
    only,
    read,
    repacked,
    told,
    xlsx_of,
)


@pytest.mark.fault(39)
def test_more_ingredients_than_an_import_can_hold_are_refused() -> None:
    row = "Dish {},3," + ";".join(f"a{n}" for n in range(100)) + "\n"
    rows = "".join(row.format(number) for number in range(2_001))
    assert fatal(menu("name,price,ingredients\n" + rows)) == "too_many_rows"


@pytest.mark.fault(39)
def test_a_row_that_says_it_is_a_trillion_rows_down_costs_nothing() -> None:
    whole = xlsx_of([["name", "price"], ["Taco", "3"], ["Flan", "5"]])
    with ZipFile(BytesIO(whole)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml")
    far = sheet.replace(b'r="3"', b'r="1000000000000"').replace(b"A3", b"A1000000000000")
    assert far != sheet
    with counted() as cost:
        reading = menu(repacked(whole, {"xl/worksheets/sheet1.xml": far}), "m.xlsx")
    # Reading it took all of its 180 seconds.
    assert cost.seconds < 30
    assert [row.values["slug"] for row in reading.rows] == ["taco"]


@pytest.mark.fault(39)
def test_rows_that_a_sheet_leaves_out_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has written something into the last row that a sheet can have."""
    looked_at = list[object]()
    read_cell = grid._text_of

    def count(cell: object, struck: list[str]) -> str:
        looked_at.append(cell)
        return read_cell(cell, struck)

    monkeypatch.setattr(grid, "_text_of", count)
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["name", "price"])
    book.active.cell(1_048_576, 1, "Taco")
    book.save(content := BytesIO())
    assert [row.values["slug"] for row in menu(content.getvalue(), "m.xlsx").rows] == ["taco"]
    assert len(looked_at) < 1000


def test_a_row_becomes_the_values_of_a_product() -> None:
    reading = menu(
        "Name,Name (ES),Description,Price,Allergens,Ingredients,Tags,Category,Active\n"
        'Ceviche,Ceviche verde,"Lime, chile",$12.5,"fish, Crustáceos",fish; lime,Fresh,'
        "Entrada,yes\n"
    )
    assert reading.problems == []
    (row,) = reading.rows
    assert (row.line, row.problems, row.borrowed) == (2, [], ["description_es"])
    assert row.values == {
        "slug": "ceviche",
        "name_en": "Ceviche",
        "name_es": "Ceviche verde",
        "description_en": "Lime, chile",
        "description_es": "Lime, chile",
        "price": "12.50",
        "allergens": ["fish", "crustacean"],
        "ingredients": [
            {"en": "fish", "es": "fish", "borrowed": "es"},
            {"en": "lime", "es": "lime", "borrowed": "es"},
        ],
        "tags": ["fresh"],
        "category": "starter",
        "is_active": True,
    }
    assert reading.facts == {"words": 0, "sections": 0, "rows": 1}


def test_a_spanish_table_from_windows_is_read_as_it_is() -> None:
    text = (
        "Categoría;PRECIO;Nombre;Descripción;Alérgenos;Maridaje\n"
        "Postre;1.234,50 $;Flan de cajeta;Con vainilla;Leche y huevo;Café\n"
        "Entrada;45;Jalapeño relleno;;ninguno;\n"
    )
    first, second = menu(text.encode("latin-1"), language="es").rows
    assert first.values["name_es"] == "Flan de cajeta"
    assert first.values["name_en"] == "Flan de cajeta"
    assert first.borrowed == ["name_en", "description_en", "pairing_notes_en"]
    assert first.values["price"] == "1234.50"
    assert first.values["category"] == "dessert"
    assert first.values["allergens"] == ["milk", "egg"]
    assert second.values["name_es"] == "Jalapeño relleno"
    assert second.values["allergens"] == []
    assert "description_es" not in second.values
    assert second.problems == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-le"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_encodings_and_separators_are_found(encoding: str, separator: str) -> None:
    text = separator.join(["Nombre", "Precio"]) + "\r\n" + separator.join(["Piñón", '"5"']) + "\r\n"
    row = only(text.encode(encoding), "es")
    assert (row.values["name_es"], row.values["price"]) == ("Piñón", "5.00")


@pytest.mark.parametrize(
    ("said", "price"),
    [
        ("12.5", "12.50"), ("$12", "12.00"), ("1.234,50 €", "1234.50"), ("1,234.50", "1234.50"),
        ("MX$ 1,200", "1200.00"), ("12,5", "12.50"), ("1 234,5", "1234.50"), ("0", "0.00"),
        ("120 pesos", "120.00"), ("1'000", "1000.00"), (".5", "0.50"), ("1.234.567,8", None),
        ("1,234,567.80", None), ("0.250", "0.25"),
    ],
)  # fmt: skip
def test_prices_are_read_as_people_write_them(said: str, price: str | None) -> None:
    row = only(f'name;price\nTaco;"{said}"\n')
    assert row.values.get("price") == price


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("-5", "price_negative"), ("$ -5.00", "price_negative"), ("(5.00)", "price_negative"),
        ("NaN", "price_not_a_number"), ("Infinity", "price_not_a_number"),
        ("1e9", "price_not_a_number"), ("12-15", "price_not_a_number"),
        ("market", "price_not_a_number"), ("9999999", "price_too_high"),
        ("9" * 400, "price_too_high"), ("١٢", "price_not_a_number"),
        ("9 32", "price_not_a_number"), ("12.50.", "price_not_a_number"),
        ("4 12", "price_not_a_number"), ("1,23,4", "price_not_a_number"),
        ("12,34.50", "price_not_a_number"), ("1$500", "price_not_a_number"),
        ("3$150", "price_not_a_number"),
    ],
)  # fmt: skip
def test_prices_that_cannot_be_are_errors_of_their_row(said: str, code: str) -> None:
    bad, good = menu(f"name;price\nTaco;{said}\nFlan;5\n").rows
    assert [problem.code for problem in bad.problems] == [code]
    assert bad.problems[0].place == "row 2"
    assert "price" not in bad.values
    assert good.problems == []


def test_a_title_above_the_table_is_no_name_column() -> None:
    reading = menu("Wine,,\nName,Price,Allergens\nMalbec,9,sulphite\n")
    [row] = reading.rows
    assert (row.values["name_en"], row.values["price"]) == ("Malbec", "9.00")
    assert row.values["allergens"] == ["sulphite"]


@pytest.mark.parametrize("header", ["Cost,Price", "Price,Cost", "Importe,Precio"])
def test_what_the_restaurant_pays_is_no_price_of_the_menu(header: str) -> None:
    cells = ("2.10", "12") if header.endswith(("Price", "Precio")) else ("12", "2.10")
    reading = menu(f"Dish,{header}\nCake,{','.join(cells)}\n")
    assert reading.rows[0].values["price"] == "12.00"
    assert codes(reading) == ["unknown_column"]


def test_of_two_rows_of_one_name_the_first_that_can_be_is_used() -> None:
    rows = menu("name,price\nTaco,-1\nTaco,5\nFlan,4\n\ntáco,6\n,3\n").rows
    assert [row.line for row in rows] == [2, 3, 4, 6, 7]
    assert errors(rows[0]) == [("price_negative", "-1")]
    assert rows[1].problems == rows[2].problems == []
    assert errors(rows[3]) == [("duplicate_name", "3")]
    assert errors(rows[4]) == [("name_missing", "")]


def test_what_could_not_be_saved_again_in_the_browser_is_an_error_of_its_row() -> None:
    long, items = "x" * 61, "; ".join(f"item {number}" for number in range(101))
    rows = menu(
        "name,category,tags,ingredients\n"
        f"Taco,{long},,\nFlan,,{long},\nSopa,,,{items}\nMole,,,{'y' * 10_001}\n"
    ).rows
    assert [errors(row) for row in rows] == [
        [("text_too_long", "category")],
        [("text_too_long", "tags")],
        [("too_many_items", "ingredients")],
        [("text_too_long", "ingredients")],
    ]


def test_other_cells_that_cannot_be_are_named() -> None:
    long = "x" * 121
    rows = menu(f"name,active,description\n{long},yes,\nFlan,perhaps,\nSopa,no,a,b,c\n").rows
    assert errors(rows[0]) == [("name_too_long", "name_en")]
    assert errors(rows[1]) == [("not_yes_or_no", "perhaps")]
    assert errors(rows[2]) == [("too_many_cells", "")]


def test_unknown_and_repeated_columns_are_named_and_left_out() -> None:
    reading = menu("Price,Chef's mood,name,PRECIO\n5,good,Taco,6\n")
    assert [(each.code, each.detail, each.is_fatal) for each in reading.problems] == [
        ("repeated_column", "PRECIO", False),
        ("unknown_column", "Chef's mood", False),
    ]
    assert reading.rows[0].values["price"] == "5.00"


def test_a_title_above_the_columns_and_quoted_lines_are_no_hindrance() -> None:
    rows = menu('Menu of November,\n\nname,description\nTaco,"two\nlines"\nFlan,sweet\n').rows
    assert [(row.line, row.values["name_en"]) for row in rows] == [(4, "Taco"), (6, "Flan")]
    assert rows[0].values["description_en"] == "two\nlines"


def test_facts_of_wines_and_fields_of_recipes_have_columns_too() -> None:
    (wine,) = read("Vino,Uva,Añada\nTempus,Malbec,2021\n", "v.csv", "wines", "es").rows
    assert wine.values["facts"] == {"grape": "Malbec", "vintage": "2021"}
    text = (
        "name,difficulty,minutes,servings,cuisine,steps\nMole,Difícil,90,8,Mexicana,Toast; Grind\n"
    )
    (recipe,) = read(text, "r.csv", "recipes").rows
    assert (recipe.values["difficulty"], recipe.values["cuisine"]) == ("hard", "mexican")
    assert (recipe.values["total_time_minutes"], recipe.values["servings"]) == (90, 8)
    assert recipe.values["steps"] == [
        {"en": "Toast", "es": "Toast", "borrowed": "es"},
        {"en": "Grind", "es": "Grind", "borrowed": "es"},
    ]


def test_a_table_as_markdown_has_it_and_names_in_other_scripts_are_read() -> None:
    rows = menu("name | p.v.p.\n--- | ---\n寿司 | 5\n天ぷら | 6\n").rows
    assert [(row.values["name_en"], row.values["price"]) for row in rows] == [
        ("寿司", "5.00"),
        ("天ぷら", "6.00"),
    ]
    assert [row.problems for row in rows] == [[], []]


def test_a_slug_of_its_own_ties_a_row_to_its_product() -> None:
    row = only("id;nombre\nTaco al Pastor;Pastor\n", "es")
    assert row.values["slug"] == "taco-al-pastor"


def test_a_hidden_sheet_is_not_read_and_what_is_left_out_is_named() -> None:
    book = openpyxl.Workbook()
    old = book.active
    assert old is not None
    old.title, old.sheet_state = "Old", "hidden"
    old.append(["name", "price", "allergens"])
    old.append(["Satay", 3, "none"])
    for name, row in (("Menu", ["Satay", 5, "peanut"]), ("Desserts", ["Flan", 4, "milk"])):
        sheet = book.create_sheet(name)
        sheet.append(["name", "price", "allergens"])
        sheet.append(row)
    book.create_sheet("Empty")
    content = io.BytesIO()
    book.save(content)
    reading = menu(content.getvalue(), "m.xlsx")
    assert [row.values["price"] for row in reading.rows] == ["5.00"]
    assert [(p.code, p.detail) for p in reading.problems] == [("sheets_left_out", "Old, Desserts")]


def test_excel_files_are_read_from_their_first_sheet_with_rows() -> None:
    rows = [["Nombre", "Precio", "Disponible", "Alérgenos"], ["Paleta", 12.5, True, "leche"],
            [None] * 4, ["Flan", 45, False, None], ["Vino", 12.345, None, None]]  # fmt: skip
    reading = menu(xlsx_of(rows, empty_first=True), "m.xlsx", "es")
    assert [row.line for row in reading.rows] == [2, 4, 5]
    assert [row.values["price"] for row in reading.rows] == ["12.50", "45.00", "12.35"]
    assert [row.values.get("is_active") for row in reading.rows] == [True, False, None]
    assert codes(reading) == []


def test_what_is_raised_struck_or_noted_in_a_sheet_is_what_people_see() -> None:
    """A raised 1 made $121 of $12, and a struck-out "none" was a declaration."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    raised = TextBlock(InlineFont(vertAlign="superscript"), "1")
    struck = TextBlock(InlineFont(strike=True), "14 ")
    for row in (
        ["Dish", "Price", "Allergens"],
        ["Taco", CellRichText("12", raised), "milk"],
        ["Flan", CellRichText(struck, "12"), "none"],
        ["Gone", 5, "none"],
        ["Soup", 4, "none"],
    ):
        sheet.append(row)
    for place in ("C3", "A4", "B4", "C4"):
        sheet[place].font = Font(strike=True)
    content = BytesIO()
    book.save(content)
    reading = menu(content.getvalue(), "m.xlsx")
    taco, flan, soup = reading.rows
    assert errors(taco) == [("price_not_a_number", "12¹")]
    assert (flan.values["price"], flan.values.get("allergens")) == ("12.00", None)
    assert soup.values["allergens"] == []
    assert told(reading, "left_out") == ["14", "none", "Gone", "5"]
    sheet["A5"].comment = Comment("Made with nuts", "Chef")
    book.save(content := BytesIO())
    reading = menu(content.getvalue(), "m.xlsx")
    assert reading.rows[-1].values["allergens"] is None
    assert told(reading, "allergens_noted") == ["Made with nuts"]
    assert "Made with nuts" not in told(reading, "left_out")
    sheet["A5"].comment = Comment("Mayra: subió de precio en marzo", "Chef")
    book.create_sheet("Costs")["A1"].comment = Comment("ask for peanuts", "Chef")
    book.save(content := BytesIO())
    reading = menu(content.getvalue(), "m.xlsx")
    assert reading.rows[-1].values["allergens"] == []
    assert "Mayra: subió de precio en marzo" in told(reading, "left_out")


def test_a_comma_between_digits_parts_no_ingredients() -> None:
    table = 'name,ingredients\nPan,"2,5 kg harina, 0,5 kg sal,agua"\nCake,"1,500 g flour, 2, 3"\n'
    first, second = menu(table).rows
    assert [item["en"] for item in first.values["ingredients"]] == [
        "2,5 kg harina", "0,5 kg sal", "agua",
    ]  # fmt: skip
    assert [item["en"] for item in second.values["ingredients"]] == ["1,500 g flour", "2", "3"]


def test_excel_files_with_macros_or_damage_are_refused() -> None:
    whole = xlsx_of([["name"], ["Taco"]])
    assert fatal(menu(repacked(whole, {"xl/vbaProject.bin": b"x"}), "m.xlsx")) == "has_macros"
    assert fatal(menu(whole[:800], "m.xlsx")) == "damaged"
    assert fatal(menu(repacked(whole, {"xl/workbook.xml": "<workbook"}), "m.xlsx")) == "damaged"
    bomb = '<!DOCTYPE x [<!ENTITY a "ha">]><sst>&a;</sst>'
    assert fatal(menu(repacked(whole, {"xl/sharedStrings.xml": bomb}), "m.xlsx")) == "unsafe_xml"


def test_tables_without_rows_or_names_are_refused() -> None:
    assert fatal(menu("name,price\n")) == "no_rows"
    assert fatal(menu("price,allergens\n5,milk\n")) == "no_name_column"
    assert fatal(menu(xlsx_of([[None]]), "m.xlsx")) == "no_rows"
    assert fatal(menu("name\n" + "Taco\n" * 20_001)) == "too_many_rows"
