"""Expenses: logged by talking, confirmed, kept, corrected and exported."""

from __future__ import annotations

from pathlib import Path

from app.assistant.registry import Skill
from app.skills.expenses import adding_views, editing_views, settings_views, views
from app.skills.expenses.blueprint import blueprint
from app.skills.expenses.chat_api import blueprint as chat_api
from app.skills.expenses.parts import ExpenseListPart
from app.skills.expenses.tools import TOOLS
from app.skills.expenses.wishes import find_wish

# Importing them hangs their pages on the blueprint.
__all__ = ["SKILL", "adding_views", "editing_views", "settings_views", "views"]

SKILL = Skill(
    name="expenses",
    tools=TOOLS,
    parts=(ExpenseListPart,),
    blueprints=(blueprint, chat_api),
    prompts=Path(__file__).with_name("prompts.yaml"),
    wishes={"expenses": find_wish},
)
