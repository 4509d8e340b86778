"""Expenses: logged by talking, confirmed, kept, corrected and exported."""

from __future__ import annotations

from pathlib import Path

from app.assistant.registry import Skill
from app.skills.expenses.chat_api import blueprint as chat_api
from app.skills.expenses.parts import ExpenseListPart
from app.skills.expenses.tools import TOOLS
from app.skills.expenses.views import blueprint
from app.skills.expenses.wishes import find_wish

SKILL = Skill(
    name="expenses",
    tools=TOOLS,
    parts=(ExpenseListPart,),
    blueprints=(blueprint, chat_api),
    prompts=Path(__file__).with_name("prompts.yaml"),
    wishes={"expenses": find_wish},
)
