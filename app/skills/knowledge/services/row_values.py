"""What a row of a table says of a product: which one it means, and what becomes of the rest.

What a row leaves out stays as it is, unless the row may be about another dish: a declaration of
allergens is of a name and of ingredients, and goes where these change and nothing is declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz

from app.config import LANGUAGES
from app.db import JsonList
from app.skills.knowledge.models import Product
from app.skills.knowledge.services.named_in_words import DESCRIPTIONS, NAMES, PAIRINGS, undeclared
from app.text.normalize import fold

# Two names that are less alike than this, 0..100, are of two dishes.
ALIKE = 75
LISTS = ("ingredients", "steps")
TEXTS = (*NAMES, *DESCRIPTIONS, *PAIRINGS, "category")
# What a new product has where its file says nothing.
NOTHING: Mapping[str, Any] = {
    "description_en": "", "description_es": "", "category": "", "price": None, "allergens": None,
    "ingredients": [], "steps": [], "tags": [], "pairing_notes_en": "", "pairing_notes_es": "",
    "facts": {}, "is_active": True,
}  # fmt: skip
Item = Mapping[str, Any]


class KnownProducts:
    """The products of one kind: by their code, and by each of their names."""

    def __init__(self, products: Iterable[Product]) -> None:
        self._by_slug: dict[str, Product] = {}
        self._by_name: dict[str, Product] = {}
        for product in products:
            self.add(product)

    def add(self, product: Product) -> None:
        self._by_slug[product.slug] = product
        for language in LANGUAGES:
            self._by_name.setdefault(fold(_name(product, language)), product)

    def meant(self, item: Item) -> Product | None:
        """The product that an item means: by its code, else by its name.

        An address that was made of a name stays when the name is changed: of what is called
        otherwise by now it says nothing.
        """
        found = self._by_slug.get(item["slug"])
        if item.get("is_coded", True):
            return found
        names = [fold(name) for name in written_names(item).values()]
        if found is None:
            return self._named(names)
        is_called_so = {fold(_name(found, each)) for each in LANGUAGES}.intersection(names)
        return found if is_called_so else self._named(names)

    def _named(self, names: Sequence[str]) -> Product | None:
        return next((self._by_name[name] for name in names if name in self._by_name), None)

    def free_slug(self, slug: str) -> str:
        """This one, or with the first number that nothing has yet."""
        number, free = 1, slug
        while free in self._by_slug:
            number += 1
            free = f"{slug}-{number}"
        return free


def written_names(item: Item) -> dict[str, str]:
    """The names that an item has itself, by language."""
    names = {each: item.get(f"name_{each}", "") for each in LANGUAGES}
    borrowed = item.get("borrowed", ())
    return {each: name for each, name in names.items() if name and f"name_{each}" not in borrowed}


def said_of(product: Product, item: Item, wanted: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """The values that a product comes to have by a row.

    `origin` is the language of the file that the product came with, if it came with one.
    """
    # What a file has in one language only stands in for the other, and overwrites none.
    borrowed = item.get("borrowed", ())
    said = {n: value for n, value in wanted.items() if n in item and n not in borrowed}
    likeness = _likeness(product, item, origin)
    is_other = likeness < ALIKE
    facts = {} if is_other else product.facts
    said["facts"] = {**facts, **wanted["facts"]}
    for language in LANGUAGES:
        if _is_of_the_other(product, said.get(f"name_{language}"), language):
            # It is found by its other name, which is no name in this language.
            del said[f"name_{language}"]
    for name in LISTS:
        if name in said and not is_other:
            said[name] = _merged(getattr(product, name), said[name], origin)
    has_others = "ingredients" in said and said["ingredients"] != product.ingredients
    has_others = has_others and not _is_translation(product.ingredients, said["ingredients"])
    if likeness < 100 or has_others or _names_more(product, said):
        said.setdefault("allergens", None)
    return {**NOTHING, **wanted, **said} if is_other else said


def _likeness(product: Product, item: Item, origin: str) -> float:
    """How much the names of an item are like the product's, 0..100; a translation is like it."""
    found = [100.0]
    for language, name in written_names(item).items():
        own = fold(_name(product, language))
        [other] = [each for each in LANGUAGES if each != language]
        is_first = origin == other and own == fold(_name(product, other))
        if fold(name) not in (own, fold(_name(product, other))) and not is_first:
            found.append(min(fuzz.ratio(fold(name), own), 99.0))
    return min(found)


def _is_of_the_other(product: Product, name: str | None, language: str) -> bool:
    """Whether a name is the product's in the other language only."""
    if not name or fold(name) == fold(_name(product, language)):
        return False
    return any(fold(name) == fold(_name(product, each)) for each in LANGUAGES)


def _names_more(product: Product, said: Mapping[str, Any]) -> bool:
    """Whether what is new of its words names an allergen that is not declared.

    What is taken for a translation may be another dish all the same.
    """
    known = {fold(str(getattr(product, name))) for name in TEXTS}
    new = {name: said[name] for name in TEXTS if said.get(name) and fold(said[name]) not in known}
    tags = [tag for tag in said.get("tags") or () if tag not in (product.tags or ())]
    former = product.facts or {}
    facts = {name: value for name, value in said["facts"].items() if value != former.get(name)}
    lists = {name: _new_items(getattr(product, name), said.get(name)) for name in LISTS}
    values = {**new, **lists, "tags": tags, "facts": facts, "cuisine": facts.get("cuisine")}
    return bool(undeclared(values, product.allergens or (), product.kind))


def _new_items(former: JsonList | None, said: JsonList | None) -> JsonList:
    """The texts of a list that stand in none of the items that were there before."""
    known = {fold(item[each]) for item in former or () for each in LANGUAGES}
    return [
        {each: item[each] for each in LANGUAGES if fold(item[each]) not in known}
        for item in said or ()
    ]


def _name(product: Product, language: str) -> str:
    return str(getattr(product, f"name_{language}"))


def _merged(former: JsonList, said: JsonList, origin: str) -> JsonList:
    """The items of a row, with what is known of those that were there already.

    A list of as many items in the other language is the translation of those that are written in
    one language only.
    """
    language = _language_of(said)
    if not language:
        return said
    if len(former) == len(said) and all(_is_unwritten(each, language, origin) for each in former):
        return [
            {name: value for name, value in {**each, language: item[language]}.items()
             if name != "borrowed"}
            for each, item in zip(former, said, strict=True)
        ]  # fmt: skip
    left = [each for each in former if not _is_unwritten(each, language, origin)]
    merged = []
    for item in said:
        same = next((each for each in left if fold(each[language]) == fold(item[language])), None)
        if same is not None:
            left.remove(same)
        merged.append(item if same is None else same)
    return merged


def _language_of(items: JsonList) -> str:
    """The one language that a file's items are written in; "" where there are none."""
    return next((each for item in items for each in LANGUAGES if item.get("borrowed") not in
                 (None, each)), "")  # fmt: skip


def _is_unwritten(item: Mapping[str, Any], language: str, origin: str) -> bool:
    """Whether its text in that language only stands in for the other one's."""
    is_of_before = "borrowed" not in item and item["en"] == item["es"] and origin != language
    return item.get("borrowed") == language or (is_of_before and bool(origin))


def _is_translation(former: JsonList, now: JsonList) -> bool:
    """Whether each item is what it was, but for a language that it lacked."""
    return len(former) == len(now) and all(
        any(one[each] == two[each] for each in LANGUAGES)
        for one, two in zip(former, now, strict=True)
    )
