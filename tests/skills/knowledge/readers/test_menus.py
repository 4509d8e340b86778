"""Tables of products: columns in two languages, and errors that stop only their own row."""

from __future__ import annotations

import io
import time
from io import BytesIO
from zipfile import ZipFile

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font

from app.skills.knowledge.readers import Reading, ReadRow, grid
from tests.skills.knowledge.readers.files import (
    codes,
    fatal,
    read,
    repacked,
    told,
    xlsx_of,
)


def menu(
    content: bytes | str, name: str = "menu.csv", language: str = "en", kind: str = "dishes"
) -> Reading:
    return read(content, name, kind, language)


def only(content: bytes | str, language: str = "en") -> ReadRow:
    (row,) = menu(content, language=language).rows
    return row


def errors(row: ReadRow) -> list[tuple[str, str]]:
    return [(problem.code, problem.detail) for problem in row.problems]


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
    began = time.process_time()
    reading = menu(repacked(whole, {"xl/worksheets/sheet1.xml": far}), "m.xlsx")
    # Reading it took all of its 180 seconds.
    assert time.process_time() - began < 30
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


@pytest.mark.parametrize(
    ("said", "codes_"),
    [
        ("none", []), ("Ninguno", []), ("sin alérgenos", []), ("", None), ("-", None),
        ("milk; EGG", ["milk", "egg"]), ("tree_nut", ["tree_nut"]), ("frutos secos", ["tree_nut"]),
        ("Contiene: soya y gluten", ["gluten", "soy"]), ("nuts", ["tree_nut", "peanut"]),
        ("mariscos", ["crustacean", "mollusc"]), ("cacahuetes", ["peanut"]),
        ("sulfites and fish", ["fish", "sulphite"]),
    ],
)  # fmt: skip
def test_allergens_are_read_by_name_or_code(said: str, codes_: list[str] | None) -> None:
    row = only(f'name,allergens\nTaco,"{said}"\n')
    assert row.values.get("allergens") == codes_
    assert row.problems == []


def test_an_unknown_allergen_or_a_contradiction_declares_nothing() -> None:
    first, second = menu('name,allergens\nTaco,"milk, kryptonite"\nFlan,"none, egg"\n').rows
    assert errors(first) == [("allergen_unknown", "kryptonite")]
    assert errors(second) == [("allergens_contradict", "")]
    assert "allergens" not in first.values | second.values


@pytest.mark.parametrize(
    "said", ["none*", "None?", "milk, 🥜", "none ¹", "milk (nuts?)", "no: see *"]
)
def test_a_sign_that_may_say_more_is_no_declaration(said: str) -> None:
    [row] = menu(f'name,allergens\nTaco,"{said}"\n').rows
    assert [problem.code for problem in row.problems] == ["allergen_unknown"]
    assert "allergens" not in row.values


@pytest.mark.parametrize(
    ("header", "cells", "declared"),
    [
        ("contains,allergens", '"milk","milk, peanut"', ["milk", "peanut"]),
        ("Contiene,Puede contener", "leche,nueces", ["milk", "tree_nut"]),
        ("contains,may contain", "none,none", []),
        # One says none and the other says nothing.
        ("contains,may contain", "none,", None),
        ("contains,may contain", "none,egg", ["egg"]),
    ],
)
def test_columns_for_allergens_declare_together(
    header: str, cells: str, declared: list[str] | None
) -> None:
    reading = menu(f"name,{header}\nTaco,{cells}\n")
    assert reading.problems == []
    assert reading.rows[0].values.get("allergens") == declared


def test_one_heading_over_several_columns_of_allergens_is_of_all_of_them() -> None:
    """As Excel has it where cells are merged, and where a text was split into columns."""
    for source in (
        xlsx_of([["Dish", "Price", "Allergens", None, None], ["Cake", 5, "milk", "egg", "peanut"],
                 ["Stew", 6, "none", "fish", None], ["Soup", 4, "none", None, None]]),
        "Dish,Price,Allergens,,\nCake,5,milk,egg,peanut\nStew,6,none,fish,\nSoup,4,none,,\n",
    ):  # fmt: skip
        reading = menu(source, "m.xlsx" if isinstance(source, bytes) else "m.csv")
        declared = [row.values.get("allergens", "nothing said") for row in reading.rows]
        assert declared == [["milk", "egg", "peanut"], ["fish"], "nothing said"]
        assert codes(reading) == []


