"""Which category an item is likely of."""

from __future__ import annotations

import pytest

from app.skills.expenses.nlu import Category, default_categories, guess_category
from app.skills.expenses.nlu.categories import named_category

CATEGORIES = default_categories()
GUESSES = {
    "en": {
        "utilities": [
            "electricity bill",
            "water bill",
            "gas bill",
            "Wi-Fi",
            "internet",
            "electrcity",
        ],
        "transport": ["taxi", "Uber to the airport", "gas for the van", "parking", "bus fare"],
        "ingredients": ["tomatoes", "2 ribeyes", "fryer oil", "jalapeños", "salt and pepper"],
        "cleaning": ["dish soap", "soap for the dishes", "paper towels", "bleach", "mop"],
        "office": ["printer paper", "ink", "stamps", "business cards"],
        "equipment": ["new blender", "knives", "coffee machine", "stock pot"],
        "drinks": ["beer kegs", "bottled water", "coffee", "ice", "lime juice"],
        "repairs": ["plumber", "coffee machine repair", "fridge repair", "locksmith"],
        "supplies": ["napkins", "coffee cups", "wine glasses", "to-go boxes", "napkns"],
        "staff": ["staff lunch", "aprons", "payroll"],
        "fees": ["rent", "liquor license", "insurance"],
        "": ["zorbs", "", "!!", "12"],
    },
    "es": {
        "utilities": ["recibo de luz", "la luz", "recibo del agua", "el gas", "internet"],
        "transport": ["taxi", "gasolina", "estacionamiento", "envío"],
        "ingredients": ["jitomate", "limones", "camarones", "aceite", "frijoles"],
        "cleaning": ["jabón de trastes", "cloro", "bolsas de basura", "fumigación"],
        "office": ["papel para impresora", "copias", "tinta de la impresora"],
        "equipment": ["licuadora nueva", "máquina de hielo", "cuchillos"],
        "drinks": ["barriles de cerveza", "garrafones de agua", "hielo", "jugo de naranja"],
        "repairs": ["plomero", "reparación de la cafetera", "cerrajero"],
        "supplies": ["servilletas", "vasos de café", "mantel", "focos"],
        "staff": ["comida del personal", "mandiles", "nómina"],
        "fees": ["renta del local", "impuestos", "licencia de alcohol"],
    },
}


@pytest.mark.parametrize(
    ("language", "slug", "item"),
    [
        (language, slug, item)
        for language, slugs in GUESSES.items()
        for slug, items in slugs.items()
        for item in items
    ],
)
def test_an_item_is_guessed_by_its_words(language: str, slug: str, item: str) -> None:
    assert guess_category(item, CATEGORIES, language) == slug


@pytest.mark.parametrize(
    ("said", "slug"),
    [
        ("cleaning", "cleaning"),
        ("Limpieza", "cleaning"),
        ("rent and fees", "fees"),
        ("rent", "fees"),
        ("publicidad", "office"),
        ("transportes", "transport"),
        ("zorbs", ""),
        ("", ""),
    ],
)
def test_a_category_is_known_by_its_names(said: str, slug: str) -> None:
    assert named_category(said, CATEGORIES) == slug


def test_a_houses_own_category_is_known_by_its_name_without_any_words() -> None:
    own = (Category("garden", {"en": "Herb garden", "es": "Huerto"}),)
    assert guess_category("seeds for the herb garden", own, "en") == "garden"
    assert guess_category("herb garden seeds", own, "en") == "garden"
    assert named_category("huerto", own) == "garden"


def test_the_defaults_end_with_other_and_have_both_names() -> None:
    slugs = [category.slug for category in CATEGORIES]
    assert len(slugs) == len(set(slugs))
    assert slugs[-1] == "other"
    assert all(set(category.names) == {"en", "es"} for category in CATEGORIES)


def test_no_word_speaks_for_two_categories_by_mistake() -> None:
    seen: dict[str, str] = {}
    for category in CATEGORIES:
        for word in category.words:
            assert seen.setdefault(word, category.slug) == category.slug, word
