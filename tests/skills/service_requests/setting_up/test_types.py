"""The tree of types: added to, moved in, archived, refused; who may do what; other houses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.db import Database, new_id
from app.errors import InvalidInput
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.services.type_catalog import (
    DEEPEST,
    load_form,
    load_tree,
    submittable,
)
from app.skills.service_requests.services.type_tree import along, grow
from app.skills.service_requests.services.types import kept_content, save_type
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.skills.service_requests.setting_up.making import (
    HOME,
    path_of,
    put_category,
    put_team,
    put_type,
    stored,
    types_of,
    versions_of,
)


def names_on(browser: CheckedClient) -> list[str]:
    return [each.text for each in browser.page(HOME).find_all("a", **{"class": "request-type"})]


def test_an_empty_house_is_offered_the_usual_types(
    owner: Database, database: Database, admin: Member, browser: CheckedClient
) -> None:
    page = browser.page(HOME)
    assert "There are no types yet" in page.text
    assert browser.post(HOME, do="usual").status_code == 303
    assert names_on(browser)[:2] == ["Maintenance", "Refrigeration and ice"]
    # A second press, or a second admin's, adds nothing.
    browser.post(HOME, do="usual")
    assert "The usual types are here already." in browser.page(HOME).text
    with database.session(admin.scope) as session:
        assert len(submittable(load_tree(session))) == 15


def test_categories_and_types_are_added_where_one_says(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    made = browser.post(HOME, kind="category", name_en="Upkeep", parent_id="")
    assert made.status_code == 303
    [category] = types_of(owner, admin.group_id)
    assert (category.slug, category.is_submittable, category.fields) == ("upkeep", False, [])
    assert "Category added." in browser.page(made.location).text
    made = browser.post(HOME, kind="type", name_en="", name_es="Fuga", parent_id=str(category.id))
    page = browser.page(made.location)
    assert "What is it about?" in page.text and "Priority" in page.text
    added = types_of(owner, admin.group_id)[-1]
    assert (added.parent_id, added.name_es, added.version) == (category.id, "Fuga", 1)
    assert [each["name"] for each in added.fields] == ["title", "priority"]
    assert [each.version for each in versions_of(owner, added)] == [1]
    assert names_on(browser) == ["Upkeep", "Fuga"]


def test_what_cannot_be_added_is_told_at_its_field_and_kept(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    category = put_category(owner, admin.group_id, "Kitchen")
    type_ = put_type(owner, admin.group_id, parent_id=category.id)
    elsewhere = put_category(owner, make_user(owner).group_id, "Elsewhere")
    tried: dict[str, dict[str, str]] = {
        "Give it a name": {"name_en": "", "name_es": " "},
        "Another one in the same place already has this name.": {
            "name_en": "maquina de HIELO", "parent_id": str(category.id),
        },
        "A name can have up to 80 characters.": {"name_en": "x" * 81},
        "Choose from the list.": {"name_en": "New", "parent_id": str(elsewhere.id)},
    }  # fmt: skip
    for told, form in tried.items():
        page = browser._page(browser.post(HOME, **form), 422)
        assert told in page.text
        assert page.find("input", id="f-name_en").attributes["value"] == form["name_en"]
    for parent in (str(type_.id), str(new_id()), "nonsense", "\x00"):
        assert browser.post(HOME, name_en="New", parent_id=parent).status_code in (400, 422)
    assert len(types_of(owner, admin.group_id)) == 2


def test_types_move_among_their_neighbours_only(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    category = put_category(owner, admin.group_id, "Kitchen", slug="a", sort_order=0)
    for name in "BCD":
        last = put_type(
            owner, admin.group_id, parent_id=category.id, name_en=name, slug=name.lower()
        )
    moved = browser.post_fragment(f"{HOME}move", do=f"up:{last.id}")
    button = moved.find("button", id=f"up-{last.id}")
    assert "autofocus" in button.attributes
    assert names_on(browser) == ["Kitchen", "B", "D", "C"]
    assert browser.post(f"{HOME}move", do=f"up:{last.id}").status_code == 303
    # At the end nothing happens, and a category stays around what is in it.
    browser.post(f"{HOME}move", do=f"up:{last.id}")
    browser.post(f"{HOME}move", do=f"down:{category.id}")
    assert names_on(browser) == ["Kitchen", "D", "B", "C"]
    assert stored(owner, last).version == 1
    for do in ("up", "up:", "up:nonsense", f"sideways:{last.id}"):
        assert browser.post(f"{HOME}move", do=do).status_code == 422
    assert browser.post(f"{HOME}move", do=f"up:{new_id()}").status_code == 404


def test_what_is_archived_is_not_offered_and_comes_back_as_it_was(
    owner: Database, database: Database, admin: Member, browser: CheckedClient
) -> None:
    category = put_category(owner, admin.group_id, "Kitchen")
    ice = put_type(owner, admin.group_id, parent_id=category.id)
    oven = put_type(owner, admin.group_id, parent_id=category.id, name_en="Oven", name_es="")

    def offered() -> list[str]:
        with database.session(admin.scope) as session:
            return [each.name.en for each in submittable(load_tree(session))]

    def archive(type_: RequestType, to: str) -> None:
        browser.press(browser.page(path_of(type_)), f"{path_of(type_)}/archive", to=to)

    archive(ice, "archived")
    assert offered() == ["Oven"]
    assert "Archived" in browser.page(path_of(ice)).text
    archive(category, "archived")
    assert offered() == []
    with database.session(admin.scope) as session:
        with pytest.raises(InvalidInput):
            load_form(session, oven.id)
        assert load_form(session, oven.id, 1).name.en == "Oven"
    archive(category, "offered")
    assert offered() == ["Oven"]
    archive(ice, "offered")
    assert len(offered()) == 2
    assert browser.post(f"{path_of(ice)}/archive", to="lost").status_code == 422
    assert stored(owner, ice).version == 1


def test_a_category_is_renamed_and_put_elsewhere_but_never_into_itself(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    outer = put_category(owner, admin.group_id, "Outer")
    inner = put_category(owner, admin.group_id, "Inner", parent_id=outer.id)
    page = browser.page(path_of(outer))
    assert not page.find_all("input", name="row") and not page.find_all("input", name="sla_hours")
    facts = {"version": "1", "name_en": "Outer", "icon": "clipboard", "do": "save"}
    for parent in (outer.id, inner.id):
        refused = browser.post_fragment(path_of(outer), 422, parent_id=str(parent), **facts)
        assert "A category cannot be inside itself." in refused.text
    refused = browser.post_fragment(path_of(outer), 422, parent_id="nonsense", **facts)
    assert "Choose from the list." in refused.text
    facts |= {"name_en": "Kitchen", "description_en": "All of it"}
    assert "Saved as version 2." in browser.post_fragment(path_of(outer), **facts).text
    facts |= {"name_en": "Inner", "parent_id": ""}
    assert "Saved as version 2." in browser.post_fragment(path_of(inner), **facts).text
    assert stored(owner, inner).parent_id is None
    assert stored(owner, outer).description_en == "All of it"


def test_categories_are_not_nested_deeper_than_people_are_shown(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    parent = None
    for depth in range(DEEPEST):
        last = put_category(owner, admin.group_id, f"Level {depth}", parent_id=parent)
        parent = last.id
    refused = browser.post(HOME, name_en="Too deep", parent_id=str(parent))
    assert "Categories cannot be nested any deeper." in browser._page(refused, 422).text
    assert len(list(along(grow(types_of(owner, admin.group_id))))) == DEEPEST
    top = put_category(owner, admin.group_id, "Another")
    [first] = [each for each in types_of(owner, admin.group_id) if each.name_en == "Level 0"]
    facts = {"version": "1", "name_en": "Level 0", "icon": "ticket", "do": "save"}
    refused = browser.post_fragment(path_of(first), 422, parent_id=str(top.id), **facts)
    assert "Categories cannot be nested any deeper." in refused.text


def test_two_who_put_categories_into_each_other_make_no_circle(
    owner: Database, database: Database, admin: Member
) -> None:
    one = put_category(owner, admin.group_id, "One")
    two = put_category(owner, admin.group_id, "Two")

    def put(what: RequestType, into: RequestType) -> bool:
        with database.session(admin.scope) as session:
            content = {**kept_content(what), "parent_id": str(into.id)}
            try:
                save_type(session, what.id, 1, content)
            except InvalidInput:
                return False
            return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(put, (one, two), (two, one)))
    assert sorted(done) == [False, True]
    assert len(list(along(grow(types_of(owner, admin.group_id))))) == 2


def test_managers_look_staff_does_not_and_other_houses_find_nothing(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient, type_: RequestType
) -> None:
    put_team(owner, admin.group_id, "Ours")
    manager = sign_in(app, owner, make_user(owner, group_id=admin.group_id, role="manager"))
    staff = sign_in(app, owner, make_user(owner, group_id=admin.group_id))
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    assert "Ice machine" in manager.page(HOME).text
    page = manager.page(path_of(type_))
    assert not page.find_all("form", id="builder") and "Question 1?" in page.text
    manager.page(f"{path_of(type_)}/history")
    assert "Ice machine" not in stranger.page(HOME).text
    for path in ("", "/history", "/history/2"):
        assert staff.get(path_of(type_) + path).status_code == 403
        assert stranger.get(path_of(type_) + path).status_code == 404
    assert staff.get(HOME).status_code == 403
    assert app.test_client().get(HOME).status_code == 303
    form = {"version": "1", "number": "1", "to": "archived", "do": "look"}
    for path in ("", "/archive", "/restore"):
        for person, status in ((manager, 403), (staff, 403), (stranger, 404)):
            assert person.post(path_of(type_) + path, **form).status_code == status, path
        if path:
            assert browser.get(path_of(type_) + path).status_code == 405
        assert browser.client.put(path_of(type_) + path).status_code in (400, 405)
    for path, form in (("", {"name_en": "New"}), ("move", {"do": f"up:{type_.id}"})):
        assert manager.post(HOME + path, **form).status_code == 403
        assert staff.post(HOME + path, **form).status_code == 403
    assert stranger.post(f"{HOME}move", do=f"up:{type_.id}").status_code == 404
    # Nobody else's page can send a form here.
    assert browser.post(HOME, token=False, name_en="New").status_code == 400
    assert len(types_of(owner, admin.group_id)) == 1 and stored(owner, type_).version == 1


def test_the_page_speaks_the_readers_language(app: Flask, owner: Database, admin: Member) -> None:
    reader = make_user(owner, group_id=admin.group_id, role="admin", language="es")
    put_type(owner, admin.group_id)
    page = sign_in(app, owner, reader).page(HOME)
    assert "Máquina de hielo" in page.text and "Ice machine" not in page.text