def test_a_column_without_a_heading_is_named_and_what_it_says_of_allergens_counts() -> None:
    reading = menu("Dish,,Allergens,Price\nCake,with nuts,none,5\nSoup,spicy,none,4\n")
    assert [(each.code, each.detail) for each in reading.problems] == [("unnamed_column", "2")]
    assert [row.values.get("allergens", "nothing") for row in reading.rows] == [None, []]


def declared(source: str, **more: str) -> list[list[str] | str | None]:
    return [row.values.get("allergens", "nothing said") for row in menu(source, **more).rows]


def test_a_row_without_a_name_leaves_the_one_above_it_undeclared() -> None:
    """What is said of a dish may go on in the next row, as it does where cells are merged."""
    table = (
        "Category,Dish,Ingredients,Allergens\n"
        "Sweets,Brownie,chocolate; butter,milk\n"
        ',,flour; walnuts,"gluten, tree nuts"\n'
        "Soups,,,\n"
        ",Broth,water; onions,none\n"
    )
    assert declared(table) == [None, "nothing said", "nothing said", []]
    reading = menu(table)
    assert [(each.place, each.code, each.detail) for each in reading.problems] == [
        ("row 2", "allergens_go_on", "3")
    ]


def test_bands_sizes_and_sums_are_no_part_of_a_dish() -> None:
    table = (
        "Code,Dish,Size,Price,Allergens\n"
        "STARTERS,,,,\n"
        "A1,Soup,small,5,milk\n"
        ",,large,8,\n"
        "MAINS,,,,\n"
        "A2,Tea,,2,none\n"
        ",,,15,\n"
    )
    assert [row.values.get("allergens") for row in menu(table).rows if "name_en" in row.values] == [
        ["milk"], [],
    ]  # fmt: skip


def test_a_row_that_goes_on_leaves_undeclared_what_the_row_above_left_open() -> None:
    """What is stored from another import must not stay: the file says more by now."""
    assert declared("Dish,Price,Allergens\nSoup,5,\n,,nuts\n")[0] is None


def test_a_second_row_of_headings_leaves_nothing_declared() -> None:
    table = "Dish,Price,Allergens,,\n,,Gluten free,Dairy free,Nut free\nBrownie,5,no,no,no\n"
    assert declared(table)[1] is None
    assert codes(menu(table)) == ["allergens_headed_twice"]


def test_no_says_nothing_where_several_columns_are_of_allergens() -> None:
    assert declared("Dish,Allergens,\nBrownie,no,no\n") == ["nothing said"]
    assert declared("Dish,Allergens\nBrownie,no\n") == [[]]


@pytest.mark.parametrize("header", ["May contain", "Traces", "Trazas", "Puede contener"])
def test_traces_alone_are_no_declaration(header: str) -> None:
    assert declared(f"Dish,{header}\nTart,none\nRoll,sesame\n") == [None, None]
    assert codes(menu(f"Dish,{header}\nTart,none\n")) == ["allergens_unread"]


@pytest.mark.parametrize("header", ["A,B,7", "🌾,🥛,🥜", "GF,DF,NF", "G,L,N"])
def test_columns_that_are_headed_by_a_sign_leave_nothing_declared(header: str) -> None:
    assert declared(f"Dish,Price,{header},Allergens\nPasta,12,x,,1,none\nTea,2,,,,none\n") == [
        None, None,
    ]  # fmt: skip
    reading = menu(f"Dish,{header},Allergens\nPasta,x,yes,x,none\n")
    assert codes(reading) == ["allergens_unread"]


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("#,Qty,V,g", "1,2,x,40"),
        ("S,M,L", "$9,$12,$15"),
        ("N°,UM,Yr", "1,pz,NV"),
        ("ES,75cl,$", "Té,$30,$5"),
        ("kg,No,VG", "2,7,x"),
    ],
)
def test_short_headings_of_other_things_are_no_hindrance(header: str, cells: str) -> None:
    table = f"{header},Dish,Allergens\n{cells},Tea,none\n{cells.replace('1', '2')},Cake,milk\n"
    assert declared(table) == [[], ["milk"]]


