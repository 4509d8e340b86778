"""Other words for what is asked: which there are, and for which words there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.text import synonyms
from app.text.normalize import fold, words
from app.text.synonyms import LANGUAGES, MOST_PER_WORD, MOST_WORDS, synonyms_of, with_meant
from app.text.yaml_file import read_yaml

LINES = read_yaml(Path(synonyms.__file__).with_suffix(".yaml"))


@pytest.mark.parametrize(
    ("asked", "language", "word", "meant"),
    [
        ("when does the sched go up", "en", "sched", "schedule"),
        ("got written up today", "en", "written", "warning"),
        ("onde dejo la troca", "es", "troca", "camioneta"),
        ("traigo chorro desde anoche", "es", "chorro", "diarrea"),
        ("a q hora me cae la lana", "es", "lana", "pago"),
        ("kien se keda con eso", "es", "keda", "queda"),
    ],
)
def test_a_word_of_the_kitchen_is_looked_for_in_the_manuals_words(
    asked: str, language: str, word: str, meant: str
) -> None:
    assert meant in synonyms_of(asked, language)[word]


def test_a_phrase_of_small_words_is_searched_for_by_what_it_means() -> None:
    asked = with_meant("is it to go", "en")
    assert asked == "is it to go takeout"
    assert "carryout" in synonyms_of(asked, "en")["takeout"]


@pytest.mark.parametrize("asked", ["can I", "Can it stay out?", "", "¿?", "de la casa", "la"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_says_nothing_by_itself_means_nothing_else(asked: str, language: str) -> None:
    assert with_meant(asked, language) == asked
    assert synonyms_of(asked, language) == {}


def test_words_of_the_other_language_mean_nothing_in_this_one() -> None:
    assert synonyms_of("lana", "en") == {}
    assert synonyms_of("lana") == {}
    assert "pago" in synonyms_of("lana", "mul")["lana"]


def test_there_are_never_more_than_a_search_can_bear() -> None:
    every = " ".join(line for lines in LINES.values() for line in lines)
    found = synonyms_of(every, "mul")
    assert len(found) == MOST_WORDS
    assert all(len(others) <= MOST_PER_WORD for others in found.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_is_folded_and_has_two_ways_to_say_one_thing(language: str) -> None:
    lines = LINES[language]
    assert len(lines) == len(set(lines))
    for line in lines:
        ways = [way.strip() for way in line.split(",")]
        assert len(ways) > 1 and len(ways) == len(set(ways)), line
        assert line == fold(line), line
        assert all(words(way) for way in ways), line
