"""What kind of answer a question asks for, told from its wording in either language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from app.assistant.providers.builtin.lexicon import (
    ALLERGENS,
    ASKING_WORDS,
    ATTRIBUTES,
    FRAME_WORDS,
    QUESTION_WORDS,
    Phrase,
)
from app.text.allergens import expand_families
from app.text.calendar_words import ALL_WEEKDAYS, either_of
from app.text.normalize import fold, words
from app.text.stems import FILLER_WORDS

_HOW_TO = re.compile(
    r"\bhow (?:do|can|should|would|to|must|could)\b"
    r"|\bhow (?:is|are)\b.*\b(?:made|built|done|prepared)\b"
    r"|\b(?:steps?|procedure|process|instructions|checklist|walk me through|show me how)\b"
    r"|\bwhat (?:do|should|can|must|would) (?:i|we|you) do\b|\bwhat (?:now|to do)\b"
    r"|\b(?:want|like|need) to (?:make|cook|bake|prepare|learn)\b"
    r"|(?:^|[¿¡,;.:]\s*|\b(?:y|saber|explica\w*|dime|digas)\s+)"
    r"como\b(?! (?:es|son|esta|te|se llama)\b)"
    r"|\bque (?:hago|hacemos|debo hacer|se hace|puedo hacer|tengo que hacer)\b"
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
_PRICE = re.compile(
    r"\bhow much (?:is|are|do|does|for|would|did|a|an|the)\b|\bcuanto (?:cuesta|vale|es|sale|cobra)"
)
_INGREDIENTS = re.compile(
    r"\bwhat(?:'s|s| is| are)? in\b|\bwhat (?:goes|comes?) (?:in|into|on|with)\b|\bcomes? with\b"
    r"|\bmade (?:of|with|from)\b|\bwhat does .* (?:have|come)\b|\bis there (?:any )?\w+ in\b"
    r"|\bque (?:lleva|trae|tiene)\b|\bcon que viene\b|\bde que (?:es|esta|va)\b"
)
_PAIRING = re.compile(
    r"\b(?:goes?|going|served?|drink|pour|match\w*) (?:well )?(?:with|for)\b"
    r"|\b(?:va|van|queda|quedan|sirvo|sirve|tomar) (?:bien )?con\b"
)
_MAKING = re.compile(
    r"\b(?:make|made|build|built|prepared?|mix|mixed|cook|bake|assemble)\b(?! (?:of|with|from)\b)"
    r"|\b(?:hago|haces?|hacen|hacer|prepar\w+|arma[nr]?|armo|cocin[ao]\w*|hornea\w*)\b"
)
_DESCRIPTION = re.compile(r"\btell \w+ (?:more )?about\b|\bwhat(?:'s|s| is| are) .* like\b")
_LISTING = re.compile(
    r"^\W*(?:which|cual|cuales)\b|\b(?:which|what)\b.*\b(?:do|does|can|have|are there|is there)\b"
    r"|\bany(?:thing)?\b|\boptions?\b|\brecommend\w*|\bsuggest\w*|\bsomething\b|\bideas?\b"
    r"|\blist\b|\bdo (?:we|you|they) (?:have|carry|sell)\b"
    r"|\b(?:que|cuales|cual)\b.*\b(?:hay|tenemos|tienen|tienes|servimos|manejamos|ofrec\w+|puedo"
    r"|son|llevan)\b"
    r"|\balg(?:o|un|una)\b|\bopciones\b|\brecom\w+|\bsugi\w+|\bhay\b|\btenemos\b"
)
_NAMES_ALLERGEN = re.compile(
    r"\b(?:"
    + "|".join(
        r"\W+".join(map(re.escape, phrase))
        for phrase in sorted(ALLERGENS, key=lambda phrase: (-len(phrase), phrase))
    )
    + r")\b"
)
# What is not wanted comes after one of these, perhaps with "have" or "come with" between.
_DENIES = re.compile(
    r"\b(?:without|not|no|none|nothing|never|nor|cannot|avoid\w*|minus|free (?:of|from)"
    r"|allerg(?:y|ies|ic)|intoleran\w*|(?:do|does|did|is|are|ca|wo|should|could|must)n['’]?t"
    r"|(?:stay|keep|steer)\w* (?:away|clear)|sin|ni|nada|tampoco|libres? de|evit\w*"
    r"|alerg(?:ias?|ic[oa]s?)|ningun\w?)\b"
    r"(?:\s+(?:want|need|like|be able|quier\w+|pued\w+|deb\w+)(?: to)?)?"
    r"(?:\s+(?:eat|have|take|tolerate|comer|coma|tomar|tener|tolera\w*))?"
    r"(?:(?:\s+\w+){0,2}?\s+(?:with|con))?\b"
)
# Or before one of these: "nut-free", "a shellfish allergy".
_DENIES_BEFORE = re.compile(r"[\s-]*(?:free|allerg(?:y|ies|ic)|intoleran\w*|sensitiv\w*)\b")
# What a coeliac asks about is gluten, and it is never wanted.
_NEVER_WANTED = re.compile(r"\bco?elia[cq]")
# Here a new thought begins, to which the "no" before it does not reach.
_NEW_THOUGHT = re.compile(
    r"[.?!;¿¡]|\b(?:with|con|for|para|but|pero|if|whether|si|which|what|cual\w*|can|could|may"
    r"|pued\w+|podria\w*|wants?|quier\w+|order\w*|pid\w+|is|are|es|son|eat|have|try|serve|comer"
    r"|pedir|probar|tomar)\b"
)
_AND = re.compile(r"\s*(?:[,/&]|\b(?:and|or|nor|plus|y|e|o|u|ni)\b)")
_FARTHEST, _FARTHEST_IN_LIST = 6, 3  # words
# "I don't know", and "no tienes", which asks whether there is some, deny nothing.
_DENIES_NOTHING = re.compile(
    r"\b(?:(?:do|does)n['’]?t know|not sure|no idea|no se|no estoy segur[oa])\b"
    r"|^\W*(?:don['’]?t (?:you|we|they)|(?:is|are)n['’]?t there"
    r"|no (?:hay|tienes|tenemos|sirven|venden|tienen alg\w+))\b"
)
# "Which should she stay away from", "que platillos no puede pedir".
_TO_AVOID = re.compile(
    r"\b(?:which|what|cual(?:es)?|que)"
    r"(?:\s+(?!who\b|whom\b|if\b|that\b|for\b|with\b|quien\b|que\b|si\b|alguien\b|para\b|con\b)\w+)"
    r"{1,4}?\s+(?:avoid|(?:stay|keep|steer) (?:away|clear)|evitar|no (?:pued|deb)\w+"
    r"|(?:ca|should|must)n['’]?t|cannot|(?:should|must) not)\b"
)
_OF_DIETS = re.compile(
    r"\b(?:free|allerg\w*|alerg\w*|intoleran\w*|sensitiv\w*|avoid\w*|evit\w*|libres?|safe|safely"
    r"|segur[oa]s?|eat|eats|eating|comer|come|comen|coma|guests?|customers?|clientes?|clientas?"
    r"|comensal(?:es)?|people|person|personas?|lady|guy|contain\w*|contien\w*|conteng\w*|traces?"
    r"|trazas?|disease|friendly|apt[oa]s?|without|list|listed)\b"
)
# Of these the group has many: "the desserts" names no product.
_GROUPS = frozenset(
    """dish dishes plate plates food foods meal meals menu carta item items thing things app apps
    appetizer appetizers starter starters main mains entree entrees side sides dessert desserts
    drink drinks beverage beverages wine wines beer beers draft drafts cocktail cocktails spirit
    spirits liquor liquors recipe recipes sauces salads soups steaks snacks pastries kitchen table
    bar house restaurant place guest guests customer customers person people lady guy man woman kid
    kids child everything list lists platillo platillos plato platos comida comidas bebida bebidas
    vino vinos cerveza cervezas coctel cocteles trago tragos entrada entradas postre postres
    guarnicion guarniciones receta recetas salsas ensaladas sopas cortes botanas antojitos cocina
    mesa barra casa restaurante lista cliente clientes clienta persona personas gente senor senora
    nino nina ninos comensal comensales fuertes only same other others""".split()
)
_ASKS_ONE_OF_MANY = re.compile(
    r"\b(?:which|any\w*|list|options?|recommend\w*|suggest\w*|something|ideas?|algo|algun[oa]?s?"
    r"|cual(?:es)?|opciones|recom\w+|sugi\w+|hay|there (?:is|are)|(?:is|are) there)\b"
    r"|\bdo (?:we|you|they) (?:have|carry|sell|offer|serve)\b"
    r"|\bwhat\b(?!['’]?s? (?:about|in)\b)|(?:^|[¿,;:.]\s*)(?:de )?que\b(?! (?:lleva|trae) )"
)
_DEFINITE = re.compile(
    r"\b(?:the|our|your|this|that|these|those|el|la|los|las|del|al|este|esta|estos|estas|ese|esa"
    r"|nuestr[oa]s?|su|sus)\s+(?=[^\W\d_])"
)
_OF_BARE_NAME = re.compile(
    r"^\W*(?:is|are|does|do|es|son|tienen?|llevan?|contienen?)\b"
    r"|\b(?:eat|have|order|drink|try|comer|tomar|pedir|beber|probar)\b"
)
# Said together with an allergen's name, this asks about allergens.
_HOLDS = re.compile(
    r"\b(?:contain\w*|without|free|allerg\w*|intoleran\w*|avoid|contiene\w*|sin|libre|alerg\w*"
    r"|intoleran\w*|llevan?|tienen?)\b"
)
_TIME_OF_DAY = r"\d{1,2}:\d\d"
_UNITS_OF_TIME = (
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|min|segundos?|minutos?|horas?|dias?"
    r"|semanas?|mes(?:es)?|anos?)"
)
_DAYS = rf"\b(?:{either_of(ALL_WEEKDAYS)}|daily|nightly|every|each|cada|diario)\b"
_LENGTH_OF_TIME = rf"\d\s*{_UNITS_OF_TIME}\b|\b(?:one|two|three|una|dos|tres) {_UNITS_OF_TIME}\b"
# What an answer to such a question has in it, most likely; what is asked first counts, and of
# two that begin alike the first here.
_AMOUNTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked), re.compile(given))
    for asked, given in (
        (r"\bwhat(?:'s| is)? (?:the )?time\b|\ba que horas?\b|\bclosing time\b", _TIME_OF_DAY),
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
        (r"\b(?:how many|cuant[oa]s)\b", r"\d"),
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
    opening = words(lead)[:1]
    asked = {_PLAIN_QUESTIONS[word] for word in words(question) if word in _PLAIN_QUESTIONS}
    return bool(opening) and _PLAIN_QUESTIONS.get(opening[0]) in asked


def wants_list(text: str) -> bool:
    """True when several things may answer: "which beers do we have"."""
    return bool(_LISTING.search(fold(text)))


@dataclass(frozen=True)
class NamedAllergen:
    """Where a question names an allergen, and the codes and families that it may mean."""

    start: int
    end: int
    codes: frozenset[str]
    phrase: Phrase
    unwanted: bool = False


@lru_cache(maxsize=512)
def named_allergens(text: str) -> tuple[NamedAllergen, ...]:
    """The allergens that the folded `text` names, in order, and whether each is unwanted."""
    folded = _DENIES_NOTHING.sub(lambda match: " " * len(match.group()), fold(text))
    matches = [*_NAMES_ALLERGEN.finditer(folded)]
    reached = [*_reached_by_denial(folded, matches)]
    found: list[NamedAllergen] = []
    for match, is_reached in reversed([*zip(matches, reached, strict=True)]):
        phrase = tuple(words(match.group()))
        after = folded[match.end() : found[-1].start if found else None]
        # "Nut and dairy free" is free of both.
        in_list = bool(found) and found[-1].unwanted and bool(_AND.fullmatch(after.rstrip()))
        unwanted = (
            is_reached
            or in_list
            or bool(_DENIES_BEFORE.match(after) or _NEVER_WANTED.match(match.group()))
        )
        found.append(NamedAllergen(match.start(), match.end(), ALLERGENS[phrase], phrase, unwanted))
    return tuple(reversed(found))


def _reached_by_denial(folded: str, matches: list[re.Match[str]]) -> Iterator[bool]:
    """Whether a "no" before it reaches each name, or the list that the name goes on with."""
    end, reached = 0, False
    for match in matches:
        before = folded[end : match.start()]
        denial = max((found.end() for found in _DENIES.finditer(before)), default=-1)
        between = before[max(denial, 0) :]
        near = _FARTHEST if denial >= 0 else _FARTHEST_IN_LIST
        begins = denial >= 0 or (reached and bool(_AND.match(before)))
        reached = begins and not _NEW_THOUGHT.search(between) and len(words(between)) <= near
        end = match.end()
        yield reached


def unwanted_allergens(text: str) -> frozenset[str]:
    """The codes and families that what is asked for must not have; none where none is named.

    Who asks which things to stay away from asks for those that have it.
    """
    if asks_what_to_avoid(text):
        return frozenset()
    return frozenset().union(*(name.codes for name in named_allergens(text) if name.unwanted))


def allergens_besides(text: str, name: str) -> Iterator[tuple[str, ...]]:
    """The codes of each allergen that is asked about; not what is but in a product's `name`."""
    of_name = set(words(name))
    for named in named_allergens(text):
        if named.unwanted or not set(named.phrase) <= of_name:
            yield expand_families(named.codes)


