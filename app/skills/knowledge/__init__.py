"""Knowledge: the group's manual and menus, searched, cited and read."""

from __future__ import annotations

from pathlib import Path

from flask_babel import lazy_gettext as _

from app.assistant.tools.registry import FirstQuestion, Skill
from app.assistant.tools.sent_data import SentData
from app.skills.knowledge.nlu.hints import find_hints
from app.skills.knowledge.parts import ProductCardPart
from app.skills.knowledge.services.import_jobs import TASKS
from app.skills.knowledge.tools.search_tools import TOOLS
from app.skills.knowledge.web.import_views import blueprint as imports
from app.skills.knowledge.web.library_views import blueprint
from app.skills.knowledge.web.menu_edit_views import blueprint as menu
from app.skills.knowledge.web.section_edit_views import blueprint as editing
from app.web.navigation import NavEntry

SKILL = Skill(
    name="knowledge",
    title=_("Manual and menu"),
    tools=TOOLS,
    parts=(ProductCardPart,),
    blueprints=(blueprint, editing, menu, imports),
    navigation=(
        NavEntry(
            "knowledge.index",
            "book",
            _("Manual and menu"),
            10,
            blueprints=("knowledge", "editing", "menu", "imports"),
        ),
    ),
    first_questions=(
        FirstQuestion(_("Food safety"), _("How long can raw chicken stay out?"), 10),
        FirstQuestion(_("Pay"), _("What is the tip policy?"), 20),
        FirstQuestion(_("On the menu"), _("What vegetarian dishes do we have?"), 30),
        FirstQuestion(_("In the kitchen"), _("Something healthy, fast, and Mexican"), 50),
    ),
    prompts=Path(__file__).with_name("prompts.yaml"),
    context={"knowledge": find_hints},
    domains=("manual", "dishes", "wines", "cocktails", "recipes", "beer_liquor", "training"),
    tasks=TASKS,
    sends=(
        SentData(
            "passages",
            _("The passages of the manual and the menu that a search finds"),
            tools=tuple(tool.name for tool in TOOLS),
        ),
    ),
)
