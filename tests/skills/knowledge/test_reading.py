"""The manual's tree opened piece by piece, the search as one types, and links that stay."""

from __future__ import annotations

from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import update

from app.db import Database
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.manual_tree import BRANCH, find_place
from app.skills.knowledge.services.revisions import keep, snapshot
from app.skills.knowledge.web.presenters import MOST_ANCHORS, anchor_blocks
from app.text.markdown import render_library_text
from tests.factories import CheckedClient, Member, make_product, make_section, make_user, sign_in
from tests.factories.browser import HTMX

TREE = """Intro.

## Two {#two}
Second.

### Three {#three}
Third.

## Four {#four}
Fourth."""


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


def hide(owner: Database, section_id: UUID) -> None:
    with owner.transaction() as session:
        session.execute(
            update(ManualSection).where(ManualSection.id == section_id).values(is_published=False)
        )


# The tree


def test_one_reads_from_the_first_section_to_the_last_and_back(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "one", "One", TREE)
    make_section(owner, member.group_id, "five", "Five", "Fifth.")
    order = ["one", "two", "three", "four", "five"]
    for before, slug, after in zip([None, *order], order, [*order[1:], None], strict=False):
        page = browser.page(f"/library/manual/{slug}")
        found = [
            [link.attributes["href"].rpartition("/")[2] for link in page.find_all("a", rel=rel)]
            for rel in ("prev", "next")
        ]
        assert found == [[before] if before else [], [after] if after else []], slug


def test_what_is_not_published_is_nobodys_neighbour(
    database: Database, owner: Database, member: Member
) -> None:
    section = make_section(owner, member.group_id, "one", "One", TREE)
    last = make_section(owner, member.group_id, "five", "Five", "Fifth.")
    hide(owner, section.id)
    with database.session(member.scope) as session:
        place = find_place(session, last)
        assert (place.above, place.before, place.after) == ([], None, None)
        two = session.get_one(ManualSection, place_of(session, "two"))
        assert find_place(session, two).after is None


def place_of(session: object, slug: str) -> UUID:
    from sqlalchemy import select

    found: UUID = session.scalars(select(ManualSection.id).where(ManualSection.slug == slug)).one()  # type: ignore[attr-defined]
    return found


def test_a_branch_is_opened_by_itself_and_by_a_link_without_scripts(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "one", "One", TREE)
    branch = browser.fragment("/library/manual/one/below")
    names = [link.text for link in branch.find_all("a", **{"class": "shelf-link"})]
    assert names == ["Two", "Four"]
    assert browser.get("/library/manual/one/below").location == "/library/manual/one"
    index = browser.page("/library/")
    assert "Three" not in index.text
    assert index.find("details", **{"class": "twig"}).attributes["hx-get"].endswith("one/below")


