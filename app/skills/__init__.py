"""The skills of this app. Adding one is a folder beside these and a line in SKILLS
(`flask new-skill`)."""

from __future__ import annotations

from app.assistant.tools.registry import Skill
from app.skills.expenses import SKILL as EXPENSES
from app.skills.forms import SKILL as FORMS
from app.skills.knowledge import SKILL as KNOWLEDGE
from app.skills.service_requests import SKILL as SERVICE_REQUESTS

SKILLS: tuple[Skill, ...] = (
    KNOWLEDGE,
    FORMS,
    EXPENSES,
    SERVICE_REQUESTS,
)
