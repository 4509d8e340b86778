"""What a message says about forms, before any tool is asked: the one wanted, or one to offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.parts import Suggestion
from app.db import ScopedSession
from app.nlu.emergency import Emergency, read_emergency
from app.nlu.model import read_intents
from app.skills.forms.asking import (
    asks_for_form,
    opens_something,
    tells_of_event,
    wanted_words,
)
from app.skills.forms.naming import (
    FormNames,
    fold_names,
    named_form,
    related_form,
    title_words,
    titled_form,
)
from app.skills.forms.relevance import is_clear, odds_of
from app.skills.forms.search import published_forms, rank_by_content

# A chip repeats what was said, so that the form is filled in from it; a message holds 4,000.
LONGEST_REPEATED = 1_500
# With less than this by its words alone, a message is for no form, whatever the forms say.
POSSIBLE = 0.03
# What stands before that in the chip, in either language: the end of the form's title.
BEFORE_REPEATED = "”: "


def find_wish(
    session: ScopedSession, message: str, language: str
) -> tuple[Mapping[str, Any], list[str]]:
    """The hint `wanted`, where a form is asked for in so many words: the tool and its query."""
    emergency = read_emergency(message, language)
    if emergency and not emergency.is_over and (report := _report(session, message, emergency)):
        return report, []
    if not (asks_for_form(message) or opens_something(message)):
        return _odds(session, message), []
    names = _load_names(session)
    if not _is_wish(message, names):
        return _odds(session, message), []
    named = named_form(message, names)
    query = title_words(message, named) if named else wanted_words(message)
    # Of what is over the report comes first that was asked for, and then what was to be done.
    help_ = {"help": emergency.asked} if emergency and emergency.report else {}
    return {"wanted": {"search_forms": {"query": query[:200]}}, **help_}, []


def _report(session: ScopedSession, message: str, emergency: Emergency) -> Mapping[str, Any]:
    """Where somebody may be hurt, the form that reports it is wanted too, if there is one."""
    told = f"{emergency.report} {message}"
    if not emergency.report or not is_clear(rank_by_content(session, told)):
        return {}
    return {"wanted": {"search_forms": {"query": told[:200]}}}


def _odds(session: ScopedSession, message: str) -> Mapping[str, Any]:
    """The hint `odds`: what the forms themselves have of the message, where one may be meant."""
    if read_intents(message).get("search_forms", 0.0) < POSSIBLE:
        return {}
    ranked = rank_by_content(session, message)
    return {"odds": {"search_forms": odds_of(ranked[0].score if ranked else 0.0)}}


def offer_form(session: ScopedSession, message: str, language: str) -> Sequence[Suggestion]:
    """A chip to the form that may be wanted for what the message tells of."""
    if asks_for_form(message) or not tells_of_event(message):
        return ()
    names = _load_names(session)
    if _is_wish(message, names):
        return ()
    related = related_form(message, names, language)
    if related is None:
        return ()
    with force_locale(language):
        said = _(
            "Fill out “%(title)s”: %(words)s",
            title=related.title,
            words=message[:LONGEST_REPEATED],
        )
    return (Suggestion(label=related.title, message=said),)


def is_repeated(said: str, message: str) -> bool:
    """Whether a message is the chip that was offered for what was said."""
    return message.endswith(BEFORE_REPEATED + said[:LONGEST_REPEATED].strip())


def _is_wish(message: str, names: FormNames) -> bool:
    """Whether a form is asked for: in so many words, or by its whole title."""
    if asks_for_form(message):
        return True
    return opens_something(message) and titled_form(message, names) is not None


def _load_names(session: ScopedSession) -> FormNames:
    return fold_names(
        tuple(
            (row.slug, row.title_en, row.title_es, row.description_en, row.description_es)
            for row in published_forms(session)
        )
    )
