"""What the group's own names and texts say about a message, before any tool is asked.

Two hints for the provider: the products that the message names, and how well each search
tool's documents would answer it. A model could do without them; the built-in assistant
tells by them that "Paloma" is a cocktail here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.db import ScopedSession
from app.extensions import services
from app.nlu.named_allergens import wants_without, without_allergens
from app.retrieval.embedder import Embedder
from app.retrieval.evidence import THIN, odds_of
from app.retrieval.query_cache import EmbeddingUnavailable
from app.retrieval.search import LONGEST_QUERY, SearchRequest, search, unknown_words
from app.retrieval.team_words import load_meanings
from app.skills.knowledge.services.kept_menus import MOST_KEPT, KeptMenus, NamedProduct, Names
from app.skills.knowledge.services.names import name_words
from app.skills.knowledge.tools.search_tools import TOOLS
from app.text.stems import stems
from app.text.synonyms import restate

# A name counts as mentioned when this much of it, by weight of its words, is there.
NAMED = 0.6
MOST_NAMES = 3
EVIDENCE_HITS = 40
NOTHING: Mapping[str, float] = {"score": 0.0, "coverage": 0.0, "odds": THIN - 1, "title": 0}
_MENUS = KeptMenus(MOST_KEPT)

# Each citation context's search tool, as this skill registers them.
TOOLS_BY_DOMAIN: Mapping[str, str] = {
    source: tool.name for tool in TOOLS for source in tool.source_types
}


def find_hints(
    session: ScopedSession, message: str, language: str
) -> tuple[Mapping[str, Any], list[str]]:
    """The hints `mentions` and `evidence`, and the line that tells a model of the former."""
    embedder = services().embedder
    # First of all: a model elsewhere may take seconds, for which no query should wait.
    # What somebody must not eat is no reason to look among the things that have it.
    about = without_allergens(message) if wants_without(message) else message
    request = _embedded(about, language, embedder)
    # The vector stays that of what was said: for another one a query would wait after all.
    meanings = load_meanings(session)
    request = replace(request, text=restate(request.text, meanings))
    named = find_mentions(restate(message, meanings), _MENUS.load(session))
    evidence = _evidence(session, request, embedder)
    hints: dict[str, Any] = {"mentions": named, "evidence": evidence}
    if not named:
        return hints, []
    names = "; ".join(f"{', '.join(entry['names'])} ({entry['domain']})" for entry in named)
    line = f"Named in the message: {names}." if language == "en" else f"Se nombra: {names}."
    return hints, [line]


def find_mentions(message: str, names: Names) -> list[dict[str, Any]]:
    """Which names the message contains, by kind: [{tool, domain, names}], the best first.

    A word weighs the more the fewer names it occurs in, so that "chicken" alone names
    nothing and "chimichurri" alone names the one thing called so.
    """
    said = name_words(message)
    scored: list[tuple[float, NamedProduct]] = []
    for product in names.products:
        common = product.words & said
        if not common:
            continue
        whole = sum(names.weight[word] for word in product.words)
        share = sum(names.weight[word] for word in common) / whole
        if share >= NAMED:
            scored.append((share * whole, product))
    scored.sort(key=lambda entry: (-entry[0], entry[1].kind, entry[1].name))
    return _by_kind([product for _score, product in scored])


def _by_kind(products: Sequence[NamedProduct]) -> list[dict[str, Any]]:
    found: dict[str, list[str]] = {}
    for product in products:
        listed = found.setdefault(product.kind, [])
        if len(listed) < MOST_NAMES and product.name not in listed:
            listed.append(product.name)
    return [
        {"tool": TOOLS_BY_DOMAIN[kind], "domain": kind, "names": listed}
        for kind, listed in found.items()
    ]


def _embedded(message: str, language: str, embedder: Embedder) -> SearchRequest:
    """The search for the evidence, with its vector; by words alone where there is none."""
    text = message[:LONGEST_QUERY].strip()
    vector = None
    if text:
        try:
            vector = embedder.embed_query(text)
        except EmbeddingUnavailable:
            # The tool's own search says so in the log; asking again here would wait twice.
            vector = None
    return SearchRequest(
        text=text,
        language=language,
        source_types=tuple(TOOLS_BY_DOMAIN),
        limit=EVIDENCE_HITS,
        mode="lexical" if vector is None else "hybrid",
        vector=vector,
        # Only how well it fits is looked at.
        with_text=False,
    )


def _evidence(
    session: ScopedSession, request: SearchRequest, embedder: Embedder
) -> dict[str, Mapping[str, float]]:
    """How well the best document of each tool answers the message; zero where it has none.

    `odds` is the logarithm of the odds that it does (`app.retrieval.evidence`), `title` how many
    words a title has that stands in the message.
    """
    evidence: dict[str, dict[str, float]] = {}
    unknown = unknown_words(session, request.text, request.language)
    asked = {*stems(request.text)}
    for hit in search(session, request, embedder).hits:
        tool = TOOLS_BY_DOMAIN[hit.source_type]
        if tool not in evidence:
            odds = odds_of(hit, request.text, embedder.model, unknown)
            found = {"score": hit.score, "coverage": hit.coverage or 0.0, "odds": odds}
            evidence[tool] = {**found, "title": 0}
        if hit.details["entity"] == "section":
            title = _words_of_title(hit.title, asked)
            evidence[tool]["title"] = max(title, evidence[tool]["title"])
    return {tool.name: evidence.get(tool.name, NOTHING) for tool in TOOLS}


def _words_of_title(title: str, asked: Collection[str]) -> int:
    """How many content words a title has that is half of what is asked; 0 for one alone.

    One word names many things; the whole title of a section hardly anything but that section.
    Its number is not asked for.
    """
    named = ({word for word in stems(each) if not word.isdecimal()} for each in title.split(" / "))
    most = max((len(each) for each in named if each.issubset(asked)), default=0)
    return most if most > 1 and 2 * most >= len(asked) else 0
