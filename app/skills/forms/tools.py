"""The search for forms, and the cards that it ends in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flask_babel import gettext as _
from pydantic import Field

from app.assistant.examples import load_examples
from app.assistant.parts import Action
from app.assistant.tool import Arguments, ReadTool, ToolContext, ToolResult
from app.folding import fold
from app.icons import SHAPES
from app.skills.forms.catalog import list_published
from app.skills.forms.handover import own_words
from app.skills.forms.parts import FormCardPart
from app.skills.forms.search import MOST_FOUND, FoundForm, find_by_slugs, search_forms

EXAMPLES = Path(__file__).with_name("examples.yaml")
# Who asks for these looks for none in particular.
ALL_FORMS = ("forms", "all forms", "formularios", "todos los formularios")
PLAIN_ICON = "form"
# What is named in a model's own words may be anything; so many addresses are looked up.
MOST_NAMED = 20


class FormArguments(Arguments):
    query: str = Field(
        min_length=1,
        max_length=200,
        description="What the form is about, in one to three words, such as: injury report.",
    )


class SearchForms(ReadTool):
    """Finds forms by their titles and descriptions. What they ask for is never returned."""

    name = "search_forms"
    description = (
        "Find a form or report to fill out, by what it is about. Only for somebody who wants to"
        " fill out, file, submit or document something."
    )
    arguments = FormArguments
    activity: Mapping[str, str] = {"en": "Looking for the form…", "es": "Buscando el formulario…"}
    examples = load_examples(EXAMPLES)["search_forms"]
    prompt_slug = "form-intent-map"
    is_search = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Search, and show what was found as cards that open the form."""
        with context.transaction() as session:
            found = search_forms(session, arguments.query, context.language)
            is_list = not found and fold(arguments.query) in ALL_FORMS
            if is_list:
                slugs = [form.slug for form in list_published(session)[:MOST_FOUND]]
                found = find_by_slugs(session, slugs, context.language)
            words = own_words(session, context.message_id)
        payload = {
            "searched": "forms",
            "query": arguments.query,
            "results": [_result(form) for form in found],
            "say": _list_in_words() if is_list and found else _in_words(found),
        }
        cards = [form_card(form, context, words) for form in found]
        return ToolResult(payload, _best_first(cards), actions=[_action(card) for card in cards])


def read_navigation(value: Any, context: ToolContext) -> ToolResult:
    """The cards of forms that a model names in a block of its own: those that there are.

    Titles and all else are the house's, and the words the person's: of the block only the
    addresses count.
    """
    forms = value.get("forms") if isinstance(value, dict) else None
    listed = forms if isinstance(forms, list) else []
    slugs = [str(form.get("slug")) for form in listed[:MOST_NAMED] if isinstance(form, dict)]
    with context.transaction() as session:
        found = find_by_slugs(session, slugs, context.language)
        words = own_words(session, context.message_id)
    cards = [form_card(form, context, words) for form in found[:MOST_FOUND]]
    return ToolResult({}, _best_first(cards), actions=[_action(card) for card in cards])


def form_card(form: FoundForm, context: ToolContext, words: str) -> FormCardPart:
    """A form as a card under the reply to these words."""
    return FormCardPart(
        slug=form.slug,
        title=form.title,
        description=form.description,
        icon=form.icon if form.icon in SHAPES else PLAIN_ICON,
        language=context.language,
        hits=list(form.hits),
        message_id=context.message_id,
        context=words,
    )


def _best_first(cards: Sequence[FormCardPart]) -> list[FormCardPart]:
    return [card.model_copy(update={"is_best": not n}) for n, card in enumerate(cards)]


def _result(form: FoundForm) -> dict[str, Any]:
    return {
        "id": str(form.id),
        "slug": form.slug,
        "title": form.title,
        "description": form.description,
        "icon": form.icon,
        "score": form.score,
    }


def _action(card: FormCardPart) -> Action:
    payload = card.model_dump(
        mode="json", include={"slug", "title", "icon", "description", "message_id", "context"}
    )
    return Action(type="open_form", label=_("Fill it out"), payload=payload)


def _list_in_words() -> str:
    return _("These are some of our forms. Which one would you like to fill out?")


def _in_words(found: Sequence[FoundForm]) -> str:
    """What there is to say; the question at its end is the prompt's own."""
    if not found:
        return _("I don't have a form for that. Say it in other words, or ask the manager on duty.")
    asked = _("Would you like to fill out this form?")
    if len(found) == 1:
        said = _("There is a form for that: “%(title)s”.", title=found[0].title)
    else:
        said = _(
            "There are %(count)d forms that may be meant; the closest is “%(title)s”.",
            count=len(found),
            title=found[0].title,
        )
    return f"{said} {asked}"
