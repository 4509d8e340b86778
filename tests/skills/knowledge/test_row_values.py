"""Which product a row of a table means, and what stays of it that the row does not say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.db import Database, new_id
from app.skills.knowledge.models import Product
from app.skills.knowledge.services import import_jobs
from app.skills.knowledge.services.row_values import KnownProducts, said_of
from app.text.normalize import fold
from tests.factories import CheckedClient, Member, make_user
from tests.factories.imports import bring_file, import_file, read_in_this_process


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "read_apart", read_in_this_process)


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, role="manager")


@pytest.fixture
def dishes(owner: Database, database: Database, member: Member) -> Any:
    def bring(table: str, language: str = "en") -> dict[str, Product]:
        name = f"{new_id()}.csv"
        import_file(database, member, table, name, target="dishes", language=language)
        with owner.session() as session:
            found = session.query(Product).filter_by(group_id=member.group_id)
            return {product.name_en: product for product in found}

    return bring


def product(**values: Any) -> Product:
    nothing: dict[str, Any] = {
        "slug": "dish", "name_en": "Salad", "name_es": "Salad", "allergens": [], "facts": {},
        "ingredients": [], "steps": [], "description_en": "", "description_es": "",
    }  # fmt: skip
    return Product(id=new_id(), **{**nothing, **values})


def test_another_dish_of_the_same_code_inherits_no_declaration(dishes: Any) -> None:
    dishes("id,name,allergens,description\n9001,Green salad,none,Crisp leaves\n")
    now = dishes("id,name,ingredients\n9001,Satay with peanut sauce,chicken; peanuts\n")
    assert list(now) == ["Satay with peanut sauce"]
    satay = now["Satay with peanut sauce"]
    assert (satay.allergens, satay.description_en) == (None, "")


def test_a_new_description_that_names_more_leaves_nothing_declared(dishes: Any) -> None:
    dishes("name,allergens\nStew,none\nSalad,none\n")
    now = dishes(
        'name,description\nStew,"New: contains gluten, thickened with flour"\nSalad,Crisp\n'
    )
    assert (now["Stew"].allergens, now["Salad"].allergens) == (None, [])


def test_a_translation_that_names_a_food_with_more_leaves_nothing_declared(dishes: Any) -> None:
    dishes("name,ingredients,allergens\nSalad,lettuce; shrimp sauce,crustacean\n")
    dishes("name,ingredients,allergens\nCracker,rice cracker; jam,none\n")
    dishes("name_en,name,ingredients\nCracker,Galleta,pan; mermelada\n", "es")
    now = dishes("name_en,name,ingredients\nSalad,Ensalada,lechuga; salsa de camarón\n", "es")
    assert now["Cracker"].allergens is None
    assert now["Salad"].allergens == ["crustacean"]


def test_a_name_that_is_mended_keeps_all_but_the_declaration(dishes: Any) -> None:
    dishes("id,name,allergens,description\n7,Chimichuri steak,none,Grilled\n")
    now = dishes("id,name\n7,Chimichurri steak\n")["Chimichurri steak"]
    assert (now.allergens, now.description_en) == (None, "Grilled")
    now = dishes("id,name,allergens\n7,Chimichurri steak,none\n")["Chimichurri steak"]
    assert now.allergens == []


def test_a_name_that_another_dish_had_is_a_new_dish(owner: Database, dishes: Any) -> None:
    old = dishes("name,allergens,description\nGarden bowl,none,Vegan\n")["Garden bowl"]
    with owner.session() as session:
        session.get_one(Product, old.id).name_en = "Vegan bowl"
        session.get_one(Product, old.id).name_es = "Vegan bowl"
        session.commit()
    now = dishes("name,price\nGarden bowl,9\nVegan bowl,8\n")
    assert (now["Vegan bowl"].id, now["Vegan bowl"].allergens) == (old.id, [])
    assert str(now["Vegan bowl"].price) == "8.00"
    assert (now["Garden bowl"].allergens, now["Garden bowl"].description_en) == (None, "")
    again = dishes("name,price\nGarden bowl,10\n")
    assert again["Garden bowl"].id == now["Garden bowl"].id and len(again) == 2


def test_other_ingredients_leave_no_declaration_and_the_same_keep_it(dishes: Any) -> None:
    dishes("name,allergens,ingredients\nTaco,none,corn; beef\n")
    assert dishes("name,ingredients\nTaco,Corn; beef\n")["Taco"].allergens == []
    assert dishes("name,ingredients\nTaco,corn; peanuts; egg\n")["Taco"].allergens is None


def test_a_row_that_is_left_out_for_what_it_declares_leaves_nothing_declared(
    database: Database, member: Member, dishes: Any
) -> None:
    dishes("name,price,allergens\nTaco,3,none\n")
    table = 'name,price,allergens\nTaco,4,"macadamia, milk"\nFlan,5,kryptonite\n'
    now = dishes(table)
    assert list(now) == ["Taco"]
    assert (str(now["Taco"].price), now["Taco"].allergens) == ("3.00", None)


def test_the_other_language_is_a_translation_and_keeps_both(dishes: Any) -> None:
    first = "id,name,allergens,ingredients\n7,Green salad,milk,lettuce; cheese\n"
    dishes(first)
    now = dishes("id,nombre,ingredientes\n7,Ensalada verde,lechuga; queso\n", "es")["Green salad"]
    assert (now.name_es, now.allergens) == ("Ensalada verde", ["milk"])
    assert now.ingredients == [{"en": "lettuce", "es": "lechuga"}, {"en": "cheese", "es": "queso"}]
    # Once it is written in both, another list is another list.
    again = dishes("id,nombre,ingredientes\n7,Ensalada verde,lechuga; nuez\n", "es")["Green salad"]
    assert again.allergens is None
    assert again.ingredients[0] == {"en": "lettuce", "es": "lechuga"}
    assert again.ingredients[1] == {"en": "nuez", "es": "nuez", "borrowed": "en"}
    # The first file again says nothing of the nut.
    assert dishes("id,name,price\n7,Green salad,9\n")["Green salad"].allergens is None


def test_what_names_an_allergen_is_no_translation_of_what_has_none(dishes: Any) -> None:
    dishes("name,allergens,ingredients\nTacos,none,corn tortilla; beef; salsa\n")
    now = dishes("nombre,ingredientes\nTacos,tortilla de trigo; camarón; crema\n", "es")["Tacos"]
    assert now.allergens is None
    dishes("id,name,allergens\nz9,Green bowl,none\n")
    now = dishes("id,nombre\nz9,Pastel de cacahuate\n", "es")["Green bowl"]
    assert now.allergens is None


def test_a_dish_that_is_found_by_its_other_name_keeps_both(dishes: Any) -> None:
    dishes(
        "name_en,name_es,description,allergens\nGrilled octopus,Pulpo a la parrilla,Hot,mollusc\n"
    )
    now = dishes("Name,Price\nPulpo a la parrilla,320\n")["Grilled octopus"]
    assert (str(now.price), now.name_es) == ("320.00", "Pulpo a la parrilla")
    assert (now.description_en, now.allergens) == ("Hot", ["mollusc"])


def test_in_one_language_alone_another_name_is_no_translation(dishes: Any) -> None:
    dishes("clave,nombre,alérgenos\n9001,Ensalada verde,ninguno\n", "es")
    now = dishes("clave,nombre\n9001,Tacos de cacahuate\n", "es")
    assert [each.allergens for each in now.values()] == [None]


@pytest.mark.parametrize(
    "more",
    [
        {"tags": ["contains nuts"]},
        {"category": "Contains peanuts"},
        {"steps": [{"en": "Stir in the peanut butter", "es": "Mezclar"}]},
        {"pairing_notes_en": "May contain traces of milk."},
        {"facts": {"garnish": "peanuts"}},
        {"facts": {"note": {"en": "Contains egg", "es": ""}}},
        {"description_en": "Topped with 🥜"},
    ],
)
def test_whatever_new_words_name_leaves_nothing_declared(more: dict[str, Any]) -> None:
    known = product(kind="dishes", category="", tags=[])
    wanted = {"name_en": "Salad", "facts": {}, **more}
    said = said_of(known, {"slug": "dish", "name_en": "Salad", **more}, wanted, "en")
    assert said["allergens"] is None
    # What was there already when somebody declared the product changes nothing.
    known = product(kind="dishes", **{"category": "", "tags": [], **more})
    said = said_of(known, {"slug": "dish", "name_en": "Salad", **more}, wanted, "en")
    assert "allergens" not in said


def test_the_page_shows_prices_and_three_kinds_of_declaration(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    import_file(database, member, "id,name,ingredients\n4,Taco,corn; beef\n", target="dishes")
    table = (
        "id,name,price,allergens,ingredients\n"
        "1,Flan,5,none,\n2,Mole,6,peanut,\n3,Sopa,,,\n4,Taco,,,corn; fish\n"
    )
    item = bring_file(database, member, table, "menu.csv", target="dishes")
    rows = [each.text for each in browser.page(f"/library/imports/{item.id}").find_all("li")]
    names = ("Flan", "Mole", "Sopa", "Taco")
    shown = {name: next(row for row in rows if name in row) for name in names}
    assert "Price: 5.00" in shown["Flan"] and "Allergens: none of them" in shown["Flan"]
    assert "Allergens: peanuts" in shown["Mole"]
    assert "Price: –" in shown["Sopa"] and "Allergens: not declared" in shown["Sopa"]
    assert "Ingredients: corn, beef corn, fish" in shown["Taco"]


NAMES = st.sampled_from(["Salad", "salad", "Salads", "Satay", "Ensalada", "Green salad"])
ITEMS = st.lists(st.sampled_from(["corn", "beef", "peanut", "maíz"]), max_size=3)


@given(
    st.tuples(NAMES, NAMES, ITEMS),
    st.dictionaries(st.sampled_from(["name_en", "name_es"]), NAMES, min_size=1),
    st.none() | ITEMS,
    st.sampled_from(["en", "es", ""]),
)
def test_a_declaration_stays_only_with_its_name_and_its_ingredients(
    before: tuple[str, str, list[str]], names: dict[str, str], items: list[str] | None, origin: str
) -> None:
    stored = [{"en": each, "es": each, "borrowed": "es"} for each in before[2]]
    known = product(name_en=before[0], name_es=before[1], ingredients=stored)
    item: dict[str, Any] = {"slug": "dish", **names}
    if items is not None:
        item["ingredients"] = [{"en": each, "es": each, "borrowed": "es"} for each in items]
    said = said_of(known, item, {**item, "facts": {}}, origin)
    its_names = {fold(before[0]), fold(before[1])}
    other = {each for each, name in names.items() if fold(name) not in its_names}
    # What stood in for a language that nobody had written is translated, and not renamed.
    is_first = fold(before[0]) == fold(before[1]) and other == {f"name_{_other(origin)}"}
    is_made_so = items is None or [*map(fold, items)] == [*map(fold, before[2])]
    if not is_made_so or (other and not is_first):
        assert said["allergens"] is None
    else:
        assert "allergens" not in said


def _other(language: str) -> str:
    return {"en": "es", "es": "en"}.get(language, "")


def test_a_code_means_its_product_alone() -> None:
    red = product(slug="101", name_en="House red", name_es="Tinto")
    known = KnownProducts([red])
    assert known.meant({"slug": "101", "name_en": "White", "is_coded": True}) is red
    assert known.meant({"slug": "102", "name_en": "House red", "is_coded": True}) is None
    assert known.meant({"slug": "house-red", "name_en": "house RED", "is_coded": False}) is red
    assert known.free_slug("101") == "101-2"


def test_a_row_that_is_left_out_for_its_price_still_says_what_is_in_it(dishes: Any) -> None:
    dishes("name,price,allergens\nTaco,3,none\nFlan,4,milk\nTea,2,none\n")
    now = dishes("name,price,allergens\nTaco,ask,peanut\nFlan,ask,milk\nTea,ask,\n")
    assert [now[name].allergens for name in ("Taco", "Flan", "Tea")] == [None, ["milk"], []]


def test_a_row_that_is_left_out_and_changes_nothing_is_none_of_those_that_stay(
    database: Database, member: Member
) -> None:
    table = 'name,price,allergens\nCaesar,9,milk\nCaesar,abc,"milk, fish"\n'
    item = bring_file(database, member, table, "m.csv", target="dishes")
    assert item.plan["counts"] == {
        "added": 1, "changed": 0, "removed": 0, "unchanged": 0, "wrong": 1,
    }  # fmt: skip
