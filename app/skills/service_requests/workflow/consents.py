"""What a person must have said, to what they were shown, for each step that a tool takes.

Steps that only ask, show, or collect values need nobody's word: what they come to is filed by a
proposal alone. Answers, endings and the yes to a solution are the person's own, given to a
question that stood in the reply before their message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from uuid import UUID

from flask_babel import gettext as _
from sqlalchemy import select

from app.assistant.models import Proposal, own
from app.assistant.proposals.consent import PROPOSAL, Heard, Question, StepConsent
from app.assistant.threads.steps import Step
from app.assistant.tools.parts import Suggestion
from app.assistant.tools.tool import ToolFailure
from app.db import ScopedSession
from app.skills.service_requests.nlu.requester_replies import (
    cancels,
    is_the_new_one,
    read_want,
    wants_none,
    wants_other_type,
)
from app.skills.service_requests.services.definitions import QUESTIONS_ASKED
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.workflow.answers import SAID_SHARE
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
    RequestState,
)
from app.skills.service_requests.workflow.state_loader import state_of
from app.skills.service_requests.workflow.tool_results import (
    about_another,
    about_cancelling,
    about_resolution,
    ask_cancelling,
    ask_resolution,
    number_question,
    question_of,
    yes_or_no,
)
from app.text.bilingual import in_both
from app.text.normalize import words

_SENTENCE_ENDS = re.compile(r"[.!?\n]+")


def state_heard(session: ScopedSession, heard: Heard) -> RequestState:
    """The request as it was when its person wrote, with what they posted themselves."""
    posted = [] if heard.step is None else [heard.step]
    return state_of(session, [*heard.before, *posted], field_context(session, "en"))


def says_it_is_solved(state: OpenRequest, heard: Heard) -> bool:
    """Whether the person has said yes to the solution that they had been shown."""
    if state.resolution is None or heard.asked != about_resolution(state):
        return False
    if state.resolution.is_accepted is None:
        return heard.answer == "yes"
    # They said so with the button, which is the message itself.
    return state.resolution.is_accepted and (heard.step or {}).get("type") == "resolution"


def _check_resolution(session: ScopedSession, step: Step, heard: Heard) -> None:
    """The plain yes or no to the solution that was shown."""
    state = state_heard(session, heard)
    shown = state if isinstance(state, OpenRequest) and state.resolution else None
    is_asked = shown is not None and heard.asked == about_resolution(shown)
    if is_asked and heard.answer == ("yes" if step.get("user_accepted") else "no"):
        return
    raise ToolFailure(
        "Only an explicit yes or no to the question that was shown counts.",
        suggestion="The person is asked again now; wait for the answer.",
        code="clarify",
        field="resolved",
        chips=yes_or_no(),
        question=ask_resolution(shown, heard.language) if shown else None,
    )


def _check_answer(session: ScopedSession, step: Step, heard: Heard) -> None:
    """A question that stood in the reply before, and the answer in the person's own words."""
    question, answer = str(step.get("question", "")), set(words(str(step.get("answer", ""))))
    state = state_heard(session, heard)
    count = len(state.answers) if isinstance(state, OpenRequest) else 0
    asked = {question}
    if isinstance(state, OpenRequest) and question == state.asked:
        # It may have been asked again in the other language.
        asked |= set(in_both(partial(question_of, state)).values())
    is_own = bool(answer) and len(answer & set(words(heard.words))) >= SAID_SHARE * len(answer)
    if count < QUESTIONS_ASKED and is_own and any(_shows(heard, q) for q in asked):
        return
    raise ToolFailure(
        "That question was not asked before this message, or this is not what was answered.",
        suggestion="Ask one clarifying question, end your reply, and record what is answered.",
        code="invalid_input",
        field="questions_answers",
        question=_asked_once_more(state, heard.language),
    )


def _asked_once_more(state: RequestState, language: str) -> Question | None:
    """The question that waits for its answer: something else may have come in between."""
    if not isinstance(state, OpenRequest) or not state.asked:
        return None
    asked = number_question(state, question_of(state, language))
    return Question(asked, words=_("Let me ask that again."))


def _shows(heard: Heard, question: str) -> bool:
    """Whether each sentence of the question has most of its words in one of the reply's.

    What a colleague has written since takes the question away from nobody.
    """
    shown = [set(words(sentence)) for sentence in _SENTENCE_ENDS.split(heard.last_reply)]
    asked = [set(words(sentence)) for sentence in _SENTENCE_ENDS.split(question)]
    return any(asked) and all(
        any(len(wanted & each) > SAID_SHARE * len(wanted) for each in shown)
        for wanted in filter(None, asked)
    )


_ENDING = ("skip", "end_questions")


def _check_ending(session: ScopedSession, _step: Step, heard: Heard) -> None:
    state = state_heard(session, heard)
    want = read_want(state, heard.words, heard.question) if isinstance(state, OpenRequest) else ""
    if want not in _ENDING:
        raise ToolFailure(
            "The person has not said that.",
            suggestion="Ask the clarifying question and record what the person answers.",
            code="invalid_input",
            field="no_more_questions",
        )


def _check_cancelling(session: ScopedSession, _step: Step, heard: Heard) -> None:
    """Said outright, or a yes to whether it shall be cancelled."""
    state = state_heard(session, heard)
    # Where nothing was collected yet, nothing is lost.
    is_free = isinstance(state, NoRequest) and wants_none(heard.words)
    names_it = not heard.is_elsewhere and _is_about_request(session, heard)
    is_outright = is_free or (cancels(heard.words) and names_it)
    if is_outright or heard.agrees_to(about_cancelling(state)):
        return
    # A plain yes is to what was asked first.
    wants_new = heard.answer == "yes" or is_the_new_one(heard.words)
    if wants_new and heard.asked == about_another(state):
        return
    raise ToolFailure(
        "The person has not said that the request shall be cancelled.",
        suggestion="The person is asked now; wait for the answer.",
        code="clarify",
        chips=[
            Suggestion(label=_("Cancel the request"), message=_("Cancel the request")),
            Suggestion(label=_("Go on with it"), message=_("Go on with it")),
        ],
        question=ask_cancelling(state),
    )


def _check_reopening(session: ScopedSession, _step: Step, heard: Heard) -> None:
    """What was said of it goes with its type: only whoever says so wants another one."""
    if not wants_other_type(heard.words):
        raise ToolFailure(
            "The person has not said that the request is of another type.",
            suggestion="Go on with the request that is open.",
            code="invalid_input",
            field="user_query",
        )


def _is_about_request(session: ScopedSession, heard: Heard) -> bool:
    """Whether what was asked last, if anything was, is about the request, and "it" is that."""
    if not heard.asked.startswith(PROPOSAL):
        return True
    proposed = UUID(heard.asked.removeprefix(PROPOSAL))
    mine = (Proposal.id == proposed, *own(session, Proposal))
    return session.scalar(select(Proposal.tool).where(*mine)) == "submit_service_request"


CONSENTS: Mapping[str, StepConsent | None] = {
    "type_offered": None,
    "type_selection": None,
    "type_reopened": _check_reopening,
    "field_asked": None,
    "field_response": None,
    "fields_response": None,
    "field_skipped": None,
    "question_asked": None,
    "question_answer": _check_answer,
    "questions_ended": _check_ending,
    "resolution_shown": None,
    "resolution_skipped": None,
    "resolution": _check_resolution,
    "optional_offered": None,
    "another_asked": None,
    "another_declined": None,
    "request_cancelled": _check_cancelling,
    # Taken where the request is in the queue already, from another branch.
    "request_submitted": None,
}
