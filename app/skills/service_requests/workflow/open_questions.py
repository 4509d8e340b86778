"""What an open request waits for, in words."""

from __future__ import annotations

from flask_babel import gettext as _

from app.skills.service_requests.services.definitions import RequestField
from app.skills.service_requests.texts import ask_for, offer_optional, point_back
from app.skills.service_requests.workflow.state import (
    OpenRequest,
    next_step,
)
from app.skills.service_requests.workflow.transitions import (
    ask_whether_solved,
    number_question,
    question_of,
)


def pending(state: OpenRequest, language: str) -> str:
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
        asked = ask_whether_solved()
    elif step.kind == "optional":
        asked = offer_optional(step, language)
    else:
        asked = _("Should I submit this request?")
    return f"{back} {asked}"


def is_shown(state: OpenRequest, field: RequestField) -> bool:
    """Whether a field is asked for with a widget that works here."""
    return not field.is_conversational and field.field.name not in state.in_words
