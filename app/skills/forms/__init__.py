"""Forms: found in the chat, filled with a helper beside them, handed in, printed, kept."""

from __future__ import annotations

from pathlib import Path

from flask_babel import lazy_gettext as _

from app.assistant.tools.registry import Conversation, Skill
from app.assistant.tools.sent_data import SentData
from app.skills.forms.builder.views import blueprint as builder_pages
from app.skills.forms.nlu import find_hints, offer_form
from app.skills.forms.parts import FormCardPart, FormUpdatesPart
from app.skills.forms.tools.fill_tool import UpdateForm
from app.skills.forms.tools.search_tools import (
    OPEN_FORM,
    SearchForms,
    read_navigation,
    write_navigation,
)
from app.skills.forms.web import fill_views, list_views, submission_views
from app.skills.forms.web.blueprint import blueprint
from app.skills.forms.web.contact_views import blueprint as contacts
from app.skills.forms.web.fill_views import handovers
from app.skills.forms.workflow.conversation import KIND, open_conversation, page_of_conversation
from app.web.navigation import NavEntry

# Importing them hangs their pages on the blueprint.
__all__ = ["SKILL", "fill_views", "list_views", "submission_views"]

SKILL = Skill(
    name="forms",
    title=_("Forms"),
    tools=(SearchForms(), UpdateForm()),
    parts=(FormCardPart, FormUpdatesPart),
    blueprints=(blueprint, handovers, builder_pages, contacts),
    navigation=(
        NavEntry("forms.index", "form", _("Forms"), 30, blueprints=("forms",)),
        NavEntry(
            "form_builder.index", "builder", _("Form builder"), 100, "manager", ("form_builder",)
        ),
        NavEntry("contacts.index", "contacts", _("Contacts"), 130, "manager", ("contacts",)),
    ),
    prompts=Path(__file__).with_name("prompts.yaml"),
    context={"forms": find_hints},
    suggestions={"search_forms": offer_form},
    blocks={"form_navigation": read_navigation},
    action_blocks={OPEN_FORM: write_navigation},
    sends=(
        SentData("forms", _("The forms that fit your words"), tools=(SearchForms.name,)),
        SentData(
            "form_values",
            _(
                "What a form holds that you fill in with the assistant beside it, and the names of "
                "contacts that fit"
            ),
            tools=(UpdateForm.name,),
        ),
        SentData("form_wishes", _("The sentence that a new form is made from")),
    ),
    unfinished_work={"forms": list_views.unfinished_work},
    conversations={KIND: Conversation("forms", open_conversation, page_of_conversation)},
)
