"""The allergens that a product's own words name, whatever its list declares.

A list that leaves out what the words beside it name is not to be relied on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
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
    r"\b(?:rice|corn|maize|almond|coconut|chickpea|tapioca|masa|potato|buckwheat|oat|cassava|yuca)"
    r" (?:flour|pasta|harina|noodles)|\b(?:curry|chili|tomato) pasta|\bpasta de\b|\bmasa harina\b"
    r"|\bharina de (?:arroz|maiz|almendras?|coco|garbanzo|tapioca|papa|yuca|nixtamal|avena)\b"
)
_LOAF = "pan"
# "No nuts", "sin gluten", "dairy-free", "free of egg or milk": what is said so is not in it.
_DENIED = re.compile(
    r"\b(?:no|not|without|sin|ni|free (?:of|from)|libres? de|zero|cero"
    r"|no (?:lleva|llevan|contiene|contienen|tiene|tienen|trae)|(?:does|do) not contain)"
    r"(?: (?:added|any|de))?\s+$"
)
LONGEST_DENIAL = 40  # in letters
_DENIED_BEHIND = re.compile(r"[\s-]*free\b")
_AND = re.compile(r"\s*(?:[,/&]|\b(?:and|or|nor|y|e|o|u|ni)\b)\s*")
_SENTENCE = re.compile(r"[.!?\n]+")
FOOD = ("dishes", "recipes")
# Of what a drink is described with only such a sentence counts: "notes of almond" are no almonds.
_DECLARES = re.compile(
    r"\b(?:contain\w*|contien\w*|conteng\w*|contener|traces?|trazas?|al+erg(?!y.free)\w*)\b"
)
# What is called like an allergen and has none of it.
_NOT_MEANT = re.compile(
    r"\b(?:(?P<plant>coconut|oat|rice|soya?|almond|cashew|peanut)(?: (?:milk|cream|butter|cheese))+"
    r"|(?:apple|fruit|pumpkin|cocoa) butter|cream of (?P<coco>coconut|tartar)|cream soda"
    r"|(?:leche|crema|mantequilla|queso|nata) de (?P<planta>coco|avena|arroz|so[jy]a|tigre|mani"
    r"|almendras?|cacahuate)"
    r"|gluten.free (?:bread\w*|pasta|flour|panko|croutons?)|dairy.free (?:milk|cheese|butter|cream)"
    r"|egg.free (?:mayo\w*|pasta)|(?:vegan|plant|plant.based) \w+|\w+ vegan[oa]s?|crema vegetal"
    r"|nuez moscada"
    r"|(?:manteca|mantequilla) de cacao|cremor tartaro|oyster mushrooms?|butter (?:lettuce|beans?)"
    r"|(?:agua|nieve|jugo|mermelada|dulce) de tuna|tunas? (?:roja|verde|blanca)s?"
    r"|rye (?:whiske?y|bourbon))\b"
)
# A guest is offered it, or it goes with the dish: it is in it only then.
_OFFERED = re.compile(
    r"\b(?:goes|go|pairs?|pairing|add|extra|upgrade|your choice|choose|optional|serve it with"
    r"|va|van|marida|agreg\w*|anad\w*|elige|a elegir|opcional|acompan\w*)\b"
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
        yield from _named_in(text, is_of_food=kind in FOOD)
    for name in DESCRIPTIONS:
        for sentence in _SENTENCE.split(values.get(name) or ""):
            said = fold(sentence)
            is_said = kind in FOOD and not _OFFERED.search(said)
            if is_said or _DECLARES.search(said):
                yield from _named_in(sentence, is_of_food=False)


def _names_and_ingredients(values: Mapping[str, Any]) -> Iterator[str]:
    yield from (values.get(name) or "" for name in NAMES)
    for item in values.get("ingredients") or ():
        yield from (item.get(language) or "" for language in LANGUAGES)


def _named_in(text: str, *, is_of_food: bool) -> Iterator[Set[str]]:
    """What a text names and does not deny; of a name or ingredient what it is made with, too."""
    bare = _NOT_MEANT.sub(_what_it_is_of, fold(text))
    found = [(each.start, each.end, each.codes) for each in named_allergens(bare)]
    if is_of_food:
        foods = _FOOD.finditer(_OTHER_FLOURS.sub(lambda flour: " " * len(flour[0]), bare))
        found += [(*each.span(), frozenset({_FOODS[each[0]]})) for each in foods]
    denied = _denied(bare, sorted({(start, end) for start, end, _codes in found}))
    yield from (codes for start, _end, codes in found if start not in denied)
    if is_of_food and bare.strip() == _LOAF:
        yield {"gluten"}


def _what_it_is_of(found: re.Match[str]) -> str:
    return str(found["plant"] or found["planta"] or "")


def _denied(text: str, places: Sequence[tuple[int, int]]) -> set[int]:
    """Where a name stands that is denied, itself or with the others of its list."""
    denied: set[int] = set()
    before, before_end = -1, 0
    for start, end in places:
        is_in_list = before in denied and _AND.fullmatch(text[before_end:start])
        if is_in_list or _DENIED.search(text[max(0, start - LONGEST_DENIAL) : start]):
            denied.add(start)
        before, before_end = start, end
    # "Nut and dairy free" is free of both.
    after = len(text)
    for start, end in reversed(places):
        is_in_list = after in denied and _AND.fullmatch(text[end:after])
        if is_in_list or _DENIED_BEHIND.match(text, end):
            denied.add(start)
        after = start
    return denied
