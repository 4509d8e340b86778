"""Whatever is asked, every statement of a reply is a quotation with the number of its source."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from app.retrieval.embedder import WordLlamaEmbedder
from app.retrieval.quotes.extract import extract_answer
from app.retrieval.quotes.lines import Line
from app.retrieval.quotes.passages import plain
from app.retrieval.quotes.scores import Passage
from app.skills.knowledge.nlu.allergen_answers import (
    allergens_unknown,
    ask_the_kitchen,
    no_listed_allergen,
)
from app.skills.knowledge.nlu.record_answers import describe_records, not_written
from app.skills.knowledge.nlu.records import Record, read_record
from tests.assistant.builtin.payloads import products, sections

EMBEDDER = WordLlamaEmbedder()
KINDS = ("dishes", "wines", "cocktails", "beer_liquor")
OPENINGS = ("how do I", "how long", "when", "what is", "¿cómo", "¿cuánto", "who", "there is a", "")
ATTRIBUTES = ("price of", "allergens in", "what goes with", "how is it made:", "tell me about", "")


def _squeezed(text: str) -> str:
    """Only letters and digits: marks, signs and line breaks make no difference."""
    return re.sub(r"[\W_]+", " ", plain(text)).strip()


SOURCES = {
    language: {slug: _squeezed(found["text"]) for slug, found in sections(language).items()}
    for language in ("en", "es")
}


def _questions(language: str) -> st.SearchStrategy[str]:
    words = sorted({word for text in SOURCES[language].values() for word in text.split()})
    several = st.lists(st.sampled_from(words), min_size=1, max_size=5).map(" ".join)
    return st.tuples(st.sampled_from(OPENINGS), several).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), language=st.sampled_from(["en", "es"]))
def test_what_is_said_of_the_manual_stands_in_it(data: st.DataObject, language: str) -> None:
    slugs = data.draw(
        st.lists(st.sampled_from(sorted(SOURCES[language])), min_size=1, max_size=4, unique=True)
    )
    passages = [
        Passage(
            number, sections(language)[slug]["title"], sections(language)[slug]["text"], language
        )
        for number, slug in enumerate(slugs, 1)
    ]
    extract = extract_answer(data.draw(_questions(language)), passages, EMBEDDER)
    for line in extract.lines:
        assert line.cite is not None
        source = SOURCES[language][slugs[line.cite - 1]]
        assert line.label == ""
        for quoted in (line.title, *_cells(line)):
            assert _squeezed(quoted) in source


def _cells(line: Line) -> list[str]:
    """A row of a table is told as "first: header: cell; header: cell"; others as they are."""
    return re.split(r"[;:] ", line.text)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_is_said_of_a_product_stands_in_its_record(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(KINDS))
    slugs = data.draw(
        st.lists(st.sampled_from(sorted(products(kind))), min_size=1, max_size=6, unique=True)
    )
    records = [
        read_record({"cite": number, **products(kind)[slug]})
        for number, slug in enumerate(slugs, 1)
    ]
    asked = data.draw(st.sampled_from(ATTRIBUTES)), data.draw(st.sampled_from(records)).name
    for line in describe_records(" ".join(asked), records):
        if line.cite is None:
            assert line.text == ask_the_kitchen()
        else:
            assert _stands_in(line, records[line.cite - 1])


def _stands_in(line: Line, record: Record) -> bool:
    own_words = (no_listed_allergen(), not_written(), allergens_unknown())
    written = " ".join(
        [
            record.description,
            record.price,
            record.pairing,
            ", ".join(record.allergens or ()),
            "; ".join(record.ingredients),
            *(record.facts or {}).values(),
            *record.steps,
        ]
    )
    return line.text in own_words or (line.text in written and line.title in ("", record.name))
