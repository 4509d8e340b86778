"""An answer from product records: which of them, and which of their fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask_babel import gettext as _
from rapidfuzz import fuzz

from app.nlu.attributes import ASKING, BEFORE_NAMES, asked_attributes, means, price_order
from app.nlu.lexicon import FRAME_WORDS
from app.nlu.named_allergens import (
    asks_about_one,
    asks_for_several,
    named_allergens,
    unwanted_allergens,
    without_allergens,
)
from app.nlu.queries import make_query
from app.nlu.questions import expected_amount, wants_list
from app.retrieval.quotes.lines import Line
from app.retrieval.sentences import split_sentences
from app.skills.knowledge.nlu.allergen_answers import (
    allergen_lines,
    ask_the_kitchen,
    describe_none,
    listed_codes,
    none_without,
    not_all_of_them,
    records_with_named,
    spoken_allergens,
)
from app.skills.knowledge.nlu.records import Record, read_records
from app.text.allergens import expand_families
from app.text.normalize import fold, words
from app.text.stems import content_words, stems

# The cards under a reply show the rest.
MOST_RECORDS = 3
MOST_MEASURES = 2
# A name is meant when the question has a word of it that at most two records have.
OWN_NAME = 0.5
# How like a word of a name, 0..100, a word is that is but written otherwise.
LIKE_A_NAME = 75
# Beside the best record another must share this much of what it shares with the question.
WORTH_NAMING = 0.6


# What has more of a question's words that no record has is about something else.
MOST_UNKNOWN = 0.34


class ProductAnswers:
    """What the search tools' records say, as the built-in assistant tells it."""

    def describe(
        self,
        question: str,
        results: Sequence[Mapping[str, Any]],
        named: Collection[str],
        action: str,
    ) -> list[Line]:
        """The lines that answer, as `describe_records` makes them."""
        return describe_records(question, read_records(results), named, action)

    def describe_none(self, payload: Mapping[str, Any]) -> list[Line]:
        """What is said of a search that found nothing without an allergen."""
        return describe_none(payload)

    def names_one(
        self, question: str, results: Sequence[Mapping[str, Any]], named: Collection[str]
    ) -> bool:
        """Whether the question names one of them, and little that it does not have."""
        return names_one(question, read_records(results), named)

    def is_only_near(self, question: str, results: Sequence[Mapping[str, Any]]) -> bool:
        """Whether it asks for a size, or much else, that none of them has."""
        return is_only_near(question, read_records(results))


def describe_records(
    question: str, records: Sequence[Record], named: Collection[str] = (), action: str = ""
) -> list[Line]:
    """The lines that answer `question` from `records`.

    `named` are the names of products that the question mentions; `action` is the
    attribute that a product's chip asks for, above what the words say.
    """
    attributes = [action] if action else asked_attributes(question)
    unwanted = () if action else expand_families(unwanted_allergens(question))
    is_of_one = asks_about_one(question) or bool(named and not asks_for_several(question))
    if unwanted and not is_of_one:
        known = [record for record in records if record.allergens is not None]
        fit = [record for record in known if not listed_codes(record) & set(unwanted)]
        if not fit:
            return none_without(spoken_allergens(unwanted))
        chosen = choose_records(without_allergens(question), fit)
    else:
        chosen = choose_records(without_allergens(question), records, named)
        if named_allergens(question) and is_of_one:
            chosen = _with_its_name(question, chosen, is_here=bool(named))
        if "allergens" in attributes:
            chosen = records_with_named(question, records) or chosen
    chosen = _by_price(question, chosen)[:MOST_RECORDS]
    if len(chosen) == 1:
        lines = _one(chosen[0], question, attributes)
    else:
        lines = [line for record in chosen for line in _one_of_many(record, question, attributes)]
    if lines and "allergens" in attributes:
        if len(chosen) > 1 and named_allergens(question) and wants_list(question):
            lines.append(Line(not_all_of_them()))
        lines.append(Line(ask_the_kitchen()))
    return lines


def is_only_near(question: str, records: Sequence[Record]) -> bool:
    """Whether the question has a size, or much else, that none of the records has.

    Of allergens and lists the answer itself says what it knows.
    """
    attributes = asked_attributes(question)
    if "allergens" in attributes or wants_list(question):
        return False
    if "price" in attributes and not any(record.price for record in records):
        return True
    known = set().union(*map(_all_words, records))
    said = " ".join(f"{record.name} {record.description} {record.price}" for record in records)
    if set(re.findall(r"\d+", question)) - set(re.findall(r"\d+", said)):
        return True
    asked = [word for word in content_words(make_query(question)) if word not in ASKING]
    unknown = [word for word in asked if not known & set(stems(word))]
    return len(unknown) > MOST_UNKNOWN * len(asked)