def asks_what_to_avoid(text: str) -> bool:
    """True for "which dishes should she stay away from"."""
    return bool(_TO_AVOID.search(fold(text)))


def wants_without(text: str) -> bool:
    """True when an allergen that is named should not be in it: "nut free", "allergic to egg"."""
    return bool(unwanted_allergens(text))


def without_allergens(text: str) -> str:
    """`text` without the allergens that are unwanted, and without the words about diets."""
    folded = fold(text)
    for name in reversed(named_allergens(text)):
        if name.unwanted:
            folded = f"{folded[: name.start]} {folded[name.end :]}"
    return _OF_DIETS.sub(" ", folded)


def asks_about_one(text: str) -> bool:
    """True for "is the tres leches nut free": something is named that is there or is not.

    "Are the desserts nut free" and "nut free cake" ask for whatever is.
    """
    folded = fold(text)
    if _ASKS_ONE_OF_MANY.search(folded):
        return False
    rest = without_allergens(text)
    after = [rest[match.end() :] for match in _DEFINITE.finditer(rest)]
    if bare := _OF_BARE_NAME.search(rest):
        after.append(rest[bare.end() :])
    if folded.rstrip(" ?!.").endswith("free"):
        after.append(rest)
    return any(_begins_with_a_name(phrase) for phrase in after)


