"""The tool that files a request: everything is shown first, and one word files it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask_babel import gettext as _

from app.assistant.proposals.consent import Heard
from app.assistant.threads.branches import language_of
from app.assistant.tools.examples import load_examples
from app.assistant.tools.tool import Draft, Receipt, ToolContext, ToolFailure, WriteTool
from app.db import ScopedSession
from app.errors import ComandaError, InvalidInput
from app.skills.service_requests.nlu.requester_replies import cancels
from app.skills.service_requests.services.submit import (
    Filed,
    RequestChanged,
    digest_of_state,
    file_request,
)
from app.skills.service_requests.texts import details_in_both
from app.skills.service_requests.tools.arguments import STEP_EXAMPLES, SubmitArguments
from app.skills.service_requests.tools.type_tools import PROMPT
from app.skills.service_requests.workflow.consents import says_it_is_solved, state_heard
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest
from app.skills.service_requests.workflow.state_loader import not_open, state_in
from app.text.bilingual import in_both
from app.web.links import Link

READY = ("submit", "submit_solved")
# What is to be done first, by what comes next in the request.
FIRST = {
    "field": "Ask for the missing fields first: request_field_input.",
    "question": "Ask the clarifying questions first, one at a time, and record_answers each.",
    "evaluate": "Call evaluate_ai_resolution first.",
    "resolution": "Ask first whether the proposed solution resolved it.",
    "optional": "Offer the optional fields once first.",
}


class SubmitRequest(WriteTool):
    """Files the open request. Solved already, it is filed at once: that yes was the word for it."""

    name = "submit_service_request"
    description = (
        "Propose to file the open request: the person sees everything and confirms. Call it without"
        " arguments when nothing is missing, after the clarifying questions."
    )
    arguments = SubmitArguments
    activity: Mapping[str, str] = {
        "en": "Putting the request together…",
        "es": "Armando la solicitud…",
    }
    examples = load_examples(STEP_EXAMPLES)["submit_service_request"]
    prompt_slug = PROMPT
    makes_true = ("noted", "filed", "told", "filed_request")
    is_wished = True

    def propose(self, arguments: Any, context: ToolContext) -> Draft:
        with context.transaction() as session:
            state = state_in(session, context)
        if isinstance(state, NoRequest):
            raise not_open(state)
        kind = next_step(state).kind
        if kind not in READY:
            raise ToolFailure(
                "The request is not ready to be filed.", suggestion=FIRST[kind], code="not_ready"
            )
        given = arguments.form_data
        if given is not None and not _agree(given, state):
            raise ToolFailure(
                "form_data is not what the request holds.",
                suggestion="Correct values with record_answers, then submit without form_data.",
                code="invalid_input",
                field="form_data",
            )
        name = state.form.name
        is_solved = kind == "submit_solved"
        assert context.thread_id is not None
        return Draft(
            SubmitArguments(
                type_id=state.form.type_id,
                form_data=state.stored,
                thread_id=context.thread_id,
                begun_at=UUID(state.begun_at),
                digest=digest_of_state(state),
            ),
            in_both(lambda lang: _summary(name.text(lang), is_solved=is_solved)),
            details_in_both(state),
            in_both(lambda _lang: _("Should I submit this request?")),
            at_once=is_solved,
        )

    def is_consented(self, session: ScopedSession, arguments: Any, heard: Heard) -> bool:
        """The yes to a solution files what had been collected when it was shown, and no more."""
        before = state_heard(session, heard)
        if isinstance(before, NoRequest):
            return False
        as_said = digest_of_state(before, is_solved=True)
        return says_it_is_solved(before, heard) and arguments.digest == as_said

    def execute(self, session: ScopedSession, arguments: Any) -> Receipt:
        language = language_of(session, arguments.thread_id)
        filed = file_request(
            session,
            arguments.thread_id,
            arguments.begun_at,
            arguments.form_data or {},
            language,
            arguments.digest,
        )
        number = filed.request.reference
        return Receipt(
            str(filed.request.id),
            in_both(lambda _lang: _told(filed)),
            {},
            Link.to("service_requests.show", request_id=filed.request.id),
            step={
                "type": "request_submitted",
                "number": number,
                "request_id": str(filed.request.id),
                "begun_at": str(arguments.begun_at),
            },
        )

    def reads_itself(self, message: str) -> bool:
        """A "cancel" cancels the whole request, where a "no" only asks what to change."""
        return cancels(message)

    def mends(self, error: ComandaError) -> bool:
        """What cannot be taken any more is asked for again; what has changed is shown again."""
        return isinstance(error, InvalidInput | RequestChanged)


def _summary(name: str, *, is_solved: bool) -> str:
    if is_solved:
        return _("File this request as solved: %(name)s", name=name)
    return _("Submit this request: %(name)s", name=name)


def _agree(given: Mapping[str, Any], state: OpenRequest) -> bool:
    held = state.stored
    return all(held.get(field_id) == value for field_id, value in given.items())


def _told(filed: Filed) -> str:
    """The number, and of files what became of them."""
    request = filed.request
    if request.is_ai_resolution_successful:
        said = _(
            "Good to hear. I filed it as solved: %(number)s, closed.", number=request.reference
        )
    elif request.assignee_id is None:
        said = _(
            "Your request is filed: %(number)s. It is waiting in the queue.",
            number=request.reference,
        )
    elif request.assignee_id == request.user_id:
        said = _(
            "Your request is filed: %(number)s. It is assigned to you.",
            number=request.reference,
        )
    else:
        said = _(
            "Your request is filed: %(number)s. The person assigned to it has been notified.",
            number=request.reference,
        )
    if filed.lost:
        names = ", ".join(filed.lost)
        said += " " + _("These files could not be attached: %(names)s.", names=names)
    return said
