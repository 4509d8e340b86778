"""No pattern that reads what people write can read the same words in two ways, again and again.

Where a repeated group may take "all the " as itself or as "all " and "the ", a text of fifty such
words that matches nothing is tried in two to the power of fifty ways.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from itertools import repeat
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import app
from app.nlu.control import _phrases

MOST_WORDS, FEW = 2_000, 8
# These start something when they are imported.
STARTS = ("__main__", "turns.runner")


# Stand for any letters, as many as there are, for blanks, and for signs alone.
LETTERS, GAP, SIGNS = "\0", " ", "\1"
GAPS = {codes.CATEGORY_SPACE, codes.CATEGORY_NOT_WORD}


class Endless(Exception):
    """A group stands for more words than can be listed."""


def expand(sequence: Iterable[Any]) -> list[str]:
    """All words that a parsed pattern stands for, as often as it does."""
    words = [""]
    for code, value in sequence:
        words = [before + after for before in words for after in expand_one(code, value)]
        if len(words) > MOST_WORDS:
            raise Endless
    return words


def expand_one(code: Any, value: Any) -> list[str]:
    if code is codes.LITERAL:
        return [chr(value)]
    if code is codes.BRANCH:
        return [word for branch in value[1] for word in expand(branch)]
    if code is codes.SUBPATTERN:
        return expand(value[3])
    if code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return [""]
    if code is codes.IN and is_gap(value) and gap_of(value) == GAP:
        return [GAP]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        least, most, repeated_one = value
        if most <= 1:
            return [*expand(repeated_one), *([""] if least == 0 else [])]
        [(kind, inside), *others] = repeated_one
        if not others and kind is codes.LITERAL:
            return [chr(inside) * max(least, 1)]
        if not others and kind is codes.IN and (is_gap(inside) or is_letters(inside)):
            gaps = [*([""] if least == 0 else []), gap_of(inside)] if is_gap(inside) else []
            return gaps or [LETTERS]
    raise Endless


def is_gap(inside: Any) -> bool:
    """Whether a class has blanks and signs alone."""
    return all(
        (code is codes.CATEGORY and value in GAPS)
        or (code is codes.LITERAL and not chr(value).isalnum())
        for code, value in inside
    )


def gap_of(inside: Any) -> str:
    """Blanks, perhaps among signs; or signs alone."""
    has_blank = any(code is codes.CATEGORY or value == ord(" ") for code, value in inside)
    return GAP if has_blank else SIGNS


def is_letters(inside: Any) -> bool:
    """Whether a class has letters alone."""
    return all(
        (code is codes.CATEGORY and value is codes.CATEGORY_WORD)
        or (code is codes.RANGE and chr(value[0]).isalpha())
        for code, value in inside
    )


def repeated(sequence: Iterable[Any]) -> Iterator[Any]:
    """What may stand there more often than a few times, at any depth."""
    for code, value in sequence:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            if value[1] > FEW:
                yield value[2]
            yield from repeated(value[2])
        elif code is codes.BRANCH:
            for each in value[1]:
                yield from repeated(each)
        elif code is codes.SUBPATTERN:
            yield from repeated(value[3])
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from repeated(value[1])


def reads_in_two_ways(found: list[str]) -> bool:
    """Whether some text is made of these words in more than one way (Sardinas and Patterson)."""
    listed = [word for word in found if word]
    words = set(listed)
    if len(listed) > len(words) or any(map(is_also, listed, repeat(listed))):
        return True
    rests = {b[len(a) :] for a in words for b in words if a != b and b.startswith(a)}
    known: set[str] = set()
    while rests - known:
        known |= rests
        if rests & words:
            return True
        rests = {word[len(rest) :] for rest in rests for word in words if word.startswith(rest)} | {
            rest[len(word) :] for rest in rests for word in words if rest.startswith(word)
        }
    return False


def is_also(open_ended: str, words: list[str]) -> bool:
    """Whether a word with any letters in it is one of the others too: "max…" is "maximo"."""
    if LETTERS not in open_ended:
        return False
    said = re.compile(r"\w*".join(map(re.escape, open_ended.split(LETTERS))))
    return any(word != open_ended and said.fullmatch(word.replace(LETTERS, "")) for word in words)


def groups_of(pattern: str, flags: int = 0) -> Iterator[list[str]]:
    """The words of each repeated group that has a list of them."""
    for group in repeated(parser.parse(pattern, flags)):
        try:
            yield expand(group)
        except Endless:
            continue


def all_patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern of text that a module of ours keeps, by where it is."""
    found: dict[str, re.Pattern[str]] = {}
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if module.name.endswith(STARTS):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            for number, each in enumerate(flat(value)):
                if isinstance(each, re.Pattern) and isinstance(each.pattern, str):
                    found[f"{module.name}.{name} {number}"] = each
    found |= {f"agreement.yaml {act}": each for act, each in _phrases().acts.items()}
    return found


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from flat(each)
    else:
        yield value


@pytest.mark.fault(60)
def test_no_pattern_reads_the_same_words_in_two_ways() -> None:
    patterns = all_patterns()
    assert len(patterns) > 400
    wrong = [
        f"{where}: {sorted(words)[:9]}"
        for where, each in patterns.items()
        for words in groups_of(each.pattern, each.flags & ~re.UNICODE)
        if reads_in_two_ways(words)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("pattern", "is_wrong"),
    [
        ("(?:all |the |all the )*x", True),
        ("(?:ya |(?:ya )?no preguntes )*x", True),
        ("(?:a|ab|ba)+x", True),
        ("(?:all |the |any )*x", False),
        ("(?:please |ok )*x", False),
        ("(?:all |the |all the ){0,3}x", False),
        (r"(?:(?:no|wait|no)\s)*x", True),
        (r"(?:(?:max\w*|maximo)\s+)*x", True),
        (r"(?:(?:max\w*|min\w*)\s+)*x", False),
        (r"(?:(?:no|wait)[\s,]+)*x", False),
    ],
)
def test_what_can_be_read_in_two_ways_is_found(pattern: str, is_wrong: bool) -> None:
    assert any(map(reads_in_two_ways, groups_of(pattern))) == is_wrong
