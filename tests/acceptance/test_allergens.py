"""What a guest must not eat: nothing is shown as an answer that has it, or may have it."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select

from app.db import Database
from app.skills.knowledge.models import Product
from app.text.allergens import expand_families
from tests.acceptance.asking import FINISHED, STAFF, Reply, ask, slug_of

# By kind and slug; None where nobody has declared any.
Listed = dict[tuple[str, str], list[str] | None]
KITCHEN = {"en": "Check with the kitchen", "es": "onfirma con la cocina"}

# The question, its language, what must not be in the answer, and the kind of product asked for.
WITHOUT = [
    ("which dishes are gluten free", "en", ("gluten",)),
    ("¿qué platillos no tienen gluten?", "es", ("gluten",)),
    ("what can a celiac eat", "en", ("gluten",)),
    ("which desserts have no nuts", "en", ("nuts",)),
    ("¿qué postres hay sin nueces?", "es", ("nuts",)),
    ("a guest is allergic to shellfish, which starters have none", "en", ("shellfish",)),
    ("alérgico a la leche y al huevo, ¿qué platillos puede pedir?", "es", ("milk", "egg")),
    ("which cocktails are dairy free", "en", ("milk",)),
]
# The question, its language, the one product that it names, and what it asks of it.
OF_ONE = [
    ("is the tres leches nut free", "en", "tres-leches", "nuts"),
    ("¿el tres leches no tiene nueces?", "es", "tres-leches", "nuts"),
    ("can a celiac eat the fries", "en", "hand-cut-fries", "gluten"),
    ("¿puede un celíaco comer las papas fritas?", "es", "hand-cut-fries", "gluten"),
    ("can a celiac eat the mac and cheese", "en", "green-chile-mac", "gluten"),
    ("is the mole safe for someone with a peanut allergy", "en", "chicken-mole", "peanut"),
    ("¿el mole es libre de cacahuate?", "es", "chicken-mole", "peanut"),
]


@pytest.fixture(scope="module")
def listed(owner: Database, houses: dict[str, UUID]) -> Listed:
    """What the record of every product of the house lists; a dish and its recipe share a slug."""
    group_id = houses["alamo-prime"]
    with owner.transaction() as session:
        rows = session.execute(
            select(Product.kind, Product.slug, Product.allergens).where(
                Product.group_id == group_id
            )
        )
        return {(kind, slug): allergens for kind, slug, allergens in rows}


def shown(reply: Reply) -> set[tuple[str, str]]:
    """All products that are cited or drawn, by kind and slug."""
    cited = {(citation["context"], slug_of(citation["url"])) for citation in reply.citations}
    return cited | {(card["kind"], card["slug"]) for card in reply.cards}


@pytest.mark.parametrize(("question", "language", "unwanted"), WITHOUT)
def test_nothing_is_shown_that_has_it_or_may_have_it(
    demo: Flask,
    listed: Listed,
    question: str,
    language: str,
    unwanted: tuple[str, ...],
) -> None:
    reply = ask(demo, STAFF[language], question)
    avoided = set(expand_families(unwanted))
    of_shown = {product: listed.get(product) for product in shown(reply)}
    wrong = [one for one, has in of_shown.items() if has is None or avoided & set(has)]
    assert wrong == [], str(reply)
    assert of_shown, str(reply)
    assert reply.status == FINISHED
    assert KITCHEN[language] in reply.text


@pytest.mark.parametrize(("question", "language", "slug", "asked"), OF_ONE)
def test_a_dish_that_is_named_is_told_of_by_its_list_and_never_with_a_yes(
    demo: Flask,
    listed: Listed,
    question: str,
    language: str,
    slug: str,
    asked: str,
) -> None:
    reply = ask(demo, STAFF[language], question)
    has_it = bool(set(expand_families([asked])) & set(listed["dishes", slug] or ()))
    has, lacks = {
        "en": ("According to its own list, it contains:", r"(is|are) not on its list\."),
        "es": ("Según su propia lista, contiene:", r"No están? en su lista:"),
    }[language]
    assert reply.cited_slugs == [slug], str(reply)
    assert (has in reply.text) is has_it, reply.text
    assert bool(re.search(lacks, reply.text)) is not has_it, reply.text
    assert KITCHEN[language] in reply.text
    assert "safe" not in reply.text.lower()
    assert not reply.text.lower().startswith(("yes", "sí"))


def test_where_nothing_is_without_it_nothing_is_shown_and_the_kitchen_is_asked(
    demo: Flask,
) -> None:
    reply = ask(demo, STAFF["en"], "which wines have no sulphites")
    assert shown(reply) == set()
    assert "I found nothing that is listed without this: sulphites." in reply.text
    assert KITCHEN["en"] in reply.text
