"""Whether a message reports or wants something, and of which type. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from uuid import UUID

from app.nlu.model import read_intents
from app.nlu.normalization import normalize
from app.retrieval.form_and_type_search import Described, rank_described
from app.skills.service_requests.nlu.lexicon import SYMPTOMS, compiled, either
from app.skills.service_requests.services.type_catalog import TypeNode, submittable
from app.text.normalize import plain_words

_NAMED, _ANOTHER = compiled("named"), compiled("another")
_NAMES_FILED, _AFTER_FILED = compiled("names_filed"), compiled("after_filed")
_NOT_AFTER_FILED = compiled("not_after_filed")
_WHAT_TO_DO, _DENIED = compiled("what_to_do"), compiled("denied")
# So likely must a message be for one, while something else is open.
LIKELY = 0.5
# What is so likely for something else is for that.
SURE_OF_OTHER = 0.85
# With "also", and the words of another type, this is enough.
POSSIBLE = 0.05
TOOL = "suggest_service_request_type"
# For what fits no other type: whoever reports trouble need not know which types there are.
GENERAL = "something-else"
LEAST_ODDS, ODDS_A_POINT, MOST_ODDS = -0.35, 0.6, 1.3
TOLD_ODDS = -2.0
# Whoever says "request" or "ticket" means one, whatever it is for.
NAMED_ODDS = 6.0
# A trouble is told in fewer characters; a page that was pasted is not searched for every phrase.
_LONGEST = 1500
_LEANS = re.compile(rf"{either('leans')}\b")
_FEW_WORDS = 3
# One thing that a type is about says as much as several of its words.
_ENOUGH = 1.0
# And by so much more than any other it is the one that is meant.
_CLEARLY = 0.5
# What many things do says less than the name of one of them.
_VAGUE = 0.25
# What people call a type says so much more than single words of its texts.
PHRASE = 4.0


@dataclass(frozen=True)
class Likely:
    """A type that a message may mean, and how many of its words it has."""

    type: TypeNode
    score: float


def wants_request(text: str, tree: Sequence[TypeNode]) -> bool:
    """Whether a message reports trouble or wants something that a type of request is for."""
    if _NAMED.search(plain_words(text)):
        return True
    share = read_intents(text)[TOOL]
    for_it = share * math.exp(odds_of(text, tree))
    return for_it >= LIKELY * (for_it + 1.0 - share)


def odds_of(text: str, tree: Sequence[TypeNode]) -> float:
    """How much the types have of a message speaks for a request, in log odds.

    Measured on sentences that people wrote, and halved: what was learned knows some of it.
    """
    if _NAMED.search(plain_words(text)):
        return NAMED_ODDS
    if asks_what_to_do(text):
        return TOLD_ODDS
    likely = rank_types(text, tree)
    return min(MOST_ODDS, ODDS_A_POINT * likely[0].score) if likely else LEAST_ODDS


def asks_what_to_do(text: str) -> bool:
    """Whether somebody wants to be told what to do, before anybody comes."""
    return bool(_WHAT_TO_DO.search(normalize(text)))


def asks_after_filed(text: str) -> bool:
    """Whether a message is about a request that was filed: how far it is, or to add to it.

    Where it does not name one, it must not surely be for something else.
    """
    said = plain_words(text)
    if _NOT_AFTER_FILED.search(said):
        return False
    others = (share for intent, share in read_intents(text).items() if intent != TOOL)
    is_after = bool(_AFTER_FILED.search(said)) and max(others) < SURE_OF_OTHER
    return is_after or bool(_NAMES_FILED.search(said))


def wants_another(text: str, open_type: UUID, tree: Sequence[TypeNode]) -> bool:
    """Whether a message, while a request of `open_type` is open, is about one more."""
    folded = plain_words(text)
    if not _ANOTHER.search(folded):
        return False
    is_possible = read_intents(text)[TOOL] >= POSSIBLE and _is_of_another(text, open_type, tree)
    return is_possible or bool(_NAMED.search(folded))


def is_other_trouble(
    text: str, tree: Sequence[TypeNode], open_type: UUID, is_awaited: bool
) -> bool:
    """Whether a message is about another trouble than the request that is open.

    What speaks of "it", and a few words where an answer is awaited, are about that one.
    """
    if not wants_request(text, tree):
        return False
    folded = plain_words(text)
    if _NAMED.search(folded):
        return True
    leans = bool(_LEANS.match(folded)) or (is_awaited and len(folded.split()) <= _FEW_WORDS)
    return not leans and _is_of_another(text, open_type, tree)


def _is_of_another(text: str, open_type: UUID, tree: Sequence[TypeNode]) -> bool:
    """Whether another type than the open one clearly has the message's words."""
    likely = rank_types(text, tree)
    return bool(likely) and likely[0].score >= _ENOUGH and likely[0].type.id != open_type