def names_one(question: str, records: Sequence[Record], named: Collection[str] = ()) -> bool:
    """True when the question names one of the records and little that it does not have."""
    if _by_whole_name(records, named):
        return True
    asked = {
        stem
        for word in content_words(make_query(question))
        if word not in ASKING
        for stem in stems(word)
    }
    texts = [_all_words(record) for record in records]
    counts = Counter(word for text in texts for word in text)
    return any(
        any(counts[word] <= 1 / OWN_NAME for word in asked & set(stems(record.name)))
        and len(asked & text) > len(asked) / 2
        for record, text in zip(records, texts, strict=True)
    )


def choose_records(
    question: str, records: Sequence[Record], named: Collection[str] = ()
) -> list[Record]:
    """The records that the question is about, the best first."""
    if exact := _by_whole_name(records, named):
        return exact
    asked = set(stems(make_query(question)))
    texts = [_all_words(record) for record in records]
    counts = Counter(word for text in texts for word in text)
    by_name = [_name_weight(record, asked, counts, question) for record in records]
    if (best := max(by_name, default=0)) >= OWN_NAME:
        return [r for r, weight in zip(records, by_name, strict=True) if weight >= 0.99 * best]
    shared = [sum(1 / counts[word] for word in asked & text) for text in texts]
    if not (most := max(shared, default=0)):
        return list(records)
    return [r for r, share in zip(records, shared, strict=True) if share >= WORTH_NAMING * most]


def _with_its_name(question: str, records: list[Record], *, is_here: bool) -> list[Record]:
    """Those whose names have most of what was named; what is but like it says nothing of it."""
    asked = set(stems(without_allergens(question)))
    shared = [len(asked & set(stems(record.name))) for record in records]
    most = max(shared, default=0)
    found = [r for r, count in zip(records, shared, strict=True) if count == most]
    if is_here:
        return found
    return found if most and not _is_named_otherwise(question, found) else []


def _is_named_otherwise(question: str, records: Sequence[Record]) -> bool:
    """Whether a name that is asked about begins with a word that none of these has.

    "The Wintern posset" is no "Ginger Posset", whatever that one's list says.
    """
    known = set().union(*map(_all_words, records))
    names = {word for record in records for word in words(record.name)}
    own = {stem for name in names for stem in stems(name)}
    said = words(without_allergens(question))
    first = next((place for place, word in enumerate(said) if own & set(stems(word))), 0)
    word = said[first - 1] if first else ""
    is_known = not content_words(word) or known & set(stems(word)) or word in BEFORE_NAMES
    is_like_one = any(fuzz.ratio(word, name) >= LIKE_A_NAME for name in names)
    return not (is_known or is_like_one or word in ASKING or word in FRAME_WORDS)


def _by_whole_name(records: Sequence[Record], named: Collection[str]) -> list[Record]:
    """The records whose names are mentioned; "Pecan Old Fashioned" mentions no other one."""
    mentioned = {fold(name) for name in named}
    exact = [record for record in records if fold(record.name) in mentioned]
    names = [set(words(record.name)) for record in exact]
    return [
        record
        for record, own in zip(exact, names, strict=True)
        if not any(own < other for other in names)
    ]


def _name_weight(
    record: Record, asked: set[str], counts: Mapping[str, int], question: str
) -> float:
    """How clearly the question names this record; in a list only a word all its own does."""
    words_of_name = asked & set(stems(record.name))
    if wants_list(question):
        words_of_name = {word for word in words_of_name if counts[word] == 1}
    return sum(1 / counts[word] for word in words_of_name)


def _all_words(record: Record) -> set[str]:
    facts = " ".join((record.facts or {}).values())
    parts = (
        record.name, record.description, record.category, record.pairing, facts,
        *record.tags, *record.ingredients,
    )  # fmt: skip
    return set(stems(" ".join(parts)))


def _by_price(question: str, records: list[Record]) -> list[Record]:
    order = price_order(question)
    priced = [record for record in records if re.search(r"\d", record.price)]
    if not order or len(priced) < 2:
        return records
    return sorted(priced, key=lambda record: order * _amount(record.price))


def _amount(price: str) -> float:
    """The number in a price: "$1,250.00" and "1.250,00 US$" are the same."""
    digits = re.sub(r"[^\d.,]", "", price)
    whole, cents = re.fullmatch(r"([\d.,]*?)(?:[.,](\d{2}))?", digits).groups()  # type: ignore[union-attr]
    return float(re.sub(r"\D", "", whole) or 0) + int(cents or 0) / 100


