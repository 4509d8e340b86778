"""Service requests: what is broken or needed, told in the chat, filed, and looked after."""

from __future__ import annotations

from pathlib import Path

from flask_babel import lazy_gettext as _

from app.assistant.tools.registry import FirstQuestion, Skill
from app.assistant.tools.sent_data import SentData
from app.skills.service_requests.labels import open_in_words
from app.skills.service_requests.nlu.hints import describe_state, find_hints
from app.skills.service_requests.parts import PARTS
from app.skills.service_requests.services.queue import count_open
from app.skills.service_requests.tools.answer_tools import (
    CancelRequest,
    EvaluateResolution,
    RecordAnswers,
    RequestFieldInput,
)
from app.skills.service_requests.tools.list_tool import ListRequests
from app.skills.service_requests.tools.submit_tool import SubmitRequest
from app.skills.service_requests.tools.type_tools import GetForm, SuggestType
from app.skills.service_requests.web.request_views import blueprint
from app.skills.service_requests.web.settings_views import blueprint as settings
from app.skills.service_requests.web.team_views import blueprint as teams
from app.skills.service_requests.web.type_views import blueprint as types
from app.skills.service_requests.workflow.consents import CONSENTS
from app.skills.service_requests.workflow.refreshers import refresh_parts
from app.skills.service_requests.workflow.suggestions import suggest_request, unfinished_work
from app.skills.service_requests.workflow.tool_results import pending_question
from app.skills.service_requests.workflow.widget_posts import STEPS
from app.web.navigation import NavEntry, Work

TOOLS = (
    SuggestType(),
    GetForm(),
    RequestFieldInput(),
    RecordAnswers(),
    EvaluateResolution(),
    SubmitRequest(),
    CancelRequest(),
    ListRequests(),
)

SKILL = Skill(
    name="service_requests",
    title=_("Requests"),
    tools=TOOLS,
    parts=PARTS,
    blueprints=(blueprint, types, teams, settings),
    navigation=(
        NavEntry(
            "service_requests.index",
            "wrench",
            _("Requests"),
            20,
            blueprints=("service_requests",),
            work=Work("service_requests.queue", count_open, open_in_words, ("manager",)),
        ),
        NavEntry(
            "request_types.index",
            "checklist",
            _("Types of requests"),
            110,
            "manager",
            ("request_types", "request_teams", "request_settings"),
        ),
    ),
    first_questions=(FirstQuestion(_("Broken or missing"), _("The walk-in is not cooling"), 40),),
    prompts=Path(__file__).with_name("prompts.yaml"),
    readers={"service_requests": find_hints},
    prompt_state={"service_requests": describe_state},
    steps=STEPS,
    taps_make_true={"request_cancelled": ("cancelled", "deleted")},
    sends=(
        SentData(
            "requests",
            _("The request you are putting together with your answers, and those you ask about"),
            tools=tuple(tool.name for tool in TOOLS),
        ),
    ),
    consents=CONSENTS,
    questions={"service_requests": pending_question},
    refreshers=dict.fromkeys(("type_selector", "field_widget", "request_fields"), refresh_parts),
    suggestions={"suggest_service_request_type": suggest_request},
    unfinished_work={"service_requests": unfinished_work},
)
