"""The tools that fill a request: asking for a field, taking answers, solving it, cancelling it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from flask_babel import gettext as _

from app.accounts.clock import local_now
from app.accounts.group_settings import load_zone_and_region
from app.assistant.threads.branches import said_up
from app.assistant.tools.examples import load_examples
from app.assistant.tools.tool import NextCall, ThreadTool, ToolContext, ToolFailure, ToolResult
from app.db import ScopedSession
from app.fields.definitions import DateField, dump_fields
from app.fields.form_data import shape_now
from app.skills.service_requests.nlu.lexicon import EMPTY_QUESTIONS
from app.skills.service_requests.nlu.values import read_said
from app.skills.service_requests.parts import FieldWidgetPart, RequestFieldsPart
from app.skills.service_requests.services.definitions import PRIORITY, RequestField
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.settings import load_settings_of
from app.skills.service_requests.texts import (
    ask_for,
    cancelled,
    point_to_card,
    point_to_widget,
    recorded,
    summary_of,
)
from app.skills.service_requests.tools.arguments import (
    STEP_EXAMPLES,
    CancelArguments,
    EvaluateArguments,
    FieldArguments,
    RecordArguments,
)
from app.skills.service_requests.tools.type_tools import PROMPT, describe_field
from app.skills.service_requests.workflow.answers import (
    Recording,
    cleared_between,
    read_by_id,
    was_said,
)
from app.skills.service_requests.workflow.next_step import asks_for_several, next_step
from app.skills.service_requests.workflow.resolution import propose_solution
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest
from app.skills.service_requests.workflow.state_loader import not_open, state_in, take
from app.skills.service_requests.workflow.tool_results import go_on, tell_solution
from app.text.normalize import fold
from app.text.plain_text import was_written

HEARD = 10


def _open_state(session: ScopedSession, context: ToolContext) -> OpenRequest:
    """The open request, or a failure that says there is none."""
    state = state_in(session, context)
    if isinstance(state, NoRequest):
        raise not_open(state)
    return state


class RequestFieldInput(ThreadTool):
    """Asks for one field: in words, or with its widget."""

    name = "request_field_input"
    description = (
        "Ask for one field of the open request. For text, numbers, e-mails and yes/no it says"
        " needs_ui false: ask in your own words. For all others it shows the person a widget."
    )
    arguments = FieldArguments
    activity: Mapping[str, str] = {"en": "Asking…", "es": "Preguntando…"}
    examples = load_examples(STEP_EXAMPLES)["request_field_input"]
    prompt_slug = PROMPT
    is_wished = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            state = _open_state(session, context)
            zone, region = load_zone_and_region(session)
        field = state.form.by_id(arguments.field_id)
        if field is None or field not in state.fields:
            raise ToolFailure(
                "The open request has no such field.",
                suggestion="Use a field_id of get_service_request_form.",
                code="invalid_input",
                field="field_id",
            )
        take(context, {"type": "field_asked", "field_id": str(field.field_id)})
        payload = describe_field(field, context.language)
        if asks_for_several(state) and field in state.missing:
            shown = {**payload, "needs_ui": True, "note": "A card with all of them is shown; wait."}
            # What could be added is on the card, and is not named again below it.
            take(context, {"type": "optional_offered"})
            said = point_to_card(state.missing, context.language)
            return ToolResult(shown, [_card(state, zone, region, context.language)], say=said)
        broken = state.problems.get(field.field.name)
        why = _(broken.message, **broken.params) + "\n\n" if broken else ""
        if field.is_conversational or field.field.name in state.in_words:
            said = why + ask_for(field, context.language)
            return ToolResult({**payload, "needs_ui": False, "ask": said}, say=said)
        said = why + point_to_widget(field, context.language)
        shown = {**payload, "needs_ui": True, "note": "The widget is shown; wait for the answer."}
        return ToolResult(shown, [_widget(field, state, zone, region)], say=said)


def _widget(
    field: RequestField, state: OpenRequest, zone: ZoneInfo, region: str
) -> FieldWidgetPart:
    [block] = dump_fields([field.field])
    usual = state.form.priority if field.field.name == PRIORITY else ""
    starts_now = isinstance(field.field, DateField) and field.field.starts_now
    starts_with = shape_now(field.field, local_now(zone)) if starts_now else ""
    return FieldWidgetPart(
        field_id=field.field_id,
        block=block,
        usual=usual,
        starts_with=starts_with,
        region=region,
    )


def _card(state: OpenRequest, zone: ZoneInfo, region: str, language: str) -> RequestFieldsPart:
    """All that is needed on one card, with what is known and what could be added."""
    so_far = summary_of(state, language)
    others = [each for each in state.optional if each.field.name not in state.skipped]
    return RequestFieldsPart(
        type_name=so_far.type_name,
        icon=so_far.icon,
        lines=[line for line in so_far.lines if line.value],
        missing=[_widget(each, state, zone, region) for each in state.missing],
        # What nobody has asked for holds nothing that nobody has said.
        others=[
            _widget(each, state, zone, region).model_copy(update={"starts_with": ""})
            for each in others
        ],
    )


class RecordAnswers(ThreadTool):
    """Takes what was said into the request: values, skipped fields, answers to questions."""

    name = "record_answers"
    description = (
        "Keep what the person said for the open request: every value of their message at once, by"
        " field_id; also skipped optional fields, the answer to a clarifying question, and their"
        " yes or no to a proposed solution. Never add what they did not say."
    )
    arguments = RecordArguments
    activity: Mapping[str, str] = {"en": "Writing it down…", "es": "Anotando…"}
    examples = load_examples(STEP_EXAMPLES)["record_answers"]
    prompt_slug = PROMPT
    makes_true = ("noted",)
    is_wished = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            before = _open_state(session, context)
            around = field_context(session, context.language)
            heard = _heard(session, context)
        recording = Recording()
        if arguments.said:
            # A model may put any words into its person's mouth; theirs stand in their messages.
            is_quoted = was_written(arguments.said, heard)
            for each in read_said(before, arguments.said, around):
                recording.take(
                    before,
                    each.field,
                    each.raw,
                    around,
                    words=(each.words or arguments.said) if is_quoted else "",
                    is_inferred=each.is_inferred or not is_quoted,
                )
        for field, raw in _by_id(before, arguments.values or {}):
            recording.take(before, field, raw, around, is_inferred=not was_said(field, raw, heard))
        steps = [*recording.steps, *_other_steps(before, arguments)]
        if arguments.go_on:
            steps.append({"type": "another_declined"})
        take(context, *steps)
        with context.transaction() as session:
            after = state_in(session, context)
        recording.leave_out_hidden(after)
        cleared = cleared_between(before, after, [field for field, _b, _a in recording.changes])
        # The card that comes now shows all of it.
        is_shown = isinstance(after, OpenRequest) and _is_on_a_card(after) and not before.answers
        is_told = not is_shown or bool(recording.refused or cleared)
        said = _told(recording, cleared, context.language) if is_told else ""
        result = go_on(
            context,
            said,
            payload={"refused": _refused(recording), "recorded": len(recording.changes)},
            shows=arguments.show,
        )
        others = len(steps) > len(recording.steps)
        return replace(result, has_taken=bool(recording.changes or recording.held or others))


def _is_on_a_card(state: OpenRequest) -> bool:
    """Whether nothing is asked for any more, of a type that asks for no more than it needs."""
    is_next = next_step(state).kind in ("evaluate", "submit")
    return not state.form.is_guided and (is_next or asks_for_several(state))


def _heard(session: ScopedSession, context: ToolContext) -> list[str]:
    """The last messages of the person in this branch, word by word."""
    said = said_up(session, context.message_id, 2 * HEARD)
    return [each.content for each in said if each.role == "user"]


def _by_id(state: OpenRequest, values: Mapping[str, Any]) -> list[tuple[RequestField, Any]]:
    try:
        return read_by_id(state, values)
    except LookupError as unknown:
        raise ToolFailure(
            f"The open request has no field {unknown.args[0]!r}.",
            suggestion="Use the field_ids of get_service_request_form.",
            code="invalid_input",
            field=str(unknown.args[0])[:60],
        ) from None


def _other_steps(state: OpenRequest, arguments: Any) -> list[dict[str, Any]]:
    """The steps beside values."""
    steps: list[dict[str, Any]] = []
    for field, _raw in _by_id(state, dict.fromkeys(arguments.skipped or ())):
        if field.field.required:
            raise ToolFailure(
                "A required field cannot be skipped.",
                suggestion="Say that it is needed, and offer to cancel the request.",
                code="invalid_input",
                field=str(field.field_id),
            )
        steps.append({"type": "field_skipped", "field_id": str(field.field_id)})
    for each in arguments.questions_answers or ():
        _check_question(each.question)
        steps.append({"type": "question_answer", **each.model_dump()})
    if arguments.no_more_questions:
        steps.append({"type": "questions_ended"})
    if arguments.resolved is not None:
        steps.append(_resolution_step(state, arguments.resolved))
    return steps


def _check_question(question: str) -> None:
    if any(empty in fold(question) for empty in EMPTY_QUESTIONS):
        raise ToolFailure(
            "That asks for nothing in particular.",
            suggestion="Ask what a technician would, about this type and these values.",
            code="invalid_input",
            field="questions_answers",
        )


def _resolution_step(state: OpenRequest, accepted: bool) -> dict[str, Any]:
    if state.resolution is None or state.resolution.is_accepted is not None:
        raise ToolFailure("No solution was proposed.", code="invalid_input", field="resolved")
    return {
        "type": "resolution",
        "user_accepted": accepted,
        "confidence_score": state.resolution.confidence,
        "proposed_answer": state.resolution.answer,
    }


def _told(recording: Recording, cleared: Sequence[RequestField], language: str) -> str:
    """What was taken and what was not, for the person."""
    lines = [recorded(recording.changes, cleared, language)]
    for field, problem in recording.refused.values():
        label, why = field.field.label.text(language), _(problem.message, **problem.params)
        lines.append(f"{label.strip('¿?')}: {why}")
    if not recording.changes and not recording.refused and recording.held:
        lines.append(_("I have that already."))
    return "\n\n".join(filter(None, lines))


def _refused(recording: Recording) -> list[dict[str, Any]]:
    return [
        {
            "field_id": str(field.field_id),
            "error": problem.message % problem.params,
            "choices": [label for _value, label in problem.choices][:20],
        }
        for field, problem in recording.refused.values()
    ]


class EvaluateResolution(ThreadTool):
    """Tries to solve the request from the group's library before it is filed."""

    name = "evaluate_ai_resolution"
    description = (
        "After the clarifying questions: look for a solution in the restaurant's library. Show"
        " the proposed answer only if resolvable is true, with its citations, and ask whether it"
        " resolved the issue; else say nothing of it and go on."
    )
    arguments = EvaluateArguments
    activity: Mapping[str, str] = {
        "en": "Looking for a solution in the manual…",
        "es": "Buscando una solución en el manual…",
    }
    examples = load_examples(STEP_EXAMPLES)["evaluate_ai_resolution"]
    prompt_slug = PROMPT
    is_wished = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            state = _open_state(session, context)
            settings = load_settings_of(session)
        if next_step(state).kind != "evaluate":
            return go_on(context, payload={"resolvable": False})
        threshold = settings.resolution_threshold
        if not settings.is_resolution_on:
            take(context, {"type": "resolution_skipped"})
            return go_on(context, payload=_evaluated(False, 0, "", threshold))
        found = propose_solution(state, context)
        if not found.answer or found.confidence < threshold:
            # What is not sure enough is shown to nobody, the model included.
            take(context, {"type": "resolution_skipped", "confidence_score": found.confidence})
            return go_on(context, payload=_evaluated(False, found.confidence, "", threshold))
        shown = {"confidence_score": found.confidence, "proposed_answer": found.answer}
        take(context, {"type": "resolution_shown", **shown})
        payload = _evaluated(True, found.confidence, found.answer, threshold)
        return go_on(context, payload=payload, solution=tell_solution(found.answer))


def _evaluated(resolvable: bool, confidence: int, answer: str, threshold: int) -> dict[str, Any]:
    return {
        "resolvable": resolvable,
        "confidence_score": confidence,
        "proposed_answer": answer,
        "threshold": threshold,
    }


class CancelRequest(ThreadTool):
    """Forgets the request that is being put together; nothing was filed, so nothing is lost."""

    name = "cancel_service_request"
    description = "Cancel the request that is being put together: all that was collected is gone."
    arguments = CancelArguments
    activity: Mapping[str, str] = {"en": "Cancelling…", "es": "Cancelando…"}
    examples = load_examples(STEP_EXAMPLES)["cancel_service_request"]
    prompt_slug = PROMPT
    is_wished = True
    makes_true = ("cancelled", "deleted")

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            state = state_in(session, context)
        if isinstance(state, NoRequest) and not state.is_choosing:
            raise not_open(state)
        take(context, {"type": "request_cancelled"})
        said = cancelled(state, context.language)
        if isinstance(state, OpenRequest) and state.another:
            following = NextCall("suggest_service_request_type", {"user_query": state.another})
            return ToolResult({"cancelled": True}, say=said, next=following)
        return ToolResult({"cancelled": True}, say=said)