def _begins_with_a_name(phrase: str) -> bool:
    """True when the first words with a content are those of no group of things."""
    first = next((word for word in words(phrase) if word not in FILLER_WORDS), "")
    return bool(first) and first not in _GROUPS and first not in FRAME_WORDS


def price_order(text: str) -> int:
    """1 for "the cheapest first", -1 for "the dearest first", 0 where neither is asked."""
    folded = fold(text)
    if re.search(r"\bcheap\w*|\bleast expensive|\bmas barat\w|\bbarat\w", folded):
        return 1
    return -1 if re.search(r"\b(?:most )?expensive|\bpric(?:iest|y)|\bcar[oa]s?\b", folded) else 0


def asked_attributes(text: str) -> list[str]:
    """Which attributes of a product the question is about, the weightiest first."""
    folded = fold(text)
    spoken = set(words(text))
    by_pattern = {
        "price": _PRICE,
        "ingredients": _INGREDIENTS,
        "pairing": _PAIRING,
        "steps": _MAKING,
        "description": _DESCRIPTION,
    }
    named = named_allergens(text)
    holds_allergen = any(name.unwanted for name in named) or (named and _HOLDS.search(folded))
    order = ("allergens", "price", "pairing", "steps", "ingredients", "description")
    return [
        name
        for name in order
        if spoken & ATTRIBUTES[name]
        or (name in by_pattern and by_pattern[name].search(folded))
        or (name == "allergens" and holds_allergen)
    ]
