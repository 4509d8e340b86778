"""Markdown files become sections: titles, slugs, parents, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.skills.knowledge.services.markdown_import import (
    ImportProblem,
    ParsedDocument,
    parse_markdown,
    read_markdown,
    slugify,
)

CHAPTER = """---
kind: policy
---
# Food safety {#food-safety}
Keep it cold.

## Raw chicken {#raw-chicken}
Two hours at most.

### Thawing {#thawing}
In the cooler.

```
# not a heading
```

## Fish
On ice.
"""


def outline(document: ParsedDocument) -> list[tuple[str, str, str | None]]:
    return [
        (section.slug, section.title, section.parent.slug if section.parent else None)
        for section in document.sections
    ]


def long(text: str) -> str:
    """The text with enough words after it that it is no longer a short page."""
    return text + "\n" + "word " * 800


def test_headings_become_a_tree_with_their_own_slugs() -> None:
    document = parse_markdown(CHAPTER, "04-food-safety")
    assert document.kind == "policy"
    assert outline(document) == [
        ("food-safety", "Food safety", None),
        ("raw-chicken", "Raw chicken", "food-safety"),
        ("thawing", "Thawing", "raw-chicken"),
        ("food-safety-fish", "Fish", "food-safety"),
    ]
    assert document.sections[0].body == "Keep it cold."
    assert "# not a heading" in document.sections[2].body


def test_a_file_without_title_is_called_by_its_name() -> None:
    document = parse_markdown("## Glassware {#glass}\nPolish it.", "07_bar-setup")
    assert outline(document) == [
        ("07-bar-setup", "Bar setup", None),
        ("glass", "Glassware", "07-bar-setup"),
    ]


def test_the_front_matter_names_the_title() -> None:
    document = parse_markdown(long("---\ntitle: Opening\n---\n# First\nDo it."), "x")
    assert outline(document) == [("x", "Opening", None), ("x-first", "First", "x")]


def test_equal_headings_get_slugs_of_their_own() -> None:
    document = parse_markdown(long("# A\n## Steps\nx\n## Steps\ny\n## Steps\nz"), "a")
    assert [slug for slug, *_ in outline(document)] == ["a", "a-steps", "a-steps-2", "a-steps-3"]


def test_deeper_and_shallower_headings_find_their_parent() -> None:
    document = parse_markdown(long("# A\n### Deep\nx\n## Mid\ny\n#### Deeper\nz\n# B\nw"), "a")
    assert outline(document)[1:] == [
        ("a-deep", "Deep", "a"),
        ("a-mid", "Mid", "a"),
        ("a-deeper", "Deeper", "a-mid"),
        ("a-b", "B", "a"),
    ]


def test_a_short_page_without_named_sections_stays_whole() -> None:
    document = parse_markdown("# Soup\n\n## Ingredients\n- water\n\n## Steps\n1. boil", "soup")
    [only] = document.sections
    assert (only.slug, only.title) == ("soup", "Soup")
    assert "## Steps" in only.body
    assert "# Soup" not in only.body.split("\n")


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    file = tmp_path / "01-a.md"
    file.write_bytes(CHAPTER.replace("\n", "\r\n").encode("utf-8-sig"))
    assert outline(read_markdown(file)) == outline(parse_markdown(CHAPTER, "01-a"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe\x00", "UTF-8"),
        (b"---\nkind: [\n---\n# A\nx", "front matter"),
        (b"---\nkind: gossip\n---\n# A\nx", "gossip"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(
    tmp_path: Path, content: bytes, told: str
) -> None:
    file = tmp_path / "odd.md"
    file.write_bytes(content)
    with pytest.raises(ImportProblem) as problem:
        read_markdown(file)
    assert "odd" in str(problem.value)
    assert told in str(problem.value)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"---\nkind: sop\n---\n"])
def test_a_file_without_text_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "nothing.md"
    file.write_bytes(content)
    with pytest.raises(ImportProblem, match="no text"):
        read_markdown(file)


@pytest.mark.parametrize(
    "content", ["## B {#b}\nx\n## C {#b}\ny", "# A {#b}\n## B {#b}\nx", "# A\n## B {#a}\nx"]
)
def test_a_name_used_for_two_sections_is_refused(content: str) -> None:
    with pytest.raises(ImportProblem, match="two sections"):
        parse_markdown(content, "a")


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Raw chicken", "raw-chicken"),
        ("Política de propinas", "politica-de-propinas"),
        ("¿Qué? ¡Ya!", "que-ya"),
        ("寿司", "section"),
        ("x" * 300, "x" * 100),
        ("-- a --", "a"),
    ],
)
def test_slugs_are_plain_words(title: str, slug: str) -> None:
    assert slugify(title) == slug


@given(
    st.lists(
        st.sampled_from(
            ["# A", "## B", "## B {#b}", "### C {#c-1}", "```", "text", "", "~~~", "#x"]
        ),
        min_size=1,
        max_size=30,
    ).map("\n".join)
)
@settings(max_examples=300, deadline=None)
def test_no_line_of_a_document_is_lost(text: str) -> None:
    try:
        document = parse_markdown(text, "doc")
    except ImportProblem:
        return
    kept = "\n".join(section.body for section in document.sections)
    assert kept.count("text") == text.count("text")
    slugs = [section.slug for section in document.sections]
    assert len(slugs) == len(set(slugs))


def test_the_demo_manual_has_the_same_sections_in_both_languages() -> None:
    demo = Path(__file__).parents[3] / "app" / "demo"
    for house in ("alamo_prime", "casa_lucero"):
        english = {file.name: file for file in (demo / house / "manual" / "en").glob("*.md")}
        spanish = {file.name: file for file in (demo / house / "manual" / "es").glob("*.md")}
        assert english.keys() == spanish.keys()
        for name, file in english.items():
            one, other = read_markdown(file), read_markdown(spanish[name])
            assert [slug for slug, *_ in outline(one)] == [slug for slug, *_ in outline(other)]
