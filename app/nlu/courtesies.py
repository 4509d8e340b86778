"""Greetings, thanks and the like: taken off a question, or recognised as all there is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.nlu.lexicon import LOOSE_WORDS, SMALL_TALK, SOFTENERS
from app.text.normalize import words

_WORD = re.compile(r"[^\W_]+")
_MARK = re.compile(r"\s*[,.;:!?…\n-]")
# What of these kinds opens or closes a question belongs to no question. The others, and
# single words, must stand apart by a mark: "no call no show" does not begin with a "no".
_LOOSE_KINDS = frozenset({"greeting", "thanks", "wellbeing"})
# Each phrase to its kind; what is listed under two kinds is of the first.
_KINDS = {phrase: kind for kind, phrases in reversed(SMALL_TALK.items()) for phrase in phrases}
_LONGEST = max(len(phrase) for phrase in _KINDS)


@dataclass(frozen=True)
class Courtesy:
    """What a message says besides its question; `rest` is empty when there is no question."""

    kinds: tuple[str, ...]
    rest: str


@dataclass(frozen=True)
class _Token:
    word: str
    start: int
    end: int


# Several readers ask for it in each turn.
@lru_cache(maxsize=256)
def read_courtesy(message: str) -> Courtesy:
    """Take the small talk off both ends of `message`."""
    tokens = [
        _Token(" ".join(words(match.group())), match.start(), match.end())
        for match in _WORD.finditer(message)
    ]
    if kinds := _cover(tokens):
        return Courtesy(kinds, "")
    first, before = _take_front(message, tokens)
    last, after = _take_back(tokens, first)
    kinds = (*before, *after)
    rest = tokens[first:last]
    begin = rest[0].start if first and rest else 0
    end = rest[-1].end if last < len(tokens) else len(message)
    return Courtesy(kinds, message[begin:end].strip())


def _cover(tokens: Sequence[_Token]) -> tuple[str, ...]:
    """The kinds of a message that is small talk from end to end, else nothing."""
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(tokens):
        kind, length = _phrase_at(tokens, at)
        if kind:
            found.append((kind, length))
        elif tokens[at].word not in SOFTENERS:
            return ()
        at += length or 1
    # "Thanks for your help" asks for no help.
    asked = [kind for kind, length in found if length > 1 or kind != "abilities"]
    return tuple(asked or [kind for kind, _ in found])


def _take_front(message: str, tokens: Sequence[_Token]) -> tuple[int, list[str]]:
    """How many tokens at the front are small talk, and of which kinds."""
    first, ahead, kinds = 0, 0, []
    while ahead < len(tokens):
        kind, length = _phrase_at(tokens, ahead)
        if kind and _comes_off(message, tokens, ahead, length, kind):
            kinds.append(kind)
        elif tokens[ahead].word in SOFTENERS:
            length = 1
        else:
            break
        ahead += length
        # A softener comes off with what follows it, else it belongs to the question.
        if kind or (kinds and _stands_apart(message, tokens, ahead)):
            first = ahead
    return first, kinds


def _take_back(tokens: Sequence[_Token], first: int) -> tuple[int, list[str]]:
    last, kinds = len(tokens), []
    while first < last:
        kind, length = _phrase_ending(tokens[first:], last - first)
        if kind not in _LOOSE_KINDS or kind == "wellbeing":
            break
        if length == 1 and tokens[last - 1].word not in LOOSE_WORDS:
            break
        kinds.append(kind)
        last -= length
    return last, kinds


def _phrase_at(tokens: Sequence[_Token], first: int) -> tuple[str, int]:
    """The longest phrase that begins at `first`: its kind and length, or ("", 0)."""
    for length in range(min(_LONGEST, len(tokens) - first), 0, -1):
        if kind := _KINDS.get(_spoken(tokens[first : first + length])):
            return kind, length
    return "", 0


def _phrase_ending(tokens: Sequence[_Token], last: int) -> tuple[str, int]:
    """The longest phrase that ends before `last`: its kind and length, or ("", 0)."""
    for length in range(min(_LONGEST, last), 0, -1):
        if kind := _KINDS.get(_spoken(tokens[last - length : last])):
            return kind, length
    return "", 0


def _spoken(tokens: Sequence[_Token]) -> tuple[str, ...]:
    return tuple(token.word for token in tokens)


def _comes_off(message: str, tokens: Sequence[_Token], first: int, length: int, kind: str) -> bool:
    """True when the phrase is no part of a question that goes on after it."""
    if _stands_apart(message, tokens, first + length):
        return True
    if length == 1:
        return tokens[first].word in LOOSE_WORDS
    return kind in _LOOSE_KINDS


def _stands_apart(message: str, tokens: Sequence[_Token], after: int) -> bool:
    """True when the message, or at least the phrase, ends before the token `after`."""
    return after == len(tokens) or bool(_MARK.match(message, tokens[after - 1].end))
