"""Whether a text says that its writer has done something: added, filed, sent, told somebody.

Weak language models say so where they have called no tool; `claims.yaml` lists how.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.text.yaml_file import read_yaml

_SENTENCE = re.compile(r"[^.!?…\n]+(?:\.\d+[^.!?…\n]*)*[.!?…]?")
_WORD = re.compile(r"[$€£]?[\w']+")
_SUM = re.compile(r"[$€£]\d")
# So many words before a verb it may be said who has done it: "I have just now added".
_WHO_IS_NEAR = 4


@dataclass(frozen=True)
class _Kind:
    """Verbs of doing, and what one of them must be about; whatever it is where that is empty."""

    verbs: frozenset[str]
    own_verbs: frozenset[str]
    things: frozenset[str]
    leaves: bool


@dataclass(frozen=True)
class _Claims:
    who: frozenset[str]
    unless: frozenset[str]
    kinds: Sequence[_Kind]


def claims_to_have_done(text: str, language: str, *, outside: bool = False) -> bool:
    """Whether one of the text's sentences says so, and neither asks nor only supposes it.

    With `outside`, only what leaves its conversation counts: what was filed, sent, told somebody.
    """
    plain = text.lower().replace("\u2019", "'")
    return any(
        _is_claim(_WORD.findall(sentence), _CLAIMS[language], outside=outside)
        for sentence in _SENTENCE.findall(plain)
        if not sentence.endswith("?")
    )


def _is_claim(words: Sequence[str], claims: _Claims, *, outside: bool) -> bool:
    certain = next((n for n, word in enumerate(words) if word in claims.unless), len(words))
    return any(
        _has_verb(words[:certain], kind, claims.who) and _is_about(words, kind.things)
        for kind in claims.kinds
        if kind.leaves or not outside
    )


def _has_verb(words: Sequence[str], kind: _Kind, who: frozenset[str]) -> bool:
    return any(
        word in kind.own_verbs
        or (word in kind.verbs and not who.isdisjoint(words[max(0, n - _WHO_IS_NEAR) : n]))
        for n, word in enumerate(words)
    )


def _is_about(words: Sequence[str], things: Collection[str]) -> bool:
    return not things or any(word in things or _SUM.match(word) for word in words)


def _claims(listed: Mapping[str, Any]) -> _Claims:
    kinds = [
        _Kind(
            _words(each.get("verbs", "")),
            _words(each.get("own_verbs", "")),
            _words(each.get("things", "")),
            bool(each.get("leaves")),
        )
        for each in listed["kinds"]
    ]
    return _Claims(_words(listed["who"]), _words(listed["unless"]), kinds)


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


_CLAIMS = {
    language: _claims(listed)
    for language, listed in read_yaml(Path(__file__).with_suffix(".yaml")).items()
}