def test_a_long_branch_comes_in_pages(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    chapter = make_section(owner, member.group_id, "one", "One", "Intro.")
    with owner.transaction() as session:
        session.add_all(
            ManualSection(
                group_id=member.group_id,
                parent_id=chapter.id,
                slug=f"s{number}",
                title_en=f"S {number}",
                position=number,
            )
            for number in range(BRANCH + 1)
        )
    page = browser.page("/library/manual/one")
    assert [link.text for link in page.find_all("a") if "See more" in link.text]
    rest = browser.page(f"/library/manual/one?first={BRANCH}")
    assert f"S {BRANCH}" in rest.text
    assert "S 3 " not in rest.text
    for odd in ("-1", "x", "9" * 30):
        browser.page(f"/library/manual/one?first={odd}")


def test_a_branch_of_another_group_is_404(app: Flask, owner: Database, member: Member) -> None:
    make_section(owner, member.group_id, "one", "One", TREE)
    other = sign_in(app, owner, make_user(owner, role="admin"))
    assert other.get("/library/manual/one/below", headers=HTMX).status_code == 404


# Searching as one types


def titles(client: CheckedClient, query: str) -> list[str]:
    found = client.fragment(f"/library/search?q={query}")
    return [hit.text for hit in found.find_all("span", **{"class": "hit-title"})]


@pytest.mark.parametrize(
    "query",
    ["refr", "refrigerato", "refrigerator", "REFRIG", "thaw refri", "camaron", "camarón", "congel"],
)
def test_words_are_found_from_their_beginning_in_both_languages(
    owner: Database, member: Member, browser: CheckedClient, query: str
) -> None:
    body = "Thaw it in the refrigerator, never on the table."
    make_section(owner, member.group_id, "thaw", "Defrosting", body)
    spanish = "Descongela el camarón en frío. Congelado no se cocina."
    make_section(owner, member.group_id, "thaw", "Descongelar", spanish, language="es")
    make_section(owner, member.group_id, "other", "Uniform", "Black shoes.")
    assert titles(browser, query) == ["Defrosting"]


def test_titles_come_before_what_is_said_and_the_place_is_told(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "food", "Food", "About oysters.")
    make_section(
        owner, member.group_id, "sea", "Seafood", "Intro.\n\n## Oysters {#oysters}\nOn ice."
    )
    found = browser.fragment("/library/search?q=oyst")
    hits = found.find_all("a", **{"class": "hit"})
    assert [hit.attributes["href"].split("?")[0] for hit in hits] == [
        "/library/manual/oysters",
        "/library/manual/food",
    ]
    assert hits[0].find("span", **{"class": "hit-path"}).text == "Seafood"
    assert [mark.text for mark in hits[1].find_all("mark")] == ["oysters"]
    assert hits[1].attributes["href"].endswith("#passage")


def test_products_are_found_beside_sections(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "grill", "Grill", "A ribeye rests for five minutes.")
    make_product(owner, member.group_id)
    assert titles(browser, "ribey") == ["Grill", "Ribeye"]
    assert titles(browser, "mantequi") == ["Ribeye"]


def test_every_word_counts(owner: Database, member: Member, browser: CheckedClient) -> None:
    make_section(owner, member.group_id, "a", "Alpha", "Clean the knife.")
    make_section(owner, member.group_id, "b", "Beta", "Clean the board.")
    assert titles(browser, "clean the kni") == ["Alpha"]


@pytest.fixture
def pantry(owner: Database, member: Member) -> None:
    """Sections with words that people mistype, in both languages."""
    for slug, title, body in (
        ("chicken", "Chicken", "Raw chicken is thawed in the refrigerator."),
        ("bar", "Bar", "A margarita with tequila and guacamole. Polling the guests is rude."),
        ("grill", "Grill", "The thermometer says when the steak and the salmon are done."),
        ("chile", "Chile", "Green chile from Chilean fields. Chiles, and chili."),
        ("cleaning", "Cleaning", "Sanitizer for the cutting boards, gloves for the cleaner."),
    ):
        make_section(owner, member.group_id, slug, title, body)
    for slug, title, body in (
        ("chicken", "Pollo", "El pollo crudo se descongela en el refrigerador."),
        ("bar", "Barra", "Margarita con tequila, camarones y guacamole."),
        ("grill", "Parrilla", "El termómetro dice cuándo está la carne. Una propina."),
        ("cleaning", "Limpieza", "Desinfectante para las tablas y guantes."),
    ):
        make_section(owner, member.group_id, slug, title, body, language="es")


@pytest.mark.usefixtures("pantry")
@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("chiken", "Chicken"),
        ("chikcen", "Chicken"),
        ("chickken", "Chicken"),
        ("refridgerator", "Chicken"),
        ("refrigirator", "Chicken"),
        ("margerita", "Bar"),
        ("guacamoles", "Bar"),
        ("guacamle", "Bar"),
        ("tequilla", "Bar"),
        ("camaron", "Bar"),
        ("camaron%20guacamole", "Bar"),
        ("cammaron", "Bar"),
        ("camrones", "Bar"),
        ("thermometor", "Grill"),
        ("termometo", "Grill"),
        ("salmmon", "Grill"),
        ("propna", "Grill"),
        ("sanitzer", "Cleaning"),
        ("desinfectnte", "Cleaning"),
        ("chiken refrigerator", "Chicken"),
        ("raw chiken", "Chicken"),
        # And while a word is typed, from its stem to its end.
        ("refriger", "Chicken"),
        ("refrigerad", "Chicken"),
        ("refrigerato", "Chicken"),
        ("cuttin", "Cleaning"),
        ("cleanin", "Cleaning"),
        ("margari", "Bar"),
        ("camarone", "Bar"),
    ],
)
def test_a_slip_of_the_finger_still_finds(browser: CheckedClient, typed: str, wanted: str) -> None:
    assert titles(browser, typed)[:1] == [wanted]


