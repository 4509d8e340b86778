"""What kind of answer a question asks for, told from its wording in either language."""

from __future__ import annotations

import re

from app.nlu.lexicon import ASKING_WORDS, QUESTION_WORDS
from app.text.calendar_words import ALL_WEEKDAYS, either_of
from app.text.normalize import fold, words
from app.text.numbers import SMALL_NUMBERS

_WHAT_TO_DO = (
    r"\bwhat (?:do|should|can|must|would) (?:i|we|you) do\b|\bwhat (?:now|to do)\b"
    r"|\b(?:que|q|k) (?:hago|hacemos|debo hacer|se hace|puedo hacer|tengo que hacer)\b"
)
_HOW_TO = re.compile(
    r"\bhow (?:do|can|should|would|to|must|could)\b"
    r"|\bhow (?:is|are)\b.*\b(?:made|built|done|prepared)\b"
    r"|\b(?:steps?|procedure|process|instructions|checklist|walk me through|show me how)\b"
    rf"|{_WHAT_TO_DO}"
    r"|\b(?:want|like|need) to (?:make|cook|bake|prepare|learn)\b"
    r"|(?:^|[¿¡,;.:]\s*|\b(?:y|saber|explica\w*|dime|digas)\s+)"
    r"como\b(?! (?:es|son|esta|te|se llama)\b)"
    r"|\bquiero (?:hacer|cocinar|hornear|preparar|aprender)\b"
    r"|\b(?:pasos?|procedimiento|proceso|instrucciones)\b"
)
# "There is a cockroach", "I burned my hand", "the keg foams": no question, but what to do?
_SITUATION = re.compile(
    r"^\W*(?:burn(?:ed|t)|cut|slipped|fell|spilled|broke|dropped|lost|forgot|hurt|smells?|me"
    r"|i|i'm|i've|my|we|there|it|the|a|an|some(?:one|body)|he|she|they|our|customer|guest"
    r"|se|hay|un|una|el|la|los|las|huele|vi|no|alguien|tengo|tiene|mi|nos|cliente)\b"
    r"|^\W*(?:\w+\W+){1,4}(?:is|are|isn't|keeps?|stopped|won't|doesn't|broke|broken|failed|leaks?"
    r"|smells?|burned|burnt|hurts?|bleeds?|bleeding|esta|no funciona|no sirve|no enfria|no prende"
    r"|se (?:trabo|rompio|apago|tapo))\b"
)
# Of many "which" in a line the first is held fast: behind it stands what is behind any.
_LISTING = re.compile(
    r"^\W*(?:which|cual|cuales)\b"
    r"|(?m:^)(?>.*?\b(?:which|what)\b).*\b(?:do|does|can|have|are there|is there)\b"
    r"|\bany(?:thing)?\b|\boptions?\b|\brecommend\w*|\bsuggest\w*|\bsomething\b|\bideas?\b"
    r"|\blist\b|\bdo (?:we|you|they) (?:have|carry|sell)\b"
    r"|(?m:^)(?>.*?\b(?:que|cuales|cual)\b).*\b(?:hay|tenemos|tienen|tienes|servimos|manejamos|ofrec\w+|puedo"
    r"|son|llevan)\b"
    r"|\balg(?:o|un|una)\b|\bopciones\b|\brecom\w+|\bsugi\w+|\bhay\b|\btenemos\b"
)
_TIME_OF_DAY = r"\d{1,2}:\d\d"
_UNITS_OF_TIME = (
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|min|segundos?|minutos?|horas?|dias?"
    r"|semanas?|mes(?:es)?|anos?)"
)
_DAYS = rf"\b(?:{either_of(ALL_WEEKDAYS)}|daily|nightly|every|each|cada|diario)\b"
_NUMBER = rf"(?:\d|\b(?:{either_of(SMALL_NUMBERS)})\b)"
_LENGTH_OF_TIME = rf"{_NUMBER}\s*{_UNITS_OF_TIME}\b"
# What an answer to such a question has in it, most likely; what is asked first counts, and of
# two that begin alike the first here.
_AMOUNTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked), re.compile(given))
    for asked, given in (
        (
            r"\bwh?at(?:'s| is)? (?:the )?time\b|\ba (?:que|q|k|ke) (?:horas?|hrs?)\b"
            r"|\bclosing time\b",
            _TIME_OF_DAY,
        ),
        (
            r"\b(?:what'?s|what is) the (?:most|max\w*|limit)\b|\bthe most (?:i|we|you)\b"
            r"|\bhasta cuanto\b",
            r"[$€]\s*\d|\d\s*°|\b(?:at most|no more than|up to|maximo|hasta)\b",
        ),
        (
            r"\bhow (?:deep|thick|wide|high|tall)\b|\bque tan (?:hondo|grueso|alto)\b",
            r"\d\s*(?:in|cm|mm|ft|m)\b",
        ),
        (r"\bppm\b|\bconcentra\w+", r"\d\s*ppm"),
        (r"\bpsi\b", r"\d\s*psi"),
        (r"\b(?:oz|ounces?|onzas?|pour|medida)\b", r"\d\s*(?:oz|ml)\b"),
        (
            r"\b(?:percent\w*|porcentaje\w*|rate|score|tarifa|calificacion|parte)\b|%",
            r"\d\s*%|[$]\s*\d",
        ),
        (r"\b(?:temp\w*|hot|cold|degrees|grados|caliente|fri[oa])\b", r"\d\s*°"),
        (
            r"\bhow often\b|\bcada (?:cuan(?:to|do)|que tanto)\b|\bcon que frecuencia\b",
            rf"\b(?:every|each|cada|once|twice|una vez)\b|{_DAYS}",
        ),
        (
            r"\bhow (?:long|soon|fast|quick\w*|old|early|late|far ahead|young)\b"
            r"|\bhow many (?:seconds|minutes|hours|days|weeks|months)\b"
            r"|\bcuant[oa]s? (?:tiempo|segundos|minutos|horas|dias|semanas|meses|anos)\b"
            r"|\bstill (?:have|here|around|good|ok|keep)\b"
            r"|\b(?:todavia|aun) (?:est|l[oa]s?|sirve)\w*"
            r"|\bhasta cuando\b|\bcuanto (?!(?:cuesta|vale|cobr|pag|sale|es|dinero)\w*)\w+",
            _LENGTH_OF_TIME,
        ),
        (r"\bwhat (?:day|date)\b|\bque dia\b", _DAYS),
        (r"\bwhen\b|\bcuando\b", rf"{_TIME_OF_DAY}|{_DAYS}|{_LENGTH_OF_TIME}"),
        (
            r"\bhow much\b|\b(?:fee|price|cost|charge|limit)\b"
            r"|\b(?:cuanto|cuesta|cobra\w*|precio|limite|costo)\b",
            r"[$€]\s*\d|\d\s*(?:%|usd|dollars|dolares)",
        ),
        (r"\b(?:how many|cuant[oa]s)\b", _NUMBER),
        (
            r"\bwhere(?:'s|s)?\b|\b(?:a|de|por)?donde\b",
            r"\b(?:by|beside|next to|behind|under|above|below|near|inside|outside|between|on|in"
            r"|at|junto a|al lado de|detras de|debajo de|encima de|cerca de|dentro de|fuera de"
            r"|entre|sobre|en) (?:the|our|your|a|an|el|la|los|las|un|una)\b",
        ),
        (
            r"\bwho(?:m|s|'s)?\b|\bquien(?:es)?\b",
            r"\b(?:manager|chef|lead|supervisor|owner|host|office|hr|911|gerente|encargad[oa]"
            r"|duen[oa]|jef[ea]|oficina|rh|recursos humanos|call|tell|llama\w*|avis\w+|dile)\b",
        ),
    )
)
_PLAIN_QUESTIONS = {
    "who": "who", "whom": "who", "whos": "who", "quien": "who", "quienes": "who",
    "where": "where", "wheres": "where", "donde": "where",
    "when": "when", "whens": "when", "cuando": "when", "why": "why",
}  # fmt: skip


