"""Forms: found in the chat, filled with a helper beside them, handed in, printed, kept."""

from __future__ import annotations

from pathlib import Path

from app.assistant.registry import Conversation, Skill
from app.skills.forms import assistant_views, filling_views, submission_views, views
from app.skills.forms.blueprint import blueprint
from app.skills.forms.building.views import blueprint as builder
from app.skills.forms.contact_views import blueprint as contacts
from app.skills.forms.conversation import KIND, open_conversation, page_of_conversation
from app.skills.forms.filling_tool import UpdateForm
from app.skills.forms.handover_views import blueprint as handovers
from app.skills.forms.hints import find_wish, offer_form
from app.skills.forms.parts import FormCardPart, FormUpdatesPart
from app.skills.forms.tools import SearchForms, read_navigation

# Importing them hangs their pages on the blueprint.
__all__ = ["SKILL", "assistant_views", "filling_views", "submission_views", "views"]

SKILL = Skill(
    name="forms",
    tools=(SearchForms(), UpdateForm()),
    parts=(FormCardPart, FormUpdatesPart),
    blueprints=(blueprint, handovers, builder, contacts),
    prompts=Path(__file__).with_name("prompts.yaml"),
    context={"forms": find_wish},
    offers={"search_forms": offer_form},
    blocks={"form_navigation": read_navigation},
    open_work={"forms": views.open_work},
    conversations={KIND: Conversation("forms", open_conversation, page_of_conversation)},
)
