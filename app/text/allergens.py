"""The allergens that menus declare and profiles list: their codes, and their names.

Profiles and menus must mean the same thing by the same word, so both read it here. Both
languages are needed at once, because what a menu says is searched in both.
"""

from __future__ import annotations

from collections.abc import Iterable

# In the order in which they are listed.
ALLERGENS: dict[str, dict[str, str]] = {
    "milk": {"en": "milk", "es": "leche"},
    "egg": {"en": "egg", "es": "huevo"},
    "fish": {"en": "fish", "es": "pescado"},
    "crustacean": {"en": "crustaceans", "es": "crustáceos"},
    "mollusc": {"en": "molluscs", "es": "moluscos"},
    "tree_nut": {"en": "tree nuts", "es": "frutos secos"},
    "peanut": {"en": "peanuts", "es": "cacahuates"},
    "gluten": {"en": "gluten", "es": "gluten"},
    "soy": {"en": "soy", "es": "soya"},
    "sesame": {"en": "sesame", "es": "ajonjolí"},
    "mustard": {"en": "mustard", "es": "mostaza"},
    "celery": {"en": "celery", "es": "apio"},
    "sulphite": {"en": "sulphites", "es": "sulfitos"},
    "lupin": {"en": "lupin", "es": "altramuz"},
}

# What people name several of them by at once. Who says "nuts" and means but one kind of them
# loses a dish or two; who means both and is taken to mean one may lose more.
FAMILIES: dict[str, tuple[str, ...]] = {
    "nuts": ("tree_nut", "peanut"),
    "shellfish": ("crustacean", "mollusc"),
}


def expand_families(codes: Iterable[str]) -> tuple[str, ...]:
    """The codes of the allergens that these codes and families stand for, as they are listed."""
    meant = {code for given in codes for code in FAMILIES.get(given, (given,))}
    return tuple(code for code in ALLERGENS if code in meant)


def allergen_name(code: str, language: str) -> str:
    """The allergen's name as it stands within a sentence; an unknown code as plain words."""
    known = ALLERGENS.get(code)
    return known[language] if known else code.replace("_", " ").replace("-", " ")
