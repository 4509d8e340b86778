"""What a message wants of a request, where no language model reads it; and what a model is told.

Read in this order: cancelling, the value that was asked for, a correction, a new question, a
new request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.threads.steps import Step
from app.assistant.tools.registry import TurnInput
from app.config import LANGUAGES
from app.db import ScopedSession
from app.fields.extraction.extract import cue_words, stems
from app.fields.values import FieldContext
from app.nlu.control import last_line, read_answer
from app.nlu.emergency import read_emergency
from app.skills.service_requests.nlu.intent import (
    TOOL,
    asks_after_filed,
    asks_what_to_do,
    called_type,
    is_other_trouble,
    likely_types,
    named_type,
    odds_of,
    rank_types,
    wants_another,
    wants_request,
)
from app.skills.service_requests.nlu.requester_replies import (
    asks_elsewhere,
    is_question,
    is_the_new_one,
    read_want,
    wants_none,
    wants_other_type,
)
from app.skills.service_requests.nlu.values import (
    as_waiting,
    is_correction,
    is_rewriting,
    read_said,
)
from app.skills.service_requests.services.definitions import QUESTIONS_ASKED, RequestField
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.requests import has_filed
from app.skills.service_requests.services.type_catalog import TypeNode, load_tree
from app.skills.service_requests.texts import cancelled, why
from app.skills.service_requests.tools.arguments import LONGEST_SAID
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest, RequestState
from app.skills.service_requests.workflow.state_loader import state_of
from app.skills.service_requests.workflow.tool_results import (
    NEXT_TOOLS,
    about_another,
    about_resolution,
    ask_resolution_again,
    ask_whether_solved,
    ask_whether_to_cancel,
    ask_which_one,
    is_shown,
    pending_words,
    question_of,
    stuck_at,
    told_to_model,
)
from app.text.bilingual import reader_language
from app.text.normalize import words

Hints = Mapping[str, Any]
RECORD = "record_answers"
# Words of a message that does no more than name a field.
FEW = 3
LIST = "list_service_requests"
# To these a "no" is no answer, but leaves them open.
OPEN = ("text", "textarea", "number", "email", "address", "phone", "date", "file")


def find_hints(session: ScopedSession, turn: TurnInput) -> Hints:
    """The hint `wanted`, `reply` or `lead_back` for a message about a request.

    Who reports an emergency is helped, and is asked for nothing.
    """
    emergency = read_emergency(turn.message, turn.language)
    if turn.step is None and emergency and not emergency.is_over:
        return {}
    if not turn.steps and turn.step is None:
        # Which of all the skills it is for, the assistant decides.
        tree = load_tree(session)
        return _about_filed(session, turn) or (_begin(turn.message, tree) if tree else {})
    found = dict(_go_on(session, turn))
    yields, goes_on = found.pop("yields", False), dict.fromkeys(found.get("wanted", ()), True)
    return {**found, "goes_on": goes_on, **({"yields": goes_on} if yields else {})}


def _begin(message: str, tree: Sequence[TypeNode]) -> Hints:
    """What begins a request, and how much speaks for one.

    Who asks what to do about a trouble is told; where nothing tells it, somebody shall come.
    """
    found = {**_want(TOOL, user_query=message), "odds": {TOOL: odds_of(message, tree)}}
    if asks_what_to_do(message) and rank_types(message, tree):
        return {**found, "instead": found["wanted"]}
    return found


def _go_on(session: ScopedSession, turn: TurnInput) -> Hints:
    """What a message wants of a request that was begun, or of one that is being chosen."""
    around = field_context(session, turn.language)
    state = state_of(session, turn.steps, around, turn.memo)
    with force_locale(turn.language):
        if turn.step is not None:
            return _after_step(session, turn, turn.step, state, around)
        if isinstance(state, OpenRequest) and (found := _about_cancelling(turn)) is not None:
            return found
        if isinstance(state, OpenRequest):
            return _open_request(session, state, turn, around)
        tree = load_tree(session)
        if state.is_choosing and (found := _choosing(turn, state.query, tree)):
            return found
        if found := _about_filed(session, turn):
            return found
        if tree and wants_request(turn.message, tree):
            return _want(TOOL, user_query=turn.message)
    return {}


def _about_filed(session: ScopedSession, turn: TurnInput) -> Hints:
    """What is asked after a request that was filed, in this chat or another."""
    if not asks_after_filed(turn.message) or not has_filed(session):
        return {}
    return _want(LIST, words=turn.message[:LONGEST_SAID])


def _want(tool: str, **arguments: Any) -> Hints:
    return {"wanted": {tool: arguments}}


def _after_step(
    session: ScopedSession,
    turn: TurnInput,
    step: Step,
    before: RequestState,
    around: FieldContext,
) -> Hints:
    """What follows a step that was posted with a widget, where the request was `before`."""
    if step.get("type") == "type_selection":
        return _want("get_service_request_form", type_id=step["type_id"])
    if step.get("type") == "request_cancelled":
        return {"reply": cancelled(before, turn.language)}
    state = state_of(session, [*turn.steps, {**step, "message_id": "now"}], around, turn.memo)
    if isinstance(state, NoRequest):
        return {"reply": _("All right. What else can I do for you?")}
    return _want_next(state)


def _want_next(state: OpenRequest) -> Hints:
    """The tool that comes next; asking in words is left to the one that takes answers."""
    step = next_step(state)
    if stuck_at(state) is not None:
        return _want(RECORD)
    if step.kind == "field" and step.field:
        return _want("request_field_input", field_id=str(step.field.field_id))
    return _want(NEXT_TOOLS.get(step.kind, RECORD))


def _asks(turn: TurnInput) -> bool:
    """Whether the message asks something, marked or not, that another skill may answer."""
    return is_question(turn.message) or asks_elsewhere(turn.message, turn.intents, (TOOL,))


def _choosing(turn: TurnInput, query: str, tree: Sequence[TypeNode]) -> Hints | None:
    """A type that is named instead of tapped, or none of them; a question leads back to it."""
    message = turn.message
    if wants_none(message):
        return _want("cancel_service_request")
    likely = likely_types(query, tree, 1)
    # "It looks like …": a yes, right behind that, is that one.
    is_asked = bool(likely) and likely[0].name.text(turn.language) in _asked(turn)
    if is_asked and read_answer(message, _asked(turn)) == "yes":
        return _want("get_service_request_form", type_id=str(likely[0].id))
    if _asks(turn):
        return {
            "lead_back": _("As for your request: choose its type above, or tell me what it is.")
        }
    if called_type(message, tree) is None and wants_request(message, tree):
        # Another trouble than the one that the list was shown for is asked about in its place.
        return _want(TOOL, user_query=message)
    found = named_type(message, tree)
    return _want("get_service_request_form", type_id=str(found.id)) if found else None


def _about_cancelling(turn: TurnInput) -> Hints | None:
    """The answer to whether the request shall be cancelled, where that was asked last."""
    asked = _asked(turn)
    if not asked.endswith(ask_whether_to_cancel()):
        return None
    answer = read_answer(turn.message, asked)
    if answer == "yes":
        return _want("cancel_service_request")
    return _want(RECORD) if answer == "no" else None


def _asked(turn: TurnInput) -> str:
    """The line that the message follows."""
    last = turn.history[-1] if turn.history else None
    return last_line(last.text) if last is not None and last.role == "assistant" else ""


def _open_request(
    session: ScopedSession, state: OpenRequest, turn: TurnInput, around: FieldContext
) -> Hints:
    """What a message to an open request wants, in its order."""
    state = as_waiting(state)
    message, language = turn.message, turn.language
    want, step = read_want(state, message, _asked(turn)), next_step(state)
    if (about := _about_asking(state, want, message, language)) is not None:
        return about
    if wants_another(message, state.form.type_id, load_tree(session)):
        return _want(TOOL, user_query=message)
    asks = _asks(turn)
    if state.another:
        return _about_another(want, state, message, around, asks=asks)
    if step.kind == "resolution":
        return _answer_to_solution(want, message, state, around, asks=asks)
    if asks and not is_correction(message):
        return {"lead_back": pending_words(state, language)}
    if _leaves_open(state, want):
        left = "skip" if want == "no" else want
        return _without_values(session, state, message, left, language)
    said = read_said(state, message, around)
    if step.kind == "question" and state.asked and not _corrects(message, has_values=bool(said)):
        return _answer_to_question(state, message, want, has_values=bool(said))
    if said:
        # Where nothing is asked for but the last word, another skill's own comes first.
        return {**_want(RECORD, said=message), "yields": step.kind in ("optional", "submit")}
    return _without_values(session, state, message, want, language)


def _about_asking(state: OpenRequest, want: str, message: str, language: str) -> Hints | None:
    """What is about the request itself, and the same whatever it waits for."""
    if state.query and wants_other_type(message):
        return _want(TOOL, user_query=state.query)
    if labelled := _labelled(state, message):
        return _want(RECORD, values=labelled)
    if want == "cancel":
        return _want("cancel_service_request")
    field = state.form.by_name(state.awaited)
    if want == "repeat" and field is not None and is_shown(state, field):
        return _want("request_field_input", field_id=str(field.field_id))
    if want in ("why", "repeat"):
        about = {"asks": about_resolution(state)} if state.resolution else {}
        return {"reply": _asked_again(state, want, language), **about}
    return _want(RECORD, show=True) if want == "show" else None


def _leaves_open(state: OpenRequest, want: str) -> bool:
    """Whether a message fills nothing in, though a field that takes any words is asked for."""
    field = state.form.by_name(state.awaited)
    if want == "no":
        return field is not None and field.field.type in OPEN and not field.field.required
    return field is not None and want in ("skip", "unknown", "end_questions", "go_on")


def _corrects(message: str, *, has_values: bool) -> bool:
    """Whether a message corrects a value, where an answer to a question is expected."""
    return is_rewriting(message) or (has_values and is_correction(message))


def _about_another(
    want: str, state: OpenRequest, message: str, around: FieldContext, *, asks: bool
) -> Hints:
    """The answer to whether the open request makes room for another one; else asked again."""
    if want == "yes" or is_the_new_one(message):
        return _want("cancel_service_request")
    if want in ("no", "go_on", "skip"):
        return _want(RECORD, go_on=True)
    if asks:
        return {"lead_back": _which_one(state), "asks": about_another(state)}
    if read_said(state, message, around):
        return _want(RECORD, go_on=True, said=message)
    return {"reply": _which_one(state), "asks": about_another(state)}


def _which_one(state: OpenRequest) -> str:
    name = state.form.name.text(reader_language())
    return ask_which_one(name)


def _answer_to_solution(
    want: str, message: str, state: OpenRequest, around: FieldContext, *, asks: bool
) -> Hints:
    """Only a plain yes or no counts; with anything else it is asked again."""
    if want in ("yes", "no"):
        return _want(RECORD, resolved=want == "yes")
    # What another skill reads as its own was hardly said to the solution.
    if read_said(state, message, around):
        return {**_want(RECORD, said=message), "yields": True}
    if asks:
        asked = ask_resolution_again(state, reader_language())
        return {"lead_back": asked, "asks": about_resolution(state)}
    asked = _("Please say yes or no.") + " " + ask_whether_solved()
    return {"reply": asked, "asks": about_resolution(state), "yields": True}


def _without_values(
    session: ScopedSession, state: OpenRequest, message: str, want: str, language: str
) -> Hints:
    """A message that says no value: skipping, an answer to a question, or something else."""
    step = next_step(state)
    if want == "end_questions":
        return _want(RECORD, no_more_questions=True)
    if stuck_at(state) is not None and want not in ("go_on", "skip", "unknown"):
        return _want(RECORD)
    if want == "go_on" or (want == "yes" and state.problems):
        return _retry(state)
    if step.kind in ("optional", "submit"):
        return _about_optional(state, message, want, language)
    if want in ("skip", "unknown"):
        return _skip(state, language)
    is_awaited = bool(state.awaited)
    if is_other_trouble(message, load_tree(session), state.form.type_id, is_awaited):
        return _want(TOOL, user_query=message)
    told = _open_story(state)
    if told is not None and len(message.split()) > FEW:
        # What fits no choice and no number is a part of what happened.
        return _want(RECORD, values={str(told.field_id): message})
    return {"reply": _("I did not understand that.") + "\n\n" + pending_words(state, language)}


def _open_story(state: OpenRequest) -> RequestField | None:
    """The field that takes a story, where nothing was told for it yet."""
    return next(
        (
            each
            for each in state.fields
            if each.field.type == "textarea" and each.field.name not in state.told
        ),
        None,
    )


def _answer_to_question(state: OpenRequest, message: str, want: str, *, has_values: bool) -> Hints:
    """What is said to a clarifying question answers it; values that it tells are taken too."""
    if want in ("skip", "end_questions"):
        return _want(RECORD, no_more_questions=True)
    answered = [{"question": state.asked, "answer": message[:2000]}]
    told = {"said": message} if has_values else {}
    return _want(RECORD, questions_answers=answered, **told)


def _retry(state: OpenRequest) -> Hints:
    """What was asked for, once more; else what comes next."""
    stuck = stuck_at(state)
    if stuck is None:
        return _want_next(state)
    return _want("request_field_input", field_id=str(stuck.field_id))


def _about_optional(state: OpenRequest, message: str, want: str, language: str) -> Hints:
    """Which of the optional fields is wanted after all; none of them leads to the summary."""
    step = next_step(state)
    if step.kind == "optional" and want not in ("no", "skip"):
        return _want(RECORD)
    if state.awaited and want in ("skip", "unknown"):
        return _skip(state, language)
    if want in ("no", "skip", "unknown", "yes", "end_questions", "submit"):
        return _want("submit_service_request")
    labelled = _labelled(state, message)
    if labelled:
        return _want(RECORD, values=labelled)
    named = _named_optional(state, message)
    if named is not None:
        return _want("request_field_input", field_id=named)
    return {"reply": _("Say what to change, “submit” to file it, or “cancel”."), "yields": True}


def _labelled(state: OpenRequest, message: str) -> dict[str, str]:
    """The value of the field whose whole label stands before a colon: "Where it is: the bar"."""
    label, colon, value = message.partition(":")
    field = _field_called(state, label) if colon and value.strip() else None
    return {str(field.field_id): value.strip()} if field else {}


def _field_called(state: OpenRequest, said: str) -> RequestField | None:
    """The field with this label, in either language; "Where it is" has no word of its own."""
    spoken = words(said)
    return next(
        (
            each
            for each in state.fields
            if spoken in (words(each.field.label.text(language)) for language in LANGUAGES)
        ),
        None,
    )


def _named_optional(state: OpenRequest, message: str) -> str | None:
    """The field whose label a message names; the only one that it may mean."""
    if (called := _field_called(state, message)) is not None:
        return str(called.field_id)
    said = stems(message)
    fitting = [
        each
        for each in state.fields
        if (cues := cue_words(each.field.label))
        and cues & said
        and (len(said) <= FEW or len(cues & said) >= (len(cues) + 3) // 4)
    ]
    best = max((len(cue_words(each.field.label) & said) for each in fitting), default=0)
    chosen = [each for each in fitting if len(cue_words(each.field.label) & said) == best]
    return str(chosen[0].field_id) if len(chosen) == 1 else None


def _skip(state: OpenRequest, language: str) -> Hints:
    """Leave out what was asked for; what is needed cannot be left out."""
    field = state.form.by_name(state.awaited)
    if field is None:
        return _want_next(state)
    if field.field.required:
        label = field.field.label.text(language)
        needed = _("“%(label)s” is needed. Answer it, or say “cancel”.", label=label)
        return {"reply": needed + "\n\n" + pending_words(state, language)}
    return _want(RECORD, skipped=[str(field.field_id)])


def _asked_again(state: OpenRequest, want: str, language: str) -> str:
    """What was asked last, and why where that was asked."""
    field = state.form.by_name(state.awaited) if state.awaited else None
    asked = pending_words(state, language)
    return f"{why(field, language)}\n\n{asked}" if want == "why" else asked


def describe_state(session: ScopedSession, turn: TurnInput) -> Sequence[str]:
    """The request of this conversation, as whoever answers is told of it."""
    if not turn.steps and turn.step is None:
        return []
    around = field_context(session, turn.language)
    step = [] if turn.step is None else [{**turn.step, "message_id": "now"}]
    state = state_of(session, [*turn.steps, *step], around, turn.memo)
    if isinstance(state, NoRequest):
        waits = (
            "The type selector is shown: the person chooses from it." if state.is_choosing else ""
        )
        return [waits] if waits else []
    told = json.dumps(told_to_model(state, turn.language), ensure_ascii=False)
    lines = [f"Open service request (as it is stored, not to be doubted): {told}"]
    return [*lines, f"Next: {_told_next(state, turn.language)}."]


def _told_next(state: OpenRequest, language: str) -> str:
    """What whoever answers is to do next."""
    following = next_step(state)
    if stuck_at(state) is not None:
        return f"{RECORD} without arguments, which offers to try again, or what else there is"
    if following.field is not None:
        return f"request_field_input for {following.field.field_id}"
    if following.kind == "question":
        number, usual = len(state.answers) + 1, question_of(state, language)
        return f"clarifying question {number} of {QUESTIONS_ASKED}, such as “{usual}”"
    if following.kind == "resolution":
        return "the person's own yes or no to whether the proposed solution helped"
    if following.kind == "optional":
        return f"{RECORD} without arguments, which offers the optional fields once"
    return NEXT_TOOLS[following.kind]
