"""The allergens that a message names, and whether what is asked for must be without them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from app.nlu.lexicon import ALLERGENS, FRAME_WORDS, Phrase
from app.text.allergens import expand_families
from app.text.normalize import fold, words
from app.text.stems import FILLER_WORDS

_NAMES_ALLERGEN = re.compile(
    r"\b(?:"
    + "|".join(
        r"\W+".join(map(re.escape, phrase))
        for phrase in sorted(ALLERGENS, key=lambda phrase: (-len(phrase), phrase))
    )
    + r")\b"
)
# What is not wanted comes after one of these, perhaps with "have" or "come with" between.
_DENIES = re.compile(
    r"\b(?:without|not|no|none|nothing|never|nor|cannot|avoid\w*|minus|free (?:of|from)"
    r"|allerg(?:y|ies|ic)|intoleran\w*|(?:do|does|did|is|are|ca|wo|should|could|must)n['’]?t"
    r"|(?:stay|keep|steer)\w* (?:away|clear)|sin|ni|nada|tampoco|libres? de|evit\w*"
    r"|alerg(?:ias?|ic[oa]s?)|ningun\w?)\b"
    r"(?:\s+(?:want|need|like|be able|quier\w+|pued\w+|deb\w+)(?: to)?)?"
    r"(?:\s+(?:eat|have|take|tolerate|comer|coma|tomar|tener|tolera\w*))?"
    r"(?:(?:\s+\w+){0,2}?\s+(?:with|con))?\b"
)
# Or before one of these: "nut-free", "a shellfish allergy".
_DENIES_BEFORE = re.compile(r"[\s-]*(?:free|allerg(?:y|ies|ic)|intoleran\w*|sensitiv\w*)\b")
# What a coeliac asks about is gluten, and it is never wanted.
_NEVER_WANTED = re.compile(r"\bco?elia[cq]")
# Here a new thought begins, to which the "no" before it does not reach.
_NEW_THOUGHT = re.compile(
    r"[.?!;¿¡]|\b(?:with|con|for|para|but|pero|if|whether|si|which|what|cual\w*|can|could|may"
    r"|pued\w+|podria\w*|wants?|quier\w+|order\w*|pid\w+|is|are|es|son|eat|have|try|serve|comer"
    r"|pedir|probar|tomar)\b"
)
_AND = re.compile(r"\s*(?:[,/&]|\b(?:and|or|nor|plus|y|e|o|u|ni)\b)")
_FARTHEST, _FARTHEST_IN_LIST = 6, 3  # words
# "I don't know", and "no tienes", which asks whether there is some, deny nothing.
_DENIES_NOTHING = re.compile(
    r"\b(?:(?:do|does)n['’]?t know|not sure|no idea|no se|no estoy segur[oa])\b"
    r"|^\W*(?:don['’]?t (?:you|we|they)|(?:is|are)n['’]?t there"
    r"|no (?:hay|tienes|tenemos|sirven|venden|tienen alg\w+))\b"
)
# "Which should she stay away from", "que platillos no puede pedir".
_TO_AVOID = re.compile(
    r"\b(?:which|what|cual(?:es)?|que)"
    r"(?:\s+(?!who\b|whom\b|if\b|that\b|for\b|with\b|quien\b|que\b|si\b|alguien\b|para\b|con\b)\w+)"
    r"{1,4}?\s+(?:avoid|(?:stay|keep|steer) (?:away|clear)|evitar|no (?:pued|deb)\w+"
    r"|(?:ca|should|must)n['’]?t|cannot|(?:should|must) not)\b"
)
_OF_DIETS = re.compile(
    r"\b(?:free|allerg\w*|alerg\w*|intoleran\w*|sensitiv\w*|avoid\w*|evit\w*|libres?|safe|safely"
    r"|segur[oa]s?|eat|eats|eating|comer|come|comen|coma|guests?|customers?|clientes?|clientas?"
    r"|comensal(?:es)?|people|person|personas?|lady|guy|contain\w*|contien\w*|conteng\w*|traces?"
    r"|trazas?|disease|friendly|apt[oa]s?|without|list|listed)\b"
)
# Of these the group has many: "the desserts" names no product.
_GROUPS = frozenset(
    """dish dishes plate plates food foods meal meals menu carta item items thing things app apps
    appetizer appetizers starter starters main mains entree entrees side sides dessert desserts
    drink drinks beverage beverages wine wines beer beers draft drafts cocktail cocktails spirit
    spirits liquor liquors recipe recipes sauces salads soups steaks snacks pastries kitchen table
    bar house restaurant place guest guests customer customers person people lady guy man woman kid
    kids child everything list lists platillo platillos plato platos comida comidas bebida bebidas
    vino vinos cerveza cervezas coctel cocteles trago tragos entrada entradas postre postres
    guarnicion guarniciones receta recetas salsas ensaladas sopas cortes botanas antojitos cocina
    mesa barra casa restaurante lista cliente clientes clienta persona personas gente senor senora
    nino nina ninos comensal comensales fuertes only same other others""".split()
)
_ASKS_ONE_OF_MANY = re.compile(
    r"\b(?:which|any\w*|list|options?|recommend\w*|suggest\w*|something|ideas?|algo|algun[oa]?s?"
    r"|cual(?:es)?|opciones|recom\w+|sugi\w+|hay|there (?:is|are)|(?:is|are) there)\b"
    r"|\bdo (?:we|you|they) (?:have|carry|sell|offer|serve)\b"
    r"|\bwhat\b(?!['’]?s? (?:about|in)\b)|(?:^|[¿,;:.]\s*)(?:de )?que\b(?! (?:lleva|trae) )"
)
_OTHERS_INSTEAD = re.compile(r"\binstead\b|\ben (?:su )?(?:lugar|vez)\b|\bother than\b")
_DEFINITE = re.compile(
    r"\b(?:the|our|your|this|that|these|those|el|la|los|las|del|al|este|esta|estos|estas|ese|esa"
    r"|nuestr[oa]s?|su|sus)\s+(?=[^\W\d_])"
)
_OF_BARE_NAME = re.compile(
    r"^\W*(?:is|are|does|do|es|son|tienen?|llevan?|contienen?)\b"
    r"|\b(?:eat|have|order|drink|try|comer|tomar|pedir|beber|probar)\b"
)


@dataclass(frozen=True)
class NamedAllergen:
    """Where a question names an allergen, and the codes and families that it may mean."""

    start: int
    end: int
    codes: frozenset[str]
    phrase: Phrase
    unwanted: bool = False


@lru_cache(maxsize=512)
def named_allergens(text: str) -> tuple[NamedAllergen, ...]:
    """The allergens that the folded `text` names, in order, and whether each is unwanted."""
    folded = _DENIES_NOTHING.sub(lambda match: " " * len(match.group()), fold(text))
    matches = [*_NAMES_ALLERGEN.finditer(folded)]
    reached = [*_reached_by_denial(folded, matches)]
    found: list[NamedAllergen] = []
    for match, is_reached in reversed([*zip(matches, reached, strict=True)]):
        phrase = tuple(words(match.group()))
        after = folded[match.end() : found[-1].start if found else None]
        # "Nut and dairy free" is free of both.
        in_list = bool(found) and found[-1].unwanted and bool(_AND.fullmatch(after.rstrip()))
        unwanted = (
            is_reached
            or in_list
            or bool(_DENIES_BEFORE.match(after) or _NEVER_WANTED.match(match.group()))
        )
        found.append(NamedAllergen(match.start(), match.end(), ALLERGENS[phrase], phrase, unwanted))
    return tuple(reversed(found))


def _reached_by_denial(folded: str, matches: list[re.Match[str]]) -> Iterator[bool]:
    """Whether a "no" before it reaches each name, or the list that the name goes on with."""
    end, reached = 0, False
    for match in matches:
        before = folded[end : match.start()]
        denial = max((found.end() for found in _DENIES.finditer(before)), default=-1)
        between = before[max(denial, 0) :]
        near = _FARTHEST if denial >= 0 else _FARTHEST_IN_LIST
        begins = denial >= 0 or (reached and bool(_AND.match(before)))
        reached = begins and not _NEW_THOUGHT.search(between) and len(words(between)) <= near
        end = match.end()
        yield reached


def unwanted_allergens(text: str) -> frozenset[str]:
    """The codes and families that what is asked for must not have; none where none is named.

    Who asks which things to stay away from asks for those that have it.
    """
    if asks_what_to_avoid(text):
        return frozenset()
    return frozenset().union(*(name.codes for name in named_allergens(text) if name.unwanted))


def allergens_besides(text: str, name: str) -> Iterator[tuple[str, ...]]:
    """The codes of each allergen that is asked about; not what is but in a product's `name`."""
    of_name = set(words(name))
    for named in named_allergens(text):
        if named.unwanted or not set(named.phrase) <= of_name:
            yield expand_families(named.codes)


