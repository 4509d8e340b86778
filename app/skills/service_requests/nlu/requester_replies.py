"""What a message wants of the conversation about a request, beside the values that it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from app.nlu.agreement import is_plain
from app.nlu.control import NO_FIRST, Act, ListedAct, listed_act, read_act, read_answer
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.state import OpenRequest
from app.text.normalize import plain_words

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
_WANTED: Mapping[Act | ListedAct, Want] = {
    "cancel": "cancel", "repeat": "repeat", "show": "show", "skip": "skip", "why": "why",
    "finish": "end_questions", "submit": "submit", "go_on": "go_on", "unknown": "unknown",
}  # fmt: skip
# To a question that takes any words, what only looks like an act is an answer.
SURE_OF_NO_ANSWER = 0.8

_POLITE = r"(?: (?:please|por favor))?"
_NEW_ONE = re.compile(
    r"(?:(?:yes|ok|si) )?(?:(?:start|open|do|take|make|go with|let s do|i want) )?(?:the )?"
    r"new one" + _POLITE + r"|start (?:over|(?:the )?new)"
    r"|(?:(?:yes|si|ok) )?cancel(?: it| that)?(?: and)? (?:start|open|do) (?:the )?new one"
    r"|(?:(?:si|ok|mejor) )?(?:(?:empieza|empecemos|abre|haz|quiero) )?(?:la|el)"
    r" nuev[oa]" + _POLITE + r"|empieza otr[oa]"
)
_CANCELS = re.compile(
    r"(?:(?:please|por favor|ok|yes|si|mejor) )?"
    r"(?:cancel(?: (?:it|this|that|the (?:request|ticket)|my request|everything))?"
    r"|cancel(?:a|alo|ala|en|ar|emos)(?: (?:la|mi|esta|esa) solicitud| todo)?"
    r"|(?:forget|discard|abort) (?:the|my|this) (?:request|ticket)"
    r"|(?:olvida|descarta|borra|elimina) (?:la|mi|esta) solicitud)"
    r"(?: (?:please|por favor|gracias|thanks))?"
)
_ASKS = re.compile(
    r"^(?:how|what|where|when|which|who|whose|is there|are there|do we|does|can i|should i|may i"
    r"|como|que|donde|cuando|cual(?:es)?|quien|hay|puedo|debo|tenemos|se puede|a que)\b"
)
# Nothing but a question begins like this, whether or not it ends in a question mark.
_ASKS_OUTRIGHT = re.compile(
    r"^(?:(?:and|y|btw|by the way|hey|oye|oiga|por cierto|quick question|una pregunta) )*"
    r"(?:how (?:do|does|long|much|many|can|often|should)"
    r"|is (?:the|it|this)|do (?:they|i|you)|what (?:is|are|s|do|does|time|temp\w*)|whats"
    r"|where (?:is|are|s|do|can)|who (?:is|do|does)|can i|should i|may i|do we|is there|are there"
    r"|como (?:hago|se|puedo|le)|donde (?:esta|estan|se|puedo|encuentro)|cuant[oa]s? (?:tiempo|dura"
    r"|es|cuesta|son)|a que (?:hora|temperatura)|que (?:temperatura|hago)|puedo|se puede|debo) \w+"
)
# "Si cancela la solicitud" may be a condition; a yes has an accent, or something parts it.
_MAY_BE_IF = re.compile(r"\s*si\s+\w", re.IGNORECASE)
_FEWEST_ASKED = 4  # words; what is shorter may be an answer


def read_want(state: OpenRequest, text: str, asked: str = "") -> Want:
    """What a message to an open request wants beside telling values; empty for nothing else.

    `asked` is the line that it answers.
    """
    listed = listed_act(text)
    if listed and listed in _WANTED:
        return _WANTED[listed]
    return read_answer(text, asked) or _read_act(state, text, asked)


def _read_act(state: OpenRequest, text: str, asked: str) -> Want:
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
    """Whether somebody says that they would rather have the request that they asked for last."""
    return is_plain(text) and bool(_NEW_ONE.fullmatch(plain_words(text)))


def wants_none(text: str) -> bool:
    """Whether somebody wants no request at all, where nothing has been collected for one yet."""
    return is_plain(text) and listed_act(text) == "cancel"


def cancels(text: str) -> bool:
    """Whether somebody says outright that a request shall be cancelled, and nothing else.

    "Cancel?" asks whether it can be, or shall be; with a picture it may be meant otherwise.
    """
    said = plain_words(NO_FIRST.sub("", text))
    return is_plain(text) and not _MAY_BE_IF.match(text) and bool(_CANCELS.fullmatch(said))
