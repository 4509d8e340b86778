"""What a page's own style sheets strike out, hide, raise or lower.

Only rules for plain elements and classes are followed: `.old`, `p`, `span.old`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_SELECTOR = re.compile(r"^(?:([a-z][a-z0-9-]*)|\*)?(?:\.(-?[_a-z][\w-]*))?$", re.IGNORECASE)
_STRUCK = "line-through"
# A rule as a page's program would write it; longer ones are not looked at.
LONGEST_SELECTOR = 200
_READ = ("text-decoration", "text-decoration-line", "display", "vertical-align")

# A rule's order and what it says of one property.
_Said = tuple[int, str]


@dataclass
class StyleSheet:
    """The rules by element and class ("" for any); `is_unclear` when others strike out as well."""

    rules: dict[tuple[str, str], dict[str, _Said]] = field(default_factory=dict)
    is_unclear: bool = False

    def value(self, name: str, classes: Iterable[str], wanted: str) -> str:
        """What the rules say of a property of an element; "" when they say nothing.

        The more exact rule counts, and of two the later one.
        """
        found: list[tuple[int, _Said]] = []
        for exactness, key in _keys(name, classes):
            if said := self.rules.get(key, {}).get(wanted):
                found.append((exactness, said))
        return max(found)[1][1] if found else ""


def read_stylesheets(texts: Iterable[str]) -> StyleSheet:
    """The rules of a page's `<style>` elements, in their order."""
    sheet = StyleSheet()
    order = 0
    for text in texts:
        for selectors, body in _rules(_without_comments(text)):
            order += 1
            _take(sheet, selectors, body, order)
    return sheet


def declarations(text: str) -> dict[str, str]:
    """The properties of a rule, or of a `style` attribute, that are looked at."""
    found = {}
    for each in text.split(";"):
        name, _, value = each.partition(":")
        if (name := name.strip().lower()) in _READ:
            # Of both names of a decoration the later one counts.
            name = "text-decoration" if name.startswith("text-decoration") else name
            found[name] = " ".join(value.lower().replace("!important", " ").split())
    return found


def _take(sheet: StyleSheet, selectors: str, body: str, order: int) -> None:
    said = {} if "{" in body else declarations(body)
    strikes = _STRUCK in body.lower()
    if selectors.startswith("@") or "{" in body:
        # For printing, for small screens: whether they count here is not known.
        sheet.is_unclear |= strikes
        return
    for each in selectors.split(","):
        selector = each.strip()
        match = _SELECTOR.match(selector) if 0 < len(selector) <= LONGEST_SELECTOR else None
        if match is None:
            sheet.is_unclear |= strikes
            continue
        rule = sheet.rules.setdefault(((match[1] or "").lower(), match[2] or ""), {})
        rule.update({name: (order, value) for name, value in said.items()})


def _keys(name: str, classes: Iterable[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    """What an element may be called in a rule, with how exact that is."""
    yield 0, ("", "")
    yield 1, (name, "")
    for each in classes:
        yield 2, ("", each)
        yield 3, (name, each)


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """The selectors and the body of each outermost rule."""
    depth, begin, selectors = 0, 0, ""
    for brace in re.finditer(r"[{}]", text):
        if brace[0] == "{":
            if depth == 0:
                # Statements such as `@import …;` stand before the selectors.
                selectors = text[begin : brace.start()].rpartition(";")[2].strip()
                begin = brace.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield selectors, text[begin : brace.start()]
                begin = brace.end()
    if depth:
        yield selectors, text[begin:]


def _without_comments(text: str) -> str:
    text = text.replace("<!--", " ").replace("-->", " ")
    kept, place = [], 0
    while (start := text.find("/*", place)) >= 0:
        kept.append(text[place:start])
        end = text.find("*/", start + 2)
        place = len(text) if end < 0 else end + 2
    return " ".join([*kept, text[place:]])