@pytest.mark.parametrize(
    ("name", "ingredients", "description", "left_out"),
    [
        ("Sponge", "", "Contains: egg and milk.", ["egg", "milk"]),
        ("Sponge", "sugar; chopped walnuts", "", ["tree_nut"]),
        ("Peanut brittle", "", "", ["peanut"]),
        ("Rollo", "", "Puede contener trazas de ajonjolí", ["sesame"]),
        ("Salad", "", "With a walnut dressing", ["tree_nut"]),
        ("Salad", "lettuce", "Free of nuts, and no egg in it", []),
        ("Toast", "pan; mermelada", "", ["gluten"]),
        ("Brindis", "lechuga; gambas; mayonesa", "", ["crustacean", "egg"]),
        ("Tortilla", "harina de maíz; rice flour; gluten-free bread", "Fried in a pan", []),
        ("Ensalada", "yogur sin azúcar; mayonesa sin gluten", "", ["milk", "egg"]),
        ("Salad", "", "No added sugar, walnuts", ["tree_nut"]),
        ("Salad", "", "Alergias: nueces", ["tree_nut", "peanut"]),
        ("Flan", "nuez moscada; cream of coconut; masa harina; nata de coco", "No lleva huevo", []),
        ("Soup", "", "Goes well with our cheese board. Add shrimp +$5. Nut and dairy free.", []),
        ("Curry", "coconut milk; oat milk; cocoa butter", "Dairy-free", []),
    ],
)
def test_a_list_that_leaves_out_what_the_words_beside_it_name_is_none(
    name: str, ingredients: str, description: str, left_out: list[str]
) -> None:
    table = f'name,ingredients,description,allergens\n{name},{ingredients},"{description}",soy\n'
    assert declared(table) == [None if left_out else ["soy"]]
    told = [each.detail for each in menu(table).problems]
    assert told == ([", ".join(left_out)] if left_out else [])


@pytest.mark.parametrize(
    ("description", "left_out"),
    [
        ("Grilled cod with toasted almonds and extra virgin olive oil", ["tree_nut"]),
        ("Pollo que va bañado en salsa de cacahuate", ["peanut"]),
        ("We add crushed peanuts on top", ["peanut"]),
        ("It goes over a peanut sauce", ["peanut"]),
        ("Pairs well with red wine, peanuts on top", ["peanut"]),
        ("Optional heat level in a peanut sauce", ["peanut"]),
        ("Your choice of walnut or pecan topping", ["tree_nut"]),
        ("Acompañado de crema", ["milk"]),
        ("Pairs well with cheese; contains egg", ["milk", "egg"]),
        ("Extra cheese +$2", []),
        ("Añade camarón por $30", []),
        ("Optional walnuts", []),
        ("Marida con queso", []),
        ("Sin gluten, huevo, crema y almendras", ["egg", "milk", "tree_nut"]),
        ("Sin gluten y almendras", ["tree_nut"]),
        ("Sin gluten, huevo ni crema", []),
        ("Sin gluten ni huevo, crema", ["milk"]),
        ("No nuts, egg, or dairy", []),
        ("Free of nuts, egg and dairy", []),
        ("Free of gluten and almonds on top", ["tree_nut"]),
        ("Libre de gluten, almendras", ["tree_nut"]),
        ("Toasted almonds and gluten-free bread", ["tree_nut"]),
        ("Topped with cheese and gluten free", ["milk"]),
        ("Never without nuts", ["tree_nut", "peanut"]),
        ("Egg free range", ["egg"]),
        ("It is nut and dairy free", []),
    ],
)
def test_an_offer_and_a_denial_reach_no_further_than_they_surely_do(
    description: str, left_out: list[str]
) -> None:
    table = f'name,description,allergens\nPlate,"{description}",fish\n'
    [row] = menu(table).rows
    assert row.values["allergens"] == (None if left_out else ["fish"])
    told = {word for each in menu(table).problems for word in each.detail.split(", ")}
    assert told == {*left_out}


@pytest.mark.parametrize(
    ("sign", "left_out"),
    [
        ("🥜", "tree_nut, peanut"),
        ("🥛", "milk"),
        ("🧀", "milk"),
        ("🧈", "milk"),
        ("🥚", "egg"),
        ("🍳", "egg"),
        ("🐟", "fish"),
        ("🍣", "fish"),
        ("🦐", "crustacean"),
        ("🦞", "crustacean"),
        ("🦀", "crustacean"),
        ("🌾", "gluten"),
        ("🍞", "gluten"),
    ],
)
@pytest.mark.parametrize("column", ["name", "description", "ingredients"])
@pytest.mark.parametrize("kind", ["dishes", "wines"])
def test_a_picture_of_a_food_names_its_allergen(
    sign: str, left_out: str, column: str, kind: str
) -> None:
    cells = {"name": "Plate", "description": "", "ingredients": ""}
    cells[column] += f" House {sign}\ufe0f"
    table = f"{','.join(cells)},allergens\n{','.join(cells.values())},none\n"
    reading = menu(table, "m.csv", kind=kind)
    assert reading.rows[0].values["allergens"] is None
    assert [(each.code, each.detail) for each in reading.problems] == [
        ("allergens_differ", left_out)
    ]


