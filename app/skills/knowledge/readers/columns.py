"""What the columns of a menu are called, in English or Spanish, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from app.skills.knowledge.readers.lexicon import named, named_by
from app.skills.knowledge.services import vocabulary
from app.text.normalize import fold

# Fields whose words are written in one language; `name` is one of them, `name_en` is not.
WRITTEN = ("name", "description", "pairing_notes")
FACT = "fact:"

_COLUMNS, _LANGUAGES = named_by("columns"), named_by("languages")
_TRACES, _COSTS = named("traces"), frozenset(named("costs"))


def folded(text: str) -> str:
    """Lower case, without accents, signs or doubled spaces: `descripcion es`."""
    return " ".join(re.sub(r"[^a-z0-9]+", " ", fold(text)).split())


def field_of(header: str, kind: str) -> str:
    """The product's field that a column is for; "" when it is none that is known.

    A fact such as a wine's grape is `fact:grape`.
    """
    words = folded(header)
    aliases = _aliases()
    if words in aliases:
        found = aliases[words]
        # Only recipes have these as fields; a cocktail's method is one of its facts.
        is_fact = found in ("steps", "meal", "servings") and kind != "recipes"
        return (_facts().get(words) or found) if is_fact else found
    for language, names in _LANGUAGES.items():
        for name in sorted(map(folded, names), key=len, reverse=True):
            field = aliases.get(words.removesuffix(f" {name}"), "")
            if words.endswith(f" {name}") and field in WRITTEN:
                return f"{field}_{language}"
    return _facts().get(words, "")


def is_price(header: str) -> bool:
    """Whether a column is called what guests pay; "cost" may be what the restaurant pays."""
    return field_of(header, "dishes") == "price" and folded(header) not in _COSTS


def is_of_traces(header: str) -> bool:
    """Whether a column is for what a dish may have traces of, and not for what it is made with."""
    return folded(header) in map(folded, _TRACES)


def looks_like_menu(cells: Sequence[str]) -> bool:
    """Whether a row names the columns of a menu: a name, and another field or nothing else."""
    fields = {field_of(cell, "dishes").removesuffix("_en").removesuffix("_es") for cell in cells}
    known = fields - {""}
    return "name" in known and (len(known) > 1 or len(cells) == 1)


@cache
def _aliases() -> dict[str, str]:
    return {
        **{folded(name): field for field, names in _COLUMNS.items() for name in names},
        **{folded(name): "allergens" for name in _TRACES},
        **{folded(field): field for field in _COLUMNS},
    }


@cache
def _facts() -> dict[str, str]:
    """Facts by their key and by their label in either language."""
    return {
        folded(name): FACT + key
        for key, labels in vocabulary.fact_labels().items()
        for name in (key, *labels)
    }
