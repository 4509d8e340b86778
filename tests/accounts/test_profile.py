"""One's own name, language, theme, kitchen facts and password."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import AuditEntry, User, UserProfile
from app.accounts.profile import save_profile, update_profile
from app.db import Database, new_id
from app.notifications.mail import OutgoingMail
from tests.accounts.conftest import Browser, House, Member, found_house
from tests.html_checks import Element, parse_html

SignedIn = Callable[[Member], Browser]

FORM = {
    "name": "Ana María Peña",
    "language": "en",
    "theme": "dark",
    "allergens": ["peanut", "tree_nut"],
}


def profile_of(owner: Database, member: Member) -> UserProfile | None:
    with owner.transaction() as session:
        return session.get(UserProfile, member.user_id)


def test_a_profile_is_saved_and_shown_again(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    answer = browser.post("/profile", FORM)
    assert (answer.status_code, answer.location) == (303, "/profile")
    page = browser.get("/profile").text
    assert "Your profile is saved." in page
    assert 'value="Ana María Peña"' in page
    assert 'value="peanut" checked' in page
    assert 'data-theme="dark"' in page
    kept = profile_of(owner, house.staff)
    assert kept is not None
    assert (kept.theme, kept.allergens) == ("dark", ["peanut", "tree_nut"])


def test_unticking_everything_empties_the_lists(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    browser.post("/profile", FORM)
    shown = {f"was_{name}": value for name, value in FORM.items()}
    emptied = {"name": "Ana", "language": "en", "theme": "dark"}
    browser.post("/profile", {**shown, **emptied})
    kept = profile_of(owner, house.staff)
    assert kept is not None
    assert kept.allergens == []


def test_only_what_something_reads_is_asked_for(
    signed_in: SignedIn, house: House, database: Database, owner: Database
) -> None:
    """Recipes will read units, diets and cuisines: what is there stays, and nobody is asked."""
    browser = signed_in(house.staff)
    kept = {"units": "metric", "diets": ["vegan"], "cuisines": ["mexican"]}
    with database.session(house.staff.scope) as session:
        update_profile(session, **kept)
    page = browser.get("/profile").text
    assert not [name for name in kept if f'name="{name}"' in page]
    assert browser.post("/profile", {**FORM, "units": "us", "diets": ["halal"]}).status_code == 303
    after = profile_of(owner, house.staff)
    assert after is not None
    assert {name: getattr(after, name) for name in kept} == kept


# What a page says is what it showed and what was typed over it.


def shown_on(page: Element) -> dict[str, Any]:
    """The form as a browser sends it back with nothing changed."""
    form: dict[str, Any] = {}
    [box] = [each for each in page.find_all("form") if each.attributes.get("action") == "/profile"]
    for field in box.find_all("input"):
        told = field.attributes
        if told.get("type") not in ("checkbox", "radio") or "checked" in told:
            form.setdefault(told["name"], []).append(told.get("value", ""))
    for field in box.find_all("select"):
        [chosen] = [o for o in field.find_all("option") if "selected" in o.attributes]
        form[field.attributes["name"]] = [chosen.attributes["value"]]
    return form


def test_an_old_tab_takes_nothing_away_that_was_added_elsewhere(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    browser.post("/profile", FORM)
    old = shown_on(parse_html(browser.get("/profile").text))
    new = shown_on(parse_html(browser.get("/profile").text))
    new["allergens"] = ["sesame", "peanut"]
    new |= {"theme": ["light"]}
    assert browser.post("/profile", new).status_code == 303
    old["allergens"].append("soy")
    assert browser.post("/profile", old).status_code == 303
    kept = profile_of(owner, house.staff)
    assert kept is not None
    assert kept.allergens == ["peanut", "sesame", "soy"]
    assert kept.theme == "light"


def test_an_old_tab_keeps_the_name_that_was_typed_elsewhere(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    old = shown_on(parse_html(browser.get("/profile").text))
    browser.post("/profile", {**old, "name": "New Name"})
    assert browser.post("/profile", old).status_code == 303
    with owner.transaction() as session:
        assert session.get_one(User, house.staff.user_id).name == "New Name"


def test_a_page_that_is_shown_again_still_says_what_it_showed_first(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    old = shown_on(parse_html(browser.get("/profile").text))
    browser.post("/profile", FORM)
    answer = browser.post("/profile", {**old, "allergens": ["soy"], "name": ""})
    assert answer.status_code == 422
    again = shown_on(parse_html(answer.text))
    assert again["allergens"] == ["soy"]
    assert browser.post("/profile", {**again, "name": "Ana"}).status_code == 303
    kept = profile_of(owner, house.staff)
    assert kept is not None
    assert set(kept.allergens) == {"peanut", "tree_nut", "soy"}


def test_what_does_not_say_what_it_showed_takes_nothing_away(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    browser = signed_in(house.staff)
    browser.post("/profile", FORM)
    browser.post("/profile", {**FORM, "allergens": ["soy"]})
    kept = profile_of(owner, house.staff)
    assert kept is not None
    assert kept.allergens == ["peanut", "tree_nut", "soy"]


def test_of_first_profiles_that_are_saved_at_once_nothing_is_lost(
    database: Database, house: House, owner: Database
) -> None:
    codes = ("peanut", "tree_nut", "soy", "sesame")

    def save(code: str) -> None:
        with database.session(house.staff.scope) as session:
            save_profile(session, was={}, typed={"allergens": [code]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, codes))
    kept = profile_of(owner, house.staff)
    assert kept is not None
    assert sorted(kept.allergens) == sorted(codes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "fr"},
        {"theme": "blue"},
        {"allergens": ["peanut", "luck"]},
        {"allergens": [""]},
        {"name": ""},
        {"name": " \x00\u200b "},
        {"name": "x" * 81},
    ],
)
def test_what_is_not_on_the_list_is_refused_beside_its_field(
    signed_in: SignedIn, house: House, owner: Database, wrong: dict[str, object]
) -> None:
    browser = signed_in(house.staff)
    answer = browser.post("/profile", {**FORM, "name": "Typed Name", **wrong})
    assert answer.status_code == 422
    assert f'id="e-{next(iter(wrong))}"' in answer.text
    if "name" not in wrong:
        assert 'value="Typed Name"' in answer.text
    assert profile_of(owner, house.staff) is None
    with owner.transaction() as session:
        assert session.get_one(User, house.staff.user_id).name == house.staff.name


def test_a_profile_changes_only_ones_own(
    signed_in: SignedIn, house: House, owner: Database
) -> None:
    form = {**FORM, "user_id": str(house.manager.user_id)}
    signed_in(house.staff).post("/profile", form)
    assert profile_of(owner, house.manager) is None


@pytest.mark.parametrize("path", ["/profile", "/profile/password", "/switch-group", "/people"])
def test_whoever_is_not_signed_in_is_asked_to(browser: Browser, path: str) -> None:
    answer = browser.post(path, {})
    assert answer.status_code == 303
    assert answer.location.startswith("/sign-in")


def test_the_language_is_kept_for_the_person_wherever_they_sign_in(
    signed_in: SignedIn, house: House
) -> None:
    answer = signed_in(house.staff).post("/language", {"language": "es", "next": "/profile"})
    assert (answer.status_code, answer.location) == (303, "/profile")
    assert '<html lang="es"' in signed_in(house.staff).get("/profile").text


def test_a_switch_leads_back_to_the_address_that_the_browser_shows_now(
    signed_in: SignedIn, house: House
) -> None:
    chat = f"/chat/{new_id()}"
    form = {"language": "es", "next": "/chat"}
    browser = signed_in(house.staff)

    def pressed_on(referrer: str) -> str:
        return browser.post("/language", form, headers={"Referer": referrer}).location

    assert pressed_on(f"http://localhost{chat}") == chat
    assert pressed_on("http://localhost/library/?q=rib+eye") == "/library/?q=rib+eye"
    # From another site, from an address that cannot be fetched, from no address at all.
    assert pressed_on(f"http://evil.example{chat}") == "/chat"
    assert pressed_on(f"http://localhost{chat}/stop") == "/chat"
    assert pressed_on("") == "/chat"


def test_the_language_is_kept_in_a_cookie_before_signing_in(browser: Browser) -> None:
    browser.post("/language", {"language": "es"})
    assert '<html lang="es"' in browser.get("/sign-in").text
    assert '<html lang="en"' in browser.get("/sign-in?lang=en").text


def test_a_new_choice_of_language_beats_the_links_own(browser: Browser) -> None:
    answer = browser.post("/language", {"language": "es", "next": "/sign-in?lang=en&next=/people"})
    assert answer.location == "/sign-in?next=%2Fpeople"
    assert '<html lang="es"' in browser.get(answer.location).text


def test_the_groups_language_holds_until_one_chooses(app: Flask, owner: Database) -> None:
    browser = Browser(app)
    browser.sign_in(found_house(owner, language="es").staff)
    browser.post("/theme", {"theme": "dark"})
    page = browser.get("/profile").text
    assert '<html lang="es"' in page
    assert 'data-theme="dark"' in page


def test_the_language_chosen_before_the_first_sign_in_is_kept(
    browser: Browser, signed_in: SignedIn, house: House
) -> None:
    browser.post("/language", {"language": "es"})
    browser.sign_in(house.staff)
    assert '<html lang="es"' in signed_in(house.staff).get("/profile").text
    tablet = Browser(browser.app)
    tablet.post("/language", {"language": "en"})
    tablet.sign_in(house.staff)
    assert '<html lang="es"' in tablet.get("/profile").text


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (
            "Mozilla/5.0 (Linux; Android 15) AppleWebKit Chrome/140 Mobile Safari/537.36",
            "Chrome, Android",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari",
            "Safari, iPhone",
        ),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit Chrome/140 Safari Edg/140", "Edge, Windows"),
        ("curl/8.5.0", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_devices_are_called_what_people_call_them(
    browser: Browser, house: House, user_agent: str, name: str
) -> None:
    browser.client.environ_base["HTTP_USER_AGENT"] = user_agent
    browser.sign_in(house.staff)
    assert name in browser.get("/profile").text


def test_the_theme_is_kept_in_a_cookie_before_signing_in(browser: Browser) -> None:
    browser.post("/theme", {"theme": "dark"})
    assert 'data-theme="dark"' in browser.get("/sign-in").text


def test_a_script_that_saves_the_theme_needs_no_page(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.staff)
    answer = browser.post("/theme", {"theme": "light"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert 'data-theme="light"' in browser.get("/profile").text


@pytest.mark.parametrize(
    ("path", "form"),
    [("/language", {"language": "xx"}), ("/theme", {"theme": "xx"}), ("/theme", {})],
)
def test_an_unknown_choice_changes_nothing(
    signed_in: SignedIn, house: House, owner: Database, path: str, form: dict[str, str]
) -> None:
    assert signed_in(house.staff).post(path, form).status_code == 422
    assert profile_of(owner, house.staff) is None


def test_a_new_password_replaces_the_old_one_and_signs_out_the_others(
    signed_in: SignedIn,
    house: House,
    owner: Database,
    mail_to: Callable[[str], list[OutgoingMail]],
) -> None:
    here, there = signed_in(house.staff), signed_in(house.staff)
    form = {"current_password": house.staff.password, "new_password": "nine purple onions"}
    assert here.post("/profile/password", form).status_code == 303
    told = "You were signed out everywhere else, and your API tokens no longer work."
    assert f"Your password was changed. {told}" in here.get("/profile").text
    assert not there.is_signed_in()
    assert there.sign_in(house.staff).status_code == 422
    assert there.sign_in(house.staff, "nine purple onions").status_code == 303
    assert mail_to(house.staff.email)[0].subject == "Your Comanda password was changed"
    with owner.transaction() as session:
        query = select(AuditEntry.action).where(AuditEntry.user_id == house.staff.user_id)
        assert "password_changed" in session.scalars(query).all()


@pytest.mark.parametrize(
    ("current", "new", "field"),
    [
        ("wrong", "nine purple onions", "current_password"),
        ("", "nine purple onions", "current_password"),
        ("seven green avocados", "short", "new_password"),
        ("seven green avocados", "password1234", "new_password"),
    ],
)
def test_a_password_that_will_not_do_changes_nothing(
    signed_in: SignedIn, house: House, current: str, new: str, field: str
) -> None:
    browser = signed_in(house.staff)
    form = {"current_password": current, "new_password": new}
    answer = browser.post("/profile/password", form)
    assert answer.status_code == 422
    assert f'id="e-{field}"' in answer.text
    assert new not in answer.text
    browser.post("/sign-out")
    assert browser.sign_in(house.staff).status_code == 303