def _one(record: Record, question: str, attributes: Sequence[str]) -> list[Line]:
    """One product: what was asked first, then what it is."""
    wanted = [*_asked_lines(record, question, attributes)]
    if "steps" in attributes and any(line.form == "step" for line in wanted):
        return _with_name(record, [*_description(record)[:1], *wanted])
    lines = _description(record)
    if not wanted and record.price:
        lines.append(Line(record.price, record.cite, label=_price_label()))
    return _with_name(record, [*wanted, *lines])


def _one_of_many(record: Record, question: str, attributes: Sequence[str]) -> list[Line]:
    """A product among others, as one item: what was asked, and a sentence on what it is."""
    # How each of several is made would be too long to read; the cards lead there.
    short = [name for name in attributes if name != "steps"]
    wanted = _asked_lines(record, question, short)
    if not wanted and record.price:
        wanted = [Line(record.price, record.cite, label=_price_label())]
    first, *others = _with_name(record, [*_description(record)[:1], *wanted])
    return [replace(first, form="item"), *(replace(line, form="more") for line in others)]


def _with_name(record: Record, lines: Sequence[Line]) -> list[Line]:
    """The first line says which product this is about."""
    if not lines:
        return [Line(not_written(), record.cite, title=record.name)]
    return [replace(lines[0], title=record.name), *lines[1:]]


def _asked_lines(record: Record, question: str, attributes: Sequence[str]) -> list[Line]:
    lines: list[Line] = []
    for attribute in attributes:
        if attribute == "allergens":
            lines += allergen_lines(record, question)
        elif attribute in _ATTRIBUTE_LINES:
            lines += _ATTRIBUTE_LINES[attribute](record)
    lines += _facts(record, question, lines)
    if not any(line.form == "step" for line in lines):
        lines += _measures(record, question, is_asked=bool(attributes))
    asked_in_vain = [name for name in attributes if name in ("price", "pairing", "steps")]
    if asked_in_vain and not lines:
        lines.append(Line(not_written(), record.cite))
    return lines


def _price(record: Record) -> list[Line]:
    return [Line(record.price, record.cite, label=_price_label())] if record.price else []


def _ingredients(record: Record) -> list[Line]:
    if not record.ingredients:
        return []
    listed = "; ".join(record.ingredients)
    return [Line(listed, record.cite, label=_ingredients_label())]


def _pairing(record: Record) -> list[Line]:
    lines = [Line(text.text, record.cite) for text in split_sentences(record.pairing)]
    return [replace(line, label=_pairing_label() if n == 0 else "") for n, line in enumerate(lines)]


def _steps(record: Record) -> list[Line]:
    """How it is made: its steps, or of what and with which measures where it has none."""
    if record.steps:
        steps = [
            Line(text, record.cite, "step", number=number)
            for number, text in enumerate(record.steps, 1)
        ]
        return [*_ingredients(record), *steps]
    told = [
        Line(value, record.cite, label=label)
        for label, value in (record.facts or {}).items()
        if len(words(value)) > 1
    ]
    return [*told, *_ingredients(record)]


def _description(record: Record) -> list[Line]:
    return [Line(text.text, record.cite) for text in split_sentences(record.description)]


_ATTRIBUTE_LINES = {
    "price": _price,
    "ingredients": _ingredients,
    "pairing": _pairing,
    "steps": _steps,
}


def _facts(record: Record, question: str, said: Sequence[Line]) -> list[Line]:
    """The facts whose label means what the question asks for."""
    spoken, asked = set(words(question)), set(stems(question))
    already = {line.label for line in said}
    return [
        Line(value, record.cite, label=label)
        for label, value in (record.facts or {}).items()
        if label not in already and (asked & set(stems(label)) or means(label, spoken))
    ]


def _measures(record: Record, question: str, *, is_asked: bool) -> list[Line]:
    """What the ingredients or steps say of an amount: "how many grams of cornmeal".

    Where nothing else that a record has `is_asked` for, "what do I set the oven at" too: what
    they say of the oven.
    """
    amount = expected_amount(question)
    if amount is None and is_asked:
        return []
    said = content_words(make_query(question)) if amount is None else words(question)
    asked = {stem for word in said for stem in stems(word)} - set(stems(record.name))
    if not asked:
        return []
    told = [*record.ingredients, *(s.text for step in record.steps for s in split_sentences(step))]
    fits = [amount is None or bool(amount.search(fold(text))) for text in told]
    shared = [
        len(asked & set(stems(text))) if fit else 0 for text, fit in zip(told, fits, strict=True)
    ]
    most = max(shared, default=0)
    found = [text for text, count in zip(told, shared, strict=True) if count and count == most]
    return [Line(text, record.cite) for text in found[:MOST_MEASURES]]


def _price_label() -> str:
    return _("Price")


def _ingredients_label() -> str:
    return _("Ingredients")


def _pairing_label() -> str:
    return _("Goes with")


def not_written() -> str:
    return _("Its record does not say.")
