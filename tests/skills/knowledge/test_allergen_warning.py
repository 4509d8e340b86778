"""Cards and pages warn a reader of what is on the reader's own list, in words."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask_babel import force_locale
from sqlalchemy import event, select, update

from app.accounts.choices import ALLERGENS as PROFILE_ALLERGENS
from app.assistant.models import Message
from app.db import Database
from app.skills.knowledge.services.display import product_card
from app.text.allergens import ALLERGENS
from tests.factories import CheckedClient, Member, make_product, make_thread, make_user, sign_in
from tests.html_checks import Element

WARNING_SIGN = "M12 4 2.8 19.5h18.4zM12 10v4.5M12 17v.5"


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, allergens=["milk", "tree_nut"])


def thread_with_cards(
    app: Flask, owner: Database, member: Member, *allergens: list[str] | None
) -> tuple[UUID, UUID]:
    """A thread whose reply carries one card for each list; its id and the reply's."""
    thread_id = make_thread(app.extensions["comanda"].database, member)
    parts: list[dict[str, Any]] = []
    with app.test_request_context("/"):
        for number, listed in enumerate(allergens):
            product = make_product(owner, member.group_id, slug=f"dish-{number}", allergens=listed)
            parts.append(product_card(product, "en", "USD").model_dump(mode="json"))
    with owner.transaction() as session:
        reply = select(Message.id).where(
            Message.thread_id == thread_id, Message.role == "assistant"
        )
        reply_id = session.scalars(reply).one()
        session.execute(update(Message).where(Message.id == reply_id).values(parts=parts))
    return thread_id, reply_id


def badges(root: Element) -> dict[str, bool]:
    """Each allergen badge's words, and whether it carries the sign of a warning."""
    return {
        badge.text: badge.find("path").attributes["d"] == WARNING_SIGN
        for badge in root.find_all("li")
        if badge.has_class("badge")
    }


def test_a_card_says_which_allergens_are_on_the_readers_own_list(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id, reply_id = thread_with_cards(app, owner, member, ["milk", "fish", "tree_nut"])
    expected = {"Milk · on your list": True, "Fish": False, "Tree nuts · on your list": True}
    assert badges(browser.page(f"/chat/{thread_id}").root) == expected
    live = browser.fragment(f"/chat/{thread_id}/messages/{reply_id}/parts/0")
    assert badges(live.root) == expected
    bubble = browser.fragment(f"/chat/{thread_id}/messages/{reply_id}")
    assert badges(bubble.root) == expected


def test_a_card_of_which_nothing_is_declared_looks_unlike_one_that_has_none(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id, _reply_id = thread_with_cards(app, owner, member, None, [])
    page = browser.page(f"/chat/{thread_id}")
    unknown, none = (
        [badge.text for badge in page.find_all("span") if badge.has_class(name)]
        for name in ("badge-unknown", "badge-none")
    )
    assert unknown == ["Allergens not declared"]
    assert none == ["None of the listed allergens"]
    spanish = browser.page(f"/chat/{thread_id}?lang=es").text
    assert "Alérgenos sin declarar" in spanish and "Ninguno de los alérgenos" in spanish


def test_the_warning_is_in_the_readers_language(
    app: Flask, owner: Database, member: Member
) -> None:
    reader = make_user(owner, member.group_id, language="es", allergens=["crustacean"])
    thread_id, _ = thread_with_cards(app, owner, reader, ["milk", "crustacean"])
    page = sign_in(app, owner, reader).page(f"/chat/{thread_id}")
    assert badges(page.root) == {"Leche": False, "Crustáceos · en tu lista": True}


@pytest.mark.parametrize("own", [[], ["peanut"]])
def test_a_card_warns_nobody_of_what_is_not_on_their_list(
    app: Flask, owner: Database, own: list[str]
) -> None:
    reader = make_user(owner, allergens=own)
    thread_id, _ = thread_with_cards(app, owner, reader, ["milk", "fish"])
    page = sign_in(app, owner, reader).page(f"/chat/{thread_id}")
    assert badges(page.root) == {"Milk": False, "Fish": False}


def test_a_card_without_declared_allergens_has_no_badges(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id, _ = thread_with_cards(app, owner, member, None, [])
    assert badges(browser.page(f"/chat/{thread_id}").root) == {}


def test_a_change_of_the_profile_shows_on_cards_that_were_there_before(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id, _ = thread_with_cards(app, owner, member, ["fish"])
    assert badges(browser.page(f"/chat/{thread_id}").root) == {"Fish": False}
    browser.post("/profile", name="Lucía", language="en", theme="system", units="us",
                 allergens="fish")  # fmt: skip
    assert badges(browser.page(f"/chat/{thread_id}").root) == {"Fish · on your list": True}


def test_a_page_of_many_cards_looks_at_the_profile_once(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id, _ = thread_with_cards(app, owner, member, ["milk"], ["egg"], ["soy"])
    looks: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if "user_profiles" in statement and "find_sign_in" not in statement:
            looks.append(statement)

    engine = app.extensions["comanda"].database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        browser.page(f"/chat/{thread_id}")
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert len(looks) == 1


def test_a_products_page_warns_above_and_at_the_badge(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    make_product(owner, member.group_id, allergens=["milk", "egg"])
    page = browser.page("/library/dishes/ribeye")
    assert "On your own list: milk." in page.text
    assert badges(page.root) == {"Milk · on your list": True, "Egg": False}


def test_a_card_that_an_earlier_version_stored_is_still_drawn(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id, reply_id = thread_with_cards(app, owner, member, ["milk"])
    with owner.transaction() as session:
        reply = session.get_one(Message, reply_id)
        reply.parts = [{**reply.parts[0], "matched": "the name"}]
    live = browser.fragment(f"/chat/{thread_id}/messages/{reply_id}/parts/0")
    assert badges(live.root) == {"Milk · on your list": True}


def test_the_profile_offers_the_same_allergens_in_the_readers_language(
    app: Flask, owner: Database
) -> None:
    spanish = sign_in(app, owner, make_user(owner, language="es")).page("/profile").text
    english = sign_in(app, owner, make_user(owner)).page("/profile").text
    for names in ALLERGENS.values():
        assert names["es"].capitalize() in spanish
        assert names["en"].capitalize() in english


def test_profiles_and_menus_call_an_allergen_by_the_same_name(app: Flask) -> None:
    assert list(PROFILE_ALLERGENS) == list(ALLERGENS)
    for language in ("en", "es"):
        with app.test_request_context("/"), force_locale(language):
            for code, names in ALLERGENS.items():
                assert str(PROFILE_ALLERGENS[code]).lower() == names[language]
