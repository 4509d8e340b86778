"""The tools that lead to a type: the selector, and the form of the type that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask_babel import format_timedelta
from flask_babel import gettext as _

from app.assistant.proposals.consent import Question
from app.assistant.tools.examples import load_examples
from app.assistant.tools.parts import Suggestion
from app.assistant.tools.tool import NextCall, ThreadTool, ToolContext, ToolFailure, ToolResult
from app.db import utc_now
from app.fields.definitions import Words
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.nlu.intent import clear_type, likely_types
from app.skills.service_requests.nlu.values import read_said
from app.skills.service_requests.parts import RequestListPart, TreeNode, TypeSelectorPart
from app.skills.service_requests.services.definitions import RequestField, RequestForm
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.requests import reported_lately
from app.skills.service_requests.services.type_catalog import (
    TypeNode,
    load_form,
    load_tree,
)
from app.skills.service_requests.tools.arguments import (
    EXAMPLES,
    STEP_EXAMPLES,
    SuggestArguments,
    TypeArguments,
)
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
)
from app.skills.service_requests.workflow.state_loader import selection_of, state_in, take
from app.skills.service_requests.workflow.tool_results import (
    about_another,
    ask_which_one,
    go_on,
    listed_rows,
)
from app.text.markdown import join_paragraphs
from app.web.links import Link

PROMPT = "service-request-rules"
MOST_SUGGESTED = 3


class SuggestType(ThreadTool):
    """Shows all types to choose from, with the likeliest ones apart."""

    name = "suggest_service_request_type"
    description = (
        "Open a service request: shows the person the types to choose from. Use it when something"
        " is broken, missing or needed (maintenance, IT, HR, facilities, supplies), not for a"
        " question about how something is done."
    )
    arguments = SuggestArguments
    activity: Mapping[str, str] = {
        "en": "Looking for the kind of request…",
        "es": "Buscando el tipo de solicitud…",
    }
    examples = load_examples(EXAMPLES)["suggest_service_request_type"]
    prompt_slug = PROMPT
    makes_true = ("noted",)
    is_wished = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            tree = load_tree(session)
            state = state_in(session, context)
        if not tree:
            raise ToolFailure(
                "This restaurant has no types of requests yet.",
                recoverable=False,
                say=_("There are no types of requests here yet. An admin can add them."),
                code="not_found",
            )
        query = arguments.user_query
        if isinstance(state, OpenRequest) and query != state.query:
            return _ask_about_open(state, state.form, query, context)
        if isinstance(state, OpenRequest):
            # Of what is open only its type is asked for again.
            take(context, {"type": "type_reopened"})
        elif (clear := clear_type(query, tree)) is not None:
            return _begin_at_once(clear, query, context)
        else:
            take(context, {"type": "type_offered", "query": query})
        return _show_types(query, tree, context)


def _show_types(query: str, tree: Sequence[TypeNode], context: ToolContext) -> ToolResult:
    """All types to choose from, the likeliest apart."""
    likely = likely_types(query, tree, MOST_SUGGESTED)
    part = TypeSelectorPart(
        query=query,
        suggestions=[_shown(each, context.language) for each in likely],
        types_tree=[_shown(each, context.language) for each in tree],
    )
    said = _acknowledge(likely, context.language)
    suggestion = likely[0].name.text(context.language) if likely else ""
    payload = {"shown": True, "suggestion": suggestion}
    note = "The person chooses from the list that is shown now; wait for it."
    return ToolResult({**payload, "note": note}, [part], final_text=said, say=said)


def _begin_at_once(node: TypeNode, query: str, context: ToolContext) -> ToolResult:
    """The request of the one type that a message can mean, with the way to the others."""
    with context.transaction() as session:
        form = load_form(session, node.id)
        before = reported_lately(session, node.id)
        rows = listed_rows(session, [before] if before else [], context.language)
    take(context, {"type": "type_offered", "query": query}, selection_of(form))
    said = join_paragraphs(
        _(
            "This looks like “%(name)s”. If it is about something else, say “another type”.",
            name=form.name.text(context.language),
        ),
        _tell_before(before) if before else "",
    )
    parts = [RequestListPart(rows=rows, url=Link.to("service_requests.index"))] if rows else []
    payload = {**described(form, context.language), "said_before": query}
    begun = _with_what_was_said(go_on(context, said, payload=payload, parts=parts), context)
    chips = (
        Suggestion(label=_("Another type"), message=_("Another type")),
        Suggestion(label=_("Cancel the request"), message=_("Cancel the request")),
    )
    return replace(begun, suggestions=(*chips, *begun.suggestions))


def _tell_before(request: ServiceRequest) -> str:
    """Whoever reports what they have reported already need not do it twice."""
    when = format_timedelta(utc_now() - request.submitted_at)
    return _(
        "You reported something of this type %(when)s ago, and it is still open. If it is the same,"
        " say “cancel” and write to the team on its page.",
        when=when,
    )


def _acknowledge(likely: Sequence[TypeNode], language: str) -> str:
    if not likely:
        return _("Let's open a request. What kind is it? Choose below.")
    name = likely[0].name.text(language)
    return _("Let's open a request. It looks like “%(name)s”: choose the type below.", name=name)


def _shown(node: TypeNode, language: str) -> TreeNode:
    return TreeNode(
        type_id=node.id,
        name=node.name.text(language),
        description=node.description.text(language),
        icon=node.icon,
        is_submittable=node.is_submittable,
        children=[_shown(each, language) for each in node.children],
    )


def _ask_about_open(
    state: OpenRequest, form: RequestForm, query: str, context: ToolContext
) -> ToolResult:
    """One request at a time: cancel the open one, or go on with it."""
    take(context, {"type": "another_asked", "query": query})
    name = form.name.text(context.language)
    said = ask_which_one(name)
    chips = [
        Suggestion(label=_("Cancel it, start the new one"), message=_("Cancel it")),
        Suggestion(label=_("Keep “%(name)s”", name=name), message=_("Go on with it")),
    ]
    payload = {"open_request": str(form.type_id), "ask": said}
    question = Question(said, about_another(state))
    return ToolResult(payload, suggestions=chips, final_text="", question=question, say=said)


class GetForm(ThreadTool):
    """Begins a request of a type: what it asks for."""

    name = "get_service_request_form"
    description = (
        "The fields of a type of request. Call it as soon as the person has chosen the type:"
        " it begins the request."
    )
    arguments = TypeArguments
    activity: Mapping[str, str] = {"en": "Opening the request…", "es": "Abriendo la solicitud…"}
    examples = load_examples(STEP_EXAMPLES)["get_service_request_form"]
    prompt_slug = PROMPT
    makes_true = ("noted",)
    is_wished = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            form = load_form(session, arguments.type_id)
            state = state_in(session, context)
        if isinstance(state, OpenRequest) and state.form.type_id != form.type_id:
            return _ask_about_open(state, state.form, form.name.text(context.language), context)
        is_new = isinstance(state, NoRequest)
        if is_new:
            take(context, selection_of(form))
        payload = {**described(form, context.language), "said_before": state.query}
        begun = go_on(context, _begun(form, context.language), payload=payload)
        return _with_what_was_said(begun, context)


def _begun(form: RequestForm, language: str) -> str:
    name = form.name.text(language)
    if form.is_guided:
        return _("%(name)s. I will ask you a few questions.", name=name)
    return _("Your request: “%(name)s”.", name=name)


def _with_what_was_said(begun: ToolResult, context: ToolContext) -> ToolResult:
    """Where the first words say values, they are taken before anything is asked."""
    with context.transaction() as session:
        state = state_in(session, context)
        around = field_context(session, context.language)
    if isinstance(state, NoRequest) or any(each.by != "usual" for each in state.told.values()):
        return begun
    if not read_said(state, state.query, around):
        return begun
    return replace(begun, next=NextCall("record_answers", {"said": state.query}))


def described(form: RequestForm, language: str) -> dict[str, Any]:
    """A form as clients and models are told of it."""
    return {
        "type_id": str(form.type_id),
        "type_name": form.name.text(language),
        "category_path": [each.text(language) for each in form.path],
        "fields": [describe_field(each, language) for each in form.fields],
    }


def describe_field(each: RequestField, language: str) -> dict[str, Any]:
    """A field as a model is told of it: what it is, what is valid, in which step it stands."""
    stored = each.field.model_dump(mode="json", exclude_defaults=True)
    told: dict[str, Any] = {
        "field_id": str(each.field_id),
        "name": each.field.name,
        "label": each.field.label.text(language),
        "type": each.field.type,
        "required": each.field.required,
        "step": each.step,
        "needs_ui": not each.is_conversational,
    }
    if each.field.help:
        told["help"] = each.field.help.text(language)
    if options := stored.pop("options", None):
        told["options"] = {one["value"]: Words(**one["label"]).text(language) for one in options}
    if condition := stored.pop("show_if", None):
        told["only_if"] = condition
    plain = ("name", "label", "type", "required", "help")
    if validation := {name: value for name, value in stored.items() if name not in plain}:
        told["validation"] = validation
    return told