def test_a_picture_that_the_list_declares_or_the_words_deny_is_no_hindrance() -> None:
    table = "name,description,allergens\nBar 🥜,,peanut\nCake,No 🥜,none\nPie 🍓,🌶,none\n"
    assert declared(table) == [["peanut"], [], []]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("tags", "spicy; contains nuts"),
        ("tags", "peanuts"),
        ("category", "Contains peanuts"),
        ("cuisine", "Mariscos"),
        ("steps", "Toast the rice; Stir in the peanut butter"),
        ("steps", "Agrega la mayonesa"),
        ("pairing notes", "With a Riesling. May contain nuts."),
        ("maridaje", "Puede contener nueces"),
        ("garnish", "Crushed peanuts"),
        ("style", "Contains milk"),
    ],
)
def test_every_column_counts_that_names_what_the_list_leaves_out(column: str, cell: str) -> None:
    table = f'name,{column},allergens\nBowl,"{cell}",none\n'
    reading = menu(table, "m.csv", kind="recipes")
    assert reading.rows[0].values["allergens"] is None
    assert codes(reading) == ["allergens_differ"]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("tags", "gluten-free; nut free; spicy"),
        ("category", "Mains"),
        ("steps", "Fry in a pan; Serve without nuts"),
        ("pairing notes", "Good with cheese and fish"),
        ("style", "Notes of almond"),
    ],
)
def test_columns_that_name_nothing_in_it_keep_what_is_declared(column: str, cell: str) -> None:
    table = f'name,{column},allergens\nBowl,"{cell}",none\n'
    assert menu(table, "m.csv", kind="recipes").rows[0].values["allergens"] == []


def test_a_drink_that_tastes_of_something_does_not_contain_it() -> None:
    table = 'name,description,allergens\nAlbariño,"Notes of almond. Serve it with fish.",sulphite\n'
    assert menu(table, "m.csv", kind="wines").rows[0].values["allergens"] == ["sulphite"]
    table = 'name,description,allergens\nCream,"Contains milk.",sulphite\n'
    assert menu(table, "m.csv", kind="wines").rows[0].values["allergens"] is None


@pytest.mark.parametrize(
    "table",
    [
        "All dishes may contain traces of nuts,,\nname,price,allergens\nFlan,5,milk\n",
        "name,price,allergens\nFlan,5,milk\n* contains peanuts,,\n",
        "name,price,allergens\nFlan,5,milk\n,,\n,Puede contener nueces,\n",
        "category,name,allergens\nAllergy note: ask about nuts,,\nSweet,Flan,milk\n",
    ],
)
def test_a_line_of_its_own_that_declares_leaves_nothing_declared(table: str) -> None:
    reading = menu(table)
    flan = next(row for row in reading.rows if row.values.get("name_en") == "Flan")
    assert flan.values["allergens"] is None
    assert "allergens_noted" in codes(reading)


def test_titles_and_bands_of_a_menu_are_no_declarations() -> None:
    table = "Allergen menu,,\nSeafood,,\nname,price,allergens\nCheese,,\nFlan,5,milk\n"
    reading = menu(table)
    assert (reading.rows[-1].values["allergens"], codes(reading)) == (["milk"], [])


def test_a_left_out_sheet_that_is_called_after_allergens_leaves_nothing_declared() -> None:
    book = openpyxl.Workbook()
    for name in ("Menu", "Allergens"):
        sheet = book.create_sheet(name)
        sheet.append(["name", "allergens"])
        sheet.append(["Flan", "milk"])
    book.save(content := BytesIO())
    reading = menu(content.getvalue(), "m.xlsx")
    assert reading.rows[0].values["allergens"] is None
    assert told(reading, "allergens_noted") == ["Allergens"]


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


@pytest.mark.parametrize(
    "column",
    [
        "Peanuts",
        "Contains nuts?",
        "Alergias del chef",
        "Gluten free",
        "Cross-contamination",
        "Contaminación cruzada",
        "Puede llevar",
        "Fish & shellfish",
        "Milk/dairy",
        "Wheat / gluten",
        "Almonds",
        "Camarón",
        "Intolerances",
    ],
)
def test_a_column_of_allergens_that_is_not_read_leaves_nothing_declared(column: str) -> None:
    reading = menu(f"name,allergens,{column}\nTaco,none,x\nFlan,milk,\nSopa,,\n")
    assert ("allergens_unread", column) in [(p.code, p.detail) for p in reading.problems]
    assert [row.values.get("allergens", "nothing said") for row in reading.rows] == [
        None, None, "nothing said",
    ]  # fmt: skip


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
