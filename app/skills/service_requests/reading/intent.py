"""Whether a message reports or wants something, and of which type. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from app.folding import plain_words
from app.skills.service_requests.catalog import TypeNode, submittable
from app.skills.service_requests.reading.replies import asks_besides, is_question

# Something that is not as it should be.
_TROUBLE = re.compile(
    r"\b(?:broken?|broke(?: down)?|not \w+ing|isn t \w+ing|is not \w+ing|won t \w+|will not \w+"
    r"|doesn t \w+|does not \w+|don t \w+|can t \w+|cannot \w+|stopped \w+ing|stuck|jammed|clogged"
    r"|leak(?:s|ing|ed)?|drip(?:s|ping)?|flood(?:s|ed|ing)?|overflow\w*|dead|down|out of order"
    r"|(?:iced|frosted) over|(?:is|are|went) out|mak(?:es|ing) (?:a |an |odd |loud )*nois\w+"
    r"|frozen"
    r"|froze|tripped|cracked|torn|ripped|burnt|burned|sparks?|sparking|smokes|smoking|smells?|noisy"
    r"|warm|locked out|forgot|lost|missing|damaged|faulty|acting up|keeps? \w+ing|fell off|ran out"
    r"|running (?:out|low)|running without|out of|low on|short on|saw|seen|there are|there is|wrong"
    r"|descompus\w+|descompuest\w+|no \w+|dej[o] de \w+|dejaron de \w+"
    r"|se (?:nos )?fue (?:la|el) \w+"
    r"|se (?:me |nos |le |les )?(?:trab|fund|congel|tap"
    r"|romp|quem"
    r"|cay|apag|bloque|acab|dan|quebr|zaf|botar?|boto|inund|derram|atas?c)\w*|rot[oa]s?"
    r"|quebrad[oa]s?"
    r"|gote\w+|fuga|tira(?:ndo)? agua"
    r"|tapad[oa]s?|atascad[oa]s?|trabad[oa]s?|congelad[oa]s?|dañad[oa]s?"
    r"|danad[oa]s?|chispas?|humo|huele|ruido|falla(?:ndo)?|fallo|fallan|calient[ea]|olvide|perdi"
    r"|se me olvido|falta(?:n)?|nos falta(?:n)?|queda(?:n)? poc[oa]s?|vi|hay|mal|apagad[oa]s?)\b"
)
# Somebody wants something done or had.
_NEED = re.compile(
    r"\b(?:(?:i|we)(?: (?:also|still|really|just|urgently))? (?:need|want|would like|d like"
    r"|require)|(?:need|want) (?:a|an|to (?:report"
    r"|request|order|get|reset))|please (?:fix|repair|send|order|replace|reset|change|come)"
    r"|(?:fix|repair|replace|reset) (?:the|my|our)|can (?:you|somebody|someone) (?:please )?(?:fix"
    r"|repair|send|order|replace|reset|come|look|check|help)|could (?:you|somebody|someone)"
    r"|to report|reporting|report (?:a|an|that|the)|send (?:somebody|someone|a)|order (?:more|some)"
    r"|necesit(?:o|amos)|quier(?:o|emos)|quisiera|reportar|reporto|solicit(?:o|ar|amos)|pedir"
    r"|(?:puede|pueden|podria|podrian)(?: alguien)?(?: \w+)? (?:arregl|repar|cambi|mand|envi|revis"
    r"|pedi|restablec|ven)\w*|arregl(?:en|ar|a)|repar(?:en|ar)|manden|que venga|urge)\b"
)
# Somebody speaks of a request by its name.
_NAMED = re.compile(
    r"\b(?:service|maintenance|it|repair|work|support|help ?desk) (?:request|ticket|order)s?\b"
    r"|\b(?:open|file|create|submit|make|start|put in|new|need|want|log)(?: up)?(?: (?:a|an"
    r"|another|my"
    r"|new))* (?:request|ticket)\b|\b(?:request|ticket) for (?:maintenance|it|repair)\b"
    r"|\b(?:solicitud|orden|ticket)(?:es)? de (?:servicio|mantenimiento|soporte|reparacion"
    r"|trabajo)\b"
    r"|\b(?:abrir|hacer|crear|levantar|poner|meter|mandar|nueva|otra|necesito|quiero)(?: (?:una"
    r"|otra"
    r"|un|nueva))* (?:solicitud|ticket)\b"
)
# Somebody wants a second one, beside the one that is open.
_ANOTHER = re.compile(
    r"\b(?:another|a new|new|a second|one more|a different) (?:\w+ )?(?:request|ticket)\b"
    r"|\b(?:otra|nueva|una segunda|otro|nuevo)(?: \w+)? (?:solicitud|ticket|reporte)\b"
    r"|\b(?:otra|nueva|segunda) solicitud\b"
    r"|\b(?:i|we) also (?:need|want|have to report)|^also\b"
    r"|^(?:and )?(?:i|we) need .* (?:too|as well)$"
    r"|\btambien (?:necesit|quier|hay que|me falta|nos falta)\w*|^(?:y )?tambien\b"
)
# These have homes of their own.
_ELSEWHERE = re.compile(
    r"\b(?:form|forms|formulario|formularios|recipe|receta|recetas|write ?up|report (?:form)"
    r"|incident report|injury|accident|accidente|amonestacion|checklist|expense|gasto|gastos)\b"
)
_ASKS_SOMEBODY = re.compile(
    r"^(?:please |por favor )?(?:can|could|would) (?:you|somebody|someone|we|i)\b"
    r"|^(?:por favor )?(?:me |nos )?(?:puede|pueden|podria|podrian|puedes|podrias)\b"
)
_LEANS = re.compile(r"(?:it|this|that|they|these|those|esto|eso|esta)\b")
_FEW_WORDS = 3
# One thing that a type is about says as much as several of its words.
_ENOUGH = 1.0
# What many things do says less than the name of one of them.
_SYMPTOMS = ("no ", "not ", "will not ", "esta ", "se ")
_VAGUE = 0.25


@dataclass(frozen=True)
class Likely:
    """A type that a message may mean, and how many of its words it has."""

    type: TypeNode
    score: float


def wants_request(text: str, tree: Sequence[TypeNode]) -> bool:
    """Whether a message reports trouble or wants something that a type of request is for."""
    folded = plain_words(text)
    if _ELSEWHERE.search(folded):
        return False
    if is_question(text) and not _ASKS_SOMEBODY.match(folded):
        return False
    if _NAMED.search(folded):
        return True
    if asks_besides(text) and not _NEED.search(folded):
        return False
    likely = rank_types(text, tree)
    if not likely or likely[0].score < _ENOUGH:
        return False
    return bool(_NEED.search(folded) or _TROUBLE.search(folded))


def wants_another(text: str, open_type: UUID, tree: Sequence[TypeNode]) -> bool:
    """Whether a message, while a request of `open_type` is open, is about one more."""
    folded = plain_words(text)
    if not _ANOTHER.search(folded) or not wants_request(text, tree):
        return False
    likely = rank_types(text, tree)
    return not likely or likely[0].type.id != open_type or bool(_NAMED.search(folded))


def is_other_trouble(
    text: str, tree: Sequence[TypeNode], open_type: UUID, is_awaited: bool
) -> bool:
    """Whether a message is about another trouble than the request that is open.

    What speaks of "it", and a few words where an answer is awaited, are about that one.
    """
    if not wants_request(text, tree):
        return False
    folded, likely = plain_words(text), rank_types(text, tree)
    if _NAMED.search(folded) or _NEED.search(folded):
        return True
    leans = bool(_LEANS.match(folded)) or (is_awaited and len(folded.split()) <= _FEW_WORDS)
    return not leans and bool(likely) and likely[0].type.id != open_type


def rank_types(text: str, tree: Sequence[TypeNode]) -> list[Likely]:
    """The types whose words a message has, the likeliest first."""
    folded = plain_words(text)
    found = [Likely(node, _score(folded, node)) for node in submittable(tree)]
    return sorted((each for each in found if each.score > 0), key=lambda each: -each.score)


def named_type(text: str, tree: Sequence[TypeNode]) -> TypeNode | None:
    """The type that a message calls by its name, or that alone has its words."""
    folded = plain_words(text)
    for node in submittable(tree):
        if folded in {plain_words(node.name.en), plain_words(node.name.es)}:
            return node
    likely = rank_types(text, tree)
    if not likely or (len(likely) > 1 and likely[1].score >= likely[0].score):
        return None
    return likely[0].type


def _score(folded: str, node: TypeNode) -> float:
    """What a type has of a message: each phrase counts by its words, a part of another nothing."""
    spans: list[tuple[int, int]] = []
    score = 0.0
    for phrase in _phrases(node):
        match = _pattern(phrase).search(folded)
        if match and not any(start < match.end() and match.start() < end for start, end in spans):
            spans.append(match.span())
            score += 1.0 + 0.5 * phrase.count(" ") - _VAGUE * phrase.startswith(_SYMPTOMS)
    return score


def _phrases(node: TypeNode) -> list[str]:
    """What people call a type, the longest first."""
    said = {plain_words(each) for words in node.words.values() for each in words}
    names = {plain_words(part) for name in (node.name.en, node.name.es) for part in _parts(name)}
    return sorted(filter(None, said | names), key=lambda each: (-len(each), each))


def _parts(name: str) -> Iterable[str]:
    return re.split(r",| and | y | & ", name)


@lru_cache(4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    """A phrase with whatever ends its words may have."""
    return re.compile(rf"\b{re.escape(phrase)}(?:s|es)?\b")
