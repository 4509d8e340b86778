"""Sentences in English and Spanish over the six forms of the demo, with all that they say."""

from __future__ import annotations

from tests.fields.extraction.reader import SENTENCES, score


def test_what_is_said_is_filled_in_and_nothing_else() -> None:
    total = score(SENTENCES["sentences"])
    assert total.invented == []
    assert total.right / total.expected >= 0.9, "\n".join(total.wrong)


def test_sentences_that_were_not_tuned_on_do_as_well() -> None:
    total = score(SENTENCES["held_out"])
    assert total.invented == []
    assert total.right / total.expected >= 0.9, "\n".join(total.wrong)


def test_what_was_read_well_stays_so() -> None:
    total = score(SENTENCES["kept"])
    assert total.invented == []
    assert total.wrong == []


def test_there_are_enough_sentences_in_both_languages() -> None:
    texts = [case["text"] for case in SENTENCES["sentences"]]
    spanish = [
        text for text in texts if {"el", "la", "se", "no", "una"} & set(text.lower().split())
    ]
    assert len(texts) >= 40
    assert len(spanish) >= 15
    assert len(SENTENCES["held_out"]) >= 12
