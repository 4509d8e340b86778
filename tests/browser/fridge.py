"""Somebody who keeps the fridge log by the chat: what the model proposes, and the card of it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator

from tests.browser.chat_page import Visitor
from tests.browser.house import House
from tests.browser.scripts import exactly
from tests.model_server import Call, Say, Scenario, scenario

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "ask": "Log 4 degrees for the walk-in",
        "change": "make it 5",
        "proposed": "Log 4 °C for the walk-in.",
        "amended": "Log 5 °C for the walk-in.",
        "done": "Logged 4 °C for the walk-in.",
        "confirm": "Confirm",
        "cancel": "Cancel",
        "edit": "Change",
        "undo": "Undo",
        "back": "Bring it back",
        "undone": "This was undone",
        "cancelled": "Canceled: nothing was done",
        "superseded": "Replaced by a newer one",
        "expired": "Not answered in time: nothing was done",
        "yes": "yes",
        "no": "no",
    },
    "es": {
        "ask": "Anota 4 grados en la cámara fría",
        "change": "mejor que sean 5",
        "proposed": "Registrar 4 °C en: cámara fría.",
        "amended": "Registrar 5 °C en: cámara fría.",
        "done": "Se registró 4 °C en: cámara fría.",
        "confirm": "Confirmar",
        "cancel": "Cancelar",
        "edit": "Cambiar",
        "undo": "Deshacer",
        "back": "Recuperar",
        "undone": "Esto se deshizo",
        "cancelled": "Cancelada: no se hizo nada",
        "superseded": "Reemplazada por una más nueva",
        "expired": "Sin respuesta a tiempo: no se hizo nada",
        "yes": "sí, dale",
        "no": "mejor no",
    },
}


def proposes(message: str, degrees: float, said: str = "Shall I?", **more: Any) -> Scenario:
    """Asked exactly this, the model wants to log so many degrees for the walk-in."""
    arguments = {"unit": "walk-in", "degrees": degrees, **more}
    return scenario(Call("log_temperature", arguments), Say(said), when=exactly(message))


def keep_the_log(house: House) -> None:
    """The model understands what people say about the walk-in, in both languages."""
    for words in WORDS.values():
        house.model.script(proposes(words["ask"], 4), proposes(words["change"], 5))


def offered(visitor: Visitor, language: str = "en") -> Locator:
    """Ask for 4 degrees to be logged; the card that asks whether to."""
    visitor.ask(WORDS[language]["ask"])
    visitor.wait_for_answer()
    return visitor.reply.locator(".part").first


def press(card: Locator, words: str) -> None:
    card.get_by_role("button", name=words, exact=True).click()


def press_enter_on(card: Locator, words: str) -> None:
    """By keyboard, which is never taken for the second tap of two: no moment has to pass."""
    card.get_by_role("button", name=words, exact=True).press("Enter")
