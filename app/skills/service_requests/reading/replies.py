"""What a message wants of the conversation about a request, beside the values that it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from app.folding import plain_words
from app.nlu.control import Act, read_act, read_answer
from app.skills.service_requests.state import RequestState, next_step

Want = Literal[
    "", "cancel", "why", "repeat", "skip", "unknown", "end_questions", "show", "go_on", "submit",
    "yes", "no",
]  # fmt: skip
# What a message may do beside answering, by the step that comes next; and at any step.
_ACTS: Mapping[str, tuple[Act, ...]] = {
    "field": ("skip",), "question": ("skip", "finish"), "optional": ("skip", "finish", "submit"),
    "submit": ("submit", "finish"),
}  # fmt: skip
_ALWAYS: tuple[Act, ...] = ("cancel", "repeat", "show")
_CANCELLING: tuple[Act, ...] = ("cancel",)
_WANTED: Mapping[Act, Want] = {
    "cancel": "cancel", "repeat": "repeat", "show": "show", "skip": "skip",
    "finish": "end_questions", "submit": "submit",
}  # fmt: skip
# To a question that takes any words, what only looks like an act is an answer.
SURE_OF_NO_ANSWER = 0.8

_THIS = r"(?:this|that|it|the|my|request|ticket|whole thing|la|mi|esta|solicitud|todo|eso|esto)"
_CANCEL = re.compile(
    rf"^(?:please |por favor |no |ok |mejor )*(?:cancel(?:a|ar|alo|ala|en)?|forget|abort|discard"
    rf"|olvid(?:a|alo|ala|emos)|descart(?:a|alo|ala|ar)|borra(?:lo|la)?|elimina(?:lo|la)?)"
    rf"(?: (?:about|de|completa|entera))?(?: {_THIS}){{0,3}}(?: please| por favor)?$"
    r"|^(?:never ?mind|nevermind|start over|ya no (?:la |lo )?(?:quiero|necesito)(?: la solicitud)?"
    r"|dejalo|dejala|no importa|(?:i )?(?:do not|don t) (?:want|need) (?:it|this|the request)"
    r"(?: any ?more)?)$"
)
_WHY = re.compile(
    r"^(?:but |y |pero |and )*(?:why(?: do you (?:ask|need|want)(?: to know)?(?: that| this| it)?"
    r"| is that| does (?:it|that) matter)?|what for|what is (?:that|it) for"
    r"|por que(?: (?:preguntas|lo preguntas|me preguntas|necesitas eso|lo necesitas|importa))?"
    r"(?: eso| esto)?|para que(?: (?:lo|la|eso|sirve|es|quieres|necesitas)){0,2})$"
)
_REPEAT = re.compile(
    r"^(?:repeat(?: (?:that|it|the question))?|(?:say|ask)(?: (?:that|it|me))? again|what was that"
    r"|again|what|come again|sorry|pardon|repite(?:lo|la|melo)?(?: la pregunta)?"
    r"|otra vez|de nuevo|como dijiste|como|que dijiste|cual era la pregunta"
    r"|what was the question|i did not (?:get|understand) (?:that|it)|no entendi)$"
)
_SKIP = re.compile(
    r"^(?:please |por favor )?(?:skip(?: (?:it|this|that|this one|that one|the question))?|pass"
    r"|next"
    r"|leave it (?:empty|blank|out)"
    r"|salta(?:la|lo|r|rlo|rla|telo|tela)?(?: esta| esa)?|omite(?:lo|la)?|omitir|paso|siguiente"
    r"|dejalo (?:vacio|en blanco))(?: please| por favor)?$"
)
# Leaves a field open, but answers a question as well as anything.
_UNKNOWN = re.compile(
    r"^(?:i (?:really )?(?:do not|don t) know|not sure|i m not sure|no idea|dunno|none|n ?a"
    r"|no (?:lo )?se|la verdad no se|ni idea|ninguno|ninguna|no aplica)$"
)
_END = re.compile(
    r"\b(?:no more questions|stop asking|enough questions|skip the questions|skip (?:all|them)"
    r"|no mas preguntas|ya no (?:me )?preguntes(?: mas)?|basta de preguntas|sin mas preguntas"
    r"|salta(?:te)? las preguntas)\b"
)
_SHOW = re.compile(
    r"^(?:(?:what|which) (?:do you have|have you got)(?: so far)?|show (?:me )?(?:the |my )?"
    r"(?:summary|request)(?: so far)?|(?:the )?summary|que (?:llevas|llevamos"
    r"|tienes)(?: hasta ahora)?"
    r"|(?:el )?resumen|muestra(?:me)?(?: (?:el|la|mi))? (?:resumen|solicitud))$"
)
_GO_ON = re.compile(
    r"^(?:ok |yes |si )?(?:go on|continue|carry on|keep going|resume|go back|back to (?:it"
    r"|my request"
    r"|the request)|sigue|seguimos|sigamos|continua|continuemos|adelante|volvamos"
    r"|retry|try again|reintenta(?:r)?|intenta(?:r)? de nuevo|go on with (?:it|this|that)"
    r"|go on with this one|sigue con esta|seguir con esta)(?: please| por favor)?$"
)
_NEW_ONE = re.compile(
    r"\b(?:(?:the )?(?:new|second|other) one|start (?:it|over|(?:the )?new)|(?:la|el) (?:nuev[oa]"
    r"|segund[oa]|otr[oa])|(?:empieza|empecemos|empezar) (?:la|el|otr[oa]))\b"
)
_ASKS = re.compile(
    r"^(?:how|what|where|when|which|who|whose|is there|are there|do we|does|can i|should i|may i"
    r"|como|que|donde|cuando|cual(?:es)?|quien|hay|puedo|debo|tenemos|se puede|a que)\b"
)
# Nothing but a question begins like this, whether or not it ends in a question mark.
_ASKS_OUTRIGHT = re.compile(
    r"^(?:and |y )?(?:how (?:do|does|long|much|many|can|often|should)"
    r"|is (?:the|it|this)|do (?:they|i|you)|what (?:is|are|s|do|does|time|temp\w*)"
    r"|where (?:is|are|s|do|can)|who (?:is|do|does)|can i|should i|may i|do we|is there|are there"
    r"|como (?:hago|se|puedo|le)|donde (?:esta|estan|se|puedo|encuentro)|cuant[oa]s? (?:tiempo|dura"
    r"|es|cuesta|son)|a que (?:hora|temperatura)|que (?:temperatura|hago)|puedo|se puede|debo) \w+"
)
_FEWEST_ASKED = 4  # words; what is shorter may be an answer


def read_want(state: RequestState, text: str, asked: str = "") -> Want:
    """What a message to an open request wants beside telling values; empty for nothing else.

    `asked` is the line that it answers.
    """
    spoken = plain_words(text)
    if _CANCEL.match(spoken):
        return "cancel"
    for want, pattern in (
        ("why", _WHY), ("show", _SHOW), ("end_questions", _END), ("go_on", _GO_ON),
    ):  # fmt: skip
        if pattern.search(spoken):
            return want  # type: ignore[return-value]
    if _SKIP.match(spoken):
        return "skip"
    if _UNKNOWN.match(spoken):
        return "unknown"
    if _REPEAT.match(spoken):
        return "repeat"
    return read_answer(text, asked) or _read_act(state, text, asked)


def _read_act(state: RequestState, text: str, asked: str) -> Want:
    """What is said in words that nobody listed."""
    if not asked or is_question(text):
        return ""
    kind = next_step(state).kind
    act = read_act(text, asked, (*_ALWAYS, *_ACTS.get(kind, ())), SURE_OF_NO_ANSWER)
    return _WANTED[act] if act else ""


# What stands after a colon is told, and not asked: "where: behind the bar".
_LABELLED = re.compile(r"^[^?¿:]{2,50}:\s*\S")
# A question that nobody marked: "do they take it out of my check or what".
_OR_WHAT = re.compile(r"\b(?:or what|or not|or no|o que|o no|o como)$")


def is_question(text: str) -> bool:
    """Whether a message asks something, rather than answer: it is a question to its end."""
    if _LABELLED.match(text) and not text.rstrip().endswith("?"):
        return False
    spoken = plain_words(text)
    if _ASKS_OUTRIGHT.match(spoken) and len(spoken.split()) >= _FEWEST_ASKED:
        return True
    is_marked = text.rstrip().endswith("?") or "¿" in text or bool(_OR_WHAT.search(spoken))
    return is_marked and (bool(_ASKS.match(spoken)) or "¿" in text or len(spoken.split()) > 3)


def is_the_new_one(text: str) -> bool:
    """Whether somebody would rather have the request that they asked for last."""
    return bool(_NEW_ONE.search(plain_words(text)))


def asks_besides(text: str) -> bool:
    """Whether one part of a message asks something outright."""
    if plain_words(text).endswith(" or what"):
        return True
    return any(
        _ASKS_OUTRIGHT.match(spoken) and len(spoken.split()) >= _FEWEST_ASKED
        for spoken in map(plain_words, re.split(r"[,.;:!?]+", text))
    )


def cancels(text: str, asked: str = "") -> bool:
    """Whether somebody wants nothing of all this any more."""
    if _CANCEL.match(plain_words(text)):
        return True
    return bool(asked) and read_act(text, asked, _CANCELLING, SURE_OF_NO_ANSWER) is not None
