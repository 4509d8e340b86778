"""The allergens that a product's own words name, whatever its list declares.

A list that leaves out what the words beside it name is not to be relied on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from app.config import LANGUAGES
from app.nlu.named_allergens import named_allergens
from app.text.allergens import expand_families
from app.text.normalize import fold
from app.text.yaml_file import read_yaml

NAMES = tuple(f"name_{language}" for language in LANGUAGES)
DESCRIPTIONS = tuple(f"description_{language}" for language in LANGUAGES)
# What an allergen is in, by every name of it.
_FOODS = {
    fold(name.strip()): code
    for code, names in read_yaml(Path(__file__).with_name("foods.yaml")).items()
    for name in names.split(",")
}
_FOOD = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, _FOODS), key=len, reverse=True))})\b")
# Of these a flour is made too, and a Spanish "pasta de" is a paste; in a "pan" one fries, too.
_OTHER_FLOURS = re.compile(
    r"\b(?:rice|corn|maize|almond|coconut|chickpea|tapioca|masa|potato|buckwheat) (?:flour|pasta)"
    r"|\bpasta de\b|\bharina de (?:arroz|maiz|almendras?|coco|garbanzo|tapioca|papa)\b"
)
_LOAF = "pan"
_DENIED = re.compile(r"\b(?:free|vegan\w*|sin|libre|without|no)\b")
_SENTENCE = re.compile(r"[.!?\n]+")
FOOD = ("dishes", "recipes")
# Of what a drink is described with only such a sentence counts: "notes of almond" are no almonds.
_DECLARES = re.compile(
    r"\b(?:contain\w*|contien\w*|conteng\w*|contener|traces?|trazas?|al+erg(?!y.free)\w*)\b"
)
# What is called like an allergen and has none of it.
_NOT_MEANT = re.compile(
    r"\b(?:(?P<plant>coconut|oat|rice|soya?) (?:milk|cream|butter|cheese)"
    r"|(?:leche|crema|mantequilla|queso) de (?P<planta>coco|avena|arroz|so[jy]a)"
    r"|(?:vegan|plant|plant.based) (?:milk|cream|butter|cheese)|queso vegano|crema vegetal"
    r"|cocoa butter|(?:manteca|mantequilla) de cacao|cream of tartar|cremor tartaro"
    r"|oyster mushrooms?|butter (?:lettuce|beans?))\b"
)


def undeclared(values: Mapping[str, Any], declared: Iterable[str], kind: str) -> list[str]:
    """The codes that names, ingredients and descriptions name and a list does not.

    `values` are those of a product of this kind, as far as they are there.
    """
    listed = {*expand_families(declared)}
    found = [
        code
        for codes in _named(values, kind)
        if listed.isdisjoint(expand_families(codes))
        for code in expand_families(sorted(codes))
    ]
    return list(dict.fromkeys(found))


def _named(values: Mapping[str, Any], kind: str) -> Iterator[Set[str]]:
    """The codes and families that each name of an allergen may stand for."""
    for text in _names_and_ingredients(values):
        yield from _named_in(text)
        if kind in FOOD:
            yield from _foods_in(text)
    for name in DESCRIPTIONS:
        for sentence in _SENTENCE.split(values.get(name) or ""):
            if kind in FOOD or _DECLARES.search(fold(sentence)):
                yield from _named_in(sentence)


def _names_and_ingredients(values: Mapping[str, Any]) -> Iterator[str]:
    yield from (values.get(name) or "" for name in NAMES)
    for item in values.get("ingredients") or ():
        yield from (item.get(language) or "" for language in LANGUAGES)


def _named_in(text: str) -> Iterator[Set[str]]:
    bare = _NOT_MEANT.sub(lambda found: found["plant"] or found["planta"] or "", fold(text))
    yield from (each.codes for each in named_allergens(bare) if not each.unwanted)


def _foods_in(text: str) -> Iterator[Set[str]]:
    """The codes of what a name or an ingredient is made with."""
    folded = _OTHER_FLOURS.sub("", fold(text))
    if not _DENIED.search(folded):
        yield from ({_FOODS[found]} for found in _FOOD.findall(folded))
        yield from [{"gluten"}] if folded.strip() == _LOAF else []
