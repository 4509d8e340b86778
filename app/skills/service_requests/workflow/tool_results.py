"""What a tool's result ends in: what was taken, and what the state machine wants next.

The built-in assistant says what there is to say and makes the next call; a model is told both,
and puts the question into its own words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

from flask_babel import gettext as _

from app.assistant.proposals.consent import Question
from app.assistant.tools.parts import Part, Suggestion
from app.assistant.tools.tool import NextCall, ToolContext, ToolResult
from app.db import ScopedSession
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.parts import ListedRequest
from app.skills.service_requests.services.definitions import QUESTIONS_ASKED, RequestField
from app.skills.service_requests.services.requests import names_of
from app.skills.service_requests.services.submit import digest_of_state
from app.skills.service_requests.texts import (
    USUAL_QUESTIONS,
    ask_for,
    name_optional,
    offer_optional,
    optional_chips,
    point_back,
    summary_of,
    ways_out,
)
from app.skills.service_requests.workflow.next_step import Next, next_question, next_step
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest, RequestState
from app.skills.service_requests.workflow.state_loader import state_in, take
from app.text.markdown import escape_markdown, join_paragraphs
from app.web.links import Link

LONGEST_NAME = 80
_SOURCE = re.compile(r" ?\[\d+\]")
NEXT_TOOLS = {
    "evaluate": "evaluate_ai_resolution",
    "submit": "submit_service_request",
    "submit_solved": "submit_service_request",
}


def go_on(
    context: ToolContext,
    said: str = "",
    *,
    payload: Mapping[str, Any] | None = None,
    parts: Sequence[Part] = (),
    shows: bool = False,
    solution: str = "",
) -> ToolResult:
    """The result of a tool that has taken its steps: the state now, and what comes next.

    `said` is what it did; with `shows` the request so far is drawn. `solution` is how a solution
    was told, with the numbers of its sources.
    """
    with context.transaction() as session:
        state = state_in(session, context)
    if isinstance(state, NoRequest):
        return ToolResult(payload or {}, parts, say=said)
    step = next_step(state)
    # What was understood is shown once, before the questions that build on it.
    is_first = step.kind == "question" and not state.answers and not state.asked
    told = {**(payload or {}), "state": told_to_model(state, context.language)}
    drawn = list(parts)
    if step.kind == "resolution":
        asked = ask_resolution(state, context.language, solution)
        drawn += asked.parts
        told["ask"] = asked.text
        return ToolResult(
            told,
            drawn,
            yes_or_no(),
            final_text=join_paragraphs(said, solution),
            question=asked,
            say=join_paragraphs(said, solution, asked.text),
        )
    if shows or is_first:
        so_far = summary_of(state, context.language)
        drawn.append(so_far.model_copy(update={"is_open": shows}))
    if (stuck := stuck_at(state)) is not None:
        words, chips = ways_out(stuck, context.language)
        return ToolResult(told, drawn, chips, say=join_paragraphs(said, words))
    if step.kind == "field" and step.field is not None:
        asks = NextCall("request_field_input", {"field_id": str(step.field.field_id)})
        return ToolResult(told, drawn, say=said, next=asks)
    if step.kind == "submit" and state.optional and not state.has_offered_optional:
        # Nobody is asked for it: what else can be said stands above the card.
        take(context, {"type": "optional_offered"})
        said = join_paragraphs(said, name_optional(state, context.language))
    if step.kind in NEXT_TOOLS:
        return ToolResult(told, drawn, say=said, next=NextCall(NEXT_TOOLS[step.kind]))
    words, chips = _ask(state, step, context)
    told["ask"] = words
    return ToolResult(told, drawn, chips, say=join_paragraphs(said, words))


def stuck_at(state: OpenRequest) -> RequestField | None:
    """A field that cannot be asked for as it was: put away though needed, or without its widget.

    A file has no words, so that a widget of one that does not work leaves nothing to do but to
    try it again.
    """
    declined = next_step(state).field
    if declined is not None and declined.field.name == state.declined:
        return declined
    awaited = state.form.by_name(state.awaited)
    is_broken = awaited is not None and awaited.field.type == "file" and not state.asked_by
    return awaited if is_broken else None


def _ask(state: OpenRequest, step: Next, context: ToolContext) -> tuple[str, list[Suggestion]]:
    """The words of what comes next where it is a question and not a field, and its chips."""
    if step.kind == "optional":
        take(context, {"type": "optional_offered"})
        return offer_optional(step, context.language), optional_chips(step, context.language)
    question = question_of(state, context.language)
    if question != state.asked:
        take(context, {"type": "question_asked", "question": question})
    return number_question(state, question), [
        Suggestion(label=_("No more questions"), message=_("No more questions"))
    ]


def question_of(state: OpenRequest, language: str) -> str:
    """The clarifying question that waits for its answer, in this language; else the next one."""
    for each in (*state.form.questions, *USUAL_QUESTIONS):
        if state.asked and state.asked in (each.ask.en, each.ask.es):
            return each.ask.text(language)
    found = next_question(state, USUAL_QUESTIONS)
    return state.asked or (found.ask.text(language) if found else "")


def number_question(state: OpenRequest, question: str) -> str:
    """A clarifying question, and how many there are."""
    number = len(state.answers) + 1
    return _(
        "Question %(number)s of %(total)s: %(question)s",
        number=number,
        total=QUESTIONS_ASKED,
        question=question,
    )


def ask_which_one(name: str) -> str:
    """What somebody is asked who begins a request while one is open; `name` is that one's."""
    return _(
        "You have an open request about “%(name)s”. Should I cancel it and start "
        "the new one, or do you want to go on with it?",
        name=name,
    )


