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

from app.assistant.registry import Moment
from app.assistant.steps import Step
from app.db import ScopedSession
from app.fields.extraction.reading import cue_words, stems
from app.fields.values import Surroundings
from app.skills.service_requests.catalog import TypeNode, load_tree
from app.skills.service_requests.drafting import state_of
from app.skills.service_requests.going_on import (
    NEXT_TOOLS,
    ask_whether_solved,
    number_question,
    told_to_model,
)
from app.skills.service_requests.reading.intent import named_type, wants_request
from app.skills.service_requests.reading.replies import cancels, is_question, read_want
from app.skills.service_requests.reading.values import is_correction, read_said
from app.skills.service_requests.state import RequestState, next_step
from app.skills.service_requests.surroundings import surroundings
from app.skills.service_requests.wording import ask_for, offer_optional, point_to_widget, why

Hints = Mapping[str, Any]
RECORD = "record_answers"


def find_wish(session: ScopedSession, moment: Moment) -> Hints:
    """The hint `wanted`, `reply` or `lead_back` for a message about a request."""
    around = surroundings(session, moment.language)
    state = state_of(session, moment.steps, around)
    with force_locale(moment.language):
        if moment.step is not None:
            return _after_step(session, moment, moment.step, around)
        if state.form is not None:
            return _open_request(session, state, moment.message, moment.language, around)
        tree = load_tree(session)
        if state.is_choosing and (found := _choosing(moment.message, tree)):
            return found
        if tree and wants_request(moment.message, tree):
            return _want("suggest_service_request_type", user_query=moment.message)
    return {}


def _want(tool: str, **arguments: Any) -> Hints:
    return {"wanted": {tool: arguments}}


def _after_step(session: ScopedSession, moment: Moment, step: Step, around: Surroundings) -> Hints:
    """What follows a step that was posted with a widget."""
    if step.get("type") == "type_selection":
        return _want("get_service_request_form", type_id=step["type_id"])
    if step.get("type") == "request_cancelled":
        return {"reply": _("All right, I cancelled it. Nothing was filed and nothing is kept.")}
    state = state_of(session, [*moment.steps, {**step, "message_id": "now"}], around)
    if state.form is None:
        return {"reply": _("All right. What else can I do for you?")}
    return _want_next(state)


def _want_next(state: RequestState) -> Hints:
    """The tool that comes next; asking in words is left to the one that takes answers."""
    step = next_step(state)
    if step.kind == "field" and step.field and step.field.field.name != state.declined:
        return _want("request_field_input", field_id=str(step.field.field_id))
    return _want(NEXT_TOOLS.get(step.kind, RECORD))


def _choosing(message: str, tree: Sequence[TypeNode]) -> Hints | None:
    """A type that is named instead of tapped, or none of them."""
    if cancels(message):
        return _want("cancel_service_request")
    if is_question(message):
        return None
    found = named_type(message, tree)
    return _want("get_service_request_form", type_id=str(found.id)) if found else None


def _open_request(
    session: ScopedSession, state: RequestState, message: str, language: str, around: Surroundings
) -> Hints:
    """What a message to an open request wants, in its order."""
    want = read_want(state, message)
    if want == "cancel":
        return _want("cancel_service_request")
    if state.another:
        return _about_another(want, state)
    if want in ("why", "repeat"):
        return {"reply": _asked_again(state, want, language)}
    if want == "show":
        return _want(RECORD, show=True)
    step = next_step(state)
    if step.kind == "resolution":
        return _answer_to_solution(want, message, state, around)
    if is_question(message) and not is_correction(message):
        return {"lead_back": _pending(state, language)}
    said = read_said(state, message, around)
    if step.kind == "question" and state.asked and not is_correction(message):
        return _answer_to_question(state, message, want, has_values=bool(said))
    if said:
        return _want(RECORD, said=message)
    return _without_values(session, state, message, want, language)


def _about_another(want: str, state: RequestState) -> Hints:
    """The answer to whether the open request makes room for another one."""
    if want == "yes":
        return _want("cancel_service_request")
    return _want(RECORD, go_on=True)


def _answer_to_solution(
    want: str, message: str, state: RequestState, around: Surroundings
) -> Hints:
    """Only a plain yes or no counts; with anything else it is asked again."""
    if want in ("yes", "no"):
        return _want(RECORD, resolved=want == "yes")
    if read_said(state, message, around):
        return _want(RECORD, said=message)
    if is_question(message):
        return {"lead_back": ask_whether_solved()}
    return {"reply": _("Please say yes or no.") + " " + ask_whether_solved()}


