"""Expenses: logged by talking, confirmed, kept, corrected and exported."""

from __future__ import annotations

from pathlib import Path

from flask_babel import lazy_gettext as _

from app.assistant.tools.registry import Skill
from app.assistant.tools.sent_data import SentData
from app.skills.expenses.nlu.hints import find_hints
from app.skills.expenses.parts import ExpenseListPart
from app.skills.expenses.tools.ledger_tools import TOOLS
from app.skills.expenses.web import expense_views, list_views, settings_views
from app.skills.expenses.web.blueprint import blueprint
from app.skills.expenses.web.chat_api import blueprint as chat_api
from app.web.navigation import NavEntry

# Importing them hangs their pages on the blueprint.
__all__ = ["SKILL", "expense_views", "list_views", "settings_views"]

SKILL = Skill(
    name="expenses",
    title=_("Expenses"),
    tools=TOOLS,
    parts=(ExpenseListPart,),
    blueprints=(blueprint, chat_api),
    navigation=(
        NavEntry("expenses.index", "receipt", _("Expenses"), 40, blueprints=("expenses",)),
    ),
    prompts=Path(__file__).with_name("prompts.yaml"),
    readers={"expenses": find_hints},
    sends=(
        SentData(
            "expenses",
            _("The expenses you ask about: items, amounts, days, notes and who paid"),
            tools=tuple(tool.name for tool in TOOLS),
        ),
        SentData("receipts", _("Photos of receipts"), "vision"),
    ),
)
