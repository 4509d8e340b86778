"""Chunks: by heading, then by sentences, and always a slice of the body."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.retrieval.chunks import (
    LONGEST_CHUNK,
    OVERLAP,
    chunk_markdown,
    headings,
    plain_text,
    readable,
    slug,
)
from app.text.normalize import words

RECIPES = Path(__file__).resolve().parents[3] / "shared" / "data" / "recipes"

LINES = st.sampled_from(
    [
        "# Cleaning",
        "## Ánimo & Co",
        "## Ánimo & Co",
        "### Deep",
        "Some words of text. And more of them!",
        "word " * 80 + "end.",
        "no end at all " * 150,
        "- an item",
        "",
        "Underlined\n===",
        "```\n# not a heading\n```",
        "> quoted",
        "\r\n",
        "¿Qué? Sí.",
        "---",
    ]
)


def long_text(sentences: int) -> str:
    return " ".join(f"Sentence {n} has nine words in it today." for n in range(sentences))


def test_a_chunk_knows_its_place() -> None:
    text = long_text(20)
    body = f"{text}\n\n# Bar\n{text}\n\n## Opening hours\n{text}\n\n# Kitchen\n{text}\n"
    chunks = chunk_markdown(body)
    assert [(c.text, c.anchor, c.headings) for c in chunks] == [
        (text, "", ()),
        (text, "bar", ("Bar",)),
        (text, "opening-hours", ("Bar", "Opening hours")),
        (text, "kitchen", ("Kitchen",)),
    ]


def test_short_sections_in_a_row_stay_together() -> None:
    recipe = "Good soup.\n\n# Soup\nFor four.\n## Needs\n- broth\n## Steps\n1. Boil."
    (chunk,) = chunk_markdown(recipe)
    assert (chunk.text, chunk.anchor, chunk.headings) == (recipe, "", ())
    (chunk,) = chunk_markdown(recipe.removeprefix("Good soup.\n\n"))
    assert (chunk.anchor, chunk.headings) == ("soup", ("Soup",))
    assert chunk.text == "For four.\n## Needs\n- broth\n## Steps\n1. Boil."


def test_a_section_that_would_make_a_chunk_too_long_begins_its_own() -> None:
    body = f"# Bar\n{long_text(20)}\n# Kitchen\n{long_text(20)}\n# Notes\nShort."
    assert [chunk.headings for chunk in chunk_markdown(body)] == [("Bar",), ()]


def test_equal_headings_have_different_anchors() -> None:
    assert [h.anchor for h in headings("# Soap\n# Soap\n# Soap")] == ["soap", "soap-2", "soap-3"]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("Limpieza & Higiéne", "limpieza-higiene"), ("¿Qué?", "que"), ("!!!", "section")],
)
def test_an_anchor_is_made_of_the_headings_words(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


def test_a_heading_inside_code_is_none() -> None:
    assert headings("```\n# no\n```\n\n    # no\n") == []


def test_a_section_without_text_has_no_chunk_but_stays_in_the_path() -> None:
    (chunk,) = chunk_markdown("# Manual\n## Bar\nText.")
    assert (chunk.headings, chunk.text) == (("Manual", "Bar"), "Text.")


@pytest.mark.parametrize("sentences", [45, 60, 100, 200, 400])
def test_long_text_is_cut_evenly_into_chunks_that_overlap(sentences: int) -> None:
    chunks = chunk_markdown(long_text(sentences))
    sizes = [len(words(chunk.text)) for chunk in chunks]
    assert max(sizes) <= LONGEST_CHUNK
    assert min(sizes[:-1]) >= 170
    for before, after in pairwise(chunks):
        shared = before.end - after.start
        assert shared > 0
        assert len(words(before.text[-shared:])) <= OVERLAP


def test_text_without_any_sentence_end_is_cut_between_words() -> None:
    chunks = chunk_markdown("salt pepper " * 1000)
    assert all(len(words(chunk.text)) <= LONGEST_CHUNK for chunk in chunks)
    assert sum(len(words(chunk.text)) for chunk in chunks) >= 2000


@given(st.lists(LINES, max_size=12))
def test_chunks_are_slices_and_no_word_outside_headings_is_lost(lines: list[str]) -> None:
    body = "\n".join(lines)
    chunks = chunk_markdown(body)
    covered = [False] * len(body)
    for chunk in chunks:
        assert body[chunk.start : chunk.end] == chunk.text
        assert 0 < len(words(chunk.text)) <= LONGEST_CHUNK
        covered[chunk.start : chunk.end] = [True] * len(chunk.text)
    for heading in headings(body):
        covered[heading.start : heading.end] = [True] * (heading.end - heading.start)
    rest = "".join(char if not seen else " " for char, seen in zip(body, covered, strict=True))
    assert words(rest) == []


HEAD = "| Dish | Nut free |\n| --- | --- |"


def test_each_part_of_a_long_table_is_read_with_its_head() -> None:
    """Without it the rest of an allergen table said but "no; no" of a dish."""
    rows = "\n".join(f"| Chowder number {number} of the house | no |" for number in range(200))
    body = f"What the kitchen declares:\n\n{HEAD}\n{rows}\n\nAsk the kitchen."
    chunks = chunk_markdown(body)
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        read = readable(body, chunk.start, chunk.end)
        assert read.startswith(f"What the kitchen declares:\n\n{HEAD}\n| Chowder")
        lines = [line for line in read.splitlines() if line.startswith("|")]
        assert all(line.endswith("|") for line in lines)


def test_a_table_takes_no_head_of_the_one_above_it() -> None:
    other = "| Dish | Contains nuts |\n| --- | --- |\n| Cake | no |\n| Flan | yes |\n"
    body = f"{HEAD}\n| Pie | no |\n\n{other}"
    start = body.index("| Flan")
    assert readable(body, start, len(body)).splitlines() == [
        "| Dish | Contains nuts |", "| --- | --- |", "| Flan | yes |",
    ]  # fmt: skip


def test_a_list_that_is_cut_in_two_is_read_with_what_introduces_it() -> None:
    items = "\n".join(f"- Rice number {number} with a long name" for number in range(200))
    body = f"# Cards\n\nThe following dishes are nut free:\n\n{items}\n"
    last = chunk_markdown(body)[-1]
    assert readable(body, last.start, last.end).startswith(
        "The following dishes are nut free:\n\n- Rice"
    )


@pytest.mark.parametrize("between", ["\n\n", "\n  made daily\n", "\n"])
def test_a_loose_list_keeps_what_introduces_it(between: str) -> None:
    items = between.join(f"- Dish {number}" for number in range(9))
    body = f"These dishes contain nuts:\n\n{items}\n"
    start = body.index("- Dish 5")
    read = readable(body, start, len(body))
    assert read.startswith("These dishes contain nuts:\n\n- Dish 5")
    plain_paragraph = body.replace("nuts:", "nuts.")
    assert readable(plain_paragraph, start, len(body)).startswith("- Dish 5")


@given(st.lists(LINES, max_size=12))
def test_what_is_read_of_a_chunk_has_all_of_it(lines: list[str]) -> None:
    body = "\n".join(lines)
    for chunk in chunk_markdown(body):
        assert chunk.text in readable(body, chunk.start, chunk.end)


def test_plain_text_is_what_a_reader_sees() -> None:
    markdown = (
        "# Hi *there*\n\n[menu](http://x) `code`\n\n- **b**\n\n| a | b |\n|---|---|\n| c | d |"
    )
    assert plain_text(markdown) == "Hi there\nmenu code\nb\na\nb\nc\nd"


@pytest.mark.skipif(not RECIPES.is_dir(), reason="../shared/data/recipes is absent")
def test_real_recipes_are_chunked_without_loss() -> None:
    for file in sorted(RECIPES.glob("*.md")):
        body = file.read_text("utf-8")
        for chunk in chunk_markdown(body):
            assert body[chunk.start : chunk.end] == chunk.text
