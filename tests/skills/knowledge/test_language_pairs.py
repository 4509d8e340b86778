"""Laying two languages of a manual side by side, and two versions of a text."""

from __future__ import annotations

from app.skills.knowledge.services.language_pairs import Node, align


def node(slug: str, size: int, signs: str = "", *children: Node, place: int = -1) -> Node:
    return Node(slug, slug, size, frozenset(signs.split()), place, children=list(children))


def test_a_missing_section_does_not_shift_those_after_it() -> None:
    there = node("root", 10, "", node("a", 100, "7:30"), node("b", 400, "41"), node("c", 90, "9"))
    here = node(
        "raiz", 10, "", node("x", 110, "7:30", place=1), node("z", 95, "9", place=2), place=0
    )
    found = align(there, here)
    assert found.slugs == {0: "root", 1: "a", 2: "c"}
    assert found.alone_there == ["b"]
    assert found.alone_here == []


def test_what_only_one_language_has_is_named_with_all_below_it() -> None:
    there = node("root", 10, "", node("a", 100, "1"))
    below = node("y", 40, "", place=3)
    here = node(
        "raiz", 10, "", node("x", 100, "1", place=1), node("w", 5, "8", below, place=2), place=0
    )
    assert align(there, here).alone_here == [2, 3]


def test_a_section_with_its_own_name_is_known_wherever_it_stands_among_its_neighbours() -> None:
    named = node("b", 5, "", place=1)
    named.is_named = True
    there = node("root", 10, "", node("a", 100, "1"), node("b", 400, "2"))
    assert align(there, node("raiz", 10, "", named, place=0)).slugs[1] == "b"


def test_long_lists_are_laid_side_by_side_by_number() -> None:
    there = node("root", 1, "", *(node(f"s{n}", 9) for n in range(1200)))
    here = node("raiz", 1, "", *(node(f"t{n}", 9, place=n + 1) for n in range(1100)), place=0)
    found = align(there, here)
    assert found.slugs[1100] == "s1099"
    assert len(found.alone_there) == 100
