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

_FOLDER = Path(__file__).parent
_PATTERNS: Mapping[str, list[str]] = read_yaml(_FOLDER / "allergen_words.yaml")


def _either(name: str) -> str:
    """The lines of a pattern, as a part of a larger one."""
    return f"(?:{'|'.join(_PATTERNS[name])})"


def _compiled(name: str) -> re.Pattern[str]:
    """The lines of a pattern by itself."""
    return re.compile("|".join(_PATTERNS[name]))


# What an allergen is in, by every name of it, and by every sign for it.
_NAMED = {
    fold(name.strip()): code
    for code, names in read_yaml(_FOLDER / "allergen_foods.yaml").items()
    for name in names.split(",")
}
_FOODS: Mapping[str, str] = {name: code for name, code in _NAMED.items() if name[0].isalpha()}
_SIGNS: Mapping[str, str] = {name: code for name, code in _NAMED.items() if name not in _FOODS}
NAMES = tuple(f"name_{language}" for language in LANGUAGES)
DESCRIPTIONS = tuple(f"description_{language}" for language in LANGUAGES)
PAIRINGS = tuple(f"pairing_notes_{language}" for language in LANGUAGES)
LABELS = ("category", "cuisine", "meal")
# The facts that say what something is made of.
_MADE_OF = ("spec", "method", "garnish", "sauce", "base")
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_FOOD = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, _FOODS), key=len, reverse=True))})\b")
_OTHER_FLOURS = _compiled("other_flours")
# A bread by itself; in a "pan" one fries, too.
_LOAF = "pan"
_DENIED, _DENIED_BEHIND, _DOUBTED = map(_compiled, ("denied", "denied_behind", "doubted"))
LONGEST_DENIAL = 40  # in letters
_AND = re.compile(rf"\s*(?:[/&]|(?:,\s*)?\b{_either('joins')}\b|,)\s*")
_OR = re.compile(rf".*\b{_either('reaches')}\b")
_FREE_OF_BOTH = re.compile(r"[\s-]*free\s*(?:$|[,;:().!])")
_BOTH = re.compile(rf"\s*,?\s*(?:[/&]|\b{_either('joins_two')}\b)\s*")
_BEGINS = re.compile(r"(?:^|[.;\n]|\b(?:is|are)\b)\s*$")
_CLAUSE_END = re.compile(r"\s*(?:$|[,;:().!])")
# With what ends them: a question denies nothing.
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
FOOD = ("dishes", "recipes")
_DECLARES = re.compile(rf"\b{_either('declares')}\b")
_NOT_MEANT, _MADE_WITHOUT = (
    re.compile(rf"\b{_either(name)}\b") for name in ("not_meant", "made_without")
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
