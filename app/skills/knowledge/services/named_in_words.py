"""The allergens that a product's own words name, whatever its list declares.

A list that leaves out what the words beside it name is not to be relied on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from app.config import LANGUAGES
from app.nlu.named_allergens import named_allergens
from app.text.allergens import expand_families
from app.text.normalize import fold
from app.text.yaml_file import read_yaml

NAMES = tuple(f"name_{language}" for language in LANGUAGES)
DESCRIPTIONS = tuple(f"description_{language}" for language in LANGUAGES)
PAIRINGS = tuple(f"pairing_notes_{language}" for language in LANGUAGES)
LABELS = ("category", "cuisine", "meal")
# The facts that say what something is made of.
_MADE_OF = ("spec", "method", "garnish", "sauce", "base")
# What an allergen is in, by every name of it, and by every sign for it.
_NAMED = {
    fold(name.strip()): code
    for code, names in read_yaml(Path(__file__).with_name("allergen_foods.yaml")).items()
    for name in names.split(",")
}
_FOODS = {name: code for name, code in _NAMED.items() if name[0].isalpha()}
_SIGNS = {name: code for name, code in _NAMED.items() if name not in _FOODS}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
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
    r"(?<!\bnever )(?<!\bnot )(?<!\bnunca )(?<!\bno )"
    r"\b(?:no|not|without|sin|ni|(?P<whole>free (?:of|from)|libres? de)|zero|cero"
    r"|no (?:lleva|llevan|contiene|contienen|tiene|tienen|trae)|(?:does|do) not contain)"
    r"(?: (?:added|any|de))?\s+$"
)
LONGEST_DENIAL = 40  # in letters
# With these in it a sentence may deny the denial, or speak of what is made on request.
_DOUBTED = re.compile(
    r"\bnot\b(?! contain)|n['’]t\b|\b(?:cannot|dont|isnt|never|nunca|hardly|almost|casi|usually)\b"
    r"|\bno (?:es|esta|son|estan|se|sirve)\b|\?|\b(?:or|o) (?:without|sin)\b|\b(?:nothing|nada)\b"
    r"|\b(?:can|could|options?|optional|opcion\w*|available|disponibles?|request\w*|ask\w*|pedi\w*"
    r"|pide\w*|puede\w*|podemos|version(?:e?s)?|also|tambien|if|si|unless|except|excepto|salvo"
    r"|instead|substitut\w*|swap\w*|cambi\w*|sustitu\w*|upon|make|order\w*|add\w*|extra|kids|comes"
    r"|vegan\w*|vegetarian\w*|gf|df|nf|vg)\b"
    r"|\bfree\W+(?:\w+\W+){0,2}(?:without|no|sin)\b"
    r"|\b(?:with|con)\s*[/&,]|\b(?:with|con) (?:and|or|y|o|u)\b"
)
# Not so "egg, free range".
_DENIED_BEHIND = re.compile(r"[\s-]?free\b(?!.(?:range|of charge|with|for|when|refill|sample))")
_AND = re.compile(r"\s*(?:[/&]|(?:,\s*)?\b(?:and|or|nor|y|e|o|u|ni)\b|,)\s*")
# To such a word a "no" before the list reaches; "sin gluten, huevo y crema" has egg and cream.
_OR = re.compile(r".*\b(?:or|nor|o|u|ni)\b")
_FREE_OF_BOTH = re.compile(r"[\s-]*free\s*(?:$|[,;:().!])")
_BOTH = re.compile(r"\s*,?\s*(?:[/&]|\b(?:and|or|y|e|o|u)\b)\s*")
_BEGINS = re.compile(r"(?:^|[.;\n]|\b(?:is|are)\b)\s*$")
_CLAUSE_END = re.compile(r"\s*(?:$|[,;:().!])")
# With what ends them: a question denies nothing.
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
FOOD = ("dishes", "recipes")
# Of what a drink is described with only such a sentence counts: "notes of almond" are no almonds.
_DECLARES = re.compile(
    r"\b(?:contain\w*|contien\w*|conteng\w*|contener|traces?|trazas?|al+erg(?!y.free)\w*)\b"
)
# What is called like an allergen and has none of it: each a name of its own, and no more than that.
# What is offered with a dish, or made some other way on request, counts as if it were in it: no
# pattern is sure to tell those from what is.
_NOT_MEANT = re.compile(
    r"\b(?:(?P<plant>coconut|oat|rice|soya?|almond|cashew) milk(?! choc)"
    r"|(?P<nut>peanut) butter|coconut cream|(?:apple|cocoa) butter"
    r"|cream of (?P<coco>coconut|tartar)|cream soda"
    r"|(?:leche|crema) de (?P<planta>coco|avena|arroz|so[jy]a|tigre|almendras?|cacahuate)"
    r"|(?:mantequilla|crema) de (?P<mani>mani|cacahuate)|nata de coco"
    r"|crema vegetal|nuez moscada"
    r"|(?:manteca|mantequilla) de cacao|cremor tartaro|oyster mushrooms?|butter (?:lettuce|beans?)"
    r"|(?:agua|nieve|jugo|mermelada|dulce) de tuna|tunas? (?:roja|verde|blanca)s?"
    r"|rye (?:whiske?y|bourbon))\b"
)
# What is made without what it is called after; not where that is in doubt.
_MADE_WITHOUT = re.compile(
    r"\b(?:gluten.free (?:bread\w*|pasta|flour|panko|croutons?)"
    r"|dairy.free (?:milk|cheese|butter|cream)|egg.free (?:mayo\w*|pasta))\b"
)


def undeclared(
    values: Mapping[str, Any], declared: Iterable[str], kind: str, beside: Iterable[str] = ()
) -> list[str]:
    """The codes that the words of a product name and a list does not.

    `values` are those of a product of this kind, as far as they are there: names, ingredients,
    descriptions, steps, tags, a category, notes on pairing and facts. `beside` is what else was
    said of it.
    """
    listed = {*expand_families(declared)}
    more = (codes for text in beside for codes in _named_in(text, is_of_food=True))
    found = [
        code
        for codes in chain(_named(values, kind), more)
        if listed.isdisjoint(expand_families(codes))
        for code in expand_families(sorted(codes))
    ]
    return list(dict.fromkeys(found))


def names_any(text: str) -> bool:
    """Whether a text names an allergen, or a food that is made with one, and does not deny it."""
    return any(_named_in(text, is_of_food=True))


def _named(values: Mapping[str, Any], kind: str) -> Iterator[Set[str]]:
    """The codes and families that each name of an allergen may stand for."""
    for text in _names_and_ingredients(values):
        yield from _named_in(text, is_of_food=kind in FOOD)
    facts = values.get("facts") or {}
    made_of = [facts[name] for name in _MADE_OF if facts.get(name)]
    for step in _in_languages([*(values.get("steps") or ()), *made_of]):
        yield from _named_in(step, is_of_food=kind in FOOD)
    for label in (*(values.get("tags") or ()), *(values.get(name) for name in LABELS)):
        yield from _named_in(str(label or "").replace("_", " "), is_of_food=False)
    texts = [values.get(name) or "" for name in DESCRIPTIONS]
    yield from _named_in_sentences(texts, is_said=kind in FOOD)
    told = [values.get(name) or "" for name in PAIRINGS]
    told += _in_languages(facts.values())
    yield from _named_in_sentences(told, is_said=False)


def _named_in_sentences(texts: Iterable[str], *, is_said: bool) -> Iterator[Set[str]]:
    """What sentences name that declare something; what `is_said` of the product itself counts."""
    for sentence in (each for text in texts for each in _SENTENCE.findall(text)):
        said = fold(sentence)
        if is_said or _DECLARES.search(said):
            yield from _named_in(sentence, is_of_food=False)
        else:
            yield from (frozenset({_SIGNS[each]}) for each in _SIGN.findall(said))


def _names_and_ingredients(values: Mapping[str, Any]) -> Iterator[str]:
    yield from (values.get(name) or "" for name in NAMES)
    yield from _in_languages(values.get("ingredients"))


def _in_languages(items: Iterable[Any] | None) -> Iterator[str]:
    """The texts of items that are texts themselves or have one for each language."""
    for item in items or ():
        is_translated = isinstance(item, Mapping)
        yield from (
            (str(item.get(each) or "") for each in LANGUAGES) if is_translated else [str(item)]
        )


def _named_in(text: str, *, is_of_food: bool) -> Iterator[Set[str]]:
    """What a text names and does not deny; of a name or ingredient what it is made with, too."""
    bare = _NOT_MEANT.sub(_what_it_is_of, fold(text))
    is_doubted = _DOUBTED.search(bare) is not None
    bare = bare if is_doubted else _MADE_WITHOUT.sub("", bare)
    found = [(each.start, each.end, each.codes) for each in named_allergens(bare)]
    found += [(*each.span(), frozenset({_SIGNS[each[0]]})) for each in _SIGN.finditer(bare)]
    if is_of_food:
        foods = _FOOD.finditer(_OTHER_FLOURS.sub(lambda flour: " " * len(flour[0]), bare))
        found += [(*each.span(), frozenset({_FOODS[each[0]]})) for each in foods]
    places = sorted({(start, end) for start, end, _codes in found})
    denied = frozenset() if is_doubted else _denied(bare, places)
    yield from (codes for start, _end, codes in found if start not in denied)
    if is_of_food and bare.strip() == _LOAF:
        yield {"gluten"}


def _what_it_is_of(found: re.Match[str]) -> str:
    names = ("plant", "nut", "planta", "mani")
    return next((found[name] for name in names if found[name]), "")


def _denied(text: str, places: Sequence[tuple[int, int]]) -> set[int]:
    """Where a name stands that is denied, itself or with the others of its list."""
    denied: set[int] = set()
    for number, (start, end) in enumerate(places):
        if start in denied:
            continue
        said = _DENIED.search(text[max(0, start - LONGEST_DENIAL) : start])
        if said:
            denied.add(start)
            denied.update(_denied_after(text, places[number:], is_whole=bool(said["whole"])))
        elif _DENIED_BEHIND.match(text, end):
            denied.add(start)
            if number and _is_free_of_both(text, places[number - 1], (start, end)):
                denied.add(places[number - 1][0])
    return denied


def _denied_after(text: str, places: Sequence[tuple[int, int]], *, is_whole: bool) -> Iterator[int]:
    """Which others a denial of the first reaches: as far as an "or" or "nor" goes.

    With `is_whole`, as of what is free of them, as far as an "and", where the clause ends there.
    """
    last, reached, is_and = 0, 0, False
    for (_start, end), (start, _end) in pairwise(places):
        between = text[end:start]
        if not _AND.fullmatch(between):
            break
        last += 1
        reached = last if _OR.match(between) else reached
        is_and = _BOTH.fullmatch(between) is not None
    if is_whole and is_and and _CLAUSE_END.match(text, places[last][1]):
        reached = last
    yield from (start for start, _end in places[1 : reached + 1])


def _is_free_of_both(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether "free" is said of both: "nut and dairy free", not "almonds and gluten-free bread"."""
    before = text[max(0, one[0] - LONGEST_DENIAL) : one[0]]
    is_list = _BOTH.fullmatch(text[one[1] : other[0]]) and _FREE_OF_BOTH.match(text, other[1])
    return bool(is_list and _BEGINS.search(before))