def _without_values(
    session: ScopedSession, state: RequestState, message: str, want: str, language: str
) -> Hints:
    """A message that says no value: skipping, an answer to a question, or something else."""
    step = next_step(state)
    if want == "end_questions":
        return _want(RECORD, no_more_questions=True)
    if step.kind in ("optional", "submit"):
        return _about_optional(state, message, want, language)
    if want == "skip":
        return _skip(state, language)
    if want == "go_on":
        return _want_next(state)
    if wants_request(message, load_tree(session)):
        return _want("suggest_service_request_type", user_query=message)
    return {"reply": _("I could not read that.") + "\n\n" + _pending(state, language)}


def _answer_to_question(state: RequestState, message: str, want: str, *, has_values: bool) -> Hints:
    """What is said to a clarifying question answers it; values that it tells are taken too."""
    if want in ("skip", "end_questions"):
        return _want(RECORD, no_more_questions=True)
    answered = [{"question": state.asked, "answer": message[:2000]}]
    told = {"said": message} if has_values else {}
    return _want(RECORD, questions_answers=answered, **told)


def _about_optional(state: RequestState, message: str, want: str, language: str) -> Hints:
    """Which of the optional fields is wanted after all; none of them leads to the summary."""
    step = next_step(state)
    if step.kind == "optional" and want not in ("no", "skip"):
        return _want(RECORD)
    named = _named_optional(state, message)
    if named is not None:
        return _want("request_field_input", field_id=named)
    if want in ("no", "skip", "go_on", "yes", "end_questions"):
        if state.awaited and want == "skip":
            return _skip(state, language)
        return _want("submit_service_request")
    return {"reply": _("Say what to change, “submit” to file it, or “cancel”.")}


def _named_optional(state: RequestState, message: str) -> str | None:
    """The field whose label a message names; the only one that it may mean."""
    said = stems(message)
    fitting = [
        each
        for each in state.fields
        if (cues := cue_words(each.field.label))
        and len(cues & said) >= (len(cues) + 3) // 4
        and cues & said
    ]
    best = max((len(cue_words(each.field.label) & said) for each in fitting), default=0)
    chosen = [each for each in fitting if len(cue_words(each.field.label) & said) == best]
    return str(chosen[0].field_id) if len(chosen) == 1 else None


def _skip(state: RequestState, language: str) -> Hints:
    """Leave out what was asked for; what is needed cannot be left out."""
    assert state.form is not None
    field = state.form.by_name(state.awaited)
    if field is None:
        return _want_next(state)
    if field.field.required:
        label = field.field.label.text(language)
        needed = _("“%(label)s” is needed. Answer it, or say “cancel”.", label=label)
        return {"reply": needed + "\n\n" + _pending(state, language)}
    return _want(RECORD, skipped=[str(field.field_id)])


def _asked_again(state: RequestState, want: str, language: str) -> str:
    """What was asked last, and why where that was asked."""
    assert state.form is not None
    field = state.form.by_name(state.awaited) if state.awaited else None
    pending = _pending(state, language)
    return f"{why(field, language)}\n\n{pending}" if want == "why" else pending


def _pending(state: RequestState, language: str) -> str:
    """The question that waits for its answer, in words."""
    assert state.form is not None
    step = next_step(state)
    name = state.form.name.text(language)
    field = state.form.by_name(state.awaited) if state.awaited else step.field
    back = _("Back to your request about “%(name)s”.", name=name)
    if field is not None:
        is_widget = not field.is_conversational and field.field.name not in state.in_words
        asked = point_to_widget(field, language) if is_widget else ask_for(field, language)
    elif step.kind == "question" and state.asked:
        asked = number_question(state, state.asked)
    elif step.kind == "resolution":
        asked = ask_whether_solved()
    elif step.kind == "optional":
        asked = offer_optional(step, language)
    else:
        asked = _("Should I submit this request?")
    return f"{back} {asked}"


def tell_standing(session: ScopedSession, moment: Moment) -> Sequence[str]:
    """The request of this conversation, as whoever answers is told of it."""
    around = surroundings(session, moment.language)
    step = [] if moment.step is None else [{**moment.step, "message_id": "now"}]
    state = state_of(session, [*moment.steps, *step], around)
    if state.form is None:
        waits = (
            "The type selector is shown: the person chooses from it." if state.is_choosing else ""
        )
        return [waits] if waits else []
    told = json.dumps(told_to_model(state, moment.language), ensure_ascii=False)
    lines = [f"Open service request (the house's state, not to be doubted): {told}"]
    following = next_step(state)
    if following.field is not None:
        lines.append(f"Next: request_field_input for {following.field.field_id}.")
    elif following.kind in NEXT_TOOLS:
        lines.append(f"Next: {NEXT_TOOLS[following.kind]}.")
    elif following.kind == "question":
        asked = len(state.answers) + 1
        lines.append(f"Next: clarifying question {asked} of 3. {_suggested(state)}")
    return lines


def _suggested(state: RequestState) -> str:
    return f"It was asked: {state.asked}" if state.asked else ""
