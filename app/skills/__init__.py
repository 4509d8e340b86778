"""The skills of this app. Adding one is a folder beside these and a line in SKILLS."""

from __future__ import annotations

from app.assistant.registry import Skill
from app.skills.expenses import SKILL as EXPENSES
from app.skills.forms import SKILL as FORMS
from app.skills.knowledge import SKILL as KNOWLEDGE

SKILLS: tuple[Skill, ...] = (KNOWLEDGE, FORMS, EXPENSES)
