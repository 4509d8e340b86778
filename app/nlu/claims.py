"""What a reply says that has been done: added, filed, sent, told somebody.

Weak language models say so where they have called no tool. Whether a sentence says it at all, in
whatever words, and whether something has gone out to others or was only kept, is learned from
sentences (`sentences/claims`); of what kind it is, where something has been done and the rest is
asked for, `claims.yaml` lists.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.nlu.features import count_claim_features
from app.nlu.model import CLAIMS, KEPT, NO_CLAIM, SENT, load_model
from app.text.yaml_file import read_yaml

# Pictures and arrows end a sentence as well: "Added it ✅ Anything else?"
_ENDS = "!?…\\n\u2190-\u2bff\U0001f000-\U0001faff"
_SENTENCE = re.compile(rf"[^.{_ENDS}]+(?:\.\d+[^.{_ENDS}]*)*[.{_ENDS}]?")
_WORD = re.compile(r"[$€£]?[\w']+|,")
_CLAUSES = re.compile(r"[,;:]|\band\b|\by\b")
_LETTER = re.compile(r"[^\W\d_]")
# A line may end within a sentence; a paragraph, a list's line and a title do not, nor does a line
# behind which a capital begins.
_ONE_LINE = re.compile(r"\n(?![\n#*>-]|[¿¡\"“(_]*[A-ZÁÉÍÓÚÑ])")
# What parts a claim from the question behind it.
_PARTS = ",;:—–("
_PLAIN_SIGNS = str.maketrans({"\u2019": "'", "_": " ", "*": " ", "`": " "})
# What stands for a sum of money among the things of a claim.
_MONEY, _SUM = "$", re.compile(r"[$€£]\d")
# So many words before a verb it may be said who has done it: "I have just now added".
_WHO_IS_NEAR = 4
# Of so many words, one that ends in its verb says that it is done.
_MOST_OF_SHORT = 5
# So likely it must be that a sentence says it; in a reply that tells what was looked up, or of more
# than so many sentences, almost none does. Measured on writers who were left out.
_LIKELY, _SURE, _MOST_SENTENCES = 0.6, 0.9, 8
# Of a reply that has kept something, a sentence says with this likelihood that it was sent; and
# that is likelier by so much than that it was kept.
_SENT, _LIKELIER = 0.4, 0.1
# A line of a list, a table or a title mostly names things: it, too, must say so plainly.
_LINE = re.compile(r"^[ \t]*(?:[-*+#>][#>]*[ \t]|\d+[.)][ \t]|\|).*$", re.MULTILINE)


@dataclass(frozen=True)
class _Wording:
    """Verbs of doing, and what one of them must be about; whatever it is where that is empty."""

    kind: str
    verbs: frozenset[str]
    own_verbs: frozenset[str]
    things: frozenset[str]


@dataclass(frozen=True)
class _Claims:
    """The words of a language: see `claims.yaml`."""

    who: frozenset[str]
    joins: frozenset[str]
    denies: frozenset[str]
    supposes: frozenset[str]
    asks: frozenset[str]
    undone: frozenset[str]
    undone_of: frozenset[str]
    waits: frozenset[str]
    subjects: Mapping[str, frozenset[str]]
    wordings: Sequence[_Wording]
    # Those of all wordings: most sentences have none.
    verbs: frozenset[str]


def says_done(text: str, *, has_looked_up: bool) -> bool:
    """Whether a sentence of a reply says that something has just been done.

    Where a tool `has_looked_up` something it must be said more plainly: who did what and when is
    what such a reply tells.
    """
    said, listed = _said(_LINE.sub("", text)), _said("\n".join(_LINE.findall(text)))
    sure = _SURE if has_looked_up or len(said) > _MOST_SENTENCES else _LIKELY
    shares = load_model()[CLAIMS].weigh
    return any(
        1 - shares(count_claim_features(each))[NO_CLAIM] >= least
        for sentences, least in ((said, sure), (listed, _SURE))
        for each in sentences
    )


def says_sent(text: str, *, besides: Collection[str] = ()) -> bool:
    """Whether a sentence of a reply says that something has gone out, or that others know of it.

    What it says with the verbs of the kinds `besides` is left out: that is so.
    """
    said = [_without(each, besides) for each in _said(text)] if besides else _said(text)
    shares = [load_model()[CLAIMS].weigh(count_claim_features(each)) for each in said if each]
    return any(each[SENT] >= max(_SENT, each[KEPT] + _LIKELIER) for each in shares)


def _without(sentence: str, kinds: Collection[str]) -> str:
    """A sentence without those of its clauses that have a verb of these kinds."""
    verbs = frozenset[str]().union(
        *(
            each.verbs | each.own_verbs
            for claims in _CLAIMS.values()
            for each in claims.wordings
            if each.kind in kinds
        )
    )
    left = [
        clause for clause in _CLAUSES.split(sentence) if verbs.isdisjoint(_WORD.findall(clause))
    ]
    rest = " and ".join(each.strip() for each in left)
    return rest if _LETTER.search(rest) else ""


def says_undone(text: str, language: str) -> bool:
    """Whether a sentence of a reply denies that something was done, or says that it waits."""
    claims = _CLAIMS[language]
    for words in (set(_words_said(each, claims)) for each in _sentences(text)):
        about = not claims.verbs.isdisjoint(words) or any(
            _is_about([*words], things) for things in (claims.undone_of, *claims.subjects.values())
        )
        if (about and not claims.undone.isdisjoint(words)) or not claims.waits.isdisjoint(words):
            return True
    return False


def _said(text: str) -> list[str]:
    """What the sentences of a text say; one that is repeated once: a reply may hold thousands."""
    found = dict.fromkeys(map(_without_question, _sentences(text)))
    return [each for each in found if _WORD.search(each)]


def claimed_kinds(text: str, language: str) -> frozenset[str]:
    """The kinds of what the text's sentences say to be done, and neither ask nor only suppose.

    With what they are about, where that is listed ("expense").
    """
    claims = _CLAIMS[language]
    found: set[str] = set()
    for words in (_words_said(each, claims) for each in _sentences(text)):
        if claims.verbs.isdisjoint(words):
            continue
        kinds = {each.kind for each in claims.wordings if _is_claim(words, each, claims)}
        if kinds:
            found |= kinds
            found |= {name for name, things in claims.subjects.items() if _is_about(words, things)}
    return frozenset(found)


def _sentences(text: str) -> list[str]:
    return _SENTENCE.findall(_ONE_LINE.sub(" ", text).lower().translate(_PLAIN_SIGNS))


def _without_question(sentence: str) -> str:
    """What a sentence says: of "I've added it, anything else?" not the question."""
    said, is_question, _asked = sentence.partition("¿")
    if not is_question and sentence.endswith("?"):
        said = said.replace(" - ", " — ")
        said = said[: max(map(said.rfind, _PARTS)) + 1]
    return said


def _words_said(sentence: str, claims: _Claims) -> list[str]:
    words = _WORD.findall(_without_question(sentence))
    return [] if words and words[0] in claims.asks else words


def _is_claim(words: Sequence[str], wording: _Wording, claims: _Claims) -> bool:
    last_who = -_WHO_IS_NEAR - 1
    is_supposed = is_denied = False
    for n, word in enumerate(words):
        if word == ",":
            is_supposed = is_denied = False
        # "And told" is by whoever the sentence began with.
        joined = n > 0 and words[n - 1] in claims.joins and last_who >= 0
        # "Deleted." and "Taxi $14 logged."
        is_short = n == 0 or (n == len(words) - 1 < _MOST_OF_SHORT)
        is_said = joined or is_short or n - last_who <= _WHO_IS_NEAR
        is_verb = word in wording.own_verbs or (is_said and word in wording.verbs)
        if is_verb and not is_supposed and not is_denied:
            return _is_about(words, wording.things)
        is_supposed = is_supposed or word in claims.supposes
        if word in claims.who:
            # "Has not been added", "I have not": of "can confirm that I have" it denies nothing.
            is_denied = n > 0 and words[n - 1] in claims.denies
            last_who = n
        is_denied = is_denied or word in claims.denies
    return False


def _is_about(words: Sequence[str], things: frozenset[str]) -> bool:
    return not things or any(
        word in things or (_MONEY in things and _SUM.match(word)) for word in words
    )


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
    plain = {
        name: _words(listed[name])
        for name in (
            "who", "joins", "denies", "supposes", "asks", "undone", "undone_of", "waits"
        )
    }  # fmt: skip
    subjects = {name: _words(things) for name, things in listed["subjects"].items()}
    return _Claims(**plain, subjects=subjects, wordings=wordings, verbs=verbs)


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


_CLAIMS = {
    language: _claims(listed)
    for language, listed in read_yaml(Path(__file__).with_suffix(".yaml")).items()
}
