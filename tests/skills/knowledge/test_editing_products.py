"""Writing the menu in web pages: products, prices, allergens, tags, and who may."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app import demo
from app.accounts.models import AuditEntry
from app.db import Database, new_id
from app.errors import InvalidInput
from app.retrieval.models import SearchDocument
from app.retrieval.search import SearchRequest, search
from app.skills.knowledge.models import PRODUCT_KINDS, LibraryRevision, Product
from app.skills.knowledge.services.categories import Codes
from app.skills.knowledge.services.library_lock import lock_library
from app.skills.knowledge.services.prices import parse_price
from app.skills.knowledge.web.forms import draft_of_product, form_of
from app.text.yaml_file import read_yaml
from tests.factories import CheckedClient, Member, make_product, make_user, sign_in
from tests.growth import check_growth


@pytest.fixture
def editor(owner: Database) -> Member:
    return make_user(owner, role="manager", name="Ana")


@pytest.fixture
def browser(app: Flask, owner: Database, editor: Member) -> CheckedClient:
    return sign_in(app, owner, editor)


@pytest.fixture
def product(owner: Database, editor: Member) -> Product:
    return make_product(owner, editor.group_id)


def at(product: Product) -> str:
    return f"/library/edit/products/{product.id}"


def typed(browser: CheckedClient, path: str, **changes: Any) -> dict[str, Any]:
    """What the form of a page holds, with changes; None leaves a field out."""
    form = browser.page(path).find("form", **{"class": "editor"})
    fields: dict[str, Any] = {}
    for element in form:
        name, kind = element.attributes.get("name"), element.attributes.get("type")
        if not name or element.tag not in ("input", "textarea") or name == "csrf_token":
            continue
        if kind in ("checkbox", "radio") and "checked" not in element.attributes:
            continue
        value = element.text if element.tag == "textarea" else element.attributes.get("value", "on")
        fields.setdefault(name, []).append(value)
    return {name: value for name, value in (fields | changes).items() if value is not None}


def now(owner: Database, product: Product) -> Product:
    with owner.session() as session:
        return session.get_one(Product, product.id)


def found(app: Flask, member: Member, words: str) -> list[str]:
    with app.extensions["comanda"].database.session(member.scope) as session:
        outcome = search(session, SearchRequest(words, language="en"), None)
    return [hit.title for hit in outcome.hits]


# Prices


@pytest.mark.parametrize(
    ("written", "price"),
    [
        ("", None),
        ("12", "12.00"),
        ("12.5", "12.50"),
        ("12,50", "12.50"),
        ("$ 12.50", "12.50"),
        ("1,250", "1250.00"),
        ("1.250", "1250.00"),
        ("1,250.50", "1250.50"),
        ("1.250,50", "1250.50"),
        ("12,345,678", InvalidInput),
        ("1.2.3", InvalidInput),
        ("1,250,50", InvalidInput),
        ("12.5555", InvalidInput),
        ("-3", InvalidInput),
        ("free", InvalidInput),
        ("1e9", InvalidInput),
        ("9999999999", InvalidInput),
        ("١٢", "12.00"),
    ],
)
def test_a_price_is_read_in_both_decimal_styles(written: str, price: Any) -> None:
    if price is InvalidInput:
        with pytest.raises(InvalidInput):
            parse_price(written)
    else:
        assert parse_price(written) == (Decimal(price) if price else None)


# Products


@pytest.mark.parametrize("kind", PRODUCT_KINDS)
def test_a_new_product_of_each_kind_is_found_at_once(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient, kind: str
) -> None:
    path = f"/library/edit/products/new/{kind}"
    form = typed(browser, path, name_en="Zarzuela", description_en="Saffron.", price="12,50",
                 declaration="none", tag=["House", "New thing"], category="Seafood",
                 ingredient_en=["fish", ""], ingredient_es=["pescado", "sal"])  # fmt: skip
    answer = browser.post(path, **form)
    assert answer.status_code == 303, answer.text
    assert browser.post(path, **form).location == answer.location
    with owner.session() as session:
        [made] = session.scalars(select(Product).where(Product.group_id == editor.group_id))
    assert (made.kind, made.slug, made.name_es) == (kind, "zarzuela", "Zarzuela")
    assert (made.price, made.allergens) == (Decimal("12.50"), [])
    assert (made.category, made.tags) == ("seafood", ["house", "new thing"])
    assert [item["en"] for item in made.ingredients] == ["fish", "sal"]
    assert found(app, editor, "saffron") == ["Zarzuela"]
    page = browser.page(answer.location)
    assert "by meaning in a moment" in page.text
    assert browser.page(f"/library/{kind}/zarzuela").find("h1").text == "Zarzuela"


def test_a_form_that_made_a_product_says_so_before_it_makes_another(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    path = "/library/edit/products/new/dishes"
    form = typed(browser, path, name_en="Paella", declaration="none", price="12")
    assert browser.post(path, **form).status_code == 303
    assert browser.post(path, **form).status_code == 303
    response = browser.post(path, **{**form, "name_en": "Fideuá"})
    page = browser._page(response, 409)
    assert "This page was already saved once, with different text." in page.text
    assert page.find("input", name="name_en").attributes["value"] == "Fideuá"
    fresh = page.find("input", name="product_id").attributes["value"]
    again = browser.post(path, **{**form, "name_en": "Fideuá", "product_id": fresh})
    assert again.status_code == 303
    with owner.session() as session:
        names = session.scalars(
            select(Product.name_en).where(Product.group_id == editor.group_id).order_by(Product.id)
        )
        assert sorted(names) == ["Fideuá", "Paella"]


@pytest.mark.fault(65)
def test_while_an_import_holds_the_library_nobody_waits_and_what_was_typed_stays(
    database: Database, owner: Database, editor: Member, browser: CheckedClient, product: Product
) -> None:
    form = typed(browser, at(product), price=["99"])
    new = typed(browser, "/library/edit/products/new/dishes", name_en=["Paella"],
                declaration=["unknown"])  # fmt: skip
    with database.transaction(editor.scope) as session:
        lock_library(session)
        for address, sent in ((at(product), form), ("/library/edit/products/new/dishes", new)):
            page = browser._page(browser.post(address, **sent), 422)
            assert "A file is being imported into the library" in page.text
            typed_ = page.find("form", **{"class": "editor"})
            assert any(each.attributes.get("value") in ("99", "Paella") for each in typed_)
    assert browser.post(at(product), **form).status_code == 303
    assert now(owner, product).price == Decimal("99.00")


def test_a_form_that_nobody_changed_changes_nothing(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(
        owner, editor.group_id, "recipes", "mole", category="mexican",
        cuisine="mexican", difficulty="easy", allergens=["sesame", "nut-of-old"],
        tags=["vegan", "sin tacc"],
        ingredients=[
            {"en": "flour", "es": "harina", "quantity": 2.5, "unit": "tsp", "note_en": "sifted"},
            {"en": "salt", "es": "sal"},
        ],
        steps=[{"en": "Mix.", "es": "Mezcla.", "timer_minutes": 5}],
    )  # fmt: skip
    assert browser.post(at(product), **typed(browser, at(product))).status_code == 303
    assert now(owner, product).version == 1


def test_a_form_that_nobody_touched_changes_no_recipe_of_the_demo(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    """Whatever there is of an ingredient or a step stands in the form."""
    folder = Path(demo.__file__).parent
    files = sorted(folder.rglob("recipes/*.yaml"))
    recipes = [recipe for file in files for recipe in read_yaml(file)]
    assert len(recipes) > 50
    for number, recipe in enumerate(recipes):
        items = {name: recipe[name] for name in ("ingredients", "steps")}
        facts = {"category": "mexican", "cuisine": "mexican", **items}
        product = make_product(owner, editor.group_id, "recipes", f"demo-{number}", **facts)
        draft = draft_of_product(form_of(product, "en"), product, (), ())
        assert (draft.ingredients, draft.steps) == (product.ingredients, product.steps)
        if number % 20 == 0:
            assert browser.post(at(product), **typed(browser, at(product))).status_code == 303
            assert now(owner, product).version == 1


def test_a_note_is_seen_with_its_ingredient_and_goes_where_it_is_taken_away(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    items = [
        {"en": "macaroni", "es": "coditos", "note_en": "without egg", "note_es": "sin huevo"},
        {"en": "flour", "es": "harina", "note_en": "for the gravy"},
        {"en": "flour", "es": "harina", "note_en": "for the biscuits"},
    ]
    facts: dict[str, Any] = {"category": "italian", "cuisine": "italian", "ingredients": items}
    product = make_product(owner, editor.group_id, "recipes", "mac", **facts)
    form = typed(browser, at(product))
    assert form["ingredient_note_en"][:3] == ["without egg", "for the gravy", "for the biscuits"]
    assert browser.post(at(product), **form).status_code == 303
    assert now(owner, product).ingredients == items
    for language in ("en", "es"):
        form[f"ingredient_{language}"][0] = "tagliatelle"
        form[f"ingredient_note_{language}"][0] = ""
    assert browser.post(at(product), **form).status_code == 303
    assert now(owner, product).ingredients == [
        {"en": "tagliatelle", "es": "tagliatelle"}, *items[1:],
    ]  # fmt: skip


def test_a_row_that_does_not_say_of_what_is_asked_about(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, editor.group_id, "recipes", f"row-{new_id()}", ingredients=[])
    amounts = {"ingredient_quantity": ["40"], "ingredient_note_en": ["ground PEANUTS"]}
    names = {"ingredient_en": [""], "ingredient_es": [""]}
    page = browser._page(
        browser.post(at(product), **typed(browser, at(product), **names, **amounts)), 422
    )
    assert "A row has an amount or a note but does not say what it is for." in page.text
    notes = page.find_all("input", name="ingredient_note_en")
    assert notes[0].attributes["value"] == "ground PEANUTS"


@pytest.mark.parametrize(
    ("written", "stored"),
    [("1,500", 1500), ("0,5", 0.5), ("2.5", 2.5), ("0,250", 0.25), ("1.250", None), ("9 32", None)],
)
def test_an_amount_is_read_as_a_number_of_a_form_is(
    owner: Database, editor: Member, browser: CheckedClient, written: str, stored: float | None
) -> None:
    product = make_product(owner, editor.group_id, "recipes", f"amount-{new_id()}")
    amounts = {"ingredient_quantity": [written], "ingredient_unit": ["g"]}
    names = {"ingredient_en": ["flour"], "ingredient_es": ["harina"]}
    answer = browser.post(at(product), **typed(browser, at(product), **names, **amounts))
    assert answer.status_code == (303 if stored else 422)
    if stored:
        assert now(owner, product).ingredients[0]["quantity"] == stored


def test_what_a_form_shows_of_an_ingredient_is_kept(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    first = {"en": "flour", "es": "harina", "quantity": 300, "unit": "g", "note_en": "sifted"}
    product = make_product(owner, editor.group_id, "recipes", "mole", ingredients=[first])
    form = typed(browser, at(product), ingredient_en=["wheat flour"], ingredient_es=["harina"],
                 ingredient_quantity=["0,5"], ingredient_unit=["kg"])  # fmt: skip
    browser.post(at(product), **form)
    expected = {**first, "en": "wheat flour", "quantity": 0.5, "unit": "kg"}
    assert now(owner, product).ingredients == [expected]
    assert (
        browser.post(at(product), **{**form, "ingredient_quantity": ["a lot"]}).status_code == 422
    )


def test_a_recipes_category_is_its_cuisine_too(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, editor.group_id, "recipes", "mole", cuisine="mexican")
    browser.post(at(product), **typed(browser, at(product), category="Italian"))
    saved = now(owner, product)
    assert (saved.category, saved.facts["cuisine"]) == ("italian", "italian")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name_en": "", "name_es": " "}, "Give it a name"),
        ({"name_es": "x" * 121}, "at most 120 characters"),
        ({"price": "-4"}, "cannot be below zero"),
        ({"price": "99999999"}, "That price is too high. Check the number."),
        ({"price": "cheap"}, "Enter a price like"),
        ({"allergens": ["plutonium"], "declaration": "list"}, "no such allergen"),
        (
            {"allergens": None, "declaration": "list"},
            "Select what it has, or say that it has none.",
        ),
        (
            {"allergens": ["milk"], "declaration": "none"},
            "Some allergens are checked: say that it has these",
        ),
        ({"declaration": None}, "Choose one of the three options."),
        ({"tag": ["x" * 61]}, "at most 60 characters"),
        ({"ingredient_en": ["x"] * 101, "ingredient_es": ["x"] * 101}, "too many"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said_and_nothing_typed_is_lost(
    owner: Database,
    browser: CheckedClient,
    product: Product,
    wrong: dict[str, Any],
    message: str,
) -> None:
    form = typed(browser, at(product), **{"description_en": "Every word.", **wrong})
    response = browser.post(at(product), **form)
    assert response.status_code == 422, response.text
    assert message in response.text
    assert "Every word." in response.text
    assert now(owner, product).version == 1


def test_who_saves_second_sees_what_the_other_saved(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient, product: Product
) -> None:
    mine = typed(browser, at(product), price="50.00", description_en="Mine.")
    other = sign_in(app, owner, make_user(owner, editor.group_id, "admin", name="Luis"))
    other.post(at(product), **typed(other, at(product), price="49.00"))
    page = browser._page(browser.post(at(product), **mine), 409)
    theirs = page.find("dl", **{"class": "theirs"}).text
    assert "49.00" in theirs
    assert page.find("input", name="price").attributes["value"] == "50.00"
    assert now(owner, product).price == Decimal("49.00")
    again = {**mine, "version": 2}
    assert browser.post(at(product), **again).status_code == 303
    assert now(owner, product).price == Decimal("50.00")


def test_a_product_that_was_removed_gives_the_words_back(
    owner: Database, browser: CheckedClient, product: Product
) -> None:
    form = typed(browser, at(product), description_en="Three hours of work.")
    with owner.transaction() as session:
        session.delete(session.get_one(Product, product.id))
    page = browser._page(browser.post(at(product), **form), 404)
    assert (
        "This was removed in the meantime. What you typed is still here; "
        "saving puts it on the menu as something new." in page.text
    )
    assert page.find("textarea", name="description_en").text == "Three hours of work."


@pytest.mark.fault(56)
def test_of_thousands_of_rows_no_more_is_drawn_than_there_may_be(
    browser: CheckedClient, product: Product
) -> None:
    many = {"ingredient_en": ["a"] * 5_000, "allergens": ["a1"] * 3_000, "tag": ["t"] * 2_000}
    typed = {"name_en": "Stew", "name_es": "Guiso", "declaration": "unknown", **many}
    answer = browser.post("/library/edit/products/new/recipes", **typed)
    assert answer.status_code == 422
    assert len(answer.data) < 500_000


def test_more_rows_come_without_saving(browser: CheckedClient, product: Product) -> None:
    form = typed(browser, at(product), name_en="Not saved", action="rows")
    page = browser._page(browser.post(at(product), **form), 200)
    assert page.find("input", name="name_en").attributes["value"] == "Not saved"
    assert page.find("h1").text == "Ribeye"


def test_what_is_off_the_menu_is_listed_and_comes_back(
    owner: Database, browser: CheckedClient, product: Product
) -> None:
    browser.post(at(product), **typed(browser, at(product), is_active=None))
    assert browser.get("/library/dishes/ribeye").status_code == 404
    assert "Ribeye" in browser.page("/library/edit/hidden").text
    browser.post(at(product), **typed(browser, at(product), is_active="on"))
    assert browser.get("/library/dishes/ribeye").status_code == 200


# Allergens


def test_a_declaration_is_never_reset_by_saving_something_else(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    for slug, allergens in (("some", ["milk"]), ("none", []), ("unknown", None)):
        product = make_product(owner, editor.group_id, slug=slug, allergens=allergens)
        browser.post(at(product), **typed(browser, at(product), price="9.00"))
        assert now(owner, product).allergens == allergens


def test_a_missing_declaration_is_seen_and_mended_at_once(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, editor.group_id, allergens=None)
    make_product(owner, editor.group_id, slug="flan", name_en="Flan", allergens=[])
    index = browser.page("/library/").find("nav", id="editor-tools").text
    assert "Allergens not declared 1" in " ".join(index.split())
    page = browser.page("/library/edit/allergens?show=missing")
    assert "Nobody has declared the allergens of 1 menu item." in page.text
    assert "Flan" not in page.text
    address = f"/library/edit/allergens/{product.id}"
    wrong = browser.post_fragment(address, 422, version=1, declaration="list")
    assert "Select what it has, or say that it has none." in wrong.text
    line = browser.post_fragment(
        address, version=1, declaration="list", allergens=["gluten", "milk"]
    )
    assert "Milk" in line.text
    assert line.find_all("form") == []
    saved = now(owner, product)
    assert saved.allergens == ["milk", "gluten"]
    with owner.session() as session:
        [document] = session.scalars(
            select(SearchDocument).where(SearchDocument.source_id == product.id)
        )
        [audit] = session.scalars(select(AuditEntry).where(AuditEntry.group_id == editor.group_id))
        [revision] = session.scalars(
            select(LibraryRevision).where(
                LibraryRevision.entity_id == product.id, LibraryRevision.version > 0
            )
        )
    assert document.details["allergens"] == ["milk", "gluten"]
    assert audit.action == "allergens_declared"
    assert revision.author_id == editor.user_id
    # Somebody else's page of before: told, and not written over.
    stale = browser.post(address, version=1, declaration="none")
    assert stale.status_code == 409
    assert now(owner, product).allergens == ["milk", "gluten"]
    # Nor after a mistake on it.
    shown = browser.post_fragment(address, 422, version=1, declaration="list")
    assert shown.find("input", name="version").attributes["value"] == "1"
    assert (
        "Allergens are declared for everything on the menu."
        in browser.page("/library/edit/allergens").text
    )


def test_none_declared_is_not_the_same_as_not_declared(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, editor.group_id, allergens=None)
    address = f"/library/edit/allergens/{product.id}"
    assert browser.post(address, version=1, declaration="none").status_code == 303
    assert now(owner, product).allergens == []


# Tags


def test_a_tag_is_renamed_on_everything_and_merged_with_another(
    app: Flask, owner: Database, editor: Member, browser: CheckedClient
) -> None:
    dish = make_product(owner, editor.group_id, tags=["spicey", "house"])
    wine = make_product(owner, editor.group_id, "wines", "malbec", tags=["spicey", "spicy"])
    elsewhere = make_product(owner, make_user(owner).group_id, tags=["spicey"])
    page = browser.page("/library/edit/tags")
    assert len(page.find("tbody").find_all("tr")) == 3
    renamed = browser.press(page, "/library/edit/tags", tag="spicey", name="Picante")
    assert renamed.status_code == 303
    assert now(owner, dish).tags == ["spicy", "house"]
    assert now(owner, wine).tags == ["spicy"]
    assert now(owner, elsewhere).tags == ["spicey"]
    assert now(owner, dish).version == 2
    assert len(found(app, editor, "spicy")) == 2
    empty = browser.post("/library/edit/tags", tag="house", name=" ")
    assert empty.status_code == 422
    assert "Enter the new name." in empty.text
    assert browser.post("/library/edit/tags", tag="gone", name="x").status_code == 404


@pytest.mark.fault(66)
def test_tags_have_a_limit(
    owner: Database, editor: Member, browser: CheckedClient, product: Product,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    make_product(owner, editor.group_id, slug="other", tags=["smoky", "raw"])
    monkeypatch.setattr("app.skills.knowledge.services.menu_limits.MOST_TAGS_IN_ALL", 3)
    form = typed(browser, at(product), tag=["Smoky", "raw", "new one"])
    assert browser.post(at(product), **form).status_code == 303
    assert now(owner, product).tags == ["smoky", "raw", "new one"]
    full = browser.post(at(product), **typed(browser, at(product), tag=["smoky", "one more"]))
    assert full.status_code == 422 and "The menu already has 3 different tags" in full.text
    monkeypatch.setattr("app.skills.knowledge.services.menu_limits.MOST_TAGS", 1)
    # What it has already it may keep, but no more.
    tags = ["smoky", "raw", "new one", "hot"]
    many = browser.post(at(product), **typed(browser, at(product), tag=tags))
    assert many.status_code == 422 and "at most 1" in many.text


@pytest.mark.fault(66)
def test_looking_up_tags_costs_what_they_are() -> None:
    def work(size: int) -> Callable[[], None]:
        def look_up() -> None:
            codes = Codes([f"tag-{number}" for number in range(size)])
            for number in range(size):
                assert codes.code_for(f"Tag {number}") == f"tag-{number}"

        return look_up

    check_growth(work, 500)


def test_an_empty_tags_page_says_so(browser: CheckedClient) -> None:
    assert "Nothing on the menu has a tag yet." in browser.page("/library/edit/tags").text


# Whose, who, and how


def test_another_groups_product_does_not_exist(app: Flask, owner: Database) -> None:
    theirs = make_product(owner, make_user(owner).group_id)
    browser = sign_in(app, owner, make_user(owner, role="admin"))
    assert browser.get(at(theirs)).status_code == 404
    form = {"kind": "dishes", "name_en": "Mine", "version": 1, "declaration": "none"}
    assert browser.post(at(theirs), **form).status_code == 404
    address = f"/library/edit/allergens/{theirs.id}"
    assert browser.post(address, version=1, declaration="none").status_code == 404
    assert browser.get("/library/edit/menu/dishes/ribeye").status_code == 404
    assert now(owner, theirs).version == 1


def test_staff_may_not_edit_the_menu(
    app: Flask, owner: Database, editor: Member, product: Product
) -> None:
    browser = sign_in(app, owner, make_user(owner, editor.group_id))
    assert browser.get(at(product)).status_code == 403
    for path in (at(product), f"/library/edit/allergens/{product.id}", "/library/edit/tags"):
        assert browser.post(path, version=1).status_code == 403
    assert "/library/edit/" not in browser.get("/library/dishes/ribeye").text


def test_wrong_kinds_and_methods_are_refused(browser: CheckedClient, product: Product) -> None:
    assert browser.get("/library/edit/products/new/gossip").status_code == 404
    assert browser.post("/library/edit/products/new/gossip").status_code == 404
    assert browser.get(f"/library/edit/allergens/{product.id}").status_code == 405
    assert browser.post(at(product), token=False).status_code == 400


def test_one_of_another_name_in_the_same_group_gets_its_own_address(
    owner: Database, editor: Member, browser: CheckedClient, product: Product
) -> None:
    path = "/library/edit/products/new/dishes"
    browser.post(path, **typed(browser, path, name_en="Ribeye", declaration="unknown"))
    with owner.session() as session:
        query = select(func.array_agg(Product.slug)).where(Product.group_id == editor.group_id)
        assert sorted(session.scalar(query) or []) == ["ribeye", "ribeye-2"]


@pytest.mark.parametrize("kind", PRODUCT_KINDS)
def test_the_page_of_a_new_one_is_there_however_it_is_asked_for(
    browser: CheckedClient, kind: str
) -> None:
    page = browser.page(f"/library/edit/products/new/{kind}?saved=1")
    assert "Saved." not in page.text
