"""What a conversation about a request asks or does next: the one order of its steps. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.skills.service_requests.services.definitions import (
    QUESTIONS_ASKED,
    Question,
    RequestField,
)
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest, RequestState


@dataclass(frozen=True)
class Next:
    """What the conversation is to do next.

    `kind` is nothing, choose, field, question, evaluate, resolution, optional, submit or
    submit_solved.
    """

    kind: str
    field: RequestField | None = None
    fields: tuple[RequestField, ...] = ()


def next_step(state: RequestState) -> Next:
    """What comes next: what is required, three questions, a solution, what is optional, the end.

    Of a type that is not asked for step by step, neither questions nor what is optional.
    """
    if isinstance(state, NoRequest):
        return Next("choose" if state.is_choosing else "nothing")
    if state.missing:
        return Next("field", state.missing[0])
    if state.problems:
        broken = state.form.by_name(next(iter(state.problems)))
        return Next("field", broken)
    is_guided = state.form.is_guided
    if is_guided and len(state.answers) < QUESTIONS_ASKED and not state.has_ended_questions:
        return Next("question")
    if not state.is_evaluated:
        return Next("evaluate")
    if state.resolution and state.resolution.is_accepted is None:
        return Next("resolution")
    if state.resolution and state.resolution.is_accepted:
        return Next("submit_solved")
    if is_guided and state.optional and not state.has_offered_optional:
        return Next("optional", fields=state.optional)
    return Next("submit")


def asks_for_several(state: OpenRequest) -> bool:
    """Whether all that is missing is asked for at once, on a card, rather than one by one."""
    missing = {each.field.name for each in state.missing}
    # What was put away, or whose control does not work here, is talked about by itself.
    apart = {*state.in_words, state.declined, *state.problems}
    return not state.form.is_guided and len(missing) > 1 and not missing & apart


def next_question(state: OpenRequest, usual: Iterable[Question]) -> Question | None:
    """The next question worth asking: of the type's own, else of those that are usual."""
    known = {question for question, _answer in state.answers} | {state.asked}
    for each in (*state.form.questions, *usual):
        if each.unless not in state.told and not known & {each.ask.en, each.ask.es}:
            return each
    return None
