"""Rules that make one node of several, until a sentence's periods stand in it.

A rule's pattern is a regular expression over signs instead of letters: "last number unit".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from app.periods.nodes import Needs, Node
from app.periods.period import Partial, Period
from app.periods.vocabulary import LETTERS, Vocabulary

_SIGN = re.compile(r"[a-z_]+")


@dataclass(frozen=True)
class Match:
    """The nodes that a pattern was found in, and what is needed to say what they mean."""

    nodes: tuple[Node, ...]
    today: date
    vocabulary: Vocabulary

    def all(self, *signs: str) -> list[Node]:
        """Its nodes of these signs, in their order."""
        return [node for node in self.nodes if node.sign in signs]

    def has(self, *signs: str) -> bool:
        return any(node.sign in signs for node in self.nodes)

    def value(self, *signs: str) -> Any:
        """What its first node of these signs is worth; None where there is none."""
        return next((node.value for node in self.nodes if node.sign in signs), None)

    def node(self, sign: str, value: Any, needs: Needs = Needs.NOTHING) -> Node:
        return Node(sign, self.nodes[0].start, self.nodes[-1].end, value, needs=needs)

    def point(self, partial: Partial | None, needs: Needs = Needs.NOTHING) -> Node:
        return self.node("point", partial, needs) if partial else self.void()

    def period(self, period: Period | None, needs: Needs = Needs.NOTHING) -> Node:
        return self.node("period", period, needs) if period else self.void()

    def void(self) -> Node:
        """It contradicts itself, or is none on purpose: nothing else is made of its words."""
        return self.node("void", None)


Build = Callable[[Match], Node | None]


@dataclass(frozen=True)
class Rule:
    """A pattern, and what becomes of it; None leaves the words to the rules after it."""

    pattern: re.Pattern[str]
    build: Build


def rule(pattern: str, build: Build) -> Rule:
    letters = _SIGN.sub(lambda sign: re.escape(LETTERS[sign[0]]), pattern)
    return Rule(re.compile(letters.replace(" ", "")), build)


def apply_rules(
    nodes: Sequence[Node], rules: Iterable[Rule], today: date, vocabulary: Vocabulary
) -> list[Node]:
    """The nodes after all rules, each applied wherever it fits, from the left."""
    left = list(nodes)
    letters = "".join(LETTERS[node.sign] for node in left)
    for each in rules:
        at = 0
        while found := each.pattern.search(letters, at):
            start, end = found.span()
            made = each.build(Match(tuple(left[start:end]), today, vocabulary))
            at = start + 1
            if made is not None:
                left[start:end] = [made]
                letters = letters[:start] + LETTERS[made.sign] + letters[end:]
    return left


def needing(node: Node, needs: Needs) -> Node:
    return replace(node, needs=needs)


def resolved(node: Node, today: date) -> Period | None:
    """The period of a point or a period."""
    value: Partial | Period = node.value
    return value.period(today) if isinstance(value, Partial) else value