def wants_steps(text: str) -> bool:
    """True for how-to questions."""
    return bool(_HOW_TO.search(fold(text)))


def asks_what_to_do(text: str) -> bool:
    """True for "what do I do?" after a case was named: "I saw a roach, what now"."""
    return bool(re.search(_WHAT_TO_DO, fold(text)))


# A question that comes after what happened: "the keg is empty do we have another".
_ASKS_WITHIN = re.compile(
    r"\b(?:do|does|did|can|could|should|will|would|am|are|is) (?:i|we|you|they|he|she|it)\b"
)


def tells_of_trouble(text: str) -> bool:
    """True for a report of what has happened, which asks what to do about it."""
    spoken = words(text)
    asks = "?" in text or bool(ASKING_WORDS & set(spoken[:1])) or bool(QUESTION_WORDS & set(spoken))
    asks = asks or bool(_ASKS_WITHIN.search(fold(text)))
    return len(spoken) >= 3 and not asks and bool(_SITUATION.search(fold(text)))


def expected_amount(text: str) -> re.Pattern[str] | None:
    """How the time, temperature or sum looks that would answer; matched on folded text.

    "Burned by hot oil" asks for no temperature.
    """
    if tells_of_trouble(text):
        return None
    folded = fold(text)
    found = [(match.start(), given) for asked, given in _AMOUNTS if (match := asked.search(folded))]
    # "Who do I call when it stops" asks who.
    return min(found, key=lambda entry: entry[0])[1] if found else None


def asks_the_same(question: str, lead: str) -> bool:
    """True where `lead` opens with the question's own "who", "where", "when" or "why"."""
    asks = next((_PLAIN_QUESTIONS.get(word) for word in words(lead)), None)
    # A question may be long, and is compared with the leads of a hundred pieces.
    return asks is not None and any(_PLAIN_QUESTIONS.get(word) == asks for word in words(question))


def wants_list(text: str) -> bool:
    """True when several things may answer: "which beers do we have"."""
    return bool(_LISTING.search(fold(text)))