def asks_what_to_avoid(text: str) -> bool:
    """True for "which dishes should she stay away from"."""
    return bool(_TO_AVOID.search(fold(text)))


def wants_without(text: str) -> bool:
    """True when an allergen that is named should not be in it: "nut free", "allergic to egg"."""
    return bool(unwanted_allergens(text))


def without_allergens(text: str) -> str:
    """`text` without the allergens that are unwanted, and without the words about diets."""
    folded = fold(text)
    for name in reversed(named_allergens(text)):
        if name.unwanted:
            folded = f"{folded[: name.start]} {folded[name.end :]}"
    return _OF_DIETS.sub(" ", folded)


def asks_for_several(text: str) -> bool:
    """True for "which of them" and "instead of the mole": others than the one that is named."""
    folded = fold(text)
    return bool(_ASKS_ONE_OF_MANY.search(folded) or _OTHERS_INSTEAD.search(folded))


# Behind an article a name begins within so many letters, or there is none; nobody asks with more.
FAR_ENOUGH, MOST_ARTICLES = 200, 50


def asks_about_one(text: str) -> bool:
    """True for "is the tres leches nut free": something is named that is there or is not.

    "Are the desserts nut free" and "nut free cake" ask for whatever is.
    """
    folded = fold(text)
    if _ASKS_ONE_OF_MANY.search(folded):
        return False
    rest = without_allergens(text)
    articles = islice(_DEFINITE.finditer(rest), MOST_ARTICLES)
    after = [rest[each.end() : each.end() + FAR_ENOUGH] for each in articles]
    if bare := _OF_BARE_NAME.search(rest):
        after.append(rest[bare.end() :])
    if folded.rstrip(" ?!.").endswith("free"):
        after.append(rest)
    return any(_begins_with_a_name(phrase) for phrase in after)


def _begins_with_a_name(phrase: str) -> bool:
    """True when the first words with a content are those of no group of things."""
    first = next((word for word in words(phrase) if word not in FILLER_WORDS), "")
    return bool(first) and first not in _GROUPS and first not in FRAME_WORDS
