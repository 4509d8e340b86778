"""The other language of a manual that is there already: which section is the text of which.

A section that the file names itself (an HTML id, {#slug}) is known by that name. All others
are known by their place: children of the same section are laid side by side, so that one
that is missing in a language does not shift those after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from app.config import LANGUAGES
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.readers import ReadDocument

# What stands in a text whatever its language: numbers, code and addresses.
_SIGNS = re.compile(r"`[^`\n]+`|https?://\S+|\d[\d.,:/-]*")
_READ_OF_A_BODY, _MOST_SIGNS = 4000, 200
# Two sections side by side are better than two alone, even when nothing in them is alike.
_SIDE_BY_SIDE = 0.2
_SAME_NAME = 100.0
# Lists longer than this are laid side by side by their numbers alone.
_MOST_PAIRS = 1_000_000


@dataclass
class Node:
    """A section of either side: its name, what can be compared of it, and what is below."""

    slug: str
    title: str
    size: int
    signs: frozenset[str]
    place: int = -1  # in the document that is read
    is_named: bool = False
    children: list[Node] = field(default_factory=list)

    @cached_property
    def count(self) -> int:
        """How many sections it is with all below it, once the tree is put together."""
        return 1 + sum(child.count for child in self.children)


@dataclass(frozen=True)
class Alignment:
    """By place in the document, the slug of the section there; and what has no partner."""

    slugs: Mapping[int, str]
    alone_here: Sequence[int]
    alone_there: Sequence[str]


def tree_of_rows(rows: Sequence[ManualSection], top: ManualSection, language: str) -> Node:
    """The chapter as it stands in a language other than `language`."""
    below: dict[object, list[ManualSection]] = {}
    for row in sorted(rows, key=lambda row: (row.position, row.slug)):
        below.setdefault(row.parent_id, []).append(row)
    [other] = [each for each in LANGUAGES if each != language]

    def node(row: ManualSection) -> Node:
        made = _node(row.slug, row.title(other), row.body(other))
        # What only the language at hand has is its own text, and no partner for it.
        made.children = [
            node(child) for child in below.get(row.id, ()) if child.is_written_in(other)
        ]
        return made

    return node(top)


def tree_of_document(document: ReadDocument) -> Node:
    nodes: list[Node] = []
    for place, section in enumerate(document.sections):
        made = _node(section.slug, section.title, section.body)
        made.place, made.is_named = place, section.is_named
        nodes.append(made)
        if section.parent is not None:
            nodes[section.parent].children.append(made)
    return nodes[0]


def _node(slug: str, title: str, body: str) -> Node:
    found = _SIGNS.findall(f"{title}\n{body[:_READ_OF_A_BODY]}")
    signs = frozenset(found[:_MOST_SIGNS])
    return Node(slug, title, len(body), signs)


def align(there: Node, here: Node) -> Alignment:
    """Lay a document that was read beside the chapter that it is another language of."""
    slugs: dict[int, str] = {here.place: there.slug}
    alone_here: list[int] = []
    alone_there: list[str] = []
    waiting = [(there, here)]
    while waiting:
        old, new = waiting.pop()
        pairs = _side_by_side(old.children, new.children)
        for left, right in pairs:
            if left is not None and right is not None:
                slugs[right.place] = left.slug
                waiting.append((left, right))
            elif left is not None:
                alone_there += [each.slug for each in _all(left)]
            elif right is not None:
                alone_here += [each.place for each in _all(right)]
    return Alignment(slugs, sorted(alone_here), alone_there)


def _all(node: Node) -> list[Node]:
    return [node, *(below for child in node.children for below in _all(child))]


Pairs = list[tuple[Node | None, Node | None]]


def _side_by_side(old: Sequence[Node], new: Sequence[Node]) -> Pairs:
    """Pairs in both orders, with as much alike in them as can be; the rest stands alone."""
    if len(old) * len(new) > _MOST_PAIRS:
        return _by_number(old, new)
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    likeness = [[_likeness(left, right) for right in new] for left in old]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            together = likeness[i][j] + best[i + 1][j + 1]
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    pairs: Pairs = []
    i = j = 0
    while i < len(old) and j < len(new):
        if best[i][j] == likeness[i][j] + best[i + 1][j + 1] and likeness[i][j] > 0:
            pairs.append((old[i], new[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            pairs.append((old[i], None))
            i += 1
        else:
            pairs.append((None, new[j]))
            j += 1
    return pairs + [(each, None) for each in old[i:]] + [(None, each) for each in new[j:]]


def _by_number(old: Sequence[Node], new: Sequence[Node]) -> Pairs:
    shared = min(len(old), len(new))
    pairs: Pairs = list(zip(old[:shared], new[:shared], strict=True))
    return pairs + [(each, None) for each in old[shared:]] + [(None, each) for each in new[shared:]]


def _likeness(left: Node, right: Node) -> float:
    """How much two sections look like one text in two languages; 0 for two that cannot be."""
    if right.is_named and left.slug == right.slug:
        return _SAME_NAME
    signs = _share(len(left.signs & right.signs), len(left.signs | right.signs))
    length = _share(min(left.size, right.size), max(left.size, right.size))
    shape = _share(min(left.count, right.count), max(left.count, right.count))
    title = 0.5 if left.title.casefold() == right.title.casefold() else 0.0
    return _SIDE_BY_SIDE + 0.5 * signs + 0.25 * length + 0.25 * shape + title


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
