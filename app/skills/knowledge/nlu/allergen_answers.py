"""What is said of a product's allergens: what its list says, and never that it is safe.

Where nobody has listed any, that is what is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flask_babel import gettext as _

from app.nlu.named_allergens import allergens_besides, asks_what_to_avoid, named_allergens
from app.nlu.questions import wants_list
from app.retrieval.quotes.lines import Line
from app.skills.knowledge.nlu.records import Record
from app.text.allergens import ALLERGENS, allergen_name, expand_families
from app.text.bilingual import reader_language
from app.text.normalize import fold

# The names that records list allergens by, folded, with their codes.
LISTED_AS: Mapping[str, str] = {
    fold(name): code
    for code, names in ALLERGENS.items()
    for name in (code.replace("_", " "), *names.values())
}


def describe_none(payload: Mapping[str, Any]) -> list[Line]:
    """The lines for a search that found nothing without an allergen; none for any other."""
    return none_without(payload["free_of"]) if payload.get("free_of") else []


def none_without(names: Iterable[str]) -> list[Line]:
    listed = ", ".join(names)
    return [
        Line(_("I found nothing that is listed without this: %(allergens)s.", allergens=listed)),
        Line(ask_the_kitchen()),
    ]


def listed_codes(record: Record) -> set[str]:
    return {LISTED_AS.get(fold(name), name) for name in record.allergens or ()}


def records_with_named(question: str, records: Sequence[Record]) -> list[Record]:
    """Those with the allergen that was named, where the question asks for several."""
    if not wants_list(question) and not asks_what_to_avoid(question):
        return []
    meant = {code for name in named_allergens(question) for code in expand_families(name.codes)}
    return [record for record in records if meant & listed_codes(record)]


def allergen_lines(record: Record, question: str) -> list[Line]:
    """Its list, and what the list says of the very allergens that were asked about."""
    if record.allergens is None:
        return [Line(allergens_unknown(), record.cite)]
    said = [Line(text, record.cite) for text in _verdicts(record, question)]
    if not record.allergens:
        # Beside a name, "no listed allergen" would sound like a yes.
        return said or [Line(no_listed_allergen(), record.cite)]
    listed = ", ".join(record.allergens)
    return [Line(listed, record.cite, label=allergens_label()), *said]


def _verdicts(record: Record, question: str) -> list[str]:
    """Which of the allergens asked about stand on its list, and which do not; never a yes.

    Of a family, those that it does not have say nothing beside one that it has.
    """
    listed = listed_codes(record)
    has: list[str] = []
    lacks: list[str] = []
    for codes in allergens_besides(question, record.name):
        there = [code for code in codes if code in listed]
        has += there
        lacks += [] if there else codes
    told = [
        _("According to its own list, it contains: %(allergens)s.", allergens=a)
        for a in spoken_allergens(has)
    ]
    return [*told, *map(_lacks, spoken_allergens(lacks))]


def _lacks(allergens: str) -> str:
    # All names in the plural end so in both languages.
    if allergens.endswith("s") or "," in allergens:
        text = _("%(allergens)s are not on its list.", allergens=allergens)
    else:
        text = _("%(allergens)s is not on its list.", allergens=allergens)
    return text[:1].upper() + text[1:]


def spoken_allergens(codes: Iterable[str]) -> list[str]:
    """The allergens' names in the language that is being spoken, as one text if there are any."""
    language = reader_language()
    names = [allergen_name(code, language) for code in dict.fromkeys(codes)]
    return [", ".join(names)] if names else []


def allergens_label() -> str:
    return _("Listed allergens")


def no_listed_allergen() -> str:
    return _("No listed allergen found.")


def allergens_unknown() -> str:
    return _("Nobody has listed its allergens yet.")


def not_all_of_them() -> str:
    """A search brings a few; what it leaves out may have the allergen all the same."""
    return _("These are some of them. The menu may have more.")


def ask_the_kitchen() -> str:
    return _("Check with the kitchen before you promise a guest anything.")
