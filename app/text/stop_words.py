"""Words that say how something is asked and not what about, in English and Spanish.

A vector that is the mean of its words' vectors means more without them. Folded; the
database keeps its own list for the words of the lexical search.
"""

from __future__ import annotations

from app.text.lexicon import WORDS

ENGLISH, SPANISH = (frozenset(WORDS["stop_words"][language].split()) for language in ("en", "es"))

STOP_WORDS = ENGLISH | SPANISH
