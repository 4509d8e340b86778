"""What has changed between two texts, told by words."""

from __future__ import annotations

import pytest

from app.text.diff import abridged, compare
from tests.growth import counted


def told(before: str, after: str) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in compare(before, after)]


def test_words_that_go_and_come_are_told_apart() -> None:
    assert told("Every Friday.", "Every Monday.") == [
        ("same", "Every "),
        ("removed", "Friday"),
        ("added", "Monday"),
        ("same", "."),
    ]


def test_equal_and_empty_texts_have_no_changes() -> None:
    assert told("", "") == []
    assert told("As it was.", "As it was.") == [("same", "As it was.")]


def test_texts_too_long_to_compare_stand_whole_one_after_the_other() -> None:
    kinds = [kind for kind, _ in told("a " * 9000, "b " * 9000)]
    assert kinds == ["removed", "added"]


def test_one_changed_line_of_many_is_found_fast() -> None:
    before = "\n".join(f"line number {n} of this text" for n in range(2000))
    changed = told(before, before.replace("number 7 of", "number seven of"))
    assert [text for kind, text in changed if kind == "added"] == ["seven"]


def test_the_middle_of_what_stayed_is_left_out_between_two_changes() -> None:
    middle = "".join(f"word{number} " for number in range(400))
    shown = abridged(compare(f"one {middle}two", f"uno {middle}dos"))
    kinds = [each.kind for each in shown]
    assert kinds == ["removed", "added", "same", "gap", "same", "removed", "added"]


@pytest.mark.fault(43)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n" * 199, "a\n" * 198 + "b\n"),
        ("\n".join("ab" * 99), "\n".join("ba" * 99)),
        (" ".join("ab" * 90) + "!", " ".join("ba" * 90) + "?"),
    ],
)
def test_what_would_take_long_is_shown_as_a_whole(before: str, after: str) -> None:
    with counted() as cost:
        changes = compare(before, after)
    # It took seconds, in which no other page was answered.
    assert cost.seconds < 2
    assert "".join(each.text for each in changes if each.kind != "added") == before
    assert "".join(each.text for each in changes if each.kind != "removed") == after
