"""A model that behaves as one would hope, for trying things out and for acceptance tests.

It knows nothing itself: by simple rules it picks one of the tools that it is offered, and
then answers with what the tool found, citing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.model_server.recording import RecordedCall
from tests.model_server.script import Call, Say, Step

LONGEST_QUERY = 200
LONGEST_QUOTE = 400

SMALL_TALK = re.compile(
    r"^\W*(hi|hello|hey|good (morning|afternoon|evening)|thanks?( you)?( so much)?|bye|"
    r"how are you|who are you|what can you do|ok(ay)?|great|cool|"
    r"hola|buen[oa]s( (d[ií]as|tardes|noches))?|(muchas )?gracias|adi[oó]s|"
    r"c[oó]mo est[aá]s|qui[eé]n eres|qu[eé] puedes hacer|perfecto|vale)\b[^?]{0,24}\??\W*$",
    re.IGNORECASE,
)
SPANISH = re.compile(
    r"[¿¡ñáéíóú]|\b(el|la|los|las|qu[eé]|c[oó]mo|cu[aá]l|d[oó]nde|para|con|por|una?|del?|es|"
    r"hola|gracias)\b",
    re.IGNORECASE,
)
# The first rule that fits decides; what fits none is looked up in the manual.
RULES: tuple[tuple[str, str], ...] = (
    ("search_forms", r"\bforms?\b|formulario|fill (in|out)|llenar|write[ -]?up|amonest|report\b"),
    ("search_recipes", r"\brecipes?\b|receta|ideas? (for|para)|step by step|paso a paso"),
    ("search_dishes", r"(shrimp|prawn) cocktail|coctel de camar"),
    (
        "search_cocktails",
        r"cocktail|coctel|c[oó]ctel|mocktail|margarita|martini|old fashioned|negroni|mojito|paloma|"
        r"manhattan|garnish|daiquiri|sour\b|spritz|\bdrinks?\b|\btragos?\b|bebidas?\b",
    ),
    (
        "search_wines",
        r"\bwines?\b|\bvinos?\b|cabernet|pinot|chardonnay|merlot|malbec|rioja|ros(é|ado)|"
        r"champagne|champa[nñ]|sparkling|espumos|tinto|\bpour\b",
    ),
    (
        "search_beer_liquor",
        r"\bbeers?\b|cervezas?\b|lager|\bipa\b|stout|tequila|mezcal|bourbon|whisk|\brum\b|\bron\b|"
        r"\bgin\b|ginebra|vodka|\bli(qu|c)[eo]u?r|destilad|\bon tap\b",
    ),
    (
        "search_dishes",
        r"\bdish|\bmenu\b|\bcarta\b|plat(o|illo)|allerg|al[eé]rgen|steak|\bcorte|ribeye|filet|"
        r"salad|ensalada|\bsoup|\bsopa|dessert|postre|vegetarian|gluten|appetizer|starter|entrada|"
        r"taco|enchilada|burger|hamburguesa|\bsides?\b|guarnici|grilled|parrilla",
    ),
    (
        "search_recipes",
        r"how (do|can|would) (i|we|you) (cook|bake|make)\b|\bcook\b|\bbake\b|cocinar|horne|"
        r"c[oó]mo hago|ingredient|can i make|puedo hacer|\bmeal\b|comida del personal",
    ),
)
WORDS = {
    "en": {
        "hello": "Hello! Ask me about the manual, the menu or the drinks.",
        "nothing": "I found nothing about that.",
        "near": "I found nothing about that. The nearest topics are: ",
        "error": "I could not look that up: ",
    },
    "es": {
        "hello": "¡Hola! Pregúntame por el manual, la carta o las bebidas.",
        "nothing": "No encontré nada sobre eso.",
        "near": "No encontré nada sobre eso. Los temas más cercanos son: ",
        "error": "No pude buscarlo: ",
    },
}


class PlausibleAssistant:
    """Searches once, then quotes; small talk it answers without a tool."""

    streams = True
    byte_by_byte = False

    def __init__(self, delay: float = 0.0) -> None:
        self._delay = delay

    def is_for(self, call: RecordedCall) -> bool:
        return True

    def steps(self, call: RecordedCall) -> Sequence[Step]:
        words = WORDS["es" if SPANISH.search(call.message) else "en"]
        if call.tool_results:
            return [self._say(_answer(call.tool_results, words))]
        if not call.tools or SMALL_TALK.match(call.message):
            return [self._say(words["hello"])]
        tool = pick_tool(call.message, call.tools)
        return [Call(tool, {"query": query_for(tool, call.message)})]

    def _say(self, text: str) -> Say:
        return Say(text, delay=self._delay)


def pick_tool(message: str, offered: Sequence[str]) -> str:
    """The offered tool that the rules lead to, else the manual's, else the first."""
    for tool, pattern in RULES:
        if tool in offered and re.search(pattern, message, re.IGNORECASE):
            return tool
    return "search_manual_v2" if "search_manual_v2" in offered else offered[0]


def query_for(tool: str, message: str) -> str:
    """What to search for: the message, or of a wish for a form only what names the form."""
    if tool == "search_forms":
        if re.search(r"\bamonest", message, re.IGNORECASE):
            return "amonestación"
        named = re.search(
            r"write[ -]?up|(?:[a-z]+ )?report\b|(?:reporte|formulario) de \w+",
            message,
            re.IGNORECASE,
        )
        return named.group() if named else message[:LONGEST_QUERY]
    return message[:LONGEST_QUERY]


def _answer(results: Sequence[Any], words: dict[str, str]) -> str:
    for result in results:
        if isinstance(result, dict) and result.get("error"):
            return words["error"] + str(result.get("message", ""))
    said = [str(each["say"]) for each in results if isinstance(each, dict) and each.get("say")]
    if said:
        return "\n\n".join(said)
    weak = any(isinstance(result, dict) and result.get("weak") for result in results)
    found = None if weak else next(_sources(results), None)
    if found:
        number, text = found
        return f"{_quote(text)} [{number}]"
    near = [title for result in results if isinstance(result, dict) for title in _near(result)]
    return words["near"] + "; ".join(near) + "." if near else words["nothing"]


def _near(result: dict[str, Any]) -> list[str]:
    return [str(title) for title in result.get("near", [])][:3]


def _sources(value: Any) -> Iterator[tuple[int, str]]:
    """Every numbered thing in the results that has words to quote, best first."""
    if isinstance(value, dict):
        words = value.get("text") or value.get("description") or value.get("name")
        if isinstance(value.get("cite"), int) and isinstance(words, str):
            yield value["cite"], words
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _sources(each)


def _quote(text: str) -> str:
    """The first sentences of a text, as one line of plain words."""
    line = re.sub(r"\s+", " ", re.sub(r"[#*_`>|]+", "", text)).strip()
    if len(line) <= LONGEST_QUOTE:
        return line
    cut = line[:LONGEST_QUOTE]
    return cut[: cut.rfind(". ") + 1] or cut[: cut.rfind(" ")] + "…"
