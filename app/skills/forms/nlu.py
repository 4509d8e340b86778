"""What a message says about forms, before any tool is asked: the one wanted, or one to offer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.tools.parts import Suggestion
from app.db import ScopedSession
from app.nlu.courtesies import read_courtesy
from app.nlu.emergency import Emergency, read_emergency
from app.nlu.model import EMERGENCY, read_intents
from app.nlu.queries import make_query
from app.retrieval.form_and_type_search import is_clear, odds_of
from app.skills.forms.services.lexicon import FORM_WORDS
from app.skills.forms.services.search import published_forms, rank_by_content
from app.skills.forms.services.title_match import (
    FormNames,
    fold_names,
    named_form,
    related_form,
    title_words,
    titled_form,
)
from app.text.normalize import words

# A chip repeats what was said, so that the form is filled in from it; a message holds 4,000.
LONGEST_REPEATED = 1_500
TOOL = "search_forms"
# With less than this by its words alone, a message is for no form, whatever the forms say.
POSSIBLE = 0.02
# What a form's whole title, or the word itself, says for a form, in log odds.
NAMED = 1.5
NAMES = frozenset(FORM_WORDS)
# With this, the forms' own words counted in, one is offered beside something else.
OFFERED = 0.05
# Of 1,950 messages that report none, five have so much of one.
LIKELY_ACCIDENT = 0.25
# With this a form is asked for, whatever is told with it.
ASKED = 0.5
# What stands before that in the chip, in either language: the end of the form's title.
BEFORE_REPEATED = "”: "


def find_hints(
    session: ScopedSession, message: str, language: str
) -> tuple[Mapping[str, Any], list[str]]:
    """The hints `wanted` and `odds`: what to search for, and how much the forms have of it."""
    emergency = read_emergency(message, language)
    share = read_intents(message).get(TOOL, 0.0)
    if emergency and not emergency.is_over and share < ASKED:
        return _report(session, message, emergency), []
    if share < POSSIBLE:
        return {}, []
    names = _load_names(session)
    named = named_form(message, names)
    query = title_words(message, named) if named else make_query(read_courtesy(message).rest)
    is_named = titled_form(message, names) or not NAMES.isdisjoint(words(message))
    odds = _odds(session, message) + NAMED * bool(is_named)
    wanted = {"wanted": {TOOL: {"query": query[:200]}}, "odds": {TOOL: odds}}
    # Of what is over the report comes first that was asked for, and then what was to be done.
    help_ = {"help": emergency.asked} if emergency and emergency.report else {}
    return {**wanted, **help_}, []


def _report(session: ScopedSession, message: str, emergency: Emergency) -> Mapping[str, Any]:
    """Where somebody may be hurt, the form that reports it is wanted too, if there is one."""
    told = f"{emergency.report} {message}"
    if not emergency.report or not is_clear(rank_by_content(session, told)):
        return {}
    return {"wanted": {TOOL: {"query": told[:200]}}}


def _odds(session: ScopedSession, message: str) -> float:
    """How much the forms themselves have of the message, in log odds."""
    ranked = rank_by_content(session, message)
    return odds_of(ranked[0].score if ranked else 0.0)


def offer_form(session: ScopedSession, message: str, language: str) -> Sequence[Suggestion]:
    """A chip to the form that may be wanted for what the message tells of."""
    if not _may_be_wanted(session, message):
        return ()
    related = related_form(message, _load_names(session), language)
    if related is None:
        return ()
    with force_locale(language):
        said = _(
            "Fill out “%(title)s”: %(words)s",
            title=related.title,
            words=message[:LONGEST_REPEATED],
        )
    return (Suggestion(label=related.title, message=said),)


def _may_be_wanted(session: ScopedSession, message: str) -> bool:
    """Whether a form may be wanted beside something else: for an accident, or by its content."""
    shares = read_intents(message)
    if shares[EMERGENCY] >= LIKELY_ACCIDENT:
        return True
    share = shares.get(TOOL, 0.0)
    return share >= POSSIBLE and share * math.exp(_odds(session, message)) >= OFFERED


def is_repeated(said: str, message: str) -> bool:
    """Whether a message is the chip that was offered for what was said."""
    return message.endswith(BEFORE_REPEATED + said[:LONGEST_REPEATED].strip())


def _load_names(session: ScopedSession) -> FormNames:
    return fold_names(
        tuple(
            (row.slug, row.title_en, row.title_es, row.description_en, row.description_es)
            for row in published_forms(session)
        )
    )
