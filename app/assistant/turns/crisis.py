"""Somebody who speaks of dying or of hurting themselves is answered before any model is asked.

The words are always the same ones, so that nobody's life hangs on what a model makes of it, or on
whether one can be reached.
"""

from __future__ import annotations

from flask_babel import gettext as _

from app.accounts.group_settings import crisis_lines
from app.nlu.emergency import exaggerates, reports_accident, speaks_of_dying
from app.nlu.model import CRISIS, read_intents
from app.text.bilingual import reader_language

# Measured on authors that the model had not read: with this share eight in ten are heard, and what
# is taken for one wrongly is one message in two thousand.
LIKELY = 0.65
# "It stays black" answers what a screen shows: what was asked for needs more than that.
SURE = 0.8
# "I cut myself on the slicer" is an accident, unless it is likelier to be more.
LIKELIER = 0.7


def is_crisis(message: str, *, is_answer: bool = False) -> bool:
    """Whether whoever wrote this, perhaps as an answer, may want to die or to hurt themselves."""
    if speaks_of_dying(message):
        return True
    if exaggerates(message):
        return False
    least = SURE if is_answer else LIKELIER if reports_accident(message) else LIKELY
    return read_intents(message, is_answer=is_answer)[CRISIS] >= least


def support_in_crisis(region: str, emergency_number: str) -> str:
    """Whom to call, and that one is not alone; in Markdown, in the reader's language.

    `region` is the country, by its code of two letters.
    """
    lines = crisis_lines().get(region)
    return "\n\n".join(
        (
            _("I'm glad you said this. You don't have to get through it alone."),
            *([lines[reader_language()]] if lines else []),
            _(
                "If you think you might act on it, or have already hurt yourself, **call "
                "%(number)s** or go to someone near you right now.",
                number=emergency_number,
            ),
            _(
                "I'm only a program. Please tell someone you trust, a coworker or the "
                "manager on duty, that you need them with you."
            ),
        )
    )
