"""How much menus hold, whoever writes it: an editor, a file, or one who renames a tag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, text

from app.db import Database, new_id
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import LibraryImport, LibraryRevision, Product
from app.skills.knowledge.nlu.hints import find_hints
from app.skills.knowledge.services import import_jobs, menu_limits, menu_upkeep
from app.skills.knowledge.services.categories import categories_in_use, tags_in_use
from app.skills.knowledge.services.menu_limits import MenuCounts, find_overflow
from app.skills.knowledge.services.menu_upkeep import rename_tag, sign_tags
from app.skills.knowledge.services.menus import list_choices
from app.skills.knowledge.services.search_sources import LONGEST_TEXT, product_text
from tests.factories import CheckedClient, Member, make_product, make_user, sign_in
from tests.factories.imports import apply_file, bring_file, import_file, read_in_this_process
from tests.growth import check_growth
from tests.statements import noted_statements


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "read_apart", read_in_this_process)


@pytest.fixture
def editor(owner: Database) -> Member:
    return make_user(owner, role="manager")


@pytest.fixture
def browser(app: Flask, owner: Database, editor: Member) -> CheckedClient:
    return sign_in(app, owner, editor)


@pytest.fixture
def bring(database: Database, editor: Member) -> Callable[..., LibraryImport]:
    def bring_menu(table: str, target: str = "dishes") -> LibraryImport:
        return bring_file(database, editor, table, f"{new_id()}.csv", target=target)

    return bring_menu


def steps(count: int, each: str = "a" * 10_000) -> list[dict[str, str]]:
    return [{"en": each, "es": each} for _ in range(count)]


def form_of(product: Product, **changes: Any) -> dict[str, Any]:
    made = {"name_en": product.name_en, "name_es": product.name_es, "declaration": "unknown"}
    return {"version": product.version, "kind": product.kind, **made, **changes}


def at(product: Product) -> str:
    return f"/library/edit/products/{product.id}"


NEW = "/library/edit/products/new/dishes"


def new(**changes: Any) -> dict[str, Any]:
    return {"product_id": str(new_id()), "name_en": "Paella", "declaration": "none", **changes}


def stored(owner: Database, member: Member) -> dict[str, Product]:
    with owner.session() as session:
        query = select(Product).where(Product.group_id == member.group_id)
        return {product.name_en: product for product in session.scalars(query)}


# What an editor writes


@pytest.mark.fault(67)
def test_the_texts_of_a_product_have_a_limit_together_and_nothing_typed_is_lost(
    browser: CheckedClient,
) -> None:
    long = ["a" * 9_000] * 3
    answer = browser.post(NEW, **new(step_en=long, step_es=long, description_en="Every word."))
    page = browser._page(answer, 422)
    assert "can have at most 50,000 characters in total" in page.text
    assert page.find("textarea", name="description_en").text == "Every word."
    assert len(page.find_all("textarea", name="step_en")[0].text) == 9_000
    short = ["a" * 8_000] * 3
    assert browser.post(NEW, **new(step_en=short, step_es=short)).status_code == 303


@pytest.mark.fault(67)
def test_a_product_that_is_too_long_already_is_read_and_may_become_shorter(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    product = make_product(owner, editor.group_id, "recipes", "mole", steps=steps(4))
    browser.page("/library/recipes/mole")
    browser.page(at(product))
    shorter = ["a" * 9_000] * 4
    answer = browser.post(at(product), **form_of(product, step_en=shorter, step_es=shorter))
    assert answer.status_code == 303
    again = stored(owner, editor)["Ribeye"]
    longer = ["a" * 9_500] * 4
    answer = browser.post(at(again), **form_of(again, step_en=longer, step_es=longer))
    assert answer.status_code == 422


@pytest.mark.fault(67)
def test_the_menus_have_so_many_products_and_what_is_off_them_counts(
    owner: Database, editor: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_product(owner, editor.group_id, "wines", "malbec", is_active=False)
    make_product(owner, make_user(owner).group_id)
    monkeypatch.setattr(menu_limits, "MOST_PRODUCTS", 2)
    form = new()
    assert browser.post(NEW, **form).status_code == 303
    # The same form once more makes nothing new.
    assert browser.post(NEW, **form).status_code == 303
    page = browser._page(browser.post(NEW, **new(name_en="Fideuá")), 422)
    assert "The menus have 2 products" in page.text
    assert page.find("input", name="name_en").attributes["value"] == "Fideuá"


@pytest.mark.fault(67)
def test_a_menu_has_so_many_categories(
    owner: Database, editor: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = make_product(owner, editor.group_id, category="steaks")
    make_product(owner, editor.group_id, "wines", "malbec", category="red")
    monkeypatch.setattr(menu_limits, "MOST_CATEGORIES", 1)
    page = browser._page(browser.post(NEW, **new(category="Rice dishes")), 422)
    assert "This menu has 1 different categories" in page.text
    assert page.find("input", name="category").attributes["value"] == "Rice dishes"
    assert browser.post(NEW, **new(category="Steaks")).status_code == 303
    assert browser.post(NEW, **new(category="")).status_code == 303
    kept = form_of(product, category="steaks")
    assert browser.post(at(product), **kept).status_code == 303


@pytest.mark.fault(67)
def test_one_with_more_tags_than_there_may_be_keeps_them_or_loses_some(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    tags = [f"tag {number}" for number in range(43)]
    product = make_product(owner, editor.group_id, tags=tags)
    assert browser.post(at(product), **form_of(product, tag=tags[1:])).status_code == 303
    now = stored(owner, editor)["Ribeye"]
    assert browser.post(at(now), **form_of(now, tag=tags)).status_code == 422


# What a file brings


@pytest.mark.fault(67)
def test_a_row_with_too_many_tags_is_left_out_and_told(
    database: Database, owner: Database, editor: Member, bring: Any, browser: CheckedClient
) -> None:
    many = ";".join(f"tag {number}" for number in range(41))
    item = bring(f"name,tags\nTaco,{many}\nFlan,sweet;cold\n")
    assert item.problems == [["row 2", "too_many_items", "tags", False]]
    assert (item.plan["counts"]["added"], item.plan["counts"]["wrong"]) == (1, 1)
    assert "“tags” has more than 40 items" in browser.page(f"/library/imports/{item.id}").text
    apply_file(database, editor, item)
    assert list(stored(owner, editor)) == ["Flan"]


@pytest.mark.fault(67)
def test_a_row_that_makes_a_product_too_long_is_left_out_and_told(
    owner: Database, editor: Member, bring: Any, browser: CheckedClient
) -> None:
    make_product(owner, editor.group_id, name_en="Mole", name_es="Mole", slug="mole",
                 steps=steps(2))  # fmt: skip
    item = bring(f"name,description\nMole,{'b' * 10_000}\nFlan,Cold\n")
    assert item.problems == [["row 2", "product_too_long", "", False]]
    assert item.plan["counts"]["added"] == 1
    assert (
        "add up to more than 50,000 characters" in browser.page(f"/library/imports/{item.id}").text
    )
    # What says less of it is no matter.
    assert bring("name,price\nMole,9\n").problems == []


@pytest.mark.fault(67)
def test_a_product_that_is_too_long_already_is_changed_by_a_file_as_long_as_it_does_not_grow(
    owner: Database, editor: Member, bring: Any
) -> None:
    make_product(owner, editor.group_id, name_en="Mole", name_es="Mole", slug="mole",
                 steps=steps(4), tags=[f"tag {number}" for number in range(50)])  # fmt: skip
    item = bring("name,price,description\nMole,9,Dark\n")
    assert (item.problems, item.plan["counts"]["changed"]) == ([], 1)


@pytest.mark.fault(67)
@pytest.mark.parametrize(
    ("limit", "code", "number", "told"),
    [
        ("MOST_PRODUCTS", "menu_full", "3", "the menus would have 3 products"),
        ("MOST_TAGS_IN_ALL", "too_many_tags", "4", "would have 4 different tags"),
        ("MOST_CATEGORIES", "too_many_categories", "3", "would have 3 different categories"),
    ],
)
def test_a_file_that_brings_more_than_menus_hold_is_refused(
    database: Database, owner: Database, editor: Member, bring: Any, browser: CheckedClient,
    monkeypatch: pytest.MonkeyPatch, limit: str, code: str, number: str, told: str,
) -> None:  # fmt: skip
    """`number` is what there would be of it, after three dishes with four tags in all."""
    import_file(database, editor, "name,category,tags\nTaco,street,corn\n", "a.csv",
                target="dishes")  # fmt: skip
    monkeypatch.setattr(menu_limits, limit, 2)
    more = "name,category,tags\nTaco,street,corn;hot\nFlan,sweet,cold\nPaella,rice,dry\n"
    item = bring(more)
    assert (item.status, item.problems) == ("failed", [["", code, number, True]])
    assert told in browser.page(f"/library/imports/{item.id}").text
    assert list(stored(owner, editor)) == ["Taco"]
    # What is there may still be changed, and one of the same may come.
    assert bring("name,price\nTaco,9\n").status == "ready"
    assert bring("name,category,tags\nBurrito,street,corn\n").status == "ready"


@pytest.mark.fault(67)
def test_what_others_have_brought_meanwhile_counts_when_a_file_is_applied(
    database: Database, owner: Database, editor: Member, bring: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(menu_limits, "MOST_PRODUCTS", 2)
    first, second = bring("name\nTaco\nFlan\n"), bring("name\nMalbec\n", "wines")
    assert apply_file(database, editor, first).status == "applied"
    second = apply_file(database, editor, second)
    assert (second.status, second.problems) == ("failed", [["", "menu_full", "3", True]])
    assert set(stored(owner, editor)) == {"Taco", "Flan"}


@pytest.mark.fault(67)
def test_counting_what_there_would_be_costs_what_there_is() -> None:
    def work(size: int) -> Callable[[], object]:
        counts = MenuCounts(0, {f"tag {n}": 1 for n in range(size)}, {})
        changed = [
            ({"tags": [f"tag {n}"], "category": ""}, Product(tags=[f"new {n}"], category=f"c{n}"))
            for n in range(size)
        ]
        return lambda: find_overflow(counts, changed)

    check_growth(work, 2_000)


# What is read of it


@pytest.mark.fault(67)
def test_lists_read_nothing_long_of_products(
    owner: Database, editor: Member, browser: CheckedClient
) -> None:
    make_product(owner, editor.group_id, allergens=None)
    make_product(owner, editor.group_id, slug="off", is_active=False)
    pages = (
        "/library/dishes?without=milk", "/library/edit/allergens", "/library/edit/hidden",
        "/library/search?q=ribeye",
    )  # fmt: skip
    for address in pages:
        with noted_statements() as statements:
            assert "Ribeye" in browser.page(address).text
        read = [each for each in statements if "products.name_en" in each.partition("FROM")[0]]
        assert read, address
        for column in ("ingredients", "steps", "pairing_notes_en", "facts"):
            assert not [each for each in read if f"products.{column}" in each], address


@pytest.mark.fault(67)
def test_what_there_is_to_choose_from_is_read_as_far_as_there_may_be(
    database: Database, owner: Database, editor: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_product(owner, editor.group_id, slug=f"d{number}", category=f"c{number}",
                     tags=[f"t{number}"])  # fmt: skip
    for module in ("categories", "menus"):
        for limit in ("MOST_CATEGORIES", "MOST_TAGS_IN_ALL"):
            monkeypatch.setattr(f"app.skills.knowledge.services.{module}.{limit}", 2)
    with database.session(editor.scope) as session:
        choices = list_choices(session, "dishes")
        assert (choices.categories, choices.tags) == (["c0", "c1"], ["t0", "t1"])
        assert categories_in_use(session, "dishes") == ["c0", "c1"]
        assert tags_in_use(session) == {"t0": 1, "t1": 1}


@pytest.mark.fault(67)
def test_of_a_long_product_so_much_is_searched_and_what_is_short_is_not_cut(
    owner: Database, editor: Member
) -> None:
    items = [{"en": "a" * 10_000, "es": "b" * 10_000} for _ in range(10)]
    product = make_product(owner, editor.group_id, ingredients=items, tags=["smoky"])
    with owner.session() as session:
        query = select(SearchDocument.text).where(SearchDocument.source_id == product.id)
        said = session.scalars(query).one()
    assert 0.9 * LONGEST_TEXT < len(said) <= LONGEST_TEXT
    whole = product_text(make_product(owner, editor.group_id, slug="short", tags=["smoky"]))
    for line in whole.splitlines():
        assert line.startswith("Ingredients") or line in said


@pytest.mark.fault(67)
def test_the_evidence_of_a_message_is_weighed_without_a_text(
    app: Flask, database: Database, owner: Database, editor: Member
) -> None:
    make_product(owner, editor.group_id)
    with (
        app.app_context(),
        database.transaction(editor.scope) as session,
        noted_statements() as statements,
    ):
        hints, _lines = find_hints(session, "What is the ribeye grilled over?", "en")
    assert hints["evidence"]["search_dishes"]["score"] > 0
    searches = [each for each in statements if "FROM best" in each]
    assert searches and not any("d.text" in each for each in searches)


# A tag that thousands have


@pytest.mark.fault(67)
def test_a_tag_is_renamed_some_products_at_a_time_and_all_or_none(
    database: Database, owner: Database, editor: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        make_product(owner, editor.group_id, slug=f"d{number}", tags=["hot", "new"])
    monkeypatch.setattr(menu_upkeep, "RENAMED_AT_ONCE", 2)
    held, written = list[int](), list[int]()
    index = menu_upkeep.index_entities

    def note_index(session: Any, entities: Any, **facts: Any) -> None:
        index(session, entities, **facts)
        written.append(len(entities))

    monkeypatch.setattr(menu_upkeep, "index_entities", note_index)
    with database.session(editor.scope) as session:

        def note_held(_done: int, _total: int) -> None:
            held.append(sum(isinstance(each, Product) for each in session.identity_map.values()))
            # Nobody else sees any of it before the end.
            assert all(each.tags == ["hot", "new"] for each in tagged(owner, editor))

        shown = sign_tags({"hot": 5, "new": 5})
        assert rename_tag(session, "hot", "Fiery", shown, note_held) == ("fiery", 5)
    assert (written, held) == ([2, 2, 1], [0, 0, 0])
    with owner.session() as session:
        query = select(Product).where(Product.group_id == editor.group_id)
        assert {(*each.tags, each.version) for each in session.scalars(query)} == {
            ("fiery", "new", 2)
        }
        kept = select(LibraryRevision).where(
            LibraryRevision.group_id == editor.group_id, LibraryRevision.version == 1
        )
        assert [each.snapshot["tags"] for each in session.scalars(kept)] == [["hot", "new"]] * 5
        said = select(SearchDocument.text).where(SearchDocument.group_id == editor.group_id)
        assert all("Fiery" in each for each in session.scalars(said))
        jobs = text(
            "SELECT count(*) FROM procrastinate_jobs WHERE lock = :lock AND status = 'todo'"
        )
        assert session.scalar(jobs, {"lock": f"embed:{editor.group_id}"}) == 1


def tagged(owner: Database, editor: Member) -> list[Product]:
    with owner.session() as session:
        query = select(Product).where(Product.group_id == editor.group_id)
        return list(session.scalars(query))
