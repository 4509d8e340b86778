"""Sentences, cut where a reader would, at exact places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.retrieval.sentences import split_sentences


def texts(body: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(body)]


@pytest.mark.parametrize(
    ("body", "sentences"),
    [
        ("Wash hands. Dry them! Ready?", ["Wash hands.", "Dry them!", "Ready?"]),
        ("¿Cuánto? ¡Mucho! Ya está.", ["¿Cuánto?", "¡Mucho!", "Ya está."]),
        ("Ask Dr. Smith. Then go.", ["Ask Dr. Smith.", "Then go."]),
        ("El Sr. Pérez llegó. Se fue.", ["El Sr. Pérez llegó.", "Se fue."]),
        ("J. Ruiz signs. We file.", ["J. Ruiz signs.", "We file."]),
        ("Hold at 41 °F, approx. 5 °C. Discard.", ["Hold at 41 °F, approx. 5 °C.", "Discard."]),
        (
            "See no. 5 below. The answer is no. Go.",
            ["See no. 5 below.", "The answer is no.", "Go."],
        ),
        ("Open until 5 p.m. on Sunday. Closed.", ["Open until 5 p.m. on Sunday.", "Closed."]),
        ("Version 2.5 of site.com is out.", ["Version 2.5 of site.com is out."]),
        ("“Really?” he said. (Yes.) Good.", ["“Really?” he said.", "(Yes.)", "Good."]),
        ("One line\nbroken softly. Two", ["One line\nbroken softly.", "Two"]),
        ("A paragraph\n\nAnother one", ["A paragraph", "Another one"]),
        ("- salt\n- pepper\n1. Cut. Fry.", ["- salt", "- pepper", "1. Cut.", "Fry."]),
        ("## Heading\nText.", ["## Heading", "Text."]),
        ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_say(body: str, sentences: list[str]) -> None:
    assert texts(body) == sentences


@given(st.text(st.sampled_from(' \n.!?¿ab1-#|)"Dr'), max_size=200))
def test_sentences_lie_where_they_say_and_leave_only_white_space_out(body: str) -> None:
    sentences = split_sentences(body)
    assert all(body[s.start : s.end] == s.text == s.text.strip() for s in sentences)
    places = [0, *(place for s in sentences for place in (s.start, s.end)), len(body)]
    assert places == sorted(places)
    gaps = zip(places[::2], places[1::2], strict=True)
    assert not any(body[start:end].strip() for start, end in gaps)
