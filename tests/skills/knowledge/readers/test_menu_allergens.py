"""What tables of products declare of allergens: all that they say, or nothing."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import ZipFile

import openpyxl
import pytest
from openpyxl.comments import Comment

from tests.skills.knowledge.readers.files import (
    codes,
    errors,
    fatal,
    menu,
    only,
    repacked,
    told,
    xlsx_of,
)


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
        ("Soup", "", "Goes well with our cheese board. Nut free.", ["milk"]),
        ("Soup", "", "Nut and dairy free.", []),
        ("Vegan walnut tacos", "", "", ["tree_nut"]),
        ("Taco de nuez vegano", "", "", ["tree_nut", "peanut"]),
        ("Plant-based almond patty", "", "", ["tree_nut"]),
        ("Peanut butter milk shake", "", "", ["peanut", "milk"]),
        ("Coconut cream cheese pie", "", "", ["milk"]),
        ("Oat milk butter cookie", "", "", ["milk"]),
        ("Trout with almond butter sauce", "", "", ["tree_nut", "milk", "fish"]),
        ("Coconut milk chocolate bar", "", "", ["milk"]),
        ("Toast", "", "Gluten-free bread available", ["gluten"]),
        ("Burger", "", "Cheese free with any meal", ["milk"]),
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
        ("Extra cheese +$2", ["milk"]),
        ("Añade camarón por $30", ["crustacean"]),
        ("Optional walnuts", ["tree_nut"]),
        ("Marida con queso", ["milk"]),
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
        ("This dish is not nut free or dairy free", ["tree_nut", "peanut", "milk"]),
        ("It isn't nut free", ["tree_nut", "peanut"]),
        ("Cannot be made walnut free", ["tree_nut"]),
        ("No es libre de gluten", ["gluten"]),
        ("No es sin nuez", ["tree_nut", "peanut"]),
        ("Gluten-free option on request", ["gluten"]),
        ("Ask for no walnuts", ["tree_nut"]),
        ("Can be prepared without egg", ["egg"]),
        ("También sin lácteos", ["milk"]),
        ("Se puede pedir sin queso", ["milk"]),
        ("It does not contain egg", []),
        ("Don't miss our milk", ["milk"]),
        ("With or without cheese", ["milk"]),
        ("Con o sin queso", ["milk"]),
        ("No cheese? Think again", ["milk"]),
        ("Nothing without butter", ["milk"]),
        ("With/without cheese", ["milk"]),
        ("Vegan without cheese", ["milk"]),
        ("Vegano: sin queso", ["milk"]),
        ("Order without cheese to make it vegan", ["milk"]),
        ("Dairy free without cheese", ["milk"]),
        ("GF without croutons, no egg", ["egg"]),
        ("Add cheese free", ["milk"]),
        ("Kids eat cheese free", ["milk"]),
        ("Butter - free", ["milk"]),
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
        ("steps", "Add milk + 2 eggs"),
        ("servings", "4, contains nuts"),
        ("difficulty", "easy with almonds"),
        ("toppings", "🥜"),
        ("toppings", "anchovy paste"),
        ("style", "Contains milk"),
    ],
)
def test_every_column_counts_that_names_what_the_list_leaves_out(column: str, cell: str) -> None:
    table = f'name,{column},allergens\nBowl,"{cell}",none\n'
    reading = menu(table, "m.csv", kind="recipes")
    assert reading.rows[0].values["allergens"] is None
    assert [each for each in codes(reading) if each != "unknown_column"] == ["allergens_differ"]


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


def test_a_footnote_is_no_product() -> None:
    reading = menu("name,price,allergens\nFlan,5,milk\n* Contains peanuts,,\n* Mole,,\n")
    assert [row.values["name_en"] for row in reading.rows] == ["Flan", "* Mole"]
    assert reading.rows[0].values["allergens"] is None
    assert told(reading, "allergens_noted") == ["* Contains peanuts"]


@pytest.mark.parametrize(
    "text", ['&C&"Arial,Bold"&8Todo puede contener nueces', "&L&P de &N&RMay contain &Knuts"]
)
def test_what_is_printed_below_a_sheet_counts(text: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["name", "price", "allergens"])
    sheet.append(["Flan", 5, "milk"])
    sheet.oddFooter.left.text = "Page &P"
    book.save(content := BytesIO())
    assert menu(content.getvalue(), "m.xlsx").rows[0].values["allergens"] == ["milk"]
    part = "xl/worksheets/sheet1.xml"
    with ZipFile(BytesIO(content.getvalue())) as packed:
        xml = packed.read(part).decode()
    escaped = text.replace("&", "&amp;")
    changed = xml.replace("&amp;LPage &amp;P", escaped)
    assert changed != xml
    reading = menu(repacked(content.getvalue(), {part: changed}), "m.xlsx")
    assert reading.rows[0].values["allergens"] is None
    assert len(told(reading, "allergens_noted")) == 1


def test_a_box_of_text_on_a_sheet_counts() -> None:
    rels = "xl/worksheets/_rels/sheet1.xml.rels"
    office = "http://schemas.openxmlformats.org"
    content = repacked(
        xlsx_of([["name", "price", "allergens"], ["Flan", 5, "milk"]]),
        {
            rels: f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship '
            f'Id="rId1" Type="{office}/officeDocument/2006/relationships/drawing" '
            'Target="../drawings/drawing1.xml"/></Relationships>',
            "xl/drawings/drawing1.xml": f'<w xmlns:a="{office}/drawingml/2006/main"><txBody><a:p>'
            "<a:r><a:t>All our desserts may contain </a:t></a:r><a:r><a:t>nuts</a:t></a:r>"
            "</a:p></txBody><cNvPr id='2' name='Picture 1' descr='A walnut'/></w>",
        },
    )
    reading = menu(content, "m.xlsx")
    assert reading.rows[0].values["allergens"] is None
    assert told(reading, "allergens_noted") == [
        "All our desserts may contain nuts",
        "A walnut",
    ]


@pytest.mark.parametrize(
    "rows",
    [
        "*,contains anchovies,,\n",
        "Note,All our dishes contain celery,,\n",
        "Legend,,,may contain sesame\n",
        'Legend,"(F) fish, (N) nuts",,\n',
        "F = fish,,,\n",
        "*Fried in peanut oil,,,\n",
        "Sauces have gluten,,,\n",
        "Lleva queso,,,\n",
        "Guests should know,fried with shrimp in the same peanut oil,,\n",
    ],
)
def test_a_row_that_is_no_products_speaks_for_all(rows: str) -> None:
    table = "name,description,price,allergens\nFlan,sweet,5,milk\nTea,hot,2,none\n"
    assert declared(table) == [["milk"], []]
    assert declared(table + rows)[:2] == [None, None]


def test_a_title_that_names_an_allergen_in_a_sentence_speaks_for_all() -> None:
    table = "name,price,allergens\nFlan,5,milk\n"
    assert declared(f"All dishes are cooked in peanut oil,,\n{table}") == [None]
    for title in ("Fish and seafood", "¡Mariscos!", "“Pescados”"):
        assert declared(f"{title},,\n{table}") == [["milk"]]


@pytest.mark.parametrize("price", ["6", "six"])
def test_two_rows_of_one_name_that_declare_differently_declare_nothing(price: str) -> None:
    table = f'name,price,allergens\nCaesar,5,milk\nCaesar,{price},"milk, fish"\nTea,2,none\n'
    reading = menu(table)
    assert [row.values.get("allergens") for row in reading.rows][::2] == [None, []]
    assert [(each.place, each.detail) for each in reading.problems] == [("row 2", "3")]
    assert declared("name,price,allergens\nTea,5,milk\nTea,6,milk\n")[0] == ["milk"]


def test_what_stands_beyond_the_last_column_is_not_left_out_unsaid() -> None:
    far = "," * 205 + "contains peanuts"
    assert fatal(menu(f"name,price,allergens\nFlan,5,milk{far}\n")) == "too_many_columns"
    assert fatal(menu(xlsx_of([["name"], ["Flan", *[None] * 210, "nuts"]]), "m.xlsx")) == (
        "too_many_columns"
    )


def test_a_formula_without_its_result_is_not_taken_for_an_empty_cell() -> None:
    book = xlsx_of([["name", "price", "allergens", "allergens"], ["Flan", 5, "milk", '="egg"']])
    assert fatal(menu(book, "m.xlsx")) == "not_worked_out"
    part = "xl/worksheets/sheet1.xml"
    with ZipFile(BytesIO(book)) as packed:
        xml = packed.read(part).decode()
    # As Excel writes a formula that came to nothing: =IF(A2="","","egg").
    empty = re.sub(
        r'<c r="D2"[^>]*>(<f>.*</f>)<v ?/?>(?:</v>)?', r'<c r="D2" t="str">\1<v></v>', xml
    )
    assert empty != xml
    [flan] = menu(repacked(book, {part: empty}), "m.xlsx").rows
    assert flan.values["allergens"] == ["milk"]


@pytest.mark.parametrize(
    ("note", "is_about"),
    [("Contains nuts. Note: ok", True), ("Needs anchovy paste", True), ("Ana: new price", False)],
)
def test_a_note_at_a_cell_counts_as_a_whole(note: str, is_about: bool) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["name", "allergens"])
    sheet.append(["Flan", "milk"])
    sheet["A2"].comment = Comment(note, "Chef")
    book.save(content := BytesIO())
    [flan] = menu(content.getvalue(), "m.xlsx").rows
    assert flan.values["allergens"] == (None if is_about else ["milk"])


def test_another_sheet_and_the_sheets_own_name_count_for_the_dishes_they_name() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["name", "price", "allergens"], ["Flan", 5, "milk"], ["Tea", 2, "none"]):
        sheet.append(row)
    other = book.create_sheet("Kitchen")
    for row in (["what", "with"], ["Old cake", "peanuts"], [" FLAN ", "egg wash"]):
        other.append(row)
    book.save(content := BytesIO())
    rows = menu(content.getvalue(), "m.xlsx").rows
    assert [row.values["allergens"] for row in rows] == [None, []]
    other["B3"] = "caramel"
    sheet.title = "All contain nuts"
    book.save(content := BytesIO())
    rows = menu(content.getvalue(), "m.xlsx").rows
    assert [row.values["allergens"] for row in rows] == [None, None]
