"""The menus by kind: filtered, sorted, shared by address; what is not declared stands apart."""

from __future__ import annotations

from decimal import Decimal

import pytest
from flask import Flask

from app.db import Database
from app.skills.knowledge.services.menus import PAGE, MenuFilter, read_filter
from tests.factories import CheckedClient, Member, Page, make_product, make_user, sign_in


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def menu(owner: Database, member: Member) -> None:
    """Four dishes: with peanuts, with none, with milk, and one that nobody has declared."""
    for slug, name, price, allergens, category, tags in (
        ("satay", "Satay", "12.00", ["peanut", "soy"], "starter", ["spicy"]),
        ("salad", "Garden salad", "9.50", [], "starter", ["vegan", "spicy"]),
        ("flan", "Flán", "8.00", ["milk", "egg"], "dessert", ["vegetarian"]),
        ("stew", "Stew of the day", "15.00", None, "seafood", []),
    ):
        make_product(
            owner, member.group_id, "dishes", slug, name_en=name, name_es=name, price=price,
            allergens=allergens, category=category, tags=tags, description_en="", description_es="",
            ingredients=[],
        )  # fmt: skip


def names(page: Page) -> list[str]:
    listed = page.find_all("ul", **{"class": "menu-list"})
    return [
        line.find("a").find_all("span")[0].text
        for line in listed[0].find_all("li", **{"class": "menu-line"})
    ]


def apart(page: Page) -> list[str]:
    [section] = page.find_all("section", **{"class": "undeclared"}) or [None]
    if section is None:
        return []
    lines = section.find_all("li", **{"class": "menu-line"})
    return [line.find("a").find_all("span")[0].text for line in lines]


def test_it_is_said_how_many_more_nobody_has_declared(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    for number in range(PAGE + 2):
        make_product(owner, member.group_id, "dishes", f"d{number}", allergens=None)
    page = browser.page("/library/dishes?without=peanut")
    assert len(apart(page)) == PAGE
    assert "And 2 more that are not listed here." in page.text


@pytest.mark.usefixtures("menu")
def test_a_menu_lists_everything_with_what_is_declared(browser: CheckedClient) -> None:
    page = browser.page("/library/dishes")
    assert names(page) == ["Flán", "Stew of the day", "Garden salad", "Satay"]
    lines = {
        line.find("a").find_all("span")[0].text: line.text
        for line in page.find_all("li", **{"class": "menu-line"})
    }
    assert "Peanuts" in lines["Satay"]
    assert "None of the listed allergens" in lines["Garden salad"]
    assert "Allergens not declared" in lines["Stew of the day"]
    assert "4 results" in page.text


@pytest.mark.usefixtures("menu")
def test_without_peanuts_never_shows_as_safe_what_nobody_has_declared(
    browser: CheckedClient,
) -> None:
    for code in ("peanut", "nuts"):
        page = browser.page(f"/library/dishes?without={code}")
        assert names(page) == ["Flán", "Garden salad"]
        assert apart(page) == ["Stew of the day"]
        assert "Nobody has declared the allergens of these" in page.text
        assert "2 results" in page.text
        assert "Satay" not in page.text


@pytest.mark.usefixtures("menu")
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("category=starter", ["Garden salad", "Satay"]),
        ("tag=spicy&tag=vegan", ["Garden salad"]),
        ("q=flan", ["Flán"]),
        ("q=FLÁN", ["Flán"]),
        ("up_to=9,50", ["Flán", "Garden salad"]),
        ("up_to=9.5&sort=price-desc", ["Garden salad", "Flán"]),
        ("sort=price", ["Flán", "Garden salad", "Satay", "Stew of the day"]),
        ("sort=name", ["Flán", "Garden salad", "Satay", "Stew of the day"]),
        ("without=milk&without=soy", ["Garden salad"]),
        ("up_to=cheap&without=x&page=x&category=starter", ["Garden salad", "Satay"]),
    ],
)  # fmt: skip
def test_filters_narrow_and_sort(browser: CheckedClient, query: str, wanted: list[str]) -> None:
    assert names(browser.page(f"/library/dishes?{query}")) == wanted
    assert names(browser.fragment(f"/library/dishes?{query}")) == wanted


@pytest.mark.usefixtures("menu")
def test_each_filter_that_is_on_can_be_taken_off_alone(browser: CheckedClient) -> None:
    page = browser.page("/library/dishes?q=a&category=starter&without=milk&tag=spicy&up_to=20")
    [chips] = page.find_all("ul", **{"class": "chips active-filters"})
    links = [link.attributes["href"] for link in chips.find_all("a")]
    assert len(links) == 6
    assert links[-1] == "/library/dishes"
    assert "category" not in links[1]
    assert "q=a" in links[1]
    assert "without=milk" in links[1]
    for link in links:
        browser.page(link)


@pytest.mark.usefixtures("menu")
def test_nothing_that_fits_says_so_and_leads_on(browser: CheckedClient) -> None:
    page = browser.page("/library/dishes?q=zebra")
    assert "Nothing on this menu matches these filters." in page.text
    assert "There is nothing on this menu yet." in browser.page("/library/wines").text


def test_a_long_menu_comes_in_pages(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    for number in range(PAGE + 1):
        make_product(owner, member.group_id, "wines", f"w{number}", name_en=f"Wine {number:03}")
    first = browser.page("/library/wines?sort=name&up_to=50")
    assert len(names(first)) == PAGE
    [later] = first.find_all("a", rel="next")
    assert names(browser.page(later.attributes["href"])) == [f"Wine {PAGE:03}"]


def test_own_allergens_are_named_in_the_list(app: Flask, owner: Database, member: Member) -> None:
    make_product(owner, member.group_id)
    reader = sign_in(app, owner, make_user(owner, member.group_id, allergens=["milk"]))
    assert "on your list" in reader.page("/library/dishes").text


@pytest.mark.usefixtures("menu")
def test_a_menu_of_another_group_is_empty_and_no_other_kind_exists(
    app: Flask, owner: Database, browser: CheckedClient
) -> None:
    other = sign_in(app, owner, make_user(owner, role="admin"))
    assert "Satay" not in other.page("/library/dishes").text
    browser.page("/library/gossip", 404)
    browser.page("/library/dishes?category=%00", 400)
    assert browser.post("/library/dishes").status_code == 405


def test_a_filter_is_read_from_an_address() -> None:
    wanted = read_filter(
        "dishes",
        {"q": [" flan "], "without": ["nuts", "x"], "tag": ["a", "a", ""], "up_to": ["$7,5"]},
    )
    assert wanted == MenuFilter(
        "dishes", text="flan", tags=("a",), without=("nuts",), up_to=Decimal("7.5")
    )
    assert wanted.avoided == ("tree_nut", "peanut")
    # As whoever writes a price may type it (tests of app.skills.knowledge.services.prices).
    assert read_filter("wines", {"up_to": ["1,250"]}).up_to == Decimal(1250)
    for odd in ("NaN", "Infinity", "-1", "1e30"):
        assert read_filter("dishes", {"up_to": [odd]}).up_to is None
