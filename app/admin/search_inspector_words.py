"""What the search inspector says in words, in the page's language."""

from __future__ import annotations

from typing import Any

from flask_babel import gettext as _

from app.extensions import services
from app.retrieval.explain import Finding
from app.skills.knowledge.services.vocabulary import kind_name
from app.text.bilingual import reader_language
from app.text.numbers import figures

NOT_KNOWN = "—"


def score(value: float | None, digits: int = 3) -> str:
    """A score to so many digits; a dash for one that is not there."""
    if value is None:
        return NOT_KNOWN
    return figures(round(value, digits), "0." + "0" * digits)


def kind_words(kind: str) -> str:
    """What is searched or what a prompt is for, as its skill or else the library calls it."""
    title = services().registry.titles.get(kind)
    return str(title) if title else kind_name(kind, reader_language())


def language_words(language: str) -> str:
    words = {"en": "English", "es": "Español", "mul": _("both languages")}
    return words.get(language, language)


def mode_words(mode: str) -> str:
    words = {
        "hybrid": _("By words and meaning"),
        "lexical": _("By words alone"),
        "semantic": _("By meaning alone"),
    }
    return words[mode]


def reason_words(reason: str) -> str:
    """Why a search is not what was asked for; empty when it is."""
    words = {
        "empty_query": _("This query has no words in it."),
        "only_stop_words": _("No word in this query says what it is about."),
        "embedding_unavailable": _(
            "The embedding model is not responding: the search used words only."
        ),
        "wrong_vector_size": _(
            "The embedding model returned vectors of the wrong size: the search used words only."
        ),
    }
    return words.get(reason, "")


def finding_words(finding: Finding, limit: int) -> tuple[str, str]:
    """A finding as its code and a sentence or two that say what it means and what to do."""
    facts = finding.facts
    return finding.code, _SENTENCES.get(finding.code, _plain)(finding.code, facts, limit)


def _plain(code: str, _facts: dict[str, Any], _limit: int) -> str:
    words = {
        "not_indexed": _("It is not in the index: it has no text, or its import has not ended."),
        "unpublished": _("It is not published. Publish it to make it searchable."),
        "private": _("It is private: only its owner can find it."),
        "filtered": _("The filters leave it out. Its facts, tags or allergens say something else."),
        "no_common_word": _("It has no word in common with the query, in any form."),
        "model_away": _(
            "The embedding model is not responding, so nothing is found by meaning for now."
        ),
        "not_embedded": _("It has no vector yet. It is found by meaning once the job has run."),
        "stale_vector": _(
            "Its vector is from an earlier text. The next run of the job updates it."
        ),
        "index_behind": _(
            "The index is out of date: its text is not the same as on the page. Save it again."
        ),
    }
    return words[code]


def _found(_code: str, facts: dict[str, Any], limit: int) -> str:
    said = {"place": facts["place"], "score": score(facts["score"]), "limit": limit}
    if facts["place"] <= limit:
        return _("It is there: number %(place)s, with a score of %(score)s.", **said)
    return _(
        "It is number %(place)s, with a score of %(score)s; the answer uses the first %(limit)s.",
        **said,
    )


def _elsewhere(_code: str, facts: dict[str, Any], _limit: int) -> str:
    kinds = ", ".join(kind_words(kind) for kind in facts["kinds"])
    return _("This search does not include it. It is found under: %(kinds)s.", kinds=kinds)


def _foreign(_code: str, facts: dict[str, Any], _limit: int) -> str:
    languages = ", ".join(language_words(each) for each in facts["languages"])
    return _("It serves readers of another language: %(languages)s.", languages=languages)


def _far(code: str, facts: dict[str, Any], _limit: int) -> str:
    said = {
        "rank": facts["rank"],
        "score": score(facts["score"]),
        "last": score(facts["last"]),
    }
    if code == "far_in_words":
        return _(
            "By words, it is number %(rank)s (BM25 %(score)s); the last one included has %(last)s.",
            **said,
        )
    return _(
        "By meaning, it is number %(rank)s (cosine %(score)s); the last one included has %(last)s.",
        **said,
    )


def _of_models(_code: str, facts: dict[str, Any], _limit: int) -> str:
    return _(
        "Its vector is from another model (%(models)s). Run “flask embeddings backfill”.",
        models=", ".join(facts["models"]),
    )


_SENTENCES = {
    "found": _found,
    "other_search": _elsewhere,
    "other_language": _foreign,
    "far_in_words": _far,
    "far_in_meaning": _far,
    "other_model": _of_models,
}
