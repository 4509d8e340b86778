"""Every account page in Spanish: nothing of it stays in English."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select

from app.accounts.models import Invitation
from app.db import Database
from app.notifications.mail import OutgoingMail
from tests.accounts.conftest import Browser, House, Member, found_house, link_in

SignedIn = Callable[[Member], Browser]


@pytest.mark.parametrize(
    ("path", "spanish", "english"),
    [
        ("/sign-in", "¿Olvidaste tu contraseña?", "Forgot your password?"),
        ("/forgot-password", "Enviar el enlace", "Send the link"),
    ],
)
def test_the_pages_before_signing_in(
    browser: Browser, path: str, spanish: str, english: str
) -> None:
    page = browser.get(f"{path}?lang=es").text
    assert '<html lang="es"' in page
    assert spanish in page
    assert english not in page


@pytest.mark.parametrize(
    ("path", "spanish", "english"),
    [
        ("/profile", "Tus alergias", "Your allergies"),
        ("/people", "Invita a alguien", "Invite somebody"),
    ],
)
def test_the_pages_after_signing_in(
    signed_in: SignedIn, house: House, path: str, spanish: str, english: str
) -> None:
    browser = signed_in(house.admin)
    browser.post("/language", {"language": "es"})
    page = browser.get(path).text
    assert '<html lang="es"' in page
    assert spanish in page
    assert english not in page


def test_a_browser_that_prefers_spanish_gets_it(browser: Browser) -> None:
    page = browser.get("/sign-in", headers={"Accept-Language": "es-MX,es;q=0.9,en;q=0.5"}).text
    assert "Contraseña" in page


def test_what_ends_with_a_password_is_told_in_spanish(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.staff)
    browser.post("/language", {"language": "es"})
    form = {"current_password": house.staff.password, "new_password": "nueve cebollas moradas"}
    assert browser.post("/profile/password", form).status_code == 303
    told = "Se cerró tu sesión en todos los demás lugares y tus tokens de API ya no sirven."
    assert told in browser.get("/profile").text


def test_errors_are_in_the_pages_language(browser: Browser, house: House) -> None:
    browser.post("/language", {"language": "es"})
    assert (
        "Este correo y esta contraseña no coinciden." in browser.sign_in(house.staff, "wrong").text
    )
    assert "venció o ya se usó" in browser.get("/reset-password/x").text


def test_saving_in_a_new_language_is_confirmed_in_it(signed_in: SignedIn, house: House) -> None:
    browser = signed_in(house.staff)
    form = {"name": "Ana", "language": "es", "theme": "system", "units": "metric"}
    browser.post("/profile", form)
    assert "Tu perfil quedó guardado." in browser.get("/profile").text


def test_an_invitation_speaks_the_groups_language_and_the_page_the_readers(
    spanish_house: House,
    signed_in: SignedIn,
    browser: Browser,
    owner: Database,
    mail_to: Callable[[str], list[OutgoingMail]],
) -> None:
    house = spanish_house
    email = f"luz-{house.slug}@example.com"
    signed_in(house.admin).post("/people", {"action": "invite", "email": email, "role": "staff"})
    (mail,) = mail_to(email)
    assert mail.subject == f"{house.admin.name} te invita a {house.name} en Comanda"
    link = link_in(mail)
    assert f"Join {house.name}" in browser.get(link).text
    assert f"Únete a {house.name}" in browser.get(f"{link}?lang=es").text
    with owner.transaction() as session:
        assert session.scalars(select(Invitation.role).where(Invitation.email == email)).one()


@pytest.fixture
def spanish_house(owner: Database) -> House:
    return found_house(owner, language="es")
