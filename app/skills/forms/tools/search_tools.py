"""The search for forms, and the cards that it ends in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from flask_babel import gettext as _
from pydantic import Field

from app.assistant.tools.examples import load_examples
from app.assistant.tools.parts import Action, Suggestion
from app.assistant.tools.tool import Arguments, ReadTool, ToolContext, ToolResult
from app.db import ScopedSession
from app.retrieval.form_and_type_search import is_clear
from app.skills.forms.parts import FormCardPart
from app.skills.forms.services.handover import own_words
from app.skills.forms.services.lexicon import ALL_FORMS
from app.skills.forms.services.search import (
    MOST_FOUND,
    FoundForm,
    find_by_slugs,
    rank_by_content,
    search_forms,
)
from app.skills.forms.services.templates import list_published
from app.text.normalize import fold
from app.web.icons import SHAPES

EXAMPLES = Path(__file__).with_name("examples.yaml")
PLAIN_ICON = "form"
# The type of the action that opens one, as the contract of replies has it.
OPEN_FORM: Final = "open_form"
# What is named in a model's own words may be anything; so many addresses are looked up.
MOST_NAMED = 20
# Forms that come near what was said.
MOST_NEAR = 3


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
    place: Mapping[str, str] = {"en": "the forms", "es": "los formularios"}
    examples = load_examples(EXAMPLES)["search_forms"]
    prompt_slug = "form-intent-map"
    is_search = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Search, and show what was found, or what comes nearest, as cards that open the form."""
        with context.transaction() as session:
            words = own_words(session, context.message_id)
            found = _find(session, arguments.query, words, context.language)
        payload = {
            "searched": "forms",
            "place": self.place[context.language],
            "query": arguments.query,
            "results": [_result(form) for form in found.forms],
        }
        if not found.is_clear:
            payload["note"] = "None of these is certain to be meant: let the person choose."
        cards = [form_card(form, context, words) for form in found.forms]
        return ToolResult(
            payload,
            _best_first(cards) if found.is_clear else cards,
            actions=[_action(card) for card in cards],
            suggestions=[] if found.is_clear or not cards else [_all_forms()],
            say=found.say,
        )


class Found(NamedTuple):
    """Forms, the best first, and what to say of them; where it `is_clear`, the first is meant."""

    forms: Sequence[FoundForm]
    say: str
    is_clear: bool


def _find(session: ScopedSession, query: str, words: str, language: str) -> Found:
    """What is meant, else what comes nearest, else all there is: never nothing at all."""
    if fold(query) not in ALL_FORMS:
        if exact := search_forms(session, query, language):
            return Found(exact, _in_words(exact), True)
        ranked = rank_by_content(session, f"{query} {words}")
        near = find_by_slugs(session, [each.key for each in ranked], language, MOST_NEAR)
        if near and is_clear(ranked):
            return Found(near[:1], _in_words(near[:1]), True)
        if near:
            return Found(near, _("I am not sure which form you mean. These come closest."), False)
    slugs = [form.slug for form in list_published(session)]
    listed = find_by_slugs(session, slugs, language, MOST_FOUND)
    if not listed:
        return Found((), _in_words(()), False)
    if fold(query) in ALL_FORMS:
        return Found(listed, _list_in_words(), False)
    return Found(listed, _("I don't have a form for that. These are some of ours."), False)


def _all_forms() -> Suggestion:
    return Suggestion(label=_("All forms"), message=_("All forms"))


def read_navigation(value: Any, context: ToolContext) -> ToolResult:
    """The cards of forms that a model names in a block of its own: those that there are.

    Titles and all else are the group's, and the words the person's: of the block only the
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
    return Action(type=OPEN_FORM, label=_("Fill it out"), payload=payload)


def write_navigation(payloads: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The forms of a reply as other clients look for them; `read_navigation` reads a model's."""
    shown = ("slug", "title", "icon", "description")
    navigation = {
        "forms": [{key: form[key] for key in shown} for form in payloads],
        "extractedContext": payloads[0]["context"],
    }
    return {"form_navigation": navigation}


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
            "%(count)d forms might be the one you mean; the closest is “%(title)s”.",
            count=len(found),
            title=found[0].title,
        )
    return f"{said} {asked}"