@pytest.mark.usefixtures("pantry")
@pytest.mark.parametrize("last", ["the", "out", "with", "de", "para"])
def test_a_last_word_that_says_nothing_is_not_the_beginning_of_something(
    browser: CheckedClient, last: str
) -> None:
    assert titles(browser, f"raw chicken {last}")[:1] == ["Chicken"]


@pytest.mark.usefixtures("pantry")
@pytest.mark.parametrize(
    "nonsense",
    [
        *("pollzzqq", "pollx9", "chickzz", "zzqqx", "qwertyuiop", "asdfgh", "xkcdq", "tequwxyz"),
        *("margarxyz", "barrrrrr", "steakzzz", "salmqqq", "guantzzz", "rawzz", "pollo9999"),
        *("carnqqqq", "grillzq", "mnbvcxz", "aaaaaaaa", "chkn", "lkjhgf", "refrizzzz"),
    ],
)
def test_what_is_no_word_finds_nothing(browser: CheckedClient, nonsense: str) -> None:
    for query in (nonsense, f"{nonsense}%20"):
        assert titles(browser, query) == []


@pytest.mark.usefixtures("pantry")
def test_words_that_were_put_right_are_told_and_marked(browser: CheckedClient) -> None:
    found = browser.fragment("/library/search?q=raw%20chiken")
    assert (
        "Nothing matches “raw chiken” as you wrote it; these results have similar words."
        in found.text
    )
    marked = {mark.text.lower() for mark in found.find_all("mark")}
    assert marked == {"raw", "chicken"}
    assert "as you wrote it" not in browser.fragment("/library/search?q=raw%20chicken").text


def test_what_is_put_right_is_of_the_own_house(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, make_user(owner).group_id, "other", "Other", "Their chicken.")
    make_section(owner, member.group_id, "own", "Own", "Our oysters.")
    assert titles(browser, "chiken") == []
    assert titles(browser, "oisters") == ["Own"]