def rank_types(text: str, tree: Sequence[TypeNode]) -> list[Likely]:
    """The types whose words a message has, the likeliest first."""
    folded = _DENIED.sub(" ", plain_words(text[:_LONGEST]))
    found = [Likely(node, _score(folded, node)) for node in submittable(tree)]
    return sorted((each for each in found if each.score > 0), key=lambda each: -each.score)


def nearest_types(text: str, tree: Sequence[TypeNode]) -> list[TypeNode]:
    """The types that a message may be for, by all they say of themselves; the likeliest first."""
    phrases = {each.type.slug: each.score for each in rank_types(text, tree)}
    nodes = {node.slug: node for node in submittable(tree)}
    words = {
        each.key: each.score
        for each in rank_described(text, [_described(node) for node in nodes.values()])
    }
    found = phrases.keys() | words.keys()
    scores = {slug: PHRASE * phrases.get(slug, 0.0) + words.get(slug, 0.0) for slug in found}
    # Of two as likely the one that stands first in the tree.
    return sorted((nodes[slug] for slug in nodes if slug in found), key=lambda e: -scores[e.slug])


def clear_type(text: str, tree: Sequence[TypeNode]) -> TypeNode | None:
    """The one type that a message can hardly but mean; None where that is open.

    It has the message's words clearly more than any other, and is nearest by all that it says of
    itself. What is asked for step by step begins with the choice of its type.
    """
    ranked = rank_types(text, tree)
    if not ranked or ranked[0].score < _ENOUGH or ranked[0].type.is_guided:
        return None
    if len(ranked) > 1 and ranked[0].score < ranked[1].score + _CLEARLY:
        return None
    nearest = nearest_types(text, tree)
    return nearest[0] if nearest[0].id == ranked[0].type.id else None


def likely_types(text: str, tree: Sequence[TypeNode], most: int) -> list[TypeNode]:
    """The types that are suggested for a message; what fits none is for the general one."""
    found = nearest_types(text, tree)[:most]
    return found or [each for each in submittable(tree) if each.slug == GENERAL]


def _described(node: TypeNode) -> Described:
    said = " ".join(word for words in node.words.values() for word in words)
    description = f"{node.description.en} {node.description.es}"
    return Described(node.slug, f"{node.name.en} {node.name.es}", said, description, "")


def named_type(text: str, tree: Sequence[TypeNode]) -> TypeNode | None:
    """The type that a message calls by its name, or that alone has its words."""
    called = called_type(text, tree)
    likely = rank_types(text, tree)
    if called or not likely or (len(likely) > 1 and likely[1].score >= likely[0].score):
        return called
    return likely[0].type


def called_type(text: str, tree: Sequence[TypeNode]) -> TypeNode | None:
    """The type whose name is all that a message says."""
    folded = plain_words(text)
    for node in submittable(tree):
        if folded in {plain_words(node.name.en), plain_words(node.name.es)}:
            return node
    return None


def _score(folded: str, node: TypeNode) -> float:
    """What a type has of a message: each phrase counts by its words, a part of another nothing."""
    spans: list[tuple[int, int]] = []
    score = 0.0
    for phrase in _phrases(node.name.en, node.name.es, *chain(*node.words.values())):
        # Hardly any of them stands there: only those are looked at closely.
        match = _pattern(phrase).search(folded) if phrase in folded else None
        if match and not any(start < match.end() and match.start() < end for start, end in spans):
            spans.append(match.span())
            score += 1.0 + 0.5 * phrase.count(" ") - _VAGUE * phrase.startswith(SYMPTOMS)
    return score


@lru_cache(1024)
def _phrases(english: str, spanish: str, *words: str) -> tuple[str, ...]:
    """What people call a type, by its names and words, the longest first.

    Kept, because each message is held against all of them.
    """
    said = {plain_words(each) for each in words}
    names = {plain_words(part) for name in (english, spanish) for part in _parts(name)}
    return tuple(sorted(filter(None, said | names), key=lambda each: (-len(each), each)))


def _parts(name: str) -> Iterable[str]:
    return re.split(r",| and | y | & ", name)


@lru_cache(4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    """A phrase with whatever ends its words may have."""
    return re.compile(rf"\b{re.escape(phrase)}(?:s|es)?\b")
