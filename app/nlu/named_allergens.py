"""The allergens that a message names, and whether what is asked for must be without them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from app.nlu.lexicon import ALLERGENS, FRAME_WORDS, GROUPS_OF_THINGS, PATTERNS, Phrase
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
# What a coeliac asks about is gluten, and it is never wanted.
_NEVER_WANTED = re.compile(r"\bco?elia[cq]")
_DENIES, _DENIES_BEFORE = PATTERNS["denies"], PATTERNS["denies_before"]
_NEW_THOUGHT, _AND = PATTERNS["new_thought"], PATTERNS["and"]
_FARTHEST, _FARTHEST_IN_LIST = 6, 3  # words
_ASKS_ONE_OF_MANY = PATTERNS["one_of_many"]


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
    folded = PATTERNS["denies_nothing"].sub(lambda match: " " * len(match.group()), fold(text))
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
    return bool(PATTERNS["to_avoid"].search(fold(text)))


def wants_without(text: str) -> bool:
    """True when an allergen that is named should not be in it: "nut free", "allergic to egg"."""
    return bool(unwanted_allergens(text))


def without_allergens(text: str) -> str:
    """`text` without the allergens that are unwanted, and without the words about diets."""
    folded = fold(text)
    for name in reversed(named_allergens(text)):
        if name.unwanted:
            folded = f"{folded[: name.start]} {folded[name.end :]}"
    return PATTERNS["of_diets"].sub(" ", folded)


def asks_for_several(text: str) -> bool:
    """True for "which of them" and "instead of the mole": others than the one that is named."""
    folded = fold(text)
    return bool(_ASKS_ONE_OF_MANY.search(folded) or PATTERNS["others_instead"].search(folded))


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
    articles = islice(PATTERNS["definite"].finditer(rest), MOST_ARTICLES)
    after = [rest[each.end() : each.end() + FAR_ENOUGH] for each in articles]
    if bare := PATTERNS["bare_name"].search(rest):
        after.append(rest[bare.end() :])
    if folded.rstrip(" ?!.").endswith("free"):
        after.append(rest)
    return any(_begins_with_a_name(phrase) for phrase in after)


def _begins_with_a_name(phrase: str) -> bool:
    """True when the first words with a content are those of no group of things."""
    first = next((word for word in words(phrase) if word not in FILLER_WORDS), "")
    return bool(first) and first not in GROUPS_OF_THINGS and first not in FRAME_WORDS
