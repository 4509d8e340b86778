"""Service requests: what is broken or needed, told in the chat, filed, and looked after."""

from __future__ import annotations

from pathlib import Path

from app.assistant.registry import Skill
from app.skills.service_requests import queue_views, views
from app.skills.service_requests.choosing_tools import GetForm, SuggestType
from app.skills.service_requests.collecting_tools import (
    CancelRequest,
    EvaluateResolution,
    RecordAnswers,
    RequestFieldInput,
)
from app.skills.service_requests.consents import CONSENTS
from app.skills.service_requests.going_on import pending_question
from app.skills.service_requests.offering import offer_request, open_work
from app.skills.service_requests.parts import PARTS
from app.skills.service_requests.posting import STEPS
from app.skills.service_requests.redrawing import redraw
from app.skills.service_requests.settings_views import blueprint as settings
from app.skills.service_requests.submit_tool import SubmitRequest
from app.skills.service_requests.team_views import blueprint as teams
from app.skills.service_requests.type_views import blueprint as types
from app.skills.service_requests.wishes import find_wish, tell_standing

# Importing them hangs their pages on the blueprint.
__all__ = ["SKILL", "queue_views", "views"]

SKILL = Skill(
    name="service_requests",
    tools=(
        SuggestType(),
        GetForm(),
        RequestFieldInput(),
        RecordAnswers(),
        EvaluateResolution(),
        SubmitRequest(),
        CancelRequest(),
    ),
    parts=PARTS,
    blueprints=(views.blueprint, types, teams, settings),
    prompts=Path(__file__).with_name("prompts.yaml"),
    wishes={"service_requests": find_wish},
    standing={"service_requests": tell_standing},
    steps=STEPS,
    consents=CONSENTS,
    questions={"service_requests": pending_question},
    redraws={"type_selector": redraw, "field_widget": redraw},
    offers={"suggest_service_request_type": offer_request},
    open_work={"service_requests": open_work},
)
