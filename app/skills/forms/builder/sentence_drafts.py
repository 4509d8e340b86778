"""A form drafted from one sentence: by a model, or from the starter forms by words and meaning.

Whoever drafts, the result is only what an editor begins with; nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from app.assistant.turns.language import detect_language
from app.fields.definitions import FormField, Words, dump_fields
from app.retrieval.embedder import Embedder, Vectors
from app.retrieval.query_cache import EmbeddingUnavailable
from app.skills.forms.builder.field_names import fields_named_in, take_apart
from app.skills.forms.models import FORM_TOOLS
from app.skills.forms.services.lexicon import FORM_WORDS, PAPER_WORDS
from app.skills.forms.services.starters import Starter, read_starters
from app.text.stems import stems

LONGEST_DESCRIPTION = 500
# A starter fits by words where the sentence says this much of what the starter is called, and
# by meaning where their vectors are this near. Measured on the sentences of the tests.
NEAR, NEAR_WITH_WORDS, SAID = 0.5, 0.35, 0.5
Source = Literal["model", "starter", "named", "empty"]


@dataclass(frozen=True)
class Drafted:
    """A form to begin with: its content and address, where it comes from, and if from a
    starter, from which one.
    """

    content: Mapping[str, Any]
    slug: str
    source: Source
    starter: Starter | None = None


def content_of_starter(starter: Starter) -> dict[str, Any]:
    content = _content(starter.title, starter.description, starter.icon, starter.fields)
    words = {"words_en": starter.words.en, "words_es": starter.words.es}
    return {**content, **words, "tells_managers": starter.tells_managers}


def _content(
    title: Words, description: Words, icon: str, fields: tuple[FormField, ...]
) -> dict[str, Any]:
    return {
        "title_en": title.en,
        "title_es": title.es,
        "description_en": description.en,
        "description_es": description.es,
        "icon": icon,
        "fields": dump_fields(fields),
        "ai_tools": list(FORM_TOOLS),
    }


def draft_from_starters(embedder: Embedder, sentence: str, language: str) -> Drafted:
    """The starter that fits the sentence best, or a form of the fields that the sentence names."""
    starter = find_starter(embedder, sentence)
    if starter is not None:
        return Drafted(content_of_starter(starter), starter.slug, "starter", starter)
    language = detect_language(sentence, language)
    title, fields = fields_named_in(sentence, language)
    words = Words(en=title, es="") if language == "en" else Words(en="", es=title)
    content = _content(words, Words(), "form", fields)
    return Drafted(content, title, "named" if fields else "empty")


def find_starter(embedder: Embedder, sentence: str) -> Starter | None:
    """The starter form that a sentence asks for, in either language; None where none fits."""
    purpose, _fields = take_apart(sentence)
    said = frozenset(stems(purpose)) - _NOTHING
    if not said:
        return None
    starters = list(read_starters().values())
    shares = [max(_share(title, said) for title in _titles(each)) for each in starters]
    likeness = _likeness(embedder, purpose, starters)
    scores = [share + near for share, near in zip(shares, likeness, strict=True)]
    best = max(range(len(starters)), key=scores.__getitem__)
    share, near = shares[best], likeness[best]
    fits = near >= NEAR or share >= 1 or (share >= SAID and near >= NEAR_WITH_WORDS)
    return starters[best] if fits else None


def _share(title: frozenset[str], said: frozenset[str]) -> float:
    return len(title & said) / len(title) if title else 0.0


def _titles(starter: Starter) -> list[frozenset[str]]:
    return [frozenset(stems(text)) - _NOTHING for text in (starter.title.en, starter.title.es)]


_NOTHING = frozenset(stems(" ".join((*FORM_WORDS, PAPER_WORDS))))


def _likeness(embedder: Embedder, sentence: str, starters: list[Starter]) -> list[float]:
    """How near each starter is in meaning; 0 for all where no vectors can be had."""
    try:
        asked = embedder.embed_query(sentence)
        known = _vectors(embedder)
    except EmbeddingUnavailable:
        return [0.0] * len(starters)
    both = (known @ asked).reshape(len(starters), 2)
    return [float(each) for each in np.max(both, axis=1)]


def _vectors(embedder: Embedder) -> Vectors:
    """Each starter in English and in Spanish, one after the other."""
    texts = [
        f"{starter.title.text(language)}. {starter.description.text(language)}"
        for starter in read_starters().values()
        for language in ("en", "es")
    ]
    return embedder.embed_documents(texts)