def test_an_excerpt_is_plain_words_and_marks_those_that_were_typed(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    body = """Never leave **raw chicken** on the `counter`; see [the *storage* page](/library/x).

At once:

| What | How long |
|------|---------:|
| Chicken | **2** hours |

> Ask _before_ you serve it.

- Wash your hands
1. Use snake_case \\* here"""
    make_section(owner, member.group_id, "rules", "Rules", body)
    [words] = browser.fragment("/library/search?q=chick").find_all("span", class_="hit-words")
    assert words.text == (
        "Never leave raw chicken on the counter; see the storage page. At once: What · How long"
        " Chicken · 2 hours Ask before you serve it. Wash your hands 1. Use snake_case * here"
    )
    assert [mark.text for mark in words.find_all("mark")] == ["chicken", "Chicken"]


def test_the_form_works_without_scripts(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "thaw", "Thawing", "In the refrigerator.")
    page = browser.page("/library/search?q=thaw")
    assert page.find("input", id="find").attributes["value"] == "thaw"
    assert page.find("span", **{"class": "hit-title"}).text == "Thawing"
    assert page.find("form", role="search").attributes["action"] == "/library/search"


@pytest.mark.parametrize(
    "query", ["", " ", "%20%20", "%F0%9F%8D%B7", "%00", "'%25_\\", "the", "(", "x" * 999]
)
def test_no_query_is_too_odd(
    owner: Database, member: Member, browser: CheckedClient, query: str
) -> None:
    make_section(owner, member.group_id, "thaw", "Defrosting", "In the refrigerator.")
    browser.fragment(f"/library/search?q={query}")
    browser.page(f"/library/search?q={query}")


def test_what_is_not_there_is_told_with_the_words(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_section(owner, member.group_id, "thaw", "Thawing", "In the refrigerator.")
    assert "Nothing was found for “zebra”" in browser.fragment("/library/search?q=zebra").text


def test_neither_the_unpublished_nor_another_groups_is_found(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    secret = make_section(owner, member.group_id, "secret", "Zanzibar", "About zanzibar.")
    other = sign_in(app, owner, make_user(owner, role="admin"))
    assert titles(other, "zanz") == []
    assert titles(browser, "zanz") == ["Zanzibar"]
    hide(owner, secret.id)  # by hand, past the index
    assert titles(browser, "zanz") == []


def test_searching_is_for_reading_only(browser: CheckedClient) -> None:
    assert browser.post("/library/search").status_code == 405


# Links that stay


def test_each_paragraph_has_an_address_that_stays_with_its_words() -> None:
    first = anchor_blocks(render_library_text("One.\n\n- Two\n\n## Three"), "Link")
    later = anchor_blocks(
        render_library_text("New.\n\nOne.\n\n- Two\n- **Two**\n\n## Three"), "Link"
    )
    ids = [part.split('"')[0] for part in str(first.html).split(' id="')[1:]]
    others = [part.split('"')[0] for part in str(later.html).split(' id="')[1:]]
    assert len(ids) == 3
    assert set(ids) < set(others)
    assert len(others) == len(set(others)) == 5
    assert [heading.text for heading in first.headings] == ["Three"]


@pytest.mark.fault(44)
def test_a_section_of_nothing_but_paragraphs_has_so_many_addresses() -> None:
    """70,000 of them took a second of everybody's time and made a page of 7 MB."""
    html = render_library_text("a\n\n" * (MOST_ANCHORS + 50))
    anchored = anchor_blocks(html, "Link")
    assert str(anchored.html).count(' id="') == MOST_ANCHORS
    assert str(anchored.html).count("<p") == MOST_ANCHORS + 50


def test_a_long_section_begins_with_what_is_in_it(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    body = "\n\n".join(f"**Step {n}**\n\n#### Part {n}\n\nWords." for n in range(4))
    with owner.transaction() as session:
        session.add(
            ManualSection(group_id=member.group_id, slug="long", title_en="Long", body_en=body)
        )
    page = browser.page("/library/manual/long")
    inside = page.find("nav", **{"class": "inside"})
    targets = [link.attributes["href"][1:] for link in inside.find_all("a")]
    assert len(targets) == 4
    ids = {element.attributes.get("id") for element in page.root}
    assert set(targets) <= ids


def test_an_old_address_leads_to_the_section_of_now(
    app: Flask, database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    section = make_section(owner, member.group_id, "raw-chicken", "Raw chicken", "Cold.")
    editor = make_user(owner, member.group_id, "manager")
    with database.transaction(editor.scope) as session:
        found = session.get_one(ManualSection, section.id)
        before = snapshot(found)
        found.slug = "poultry"
        keep(session, found, before)
    response = browser.get("/library/manual/raw-chicken?passage=x")
    assert (response.status_code, response.location) == (302, "/library/manual/poultry?passage=x")
    other = sign_in(app, owner, make_user(owner, role="admin"))
    other.page("/library/manual/raw-chicken", 404)
    hide(owner, section.id)
    browser.page("/library/manual/raw-chicken", 404)
