"""Numbers in letters: "twenty first", "dos mil dieciocho", "nineteen ninety nine"."""

from __future__ import annotations

from collections.abc import Sequence

from app.periods.nodes import Node

_CENTURIES = (19, 20)
_A_THOUSAND = 1000


def join_numbers(nodes: Sequence[Node], language: str) -> list[Node]:
    """The nodes, each run of words that makes one number joined into it."""
    joined: list[Node] = []
    at = 0
    while at < len(nodes):
        length, node = _number(nodes, at, language)
        joined.append(node)
        at += length
    return joined


def _number(nodes: Sequence[Node], at: int, language: str) -> tuple[int, Node]:
    """How many nodes make the number that begins there, and the number."""
    first = nodes[at]
    if first.sign != "number" or not first.is_spelled:
        return 1, first
    value, end, is_ordinal = first.value, at + 1, False
    while not is_ordinal:
        place = end + _joint(nodes, end, value, language)
        following = nodes[place] if place < len(nodes) else None
        if following is None or not following.is_spelled:
            break
        is_ordinal = following.sign == "ordinal"
        more = _extended(value, following.value, is_ordinal)
        if more is None:
            is_ordinal = False
            break
        value, end = more, place + 1
    sign = "ordinal" if is_ordinal else "year" if value >= _A_THOUSAND else "number"
    return end - at, Node(sign, first.start, nodes[end - 1].end, value, is_spelled=True)


def _joint(nodes: Sequence[Node], place: int, value: int, language: str) -> int:
    """Whether an "and", or a hyphen, stands within a number: one node, or none."""
    if place >= len(nodes):
        return 0
    if nodes[place].sign == "dash":
        return int(nodes[place - 1].end == nodes[place].start and value % 10 == 0)
    if nodes[place].sign != "and":
        return 0
    is_joint = value >= 100 if language == "en" else value % 100 >= 30 and value % 10 == 0
    return int(is_joint)


def _extended(value: int, word: int, is_ordinal: bool) -> int | None:
    """The number with one more word; None where another number begins."""
    high, low = divmod(value, 1000)
    if word == 1000 and value < 10:
        return value * 1000
    if word == 100 and low < 10 and low:
        return high * 1000 + low * 100
    if word < 10 and low % 10 == 0 and (low % 100 >= 20 or low % 100 == 0):
        return value + word
    if is_ordinal:
        return None
    if word < 100 and low % 100 == 0:
        return value + word
    if word < 1000 and low == 0:
        return value + word
    if value in _CENTURIES and 10 <= word < 100:
        return value * 100 + word
    return None
