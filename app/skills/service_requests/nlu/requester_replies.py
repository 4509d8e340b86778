"""What a message wants of the conversation about a request, beside the values that it says."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Literal

from app.nlu.agreement import is_plain
from app.nlu.control import NO_FIRST, Act, ListedAct, listed_act, read_act, read_answer
from app.nlu.model import OTHER_INTENTS
from app.nlu.named_allergens import named_allergens
from app.skills.service_requests.nlu.lexicon import compiled, either
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
# So likely is what is asked of another skill without a question mark.
SURELY_ASKED = 0.9
# To a question that takes any words, what only looks like an act is an answer.
SURE_OF_NO_ANSWER = 0.8

_NEW_ONE, _OTHER_TYPE = compiled("new_one"), compiled("other_type")
_CANCELS = re.compile(
    rf"(?:{either('before_cancelling')} )?{either('cancels')}(?: {either('behind_cancelling')})?"
)
_ASKS = re.compile(rf"^{either('asks')}\b")
_ASKS_OUTRIGHT = re.compile(rf"^(?:{either('before_questions')} )*{either('asks_outright')} \w+")
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
_OR_WHAT = re.compile(rf"\b{either('or_what')}$")


def is_question(text: str) -> bool:
    """Whether a message asks something, rather than answer: it is a question to its end."""
    if _LABELLED.match(text) and not text.rstrip().endswith("?"):
        return False
    spoken = plain_words(text)
    if _ASKS_OUTRIGHT.match(spoken) and len(spoken.split()) >= _FEWEST_ASKED:
        return True
    is_marked = text.rstrip().endswith("?") or "¿" in text or bool(_OR_WHAT.search(spoken))
    return is_marked and (bool(_ASKS.match(spoken)) or "¿" in text or len(spoken.split()) > 3)


def asks_elsewhere(text: str, intents: Mapping[str, float], own: Container[str]) -> bool:
    """Whether words that nobody marked as a question ask something of another skill.

    `intents` say how likely the message is for each tool, by itself; `own` are this skill's.
    """
    likely = max(intents, key=lambda each: intents[each], default="")
    if likely in own or likely in OTHER_INTENTS or intents.get(likely, 0) < SURELY_ASKED:
        return False
    return bool(_ASKS.match(plain_words(text)) or named_allergens(text))


def is_the_new_one(text: str) -> bool:
    """Whether somebody says that they would rather have the request that they asked for last."""
    return is_plain(text) and bool(_NEW_ONE.fullmatch(plain_words(text)))


def wants_other_type(text: str) -> bool:
    """Whether somebody says that their request is of another type than it was begun with."""
    return is_plain(text) and bool(_OTHER_TYPE.fullmatch(plain_words(text)))


def wants_none(text: str) -> bool:
    """Whether somebody wants no request at all, where nothing has been collected for one yet."""
    return is_plain(text) and listed_act(text) == "cancel"


def cancels(text: str) -> bool:
    """Whether somebody says outright that a request shall be cancelled, and nothing else.

    "Cancel?" asks whether it can be, or shall be; with a picture it may be meant otherwise.
    """
    said = plain_words(NO_FIRST.sub("", text))
    return is_plain(text) and not _MAY_BE_IF.match(text) and bool(_CANCELS.fullmatch(said))
