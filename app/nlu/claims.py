"""What a text says that its writer has done: added, filed, sent, told somebody.

Weak language models say so where they have called no tool; `claims.yaml` lists how, by kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
class _Wording:
    """Verbs of doing, and what one of them must be about; whatever it is where that is empty."""

    kind: str
    verbs: frozenset[str]
    own_verbs: frozenset[str]
    things: frozenset[str]


@dataclass(frozen=True)
class _Claims:
    who: frozenset[str]
    joins: frozenset[str]
    unless: frozenset[str]
    wordings: Sequence[_Wording]
    # Those of all wordings: most sentences have none.
    verbs: frozenset[str]


def claimed_kinds(text: str, language: str) -> frozenset[str]:
    """The kinds of what the text's sentences say to be done, and neither ask nor only suppose."""
    claims = _CLAIMS[language]
    plain = text.lower().replace("\u2019", "'")
    sentences = (each for each in _SENTENCE.findall(plain) if not each.endswith("?"))
    return frozenset(
        wording.kind
        for words in map(_WORD.findall, sentences)
        if not claims.verbs.isdisjoint(words)
        for wording in claims.wordings
        if _is_claim(words, wording, claims)
    )


def _is_claim(words: Sequence[str], wording: _Wording, claims: _Claims) -> bool:
    last_who = -_WHO_IS_NEAR - 1
    for n, word in enumerate(words):
        if word in claims.unless:
            break
        # "And told" is by whoever the sentence began with.
        joined = n > 0 and words[n - 1] in claims.joins and last_who >= 0
        who_is_near = joined or n - last_who <= _WHO_IS_NEAR
        if word in wording.own_verbs or (who_is_near and word in wording.verbs):
            return _is_about(words, wording.things)
        last_who = n if word in claims.who else last_who
    return False


def _is_about(words: Sequence[str], things: frozenset[str]) -> bool:
    return not things or any(word in things or _SUM.match(word) for word in words)


def _claims(listed: Mapping[str, Any]) -> _Claims:
    wordings = [
        _Wording(
            kind,
            _words(each["verbs"]),
            _words(each.get("own_verbs", "")),
            _words(each.get("things", "")),
        )
        for kind, of_kind in listed["kinds"].items()
        for each in of_kind
    ]
    verbs = frozenset[str]().union(*(each.verbs | each.own_verbs for each in wordings))
    return _Claims(
        _words(listed["who"]), _words(listed["joins"]), _words(listed["unless"]), wordings, verbs
    )


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


_CLAIMS = {
    language: _claims(listed)
    for language, listed in read_yaml(Path(__file__).with_suffix(".yaml")).items()
}
