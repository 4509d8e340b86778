"""The ledger's settings: currencies, categories, their order, conflicts, roles."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.accounts.models import Group
from app.db import Database
from app.errors import Conflict
from app.skills.expenses.services.settings import Ledger, save_settings
from tests.factories import CheckedClient, Member, Page, make_user, sign_in
from tests.factories.expenses import ledger_of, make_expense
from tests.html_checks import Element

PLACE = "/expenses/settings"


@pytest.fixture
def boss(owner: Database, member: Member) -> Member:
    return make_user(owner, member.group_id, "admin")


@pytest.fixture
def admin(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    return sign_in(app, owner, boss)


def worked(page: Page) -> dict[str, list[str]]:
    """What the form on the page would send."""
    work = page.find("div", id="ledger-work")
    found: dict[str, list[str]] = {}
    for each in work:
        name = each.attributes.get("name")
        if not name or each.tag == "button" or _is_off(each):
            continue
        value = each.text if each.tag == "textarea" else each.attributes.get("value", "")
        found.setdefault(name, []).append(value)
    return found


def _is_off(element: Element) -> bool:
    is_box = element.attributes.get("type") == "checkbox"
    return is_box and "checked" not in element.attributes


def send(admin: CheckedClient, form: dict[str, Any], do: str = "save", **options: Any) -> Any:
    return admin.post(PLACE, **{**form, "do": do}, **options)


def slugs(ledger: Ledger) -> list[str]:
    return [each["slug"] for each in ledger.offered]


def test_currencies_names_words_and_order_are_saved(
    database: Database, boss: Member, admin: CheckedClient
) -> None:
    form = worked(admin.page(PLACE))
    before = slugs(ledger_of(database, boss))
    assert form["slug"][:2] == before[:2]
    form["currencies"] = ["EUR", "JPY"]
    form["name_en"][0] = "Food & co"
    form["words_en"][0] = "food,  ham ham , Jalapeño,food"
    moved = admin._fragment(send(admin, form, f"down:{before[0]}", htmx=True), 200)
    assert "Not saved yet" in moved.text
    assert slugs(ledger_of(database, boss)) == before, "moving alone saves nothing"
    down = moved.find("button", id=f"down-{before[0]}")
    assert "autofocus" in down.attributes
    assert send(admin, worked(moved)).status_code == 303
    after = ledger_of(database, boss)
    assert slugs(after)[:2] == [before[1], before[0]]
    assert after.currencies == ("USD", "EUR", "JPY")
    assert after.name_of(before[0], "en") == "Food & co"
    assert after.categories[1]["words_en"] == ["food", "ham ham", "Jalapeño"]


def test_a_currency_that_became_the_restaurants_own_meanwhile_is_kept_by_a_page_of_before(
    owner: Database, database: Database, boss: Member, admin: CheckedClient
) -> None:
    form = worked(admin.page(PLACE))
    assert "MXN" in form["currencies"]
    for code in ("MXN", "USD"):
        with owner.transaction() as session:
            session.execute(update(Group).where(Group.id == boss.group_id).values(currency=code))
        if code == "MXN":
            assert send(admin, form).status_code == 303
    assert "MXN" in ledger_of(database, boss).currencies


def test_a_category_is_added_guessed_by_its_words_and_switched_off(
    app: Flask, owner: Database, database: Database, boss: Member, admin: CheckedClient
) -> None:
    page = admin._page(send(admin, worked(admin.page(PLACE)), "add"), 200)
    form = worked(page)
    assert form["row"][-1] == "new-1"
    form["name_en"][-1], form["name_es"][-1] = "Live music", "Música en vivo"
    form["words_en"][-1] = "harp, harpist"
    assert send(admin, form).status_code == 303
    ledger = ledger_of(database, boss)
    assert slugs(ledger)[-1] == "live-music"
    assert ledger.name_of("live-music", "es") == "Música en vivo"
    made = admin.page("/expenses/new").find("input", name="key").attributes["value"]
    admin.post("/expenses/new", key=made, item="Harpist", amount="80")
    assert "Live music" in admin.page("/expenses?category=live-music").text
    form = worked(admin.page(PLACE))
    form["on"].remove("live-music")
    assert send(admin, form).status_code == 303
    assert "live-music" not in slugs(ledger_of(database, boss))
    assert "Live music" in admin.page("/expenses").text, "what has expenses keeps its name"


def test_new_rows_without_a_name_are_left_out_and_two_of_one_name_are_two(
    database: Database, boss: Member, admin: CheckedClient
) -> None:
    form = worked(admin.page(PLACE))
    for _time in range(3):
        form = worked(admin._page(send(admin, form, "add"), 200))
    form["name_en"][-3:] = ["Music", "Music", " "]
    form["on"] += ["new-1", "new-2", "new-3"]
    assert send(admin, form).status_code == 303
    assert slugs(ledger_of(database, boss))[-2:] == ["music", "music-2"]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name_en", "x" * 61, "up to 60 characters"),
        ("words_en", "y" * 61, "Separate them with commas."),
        ("words_es", ",".join(str(number) for number in range(700)), "up to 600 words"),
    ],
)
def test_what_is_wrong_is_told_at_its_category_and_all_is_kept(
    database: Database, boss: Member, admin: CheckedClient, field: str, value: str, told: str
) -> None:
    form = worked(admin.page(PLACE))
    form[field][2] = value
    form["name_en"][0] = "Kept"
    page = admin._page(send(admin, form), 422)
    wrong = [each for each in page.find_all("li") if each.has_class("is-wrong")]
    assert [told in each.text for each in wrong] == [True]
    assert worked(page)[field][2] == value
    assert worked(page)["name_en"][0] == "Kept"
    assert ledger_of(database, boss).version == 0


def test_a_category_without_any_name_is_refused(admin: CheckedClient) -> None:
    form = worked(admin.page(PLACE))
    form["name_en"][0] = form["name_es"][0] = " "
    assert "Give the category a name." in admin._page(send(admin, form), 422).text


def test_the_one_for_everything_else_stays_whatever_is_sent(
    database: Database, boss: Member, admin: CheckedClient
) -> None:
    form = worked(admin.page(PLACE))
    form["on"] = []
    assert send(admin, form).status_code == 303
    assert slugs(ledger_of(database, boss)) == ["other"]
    place = form["slug"].index("other")
    for name in ("row", "slug", "name_en", "name_es", "words_en", "words_es"):
        del form[name][place]
    assert send(admin, {**form, "version": "1"}).status_code == 422


def test_who_comes_late_sees_so_and_may_save_over_it_knowingly(
    app: Flask, owner: Database, database: Database, boss: Member, admin: CheckedClient
) -> None:
    form = worked(admin.page(PLACE))
    other = sign_in(app, owner, make_user(owner, boss.group_id, "admin"))
    theirs = worked(other.page(PLACE))
    theirs["name_en"][0] = "Theirs"
    assert send(other, theirs).status_code == 303
    form["name_en"][0] = "Mine"
    page = admin._page(send(admin, form), 409)
    assert "Somebody else changed this in the meantime." in page.text
    assert worked(page)["name_en"][0] == "Mine"
    assert ledger_of(database, boss).categories[0]["name_en"] == "Theirs"
    assert send(admin, worked(page), "overwrite").status_code == 303
    assert ledger_of(database, boss).categories[0]["name_en"] == "Mine"


@pytest.mark.fault(66)
def test_what_is_left_out_of_a_save_counts_too_and_words_have_a_limit_together(
    database: Database, boss: Member, admin: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = worked(admin.page(PLACE))
    count = len(form["slug"])
    monkeypatch.setattr("app.skills.expenses.services.settings.MOST_CATEGORIES", count)
    other = {**form, "slug": ["", *form["slug"][1:]], "name_en": ["Other", *form["name_en"][1:]]}
    told = send(admin, other)
    assert told.status_code == 422 and f"at most {count} categories" in told.text
    monkeypatch.setattr("app.skills.expenses.services.settings.MOST_LETTERS", 10)
    long = send(admin, form)
    assert long.status_code == 422 and "at most 10 characters" in long.text
    assert len(ledger_of(database, boss).categories) == count


def test_what_makes_no_sense_does_nothing(
    database: Database, boss: Member, admin: CheckedClient
) -> None:
    form = worked(admin.page(PLACE))
    for do in ("up:nobody", f"up:{form['row'][0]}", "down:other", "explode", ""):
        assert send(admin, form, do).status_code == 200, do
    assert send(admin, {"row": ["x"], "version": "x"}).status_code == 422
    assert send(admin, {**form, "currencies": ["XXX", "'"]}).status_code == 303
    assert ledger_of(database, boss).currencies == ("USD",)


def test_only_admins_get_in(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, admin: CheckedClient
) -> None:
    manager = sign_in(app, owner, make_user(owner, member.group_id, "manager"))
    for other in (browser, manager):
        assert other.get(PLACE).status_code == 403
        assert other.post(PLACE, do="add").status_code == 403
        assert PLACE not in other.get("/expenses").text
    assert PLACE in admin.get("/expenses").text
    assert admin.client.delete(PLACE).status_code in (400, 405)


def test_each_house_has_settings_of_its_own(
    app: Flask, owner: Database, database: Database, admin: CheckedClient
) -> None:
    form = worked(admin.page(PLACE))
    form["name_en"][0] = "Ours"
    send(admin, form)
    stranger = make_user(owner, role="admin")
    make_expense(database, stranger)
    assert "Ours" not in sign_in(app, owner, stranger).get(PLACE).text


def test_of_two_who_save_for_the_first_time_one_is_told_so(
    owner: Database, database: Database, boss: Member
) -> None:
    other = make_user(owner, boss.group_id, "admin")
    shown = ledger_of(database, boss)
    saved = threading.Event()

    def save_late() -> None:
        saved.wait(5)
        with database.transaction(other.scope) as session, pytest.raises(Conflict):
            save_settings(session, ["EUR"], shown.categories, shown.version)

    with ThreadPoolExecutor(1) as pool, database.transaction(boss.scope) as session:
        save_settings(session, ["MXN"], shown.categories, shown.version)
        late = pool.submit(save_late)
        saved.set()
        wait([late], timeout=0.5)
        session.commit()
        late.result(10)
    assert ledger_of(database, boss).currencies == ("USD", "MXN")
