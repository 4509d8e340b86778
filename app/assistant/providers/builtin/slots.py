"""A tool's arguments, filled from the words of a question by the tool's own schema."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from app.assistant.providers.builtin.lexicon import KINDS, NUMBERS, OPTIONS, PATTERNS
from app.nlu.lexicon import ALLERGEN_CODES, FRAME_WORDS, Phrase
from app.nlu.named_allergens import (
    asks_about_one,
    asks_for_several,
    named_allergens,
    unwanted_allergens,
    wants_without,
    without_allergens,
)
from app.nlu.queries import make_query
from app.text.normalize import fold, words
from app.text.stems import content_words

# What is searched for where all that was said is what it must not have.
_ANYTHING = "dishes"
_NUMBER = re.compile(r"(?<![\w.,])-?\d{1,9}(?:[.,]\d{1,2})?(?![\w,]|\.\d)")


def fill_arguments(
    parameters: Mapping[str, Any], question: str, *, names_one: bool = False
) -> dict[str, Any] | None:
    """The arguments of a call; None where the tool needs something that was not said.

    A required text takes the question's content words. What is optional is filled where
    the question names one of its options, or a length of time for a number of minutes; a
    list where it names any, and a list of allergens where what it names is unwanted, unless the
    question `names_one` of what is searched.
    """
    required = set(parameters.get("required", ()))
    properties = parameters.get("properties", {})
    arguments = fill_named(parameters, question, required, names_one=names_one)
    for name in required - arguments.keys():
        closed = any("enum" in part for part in _alternatives(properties[name]))
        if closed or "string" not in _kinds(properties[name]):
            return None
    timed = question
    if any("minutes" in name for name in arguments):
        timed = _without_duration(question)
    lists = [option for schema in properties.values() for option in _list_options(schema)]
    knows_allergens = bool(ALLERGEN_CODES & set(lists))
    without = knows_allergens and wants_without(question)
    for name in required - arguments.keys():
        arguments[name] = _make_query_without(timed) if without else make_query(timed)
    return arguments


def fill_named(
    parameters: Mapping[str, Any],
    question: str,
    numbers: Collection[str] | None = None,
    *,
    names_one: bool = False,
) -> dict[str, Any]:
    """The arguments that the question names: options, lengths of time, and its one number.

    A number is filled in where it is for one of `numbers` (any, when not given), and only
    where the question has just one and one argument could take it.
    """
    properties = parameters.get("properties", {})
    lists = {name: [*_list_options(schema)] for name, schema in properties.items()}
    knows_allergens = any(ALLERGEN_CODES & set(options) for options in lists.values())
    arguments: dict[str, Any] = {}
    numeric: list[str] = []
    for name, schema in properties.items():
        value: Any = None
        if lists[name]:
            value = _named_options(lists[name], question, names_one=names_one)
        elif options := list(_options(schema)):
            value = _named_option(options, question)
            # The list says more than "gluten-free": that only some have been called.
            if knows_allergens and value is not None and named_allergens(value):
                value = None
        elif _kinds(schema) & {"integer", "number"}:
            if "minutes" in name:
                value = _minutes(question)
            elif numbers is None or name in numbers:
                numeric.append(name)
        if value is not None:
            arguments[name] = value
    said = _NUMBER.findall(fold(question))
    if len(numeric) == 1 and len(said) == 1:
        number = float(said[0].replace(",", "."))
        arguments[numeric[0]] = int(number) if number.is_integer() else number
    return arguments


def _make_query_without(question: str) -> str:
    """What is asked for besides being without something, else the word for what is served.

    With the allergen's own name a search would find just what has it.
    """
    content = content_words(without_allergens(question))
    if all(word in FRAME_WORDS for word in content):
        return " ".join([word for word in content if word in KINDS]) or _ANYTHING
    return make_query(" ".join(content))


def _kinds(schema: Mapping[str, Any]) -> set[Any]:
    """The JSON types that a value may have."""
    return {part.get("type") for part in _alternatives(schema)}


def _alternatives(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema itself and, where it allows several, each of them."""
    yield schema
    yield from schema.get("anyOf", ())


def _options(schema: Mapping[str, Any]) -> Iterator[str]:
    """The values that the schema allows, or names as examples of what it means."""
    for part in _alternatives(schema):
        for value in (*part.get("enum", ()), *part.get("examples", ())):
            if isinstance(value, str):
                yield value


def _list_options(schema: Mapping[str, Any]) -> Iterator[str]:
    """The values that a list may hold; nothing where the schema is of something else."""
    for part in _alternatives(schema):
        if part.get("type") == "array":
            yield from _options(part.get("items") or {})


def _named_options(options: list[str], question: str, *, names_one: bool) -> list[str] | None:
    """All options that the question names; of allergens, those that it wants to be without.

    A product that is asked about by name must be found although it has the allergen: how
    else could one say so.
    """
    if ALLERGEN_CODES & set(options):
        is_of_one = asks_about_one(question) or (names_one and not asks_for_several(question))
        unwanted = frozenset() if is_of_one else unwanted_allergens(question)
        return [option for option in options if option in unwanted] or None
    spoken = words(question)
    return [option for option in options if any(_says(spoken, p) for p in _names(option))] or None


def _named_option(options: list[str], question: str) -> str | None:
    """The option that the question names in either language, if it names just one."""
    spoken = words(question)
    found = [option for option in options if any(_says(spoken, p) for p in _names(option))]
    # "Tex-mex" is not "mexican" as well, and of two wishes a filter can serve but one.
    return found[0] if len(found) == 1 else None


def _names(option: str) -> tuple[Phrase, ...]:
    return OPTIONS.get(option, (tuple(words(option)),))


def _says(spoken: list[str], phrase: Phrase) -> bool:
    length = len(phrase)
    return any(
        tuple(spoken[start : start + length]) == phrase for start in range(len(spoken) - length + 1)
    )


def _minutes(question: str) -> int | None:
    """ "Under half an hour" as 30; None where no length of time is said."""
    match = PATTERNS["duration"].search(fold(question))
    if match is None:
        return None
    number = NUMBERS.get(match["number"]) or float(match["number"])
    if match["half"]:
        number += 0.5
    return round(number * 60) if match["unit"].startswith("h") else round(number)


def _without_duration(question: str) -> str:
    return PATTERNS["duration"].sub(" ", fold(question))