def ask_whether_solved() -> str:
    return _("Did this resolve your issue?")


def ask_whether_to_cancel() -> str:
    return _("Should I cancel the request? None of it will be kept.")


def ask_cancelling(state: RequestState) -> Question:
    """Whether to cancel, with the words that the request was begun with: it may be another one."""
    begun = shorten(state.query, LONGEST_NAME, placeholder="…")
    words = _("It is about “%(words)s”.", words=escape_markdown(begun)) if begun else ""
    return Question(ask_whether_to_cancel(), about_cancelling(state), words)


def about_resolution(state: OpenRequest) -> str:
    """The name of the question whether a solution helped: a yes files what there is now, solved."""
    return f"resolution {digest_of_state(state, is_solved=True)}"


def ask_resolution_again(state: OpenRequest, language: str) -> str:
    """The same once more, behind an answer to something else: what is meant stands with it."""
    back = _("Back to your request about “%(name)s”.", name=state.form.name.text(language))
    told = ask_resolution(state, language).words
    return "\n\n".join(filter(None, (back, told, ask_whether_solved())))


def ask_resolution(state: OpenRequest, language: str, solution: str = "") -> Question:
    """Whether a solution helped, with the solution and with all that a yes would file.

    `solution` is how it was told, where that was just now; its sources have no numbers later.
    """
    answer = state.resolution.answer if state.resolution else ""
    told = solution or (tell_solution(_SOURCE.sub("", answer)) if answer else "")
    # What is behind a fold is not before anybody who says yes.
    so_far = summary_of(state, language).model_copy(update={"is_open": True})
    return Question(ask_whether_solved(), about_resolution(state), told, (so_far,))


def tell_solution(answer: str) -> str:
    return _("This may solve it right away:") + "\n\n" + answer


def pending_question(session: ScopedSession, context: ToolContext) -> Question | None:
    """Whether the solution helped, as long as nobody has said yes or no; else what comes next.

    A model may say that it has filed what its person called solved, and have filed nothing.
    """
    state = state_in(session, context)
    if isinstance(state, NoRequest):
        return None
    kind = next_step(state).kind
    if kind == "resolution":
        return ask_resolution(state, context.language)
    if kind == "submit_solved":
        so_far = summary_of(state, context.language).model_copy(update={"is_open": True})
        unfiled, ask = _("Nothing is filed yet."), _("Should I file it as solved?")
        return Question(ask, f"solved {state.begun_at}", unfiled, (so_far,))
    return Question(pending_words(state, context.language))


def about_cancelling(state: RequestState) -> str:
    """The name of the question whether what was begun shall be forgotten."""
    return f"cancelling {begun_at(state)}"


def about_another(state: RequestState) -> str:
    """The name of the question whether the open request makes room for another one."""
    return f"another {begun_at(state)}"


def begun_at(state: RequestState) -> str:
    """The message that the open request was begun with; nothing where there is none."""
    return state.begun_at if isinstance(state, OpenRequest) else ""


def yes_or_no() -> list[Suggestion]:
    return [
        Suggestion(label=_("Yes, it did"), message=_("Yes")),
        Suggestion(label=_("No, go on"), message=_("No")),
    ]


def told_to_model(state: OpenRequest, language: str) -> dict[str, Any]:
    """A request as a model is told of it: what is known, what is missing, by field_id."""
    return {
        "type_id": str(state.form.type_id),
        "type": state.form.name.text(language),
        "values": state.by_id,
        "missing": [
            {"field_id": str(each.field_id), "label": each.field.label.text(language)}
            for each in state.missing
        ],
        "optional": [
            {"field_id": str(each.field_id), "label": each.field.label.text(language)}
            for each in state.optional
        ],
        "questions_answers": [{"question": q, "answer": a} for q, a in state.answers],
        "phase": next_step(state).kind,
    }


def pending_words(state: OpenRequest, language: str) -> str:
    """The question that waits for its answer, in words."""
    step = next_step(state)
    name = state.form.name.text(language)
    field = state.form.by_name(state.awaited) if state.awaited else step.field
    back = _("Back to your request about “%(name)s”.", name=name)
    if field is not None:
        has_widget = is_shown(state, field)
        asked = point_back(field, language) if has_widget else ask_for(field, language)
    elif step.kind == "question" and state.asked:
        asked = number_question(state, question_of(state, language))
    elif step.kind == "resolution":
        return ask_resolution_again(state, language)
    elif step.kind == "optional":
        asked = offer_optional(step, language)
    else:
        asked = _("Should I submit this request?")
    return f"{back} {asked}"


def is_shown(state: OpenRequest, field: RequestField) -> bool:
    """Whether a field is asked for with a widget that works here."""
    return not field.is_conversational and field.field.name not in state.in_words


def listed_rows(
    session: ScopedSession, requests: Sequence[ServiceRequest], language: str
) -> list[ListedRequest]:
    """Requests as a list of them shows each, with the way to its page."""
    names = names_of(session, [each.assignee_id for each in requests])
    return [
        ListedRequest(
            reference=each.reference,
            title=each.title,
            status=each.status,
            assignee=names.get(each.assignee_id, "") if each.assignee_id else "",
            url=Link.to("service_requests.show", request_id=each.id),
        )
        for each in requests
    ]
